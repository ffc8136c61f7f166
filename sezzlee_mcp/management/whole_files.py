"""A file that is written whole or not at all."""

import os
import shutil
from pathlib import Path
from tempfile import mkstemp


def write_whole(path: Path, text: str) -> None:
    """
    Make ``text`` what stands at ``path``; a full disk, or the end of this process, leaves what stood there.

    The text is written beside the file, which it then replaces, behind the link that leads to it if there is one. What
    is no regular file, such as a terminal, is written to. OSError as from any writing.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    number, beside = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(number, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(number)
        if path.exists():
            shutil.copymode(path, beside)
        else:
            Path(beside).chmod(0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's own; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
