"""Whether the constant of a hidden argument fits its place (curation.md, ``invalid_fill_constant``)."""

from collections.abc import Callable, Mapping
from typing import Any

from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.catalog.changes import clipped
from sezzlee_mcp.catalog.shapes import DEFINITION

_UNSENDABLE_IN_HEADER = ("\r", "\n", "\0")
_NO_SEGMENTS = frozenset({"", ".", ".."})
_WORDS = frozenset({"title", "description", "default", "examples", "$comment"})
_DEPTH = 64  # a schema that leads deeper than a constant of staff's ever goes leads in a circle


def misfit(value: Any, location: str, schema: Any, definitions: Mapping[str, Any]) -> str:
    """Why an argument of that schema cannot be filled with the value there; empty where it can."""
    if not _is_writable(value, location):
        return f"no {location} of a request can carry it"
    return "" if _fits(value, schema, definitions) else f"the operation takes {_asked(schema, definitions)}"


def _asked(schema: Any, definitions: Mapping[str, Any]) -> str:
    """The schema in a line, or what it refers to, without the words about it."""
    reference = schema.get("$ref") if isinstance(schema, dict) else None
    meant = definitions.get(reference.removeprefix(DEFINITION), schema) if isinstance(reference, str) else schema
    rules = {key: meant[key] for key in meant if key not in _WORDS} if isinstance(meant, dict) else meant
    return clipped(canonical_json(rules).decode())


def _is_writable(value: Any, location: str) -> bool:
    """Whether any request can carry the value there, whatever its schema says."""
    if location == "body":
        return True
    if value is None:
        return False
    texts = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]
    if location == "path":
        return value != [] and not any(text in _NO_SEGMENTS for text in texts)
    return location != "header" or not any(mark in text for text in texts for mark in _UNSENDABLE_IN_HEADER)


def _fits(value: Any, schema: Any, definitions: Mapping[str, Any], depth: int = _DEPTH) -> bool:
    """Whether the value has the type, the choice and the members that the schema asks for."""
    if isinstance(schema, bool) or not isinstance(schema, dict):
        return schema is not False
    if depth == 0:
        return False

    def agrees(part: Any, inner: Any) -> bool:
        return _fits(part, inner, definitions, depth - 1)

    reference = schema.get("$ref")
    if isinstance(reference, str) and not agrees(value, definitions.get(reference.removeprefix(DEFINITION), {})):
        return False
    return _is_of_type(value, schema) and _is_a_choice(value, schema) and _has_parts(value, schema, agrees)


def _is_of_type(value: Any, schema: Mapping[str, Any]) -> bool:
    said = schema.get("type")
    if said is None:
        return True
    return any(_is_a(value, name) for name in (said if isinstance(said, list) else [said]))


def _is_a(value: Any, name: str) -> bool:
    if name == "boolean":
        return isinstance(value, bool)
    if name == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if name == "integer":
        return _is_a(value, "number") and (isinstance(value, int) or value.is_integer())
    kinds: dict[str, type] = {"string": str, "array": list, "object": dict, "null": type(None)}
    return isinstance(value, kinds[name])


def _is_a_choice(value: Any, schema: Mapping[str, Any]) -> bool:
    if "const" in schema and canonical_json(schema["const"]) != canonical_json(value):
        return False
    if "enum" not in schema:
        return True
    return canonical_json(value) in {canonical_json(choice) for choice in schema["enum"]}


def _has_parts(value: Any, schema: Mapping[str, Any], agrees: Callable[[Any, Any], bool]) -> bool:
    if not all(agrees(value, branch) for branch in schema.get("allOf", ())):
        return False
    if "anyOf" in schema and not any(agrees(value, branch) for branch in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(agrees(value, branch) for branch in schema["oneOf"]) != 1:
        return False
    if isinstance(value, list):
        return all(agrees(item, schema.get("items", True)) for item in value)
    return not isinstance(value, dict) or _has_members(value, schema, agrees)


def _has_members(value: dict[str, Any], schema: Mapping[str, Any], agrees: Callable[[Any, Any], bool]) -> bool:
    declared, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    return set(schema.get("required", ())) <= value.keys() and all(
        agrees(member, declared.get(name, others)) for name, member in value.items()
    )
