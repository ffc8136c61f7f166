import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.search.cards import card, clip, detail, parameters_line

LOADED = {
    "name": "get_order",
    "description": "One order.",
    "inputSchema": {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "required": ["id"],
        "additionalProperties": False,
    },
    "outputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}},
    "annotations": {"readOnlyHint": True},
    "version": "0123456789abcdef",
}


@pytest.mark.parametrize(
    ("text", "clipped"),
    [
        ("", ""),
        ("word", "word"),
        ("a" * 10, "a" * 10),
        ("a" * 11, "a" * 10 + "…"),
        ("aaaa bbbb cccc", "aaaa bbbb…"),
        ("aaaaaa bbbbbb", "aaaaaa…"),
        ("aaaaa bbbb ccc", "aaaaa bbbb…"),  # the words fill the budget exactly
        ("aaaaa bbbbbbbbb", "aaaaa…"),  # the space is the first character of the second half
        ("aaaa bbbbbbbbbb", "aaaa bbbbb…"),  # the space is in the first half
        (" " + "a" * 12, " aaaaaaaaa…"),
        ("aaaaaaaa\nbbbbbbb", "aaaaaaaa\nb…"),  # a line break is no space
        ("İ" * 12, "İ" * 10 + "…"),
        ("😀" * 12, "😀" * 10 + "…"),
    ],
)
def test_a_description_over_its_budget_ends_in_an_ellipsis(text, clipped):
    assert clip(text, 10) == clipped


@pytest.mark.parametrize(("length", "expected_length"), [(159, 159), (160, 160), (161, 161), (500, 161)])
def test_a_card_holds_160_characters_of_description(length, expected_length):
    assert len(clip("x" * length)) == expected_length


@given(st.text(alphabet="ab \n", max_size=60), st.integers(min_value=1, max_value=30))
def test_a_clipped_text_is_a_beginning_of_the_text(text, budget):
    clipped = clip(text, budget)

    assert clipped == text or (len(text) > budget and text.startswith(clipped[:-1]) and clipped[-1] == "…")
    assert budget / 2 <= len(clipped) - 1 <= budget or clipped == text


@pytest.mark.parametrize(
    ("properties", "required", "line"),
    [
        ({}, [], ""),
        ({"id": {"type": "integer"}}, ["id"], "id: integer (required)"),
        ({"b": {"type": "string"}, "a": {"type": "array"}}, [], "b: string, a: array"),
        ({"a": {}}, [], "a: any"),
        ({"a": {"$ref": "#/$defs/A"}}, ["a"], "a: any (required)"),
        ({"a": {"anyOf": [{"type": "string"}]}}, [], "a: any"),
        ({"a": {"type": ["string", "null"]}}, [], "a: string"),
        ({"a": {"type": ["null", "integer", "string"]}}, [], "a: integer"),
        ({"a": {"type": ["null"]}}, [], "a: any"),
        ({"a": {"type": []}}, [], "a: any"),
        ({"a": {"type": [1, None, {}, "number"]}}, [], "a: number"),
        ({"a": {"type": "null"}}, [], "a: null"),
        ({"a": {"type": 5}}, [], "a: any"),
        ({"a": True, "b": None, "c": 1, "d": []}, ["a"], "a: any (required), b: any, c: any, d: any"),
        ({"a": {}}, ["a", "a", "ghost"], "a: any (required)"),
        ({"a": {}}, [["a"], {"a": 1}, None, 1, "a"], "a: any (required)"),
        ({"a": {}}, "a", "a: any"),
        ({"a": {}}, {"a": True}, "a: any"),
        ({"a": {}}, None, "a: any"),
    ],
)
def test_parameters_are_rendered_in_one_line(properties, required, line):
    assert parameters_line({"properties": properties, "required": required}) == line


def test_integer_like_names_come_first_in_numeric_order():
    huge = "9" * 5_000  # more digits than int() reads
    names = ["b", "10", "01", "a", huge, "2", "-1", "0", "1.5", "٣", "", "100"]

    line = parameters_line({"properties": {name: {} for name in names}})

    assert [entry.removesuffix(": any") for entry in line.split(", ")] == [
        *("0", "2", "10", "100", huge),
        *("b", "01", "a", "-1", "1.5", "٣", ""),
    ]


@pytest.mark.parametrize("schema", [None, True, 1, "text", [], {}, {"properties": None}, {"properties": ["id"]}])
def test_a_schema_without_usable_properties_has_an_empty_line(schema):
    assert parameters_line(schema) == ""


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "null", "0", "10", "é"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@given(_json)
def test_there_is_a_card_for_any_json(schema):
    made = card({**LOADED, "inputSchema": schema})

    assert list(made) == ["name", "description", "parameters"]
    assert isinstance(made["parameters"], str)


@given(properties=_json, required=_json)
def test_there_is_a_card_for_any_properties_and_required(properties, required):
    assert isinstance(parameters_line({"properties": properties, "required": required}), str)


def test_a_card_has_its_members_in_order():
    made = card({**LOADED, "deprecated": True}, auth_uncertain=True)

    assert json.dumps(made) == json.dumps(
        {
            "name": "get_order",
            "description": "One order.",
            "parameters": "id: integer (required)",
            "deprecated": True,
            "authUncertain": True,
        }
    )


@pytest.mark.parametrize("project", [card, detail])
def test_flags_that_do_not_apply_are_absent(project):
    assert {"deprecated", "authUncertain"}.isdisjoint(project({**LOADED, "deprecated": False}))


def test_a_detail_has_its_members_in_order_and_nothing_else():
    tool = {"auth": {"policies": ["p"]}, "searchTerms": ["s"], "deprecated": True, **LOADED}

    made = detail(tool, auth_uncertain=True)

    assert list(made) == [
        *("name", "description", "inputSchema", "outputSchema", "annotations"),
        *("deprecated", "authUncertain", "version"),
    ]
    assert made == {**LOADED, "deprecated": True, "authUncertain": True}


def test_a_detail_keeps_a_long_description_whole():
    assert detail({**LOADED, "description": "long " * 100})["description"] == "long " * 100


def test_a_projection_leaves_its_tool_as_it_was():
    before = json.dumps(LOADED)

    card(LOADED, auth_uncertain=True)
    detail(LOADED, auth_uncertain=True)

    assert json.dumps(LOADED) == before
