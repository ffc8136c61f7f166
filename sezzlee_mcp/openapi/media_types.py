"""Media types as OpenAPI names them: keys of a ``content`` object."""

import re
from collections.abc import Iterable

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
TEXT = "text/plain"
BYTES = "application/octet-stream"
WILDCARD = "*/*"
_MEDIA_TYPE = re.compile(r"[\w.+*!#$&^-]+/[\w.+*!#$&^-]+(\s*;.*)?")
_MEDIA = frozenset({"image", "audio", "video"})


def is_media_type(text: str) -> bool:
    return _MEDIA_TYPE.fullmatch(text) is not None


def essence(media_type: str) -> str:
    """The media type in lower case without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Whether it is of the JSON family: application/json, text/json, anything +json."""
    subtype = essence(media_type).partition("/")[2]
    return subtype == "json" or subtype.endswith("+json")


def first_json(media_types: Iterable[str]) -> str | None:
    """application/json where it is offered, else the first of the JSON family."""
    family = [media_type for media_type in media_types if is_json(media_type)]
    return next((item for item in family if essence(item) == "application/json"), family[0] if family else None)


def first_of(wanted: str, media_types: Iterable[str]) -> str | None:
    """The first that is ``wanted``, whatever its parameters and case."""
    return next((item for item in media_types if essence(item) == wanted), None)


def is_concrete(media_type: str) -> bool:
    """Whether it can be sent as it stands: a media type, and no range of them."""
    return is_media_type(media_type) and "*" not in essence(media_type)


def is_binary(media_type: str) -> bool:
    """Whether a body of it is bytes even where no schema says so: application/octet-stream, images, sound, video."""
    return essence(media_type) == BYTES or essence(media_type).partition("/")[0] in _MEDIA
