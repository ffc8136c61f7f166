from typing import Any

import pytest

from sezzlee_mcp.openapi import Lowered, Response, lower
from tests.openapi.making import codes, document, only, with_operation

GET = "/paths/~1items~1/get"
TEXT = {"type": "string"}
OBJECT = {"type": "object"}


def lower_responses(responses: Any) -> Lowered:
    return lower(with_operation({"responses": responses}))


def answer(**schemas: Any) -> dict[str, Any]:
    return {"description": "ok", "content": {name: {"schema": schema} for name, schema in schemas.items()}}


def test_all_documented_responses_are_carried_in_order() -> None:
    made = only(
        lower_responses(
            {
                "404": {"description": None},
                "200": answer(**{"text/csv": TEXT, "application/json": OBJECT}),
                "5xx": {"description": ""},
                "default": {"description": "Else.", "content": None},
                "x-note": "kept by someone else",
            }
        )
    )

    assert made.responses == (
        Response(status="404"),
        Response(status="200", schema=OBJECT, description="ok", media_types=("text/csv", "application/json")),
        Response(status="5XX"),
        Response(status="default", description="Else."),
    )


@pytest.mark.parametrize(
    ("media_type", "schema"),
    [
        ("application/json", TEXT),
        ("application/json; version=1", TEXT),
        ("application/problem+json", TEXT),
        ("text/csv", TEXT),
        ("*/*", TEXT),
        ("application/pdf", None),
        ("application/*", None),
    ],
)
def test_schema_is_carried_where_it_describes_what_arrives(media_type: str, schema: Any) -> None:
    made = only(lower_responses({"200": answer(**{media_type: TEXT})}))

    assert made.responses == (Response(status="200", schema=schema, description="ok", media_types=(media_type,)),)


@pytest.mark.parametrize("status", ["20", "600", "OK", "2xX0", "200 ", "٢٠٠", ""])
def test_answer_under_no_status_is_left_out(status: str) -> None:
    lowered = lower_responses({status: {"description": "?"}})

    assert only(lowered).responses == ()
    assert codes(lowered) == [("response_invalid", f"{GET}/responses/{status}")]


def test_answer_that_is_no_object_is_left_out() -> None:
    lowered = lower_responses({"200": None, "201": "made"})

    assert only(lowered).responses == ()
    assert [code for code, _ in codes(lowered)] == ["response_invalid", "response_invalid"]


@pytest.mark.parametrize("responses", [[], "x", 3], ids=str)
def test_malformed_responses_cost_the_operation(responses: Any) -> None:
    lowered = lower_responses(responses)

    assert lowered.descriptors == ()
    assert codes(lowered) == [("operation_invalid", f"{GET}/responses")]


@pytest.mark.parametrize("responses", [None, {}], ids=str)
def test_operation_may_document_no_answer(responses: Any) -> None:
    assert only(lower_responses(responses)).responses == ()


STREAM = answer(**{"text/event-stream": TEXT})


@pytest.mark.parametrize(
    ("responses", "dropped"),
    [
        ({"200": STREAM}, True),
        ({"2XX": answer(**{"application/x-ndjson": TEXT, "application/jsonl": TEXT})}, True),
        ({"200": STREAM, "404": answer(**{"application/json": OBJECT})}, True),
        ({"200": STREAM, "204": {"description": "none"}}, True),
        ({"200": answer(**{"text/event-stream; charset=utf-8": TEXT})}, True),
        ({"200": answer(**{"text/event-stream": TEXT, "application/json": OBJECT})}, False),
        ({"200": STREAM, "202": answer(**{"application/json": OBJECT})}, False),
        ({"404": STREAM}, False),
        ({"200": {"description": "ok", "content": {}}}, False),
    ],
    ids=str,
)
def test_success_that_only_streams_costs_the_operation(responses: Any, dropped: bool) -> None:
    lowered = lower_responses(responses)

    assert (lowered.descriptors == ()) is dropped
    assert [code for code, _ in codes(lowered)] == (["streaming_response_unsupported"] if dropped else [])


def test_links_and_callbacks_are_said_once_per_document() -> None:
    responses = {"200": {"description": "ok", "links": {"next": {}}}, "201": {"description": "ok", "links": {"a": {}}}}
    operation = {"responses": responses, "callbacks": {"done": {}}}

    lowered = lower(document({"/items/": {"get": operation, "put": operation}}))

    assert len(lowered.descriptors) == 2
    assert codes(lowered) == [
        ("callbacks_ignored", f"{GET}/callbacks"),
        ("links_ignored", f"{GET}/responses/200/links"),
    ]
