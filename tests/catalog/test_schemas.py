from typing import Any

import pytest

from sezzlee_mcp.catalog import schemas
from sezzlee_mcp.catalog.arguments import refusals, wire_arguments
from sezzlee_mcp.catalog.bodies import BodyPlan, plan_body
from sezzlee_mcp.catalog.files import INLINE_SOURCES
from sezzlee_mcp.catalog.schemas import output_schema
from sezzlee_mcp.diagnostics import Diagnostic
from sezzlee_mcp.openapi.descriptors import Body, Descriptor, Parameter, Response
from tests.catalog.making import json_body, operation, parameter

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
ITEM = {"type": "object", "properties": {"item": STRING}}


def planned(descriptor: Descriptor) -> BodyPlan | None:
    return plan_body(descriptor, INLINE_SOURCES)


def input_schema(descriptor: Descriptor) -> dict[str, Any] | Diagnostic:
    plan = planned(descriptor)
    arguments = wire_arguments(descriptor, plan)
    refused = next(refusals(arguments, {}, frozenset(), descriptor.key), None)
    return refused or schemas.input_schema(arguments, plan, operation=descriptor.key)


def accepted(*parameters: Parameter, body: Body | None = None) -> dict[str, Any] | Diagnostic:
    descriptor = operation("POST", parameters=parameters, body=body)
    return input_schema(descriptor)


def flat(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def reason(descriptor: Descriptor) -> str | None:
    plan = planned(descriptor)
    return plan.diagnostic.code if plan and plan.diagnostic else None


def test_no_arguments_are_an_empty_flat_object() -> None:
    assert accepted() == flat({})


def test_parameters_come_first_and_in_order() -> None:
    body = json_body({"type": "object", "properties": {"b": STRING, "a": STRING}, "required": ["a", "b", "ghost"]})
    schema = accepted(parameter("z", required=True), parameter("y"), parameter("id", location="path"), body=body)
    assert schema == flat({"z": STRING, "y": STRING, "id": STRING, "b": STRING, "a": STRING}, "z", "id", "b", "a")
    assert isinstance(schema, dict)
    assert list(schema["properties"]) == ["z", "y", "id", "b", "a"]


def test_description_of_the_schema_wins() -> None:
    assert accepted(
        parameter("a", {"type": "string", "description": "of the schema"}, description="of the parameter"),
        parameter("b", description="of the parameter"),
        parameter("c", {"$ref": "#/$defs/C", "$defs": {"C": INTEGER}}, description="of the parameter"),
    ) == flat(
        {
            "a": {"type": "string", "description": "of the schema"},
            "b": {"type": "string", "description": "of the parameter"},
            "c": {"$ref": "#/$defs/C", "description": "of the parameter"},
        },
        **{"$defs": {"C": INTEGER}},
    )


def test_descriptor_is_left_as_it_was() -> None:
    schema = {"type": "string", "$defs": {"C": INTEGER}}
    accepted(parameter("a", schema, description="text"))
    assert schema == {"type": "string", "$defs": {"C": INTEGER}}


@pytest.mark.parametrize(
    ("said", "published"),
    [({}, False), ({"additionalProperties": False}, False), ({"additionalProperties": True}, True)]
    + [({"additionalProperties": {}}, {}), ({"additionalProperties": INTEGER}, INTEGER)],
)
def test_openness_is_the_bodys_own(said: dict[str, Any], published: Any) -> None:
    assert accepted(body=json_body({**ITEM, **said})) == {**flat({"item": STRING}), "additionalProperties": published}


@pytest.mark.parametrize(
    "schema",
    [
        ITEM,
        {"properties": {"item": STRING}},
        {"type": "object", "properties": {}},
        {"type": "object", "additionalProperties": True},
        {"additionalProperties": STRING},
        {
            **{**ITEM, "title": "T", "$schema": "s", "$comment": "c", "example": 1, "examples": [1], "default": {}},
            **{"deprecated": True, "readOnly": False, "writeOnly": False, "description": "d", "x-own": 1},
            **{"required": ["item"], "$defs": {"A": STRING}},
        },
    ],
)
def test_required_object_flattens(schema: dict[str, Any]) -> None:
    descriptor = operation("POST", body=json_body(schema))
    assert reason(descriptor) is None
    published = input_schema(descriptor)
    assert isinstance(published, dict)
    assert published["properties"] == schema.get("properties", {})


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"type": "array", "items": INTEGER}, "synthetic_body_argument"),
        ({"type": "string"}, "synthetic_body_argument"),
        ({"type": ["array", "null"]}, "synthetic_body_argument"),
        ({"type": "null"}, "synthetic_body_argument"),
        ({"type": ["object", "null"], "properties": {"item": STRING}}, "unflattenable_body_root"),
        ({"type": ["object", "array"]}, "unflattenable_body_root"),
        ({}, "unflattenable_body_root"),
        ({"type": "object"}, "unflattenable_body_root"),
        ({"type": "object", "additionalProperties": False}, "unflattenable_body_root"),
        ({"$ref": "#/$defs/Node"}, "unflattenable_body_root"),
        ({**ITEM, "oneOf": [{"required": ["item"]}]}, "unflattenable_body_root"),
        ({**ITEM, "$anchor": "Node"}, "unflattenable_body_root"),
        ({**ITEM, "$id": "urn:x"}, "unflattenable_body_root"),
        ({**ITEM, "minProperties": 1}, "unflattenable_body_root"),
        ({**ITEM, "patternProperties": {}}, "unflattenable_body_root"),
        ({**ITEM, "enum": [{}]}, "unflattenable_body_root"),
    ],
)
@pytest.mark.parametrize("required", [True, False])
def test_other_root_is_one_argument(schema: dict[str, Any], code: str, required: bool) -> None:
    descriptor = operation("POST", body=json_body(schema, required=required))
    assert reason(descriptor) == code
    expected = flat({"body": schema}, *(["body"] if required else []))
    assert input_schema(descriptor) == expected


