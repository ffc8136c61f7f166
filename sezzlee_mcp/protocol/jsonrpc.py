"""JSON-RPC 2.0: strict JSON, the shape of one message, ids and error codes (protocol.md, rungs 8-12)."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NoReturn, TypeAlias

from sezzlee_mcp.errors import ProtocolError
from sezzlee_mcp.invoke.arguments import kind_of

MAX_LEVELS = 100  # arrays and objects within each other; what reads a document may recurse once per level
MAX_INTEGER_DIGITS = 300  # longer ones take quadratic time to read

RequestId: TypeAlias = str | int


class Code(IntEnum):
    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    HEADER_MISMATCH = -32020
    UNSUPPORTED_PROTOCOL_VERSION = -32022


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A message that is answered; absent ``params`` are empty ones."""

    id: RequestId
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    """A message without id. None that a client may send has an effect here."""


@dataclass(frozen=True, slots=True)
class PostedResponse:
    """An answer to a request of ours. This server sends none."""


Message: TypeAlias = Request | Notification | PostedResponse


def parse_json(text: str, levels: int = MAX_LEVELS) -> Any:
    """
    The JSON value that ``text`` holds; ValueError says what is wrong with it.

    Refused as well: non-finite numbers (``1e999`` too), integers of more than ``MAX_INTEGER_DIGITS``
    digits, more than ``levels`` arrays and objects within each other, and lone surrogates, which have
    no UTF-8 form. Of equal keys in one object the last counts, as in every JSON reader that a client may use.
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise _too_deep(levels) from None
    if _is_deeper_than(levels, value):
        raise _too_deep(levels)
    if "\\u" in text and _has_lone_surrogate(value):
        raise ValueError("a text holds half of a surrogate pair")
    return value


def _too_deep(levels: int) -> ValueError:
    return ValueError(f"it is nested more than {levels} levels deep")


def _integer(text: str) -> int:
    if len(text) > MAX_INTEGER_DIGITS:
        raise ValueError(f"an integer has more than {MAX_INTEGER_DIGITS} digits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is beyond the range of a double")
    return number


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON value")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_finite, parse_constant=_refuse_constant)


def _is_deeper_than(limit: int, value: Any) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for node in level for child in _children(node) if isinstance(child, _CONTAINERS)]
    return bool(level)


_CONTAINERS = (dict, list)


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _has_lone_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def parse_body(body: bytes, levels: int = MAX_LEVELS) -> Any:
    """The JSON value of a request body; ProtocolError -32700 otherwise."""
    if not body:
        raise _parse_error("it is empty, as every body without a Content-Length is to a WSGI server")
    try:
        return parse_json(body.decode(), levels)
    except UnicodeDecodeError:
        raise _parse_error("it is not UTF-8") from None
    except ValueError as error:
        raise _parse_error(str(error)) from None


def _parse_error(reason: str) -> ProtocolError:
    message = f"Parse error: the body is not the JSON of one message: {reason}."
    return ProtocolError(code=Code.PARSE_ERROR, message=message, http_status=400)


def read_message(document: Any) -> Message:
    """The message that ``document`` is; ProtocolError -32600 when it is not exactly one."""
    if not isinstance(document, dict):
        raise invalid_request(f"the body must be one JSON-RPC object, not {kind_of(document)}")
    if document.get("jsonrpc") != "2.0":
        raise invalid_request('jsonrpc must be "2.0"')
    if _is_response(document):
        return PostedResponse()
    return _read_call(document)


def _is_response(document: dict[str, Any]) -> bool:
    return "method" not in document and ("result" in document or "error" in document)


def _read_call(document: dict[str, Any]) -> Request | Notification:
    method, params = document.get("method"), document.get("params", {})
    if not isinstance(method, str):
        raise invalid_request("method must be a string")
    if not isinstance(params, dict):
        raise invalid_request(f"params must be an object, not {kind_of(params)}")
    if "id" not in document:
        return Notification()
    if not _is_id(document["id"]):
        raise invalid_request(f"id must be a string or an integer, not {kind_of(document['id'])}")
    return Request(id=document["id"], method=method, params=params)


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def readable_id(document: Any) -> RequestId | None:
    """The id that an error about ``document`` echoes; None when it holds none, or only that of a request of ours."""
    if not isinstance(document, dict) or _is_response(document):
        return None
    identifier: RequestId | None = document.get("id")
    return identifier if _is_id(identifier) else None


def invalid_request(reason: str) -> ProtocolError:
    return ProtocolError(code=Code.INVALID_REQUEST, message=f"Invalid request: {reason}.", http_status=400)


def invalid_params(reason: str) -> ProtocolError:
    return ProtocolError(code=Code.INVALID_PARAMS, message=f"Invalid params: {reason}.", http_status=400)


def method_not_found(method: str) -> ProtocolError:
    message = f"Method not found: {clip(method)}"
    return ProtocolError(code=Code.METHOD_NOT_FOUND, message=message, http_status=404)


def clip(text: str, limit: int = 80) -> str:
    """What a message repeats of a text that a client chose."""
    return text if len(text) <= limit else f"{text[:limit]}…"
