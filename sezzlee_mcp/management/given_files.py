"""The files that commands are given to read and to write; ``-`` is stdin and stdout."""

import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from django.core.management.base import CommandError, OutputWrapper

from sezzlee_mcp.errors import FileUnreadable
from sezzlee_mcp.management.whole_files import write_whole

STDIO = "-"
MISUSE = 2  # the exit status

T = TypeVar("T")


def given_file(what: str, read: Callable[[bytes], T]) -> Callable[[str], tuple[str, T]]:
    """
    The type of an argument: from a path to that and what ``read`` makes of the bytes there.

    A file that cannot be read, or is not ``what`` it has to be, is misuse, before anything else happens.
    """

    def file(path: str) -> tuple[str, T]:
        try:
            content = sys.stdin.buffer.read() if path == STDIO else Path(path).read_bytes()
        except OSError as error:
            raise ArgumentTypeError(f"{path} cannot be read: {error.strerror}.") from None
        try:
            return path, read(content)
        except FileUnreadable as error:
            raise ArgumentTypeError(f"{path} is no {what}.\n{error}") from None

    return file


def write_given(path: str, text: str, stdout: OutputWrapper) -> None:
    """Write a text where a command was told to."""
    if path == STDIO:
        stdout.write(text, ending="")
        return
    try:
        write_whole(Path(path), text)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.", returncode=MISUSE) from None
