"""Slots: what is opened at the top, what stays a reference, and which definitions come along."""

from typing import Any

import pytest

from sezzlee_mcp.openapi import Lowered, lower
from tests.openapi.making import (
    OK,
    body_schema,
    codes,
    components,
    document,
    lower_body,
    lower_parameters,
    lower_response,
    only,
    response_schema,
    with_operation,
)

SCHEMA = "/paths/~1items~1/post/requestBody/content/application~1json/schema"
RESPONSE = "/paths/~1items~1/get/responses/200/content/application~1json/schema"


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def local(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


NODE = {"type": "object", "properties": {"parent": ref("Node")}}
OPEN_NODE = {"type": "object", "properties": {"parent": local("Node")}}


def parameter_schema(schema: Any, *, version: str = "3.0.3", **schemas: Any) -> Any:
    parameter = {"name": "q", "in": "query", "schema": schema}
    return only(lower_parameters(parameter, version=version, components=components(**schemas))).parameters[0].schema


@pytest.mark.parametrize("slot", [body_schema, response_schema, parameter_schema])
def test_top_of_each_slot_is_opened_and_what_it_needs_comes_along(slot: Any) -> None:
    schemas = {
        "Order": {"type": "object", "properties": {"owner": ref("Owner")}},
        "Owner": {"type": "object", "properties": {"address": ref("Address")}},
        "Address": {"type": "string"},
        "Unused": {"type": "string"},
    }

    assert slot(ref("Order"), **schemas) == {
        "type": "object",
        "properties": {"owner": local("Owner")},
        "$defs": {
            "Address": {"type": "string"},
            "Owner": {"type": "object", "properties": {"address": local("Address")}},
        },
    }


@pytest.mark.parametrize("slot", [body_schema, response_schema, parameter_schema])
def test_recursion_below_the_top_stays_a_reference(slot: Any) -> None:
    assert slot(ref("Node"), Node=NODE) == {**OPEN_NODE, "$defs": {"Node": OPEN_NODE}}


@pytest.mark.parametrize(
    ("raw", "opened"),
    [
        ({"allOf": [ref("Kind")]}, {"type": "string", "enum": ["a"]}),
        ({"allOf": [ref("Kind")], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"nullable": True, **ref("Kind")}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"anyOf": [ref("Kind"), {"type": "null"}]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"allOf": [ref("Alias")], "description": "Own."}, {"type": "string", "enum": ["a"], "description": "Own."}),
        (ref("MaybeAlias"), {"type": ["string", "null"], "enum": ["a", None]}),
        (
            {"allOf": [ref("Kind")], "enum": ["b"]},
            {"enum": ["b"], **local("Kind"), "$defs": {"Kind": {"type": "string", "enum": ["a"]}}},
        ),
        (
            {"oneOf": [ref("Kind"), {"type": "integer"}]},
            {"oneOf": [local("Kind"), {"type": "integer"}], "$defs": {"Kind": {"type": "string", "enum": ["a"]}}},
        ),
    ],
    ids=str,
)
def test_top_is_opened_through_wrappers_and_chains(raw: Any, opened: Any) -> None:
    schemas = {
        "Kind": {"type": "string", "enum": ["a"]},
        "Alias": ref("Kind"),
        "MaybeAlias": {"allOf": [ref("Alias")], "nullable": True},
    }

    assert parameter_schema(raw, **schemas) == opened


CIRCLES = {"A": ref("B"), "B": {"allOf": [ref("C")]}, "C": {"nullable": True, **ref("A")}}


def test_parameter_that_is_only_a_circle_costs_its_operation() -> None:
    lowered = lower_parameters({"name": "q", "in": "query", "schema": ref("A")}, components=components(**CIRCLES))

    assert lowered.descriptors == ()
    assert codes(lowered) == [("recursive_parameter_schema", "/paths/~1items~1/get/parameters/0")]


@pytest.mark.parametrize("slot", [body_schema, response_schema])
def test_body_or_response_that_is_only_a_circle_keeps_its_reference(slot: Any) -> None:
    assert slot(ref("A"), **CIRCLES) == {
        **local("A"),
        "$defs": {"A": local("B"), "B": local("C"), "C": {"anyOf": [local("A"), {"type": "null"}]}},
    }


def test_bases_are_merged_into_the_top_object() -> None:
    schemas = {
        "Root": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
        "Left": {"allOf": [ref("Root"), {"type": "object", "properties": {"left": ref("Leaf")}}]},
        "Right": {"allOf": [ref("Root"), {"type": "object", "properties": {"right": {}}, "required": ["right"]}]},
        "Leaf": {"type": "string"},
    }

    assert body_schema({"allOf": [ref("Left"), ref("Right")], "description": "Both."}, **schemas) == {
        "type": "object",
        "description": "Both.",
        "properties": {"id": {"type": "integer"}, "left": local("Leaf"), "right": {}},
        "required": ["id", "right"],
        "$defs": {"Leaf": {"type": "string"}},
    }


