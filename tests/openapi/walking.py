"""The references of a JSON Schema: those in schema positions, not those inside of enum values or examples."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

_ONE = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_ONE_MORE = ("contentSchema", "unevaluatedItems", "unevaluatedProperties")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs")


def references(schema: Any) -> Iterator[str]:
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            continue
        if "$ref" in part:
            yield part["$ref"]
        waiting += [part[key] for key in (*_ONE, *_ONE_MORE) if key in part]
        waiting += [item for key in _LISTS for item in part.get(key, ())]
        waiting += [item for key in _MAPS for item in part.get(key, {}).values()]


def dangling(schema: dict[str, Any]) -> set[str]:
    """The references that do not lead to a key of the schema's own ``$defs``."""
    bag = schema.get("$defs", {})
    return {reference for reference in references(schema) if _definition(reference) not in bag}


def _definition(reference: str) -> str | None:
    if not reference.startswith("#/$defs/"):
        return None
    return unquote(reference.removeprefix("#/$defs/")).replace("~1", "/").replace("~0", "~")
