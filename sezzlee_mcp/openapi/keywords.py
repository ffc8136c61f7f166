"""Which keywords JSON Schema 2020-12 has, where each holds schemas, and which values it may have."""

import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")

# Keywords that hold one schema, a list of schemas, or schemas by name; "in place" ones describe the same value.
ONE_SCHEMA = frozenset(
    {"items", "additionalProperties", "contains", "propertyNames", "contentSchema", "unevaluatedItems"}
    | {"unevaluatedProperties", "not", "if", "then", "else"}
)
SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SCHEMA_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})

# They say something about a value and leave valid what is valid.
ANNOTATIONS = frozenset({"title", "description", "examples", "deprecated", "readOnly", "writeOnly", "$comment"})
# Identification: references are by pointer here, and $defs are rebuilt per slot. A default is never published.
DROPPED = frozenset({"$id", "$schema", "$anchor", "$dynamicAnchor", "$vocabulary", "$defs", "definitions", "default"})


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    return is_number(value) and (isinstance(value, int) or value.is_integer())


def _is_count(value: Any) -> bool:
    return is_integer(value) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


@lru_cache(maxsize=4096)
def _compiles(pattern: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "possible nested set" and the like: about style, not validity
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError):
            return False
    return True


def is_pattern(value: Any) -> bool:
    return isinstance(value, str) and _compiles(value)


def _are_names_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(names, list) and all(map(_is_text, names)) and len(set(names)) == len(names)
        for names in value.values()
    )


def _is_positive(value: Any) -> bool:
    return is_number(value) and value > 0


def _is_any(value: Any) -> bool:
    return True


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _holds_something(value: Any) -> bool:
    return isinstance(value, list) and bool(value)  # no value is in an empty enum: its choices are not known yet


# keyword -> whether a value is one that it may have
VALUES: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("minContains", "maxContains"), _is_count),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _is_flag),
    **dict.fromkeys(("title", "description", "$comment", "format", "contentEncoding", "contentMediaType"), _is_text),
    "pattern": is_pattern,
    "multipleOf": _is_positive,
    "dependentRequired": _are_names_by_name,
    "const": _is_any,
    "enum": _holds_something,
    "examples": _is_list,
}


def is_of_type(value: Any, name: str) -> bool:
    """Whether JSON Schema counts ``value`` among the values of the type."""
    if name in ("number", "integer"):
        return is_number(value) if name == "number" else is_integer(value)
    kinds = {"array": list, "boolean": bool, "null": type(None), "object": dict, "string": str}
    return isinstance(value, kinds[name])


def misused(schema: Any) -> str | None:
    """The first keyword, of the schema or of one within, whose value JSON Schema does not allow; None when all hold."""
    if not isinstance(schema, dict):
        return None
    for keyword, value in schema.items():
        if not _may_have(keyword, value):
            return str(keyword)
        for inner in _schemas_under(keyword, value):
            if not isinstance(inner, dict | bool):
                return str(keyword)
            if found := misused(inner):
                return found
    return None


def _may_have(keyword: str, value: Any) -> bool:
    if keyword == "type":
        names = value if isinstance(value, list) else [value]
        return bool(names) and all(name in TYPES for name in names)
    if keyword == "required":
        return isinstance(value, list) and all(map(_is_text, value))
    if keyword == "$ref":
        return _is_text(value)
    if keyword in SCHEMA_LISTS:
        return _holds_something(value)
    if keyword in SCHEMA_MAPS or keyword == "$defs":
        return isinstance(value, dict)
    return keyword not in VALUES or VALUES[keyword](value)


def _schemas_under(keyword: str, value: Any) -> list[Any]:
    if keyword in ONE_SCHEMA:
        return [value]
    if keyword in SCHEMA_LISTS:
        return list(value)
    return list(value.values()) if keyword in SCHEMA_MAPS or keyword == "$defs" else []