def test_bases_that_disagree_stay_apart() -> None:
    schemas = {
        "One": {"type": "object", "properties": {"a": {"type": "string"}}},
        "Two": {"type": "object", "properties": {"a": {"type": "integer"}}},
    }

    assert body_schema({"allOf": [ref("One"), ref("Two")]}, **schemas) == {
        "allOf": [local("One"), local("Two")],
        "$defs": schemas,
    }


def test_object_that_is_its_own_base_is_merged_once() -> None:
    raw = {"allOf": [ref("Own"), {"type": "object", "properties": {"a": {}}}]}

    assert body_schema(ref("Own"), Own=raw) == {"type": "object", "properties": {"a": {}}}


@pytest.mark.parametrize(
    ("name", "written", "key"),
    [
        ("file.Repository", "file.Repository", "file.Repository"),
        ("a/b", "a~1b", "a~1b"),
        ("a~b", "a~0b", "a~0b"),
        ("List[int]", "List%5Bint%5D", "List%5Bint%5D"),
        ("List[int]", "List[int]", "List%5Bint%5D"),
        ("Größe", "Größe", "Gr%C3%B6%C3%9Fe"),
        ("a%b", "a%25b", "a%25b"),
    ],
)
def test_names_are_read_from_and_written_to_pointers(name: str, written: str, key: str) -> None:
    schema = {"type": "array", "items": {"$ref": f"#/components/schemas/{written}"}}

    assert body_schema(schema, **{name: {"type": "string"}}) == {
        "type": "array",
        "items": {"$ref": f"#/$defs/{key}"},
        "$defs": {name: {"type": "string"}},
    }


def test_reference_into_a_schema_becomes_a_definition_of_its_own() -> None:
    schema = {"type": "array", "items": {"$ref": "#/components/schemas/Order/properties/lines/prefixItems/0"}}
    order = {"properties": {"lines": {"prefixItems": [{"type": "string"}]}}}

    assert body_schema(schema, Order=order) == {
        "type": "array",
        "items": {"$ref": "#/$defs/~1components~1schemas~1Order~1properties~1lines~1prefixItems~10"},
        "$defs": {"/components/schemas/Order/properties/lines/prefixItems/0": {"type": "string"}},
    }


def test_component_named_like_a_pointer_is_kept_apart() -> None:
    path = "/components/schemas/Order/properties/a"
    schema = {
        "prefixItems": [
            {"$ref": f"#{path}"},
            {"$ref": "#/components/schemas/" + path.replace("/", "~1")},
        ]
    }

    made = body_schema(schema, **{"Order": {"properties": {"a": {"type": "string"}}}, path: {"type": "integer"}})

    assert sorted(made["$defs"].values(), key=str) == [{"type": "integer"}, {"type": "string"}]


def test_siblings_of_a_reference_count_from_3_1_on() -> None:
    raw = {"type": "object", "properties": {"kind": {**ref("Kind"), "description": "Which."}}}
    kind = {"type": "string"}

    assert body_schema(raw, Kind=kind)["properties"] == {"kind": local("Kind")}
    assert codes(lower_body(raw, Kind=kind)) == [("ref_siblings_ignored", f"{SCHEMA}/properties/kind/$ref")]
    assert body_schema(raw, version="3.1.0", Kind=kind)["properties"] == {
        "kind": {**local("Kind"), "description": "Which."}
    }
    assert codes(lower_body(raw, version="3.1.0", Kind=kind)) == []


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("models.json#/Item", "external_ref_blocked"),
        ("https://example.com/item.json", "external_ref_blocked"),
        ("", "external_ref_blocked"),
        ("#/components/schemas/Ghost", "unresolved_ref"),
        ("#Ghost", "unresolved_ref"),
        ("#/components/schemas/Kind/enum/01", "unresolved_ref"),
        ("#/components/schemas/Kind/enum/1", "unresolved_ref"),
        (7, "unresolved_ref"),
        (None, None),
    ],
)
def test_reference_that_cannot_be_followed_costs_its_operation(reference: Any, code: str | None) -> None:
    lowered = lower_response({"type": "array", "items": {"$ref": reference}}, Kind={"enum": ["a"]})

    assert codes(lowered) == ([] if code is None else [(code, f"{RESPONSE}/items/$ref")])
    assert len(lowered.descriptors) == (1 if code is None else 0)


