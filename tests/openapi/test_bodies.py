from typing import Any

import pytest

from sezzlee_mcp.openapi import Body, BodyRequired, Lowered, lower
from tests.openapi.making import OK, codes, lower_body, only, with_operation

POST = "/paths/~1items~1/post"
OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}
OTHER = {"type": "object", "properties": {"b": {"type": "string"}}}


def lower_content(content: Any, method: str = "post", notation: str = "drf", **members: Any) -> Lowered:
    body = {"required": True, "content": content, **members}
    return lower(with_operation({"requestBody": body, "responses": OK}, method=method), notation=notation)


def body_of(lowered: Lowered) -> Body:
    body = only(lowered).body
    assert body is not None
    return body


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

    assert only(lowered).body == Body(schema=OBJECT, required=True, content_type=chosen, notation="drf")
    assert codes(lowered) == []


def test_alternative_of_a_foreign_document_is_reported_whatever_its_schema() -> None:
    lowered = lower_content(media("application/json", "text/csv"), notation="bracket")

    assert codes(lowered) == [("request_media_type_alternative_ignored", f"{POST}/requestBody/content/text~1csv")]


def test_alternative_of_a_drf_document_is_reported_when_its_schema_differs() -> None:
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
        media("application/json-seq"),
        media("application/xml", "text/csv"),
        media("image/png"),
        media("image/*", schema={"type": "string", "format": "binary"}),
        {},
        None,
        [],
    ],
    ids=str,
)
def test_body_that_no_family_writes_costs_the_operation(content: Any) -> None:
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

    assert body_of(lowered) == Body(
        schema={"type": "array"}, required=True, content_type="application/json", notation="drf"
    )


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


FILE = {"type": "string", "format": "binary"}
BYTES = {"type": "string", "contentMediaType": "application/octet-stream"}
PHOTO = {"type": "object", "properties": {"name": {"type": "string"}, "photo": FILE}}
WRITTEN_PHOTO = {"type": "object", "properties": {"name": {"type": "string"}, "photo": BYTES}}
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


@pytest.mark.parametrize(
    ("content", "content_type", "schema"),
    [
        (media("text/plain", MULTIPART, FORM), FORM, OBJECT),
        (media("text/plain", MULTIPART, FORM, schema=PHOTO), MULTIPART, WRITTEN_PHOTO),
        (media("text/plain", FORM, schema={"type": "string"}) | media(MULTIPART), FORM, None),
        (media("application/octet-stream", "text/plain", schema={"type": "string"}), "text/plain", {"type": "string"}),
        ({"text/plain; charset=utf-8": {}}, "text/plain", {"type": "string"}),
        (media("application/octet-stream", schema=FILE), "application/octet-stream", BYTES),
        ({"application/octet-stream": {}}, "application/octet-stream", BYTES),
        ({"video/mp4": None}, "video/mp4", {**BYTES, "contentMediaType": "video/mp4"}),
        (media("Image/PNG", schema=FILE), "image/png", {**BYTES, "contentMediaType": "image/png"}),
        (media("application/xml", schema=FILE), "application/xml", {**BYTES, "contentMediaType": "application/xml"}),
        (
            media("*/*", "application/pdf", schema=FILE),
            "application/pdf",
            {**BYTES, "contentMediaType": "application/pdf"},
        ),
        (media("*/*", schema={**FILE, "nullable": True}), "*/*", BYTES),
        (media("*/*", schema={"type": "object", "properties": {"file": FILE}}), "*/*", BYTES),
    ],
    ids=str,
)
def test_first_family_that_can_write_the_body_is_chosen(content: Any, content_type: str, schema: Any) -> None:
    lowered = lower_content(content)

    if schema is None:
        assert codes(lowered)[-1][0] == "unsupported_body_shape"
    else:
        assert body_of(lowered) == Body(schema=schema, required=True, content_type=content_type, notation="drf")


