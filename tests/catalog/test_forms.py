"""Bodies that are no JSON: the members of forms, and files as the objects that an agent sends."""

from dataclasses import replace
from typing import Any

import pytest

from sezzlee_mcp.catalog import BodyTemplate, Member, Tool, compile_catalog
from sezzlee_mcp.openapi.descriptors import Body, Parameter
from tests.catalog.making import EVERYTHING, operation

STRING, INTEGER, BOOLEAN = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
FILE = {"type": "string", "contentMediaType": "text/csv"}
MULTIPART = "multipart/form-data"


def made(body: Body, *parameters: Parameter, resolves_files: bool = False) -> Tool:
    descriptor = operation("POST", "/x/{id}/", "send", body=body, parameters=parameters)
    (tool,) = compile_catalog([descriptor], replace(EVERYTHING, resolves_files=resolves_files)).tools
    return tool


def form(properties: dict[str, Any], content_type: str = MULTIPART, **facts: Any) -> Body:
    schema = {"type": "object", "properties": properties, **facts.pop("more", {})}
    return Body(**{"schema": schema, "required": True, "content_type": content_type, **facts})


def template(body: Body) -> BodyTemplate:
    made_of = made(body).template.body
    assert made_of is not None
    return made_of


@pytest.mark.parametrize(
    ("schema", "member"),
    [
        (STRING, Member(name="a", type="string")),
        ({"type": ["integer", "null"]}, Member(name="a", type="integer")),
        ({"type": "array", "items": BOOLEAN}, Member(name="a", type="boolean", is_array=True)),
        ({}, Member(name="a", type="any")),
        (FILE, Member(name="a", type="file", media_type="text/csv")),
        ({"type": "array", "items": FILE}, Member(name="a", type="file", is_array=True, media_type="text/csv")),
        ({"anyOf": [FILE, {"type": "null"}]}, Member(name="a", type="file", media_type="text/csv")),
        ({**FILE, "contentEncoding": "base64"}, Member(name="a", type="string")),
        (
            {"type": "object", "properties": {"b": INTEGER}},
            Member(name="a", type="object", members=(Member(name="b", type="integer"),)),
        ),
        ({"$ref": "#/$defs/A"}, Member(name="a", type="object", members=(Member(name="b", type="boolean"),))),
    ],
)
def test_form_field_is_a_member(schema: dict[str, Any], member: Member) -> None:
    definitions = {"$defs": {"A": {"type": "object", "properties": {"b": BOOLEAN}}}}
    assert template(form({"a": schema}, more=definitions)).form == (member,)


def test_nested_lists_of_objects_keep_their_members() -> None:
    rows = {"type": "array", "items": {"type": "object", "properties": {"file": FILE}}}
    assert template(form({"rows": rows}, notation="drf")) == BodyTemplate(
        content_type=MULTIPART,
        properties=("rows",),
        form=(
            Member(
                name="rows",
                type="object",
                is_array=True,
                members=(Member(name="file", type="file", media_type="text/csv"),),
            ),
        ),
        notation="drf",
    )


def test_form_that_holds_itself_ends() -> None:
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}}}
    (member,) = template(form({"child": {"$ref": "#/$defs/Node"}}, notation="drf", more={"$defs": {"Node": node}})).form
    assert member == Member(name="child", type="object", members=(Member(name="child", type="any"),))


def test_form_of_objects_that_refer_to_each_other_is_opened_level_by_level_up_to_its_bound() -> None:
    names = [f"Part{number}" for number in range(20)]
    node = {"type": "object", "properties": {name: {"$ref": f"#/$defs/{name}"} for name in names}}
    definitions = {name: {**node, "description": name} for name in names}
    members = template(form({"part": {"$ref": "#/$defs/Part0"}}, notation="drf", more={"$defs": definitions})).form
    levels = []
    while members:
        levels.append((len(members), sum(member.type == "object" for member in members)))
        members = tuple(inner for member in members for inner in member.members)
    assert levels == [(1, 1), (20, 19), (380, 29), (580, 0)]


def test_objects_of_a_form_are_opened_twenty_levels_deep() -> None:
    definitions = {
        f"Level{level}": {"type": "object", "properties": {"next": {"$ref": f"#/$defs/Level{level + 1}"}}}
        for level in range(300)
    }
    fields = {"next": {"$ref": "#/$defs/Level0"}}
    members = template(form(fields, notation="drf", more={"$defs": {**definitions, "Level300": STRING}})).form
    types = []
    while members:
        types += [member.type for member in members]
        members = tuple(inner for member in members for inner in member.members)
    assert types == ["object"] * 20 + ["any"]


