"""The one place where a tool result is built: the leak filter, then the budget (results.md, "Envelopes")."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sezzlee_mcp.errors import CallError, FieldProblem
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.budget import shape_of
from sezzlee_mcp.invoke.leaks import may_be_forwarded, tells_internals

_COMPOSITE = ("payload", "continuation")
_NOT_RENAMED: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The one text block of a tools/call result; a ``code`` when it tells of a failure, the backend's ``status``."""

    text: str
    code: str | None = None
    status: int | None = None

    @property
    def is_error(self) -> bool:
        return self.code is not None


def emit(
    outcome: Mapping[str, Any] | CallError,
    *,
    limit_bytes: int,
    narrowing: tuple[FieldProblem, ...] = (),
    renamed: Mapping[str, str] = _NOT_RENAMED,
) -> ToolResult:
    """
    The result of a meta-tool call, as compact JSON; ``renamed`` are the members of a call by a tool's old name.

    Over ``limit_bytes`` of UTF-8 it is a ``response_too_large`` that tells the size and the shape, nothing of
    the body; ``narrowing`` are the arguments of the call that make it smaller (``budget.narrowing``).
    """
    code, payload = (outcome.code, _failure(outcome)) if isinstance(outcome, CallError) else (None, outcome)
    try:
        text = _json({**payload, **renamed})
    except RecursionError:
        return _refusal(messages.unwritable_answer(), renamed)
    size_bytes = len(text.encode())
    if size_bytes > limit_bytes:
        return _refusal(messages.response_too_large(size_bytes, limit_bytes, _shape(payload), narrowing), renamed)
    return ToolResult(text=text, code=code, status=payload.get("status"))


def _refusal(error: CallError, renamed: Mapping[str, str]) -> ToolResult:
    members = _members(error, message=error.message, fields=error.fields)
    return ToolResult(text=_json({**members, **renamed}), code=error.code)


def _json(payload: Mapping[str, Any]) -> str:
    text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # half of a pair has no UTF-8


def _shape(payload: Mapping[str, Any]) -> dict[str, Any]:
    body = payload.get("body", payload)
    if "contentType" in payload and not isinstance(body, str):
        return shape_of(None)  # bytes, whose Base64 wrapper is no body of the backend's
    return shape_of(body)


def _failure(error: CallError) -> dict[str, Any]:
    """The envelope of a failure whose texts may be shown; one that may not is replaced by the code's own."""
    if error.code == messages.RESPONSE_TOO_LARGE:  # its fields are descriptions that the tool publishes
        return _members(error, message=error.message, fields=error.fields)
    is_forwarded = error.status is not None
    fields = tuple(_shown(field, is_forwarded) for field in error.fields)
    message = error.message
    if not _is_clean(message, is_forwarded):
        message = messages.standard(
            error.code,
            status=error.status,
            reference=error.reference,
            retry_after_seconds=error.retry_after_seconds,
        )
    envelope = _members(error, message=message, fields=fields)
    if is_forwarded:  # a host's mapper may have put words of the backend into them
        envelope = {key: value for key, value in envelope.items() if key not in _COMPOSITE or _is_clean_value(value)}
    return envelope


def _shown(field: FieldProblem, is_forwarded: bool) -> FieldProblem:
    name = field.name if field.name is not None and _is_clean(field.name, is_forwarded) else None
    message = field.message if _is_clean(field.message, is_forwarded) else messages.WITHHELD_FIELD
    return FieldProblem(name=name, message=message)


def _is_clean(text: str, is_forwarded: bool) -> bool:
    return may_be_forwarded(text) if is_forwarded else not tells_internals(text)


def _is_clean_value(value: Any) -> bool:
    if isinstance(value, str):
        return may_be_forwarded(value)
    if isinstance(value, Mapping):
        return all(_is_clean_value(item) for pair in value.items() for item in pair)
    return not isinstance(value, list | tuple) or all(map(_is_clean_value, value))


def _members(error: CallError, *, message: str, fields: tuple[FieldProblem, ...]) -> dict[str, Any]:
    optional = {
        "status": error.status,
        "fields": [field.to_json() for field in fields] or None,
        "retryAfterSeconds": error.retry_after_seconds,
        "reference": error.reference,
        "payload": None if error.payload is None else dict(error.payload),
        "continuation": error.continuation and error.continuation.to_json(),
    }
    present = {key: value for key, value in optional.items() if value is not None}
    return {"error": error.code, "message": message, "retryable": error.retryable, **present}
