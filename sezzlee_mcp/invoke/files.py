"""A file argument, ``{text | base64 | ref, name?, mediaType?}`` -> a file's name, type and bytes (invoke.md)."""

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.arguments import kind_of, refuse

INLINE_LIMIT_BYTES = 1_048_576  # of Base64, decoded, in one call
FILE_LIMIT_BYTES = 16_777_216  # of one file that the host's resolver gave
REF = "ref"

_KEYS = ("name", "mediaType")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_UNUSABLE_IN_NAME = re.compile(r'["\r\n\0/\\\ud800-\udfff]')
_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_TYPE = re.compile(rf'{_WORD}/{_WORD}(?:[ \t]*;[ \t]*{_WORD}=(?:{_WORD}|"[ !#-\[\]-~]*"))*')
_BYTES = "application/octet-stream"
_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileArgument:
    """
    A file as the agent sent it; ``content`` is the value of its ``source``: text, base64 or ref.

    ``argument`` is what messages call it, ``field`` its wire name, ``declared_type`` the document's media type.
    """

    argument: str
    field: str
    source: str
    content: str
    name: str | None = None
    media_type: str | None = None
    declared_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """A file's bytes, with the name and the media type that their source gave them."""

    data: bytes
    name: str | None = None
    media_type: str | None = None


def read_file(
    argument: str, field: str, value: Any, *, sources: tuple[str, ...], declared_type: str | None
) -> FileArgument:
    """
    The file that an argument's value says; only ``sources`` are offered.

    Raises ``null_not_allowed`` for null and ``invalid_file_argument`` for all else that is no file.
    """
    if value is None:
        raise refuse(argument, "a file", kind_of(value))
    problem = _problem(value, sources)
    if problem is not None:
        raise messages.invalid_file_argument(argument, problem, sources)
    source = next(source for source in sources if source in value)
    return FileArgument(
        argument=argument,
        field=field,
        source=source,
        content=value[source],
        name=value.get("name"),
        media_type=value.get("mediaType"),
        declared_type=declared_type,
    )


def _problem(value: Any, sources: tuple[str, ...]) -> str | None:
    """What keeps the value from being a file, as the end of a sentence; None when nothing does."""
    if not isinstance(value, dict):
        return f"is {kind_of(value)}"
    for key, member in value.items():
        if key not in (*sources, *_KEYS):
            return f"has the key '{messages.clip(key)}', which a file has not"
        if not isinstance(member, str):
            return f"has {kind_of(member)} as {key}, which is text"
    given = [source for source in sources if source in value]
    if len(given) != 1:
        return f"has {len(given)} sources"
    return _problem_of_source(given[0], value[given[0]]) or _problem_of_names(value)


def _problem_of_source(source: str, content: str) -> str | None:
    if source == "base64" and (len(content) % 4 or _BASE64.fullmatch(content) is None):
        return "has a base64 that is not Base64 of the standard alphabet, with padding and without blanks"
    if source != "base64" and not _is_encodable(content):
        return f"has half of a surrogate pair in its {source}"
    return None


def _problem_of_names(value: dict[str, str]) -> str | None:
    if "name" in value and not _is_usable_name(value["name"]):
        return "has a name that is empty or holds a quote, a slash, a backslash, a line break or a NUL character"
    if "mediaType" in value and _MEDIA_TYPE.fullmatch(value["mediaType"]) is None:
        return "has a mediaType that is not written type/subtype"
    return None


def _is_usable_name(name: str) -> bool:
    return bool(name) and _UNUSABLE_IN_NAME.search(name) is None


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse_over_inline_limit(files: Iterable[FileArgument], limit_bytes: int, sources: Sequence[str]) -> None:
    """Raises ``file_too_large`` when the Base64 of a call decodes to more; told by its length, before decoding."""
    size_bytes = sum(_decoded_bytes(file.content) for file in files if file.source == "base64")
    if size_bytes > limit_bytes:
        raise messages.inline_files_too_large(size_bytes, limit_bytes, sources)


def _decoded_bytes(encoded: str) -> int:
    return len(encoded) // 4 * 3 - encoded.count("=")


def inline_content(file: FileArgument) -> FileContent:
    """The bytes of a file that came with the call."""
    return FileContent(data=base64.b64decode(file.content) if file.source == "base64" else file.content.encode())


def refuse_too_large(file: FileArgument, content: FileContent, limit_bytes: int = FILE_LIMIT_BYTES) -> None:
    if len(content.data) > limit_bytes:
        raise messages.file_too_large(file.argument, limit_bytes)


def file_name(file: FileArgument, content: FileContent) -> str:
    """The name that the backend reads: the agent's, else the source's, else the field's."""
    names = (file.name, content.name, file.field)
    return next((name for name in names if name is not None and _is_usable_name(name)), "file")


def media_type(file: FileArgument, content: FileContent) -> str:
    """The media type that the backend reads: the agent's, the source's, the document's, else that of any such file."""
    declared = file.declared_type if file.declared_type != _BYTES else None
    types = (file.media_type, content.media_type, declared)
    known = (type for type in types if type is not None and "*" not in type and _MEDIA_TYPE.fullmatch(type))
    return next(known, _TEXT if file.source == "text" else _BYTES)


def unresolved(file: FileArgument, *, is_unavailable: bool = False) -> CallError:
    """
    The error of a reference that the host's resolver did not follow.

    Whether there is no such file or it is not the caller's is not told; only an unavailable one is worth a retry.
    """
    return messages.file_unavailable(file.argument) if is_unavailable else messages.file_unresolved(file.argument)
