"""What arrives over HTTP and what goes back: the one place where a reply is built."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sezzlee_mcp.errors import ProtocolError
from sezzlee_mcp.protocol.headers import header_value, origin_allowed
from sezzlee_mcp.protocol.jsonrpc import Code, RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """One HTTP request. Header names are in lower case; ``body`` is empty until the caller is known."""

    method: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One HTTP response; ``body`` is None when there is none."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


ACCEPTED = Reply(status=202)


def result_reply(request_id: RequestId, result: Mapping[str, Any]) -> Reply:
    return _json_reply(200, {}, {"jsonrpc": "2.0", "id": request_id, "result": result})


def error_reply(error: ProtocolError, request_id: RequestId | None = None, *, status: int | None = None) -> Reply:
    """The reply that says ``error``, with the error's status unless ``status`` is given; no id, no ``id`` member."""
    identified = {} if request_id is None else {"id": request_id}
    described = {} if error.data is None else {"data": error.data}
    message = {"jsonrpc": "2.0", **identified, "error": {"code": error.code, "message": error.message, **described}}
    return _json_reply(status or error.http_status, error.headers, message)


def _json_reply(status: int, headers: Mapping[str, str], message: Mapping[str, Any]) -> Reply:
    return Reply(status=status, headers={"Content-Type": "application/json", **headers}, body=encode(message))


def encode(message: Mapping[str, Any]) -> bytes:
    """One message as JSON on one line."""
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # A backend's text may hold half a surrogate pair, which has no UTF-8 form and which strict clients refuse.
    return text.encode(errors="replace")


def refusal(status: int, code: int, message: str, headers: Mapping[str, str] | None = None) -> Reply:
    """The reply to a request whose body nobody read, so that no id can be echoed."""
    return error_reply(ProtocolError(code=code, message=message, http_status=status, headers=headers or {}))


def early_refusal(inbound: Inbound, *, host: str, allowed_origins: Collection[str]) -> Reply | None:
    """
    The reply to a request that is refused before anyone asks who sent it, or None (rungs 2 and 3).

    ``host`` and ``allowed_origins`` as in ``origin_allowed``.
    """
    if not origin_allowed(header_value(inbound.headers, "Origin"), host=host, allowed=allowed_origins):
        return refusal(403, Code.INVALID_REQUEST, "Requests from this Origin are not served.")
    if inbound.method != "POST":
        return refusal(405, Code.INVALID_REQUEST, "This endpoint takes POST only.", {"Allow": "POST"})
    return None


def too_large(limit_bytes: int) -> Reply:
    """The reply to a body of more than ``limit_bytes`` (rung 5)."""
    return refusal(413, Code.INVALID_REQUEST, f"The body is larger than {limit_bytes} bytes.")
