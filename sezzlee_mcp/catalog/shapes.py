"""What a JSON Schema says at its root, read through references: types, files, definitions in use."""

from collections.abc import Iterator, Mapping
from typing import Any

SCALARS = frozenset({"string", "integer", "number", "boolean"})
DEFINITION = "#/$defs/"
ANY = "any"
FILE = "file"


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """The types that a schema names, null aside."""
    said = schema.get("type", [])
    return [name for name in (said if isinstance(said, list) else [said]) if name != "null"]


def resolved(schema: Any, definitions: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` behind its references and behind a choice whose only other branch is null; {} for a loop."""
    seen: list[Any] = []
    while isinstance(schema, dict) and not any(schema is one for one in seen):
        seen.append(schema)
        inner = _behind(schema, definitions)
        if inner is None:
            return schema
        schema = inner
    return {}


def objects_in(schema: Any, definitions: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """
    The schemas with properties that a value may be of, or the items of a list that it may be; nothing below those.

    A schema is read once, so one that leads to itself ends.
    """
    wanted: list[Any] = [schema]
    seen: list[Any] = []
    while wanted:
        found = resolved(wanted.pop(0), definitions)
        if not found or any(found is one for one in seen):
            continue
        seen.append(found)
        if isinstance(found.get("properties"), dict):
            yield found
        for keyword in ("oneOf", "anyOf", "allOf"):
            wanted.extend(found.get(keyword, ()))
        wanted.append(found.get("items"))


def scalar_of(schema: Mapping[str, Any]) -> str:
    """The one scalar type that a schema names, or any."""
    types = types_of(schema)
    return types[0] if len(types) == 1 and types[0] in SCALARS else ANY


def references_in(schema: Any) -> Iterator[str]:
    """Every reference of a schema and of what stands below it."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for member in schema.values():
            yield from references_in(member)
    elif isinstance(schema, list):
        for item in schema:
            yield from references_in(item)


def used_definitions(schemas: list[Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The definitions that ``schemas`` lead to, in the order of ``definitions``."""
    wanted = [reference for schema in schemas for reference in references_in(schema)]
    used: set[str] = set()
    while wanted:
        name = wanted.pop().removeprefix(DEFINITION)
        if name in definitions and name not in used:
            used.add(name)
            wanted.extend(references_in(definitions[name]))
    return {name: schema for name, schema in definitions.items() if name in used}


def _behind(schema: dict[str, Any], definitions: Mapping[str, Any]) -> Any:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return definitions.get(reference.removeprefix(DEFINITION), {})
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = [branch for branch in schema.get(keyword, []) if branch != {"type": "null"}]
        if len(branches) == 1 and "type" not in schema:
            return branches[0]
    return None