def test_reason_names_the_keywords_in_the_way() -> None:
    plan = planned(operation("POST", body=json_body({**ITEM, "oneOf": [], "allOf": []})))
    assert plan is not None
    assert plan.diagnostic is not None
    assert plan.diagnostic.message == (
        "The body's fields cannot become arguments (its root has allOf, oneOf); the argument body holds it whole."
    )


def test_optional_body_is_an_optional_argument() -> None:
    descriptor = operation("POST", body=json_body({**ITEM, "required": ["item"]}, required=False))
    assert reason(descriptor) == "optional_body_argument"
    expected = flat({"body": {**ITEM, "required": ["item"]}})
    assert input_schema(descriptor) == expected


def test_field_named_like_a_parameter_keeps_the_body_whole() -> None:
    descriptor = operation("PUT", parameters=(parameter("item", location="path"),), body=json_body(ITEM))
    assert reason(descriptor) == "body_field_collision"
    assert input_schema(descriptor) == flat({"item": STRING, "body": ITEM}, "item", "body")


def test_field_named_body_is_a_field_like_any_other() -> None:
    assert accepted(body=json_body({"type": "object", "properties": {"body": STRING}})) == flat({"body": STRING})


@pytest.mark.parametrize(
    ("parameters", "body", "name"),
    [
        ([parameter("body")], json_body({"type": "array"}), "body"),
        ([parameter("body")], json_body({"type": "object", "properties": {"body": STRING}}), "body"),
        ([parameter("id", location="path"), parameter("id")], None, "id"),
    ],
)
def test_two_arguments_of_one_name_drop_the_operation(
    parameters: list[Parameter], body: Body | None, name: str
) -> None:
    found = accepted(*parameters, body=body)
    assert isinstance(found, Diagnostic)
    assert (found.code, found.operation, found.message) == (
        "argument_collision",
        "POST /orders/",
        f"Two arguments would be named {name}.",
    )


