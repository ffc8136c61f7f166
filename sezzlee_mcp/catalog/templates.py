"""What composes a tool's arguments into a request: one slot per parameter, and the body."""

from collections.abc import Iterable

from sezzlee_mcp.catalog.arguments import BODY, Argument
from sezzlee_mcp.catalog.bodies import BodyPlan
from sezzlee_mcp.catalog.files import INLINE_SOURCES
from sezzlee_mcp.catalog.members import form_members, grouped_members, written_type
from sezzlee_mcp.catalog.schemas import is_success
from sezzlee_mcp.catalog.shapes import resolved
from sezzlee_mcp.catalog.tools import BodyTemplate, Exposed, Member, Slot, Template
from sezzlee_mcp.openapi.descriptors import Descriptor, Parameter
from sezzlee_mcp.openapi.media_types import is_json


def template_of(
    descriptor: Descriptor, plan: BodyPlan | None, arguments: Iterable[Argument], file_sources: tuple[str, ...]
) -> Template:
    """The template of the curated ``arguments``, which are those of the descriptor and of its body's plan."""
    endpoint = descriptor.endpoint
    exposed = {(one.location, one.name): one.exposed for one in arguments if one.exposed is not None}
    body = _body_template(plan, {name: one for (location, name), one in exposed.items() if location == BODY})
    return Template(
        method=descriptor.method,
        route=descriptor.route,
        slots=tuple(_slot(one, exposed.get((one.location, one.name))) for one in descriptor.parameters),
        body=body,
        accept=_accepted(descriptor),
        resolver_route=endpoint.route if endpoint else None,
        view=endpoint.view if endpoint else None,
        is_localized=endpoint.is_localized if endpoint else False,
        file_sources=file_sources if body is not None and body.form else INLINE_SOURCES,
    )


def _body_template(plan: BodyPlan | None, exposed: dict[str, Exposed]) -> BodyTemplate | None:
    if plan is None:
        return None
    body = plan.body
    return BodyTemplate(
        content_type=body.content_type,
        argument=plan.argument,
        properties=tuple(plan.root.get("properties", {})),
        is_open=plan.is_open,
        required=body.required,
        form=form_members(plan),
        notation=body.notation,
        file_content_type=body.file_content_type,
        exposed=exposed,
    )


def _accepted(descriptor: Descriptor) -> tuple[str, ...]:
    """The documented media types of the successful answers, JSON first."""
    documented = [kind for response in descriptor.responses if is_success(response) for kind in response.media_types]
    return tuple(sorted(dict.fromkeys(documented), key=lambda kind: not is_json(kind)))


def _slot(parameter: Parameter, exposed: Exposed | None) -> Slot:
    written, is_array, members = _written(parameter)
    return Slot(
        name=parameter.name,
        location=parameter.location,
        type=written,
        is_array=is_array,
        required=parameter.required,
        style=parameter.style,
        explode=parameter.explode,
        allow_reserved=parameter.allow_reserved,
        members=members,
        content_type=parameter.content_type,
        exposed=exposed,
        format=_format(parameter) if parameter.location == "path" else None,
    )


def _format(parameter: Parameter) -> str | None:
    said = resolved(parameter.schema, parameter.schema.get("$defs", {})).get("format")
    return said if isinstance(said, str) else None


def _written(parameter: Parameter) -> tuple[str, bool, tuple[Member, ...]]:
    """The type that is written, whether there are many of it, and the members of an object written by member."""
    if parameter.content_type is not None and is_json(parameter.content_type):
        return "json", False, ()
    definitions = parameter.schema.get("$defs", {})
    schema = resolved(parameter.schema, definitions)
    if parameter.style == "deepObject" or (parameter.location == "querystring" and "properties" in schema):
        return "object", False, tuple(grouped_members(schema, definitions))
    return *written_type(schema, definitions), ()
