"""
What real documents of DRF projects do: 52 habits, each with a test that carries its number.

Those that no document can show, because they concern how it is made or what is done with its descriptors, are in
``ELSEWHERE`` with the reason or the place of their test.
"""

from typing import Any

import pytest

from sezzlee_mcp.openapi import Lowered, lower
from tests.openapi.making import (
    OK,
    body_schema,
    codes,
    document,
    lower_body,
    lower_parameters,
    only,
    response_schema,
    with_operation,
)

ELSEWHERE = {
    1: "the document is made before this package sees it: tests/django/test_source.py, schema class that was replaced",
    2: "likewise: tests/django/test_source.py, bad views cost their own operations alone",
    3: "likewise: generated at a sync alone; tests/django/test_sync.py, unusable document leaves the last good catalog",
    4: "likewise: generated with public=True, so that no caller's rights are asked; tests/django/test_source.py",
    5: "likewise: sezzlee_mcp.source renders to JSON once; a value that JSON lacks is part_unwritable, test_lower.py",
    6: "digests settle what has no order: tests/django/test_sync.py, second sync of the same document writes nothing",
    7: "generated at a sync under a lock and never in a request: tests/django/test_lock.py",
    19: "curation hides what is too much, and tool_over_budget says so: tests/catalog/test_compile.py",
    21: "an enum is carried whole, since the agent has to send one of it; tool_over_budget as for 19",
    44: "text is the catalog's choice, and search reads names, routes and tags too: tests/catalog, tests/search",
    45: "names and search fall back on the route: tests/catalog/test_names.py, without an operation id",
    46: "left out by view class where the document is made: tests/django/test_source.py, pages are no operations",
    52: "the caller is authenticated by the host's own stack: tests/django/test_endpoint.py, test_dispatch.py",
}
TEXT = {"type": "string"}
PART = {"type": "object", "properties": {"name": TEXT}}
JSON, FORM, MULTIPART = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"


def test_every_pitfall_has_its_test_or_its_reason() -> None:
    tested = {int(name[6:8]) for name in globals() if name.startswith("test_p") and name[6:8].isdigit()}

    assert sorted([*tested, *ELSEWHERE]) == list(range(1, 53))


def path_parameter(name: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": schema or TEXT}


def lower_content(content: Any, method: str = "post", **schemas: Any) -> Lowered:
    operation = {"requestBody": {"required": True, "content": content}, "responses": OK}
    made = with_operation(operation, method=method, components={"schemas": schemas})
    return lower(made, body_required="always", notation="drf")


def content_of(*media_types: str, schema: Any = PART) -> dict[str, Any]:
    return {media_type: {"schema": schema} for media_type in media_types}


def content_type_of(lowered: Lowered) -> tuple[str, str | None]:
    body = only(lowered).body
    assert body is not None
    return body.content_type, body.file_content_type


def test_p08_trimmed_path_gives_way_to_the_endpoints() -> None:
    endpoint = {
        "path": "/api/parts/",
        "route": "api/parts/",
        "view": "shop.PartView",
        "action": "list",
        "isExtraAction": False,
        "isLocalized": False,
        "auth": {"anonymous": "no", "policies": [], "imperative": False},
    }
    operation = {"responses": OK, "x-sezzlee-endpoint": endpoint}

    assert only(lower(with_operation(operation, path="/parts/"))).key == "GET /api/parts/"


@pytest.mark.parametrize("servers", [[{"url": "http:"}], [{"url": ""}], [{"url": "/api"}], "x", None], ids=str)
def test_p09_servers_are_never_read(servers: Any) -> None:
    lowered = lower(with_operation({"responses": OK}, servers=servers))

    assert (only(lowered).key, codes(lowered)) == ("GET /items/", [])


def test_p10_variable_may_be_the_start_of_the_path() -> None:
    made = only(lower_parameters(path_parameter("part_href"), path="{part_href}sync/"))

    assert (made.route, [item.name for item in made.parameters]) == ("{part_href}sync/", ["part_href"])


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/items/{project_key}-{number}/", ["project_key", "number"]),
        ("/messages/{lang}.json", ["lang"]),
        ("/files/{path}/", ["path"]),
    ],
)
def test_p11_variable_may_be_a_part_of_a_segment(path: str, names: list[str]) -> None:
    lowered = lower_parameters(*map(path_parameter, names), path=path)

    assert ([item.name for item in only(lowered).parameters], codes(lowered)) == (names, [])


