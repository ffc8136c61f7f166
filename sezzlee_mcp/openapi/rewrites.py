"""The single rewrites that make an OpenAPI schema a JSON Schema: each takes one schema object and gives another."""

from collections.abc import Callable, Sequence
from typing import Any

from sezzlee_mcp.openapi.keywords import ANNOTATIONS, IN_PLACE, TYPES, is_number, is_of_type

NULL = {"type": "null"}
_FILE_MEDIA_TYPE = "application/octet-stream"
_ENUM_MEMBER = frozenset({"type", "enum", "title", "description", "nullable"})
_OBJECT = frozenset({"type", "properties", "required", "additionalProperties"}) | ANNOTATIONS
# Keywords that say the same wherever they stand beside others, so that two schemas can be laid over each other.
_INDEPENDENT = ANNOTATIONS | frozenset(
    {"type", "enum", "const", "format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"}
    | {"contentEncoding", "contentMediaType"}
)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; Python's own ``==`` takes true for 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return bool(one == other)


def distinct(values: Sequence[Any]) -> list[Any]:
    kept: list[Any] = []
    for value in values:
        if not any(same(value, other) for other in kept):
            kept.append(value)
    return kept


def type_list(schema: dict[str, Any]) -> list[str]:
    """The schema's types; none when it does not say."""
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def type_keyword(names: Sequence[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


def read_types(value: Any) -> list[str]:
    """The type names in a ``type`` of any shape, each once."""
    named = value if isinstance(value, list) else [value]
    return distinct([name for name in named if isinstance(name, str) and name in TYPES])


def fold_enums(schema: dict[str, Any], target: Callable[[Any], Any]) -> dict[str, Any]:
    """
    The schema with a union of enums as one enum (P33).

    drf-spectacular splits the choices of one field into components, the blank and the null one apart; it is
    that split, and no union of a host's own, when one of the members holds nothing but ``""`` and null.
    """
    for keyword in ("oneOf", "anyOf", "allOf"):
        listed = schema.get(keyword)
        if not isinstance(listed, list) or len(listed) < 2 or "enum" in schema:
            continue
        members = [target(member) for member in listed]
        if all(map(_is_enum, members)) and any(map(_is_blank_or_null, members)):
            return _folded(schema, keyword, members)
    return schema


def _is_enum(member: Any) -> bool:
    return (
        isinstance(member, dict)
        and isinstance(member.get("enum"), list)
        and all(key in _ENUM_MEMBER or key.startswith("x-") for key in member)
    )


def _is_blank_or_null(member: dict[str, Any]) -> bool:
    return all(value is None or value == "" for value in member["enum"])


def _folded(schema: dict[str, Any], keyword: str, members: list[dict[str, Any]]) -> dict[str, Any]:
    values = distinct([value for member in members for value in member["enum"]])
    nullable = None in values or any(member.get("nullable") is True for member in members)
    types = distinct([name for member in (*members, schema) for name in read_types(member.get("type"))])
    described = next((member["description"] for member in members if member.get("description")), None)
    return {
        **({} if described is None else {"description": described}),
        **{key: value for key, value in schema.items() if key != keyword},
        **({"type": types} if types else {}),
        "enum": values,
        **({"nullable": True} if nullable else {}),
    }


def open_url_or_empty(schema: dict[str, Any]) -> dict[str, Any]:
    """``oneOf`` as ``anyOf`` where a member is the empty string: it matches the other one too (P34)."""
    members = schema.get("oneOf")
    if not isinstance(members, list) or "anyOf" in schema:
        return schema
    if not any(isinstance(member, dict) and _is_empty_string(member) for member in members):
        return schema
    return {"anyOf" if key == "oneOf" else key: value for key, value in schema.items()}


def _is_empty_string(member: dict[str, Any]) -> bool:
    return member.get("type") == "string" and same(member.get("maxLength"), 0)


def numeric_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with 3.0's boolean exclusive bounds as numbers (P35)."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        flag = schema.get(exclusive)
        if not isinstance(flag, bool):
            continue
        schema = {key: value for key, value in schema.items() if key != exclusive}
        if flag and is_number(schema.get(bound)):
            schema = {exclusive if key == bound else key: value for key, value in schema.items()}
    return schema


def examples(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its ``example`` among its ``examples``."""
    if "example" not in schema:
        return schema
    listed = schema.get("examples")
    rest = {key: value for key, value in schema.items() if key != "example"}
    return {**rest, "examples": distinct([schema["example"], *(listed if isinstance(listed, list) else [])])}


def settle_format(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with file and base64 formats as JSON Schema writes them, and without a format that is a type (P42)."""
    named = schema.get("format")
    if named not in ("binary", "byte", *TYPES):
        return schema
    rest = {key: value for key, value in schema.items() if key != "format"}
    if named == "binary":
        return {"contentMediaType": _FILE_MEDIA_TYPE, **rest}
    return {"contentEncoding": "base64", **rest} if named == "byte" else rest


def untype_foreign_enum(schema: dict[str, Any], *, nullable: bool) -> dict[str, Any]:
    """The schema without type and format when its enum holds a value that is not of the type (P20)."""
    types = [*type_list(schema), *(["null"] if nullable else [])]
    if "type" not in schema or all(any(is_of_type(value, name) for name in types) for value in schema.get("enum", ())):
        return schema
    return {key: value for key, value in schema.items() if key not in {"type", "format"}}


def admit_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema that null matches too (P32)."""
    core = {key: value for key, value in schema.items() if key not in ANNOTATIONS}
    if admits_null(schema):
        return schema
    if set(core) == {"anyOf"}:
        return {**schema, "anyOf": [*schema["anyOf"], NULL]}
    if core.keys().isdisjoint(IN_PLACE | {"$ref", "const"}):
        return _with_null(schema)
    return {**{key: schema[key] for key in schema if key in ANNOTATIONS}, "anyOf": [core, NULL]}


def admits_null(schema: dict[str, Any]) -> bool:
    """Whether the schema says so itself; what a reference in it says is not asked."""
    core = {key for key in schema if key not in ANNOTATIONS}
    if core == {"anyOf"}:
        return NULL in schema["anyOf"]
    open_to_null = "type" not in schema or "null" in type_list(schema)
    return open_to_null and None in schema.get("enum", [None]) and core.isdisjoint(IN_PLACE | {"$ref", "const"})


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    types, values = type_list(schema), schema.get("enum")
    return {
        **schema,
        **({"type": [*types, "null"]} if types and "null" not in types else {}),
        **({"enum": [*values, None]} if values is not None and None not in values else {}),
    }


def refuse_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema that null does not match: a request body is never null, it is absent."""
    members = [member for member in schema.get("anyOf", ()) if member != NULL]
    if members:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        only = laid_over(members[0], rest) if len(members) == 1 and isinstance(members[0], dict) else None
        return {**schema, "anyOf": members} if only is None else only
    types = [name for name in type_list(schema) if name != "null"]
    values = [value for value in schema.get("enum", ()) if value is not None]
    return {
        **schema,
        **({"type": type_keyword(types)} if types else {}),
        **({"enum": values} if values else {}),
    }


def laid_over(base: dict[str, Any], siblings: dict[str, Any]) -> dict[str, Any] | None:
    """
    One schema for what both ask, or None when that takes two.

    The siblings' annotations win; what else they say has to be independent of all around it, and not
    to contradict the base.
    """
    for key, value in siblings.items():
        if key not in _INDEPENDENT or (key not in ANNOTATIONS and key in base and not same(base[key], value)):
            return None
    return {**base, **siblings}


def merge_objects(parts: Sequence[Any]) -> dict[str, Any] | None:
    """
    One object schema for what all ``parts`` ask, or None: a part is more than an object, or two disagree.

    Title and description are those of the first part that has one, other annotations the first part's own.
    """
    properties: dict[str, Any] = {}
    for part in parts:
        if not isinstance(part, dict) or not _is_plain_object(part):
            return None
        for name, schema in part.get("properties", {}).items():
            if not same(properties.setdefault(name, schema), schema):
                return None
    required = distinct([name for part in parts for name in part.get("required", ())])
    texts = {key: value for part in reversed(parts) for key, value in part.items() if key in {"title", "description"}}
    is_open = any("additionalProperties" in part for part in parts)
    return {
        "type": "object",
        **texts,
        **{key: value for key, value in parts[0].items() if key in ANNOTATIONS},
        "properties": properties,
        **({"required": required} if required else {}),
        **({"additionalProperties": {}} if is_open else {}),
    }


def _is_plain_object(part: dict[str, Any]) -> bool:
    others = part.get("additionalProperties", True)
    return part.keys() <= _OBJECT and part.get("type", "object") == "object" and (others is True or others == {})
