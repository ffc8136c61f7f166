"""How an agent sends a file: the published schema of a file argument (invoke.md, "File arguments")."""

from collections.abc import Mapping
from typing import Any

from sezzlee_mcp.openapi.forms import is_file

INLINE_SOURCES = ("text", "base64")
REFERENCE = "ref"

_SOURCES: Mapping[str, dict[str, Any]] = {
    "text": {"type": "string", "description": "The content, for a file that is text."},
    "base64": {
        "type": "string",
        "contentEncoding": "base64",
        "description": "The content in base64 with its padding, on one line.",
    },
    "ref": {"type": "string", "description": "A name under which this server already knows the file."},
}
_SUBSCHEMAS = frozenset({"items", "additionalProperties", "contains", "not", "if", "then", "else"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_MAPS = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})


def with_file_arguments(schema: Any, name: str, sources: tuple[str, ...]) -> Any:
    """
    ``schema`` with each file in it as the object that an agent sends instead; ``name`` is that of the nearest field.

    A schema without a file comes back as it is.
    """
    if is_file(schema):
        return _file_argument(schema, name, sources)
    if not isinstance(schema, dict):
        return schema
    written = {keyword: _within(keyword, value, name, sources) for keyword, value in schema.items()}
    return schema if all(written[keyword] is value for keyword, value in schema.items()) else written


def _within(keyword: str, value: Any, name: str, sources: tuple[str, ...]) -> Any:
    if keyword in _SUBSCHEMAS:
        return with_file_arguments(value, name, sources)
    if keyword in _LISTS and isinstance(value, list):
        items = [with_file_arguments(item, name, sources) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if keyword in _MAPS and isinstance(value, dict):
        members = {key: with_file_arguments(member, key, sources) for key, member in value.items()}
        return value if all(members[key] is member for key, member in value.items()) else members
    return value


def _file_argument(schema: dict[str, Any], name: str, sources: tuple[str, ...]) -> dict[str, Any]:
    described = {"description": schema["description"]} if "description" in schema else {}
    media_type = schema["contentMediaType"]
    return {
        "type": "object",
        **described,
        "properties": {
            **{source: _SOURCES[source] for source in sources},
            "name": {"type": "string", "description": f"What the file is called; {name!r} when left out."},
            "mediaType": {"type": "string", "description": f"The type of the content; {media_type} when left out."},
        },
        "additionalProperties": False,
        "oneOf": [{"required": [source]} for source in sources],
    }
