"""The meta-tool contract: what tools/list publishes."""

import json

import pytest

from sezzlee_mcp.protocol.metatools import INSTRUCTIONS, MetaTool, definitions


def of(name):
    return next(tool for tool in definitions(3) if tool["name"] == name)


def shape(schema):
    """A published schema without its texts."""
    return {
        name: {key: value for key, value in member.items() if key != "description"}
        for name, member in schema["properties"].items()
    }


def test_exactly_three_tools_in_a_fixed_order():
    assert [tool["name"] for tool in definitions(0)] == ["load_tool", "search_tools", "invoke_tool"]


@pytest.mark.parametrize("generation", [0, 41])
def test_each_definition_carries_the_generation(generation):
    assert [tool["_meta"] for tool in definitions(generation)] == [{"sezzlee/catalogGeneration": generation}] * 3


def test_search_tools_takes_what_the_contract_says():
    schema = of("search_tools")["inputSchema"]

    assert schema["type"] == "object"
    assert "required" not in schema
    assert shape(schema) == {
        "query": {"type": "string", "default": ""},
        "limit": {"type": "integer", "default": 20},
        "detail": {"type": "string", "enum": ["card", "schema"], "default": "card"},
        "tags": {"type": "array", "items": {"type": "string"}, "default": None},
    }


def test_load_tool_takes_a_name():
    schema = of("load_tool")["inputSchema"]

    assert (schema["type"], schema["required"], shape(schema)) == ("object", ["name"], {"name": {"type": "string"}})


def test_invoke_tool_publishes_no_type_for_its_arguments():
    schema = of("invoke_tool")["inputSchema"]

    assert (schema["type"], schema["required"]) == ("object", ["name"])
    assert shape(schema) == {"name": {"type": "string"}, "arguments": {}, "version": {"type": "string"}}


@pytest.mark.parametrize(
    ("name", "annotations"),
    [
        ("load_tool", {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}),
        ("search_tools", {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}),
        ("invoke_tool", {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}),
    ],
)
def test_annotations_say_which_tool_may_change_something(name, annotations):
    assert of(name)["annotations"] == annotations


@pytest.mark.parametrize("name", list(MetaTool))
def test_each_text_is_there_and_every_argument_is_described(name):
    tool = of(name)
    texts = [
        tool["title"],
        tool["description"],
        *(p["description"] for p in tool["inputSchema"]["properties"].values()),
    ]

    assert all(text.strip() == text and text for text in texts)


@pytest.mark.parametrize("text", [INSTRUCTIONS, *(tool["description"] for tool in definitions(0))])
def test_each_text_leads_to_the_other_tools(text):
    assert sum(name in text for name in MetaTool) >= 2


def test_definitions_are_json_as_they_stand():
    assert json.loads(json.dumps(definitions(5))) == definitions(5)
