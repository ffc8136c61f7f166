"""How a request body becomes arguments: field by field, or whole (tools.md, "inputSchema")."""

from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.catalog.files import with_file_arguments
from sezzlee_mcp.catalog.shapes import types_of
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import Body, Descriptor
from sezzlee_mcp.openapi.forms import is_file

BODY_ARGUMENT = "body"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

_SHAPE = frozenset({"type", "properties", "required", "additionalProperties", "$defs"})
_ANNOTATIONS = frozenset(
    {"description", "title", "$schema", "$comment", "example", "examples"}
    | {"default", "deprecated", "readOnly", "writeOnly"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyPlan:
    """
    How a body becomes arguments: its fields (``argument`` is None) or one argument that holds it whole, and why.

    ``schema`` is what an agent reads of the body: its own, with each file as the object that is sent instead.
    """

    body: Body
    schema: dict[str, Any]
    argument: str | None = None
    diagnostic: Diagnostic | None = None

    @property
    def root(self) -> dict[str, Any]:
        """The part of the body's schema that is the root of the arguments too: all of it, or nothing."""
        return self.schema if self.argument is None else {}

    @property
    def is_open(self) -> bool:
        """Whether fields that no argument stands for pass."""
        return self.root.get("additionalProperties", False) is not False


def plan_body(descriptor: Descriptor, file_sources: tuple[str, ...]) -> BodyPlan | None:
    """The first reason that keeps the body whole, if any; decided on the wire names. None: there is no body."""
    body = descriptor.body
    if body is None:
        return None
    diagnostic = _reason(descriptor, body)
    argument = None if diagnostic is None else BODY_ARGUMENT
    schema = with_file_arguments(body.schema, BODY_ARGUMENT, file_sources) if carries_files(body) else body.schema
    return BodyPlan(body=body, schema=schema, argument=argument, diagnostic=diagnostic)


def is_form(body: Body) -> bool:
    return body.content_type in {URLENCODED, MULTIPART} or body.file_content_type is not None


def carries_files(body: Body) -> bool:
    """Whether a file of the schema travels as bytes: in a form, or as the whole body."""
    return is_form(body) or is_file(body.schema)


def _reason(descriptor: Descriptor, body: Body) -> Diagnostic | None:
    if "type" in body.schema and "object" not in types_of(body.schema):
        return diagnose("synthetic_body_argument", operation=descriptor.key)
    reason = _obstacle(body.schema)
    if reason is not None:
        return diagnose("unflattenable_body_root", operation=descriptor.key, reason=reason)
    if not body.required:
        return diagnose("optional_body_argument", operation=descriptor.key)
    fields = body.schema.get("properties", {})
    shared = [parameter.name for parameter in descriptor.parameters if parameter.name in fields]
    if shared:
        names = ", ".join(dict.fromkeys(shared))
        return diagnose("body_field_collision", operation=descriptor.key, names=names)
    return None


def _obstacle(schema: dict[str, Any]) -> str | None:
    """What keeps the fields of an object from becoming arguments."""
    if schema.get("type", "object") != "object":
        return "it may be more than an object"
    foreign = sorted(key for key in schema if key not in _SHAPE | _ANNOTATIONS and not key.startswith("x-"))
    if foreign:
        return f"its root has {', '.join(foreign)}"
    if "properties" not in schema and schema.get("additionalProperties", False) is False:
        return "it declares no fields"
    return None