def test_p12_variable_that_stands_twice_is_one_argument() -> None:
    lowered = lower_parameters(path_parameter("path"), path_parameter("filename"), path="/a/{path}/b/{path}/{filename}")

    assert [item.name for item in only(lowered).parameters] == ["path", "filename"]
    assert [code for code, _ in codes(lowered)] == ["path_parameter_repeated"]


def test_p13_parameter_without_a_place_in_the_path_is_no_argument() -> None:
    lowered = lower_parameters(path_parameter("id", type="integer"), path="/parts/{uid}/")

    [uid] = only(lowered).parameters
    assert (uid.name, uid.required, uid.schema) == ("uid", True, {"type": "string"})
    assert [code for code, _ in codes(lowered)] == ["path_parameter_not_in_route", "undeclared_path_parameter"]


def test_p14_pattern_of_a_route_is_carried_as_the_hint_it_is() -> None:
    made = only(lower_parameters(path_parameter("kind", type="string", pattern="^M|D$"), path="/a/{kind}/"))

    assert made.parameters[0].schema == {"type": "string", "pattern": "^M|D$"}


def test_p15_name_in_path_and_body_is_kept_in_both() -> None:
    uuid = {"type": "string", "format": "uuid"}
    body = {"required": True, "content": content_of(JSON, schema={"type": "object", "properties": {"id": uuid}})}
    operation = {"parameters": [path_parameter("id", **uuid)], "requestBody": body, "responses": OK}

    made = only(lower(with_operation(operation, path="/parts/{id}/", method="patch")))

    assert made.body is not None
    assert ([item.name for item in made.parameters], list(made.body.schema["properties"])) == (["id"], ["id"])


@pytest.mark.parametrize(("said", "explode"), [({"explode": False}, False), ({"explode": True}, True), ({}, True)])
def test_p16_explode_is_as_said_or_openapis_default(said: Any, explode: bool) -> None:
    array = {"type": "array", "items": TEXT}

    [made] = only(lower_parameters({"name": "name__in", "in": "query", "schema": array, **said})).parameters

    assert (made.style, made.explode) == ("form", explode)


def test_p17_array_in_a_header_is_joined_with_commas() -> None:
    array = {"type": "array", "items": TEXT}

    [made] = only(lower_parameters({"name": "X-Diagnostics", "in": "header", "schema": array})).parameters

    assert (made.style, made.explode, made.schema) == ("simple", False, array)


@pytest.mark.parametrize("name", ["filter__{field}__{op}", "as-set", "a.b"])
def test_p18_name_of_any_form_is_a_name(name: str) -> None:
    lowered = lower_parameters({"name": name, "in": "query", "schema": TEXT})

    assert ([item.name for item in only(lowered).parameters], codes(lowered)) == ([name], [])


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ({"type": "integer", "nullable": True, "enum": [1, 2, "null"]}, {"enum": [1, 2, "null", None]}),
        (
            {"type": "string", "format": "date-time", "nullable": True, "enum": [1, 2, 3, None]},
            {"enum": [1, 2, 3, None]},
        ),
    ],
    ids=str,
)
def test_p20_enum_that_is_not_of_its_type_loses_the_type(raw: Any, normal: Any) -> None:
    assert response_schema({"type": "object", "properties": {"a": raw}})["properties"]["a"] == normal


def test_p22_json_is_taken_of_one_schema_in_many_media_types() -> None:
    lowered = lower_content(content_of("text/csv", FORM, MULTIPART, JSON))

    assert (content_type_of(lowered), codes(lowered)) == ((JSON, None), [])


def test_p23_multipart_stays_beside_json_for_the_file() -> None:
    image = {"type": "string", "format": "binary", "nullable": True}
    lowered = lower_content(content_of(JSON, MULTIPART, schema={**PART, "properties": {"name": TEXT, "image": image}}))

    assert content_type_of(lowered) == (JSON, MULTIPART)


def test_p24_media_type_is_chosen_before_its_schema() -> None:
    other = {"type": "object", "properties": {"upload": {"type": "string", "format": "binary"}}}

    lowered = lower_content({**content_of(MULTIPART, schema=other), **content_of(JSON)})

    assert content_type_of(lowered) == (JSON, None)
    assert [code for code, _ in codes(lowered)] == ["request_media_type_alternative_ignored"]


