import json

import pytest

from sezzlee_mcp.errors import CallError, Continuation, FieldProblem
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.budget import described, narrowing, shape_of, shape_of_start
from sezzlee_mcp.invoke.envelope import ToolResult, emit

LIMIT = 262_144


def test_success_is_compact_json_in_its_own_characters():
    assert emit({"status": 200, "body": {"name": "geç 😀", "n": 1.5}}, limit_bytes=LIMIT) == ToolResult(
        text='{"status":200,"body":{"name":"geç 😀","n":1.5}}', status=200
    )


def test_failure_writes_what_it_has_and_nothing_else():
    assert emit(CallError(code="unknown_tool", message="No."), limit_bytes=LIMIT) == ToolResult(
        text='{"error":"unknown_tool","message":"No.","retryable":false}', code="unknown_tool"
    )


def test_failure_writes_every_member_in_its_order():
    error = CallError(
        code="rate_limited",
        message="Slow down.",
        retryable=True,
        status=429,
        fields=(FieldProblem(name="a", message="x"), FieldProblem(name=None, message="y")),
        retry_after_seconds=0,
        reference="r1",
        payload={"k": 1},
        continuation=Continuation(
            kind="call_tool", tool="load_tool", arguments={"name": "t"}, after_seconds=0, instruction="Do."
        ),
    )
    assert emit(error, limit_bytes=LIMIT).text == (
        '{"error":"rate_limited","message":"Slow down.","retryable":true,"status":429,'
        '"fields":[{"name":"a","message":"x"},{"message":"y"}],"retryAfterSeconds":0,"reference":"r1",'
        '"payload":{"k":1},"continuation":{"kind":"call_tool","tool":"load_tool","arguments":{"name":"t"},'
        '"afterSeconds":0,"instruction":"Do."}}'
    )


def test_forwarded_texts_are_filtered_one_by_one():
    error = CallError(
        code="not_found",
        message="open /etc/passwd",
        status=404,
        fields=(
            FieldProblem(name="a", message="Innocent."),
            FieldProblem(name="b", message="KeyError: 'x'"),
            FieldProblem(name="/etc/passwd", message="Innocent."),
            FieldProblem(name="c", message="x" * 1001),
        ),
    )
    envelope = json.loads(emit(error, limit_bytes=LIMIT).text)
    assert (envelope["message"], envelope["fields"]) == (
        messages.standard("not_found", status=404),
        [
            {"name": "a", "message": "Innocent."},
            {"name": "b", "message": messages.WITHHELD_FIELD},
            {"message": "Innocent."},
            {"name": "c", "message": messages.WITHHELD_FIELD},
        ],
    )


@pytest.mark.parametrize(
    ("payload", "instruction", "kept"),
    [
        ({"left": 2, "of": ["a", None]}, "Ask again.", {"payload", "continuation"}),
        ({"seen": [{"at": "/srv/shop/orders.py"}]}, "Ask again.", {"continuation"}),
        ({"/srv/shop/orders.py": 1}, "Ask again.", {"continuation"}),
        ({"left": 2}, "Look at psycopg.errors.UniqueViolation.", {"payload"}),
        ({"text": "x" * 1001}, "x" * 1001, set()),
    ],
)
def test_other_members_of_a_hosts_failure_are_filtered_whole(payload, instruction, kept):
    error = CallError(
        code="conflict",
        message="No.",
        status=409,
        payload=payload,
        continuation=Continuation(kind="give_up", instruction=instruction),
    )
    envelope = json.loads(emit(error, limit_bytes=LIMIT).text)
    assert set(envelope) == {"error", "message", "retryable", "status", *kept}


def test_withheld_message_keeps_the_reference():
    error = CallError(code="backend_error", message="open /etc/passwd", status=500, reference="r1")
    envelope = json.loads(emit(error, limit_bytes=LIMIT).text)
    assert envelope["message"] == messages.standard("backend_error", status=500, reference="r1")


def test_failure_of_our_own_may_be_long_but_not_open():
    long, open_ = "x" * 5_000, "psycopg.errors.SyntaxError"
    assert json.loads(emit(CallError(code="internal_error", message=long), limit_bytes=LIMIT).text)["message"] == long
    assert json.loads(emit(CallError(code="internal_error", message=open_), limit_bytes=LIMIT).text)["message"] == (
        "The call failed (internal_error). The details were withheld because they describe the inside of the backend."
    )


def test_half_of_a_surrogate_pair_becomes_the_replacement_character():
    result = emit({"body": "a\ud800b", "\udc00": "\ud83d\ude00"}, limit_bytes=LIMIT)
    assert result.text == '{"body":"a�b","�":"😀"}'


def test_budget_counts_the_bytes_of_the_text():
    payload = {"status": 200, "body": "ü" * 10}
    size = len('{"status":200,"body":""}') + 20
    assert emit(payload, limit_bytes=size).is_error is False
    assert json.loads(emit(payload, limit_bytes=size - 1).text)["payload"] == {
        "bytes": size,
        "limit": size - 1,
        "shape": {"kind": "text", "count": 10},
    }


