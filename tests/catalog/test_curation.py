"""Records, fills, older names and rules: what they do to the schema and to the template of one tool."""

from dataclasses import replace
from typing import Any

import pytest

from sezzlee_mcp.catalog import (
    ArgumentRecord,
    ArgumentRule,
    Candidate,
    Curation,
    Exposed,
    Fill,
    FillKind,
    Tool,
    compile_catalog,
)
from sezzlee_mcp.openapi.descriptors import Descriptor
from tests.catalog.making import EVERYTHING, codes, json_body, operation, parameter, staffed

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
OMIT = Fill(kind=FillKind.OMIT)
LIST = operation(
    "GET", "/orders/", "list_them", parameters=(parameter("status", required=True), parameter("page", INTEGER))
)
CREATE = operation(
    "POST",
    "/orders/",
    "create_one",
    body=json_body(
        {
            "type": "object",
            "properties": {"item": {"$ref": "#/$defs/Item"}, "source": {"$ref": "#/$defs/Source"}},
            "required": ["item", "source"],
            "$defs": {"Item": STRING, "Source": {"anyOf": [{"$ref": "#/$defs/Name"}]}, "Name": STRING},
        }
    ),
)


def constant(value: Any) -> Fill:
    return Fill(kind=FillKind.CONSTANT, value=value)


def compiled(descriptor: Descriptor, *records: ArgumentRecord, base: Curation = EVERYTHING) -> Candidate:
    return compile_catalog([descriptor], staffed(descriptor.key, base, arguments=records))


def made(descriptor: Descriptor, *records: ArgumentRecord, base: Curation = EVERYTHING) -> Tool:
    (tool,) = compiled(descriptor, *records, base=base).tools
    return tool


def found(candidate: Candidate) -> list[str]:
    return [code for _, code in codes(candidate.diagnostics)]


def test_renamed_argument_keeps_its_place_and_its_wire_name() -> None:
    tool = made(LIST, ArgumentRecord(name="status", agent_name="state", description="Which ones."))
    schema = tool.loaded["inputSchema"]
    assert list(schema["properties"].items()) == [
        ("state", {"type": "string", "description": "Which ones."}),
        ("page", INTEGER),
    ]
    assert schema["required"] == ["state"]
    assert [(slot.name, slot.exposed) for slot in tool.template.slots] == [
        ("status", Exposed(name="state")),
        ("page", None),
    ]
    assert tool.template.argument_names == ("state", "page")


def test_description_alone_leaves_the_name() -> None:
    tool = made(LIST, ArgumentRecord(name="page", description="Which page."))
    assert tool.loaded["inputSchema"]["properties"]["page"] == {"type": "integer", "description": "Which page."}
    assert tool.template.slots[1].exposed is None


def test_older_name_is_published_and_neither_is_required() -> None:
    tool = made(LIST, ArgumentRecord(name="status", agent_name="state", deprecated_aliases=("phase", "status")))
    schema = tool.loaded["inputSchema"]
    note = {"type": "string", "description": "The former name of state; send state instead.", "deprecated": True}
    assert list(schema["properties"].items()) == [
        ("state", STRING),
        ("phase", note),
        ("status", note),
        ("page", INTEGER),
    ]
    assert schema["required"] == []
    assert tool.template.slots[0].exposed == Exposed(name="state", aliases=("phase", "status"), required=True)