@pytest.mark.parametrize(
    ("content", "chosen"),
    [
        (content_of("*/*", schema={"type": "string", "format": "binary"}), "*/*"),
        (
            content_of(
                "*/*", schema={"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}
            ),
            "*/*",
        ),
        (content_of(MULTIPART), MULTIPART),
        (content_of(FORM), FORM),
    ],
    ids=str,
)
def test_p25_raw_and_form_bodies_are_written_as_such(content: Any, chosen: str) -> None:
    assert content_type_of(lower_content(content)) == (chosen, None)


def test_p26_array_is_a_body() -> None:
    schema = {"type": "array", "items": {"$ref": "#/components/schemas/Part"}}

    assert body_schema(schema, Part=PART) == {
        "type": "array",
        "items": {"$ref": "#/$defs/Part"},
        "$defs": {"Part": PART},
    }


def test_p27_object_or_array_is_a_body() -> None:
    part = {"$ref": "#/components/schemas/Part"}

    assert body_schema({"oneOf": [part, {"type": "array", "items": part}]}, Part=PART) == {
        "oneOf": [{"$ref": "#/$defs/Part"}, {"type": "array", "items": {"$ref": "#/$defs/Part"}}],
        "$defs": {"Part": PART},
    }


def test_p28_delete_keeps_its_body_and_nothing_is_closed() -> None:
    body = only(lower_content(content_of(JSON, schema={"type": "array", "items": PART}), method="delete")).body

    assert body is not None
    assert body.schema == {"type": "array", "items": PART}


def test_p29_read_only_members_are_not_required_of_a_request() -> None:
    part = {
        "type": "object",
        "properties": {"id": {"type": "integer", "readOnly": True}, "key": {**TEXT, "writeOnly": True}, "name": TEXT},
        "required": ["id", "key", "name"],
    }

    assert body_schema(part)["required"] == ["key", "name"]
    assert response_schema(part)["required"] == ["id", "name"]


@pytest.mark.parametrize(("option", "required"), [("always", True), ("declared", False)])
def test_p30_absent_required_is_as_the_generator_means_it(option: Any, required: bool) -> None:
    operation = {"requestBody": {"content": content_of(JSON)}, "responses": OK}

    body = only(lower(with_operation(operation, method="patch"), body_required=option)).body

    assert body is not None and body.required is required


def test_p31_media_type_as_a_keyword_is_unwrapped() -> None:
    lowered = lower_body({JSON: PART})

    body = only(lowered).body
    assert body is not None and body.schema == PART
    assert [code for code, _ in codes(lowered)] == ["schema_under_media_type"]


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ({"nullable": True}, {}),
        ({**TEXT, "nullable": True}, {"type": ["string", "null"]}),
        (
            {"allOf": [{"$ref": "#/components/schemas/Owner"}], "nullable": True},
            {"anyOf": [{"$ref": "#/$defs/Owner"}, {"type": "null"}]},
        ),
        (
            {"nullable": True, "$ref": "#/components/schemas/Owner"},
            {"anyOf": [{"$ref": "#/$defs/Owner"}, {"type": "null"}]},
        ),
        ({"type": ["object", "null"], "nullable": True}, {"type": ["object", "null"]}),
        ({"type": ["array", "null", "null"]}, {"type": ["array", "null"]}),
        ({**TEXT, "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
    ],
    ids=str,
)
def test_p32_every_way_to_say_nullable_admits_null(raw: Any, normal: Any) -> None:
    made = response_schema({"type": "object", "properties": {"a": raw}}, Owner=PART)

    assert made["properties"]["a"] == normal


def test_p33_split_enum_is_one() -> None:
    names = ("KindEnum", "BlankEnum", "NullEnum")
    split = {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in names]}

    made = response_schema(
        {"type": "object", "properties": {"kind": split}},
        KindEnum={"type": "string", "enum": ["a", "b"]},
        BlankEnum={"enum": [""]},
        NullEnum={"enum": [None]},
    )

    assert made["properties"]["kind"] == {"type": ["string", "null"], "enum": ["a", "b", "", None]}


def test_p34_address_or_empty_is_no_exclusive_choice() -> None:
    url, empty = {"type": "string", "format": "uri", "maxLength": 200}, {"type": "string", "maxLength": 0}

    made = response_schema({"type": "object", "properties": {"url": {"nullable": True, "oneOf": [url, empty]}}})

    assert made["properties"]["url"] == {"anyOf": [url, empty, {"type": "null"}]}


def test_p35_boolean_bounds_become_numbers() -> None:
    raw = {"type": "number", "maximum": 9, "minimum": -9, "exclusiveMaximum": True, "exclusiveMinimum": True}

    assert response_schema(raw) == {"type": "number", "exclusiveMaximum": 9, "exclusiveMinimum": -9}