def test_answer_over_the_budget_is_refused_whole():
    fields = (FieldProblem(name="limit", message="How many, see /srv/data."),)
    result = emit({"status": 200, "body": ["marker"] * 20}, limit_bytes=100, narrowing=fields)
    assert "marker" not in result.text
    assert json.loads(result.text) == {
        "error": "response_too_large",
        "message": messages.response_too_large(203, 100, {"kind": "array", "count": 20}, fields).message,
        "retryable": False,
        "fields": [{"name": "limit", "message": "How many, see /srv/data."}],
        "payload": {"bytes": 203, "limit": 100, "shape": {"kind": "array", "count": 20}},
        "continuation": messages.NARROW.to_json(),
    }


def test_refusal_of_a_cut_off_answer_keeps_the_published_descriptions():
    fields = (FieldProblem(name="limit", message="How many, see /srv/data."),)
    error = messages.response_too_large(101, 100, {"kind": "text"}, fields, is_cut=True)
    envelope = json.loads(emit(error, limit_bytes=LIMIT).text)
    assert envelope["fields"] == [{"name": "limit", "message": "How many, see /srv/data."}]


def test_failure_over_the_budget_is_refused_too():
    error = CallError(code="not_found", message="x" * 500, status=404)
    assert json.loads(emit(error, limit_bytes=100).text)["error"] == "response_too_large"


def test_refusal_is_not_measured_again():
    assert json.loads(emit({"a": 1}, limit_bytes=0).text)["error"] == "response_too_large"


@pytest.mark.parametrize(
    ("payload", "shape"),
    [
        ({"status": 200, "body": [[1, 2], 3]}, {"kind": "array", "count": 2}),
        ({"status": 200, "body": {"a": 1}}, {"kind": "object", "count": 1}),
        ({"status": 200, "body": "😀", "contentType": "text/plain"}, {"kind": "text", "count": 2}),
        ({"status": 200, "body": {"base64": "AA=="}, "contentType": "application/pdf"}, {"kind": "text"}),
        ({"total": 1, "results": []}, {"kind": "object", "count": 2}),
    ],
)
def test_shape_is_that_of_the_body_or_of_the_whole_result(payload, shape):
    assert json.loads(emit(payload, limit_bytes=1).text)["payload"]["shape"] == shape


def test_answer_nested_without_end_is_a_failure():
    value = []
    for _ in range(100_000):
        value = [value]
    envelope = json.loads(emit({"body": value}, limit_bytes=LIMIT).text)
    assert envelope["message"] == messages.unwritable_answer().message


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ([], {"kind": "array", "count": 0}),
        ({}, {"kind": "object", "count": 0}),
        ("", {"kind": "text", "count": 0}),
        ("ab😀", {"kind": "text", "count": 4}),
        ("\ud800", {"kind": "text", "count": 1}),
        (12345, {"kind": "text"}),
        (True, {"kind": "text"}),
        (None, {"kind": "text"}),
    ],
)
def test_shape_counts_at_the_top(value, shape):
    assert shape_of(value) == shape


@pytest.mark.parametrize(
    ("text", "kind"), [(" \n[1", "array"), ('{"a', "object"), ('"a', "text"), ("a,b", "text"), ("", "text")]
)
def test_shape_of_a_start_is_told_by_its_first_character(text, kind):
    assert shape_of_start(text) == {"kind": kind}


def schema(*names, **described_names):
    properties = {name: {"type": "string"} for name in names}
    return {"properties": properties | {name: {"description": text} for name, text in described_names.items()}}


@pytest.mark.parametrize(
    ("input_schema", "names"),
    [
        (schema("id", "since", "pageSize", "status", "limit"), ["pageSize", "limit", "since", "status"]),
        (schema("made_after", "per-page", "fields", "maxResults"), ["per-page", "maxResults", "made_after", "fields"]),
        (schema("filter_by_page", "orderId", "performance", "statusCode2"), ["filter_by_page", "statusCode2"]),
        (schema(*(f"filter_{i}" for i in range(20)), "top"), ["top", *(f"filter_{i}" for i in range(7))]),
        (schema("id", "name"), []),
        (schema(), []),
        ({}, []),
    ],
)
def test_arguments_that_narrow_are_known_by_their_words(input_schema, names):
    assert [field.name for field in narrowing(input_schema)] == names


def test_narrowing_arguments_carry_their_descriptions():
    input_schema = {"properties": {"q": True, "limit": {"description": "How many."}, "page": {"description": " "}}}
    assert described(input_schema, ["page", "limit", "q"]) == (
        FieldProblem(name="page", message=messages.UNDESCRIBED_ARGUMENT),
        FieldProblem(name="limit", message="How many."),
        FieldProblem(name="q", message=messages.UNDESCRIBED_ARGUMENT),
    )