def test_hidden_body_field_leaves_properties_required_and_definitions() -> None:
    fill = constant("agent")
    tool = made(CREATE, ArgumentRecord(name="source", agent_name="origin", fill=fill))
    assert tool.loaded["inputSchema"] == {
        "type": "object",
        "properties": {"item": {"$ref": "#/$defs/Item"}},
        "required": ["item"],
        "additionalProperties": False,
        "$defs": {"Item": STRING},
    }
    assert tool.template.body is not None
    assert tool.template.body.properties == ("item", "source")
    assert tool.template.body.exposed == {"source": Exposed(name=None, aliases=("origin",), fill=fill, required=True)}
    assert tool.template.argument_names == ("item",)


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (ArgumentRecord(name="Status", agent_name="state"), "curation_unresolved"),
        (ArgumentRecord(name="status", agent_name="page"), "argument_collision"),
        (ArgumentRecord(name="status", agent_name="state", deprecated_aliases=("page",)), "argument_collision"),
        (ArgumentRecord(name="status", agent_name="page", fill=constant("a")), "argument_collision"),
        (ArgumentRecord(name="status", agent_name="1st"), "curation_invalid"),
        (ArgumentRecord(name="status", agent_name="a-b"), "curation_invalid"),
        (ArgumentRecord(name="status", agent_name=""), "curation_invalid"),
        (ArgumentRecord(name="status", description=" "), "curation_invalid"),
        (ArgumentRecord(name="status", deprecated_aliases=("status",)), "curation_invalid"),
        (ArgumentRecord(name="status", deprecated_aliases=("a", "a")), "curation_invalid"),
        (ArgumentRecord(name="page", deprecated_aliases=("p",), fill=OMIT), "curation_invalid"),
        (ArgumentRecord(name="status", fill=OMIT), "hidden_required_omitted"),
        (ArgumentRecord(name="status", fill=constant(1)), "invalid_fill_constant"),
        (ArgumentRecord(name="status", fill=constant(None)), "invalid_fill_constant"),
        (ArgumentRecord(name="page", fill=constant(True)), "invalid_fill_constant"),
        (ArgumentRecord(name="page", fill=constant(1.5)), "invalid_fill_constant"),
        (ArgumentRecord(name="page", fill=Fill(kind=FillKind.DEFERRED, source="nobody")), "unknown_fill_source"),
    ],
)
def test_impossible_curation_drops_the_tool(record: ArgumentRecord, code: str) -> None:
    candidate = compiled(LIST, record)
    assert (candidate.tools, found(candidate)) == ((), [code])


def test_names_cannot_be_swapped() -> None:
    swapped = (ArgumentRecord(name="status", agent_name="page"), ArgumentRecord(name="page", agent_name="status"))
    assert found(compiled(LIST, *swapped)) == ["argument_collision", "argument_collision"]


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        (INTEGER, 10**400, True),
        (INTEGER, 1.0, True),
        ({"type": ["string", "null"]}, "a", True),
        ({"enum": ["a", 1]}, "a", True),
        ({"enum": ["a", 1]}, True, False),
        ({"type": "array", "items": INTEGER}, [1, 2], True),
        ({"type": "array", "items": INTEGER}, [1, "2"], False),
        ({"$ref": "#/$defs/A", "$defs": {"A": INTEGER}}, 1, True),
        ({"$ref": "#/$defs/A", "$defs": {"A": INTEGER}}, "1", False),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, 1, False),
        ({"anyOf": [INTEGER, STRING]}, "a", True),
        ({"oneOf": [INTEGER, {"type": "number"}]}, 1, False),
        ({"type": "object", "properties": {"a": INTEGER}, "required": ["a"]}, {"a": 1, "b": 2}, True),
        ({"type": "object", "properties": {"a": INTEGER}, "required": ["a"]}, {"b": 2}, False),
        ({"type": "object", "additionalProperties": False}, {"b": 2}, False),
        ({}, {"any": "thing"}, True),
    ],
)
def test_constant_is_checked_against_the_schema(schema: dict[str, Any], value: Any, fits: bool) -> None:
    descriptor = operation(parameters=(parameter("a", schema),))
    candidate = compiled(descriptor, ArgumentRecord(name="a", fill=constant(value)))
    assert ("invalid_fill_constant" not in found(candidate)) is fits


@pytest.mark.parametrize(
    ("schema", "asked"),
    [
        ({"type": "integer", "description": "A page."}, '{"type":"integer"}'),
        ({"enum": [1, 2]}, '{"enum":[1,2]}'),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "integer", "maximum": 9}}}, '{"maximum":9,"type":"integer"}'),
        ({"type": "integer", "enum": list(range(100))}, '{"enum":[0,1,2,'),
    ],
)
def test_refusal_of_a_constant_says_what_is_asked_for(schema: dict[str, Any], asked: str) -> None:
    descriptor = operation(parameters=(parameter("a", schema),))
    (refusal,) = compiled(descriptor, ArgumentRecord(name="a", fill=constant("x"))).diagnostics
    said, _, shown = refusal.message.partition(": the operation takes ")
    assert (said, shown.startswith(asked)) == ("The constant of the hidden argument a does not fit", True)
    assert len(refusal.message) < 300


@pytest.mark.parametrize(
    ("location", "value"), [("path", ""), ("path", ".."), ("path", "."), ("header", "a\r\nb"), ("header", "\0")]
)
def test_constant_is_checked_against_its_place(location: str, value: str) -> None:
    descriptor = operation(route="/x/{a}/", parameters=(parameter("a", location=location),))
    assert found(compiled(descriptor, ArgumentRecord(name="a", fill=constant(value)))) == ["invalid_fill_constant"]


