"""Messages are interface: each is rendered once, and the snapshot is reviewed like any other contract."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sezzlee_mcp.errors import CallError, FieldProblem
from sezzlee_mcp.invoke import described, messages
from sezzlee_mcp.invoke.envelope import emit
from sezzlee_mcp.invoke.fields import Naming
from sezzlee_mcp.invoke.outcomes import BackendResponse, CallFacts, map_response

FACTS = CallFacts(naming=Naming(), has_identity=True, limit_bytes=100)
NARROWING = (FieldProblem(name="limit", message="How many."), FieldProblem(name="page", message="Which page."))
FIELD_ERRORS = b'{"quantity": ["Too many.", "open /srv/shop"]}'


def too_large(shape, narrowing=NARROWING, **options):
    return messages.response_too_large(300_000, 262_144, shape, narrowing, **options)


OWN = {
    "unknown argument of none": messages.unknown_argument("pages", []),
    "unknown argument of one": messages.unknown_argument("pages", ["page"]),
    "unknown argument of some": messages.unknown_argument("x", ["page", "size"]),
    "unknown argument of many": messages.unknown_argument("x", [f"a{index}" for index in range(21)]),
    "missing path parameter": messages.missing_path_parameter("id"),
    "invalid path type": messages.invalid_path_type("id", "an integer", "a string"),
    "unusable path value": messages.unusable_path_value("id"),
    "misrouted path value": messages.misrouted_path_value("id"),
    "invalid type": messages.invalid_type("page", "an integer", "a fraction"),
    "null": messages.null_not_allowed("page"),
    "header injection": messages.header_injection("X-Tag"),
    "misrouted hidden path value": messages.misrouted_path_value(""),
    "argument sent twice": messages.argument_sent_twice(["page", "pg", "p"], "page"),
    "missing argument": messages.missing_argument("page"),
    "deferred value missing": messages.deferred_value_missing(),
    "deferred value invalid": messages.deferred_value_invalid(),
    "invalid cookie value": messages.invalid_cookie_value("theme"),
    "cookie carrier collision": messages.cookie_carrier_collision("theme"),
    "header carrier collision": messages.header_carrier_collision("X-Tenant"),
    "invalid form type": messages.invalid_form_type("meta", "a string", "an object"),
    "null in a form": messages.invalid_form_type("meta", "a string", "null"),
    "boolean needed": messages.boolean_needed("is_active"),
    "invalid file": messages.invalid_file_argument("photo", "has 2 sources", ["text", "base64"]),
    "invalid file with ref": messages.invalid_file_argument("photo", "is a string", ["text", "base64", "ref"]),
    "inline files too large": messages.inline_files_too_large(7, 5, ["text", "base64"]),
    "inline files too large with ref": messages.inline_files_too_large(7, 5, ["text", "base64", "ref"]),
    "file too large": messages.file_too_large("photo", 16_777_216),
    "file unresolved": messages.file_unresolved("photo"),
    "file unavailable": messages.file_unavailable("photo"),
    "unknown tool": messages.unknown_tool("get_ordr"),
    "tool changed": messages.tool_changed("get_order"),
    "other release": messages.other_release("get_order"),
    "not invocable": messages.not_invocable("get_order"),
    "array too large": too_large({"kind": "array", "count": 7}),
    "object too large": too_large({"kind": "object", "count": 7}, narrowing=()),
    "text too large": too_large({"kind": "text", "count": 7}),
    "scalar too large": too_large({"kind": "text"}, narrowing=()),
    "cut off": too_large({"kind": "array"}, is_cut=True),
    "timeout": messages.invoke_timeout(30),
    "not started": messages.invoke_not_started(0.25),
    "search ranker unavailable": messages.search_ranker_unavailable(),
    "unwritable answer": messages.unwritable_answer(),
    "internal error": messages.internal_error(),
    "withheld internal error": CallError(code="internal_error", message="KeyError: 'x'"),
}
ANSWERS = {
    **{f"status {status}": BackendResponse(status=status) for status in (400, 401, 403, 404, 409, 429, 500, 503)},
    "field errors": BackendResponse(status=400, headers={"content-type": "application/json"}, body=FIELD_ERRORS),
    "rate limit": BackendResponse(status=429, headers={"retry-after": "30"}),
    "reference": BackendResponse(status=500, headers={"x-request-id": "r1"}),
}


NEXT_STEPS = {
    "next page": messages.next_page("orders_list", {"page": 2}, None),
    "next page of a pinned call": messages.next_page("orders_list", {"page": 2}, "0123456789abcdef"),
}


def answered(response):
    try:
        return map_response(response, FACTS)
    except CallError as error:
        return error


def rendered(name):
    if name in NEXT_STEPS:
        return NEXT_STEPS[name].to_json()
    outcome = OWN[name] if name in OWN else answered(ANSWERS[name])
    return json.loads(emit(outcome, limit_bytes=262_144).text)


@pytest.mark.parametrize("name", [*OWN, *ANSWERS, *NEXT_STEPS])
def test_envelope_of_each_failure(name, snapshot):
    assert rendered(name) == snapshot


def test_every_sentence_of_the_module_is_rendered():
    shown = json.dumps([rendered(name) for name in (*OWN, *ANSWERS, *NEXT_STEPS)]) + json.dumps(
        [field.message for field in described({"properties": {"page": {}}}, ["page"])]
    )
    tree = ast.parse(Path(messages.__file__).read_text(encoding="utf-8"))
    assert [text for text in fragments(tree) if json.dumps(text)[1:-1] not in shown] == []


def fragments(tree: ast.AST) -> Iterator[str]:
    """The pieces of two words or more between the places of each text of the module that is no docstring."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from (piece for piece in re.split(r"\{\w*\}", node.value) if " " in piece.strip())


@pytest.mark.parametrize("code", sorted(messages.STANDARD))
def test_standard_message_tells_the_status_as_an_integer(code):
    assert "(418)" in messages.standard(code, status=418) or code == "validation_failed"


@pytest.mark.parametrize(
    ("name", "query"),
    [("get_order", "get order"), ("getÖrder-2", "getÖrder 2"), ("", ""), ("😀", ""), ("x" * 300, "x" * 100)],
)
def test_unknown_tool_leads_to_a_search_for_its_words(name, query):
    continuation = messages.unknown_tool(name).continuation
    assert continuation is not None
    assert (continuation.tool, continuation.arguments) == ("search_tools", {"query": query})
