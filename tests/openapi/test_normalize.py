"""The normalising table, one case a row: each schema stands as a property, where nothing is dereferenced."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sezzlee_mcp.openapi import Lowered
from tests.openapi.making import body_schema, codes, lower_body, lower_response, response_schema

NULL = {"type": "null"}
BODY = "/paths/~1items~1/post/requestBody/content/application~1json/schema"
KIND = {"type": "string", "enum": ["a", "b"], "description": "* `a` - A"}
LEVEL = {"type": "integer", "enum": [1, 2]}
BLANK = {"enum": [""]}
NOTHING = {"enum": [None]}
OWNER = {"type": "object", "properties": {"name": {"type": "string"}}}
COMPONENTS = {"Kind": KIND, "Level": LEVEL, "BlankEnum": BLANK, "NullEnum": NOTHING, "Owner": OWNER}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def local(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def member(schema: Any, version: str = "3.0.3") -> Any:
    whole = body_schema({"type": "object", "properties": {"it": schema}}, version=version, **COMPONENTS)
    Draft202012Validator.check_schema(whole)
    return whole["properties"]["it"]


NULLABLE = [
    ({"nullable": True}, {}),
    ({"nullable": False, "type": "string"}, {"type": "string"}),
    ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    ({"type": ["object", "null"], "nullable": True}, {"type": ["object", "null"]}),
    ({"type": ["array", "null", "null"]}, {"type": ["array", "null"]}),
    ({"type": ["string"]}, {"type": "string"}),
    ({"type": "string", "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
    ({"type": "string", "enum": ["a", None], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
    ({"enum": ["a"], "nullable": True}, {"enum": ["a", None]}),
    ({"nullable": True, **ref("Owner")}, {"anyOf": [local("Owner"), NULL]}),
    ({"allOf": [ref("Owner")]}, local("Owner")),
    (
        {"allOf": [ref("Owner")], "nullable": True, "description": "Who."},
        {"description": "Who.", "anyOf": [local("Owner"), NULL]},
    ),
    (
        {"allOf": [ref("Kind")], "minimum": 0, "title": "T"},
        {**local("Kind"), "minimum": 0, "title": "T"},
    ),
    (
        {"oneOf": [{"type": "integer"}, ref("Owner")], "nullable": True},
        {"anyOf": [{"oneOf": [{"type": "integer"}, local("Owner")]}, NULL]},
    ),
    (
        {"anyOf": [{"type": "integer"}, ref("Owner")], "nullable": True},
        {"anyOf": [{"type": "integer"}, local("Owner"), NULL]},
    ),
    ({"anyOf": [{"type": "integer"}, NULL], "nullable": True}, {"anyOf": [{"type": "integer"}, NULL]}),
    ({"const": 1, "nullable": True}, {"anyOf": [{"const": 1}, NULL]}),
    (
        {"type": "string", "not": {"const": "x"}, "nullable": True},
        {"anyOf": [{"type": "string", "not": {"const": "x"}}, NULL]},
    ),
]

ENUMS = [
    (
        {"oneOf": [ref("Kind"), ref("BlankEnum")]},
        {"description": KIND["description"], "type": "string", "enum": ["a", "b", ""]},
    ),
    (
        {"oneOf": [ref("Kind"), ref("BlankEnum"), ref("NullEnum")], "nullable": True, "description": "Own."},
        {"description": "Own.", "type": ["string", "null"], "enum": ["a", "b", "", None]},
    ),
    (
        {"anyOf": [ref("Kind"), ref("NullEnum")]},
        {"description": KIND["description"], "type": ["string", "null"], "enum": ["a", "b", None]},
    ),
    (
        {"allOf": [ref("Kind"), ref("NullEnum")], "nullable": True},
        {"description": KIND["description"], "type": ["string", "null"], "enum": ["a", "b", None]},
    ),
    ({"oneOf": [ref("Level"), ref("NullEnum")]}, {"type": ["integer", "null"], "enum": [1, 2, None]}),
    ({"oneOf": [ref("Level"), ref("BlankEnum")]}, {"enum": [1, 2, ""]}),
    ({"oneOf": [ref("Kind"), ref("Level")]}, {"oneOf": [local("Kind"), local("Level")]}),
    ({"oneOf": [ref("Owner"), ref("BlankEnum")]}, {"oneOf": [local("Owner"), local("BlankEnum")]}),
    ({"type": "integer", "nullable": True, "enum": [1, 2, "null"]}, {"enum": [1, 2, "null", None]}),
    ({"type": "string", "format": "date-time", "nullable": True, "enum": [1, None]}, {"enum": [1, None]}),
    ({"type": "integer", "enum": [True]}, {"enum": [True]}),
    ({"type": "integer", "enum": [1.0]}, {"type": "integer", "enum": [1.0]}),
    ({"type": "number", "enum": [1, 2.5]}, {"type": "number", "enum": [1, 2.5]}),
    ({"type": ["string", "integer"], "enum": ["a", 1]}, {"type": ["string", "integer"], "enum": ["a", 1]}),
]

KEYWORDS = [
    ({"type": "integer", "default": 5}, {"type": "integer"}),
    ({"type": "integer", "example": 5}, {"type": "integer", "examples": [5]}),
    ({"type": "integer", "example": 5, "examples": [6, 5]}, {"type": "integer", "examples": [5, 6]}),
    ({"type": "string", "format": "binary"}, {"contentMediaType": "application/octet-stream", "type": "string"}),
    ({"type": "string", "format": "byte"}, {"contentEncoding": "base64", "type": "string"}),
    ({"type": "string", "format": "string"}, {"type": "string"}),
    ({"type": "integer", "format": "int64"}, {"type": "integer", "format": "int64"}),
    ({"type": "string", "format": "decimal"}, {"type": "string", "format": "decimal"}),
    (
        {"type": "number", "maximum": 9, "minimum": -9, "exclusiveMaximum": True, "exclusiveMinimum": True},
        {"type": "number", "exclusiveMaximum": 9, "exclusiveMinimum": -9},
    ),
    ({"type": "number", "minimum": 0, "exclusiveMinimum": False}, {"type": "number", "minimum": 0}),
    ({"type": "number", "exclusiveMinimum": True}, {"type": "number"}),
    ({"type": "number", "exclusiveMinimum": 3}, {"type": "number", "exclusiveMinimum": 3}),
    ({"oneOf": []}, {}),
    ({"oneOf": [], "anyOf": [], "allOf": [], "nullable": True}, {}),
    (
        {"oneOf": [{"type": "string", "format": "uri", "maxLength": 200}, {"type": "string", "maxLength": 0}]},
        {"anyOf": [{"type": "string", "format": "uri", "maxLength": 200}, {"type": "string", "maxLength": 0}]},
    ),
    (
        {"nullable": True, "oneOf": [{"type": "string", "format": "uri"}, {"type": "string", "maxLength": 0}]},
        {"anyOf": [{"type": "string", "format": "uri"}, {"type": "string", "maxLength": 0}, NULL]},
    ),
    ({"type": "string", "title": None, "description": None, "pattern": None}, {"type": "string"}),
    (None, {}),
    (True, True),
    (False, False),
    ({"type": "object", "additionalProperties": None}, {"type": "object"}),
    ({"type": "object", "additionalProperties": True}, {"type": "object", "additionalProperties": True}),
    ({"type": "array", "items": None}, {"type": "array"}),
    ({"$id": "urn:x", "$defs": {"a": {}}, "type": "string"}, {"type": "string"}),
    ({"const": None}, {"const": None}),
    (
        {"type": "object", "properties": {"$ref": {"type": "string"}}},
        {"type": "object", "properties": {"$ref": {"type": "string"}}},
    ),
    (
        {"type": "object", "properties": {"default": {"type": "string"}, "xml": {"type": "string"}}},
        {"type": "object", "properties": {"default": {"type": "string"}, "xml": {"type": "string"}}},
    ),
    ({"enum": [{"$ref": "#/nowhere", "default": 1}]}, {"enum": [{"$ref": "#/nowhere", "default": 1}]}),
]

MERGED = [
    (
        {
            "allOf": [
                {"type": "object", "properties": {"a": {}}, "required": ["a"]},
                {"properties": {"b": {}}, "required": ["b"]},
            ]
        },
        {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
    ),
    (
        {"description": "Own.", "allOf": [{"type": "object", "description": "Base.", "properties": {"a": {}}}]},
        {"description": "Own.", "type": "object", "properties": {"a": {}}},
    ),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}],
        },
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}],
        },
    ),
    (
        {
            "allOf": [
                {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
                {"type": "object", "properties": {"b": {}}},
            ]
        },
        {
            "allOf": [
                {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
                {"type": "object", "properties": {"b": {}}},
            ]
        },
    ),
    ({"allOf": [{"type": "string"}], "maxLength": 3}, {"type": "string", "maxLength": 3}),
    (
        {"allOf": [{"type": "string", "maxLength": 5}], "maxLength": 3},
        {"allOf": [{"type": "string", "maxLength": 5}], "maxLength": 3},
    ),
]


@pytest.mark.parametrize(("raw", "normal"), [*NULLABLE, *ENUMS, *KEYWORDS, *MERGED], ids=str)
def test_each_openapi_form_has_its_json_schema(raw: Any, normal: Any) -> None:
    assert member(raw) == normal


@pytest.mark.parametrize("raw", [raw for raw, _ in NULLABLE if isinstance(raw, dict) and raw.get("nullable")], ids=str)
def test_what_is_nullable_takes_null(raw: Any) -> None:
    whole = body_schema({"type": "object", "properties": {"it": raw}}, **COMPONENTS)

    assert Draft202012Validator(whole).is_valid({"it": None})


@pytest.mark.parametrize(
    ("raw", "keyword"),
    [
        ({"type": "text"}, "type"),
        ({"type": []}, "type"),
        ({"type": {"a": 1}}, "type"),
        ({"minLength": -1}, "minLength"),
        ({"maxLength": "3"}, "maxLength"),
        ({"minimum": "0"}, "minimum"),
        ({"minimum": True}, "minimum"),
        ({"multipleOf": 0}, "multipleOf"),
        ({"pattern": "(?<"}, "pattern"),
        ({"pattern": 3}, "pattern"),
        ({"enum": "a"}, "enum"),
        ({"enum": []}, "enum"),
        ({"uniqueItems": 1}, "uniqueItems"),
        ({"required": "labels"}, "required"),
        ({"required": True}, "required"),
        ({"properties": []}, "properties"),
        ({"items": [{"type": "string"}]}, "items"),
        ({"anyOf": {"type": "string"}}, "anyOf"),
        ({"title": 3}, "title"),
        ({"examples": {"one": {"value": 1}}}, "examples"),
        ({"readOnly": "yes"}, "readOnly"),
        ({"dependentRequired": {"a": ["b", "b"]}}, "dependentRequired"),
    ],
    ids=str,
)
def test_malformed_keyword_is_removed_and_named(raw: dict[str, Any], keyword: str) -> None:
    lowered = lower_body({"type": "object", "properties": {"it": {"description": "It.", **raw}}})

    assert member({"description": "It.", **raw}) == {"description": "It."}
    assert codes(lowered) == [("keyword_malformed", f"{BODY}/properties/it/{keyword}")]
    assert keyword in lowered.diagnostics[0].message


def test_partly_known_type_list_keeps_what_is_known() -> None:
    assert member({"type": ["string", "file"]}) == {"type": "string"}


def test_malformed_pattern_of_properties_is_left_out() -> None:
    assert member({"patternProperties": {"(": {}, "^a": {}}}) == {"patternProperties": {"^a": {}}}


@pytest.mark.parametrize("raw", ["string", 3, ["a"]], ids=str)
def test_schema_that_is_no_schema_allows_anything_and_is_named(raw: Any) -> None:
    lowered = lower_body({"type": "object", "properties": {"it": raw}})

    assert member(raw) == {}
    assert codes(lowered) == [("schema_malformed", f"{BODY}/properties/it")]


def test_nested_schemas_are_normalised_in_every_position() -> None:
    raw, normal = {"type": "string", "nullable": True}, {"type": ["string", "null"]}
    positions = {
        "items": raw,
        "prefixItems": [raw],
        "additionalProperties": raw,
        "patternProperties": {"^a": raw},
        "dependentSchemas": {"a": raw},
        "contains": raw,
        "propertyNames": raw,
        "not": raw,
        "if": raw,
        "then": raw,
        "else": raw,
        "unevaluatedItems": raw,
        "unevaluatedProperties": raw,
        "oneOf": [raw],
    }

    assert member(positions) == {
        "items": normal,
        "prefixItems": [normal],
        "additionalProperties": normal,
        "patternProperties": {"^a": normal},
        "dependentSchemas": {"a": normal},
        "contains": normal,
        "propertyNames": normal,
        "not": normal,
        "if": normal,
        "then": normal,
        "else": normal,
        "unevaluatedItems": normal,
        "unevaluatedProperties": normal,
        "oneOf": [normal],
    }


def test_annotation_is_reported_once_per_keyword_where_it_stood_first() -> None:
    marked = {"type": "string", "xml": {"name": "a"}, "x-id": 1}
    raw = {"type": "object", "properties": {"a": marked, "b": marked}, "discriminator": {"propertyName": "a"}}

    lowered = lower_body(raw)

    assert codes(lowered) == [
        ("annotation_removed", f"{BODY}/properties/a/xml"),
        ("annotation_removed", f"{BODY}/properties/a/x-id"),
        ("annotation_removed", f"{BODY}/discriminator"),
    ]
    assert [item.operation for item in lowered.diagnostics] == ["", "", ""]


ITEM = {
    "type": "object",
    "required": ["id", "name", "secret"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "secret": {"type": "string", "writeOnly": True},
    },
}
SENT = {
    "type": "object",
    "required": ["name", "secret"],
    "properties": {"name": {"type": "string"}, "secret": {"type": "string", "writeOnly": True}},
}
RETURNED = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {"id": {"type": "integer", "readOnly": True}, "name": {"type": "string"}},
}


def test_read_only_members_leave_requests_and_write_only_ones_responses() -> None:
    assert (body_schema(ITEM), response_schema(ITEM)) == (SENT, RETURNED)


def test_members_leave_nested_schemas_and_definitions_too() -> None:
    raw = {
        "type": "array",
        "items": {"type": "object", "properties": {"one": ref("Item"), "many": {"additionalProperties": ITEM}}},
    }

    sent, returned = body_schema(raw, Item=ITEM), response_schema(raw, Item=ITEM)

    assert sent["$defs"] == {"Item": SENT}
    assert sent["items"]["properties"]["many"] == {"additionalProperties": SENT}
    assert returned["$defs"] == {"Item": RETURNED}
    assert returned["items"]["properties"]["many"] == {"additionalProperties": RETURNED}


def test_flag_behind_a_reference_counts_and_beside_one_only_from_3_1_on() -> None:
    raw = {"type": "object", "properties": {"a": ref("Stamp"), "b": {**ref("Owner"), "readOnly": True}}}
    stamp = {"type": "string", "readOnly": True}

    assert body_schema(raw, Stamp=stamp, Owner=OWNER)["properties"] == {"b": local("Owner")}
    assert body_schema(raw, version="3.1.0", Stamp=stamp, Owner=OWNER)["properties"] == {}


def test_object_whose_members_all_leave_has_no_required() -> None:
    raw = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer", "readOnly": True}}}

    assert body_schema(raw) == {"type": "object", "properties": {}}


def undeclared(lowered: Lowered) -> list[str]:
    return [item.message for item in lowered.diagnostics if item.code == "required_property_undeclared"]


def test_required_keeps_declared_names_once() -> None:
    raw = {"type": "object", "required": ["a", "a", "ghost", 3], "properties": {"a": {}}}
    lowered = lower_body(raw)

    assert body_schema(raw) == {"type": "object", "required": ["a"], "properties": {"a": {}}}
    assert codes(lowered) == [("required_property_undeclared", f"{BODY}/required")]
    assert "ghost" in lowered.diagnostics[0].message


@pytest.mark.parametrize(
    ("raw", "required_somewhere"),
    [
        ({"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, True),
        ({"allOf": [ref("Base")], "required": ["name"]}, True),
        ({"allOf": [{"allOf": [ref("Base")]}, {"required": ["name"], "minProperties": 1}]}, True),
        ({"properties": {"a": {}}, "items": {"required": ["a"]}}, False),
    ],
    ids=str,
)
def test_required_may_name_what_the_same_value_declares_elsewhere(raw: Any, required_somewhere: bool) -> None:
    lowered = lower_body(raw, Base=OWNER)

    assert (undeclared(lowered) == []) is required_somewhere


def test_required_drops_a_read_only_name_of_a_base_in_silence() -> None:
    base = {"type": "object", "properties": {"id": {"readOnly": True}, "name": {}}}
    raw = {"allOf": [ref("Base"), {"type": "object", "properties": {"a": {}}, "required": ["id", "name", "a"]}]}

    assert body_schema(raw, Base=base) == {
        "type": "object",
        "properties": {"name": {}, "a": {}},
        "required": ["name", "a"],
    }
    assert codes(lower_body(raw, Base=base)) == []


def test_response_with_a_null_schema_has_none() -> None:
    assert response_schema(None) is None
    assert codes(lower_response(None)) == []


def union(mapping: Any, **members: Any) -> dict[str, Any]:
    discriminator = {"propertyName": "type", "mapping": mapping}
    return {
        "oneOf": [{"$ref": "#/components/schemas/A"}, {"type": "string"}],
        "discriminator": discriminator,
        **members,
    }


@pytest.mark.parametrize(
    "mapping",
    [
        None,
        [],
        "A",
        {},
        {"a": 3},
        {"a": None},
        {"a": "#/components/schemas/B"},
        {"a": "https://x.test/A"},
        {"a": "a/b"},
    ],
    ids=str,
)
def test_mapping_that_names_no_member_leaves_the_union_as_it_is(mapping: Any) -> None:
    made = response_schema({"type": "array", "items": union(mapping)}, A={"type": "object"}, B={"type": "object"})

    assert made["items"] == {"oneOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}


def test_discriminator_that_leaves_a_request_is_not_put_back() -> None:
    kind = {"type": "string", "readOnly": True}
    item = {"type": "object", "properties": {"type": kind}}
    schema = {"type": "array", "items": union({"a": "A"})}

    assert body_schema(schema, A=item)["items"]["oneOf"][0] == {"$ref": "#/$defs/A"}
    assert response_schema(schema, A=item)["items"]["oneOf"][0] == {
        "$ref": "#/$defs/A",
        "properties": {"type": {"const": "a"}},
    }


def test_nullable_member_of_a_union_is_told_apart_too() -> None:
    made = response_schema({"type": "array", "items": union({"a": "A"}, nullable=True)}, A={"type": "object"})

    assert {"$ref": "#/$defs/A", "properties": {"type": {"const": "a"}}} in made["items"]["anyOf"][0]["oneOf"]