def members(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


TEXT = {"type": "string"}
ROWS = {"type": "array", "items": members(sku=TEXT)}


@pytest.mark.parametrize(
    ("media_type", "schema"),
    [
        (FORM, {"type": "object"}),
        (FORM, {"type": "array", "items": TEXT}),
        (FORM, {**OBJECT, "additionalProperties": True}),
        (FORM, {**OBJECT, "additionalProperties": TEXT}),
        (FORM, {**OBJECT, "oneOf": [OBJECT, OTHER]}),
        (MULTIPART, members(rows=ROWS)),
        (MULTIPART, members(a=members(b=members(c=TEXT)))),
        (MULTIPART, members(a=members(b=ROWS))),
        (MULTIPART, members(a={"type": "object"})),
        (MULTIPART, members(a=members(**{"b.c": TEXT}))),
        (MULTIPART, members(a=members(**{"b[c]": TEXT}))),
        (MULTIPART, members(**{"a.b": members(c=TEXT)})),
        (MULTIPART, members(a={"type": "array", "items": {"type": "array", "items": TEXT}})),
        (FORM, members(a=members(photo=FILE))),
        ("text/plain", OBJECT),
        ("text/plain", {"type": "integer"}),
        ("application/octet-stream", OBJECT | members(b=FILE, c=TEXT)),
        ("*/*", OBJECT),
        ("application/octet-stream", TEXT),
    ],
    ids=str,
)
def test_shape_that_the_family_cannot_write_costs_the_operation(media_type: str, schema: Any) -> None:
    lowered = lower_content(media(media_type, schema=schema), notation="bracket")

    at = f"{POST}/requestBody/content/{media_type.replace('/', '~1')}"
    assert (lowered.descriptors, codes(lowered)) == ((), [("unsupported_body_shape", at)])


@pytest.mark.parametrize(
    "schema",
    [
        members(),
        members(tags={"type": "array", "items": TEXT}, any={}, **{"a.b": TEXT}),
        members(a=members(b=TEXT, c={"type": "array", "items": {"type": "integer"}})),
    ],
    ids=str,
)
def test_typed_fields_and_one_level_of_members_fit_a_form(schema: Any) -> None:
    assert body_of(lower_content(media(FORM, schema=schema), notation="bracket")) == Body(
        schema=schema, required=True, content_type=FORM
    )


@pytest.mark.parametrize(
    "schema",
    [
        members(rows=ROWS),
        members(a=members(b=members(c=TEXT), rows=ROWS)),
        members(a={"type": "object", "additionalProperties": TEXT}),
    ],
    ids=str,
)
def test_objects_nest_to_any_depth_in_the_notation_of_drf(schema: Any) -> None:
    assert body_of(lower_content(media(MULTIPART, schema=schema))) == Body(
        schema=schema, required=True, content_type=MULTIPART, notation="drf"
    )


@pytest.mark.parametrize("notation", ["bracket", "drf"])
@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf"])
@pytest.mark.parametrize("in_list", [True, False])
def test_composed_object_is_no_field_of_a_form(notation: str, keyword: str, in_list: bool) -> None:
    composed = {keyword: [members(a=TEXT), members(a={"type": "integer"})]}
    field = {"type": "array", "items": composed} if in_list else composed

    lowered = lower_content(media(MULTIPART, schema=members(it=field)), notation=notation)

    assert [code for code, _ in codes(lowered)] == ["unsupported_body_shape"]


def test_choice_between_scalars_is_a_field_of_a_form() -> None:
    schema = members(it={"oneOf": [TEXT, {"type": "integer"}]}, other={"anyOf": [members(a=TEXT), TEXT]})

    assert body_of(lower_content(media(MULTIPART, schema=schema))).schema == schema


def test_form_of_many_objects_in_objects_is_read_once_each() -> None:
    count = 1200
    refs = [{"$ref": f"#/components/schemas/N{index}"} for index in range(count)]
    schemas = {f"N{i}": members(a=refs[(i + 1) % count], b=refs[(i + 2) % count]) for i in range(count)}
    body = {"required": True, "content": media(MULTIPART, FORM, schema=refs[0])}
    document = with_operation({"requestBody": body, "responses": OK}, method="post", components={"schemas": schemas})

    assert body_of(lower(document, notation="drf")).content_type == FORM


def test_recursive_form_ends() -> None:
    node = members(name=TEXT, child={"$ref": "#/components/schemas/Node"})
    body = {"required": True, "content": media(MULTIPART, schema={"$ref": "#/components/schemas/Node"})}
    document = with_operation(
        {"requestBody": body, "responses": OK}, method="post", components={"schemas": {"Node": node}}
    )

    assert body_of(lower(document, notation="drf")).content_type == MULTIPART
    assert [code for code, _ in codes(lower(document))] == ["unsupported_body_shape"]


@pytest.mark.parametrize(
    ("field", "encoding", "written"),
    [
        (FILE, {"contentType": "image/png"}, {**BYTES, "contentMediaType": "image/png"}),
        (FILE, {"contentType": "Image/PNG; q=1"}, {**BYTES, "contentMediaType": "image/png"}),
        (FILE, {"contentType": "image/png, image/jpeg"}, BYTES),
        (FILE, {"contentType": "image/*"}, BYTES),
        (FILE, {"contentType": None}, BYTES),
        (FILE, {"style": "form", "explode": True, "headers": {}}, BYTES),
        (
            {"type": "array", "items": FILE},
            {"contentType": "text/csv"},
            {"type": "array", "items": {**BYTES, "contentMediaType": "text/csv"}},
        ),
        (TEXT, {"contentType": "text/plain"}, TEXT),
        (TEXT, None, TEXT),
    ],
    ids=str,
)
def test_encoding_gives_a_file_its_media_type(field: Any, encoding: Any, written: Any) -> None:
    content = {MULTIPART: {"schema": members(it=field), "encoding": {"it": encoding, "ghost": {"headers": {"A": {}}}}}}

    assert body_of(lower_content(content)).schema == members(it=written)


@pytest.mark.parametrize(
    ("field", "encoding"),
    [
        (FILE, {"headers": {"X-A": {}}}),
        (FILE, {"style": "deepObject"}),
        (FILE, {"explode": False}),
        (FILE, {"contentType": 3}),
        (FILE, "image/png"),
        (TEXT, {"contentType": "application/json"}),
        (members(a=TEXT), {"contentType": "text/plain"}),
    ],
    ids=str,
)
def test_encoding_that_no_form_is_written_with_costs_the_operation(field: Any, encoding: Any) -> None:
    content = {MULTIPART: {"schema": members(it=field), "encoding": {"it": encoding}}}

    lowered = lower_content(content)

    at = f"{POST}/requestBody/content/multipart~1form-data/encoding/it"
    assert (lowered.descriptors, codes(lowered)) == ((), [("unsupported_encoding", at)])


def test_encoding_of_one_operation_leaves_the_shared_schema_as_it_is() -> None:
    def operation(**encoding: Any) -> dict[str, Any]:
        media_type = {"schema": {"$ref": "#/components/schemas/Photo"}, "encoding": encoding}
        return {"requestBody": {"required": True, "content": {MULTIPART: media_type}}, "responses": OK}

    paths = {"/a/": {"put": operation(photo={"contentType": "image/png"}), "post": operation()}}
    document = {"openapi": "3.0.3", "paths": paths, "components": {"schemas": {"Photo": PHOTO}}}

    put, post = lower(document).descriptors

    assert put.body is not None and post.body is not None
    assert put.body.schema["properties"]["photo"] == {**BYTES, "contentMediaType": "image/png"}
    assert post.body.schema == WRITTEN_PHOTO


@pytest.mark.parametrize(
    ("content", "file_content_type"),
    [
        (media("application/json", FORM, MULTIPART, schema=PHOTO), MULTIPART),
        (media("application/json", MULTIPART, schema=members(photos={"type": "array", "items": FILE})), MULTIPART),
        (media("application/json", MULTIPART, schema=members(photo={**FILE, "nullable": True})), MULTIPART),
        (media("application/json", MULTIPART, schema=members(rows={"type": "array", "items": PHOTO})), MULTIPART),
        (media("application/json", FORM, schema=PHOTO), None),
        (media("application/json", MULTIPART), None),
        (media("application/json", schema=PHOTO) | media(MULTIPART), None),
        (media("application/json", MULTIPART, schema=members(a={**FILE, "format": "byte"})), None),
    ],
    ids=str,
)
def test_json_body_with_a_file_keeps_multipart_beside_it(content: Any, file_content_type: str | None) -> None:
    body = body_of(lower_content(content))

    assert (body.content_type, body.file_content_type) == ("application/json", file_content_type)


FLAG = {"type": "boolean", "default": True}


@pytest.mark.parametrize(
    ("media_types", "version", "defaults"),
    [
        ([FORM], "3.0.3", {"flag": True, "kind": None, "named": "a"}),
        ([FORM], "3.1.0", {"flag": True, "kind": None, "named": "a", "beside": "b"}),
        (["application/json", MULTIPART], "3.1.0", {}),
    ],
)
def test_defaults_of_a_form_are_kept_beside_its_schema(media_types: list[str], version: str, defaults: Any) -> None:
    kind = {"$ref": "#/components/schemas/Kind"}
    schema = members(
        flag=FLAG,
        kind={"type": "string", "default": None},
        named={"allOf": [kind], "default": "a"},
        beside={**kind, "default": "b"},
        own={**FLAG, "readOnly": True},
        plain=TEXT,
    )
    operation = {"requestBody": {"content": media(*media_types, schema=schema)}, "responses": OK}
    components = {"schemas": {"Kind": {"type": "string", "enum": ["a", "b"]}}}

    lowered = lower(with_operation(operation, method="post", version=version, components=components))

    assert body_of(lowered).defaults == defaults


def test_defaults_are_kept_when_a_json_body_may_become_a_form() -> None:
    body = body_of(lower_content(media("application/json", MULTIPART, schema=members(flag=FLAG, photo=FILE))))

    assert (body.defaults, body.schema) == ({"flag": True}, members(flag={"type": "boolean"}, photo=BYTES))
