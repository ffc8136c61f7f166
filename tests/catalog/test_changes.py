"""publishing.md, "Change classes": what changed between two catalogs, where, and for whom."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sezzlee_mcp.canonical import stable
from sezzlee_mcp.catalog.changes import KINDS, TEXT_CHARS, Change, ChangeClass, Side, changes_between
from tests.catalog.test_containment import FOUNDED, INSTANCES, accepts

# {part: {case: {"old", "new", "changes": [[kind, pointer], ...]}}}; null is a part that a tool does not have.
CASES = json.loads((Path(__file__).parent / "changes.json").read_text(encoding="utf-8"))
PARTS = {"input": "inputSchema", "output": "outputSchema"}
NOTHING = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def tool(name: str = "tool", **members: Any) -> dict[str, Any]:
    return {"name": name, "description": "A tool.", "inputSchema": NOTHING, "annotations": {}, **members}


def of_part(part: str, value: Any) -> dict[str, Any]:
    if part in PARTS:
        return tool() if value is None else tool(**{PARTS[part]: value})
    return tool(**value)


@pytest.mark.parametrize(("part", "case"), [(part, case) for part, cases in CASES.items() for case in cases])
def test_change_of_one_tool(part: str, case: str) -> None:
    said = CASES[part][case]
    old, new = (of_part(part, said[side]) for side in ("old", "new"))

    found = changes_between({"tool": old}, {"tool": new})

    assert [[change.kind, change.pointer] for change in found] == said["changes"]


def test_every_kind_of_change_of_one_tool_has_a_case() -> None:
    shown = {kind for cases in CASES.values() for case in cases.values() for kind, _ in case["changes"]}

    assert KINDS.keys() - shown == {"tool_added", "tool_removed", "tool_renamed", "call_changed"}


def test_tools_come_and_go() -> None:
    assert changes_between({"old": tool("old")}, {"new": tool("new")}) == (
        Change(tool="old", kind="tool_removed"),
        Change(tool="new", kind="tool_added"),
    )


def test_a_tool_with_an_alias_is_compared_under_its_new_name() -> None:
    old, new = {"old": tool("old")}, {"new": tool("new", description="New.")}

    assert changes_between(old, new, {"old": "new"}) == (
        Change(
            tool="new",
            kind="text_changed",
            pointer="/description",
            name="description",
            before='"A tool."',
            after='"New."',
        ),
        Change(tool="new", kind="tool_renamed", pointer="/name", before="old", after="new"),
    )


def test_an_alias_that_leads_to_no_tool_saves_none() -> None:
    assert changes_between({"old": tool("old")}, {}, {"old": "gone"}) == (Change(tool="old", kind="tool_removed"),)


def test_breaking_changes_come_first() -> None:
    old = {"a": tool("a"), "b": tool("b", inputSchema={**NOTHING, "properties": {"x": {"type": "string"}}})}
    new = {"a": tool("a", description="A."), "b": tool("b"), "c": tool("c")}

    assert [(change.change_class, change.tool) for change in changes_between(old, new)] == [
        (ChangeClass.BREAKING, "b"),
        (ChangeClass.BEHAVIOURAL, "a"),
        (ChangeClass.ADDITIVE, "c"),
    ]


def test_a_change_says_what_and_for_whom() -> None:
    typed = [{**NOTHING, "properties": {"page": {"type": name}}} for name in ("number", "integer")]
    (change,) = changes_between({"tool": tool(inputSchema=typed[0])}, {"tool": tool(inputSchema=typed[1])})

    assert (change.message, change.concerns) == (
        "The type was number and is integer, so values that fitted are refused.",
        (Side.OLD_AGENT,),
    )


def test_what_is_over_the_allowance_is_not_compared_and_counts_as_breaking() -> None:
    limits = [{**NOTHING, "properties": {"page": {"type": "integer", "maximum": limit}}} for limit in (5, 9)]
    worded = [{**NOTHING, "description": text} for text in ("Old.", "New.")]
    old, new = ({"a": tool("a", inputSchema=limits[side]), "b": tool("b", inputSchema=worded[side])} for side in (0, 1))

    first, second = changes_between(old, new, steps=0)

    assert (first.kind, first.tool, first.pointer, second.kind, second.tool) == (
        "input_undecided",
        "a",
        "/inputSchema",
        "text_changed",
        "b",
    )
    assert first.message == (
        "Old and new cannot be compared here (too many tools changed at once), so this counts as breaking."
    )


def test_a_long_text_is_quoted_in_part() -> None:
    (change,) = changes_between({"tool": tool()}, {"tool": tool(description="x" * 1000)})

    assert len(change.after) == TEXT_CHARS


def test_a_change_survives_json() -> None:
    (change,) = changes_between({"tool": tool()}, {"tool": tool(description="B.")})

    assert Change.from_json(json.loads(json.dumps(change.to_json()))) == change


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(FOUNDED, st.lists(INSTANCES, min_size=5, max_size=10))
def test_an_argument_that_was_taken_and_is_refused_is_a_breaking_change(pair: Any, values: list[Any]) -> None:
    schemas = [{**NOTHING, "properties": {"x": schema}, "$defs": schema["$defs"]} for schema in pair]
    old, new = ({"tool": tool(inputSchema=schema)} for schema in schemas)
    calls = [{"x": value} for value in values]
    refused = [call for call in calls if accepts(schemas[0], call) and not accepts(schemas[1], call)]

    breaking = [change for change in changes_between(old, new) if change.change_class is ChangeClass.BREAKING]

    assert not refused or breaking


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(FOUNDED)
def test_only_equal_catalogs_have_no_changes(pair: Any) -> None:
    old, new = ({"tool": tool(inputSchema=schema, outputSchema=schema)} for schema in pair)

    are_equal = json.dumps(stable(pair[0])) == json.dumps(stable(pair[1]))

    assert (changes_between(old, new) == ()) == are_equal
