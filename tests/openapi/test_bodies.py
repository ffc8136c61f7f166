from typing import Any

import pytest

from sezzlee_mcp.openapi import Body, BodyRequired, Lowered, lower
from tests.openapi.making import OK, codes, lower_body, only, with_operation

POST = "/paths/~1items~1/post"
OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}
OTHER = {"type": "object", "properties": {"b": {"type": "string"}}}


def lower_content(content: Any, method: str = "post", **members: Any) -> Lowered:
    body = {"required": True, "content": content, **members}
    return lower(with_operation({"requestBody": body, "responses": OK}, method=method))


def media(*media_types: str, schema: Any = OBJECT) -> dict[str, Any]:
    return {media_type: {"schema": schema} for media_type in media_types}


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["application/json"], "application/json"),
        (["text/csv", "multipart/form-data", "application/json"], "application/json"),
        (["application/merge-patch+json", "application/json"], "application/json"),
        (["application/xml", "application/vnd.api+json", "text/json"], "application/vnd.api+json"),
        (["text/json", "application/vnd.api+json"], "text/json"),
        (["Application/JSON; version=2"], "application/json"),
    ],
)
def test_json_is_chosen_whatever_the_order(offered: list[str], chosen: str) -> None:
    lowered = lower_content(media(*offered))

    assert only(lowered).body == Body(schema=OBJECT, required=True, content_type=chosen)
    assert codes(lowered) == []


def test_alternative_is_reported_only_when_its_schema_differs() -> None:
    content = {
        "text/csv": {"schema": OTHER},
        **media("application/json"),
        "application/x-www-form-urlencoded": {"schema": {"properties": OBJECT["properties"], "type": "object"}},
        "multipart/form-data": None,
    }

    assert codes(lower_content(content)) == [
        ("request_media_type_alternative_ignored", f"{POST}/requestBody/content/text~1csv"),
        ("request_media_type_alternative_ignored", f"{POST}/requestBody/content/multipart~1form-data"),
    ]


def test_true_is_not_1_when_schemas_are_compared() -> None:
    content = {**media("application/json", schema={"const": 1}), **media("text/csv", schema={"const": True})}

    assert [code for code, _ in codes(lower_content(content))] == ["request_media_type_alternative_ignored"]


@pytest.mark.parametrize(
    "content",
    [
        media("application/x-www-form-urlencoded", "multipart/form-data"),
        media("*/*"),
        media("application/json-seq"),
        media("image/png"),
        {},
        None,
        [],
    ],
    ids=str,
)
def test_body_without_json_costs_the_operation(content: Any) -> None:
    lowered = lower_content(content)

    assert lowered.descriptors == ()
    assert codes(lowered) == [("unsupported_media_type", f"{POST}/requestBody/content")]


@pytest.mark.parametrize("body", ["x", 3, [], True], ids=str)
def test_malformed_body_costs_the_operation(body: Any) -> None:
    lowered = lower(with_operation({"requestBody": body, "responses": OK}, method="post"))

    assert lowered.descriptors == ()
    assert codes(lowered) == [("operation_invalid", f"{POST}/requestBody")]


@pytest.mark.parametrize("method", ["get", "head"])
def test_body_on_a_method_without_one_is_ignored(method: str) -> None:
    lowered = lower_content({}, method=method)

    assert only(lowered).body is None
    assert codes(lowered) == [("unsupported_body_on_method", f"/paths/~1items~1/{method}/requestBody")]


def test_delete_keeps_its_body() -> None:
    lowered = lower_content(media("application/json", schema={"type": "array"}), method="delete")

    assert only(lowered).body == Body(schema={"type": "array"}, required=True, content_type="application/json")


@pytest.mark.parametrize(
    ("members", "body_required", "required"),
    [
        ({}, "declared", False),
        ({}, "always", True),
        ({"required": None}, "always", True),
        ({"required": "yes"}, "declared", False),
        ({"required": False}, "always", False),
        ({"required": True}, "declared", True),
    ],
)
def test_undeclared_required_is_read_as_told(members: Any, body_required: BodyRequired, required: bool) -> None:
    body = {"content": media("application/json"), **members}
    made = lower(with_operation({"requestBody": body, "responses": OK}, method="post"), body_required=body_required)

    assert only(made).body == Body(schema=OBJECT, required=required, content_type="application/json")


@pytest.mark.parametrize(
    ("raw", "schema"),
    [
        ({**OBJECT, "nullable": True}, OBJECT),
        ({"allOf": [{"$ref": "#/components/schemas/Item"}], "nullable": True}, OBJECT),
        ({"anyOf": [{"type": "null"}, {"$ref": "#/components/schemas/Item"}], "title": "T"}, {**OBJECT, "title": "T"}),
        ({"anyOf": [{"type": "null"}, OBJECT, {"type": "array"}]}, {"anyOf": [OBJECT, {"type": "array"}]}),
        ({"type": ["string", "null"], "enum": ["a", None]}, {"type": "string", "enum": ["a"]}),
        ({"type": "null"}, {"type": "null"}),
        ({"anyOf": [{"type": "null"}]}, {"anyOf": [{"type": "null"}]}),
    ],
    ids=str,
)
def test_body_that_may_be_null_is_an_optional_one_that_is_not(raw: Any, schema: Any) -> None:
    body = {"content": {"application/json": {"schema": raw}}}
    item = {"schemas": {"Item": OBJECT}}
    document = with_operation({"requestBody": body, "responses": OK}, method="post", components=item)

    made = only(lower(document, body_required="always")).body

    assert made == Body(schema=schema, required=False, content_type="application/json")
    body["required"] = True
    assert only(lower(document)).body == Body(schema=schema, required=True, content_type="application/json")


@pytest.mark.parametrize("schema", [None, {}, True], ids=str)
def test_body_of_any_shape_is_a_body(schema: Any) -> None:
    assert only(lower_body(schema)).body == Body(schema={}, required=True, content_type="application/json")


def test_body_that_no_value_matches_is_carried() -> None:
    assert only(lower_body(False)).body == Body(schema={"not": {}}, required=True, content_type="application/json")


def test_schema_one_media_type_too_deep_is_read_from_there() -> None:
    lowered = lower_body({"text/csv": OTHER, "application/json": OBJECT})

    assert only(lowered).body == Body(schema=OBJECT, required=True, content_type="application/json")
    assert codes(lowered) == [
        ("schema_under_media_type", f"{POST}/requestBody/content/application~1json/schema"),
    ]
