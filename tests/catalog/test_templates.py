from typing import Any

import pytest

from sezzlee_mcp.catalog import BodyTemplate, Member, Slot, Template
from sezzlee_mcp.catalog.arguments import wire_arguments
from sezzlee_mcp.catalog.bodies import plan_body
from sezzlee_mcp.catalog.files import INLINE_SOURCES
from sezzlee_mcp.catalog.templates import template_of
from sezzlee_mcp.openapi.descriptors import Body, Descriptor, Endpoint, Parameter, Response
from tests.catalog.making import json_body, operation, parameter

STRING, INTEGER, NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}


def template(descriptor: Descriptor) -> Template:
    plan = plan_body(descriptor, INLINE_SOURCES)
    return template_of(descriptor, plan, wire_arguments(descriptor, plan), INLINE_SOURCES)


@pytest.mark.parametrize(
    ("schema", "written", "is_array"),
    [
        (STRING, "string", False),
        (INTEGER, "integer", False),
        ({"type": "number"}, "number", False),
        ({"type": "boolean"}, "boolean", False),
        ({"type": ["integer", "null"]}, "integer", False),
        ({"type": ["string"]}, "string", False),
        ({"anyOf": [INTEGER, NULL]}, "integer", False),
        ({"oneOf": [NULL, STRING]}, "string", False),
        ({"allOf": [STRING]}, "string", False),
        ({"type": ["string", "integer"]}, "any", False),
        ({"anyOf": [INTEGER, STRING]}, "any", False),
        ({"enum": ["a", "b"]}, "any", False),
        ({}, "any", False),
        ({"type": "object"}, "any", False),
        (NULL, "any", False),
        ({"$ref": "#/$defs/A", "$defs": {"A": INTEGER}}, "integer", False),
        ({"anyOf": [{"$ref": "#/$defs/A"}, NULL], "$defs": {"A": STRING}}, "string", False),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, "any", False),
        ({"$ref": "#/$defs/gone"}, "any", False),
        ({"type": "array", "items": INTEGER}, "integer", True),
        ({"type": ["array", "null"], "items": STRING}, "string", True),
        ({"anyOf": [{"type": "array", "items": STRING}, NULL]}, "string", True),
        ({"type": "array", "items": {"$ref": "#/$defs/A"}, "$defs": {"A": STRING}}, "string", True),
        ({"type": "array", "items": {"type": ["integer", "null"]}}, "integer", True),
        ({"type": "array"}, "any", True),
        ({"type": "array", "items": True}, "any", True),
        ({"type": "array", "items": {"type": "array", "items": STRING}}, "any", True),
    ],
)
def test_slot_is_written_as_the_one_scalar_type_of_its_schema(
    schema: dict[str, Any], written: str, is_array: bool
) -> None:
    (slot,) = template(operation(parameters=(parameter("a", schema),))).slots
    assert (slot.type, slot.is_array) == (written, is_array)


def test_slots_keep_the_order_and_the_style_of_the_parameters() -> None:
    given = (
        Parameter(name="tags", location="query", required=False, schema=STRING, style="pipeDelimited", explode=False),
        Parameter(name="id", location="path", required=True, schema=INTEGER, style="simple", explode=False),
        Parameter(
            name="q", location="query", required=True, schema=STRING, style="form", explode=True, allow_reserved=True
        ),
    )
    assert template(operation(parameters=given)).slots == (
        Slot(name="tags", location="query", type="string", style="pipeDelimited", explode=False),
        Slot(name="id", location="path", type="integer", required=True, style="simple", explode=False),
        Slot(name="q", location="query", type="string", required=True, style="form", explode=True, allow_reserved=True),
    )


def test_deep_object_declares_its_members() -> None:
    schema = {
        "anyOf": [{"$ref": "#/$defs/Filter"}, NULL],
        "$defs": {
            "Filter": {
                "type": "object",
                "properties": {
                    "status": {"$ref": "#/$defs/Status"},
                    "ids": {"type": "array", "items": INTEGER},
                    "any": {},
                },
            },
            "Status": {"type": "string", "enum": ["open"]},
        },
    }
    (slot,) = template(operation(parameters=(parameter("filter", schema, style="deepObject"),))).slots
    assert (slot.type, slot.is_array, slot.members) == (
        "object",
        False,
        (
            Member(name="status", type="string"),
            Member(name="ids", type="integer", is_array=True),
            Member(name="any", type="any"),
        ),
    )


OBJECT = {"type": "object", "properties": {"b": STRING, "a": STRING}}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (None, None),
        (json_body(OBJECT), BodyTemplate(content_type="application/json", properties=("b", "a"))),
        (
            json_body({**OBJECT, "additionalProperties": {}}),
            BodyTemplate(content_type="application/json", properties=("b", "a"), is_open=True),
        ),
        (
            json_body({**OBJECT, "additionalProperties": False}),
            BodyTemplate(content_type="application/json", properties=("b", "a")),
        ),
        (json_body({"type": "array"}), BodyTemplate(content_type="application/json", argument="body")),
        (
            Body(schema=OBJECT, required=False, content_type="application/merge-patch+json"),
            BodyTemplate(content_type="application/merge-patch+json", argument="body", required=False),
        ),
    ],
)
def test_body_is_written_as_its_schema_published_it(body: Body | None, expected: BodyTemplate | None) -> None:
    assert template(operation("POST", body=body)).body == expected


def test_success_media_types_are_accepted_json_first() -> None:
    responses = (
        Response(status="200", media_types=("text/csv", "application/vnd.api+json; version=1", "application/pdf")),
        Response(status="201", media_types=("application/json", "text/csv")),
        Response(status="400", media_types=("application/problem+json",)),
        Response(status="default", media_types=("text/html",)),
    )
    assert template(operation(responses=responses)).accept == (
        "application/vnd.api+json; version=1",
        "application/json",
        "text/csv",
        "application/pdf",
    )


def test_view_and_route_of_the_resolver_are_kept() -> None:
    endpoint = Endpoint(path="/orders/{id}/", route="orders/<int:pk>/", view="shop.Orders", is_localized=True)
    assert template(operation(route="/orders/{id}/", endpoint=endpoint)) == Template(
        method="GET", route="/orders/{id}/", resolver_route="orders/<int:pk>/", view="shop.Orders", is_localized=True
    )


def test_operation_of_a_file_has_no_view() -> None:
    assert template(operation(endpoint=None)) == Template(method="GET", route="/orders/")
