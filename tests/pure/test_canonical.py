"""tools.md, "version": equal values have one text, whatever their order and whoever shares their parts."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.canonical import Writer, canonical_json, digest

_KEYS = st.sampled_from(["$defs", "enum", "required", "type", "properties", "a", "é", "\\"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": [1, 2.5, None], "a": {"é": True}}, '{"a":{"é":true},"b":[1,2.5,null]}'),
        ({"enum": ["b", 3, "a", None]}, '{"enum":["a","b",3,null]}'),
        ({"required": ["b", "a"], "items": ["b", "a"]}, '{"items":["b","a"],"required":["a","b"]}'),
        ({"properties": {"type": {"type": ["string", "null"]}}}, '{"properties":{"type":{"type":["null","string"]}}}'),
        ({"$defs": {"B": {"enum": [2, 1]}, "A": {}}}, '{"$defs":{"A":{},"B":{"enum":[1,2]}}}'),
        ({"default": "<function f at 0x7fa2>"}, '{"default":"<function f>"}'),
        ({"$defs": "no definitions"}, '{"$defs":"no definitions"}'),
    ],
)
def test_settled_text_has_no_order_that_means_nothing(value: Any, text: str) -> None:
    assert Writer().settled(value) == text
    assert digest(value) == hashlib.sha256(text.encode()).hexdigest()


def test_text_in_order_is_the_json_as_it_stands() -> None:
    value = {"b": 1, "$defs": {"B": {"enum": [2, 1]}, "A": "at 0x1"}, "a": [{"type": ["b", "a"]}]}
    assert Writer().in_order(value) == '{"b":1,"$defs":{"B":{"enum":[2,1]},"A":"at 0x1"},"a":[{"type":["b","a"]}]}'


@given(st.lists(_VALUES, max_size=3), _VALUES)
def test_shared_definitions_change_no_text(values: list[Any], shared: Any) -> None:
    writer = Writer()
    for value in values:
        schema = {"of": value, "$defs": {"shared": shared, "own": value}}
        assert writer.settled(schema) == Writer().settled(json.loads(json.dumps(schema)))
        assert writer.in_order(schema) == json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


@given(_VALUES)
def test_settled_text_of_a_settled_value_is_its_canonical_json(value: Any) -> None:
    once = json.loads(Writer().settled(value))
    assert Writer().settled(once).encode() == canonical_json(once)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_number_that_json_cannot_write_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        Writer().settled({"a": number})
