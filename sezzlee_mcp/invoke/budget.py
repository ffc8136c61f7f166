"""What is said about an answer that is over its budget: its shape, and the arguments that make it smaller."""

from collections.abc import Iterable, Mapping
from typing import Any

from sezzlee_mcp.errors import FieldProblem
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.search.tokens import tokenize

FIELDS_LISTED = 8
# The words of a property's name, as search splits them; the first set comes first (invoke.md, "Budget").
_HOW_MUCH = frozenset(tokenize("limit top take max count size page per"))
_WHICH = frozenset(tokenize("offset skip cursor after before filter query search field select since from until status"))


def shape_of(value: Any) -> dict[str, Any]:
    """``{kind, count?}`` of a JSON value, counted at its top; a text counts in UTF-16 units, a scalar not at all."""
    if isinstance(value, list):
        return {"kind": "array", "count": len(value)}
    if isinstance(value, Mapping):
        return {"kind": "object", "count": len(value)}
    if isinstance(value, str):
        return {"kind": "text", "count": len(value.encode("utf-16-le", "surrogatepass")) // 2}
    return {"kind": "text"}


def shape_of_start(text: str) -> dict[str, Any]:
    """The shape of a body of which only the start was read: its kind, told by the first character."""
    return {"kind": {"[": "array", "{": "object"}.get(text.lstrip()[:1], "text")}


def narrowing(input_schema: Mapping[str, Any]) -> tuple[FieldProblem, ...]:
    """The arguments of a tool that make its answer smaller, with their descriptions; at most 8."""
    words = {name: set(tokenize(name)) for name in _properties(input_schema)}
    how_much = [name for name, of_name in words.items() if of_name & _HOW_MUCH]
    which = [name for name, of_name in words.items() if of_name & _WHICH and name not in how_much]
    return described(input_schema, [*how_much, *which][:FIELDS_LISTED])


def described(input_schema: Mapping[str, Any], names: Iterable[str]) -> tuple[FieldProblem, ...]:
    """The named arguments with their descriptions, in the given order."""
    properties = _properties(input_schema)
    return tuple(FieldProblem(name=name, message=_description(properties[name])) for name in names)


def _properties(input_schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = input_schema.get("properties", {})
    return properties


def _description(schema: Any) -> str:
    text = schema.get("description") if isinstance(schema, Mapping) else None
    return text if isinstance(text, str) and text.strip() else messages.UNDESCRIBED_ARGUMENT