def test_definitions_of_all_slots_merge_at_the_root_by_code_point() -> None:
    address = {"type": "object", "properties": {"a": STRING, "b": STRING}}
    reordered = {"properties": {"b": STRING, "a": STRING}, "type": "object"}
    schema = accepted(
        parameter("from", {"$ref": "#/$defs/b", "$defs": {"b": address}}),
        body=json_body({**ITEM, "$defs": {"é": STRING, "b": reordered, "Z": INTEGER}}),
    )
    assert schema == flat(
        {"from": {"$ref": "#/$defs/b"}, "item": STRING}, **{"$defs": {"Z": INTEGER, "b": address, "é": STRING}}
    )
    assert isinstance(schema, dict)
    assert list(schema["$defs"]) == ["Z", "b", "é"]


@pytest.mark.parametrize(
    ("one", "other"), [(STRING, INTEGER), ({"const": 1}, {"const": True}), ({"enum": [1, 2]}, {"enum": [2, 1]})]
)
def test_definitions_that_differ_drop_the_operation(one: dict[str, Any], other: dict[str, Any]) -> None:
    found = accepted(parameter("a", {"$defs": {"A": one}}), body=json_body({**ITEM, "$defs": {"A": other}}))
    assert isinstance(found, Diagnostic)
    assert (found.code, found.message) == ("schema_def_conflict", "Two different definitions are named A.")


def test_property_with_an_id_keeps_its_definitions() -> None:
    own = {"$id": "urn:x", "$ref": "#/$defs/A", "$defs": {"A": INTEGER}}
    assert accepted(parameter("a", own), parameter("b", {"$ref": "#/$defs/A", "$defs": {"A": STRING}})) == flat(
        {"a": own, "b": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": STRING}}
    )


def test_whole_body_lifts_its_definitions() -> None:
    schema = {"type": "array", "items": {"$ref": "#/$defs/A"}, "$defs": {"A": STRING}}
    assert accepted(body=json_body(schema)) == flat(
        {"body": {"type": "array", "items": {"$ref": "#/$defs/A"}}}, "body", **{"$defs": {"A": STRING}}
    )


def answers(**schemas: str | None) -> tuple[Response, ...]:
    """Responses whose object schema has the given title; None is an answer without a schema."""
    return tuple(
        Response(status=status.lstrip("_"), schema=None if title is None else {"type": "object", "title": title})
        for status, title in schemas.items()
    )


@pytest.mark.parametrize(
    ("responses", "chosen"),
    [
        (answers(_201="b", _200="a"), "a"),
        (answers(_202="c", _201="b"), "b"),
        (answers(_203="x", _202="c"), "c"),
        (answers(_226="y", _203="x"), "x"),
        (answers(_2XX="r", _226="y"), "y"),
        (answers(_2xx="r"), "r"),
        (answers(_203="x", _204=None), None),
        (answers(_204="never"), None),
        (answers(_200=None, _201="b"), None),
        (answers(default="d"), None),
        (answers(_400="e", _302="m", default="d"), None),
        ((), None),
    ],
)
def test_primary_answer_gives_the_output_schema(responses: tuple[Response, ...], chosen: str | None) -> None:
    assert output_schema(responses) == (None if chosen is None else {"type": "object", "title": chosen})


def wrapped(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"result": schema}, "required": ["result"], **more}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (ITEM, ITEM),
        ({"type": ["object", "null"]}, {"type": ["object", "null"]}),
        ({"type": "object", "$defs": {"A": STRING}}, {"type": "object", "$defs": {"A": STRING}}),
        ({"type": "array", "items": ITEM}, wrapped({"type": "array", "items": ITEM})),
        ({"type": "string"}, wrapped({"type": "string"})),
        ({"type": ["object", "array"]}, wrapped({"type": ["object", "array"]})),
        ({"properties": {}}, wrapped({"properties": {}})),
        ({}, wrapped({})),
        (
            {"$ref": "#/$defs/B", "$defs": {"B": STRING, "A": INTEGER}},
            wrapped({"$ref": "#/$defs/B"}, **{"$defs": {"A": INTEGER, "B": STRING}}),
        ),
        (
            {"$id": "urn:x", "$ref": "#/$defs/B", "$defs": {"B": STRING}},
            wrapped({"$id": "urn:x", "$ref": "#/$defs/B", "$defs": {"B": STRING}}),
        ),
    ],
)
def test_answer_that_is_no_object_is_wrapped(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert output_schema([Response(status="200", schema=schema)]) == expected
