"""What a form's ``encoding`` asks of its fields (operations.md, "Bodies")."""

from typing import Any

from sezzlee_mcp.openapi.findings import Findings, kind
from sezzlee_mcp.openapi.forms import Form, is_file
from sezzlee_mcp.openapi.media_types import TEXT, essence, is_concrete
from sezzlee_mcp.openapi.references import Located

_AS_WRITTEN = {"style": "form", "explode": True, "headers": {}}


def with_encoding(schema: dict[str, Any], encoding: Located, findings: Findings) -> dict[str, Any]:
    """The form's schema with the media types of its files; what no form is written with goes to ``findings``."""
    properties = dict(schema.get("properties", {}))
    for name, field in Form(schema=schema).fields.items():
        declared = encoding.member(name)
        if declared.value is None:
            continue
        reason = _unwritable(declared, field)
        if reason is not None:
            findings.add("unsupported_encoding", declared.at, name=name, reason=reason)
        elif name in properties and (media_type := declared.value.get("contentType")) is not None:
            properties[name] = _with_media_type(properties[name], media_type)
    return {**schema, "properties": properties} if encoding.mapping and properties else schema


def _unwritable(declared: Located, field: dict[str, Any]) -> str | None:
    if not isinstance(declared.value, dict):
        return f"it is {kind(declared.value)}, not an object"
    for key, written in _AS_WRITTEN.items():
        if declared.value.get(key) not in (None, written):
            return f"its {key} is not written"
    media_type = declared.value.get("contentType")
    if media_type is None or _holds_file(field):
        return None if isinstance(media_type, str | None) else f"its contentType is {kind(media_type)}"
    if not isinstance(media_type, str) or essence(media_type) != TEXT or _is_object(field):
        return f"a field that is no file is not written as {media_type}"
    return None


def _holds_file(field: dict[str, Any]) -> bool:
    return is_file(field) or is_file(field.get("items"))


def _is_object(field: dict[str, Any]) -> bool:
    return field.get("type") == "object" or "properties" in field


def _with_media_type(field: dict[str, Any], media_type: str) -> dict[str, Any]:
    """The file field with its media type; a list or range of them leaves the choice to the call."""
    if not is_concrete(media_type) or "," in media_type:
        return field
    if is_file(field):
        return {**field, "contentMediaType": essence(media_type)}
    if is_file(field.get("items")):
        return {**field, "items": {**field["items"], "contentMediaType": essence(media_type)}}
    members = field.get("anyOf", ())
    return {**field, "anyOf": [_with_media_type(member, media_type) for member in members]} if members else field