def test_registered_provider_fills_a_hidden_argument() -> None:
    fill = Fill(kind=FillKind.DEFERRED, source="tenant")
    base = replace(EVERYTHING, fill_sources=frozenset({"tenant"}))
    tool = made(LIST, ArgumentRecord(name="status", fill=fill), base=base)
    assert tool.template.slots[0].exposed == Exposed(name=None, fill=fill, required=True)


def test_rule_curates_each_argument_that_it_matches() -> None:
    rules = (ArgumentRule(argument="*", location="query", prefix="q_"),)
    tool = made(LIST, base=replace(EVERYTHING, argument_rules=rules))
    assert tool.template.argument_names == ("q_status", "q_page")


def test_record_beats_a_rule_whole() -> None:
    rules = (ArgumentRule(argument="*", prefix="q_"),)
    tool = made(LIST, ArgumentRecord(name="status"), base=replace(EVERYTHING, argument_rules=rules))
    assert tool.template.argument_names == ("status", "q_page")


def test_rule_never_hides_a_required_argument_without_a_value() -> None:
    rules = (ArgumentRule(argument="*", fill=OMIT),)
    tool = made(LIST, base=replace(EVERYTHING, argument_rules=rules))
    assert tool.template.argument_names == ("status",)


@pytest.mark.parametrize("route", ["/other/", "/orders"])
def test_rule_of_another_route_does_nothing(route: str) -> None:
    rules = (ArgumentRule(argument="*", route=route, prefix="q_"),)
    assert made(LIST, base=replace(EVERYTHING, argument_rules=rules)).template.argument_names == ("status", "page")


@pytest.mark.parametrize("is_reversed", [False, True])
def test_rule_that_names_more_wins_and_at_equal_rank_one_that_hides(is_reversed: bool) -> None:
    rules = (
        ArgumentRule(argument="page", fill=OMIT),
        ArgumentRule(argument="page", route="/orders/", prefix="q_"),
        ArgumentRule(argument="page", location="query", fill=OMIT),
    )
    rules = rules[::-1] if is_reversed else rules
    candidate = compiled(LIST, base=replace(EVERYTHING, argument_rules=rules))
    assert candidate.tools[0].template.argument_names == ("status",)
    assert found(candidate) == ["ambiguous_curation"]
    sharper = compiled(LIST, base=replace(EVERYTHING, argument_rules=tuple(r for r in rules if r.location is None)))
    assert (sharper.tools[0].template.argument_names, found(sharper)) == (("status", "q_page"), [])


def test_changed_rule_is_a_new_input_and_a_foreign_one_is_not() -> None:
    plain = made(LIST)
    foreign = replace(EVERYTHING, argument_rules=(ArgumentRule(argument="*", route="/x/", prefix="q_"),))
    ruled = replace(EVERYTHING, argument_rules=(ArgumentRule(argument="*", prefix="q_"),))
    assert made(LIST, base=foreign).input_digest == plain.input_digest
    assert made(LIST, base=ruled).input_digest != plain.input_digest


def test_leaks_of_a_taken_name_are_said() -> None:
    descriptor = operation(
        "GET",
        "/orders/",
        "orders_by_status",
        description="Lists by status.",
        parameters=(parameter("status"), parameter("page", {**INTEGER, "description": "With `status`, the page."})),
    )
    taken = compiled(descriptor, ArgumentRecord(name="status", agent_name="state"))
    assert found(taken) == ["curation_leaks_name", "curation_leaks_name_in_argument"]
    assert found(compiled(descriptor, ArgumentRecord(name="page", agent_name="page_number"))) == [
        "curation_leaks_name_in_argument"
    ]
    assert found(compiled(LIST, ArgumentRecord(name="status", agent_name="state"))) == []


def test_open_body_beside_a_taken_field_is_said() -> None:
    body = json_body({"type": "object", "properties": {"x1": STRING}, "additionalProperties": True})
    descriptor = operation("POST", body=body)
    assert found(compiled(descriptor, ArgumentRecord(name="x1", fill=OMIT))) == ["curated_open_body"]
    assert found(compiled(descriptor, ArgumentRecord(name="x1", description="Said."))) == []


def test_records_of_the_code_hold_beside_those_of_staff() -> None:
    descriptor = replace(
        LIST, extension={"arguments": [{"name": "status", "as": "state"}, {"name": "page", "as": "number"}]}
    )
    tool = made(descriptor, ArgumentRecord(name="status"))
    assert tool.template.argument_names == ("status", "number")
