"""What composes a tool's arguments into a request: one slot per parameter, and the body."""

from collections.abc import Iterator
from typing import Any

from sezzlee_mcp.catalog.schemas import BodyPlan, is_success, types_of
from sezzlee_mcp.catalog.tools import BodyTemplate, Member, Slot, Template
from sezzlee_mcp.openapi.descriptors import Descriptor, Parameter

_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_ANY = "any"
_DEFINITION = "#/$defs/"


def template_of(descriptor: Descriptor, plan: BodyPlan | None) -> Template:
    endpoint = descriptor.endpoint
    return Template(
        method=descriptor.method,
        route=descriptor.route,
        slots=tuple(_slot(parameter) for parameter in descriptor.parameters),
        body=_body_template(plan) if plan else None,
        accept=_accepted(descriptor),
        resolver_route=endpoint.route if endpoint else None,
        view=endpoint.view if endpoint else None,
        is_localized=endpoint.is_localized if endpoint else False,
    )


def _body_template(plan: BodyPlan) -> BodyTemplate:
    content_type = plan.body.content_type
    if plan.argument is not None:
        return BodyTemplate(content_type=content_type, argument=plan.argument, required=plan.body.required)
    return BodyTemplate(
        content_type=content_type,
        properties=tuple(plan.root.get("properties", {})),
        is_open=plan.root.get("additionalProperties", False) is not False,
    )


def _accepted(descriptor: Descriptor) -> tuple[str, ...]:
    """The documented media types of the successful answers, JSON first."""
    documented = [kind for response in descriptor.responses if is_success(response) for kind in response.media_types]
    return tuple(sorted(dict.fromkeys(documented), key=lambda kind: not _is_json(kind)))


def _is_json(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower().endswith(("/json", "+json"))


def _slot(parameter: Parameter) -> Slot:
    definitions = parameter.schema.get("$defs", {})
    schema = _resolved(parameter.schema, definitions)
    is_grouped = parameter.style == "deepObject"
    written = ("object", False) if is_grouped else _written_type(schema, definitions)
    return Slot(
        name=parameter.name,
        location=parameter.location,
        type=written[0],
        is_array=written[1],
        required=parameter.required,
        style=parameter.style,
        explode=parameter.explode,
        allow_reserved=parameter.allow_reserved,
        members=tuple(_members(schema, definitions)) if is_grouped else (),
    )


def _members(schema: dict[str, Any], definitions: dict[str, Any]) -> Iterator[Member]:
    for name, declared in schema.get("properties", {}).items():
        written, is_array = _written_type(_resolved(declared, definitions), definitions)
        yield Member(name=name, type=written, is_array=is_array)


def _written_type(schema: dict[str, Any], definitions: dict[str, Any]) -> tuple[str, bool]:
    """The scalar type that a value of ``schema`` is written as, and whether there are many of it."""
    if types_of(schema) == ["array"]:
        return _scalar(_resolved(schema.get("items", {}), definitions)), True
    return _scalar(schema), False


def _scalar(schema: dict[str, Any]) -> str:
    types = types_of(schema)
    return types[0] if len(types) == 1 and types[0] in _SCALARS else _ANY


def _resolved(schema: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """``schema`` behind its references and behind a choice whose only other branch is null; {} for a loop."""
    seen: list[Any] = []
    while isinstance(schema, dict) and not any(schema is one for one in seen):
        seen.append(schema)
        inner = _behind(schema, definitions)
        if inner is None:
            return schema
        schema = inner
    return {}


def _behind(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return definitions.get(reference.removeprefix(_DEFINITION), {})
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = [branch for branch in schema.get(keyword, []) if branch != {"type": "null"}]
        if len(branches) == 1 and "type" not in schema:
            return branches[0]
    return None