def two_operations(schema: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    users = {
        "/a/": {"get": {"responses": {"200": {"description": "ok", "content": content}}}},
        "/b/": {"put": {"requestBody": {"content": content}, "responses": OK}},
        "/c/": {"get": {"responses": OK}},
    }
    return users


@pytest.mark.parametrize("schema", [ref("Outer"), {"type": "array", "items": ref("Outer")}], ids=["opened", "kept"])
def test_broken_component_costs_every_operation_that_needs_it_and_no_other(schema: Any) -> None:
    schemas = components(Outer={"properties": {"inner": ref("Inner")}}, Inner={"items": {"$ref": "x.json"}})

    lowered = lower(document(two_operations(schema), components=schemas))

    assert [item.key for item in lowered.descriptors] == ["GET /c/"]
    assert [(item.code, item.pointer, item.operation) for item in lowered.diagnostics] == [
        ("external_ref_blocked", "/components/schemas/Inner/items/$ref", "GET /a/"),
        ("external_ref_blocked", "/components/schemas/Inner/items/$ref", "PUT /b/"),
    ]


def test_warning_about_a_component_is_said_once() -> None:
    schemas = components(Item={"type": "object", "properties": {"a": {}}, "required": ["b"]})

    lowered = lower(document(two_operations(ref("Item")), components=schemas))

    assert [(item.code, item.pointer, item.operation) for item in lowered.diagnostics] == [
        ("required_property_undeclared", "/components/schemas/Item/required", "")
    ]


def test_component_is_shared_by_its_users() -> None:
    schemas = components(Outer={"properties": {"inner": ref("Inner")}}, Inner={"type": "string"})
    users = two_operations(ref("Outer"))
    users["/c/"] = users["/a/"]

    one, _, other = lower(document(users, components=schemas)).descriptors

    assert one.responses[0].schema is other.responses[0].schema


def test_ring_of_schemas_comes_along_once() -> None:
    ring = {f"S{index}": {"properties": {"next": ref(f"S{(index + 1) % 200}")}} for index in range(200)}

    made = body_schema(ref("S0"), **ring)

    assert made["properties"] == {"next": local("S1")}
    assert made["$defs"] == {name: {"properties": {"next": local(f"S{(int(name[1:]) + 1) % 200}")}} for name in ring}


def test_chain_of_references_has_no_depth_limit() -> None:
    chain = {f"S{index}": ref(f"S{index + 1}") for index in range(3_000)}
    bases = {
        f"B{index}": {"allOf": [ref(f"B{index + 1}"), {"properties": {f"p{index}": {}}}]} for index in range(3_000)
    }
    schemas = {**chain, "S3000": {"type": "string"}, **bases, "B3000": {"type": "object", "properties": {"end": {}}}}

    assert body_schema(ref("S0"), **schemas) == {"type": "string"}
    assert len(body_schema(ref("B0"), **schemas)["properties"]) == 3_001


def shared(**kinds: Any) -> Lowered:
    return lower(
        with_operation(
            {
                "parameters": [{"$ref": "#/components/parameters/Page"}],
                "requestBody": {"$ref": "#/components/requestBodies/Item"},
                "responses": {"200": {"$ref": "#/components/responses/Item"}},
            },
            method="post",
            components=kinds,
        )
    )


def test_parameters_bodies_and_responses_may_be_components() -> None:
    page = {"name": "page", "in": "query", "schema": {"type": "integer"}}
    content = {"content": {"application/json": {"schema": {"type": "string"}}}}

    made = only(
        shared(
            parameters={"Page": {"$ref": "#/components/parameters/Other"}, "Other": page},
            requestBodies={"Item": {"required": True, **content}},
            responses={"Item": {"description": "ok", **content}},
        )
    )

    assert [parameter.name for parameter in made.parameters] == ["page"]
    assert made.body is not None and made.body.schema == {"type": "string"}
    assert made.responses[0].schema == {"type": "string"}


def test_circle_of_other_components_costs_its_operation() -> None:
    lowered = shared(
        parameters={"Page": {"$ref": "#/components/parameters/Page"}},
        requestBodies={"Item": {"$ref": "other.yaml"}},
    )

    assert lowered.descriptors == ()
    assert codes(lowered) == [
        ("circular_component_ref", "/components/parameters/Page/$ref"),
        ("external_ref_blocked", "/components/requestBodies/Item/$ref"),
        ("unresolved_ref", "/paths/~1items~1/post/responses/200/$ref"),
    ]


def test_path_item_may_be_a_component() -> None:
    item = {"parameters": [{"name": "id", "in": "path", "required": True, "schema": {}}], "get": {"responses": OK}}
    made = document(
        {"/items/{id}/": {"$ref": "#/components/pathItems/Item"}, "/x/": {"$ref": "#/paths/~1x~1"}},
        components={"pathItems": {"Item": item}},
        version="3.1.0",
    )

    lowered = lower(made)

    assert [descriptor.key for descriptor in lowered.descriptors] == ["GET /items/{id}/"]
    assert codes(lowered) == [("circular_component_ref", "/paths/~1x~1/$ref")]