def test_p36_empty_union_allows_anything() -> None:
    raw = {"oneOf": [], "discriminator": {"propertyName": "type", "mapping": {}}}

    assert response_schema({"type": "array", "items": raw}) == {"type": "array", "items": {}}


def test_p37_members_of_a_union_are_told_apart_by_their_mapping() -> None:
    shape = {"type": "object", "properties": {"type": TEXT}}
    made = body_schema(
        {
            "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("Circle", "Square", "Other")],
            "discriminator": {
                "propertyName": "type",
                "mapping": {
                    "circle": "#/components/schemas/Circle",
                    "square": "Square",
                    "box": "#/components/schemas/Square",
                    "list": ["#/components/schemas/Other"],
                },
            },
        },
        Circle=shape,
        Square=shape,
        Other=shape,
    )

    assert made["oneOf"] == [
        {"$ref": "#/$defs/Circle", "properties": {"type": {"const": "circle"}}},
        {"$ref": "#/$defs/Square", "properties": {"type": {"enum": ["square", "box"]}}},
        {"$ref": "#/$defs/Other"},
    ]


def test_p38_null_schema_and_description_are_none() -> None:
    responses = {"200": {"description": None, "content": {JSON: {"schema": None}}}}

    [answer] = only(lower(with_operation({"responses": responses}))).responses

    assert (answer.schema, answer.description) == (None, None)


@pytest.mark.parametrize(("required", "kept"), [("labels", None), ([], None), (["labels", "ghost"], ["labels"])])
def test_p39_required_keeps_a_list_of_declared_names(required: Any, kept: Any) -> None:
    made = response_schema({"type": "object", "properties": {"labels": {"type": "object"}}, "required": required})

    assert made.get("required") == kept


def test_p40_schema_may_contain_itself() -> None:
    itself = {"$ref": "#/components/schemas/Note"}
    note = {"type": "object", "properties": {"results": {"type": "array", "items": itself}}}

    made = response_schema(itself, Note=note)

    written = {"type": "object", "properties": {"results": {"type": "array", "items": {"$ref": "#/$defs/Note"}}}}
    assert made == {**written, "$defs": {"Note": written}}


def test_p41_dotted_component_is_found_under_its_name() -> None:
    items = {"$ref": "#/components/schemas/file.Response"}

    made = response_schema({"type": "array", "items": items}, **{"file.Response": PART})

    assert made == {"type": "array", "items": {"$ref": "#/$defs/file.Response"}, "$defs": {"file.Response": PART}}


def test_p42_foreign_keys_and_formats_that_are_types_leave() -> None:
    raw = {"type": "string", "format": "string", "x-spec-enum-id": "ab6d", "enum": ["a"]}

    assert response_schema(raw) == {"type": "string", "enum": ["a"]}


def test_p43_operation_id_of_any_form_is_carried_and_need_not_be_unique() -> None:
    said = {"operationId": "List an Organization's Parts", "responses": OK}

    lowered = lower(document({"/a/": {"get": said}, "/b/": {"get": said}}))

    assert [item.operation_id for item in lowered.descriptors] == ["List an Organization's Parts"] * 2


@pytest.mark.parametrize("security", [[{"tokenAuth": []}, {"cookieAuth": []}, {}], [], None], ids=str)
def test_p47_security_tells_nothing_about_who_may_call(security: Any) -> None:
    schemes = {"tokenAuth": {"type": "apiKey", "in": "header", "name": "Token"}}
    operation = {"responses": OK, **({} if security is None else {"security": security})}

    made = only(lower(with_operation(operation, components={"securitySchemes": schemes})))

    assert made.auth.anonymous == "unknown"


@pytest.mark.parametrize("statuses", [["200", "202"], ["302"], ["404"], ["201", "208", "5XX"]], ids=str)
def test_p48_any_set_of_statuses_is_carried(statuses: list[str]) -> None:
    made = only(lower(with_operation({"responses": {status: {"description": "x"} for status in statuses}})))

    assert [answer.status for answer in made.responses] == statuses


def test_p49_answer_without_content_has_no_schema() -> None:
    [answer] = only(lower(with_operation({"responses": {"200": {"description": "No response body"}}}))).responses

    assert (answer.schema, answer.media_types) == (None, ())


def test_p50_binary_that_is_declared_as_json_is_carried_as_said() -> None:
    assert response_schema({"type": "string", "format": "binary"}) == {
        "type": "string",
        "contentMediaType": "application/octet-stream",
    }


def test_p51_schema_of_an_answer_is_not_closed() -> None:
    assert response_schema({"$ref": "#/components/schemas/Part"}, Part=PART) == PART
