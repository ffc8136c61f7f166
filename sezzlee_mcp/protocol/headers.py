"""What the HTTP headers of one request must say (protocol.md, rungs 2, 6, 7 and 15-17, section 4)."""

import base64
import re
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from sezzlee_mcp.errors import ProtocolError
from sezzlee_mcp.protocol.jsonrpc import Code, Request

VERSION_HEADER = "MCP-Protocol-Version"
METHOD_HEADER = "Mcp-Method"
NAME_HEADER = "Mcp-Name"
VERSION_CLAIM = "io.modelcontextprotocol/protocolVersion"

_JSON = "application/json"
_EVENT_STREAM = "text/event-stream"
_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://(\[[0-9a-f:.]+\]|[^\s/?#@:\[\],]+)(?::([0-9]{1,5}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_ZERO_WEIGHT = re.compile(r";\s*q\s*=\s*0(\.0*)?\s*(;|$)")
_SENTINEL = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)

_Origin: TypeAlias = tuple[str, str, str | None]


def header_value(headers: Mapping[str, str], name: str) -> str | None:
    """The value of a header without the blanks around it; None when it was not sent."""
    value = headers.get(name.lower())
    return None if value is None else value.strip(" \t")


def origin_allowed(origin: str | None, *, host: str, allowed: Collection[str]) -> bool:
    """
    Whether a request with this ``Origin`` header may be served.

    ``host`` is the endpoint's own scheme and host (``https://api.example.com``). An entry of ``allowed``
    is an origin, or one with a wildcard for every subdomain (``https://*.example.com``), as in Django's
    CSRF_TRUSTED_ORIGINS. A client that is no browser sends no origin and passes; ``null`` never does.
    """
    if origin is None:
        return True
    sender = _read_origin(origin)
    return sender is not None and any(_covers(_read_origin(known), sender) for known in (host, *allowed))


def _read_origin(text: str) -> _Origin | None:
    found = _ORIGIN.fullmatch(text.strip(" \t").lower())
    if found is None:
        return None
    scheme, host, port = found.groups()
    return scheme, host, port or _DEFAULT_PORTS.get(scheme)


def _covers(known: _Origin | None, sender: _Origin) -> bool:
    if known is None or not known[1].startswith("*."):
        return known == sender
    return (known[0], known[2]) == (sender[0], sender[2]) and sender[1].endswith(known[1][1:])


def require_json_exchange(headers: Mapping[str, str]) -> None:
    """Nothing, when the request brings JSON and takes JSON; ProtocolError with status 415 or 406 otherwise."""
    content_type = headers.get("content-type", "")
    if _essence(content_type) != _JSON:
        raise _unusable(415, f"Content-Type must be {_JSON}")
    _require_accepted(headers, _JSON)


def require_event_stream(headers: Mapping[str, str]) -> None:
    """Nothing, when the request takes an event stream; ProtocolError with status 406 otherwise."""
    _require_accepted(headers, _EVENT_STREAM)


def _require_accepted(headers: Mapping[str, str], media_type: str) -> None:
    if not accepts(headers.get("accept", ""), media_type):
        raise _unusable(406, f"Accept must allow {media_type}")


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip(" \t").lower()


def _unusable(http_status: int, reason: str) -> ProtocolError:
    return ProtocolError(code=Code.INVALID_REQUEST, message=f"{reason}.", http_status=http_status)


def accepts(header: str, media_type: str) -> bool:
    """Whether an ``Accept`` header allows ``media_type``: the most specific range decides, an empty one allows all."""
    if not header.strip(" \t"):
        return True
    verdicts: dict[str, bool] = {}
    for item in header.lower().split(","):
        media_range = _essence(item)
        verdicts[media_range] = verdicts.get(media_range, False) or not _ZERO_WEIGHT.search(item)
    ranges = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
    return next((verdicts[media_range] for media_range in ranges if media_range in verdicts), False)


def require_matching_headers(request: Request, headers: Mapping[str, str]) -> None:
    """
    Nothing, when the headers of a modern request repeat its body; ProtocolError -32020 otherwise.

    A header that came twice arrives joined with a comma, so it differs by itself.
    """
    claim = request.params["_meta"][VERSION_CLAIM]
    _require_equal(VERSION_HEADER, header_value(headers, VERSION_HEADER), claim, f"params._meta[{VERSION_CLAIM!r}]")
    _require_equal(METHOD_HEADER, header_value(headers, METHOD_HEADER), request.method, "method")
    name = request.params.get("name")
    if request.method == "tools/call" and isinstance(name, str):
        _require_name(header_value(headers, NAME_HEADER), name)


def _require_name(sent: str | None, name: str) -> None:
    decoded = None if sent is None else decode_value(sent)
    if sent is not None and decoded is None:
        raise _mismatch(f"{NAME_HEADER} is not the Base64 of UTF-8 text")
    _require_equal(NAME_HEADER, decoded, name, "params.name")


def _require_equal(header: str, sent: str | None, expected: Any, place: str) -> None:
    if sent is None:
        raise _mismatch(f"{header} is missing; send it with the value of {place}")
    if sent != expected:
        raise _mismatch(f"{header} differs from {place}; send the same value in both")


def _mismatch(reason: str) -> ProtocolError:
    return ProtocolError(code=Code.HEADER_MISMATCH, message=f"Header mismatch: {reason}.", http_status=400)


def decode_value(value: str) -> str | None:
    """
    The text that a header value stands for: itself, or what its Base64 sentinel encloses.

    None when a sentinel encloses anything but canonical, padded Base64 of UTF-8 (section 4).
    """
    sentinel = _SENTINEL.fullmatch(value)
    if sentinel is None:
        return value
    encoded = sentinel[1]
    try:
        decoded = base64.b64decode(encoded)
        text = decoded.decode()
    except ValueError:
        return None
    is_canonical = base64.b64encode(decoded).decode() == encoded  # also tells characters that the decoder passes over
    return text if is_canonical else None
