"""The request body, in the one media type that is written (operations.md, "Bodies")."""

from typing import Any, Literal

from sezzlee_mcp.openapi import rewrites
from sezzlee_mcp.openapi.descriptors import Body
from sezzlee_mcp.openapi.findings import Findings, kind
from sezzlee_mcp.openapi.media_types import essence, first_json, is_media_type
from sezzlee_mcp.openapi.normalize import Direction
from sezzlee_mcp.openapi.references import Located
from sezzlee_mcp.openapi.slots import Slots

# What an undeclared `required` means: OpenAPI's false, or true for a generator that leaves it out (operations.md).
BodyRequired = Literal["declared", "always"]
_BODILESS = frozenset({"GET", "HEAD"})


def lower_body(
    operation: Located, method: str, body_required: BodyRequired, slots: Slots, findings: Findings
) -> Body | None:
    """The operation's body; None when it has none, or none that can be sent, which ``findings`` then tell."""
    declared = operation.member("requestBody")
    if declared.value is None:
        return None
    if method in _BODILESS:
        findings.add("unsupported_body_on_method", declared.at, method=method)
        return None
    body = slots.references.follow(declared, findings)
    if body is None:
        return None
    if not isinstance(body.value, dict):
        findings.add("operation_invalid", body.at, reason=f"requestBody is {kind(body.value)}, not an object")
        return None
    content = body.member("content")
    chosen = first_json(content.mapping)
    if chosen is None:
        media_types = ", ".join(content.mapping) or "it has none"
        findings.add("unsupported_media_type", content.at, media_types=media_types)
        return None
    _report_alternatives(content, chosen, findings)
    schema = _schema_of(content.member(chosen), findings)
    return _body(slots.read(schema, Direction.REQUEST, findings).schema, body.value, chosen, body_required)


def _report_alternatives(content: Located, chosen: str, findings: Findings) -> None:
    written = content.member(chosen).member("schema").value
    for media_type in content.mapping:
        alternative = content.member(media_type)
        if not rewrites.same(alternative.member("schema").value, written):
            findings.add("request_media_type_alternative_ignored", alternative.at, chosen=chosen, media_type=media_type)


def _schema_of(media: Located, findings: Findings) -> Located:
    """The media type's schema, also where it stands one media type too deep (P31)."""
    schema = media.member("schema")
    if not schema.mapping or not all(map(is_media_type, schema.mapping)):
        return schema
    nested = first_json(schema.mapping) or next(iter(schema.mapping))
    findings.add("schema_under_media_type", schema.at, media_type=nested)
    return schema.member(nested)


def _body(schema: dict[str, Any], declared: dict[str, Any], media_type: str, body_required: BodyRequired) -> Body:
    names_null = "null" in rewrites.type_list(schema) or rewrites.NULL in schema.get("anyOf", ())
    required = declared.get("required")
    return Body(
        schema=rewrites.refuse_null(schema) if names_null else schema,
        required=required if isinstance(required, bool) else body_required == "always" and not names_null,
        content_type=essence(media_type),
    )
