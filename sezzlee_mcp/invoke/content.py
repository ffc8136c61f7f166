"""An answer's bytes and content type -> JSON, text or nothing that can be read."""

import json
import math
import re
from dataclasses import dataclass
from email.message import Message
from email.utils import collapse_rfc2231_value
from enum import StrEnum
from typing import Any, NoReturn

_JSON_TYPE = re.compile(r"(?:application|text)/json|[^/]+/[^/]+\+json")
_TEXT_TYPE = re.compile(
    r"text/.+|[^/]+/[^/]+\+(?:xml|yaml)"
    r"|application/(?:xml|yaml|x-yaml|javascript|x-ndjson|ndjson|jsonl|sql|toml|graphql|x-www-form-urlencoded)"
)
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
_UTF_8 = "utf-8-sig"  # a byte order mark is no part of the text


class Kind(StrEnum):
    EMPTY = "empty"
    JSON = "json"
    TEXT = "text"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a body holds: ``value`` is the parsed JSON or the text; without a Content-Type, ``media_type`` is None."""

    kind: Kind
    value: Any = None
    media_type: str | None = None


def read_content(body: bytes, content_type: str | None) -> Content:
    """
    What the body is by its content type.

    JSON that does not parse is text, and so is, without a content type, whatever is no JSON; text that does
    not decode is bytes. Any other type is bytes, although its bytes may happen to be readable (a PDF's are).
    """
    media_type, charset = _media_type(content_type)
    if not body:
        return Content(kind=Kind.EMPTY)
    is_json = media_type is None or _JSON_TYPE.fullmatch(media_type) is not None
    if not is_json and _TEXT_TYPE.fullmatch(media_type or "") is None:
        return Content(kind=Kind.BYTES, media_type=media_type)
    try:
        text = body.decode(charset)
    except (LookupError, ValueError):  # an unknown charset, or bytes that are none of its
        return Content(kind=Kind.BYTES, media_type=media_type)
    return _read_json(text, media_type) if is_json else Content(kind=Kind.TEXT, value=text, media_type=media_type)


def _read_json(text: str, media_type: str | None) -> Content:
    try:
        return Content(kind=Kind.JSON, value=parse_json(text), media_type=media_type)
    except (ValueError, RecursionError):
        return Content(kind=Kind.TEXT, value=text, media_type=media_type)


def parse_json(text: str) -> Any:
    """The JSON value; ``ValueError`` or ``RecursionError`` for what could not be written as JSON again."""
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits} is beyond every double")
    return value


def filename_of(content_disposition: str | None) -> str | None:
    """The file name that a Content-Disposition gives; the encoded spelling goes before the plain one (RFC 6266)."""
    header = Message()
    header["content-disposition"] = content_disposition or ""
    parameters = header.get_params([], "content-disposition")
    names = sorted((value for key, value in parameters if key == "filename"), key=lambda name: isinstance(name, str))
    try:
        return collapse_rfc2231_value(names[0]).strip() or None if names else None
    except ValueError:  # its charset holds a NUL
        return None


def _media_type(content_type: str | None) -> tuple[str | None, str]:
    """The type without its parameters, and the charset to decode with."""
    if not content_type or not content_type.strip():
        return None, _UTF_8
    found = _CHARSET.search(content_type)
    charset = found[1].lower() if found else "utf-8"
    return content_type.partition(";")[0].strip().lower(), _UTF_8 if charset == "utf-8" else charset
