"""
Fixtures of kind error-mapping: a backend's answer, or a failure of our own -> the envelope.

A message that the backend's body holds must come through as it is; so must one that the fixture hands in. Of any other,
which this project writes itself, only that is compared. ``continuation`` is additional here and left out.
"""

import json
from typing import Any

from sezzlee_mcp.errors import CallError, FieldProblem
from sezzlee_mcp.invoke import BackendResponse, CallFacts, Naming, emit, map_response, messages
from sezzlee_mcp.invoke.budget import shape_of
from sezzlee_mcp.invoke.files import FileArgument, unresolved

_LIMIT_BYTES = 262_144
_BUILT_INPUT = {"status", "contentType", "headers", "body", "knownFields", "fieldAliases", "hiddenFields"}


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given, expected = fixture["input"], dict(fixture["expected"])
    outcome = _own_failure(given) if "sdkError" in given else _mapped(given)
    actual = json.loads(emit(outcome, limit_bytes=_LIMIT_BYTES).text)
    actual.pop("continuation", None)
    return _with_own_message(actual, given), _with_own_message(expected, given)


def _with_own_message(envelope: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    texts = _texts(given.get("body")) | _texts(given.get("message"))
    is_own = "message" in envelope and envelope["message"] not in texts
    return {**envelope, "message": "<written by the project>"} if is_own else envelope


def _texts(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {text for member in members for text in _texts(member)}


def _mapped(given: dict[str, Any]) -> dict[str, Any] | CallError:
    if missing := sorted(set(given) - _BUILT_INPUT):
        raise NotImplementedError(f"not built: {', '.join(missing)}")
    body = given.get("body", "")
    headers = {name.lower(): value for name, value in given.get("headers", {}).items()}
    if "contentType" in given:
        headers["content-type"] = given["contentType"]
    naming = Naming(
        published=given.get("knownFields", []),
        renamed=given.get("fieldAliases", {}),
        hidden=frozenset(given.get("hiddenFields", [])),
    )
    facts = CallFacts(naming=naming, has_identity=True, limit_bytes=_LIMIT_BYTES)
    text = body if isinstance(body, str) else json.dumps(body)
    try:
        return map_response(BackendResponse(status=given["status"], headers=headers, body=text.encode()), facts)
    except CallError as error:
        return error


def _own_failure(given: dict[str, Any]) -> CallError:
    if "message" in given:
        return CallError(code=given["sdkError"], message=given["message"])
    match given["sdkError"]:
        case "response_too_large":
            narrowing = tuple(
                FieldProblem(name=field["name"], message=field["message"]) for field in given.get("narrowing", [])
            )
            return messages.response_too_large(given["bytes"], given["limit"], shape_of(given["payload"]), narrowing)
        case "invoke_timeout":
            return messages.invoke_timeout(given["limitMs"] / 1000)
        case "tool_changed":
            return messages.tool_changed(given["tool"])
        case "file_too_large":
            return messages.file_too_large(given["field"], given["limit"])
        case "file_unresolved":
            file = FileArgument(argument=given["field"], field=given["field"], source="ref", content="")
            return unresolved(file, is_unavailable=given["reason"] == "unavailable")
        case "invoke_timeout":
            return messages.invoke_timeout(given["limitMs"] / 1000)
        case code:
            raise NotImplementedError(f"not built: {code}")
