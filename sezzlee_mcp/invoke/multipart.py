"""Parts -> the bytes of a multipart/form-data body; the same parts give the same bytes (RFC 7578)."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from sezzlee_mcp.invoke.files import FileArgument, FileContent, file_name, media_type

_NOT_PLAIN = re.compile(r"[^ -~]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One key of a form with its text or its file."""

    name: str
    value: str | FileArgument


WrittenPart = tuple[str, bytes]  # the headers and the content


def text_part(name: str, text: str) -> WrittenPart:
    return f'Content-Disposition: form-data; name="{_quotable(name)}"', text.encode()


def file_part(name: str, file: FileArgument, content: FileContent) -> WrittenPart:
    disposition = with_filename(f'form-data; name="{_quotable(name)}"', file_name(file, content))
    return f"Content-Disposition: {disposition}\r\nContent-Type: {media_type(file, content)}", content.data


def _quotable(name: str) -> str:
    """The name inside quotes. A declared name may hold anything, but never ends its line."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return escaped.replace("\r", "%0D").replace("\n", "%0A").replace("\0", "%00")


def with_filename(disposition: str, filename: str) -> str:
    """The header with the file's name; one beyond plain ASCII is given twice, encoded too (RFC 5987)."""
    fallback = _NOT_PLAIN.sub("_", filename)
    encoded = "" if fallback == filename else f"; filename*=UTF-8''{quote(filename, safe='')}"
    return f'{disposition}; filename="{fallback}"{encoded}'


def write_multipart(parts: Iterable[WrittenPart]) -> tuple[str, bytes]:
    """The content type with its boundary, and the body. The boundary is a digest of the parts, so no part holds it."""
    parts = tuple(parts)
    boundary = _boundary(parts)
    return f"multipart/form-data; boundary={boundary}", b"".join(_lines(parts, boundary.encode()))


def _boundary(parts: Iterable[WrittenPart]) -> str:
    seen = hashlib.sha256()
    for headers, content in parts:
        seen.update(f"{len(headers)} {len(content)} {headers}".encode())
        seen.update(content)
    return f"part-{seen.hexdigest()[:40]}"


def _lines(parts: Iterable[WrittenPart], boundary: bytes) -> Iterator[bytes]:
    for headers, content in parts:
        yield b"--" + boundary + b"\r\n" + headers.encode() + b"\r\n\r\n" + content + b"\r\n"
    yield b"--" + boundary + b"--\r\n"