def test_object_that_two_fields_share_is_opened_in_both() -> None:
    address = {"type": "object", "properties": {"city": STRING}}
    fields = {name: {"$ref": "#/$defs/Address"} for name in ("from", "to")}
    assert template(form(fields, notation="drf", more={"$defs": {"Address": address}})).form == tuple(
        Member(name=name, type="object", members=(Member(name="city", type="string"),)) for name in ("from", "to")
    )


def test_boolean_of_a_form_keeps_the_default_of_the_backend() -> None:
    body = form({"a": BOOLEAN, "b": BOOLEAN, "c": STRING}, defaults={"a": True, "c": "x"})
    assert template(body).form == (
        Member(name="a", type="boolean", has_default=True, default=True),
        Member(name="b", type="boolean"),
        Member(name="c", type="string"),
    )


@pytest.mark.parametrize("content_type", ["application/json", "text/plain"])
def test_body_that_is_no_form_has_no_members(content_type: str) -> None:
    body = form({"a": FILE}, content_type)
    assert template(body).form == ()
    assert made(body).loaded["inputSchema"]["properties"] == {"a": FILE}


@pytest.mark.parametrize(
    ("resolves_files", "sources"), [(False, ("text", "base64")), (True, ("text", "base64", "ref"))]
)
def test_file_is_published_as_what_an_agent_sends(resolves_files: bool, sources: tuple[str, ...]) -> None:
    tool = made(form({"a": {**FILE, "description": "The rows."}}), resolves_files=resolves_files)
    published = tool.loaded["inputSchema"]["properties"]["a"]
    assert list(published["properties"]) == [*sources, "name", "mediaType"]
    assert published["oneOf"] == [{"required": [source]} for source in sources]
    assert (published["type"], published["description"], published["additionalProperties"]) == (
        "object",
        "The rows.",
        False,
    )
    assert "text/csv" in published["properties"]["mediaType"]["description"]
    assert tool.template.file_sources == sources


def test_reference_is_offered_only_where_there_is_a_file() -> None:
    body = form({"a": STRING}, "application/json")
    assert made(body, resolves_files=True).template.file_sources == ("text", "base64")


def test_json_and_multipart_side_by_side_take_a_file() -> None:
    tool = made(form({"a": FILE, "b": INTEGER}, "application/json", file_content_type=MULTIPART))
    assert tool.template.body is not None
    assert (tool.template.body.content_type, tool.template.body.file_content_type) == ("application/json", MULTIPART)
    assert [member.type for member in tool.template.body.form] == ["file", "integer"]
    assert tool.loaded["inputSchema"]["properties"]["a"]["type"] == "object"


def test_file_below_a_definition_is_published_too() -> None:
    definitions = {"$defs": {"Row": {"type": "object", "properties": {"scan": FILE}}}}
    rows = {"type": "array", "items": {"$ref": "#/$defs/Row"}}
    schema = made(form({"rows": rows}, notation="drf", more=definitions)).loaded["inputSchema"]
    assert schema["$defs"]["Row"]["properties"]["scan"]["type"] == "object"
    assert schema["properties"]["rows"] == rows


def test_binary_body_is_the_one_file_of_the_argument_body() -> None:
    tool = made(Body(schema=FILE, required=True, content_type="text/csv"))
    assert tool.template.body == BodyTemplate(
        content_type="text/csv",
        argument="body",
        form=(Member(name="body", type="file", media_type="text/csv"),),
    )
    assert tool.loaded["inputSchema"]["properties"]["body"]["type"] == "object"


@pytest.mark.parametrize(
    ("location", "content_type", "written", "members"),
    [
        ("query", "application/json", "json", ()),
        ("header", "text/plain", "any", ()),
        ("querystring", "application/x-www-form-urlencoded", "object", (Member(name="a", type="integer"),)),
        ("querystring", "application/json", "json", ()),
        ("cookie", None, "any", ()),
    ],
)
def test_slot_of_a_content_parameter(
    location: str, content_type: str | None, written: str, members: tuple[Member, ...]
) -> None:
    parameter = Parameter(
        name="p",
        location=location,
        required=False,
        schema={"type": "object", "properties": {"a": INTEGER}},
        style="form",
        explode=False,
        content_type=content_type,
    )
    (slot,) = made(Body(schema={}, required=False, content_type="application/json"), parameter).template.slots
    assert (slot.location, slot.type, slot.content_type, slot.members) == (location, written, content_type, members)
