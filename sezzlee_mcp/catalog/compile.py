"""The entry: descriptors and curation -> the catalog that would be published."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sezzlee_mcp.canonical import canonical_json, digest
from sezzlee_mcp.catalog.curation import Curation
from sezzlee_mcp.catalog.names import Name, Naming, name_operations
from sezzlee_mcp.catalog.resolution import Resolved, resolve
from sezzlee_mcp.catalog.schemas import BodyPlan, input_schema, output_schema, plan_body
from sezzlee_mcp.catalog.templates import template_of
from sezzlee_mcp.catalog.tools import SearchDocument, Template, Tool, version_of
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import Descriptor

# Raised with every change of what equal inputs compile to, so that no tool of an older compiler is taken over.
COMPILER = 1

_NOTHING: Mapping[str, Tool] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """
    A catalog that could be published.

    ``tools`` are sorted by name, ``selected`` holds the keys of the exposed operations, ``names`` the name of each
    tool by the key of its operation. ``diagnostics`` are sorted by operation.
    """

    tools: tuple[Tool, ...]
    selected: tuple[str, ...]
    names: Mapping[str, Name]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def by_name(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.tools}


def compile_catalog(
    descriptors: Iterable[Descriptor], curation: Curation, *, known: Mapping[str, Tool] = _NOTHING
) -> Candidate:
    """
    The tools of all exposed operations, and what was found on the way.

    ``known`` holds compiled tools by their input digest: where an operation's inputs are equal, the tool is taken
    over as it is, and what there is to say about it is found anew. An operation that cannot become a tool costs
    no other one. The order of ``descriptors`` means nothing.
    """
    present = {descriptor.key: descriptor for descriptor in descriptors}
    resolved = {key: resolve(descriptor, curation) for key, descriptor in present.items()}
    selected = tuple(sorted(key for key, fields in resolved.items() if fields.exposed.value))
    naming = name_operations((present[key] for key in selected), curation)
    made = [
        _compiled(_inputs(present[key], resolved[key], naming, curation), known)
        for key in selected
        if key in naming.names
    ]
    return Candidate(
        tools=tuple(sorted((one.tool for one in made if one.tool is not None), key=lambda tool: tool.name)),
        selected=selected,
        names={one.tool.operation: naming.names[one.tool.operation] for one in made if one.tool is not None},
        diagnostics=_ordered(
            *(finding for fields in resolved.values() for finding in fields.selection_diagnostics),
            *naming.diagnostics,
            *(finding for one in made for finding in one.diagnostics),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """Everything that one tool is made of."""

    descriptor: Descriptor
    resolved: Resolved
    name: str
    alternate_routes: tuple[str, ...]
    budget_bytes: int | None
    limit_bytes: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    """One operation's tool, or None when a diagnostic says that it can be none."""

    tool: Tool | None
    diagnostics: tuple[Diagnostic, ...]


def _inputs(descriptor: Descriptor, resolved: Resolved, naming: Naming, curation: Curation) -> _Inputs:
    staff = curation.of(descriptor.key)
    name = naming.names[descriptor.key].value
    alternate_routes = naming.alternate_routes[descriptor.key]
    return _Inputs(
        descriptor=descriptor,
        resolved=resolved,
        name=name,
        alternate_routes=alternate_routes,
        budget_bytes=staff.budget_bytes,
        limit_bytes=curation.budget_bytes if staff.budget_bytes is None else staff.budget_bytes,
        digest=digest([COMPILER, descriptor.to_json(), staff.to_json(), name, list(alternate_routes)]),
    )


def _compiled(inputs: _Inputs, known: Mapping[str, Tool]) -> _Compiled:
    plan = plan_body(inputs.descriptor)
    made = known.get(inputs.digest) or _tool(inputs, plan)
    if isinstance(made, Diagnostic):
        return _Compiled(tool=None, diagnostics=(made,))
    return _Compiled(tool=made, diagnostics=tuple(_warnings(inputs, made, plan)))


def _tool(inputs: _Inputs, plan: BodyPlan | None) -> Tool | Diagnostic:
    descriptor = inputs.descriptor
    accepted = input_schema(descriptor, plan)
    if isinstance(accepted, Diagnostic):
        return accepted
    template = template_of(descriptor, plan)
    return Tool(
        name=inputs.name,
        operation=descriptor.key,
        loaded=_loaded(inputs, accepted),
        template=template,
        document=_document(inputs, accepted, template),
        auth=descriptor.auth,
        budget_bytes=inputs.budget_bytes,
        input_digest=inputs.digest,
    )


def _loaded(inputs: _Inputs, accepted: dict[str, Any]) -> dict[str, Any]:
    fields, descriptor = inputs.resolved, inputs.descriptor
    returned = output_schema(descriptor.responses)
    title = {"title": fields.title.value} if fields.title.value else {}
    loaded = {
        "name": inputs.name,
        "description": fields.description.value,
        "inputSchema": accepted,
        **({} if returned is None else {"outputSchema": returned}),
        "annotations": {**title, **fields.annotations.value},
        **({"deprecated": True} if descriptor.deprecated else {}),
    }
    return {**loaded, "version": version_of(loaded)}


def _document(inputs: _Inputs, accepted: dict[str, Any], template: Template) -> SearchDocument:
    return SearchDocument(
        name=inputs.name,
        description=inputs.resolved.description.value,
        search_terms=inputs.resolved.search_terms.value,
        tags=inputs.resolved.tags.value,
        route=template.route,
        alternate_routes=inputs.alternate_routes,
        parameters=tuple(_searched_parameters(accepted["properties"], template)),
    )


def _searched_parameters(properties: dict[str, Any], template: Template) -> Iterator[str]:
    members = {slot.name: slot.members for slot in template.slots}
    for name, schema in properties.items():
        yield name
        description = schema.get("description") if isinstance(schema, dict) else None
        if isinstance(description, str) and description:
            yield description
        yield from (f"{name}.{member.name}" for member in members.get(name, ()))


def _warnings(inputs: _Inputs, tool: Tool, plan: BodyPlan | None) -> Iterator[Diagnostic]:
    operation = inputs.descriptor.key
    yield from inputs.resolved.diagnostics
    if plan is not None and plan.diagnostic is not None:
        yield plan.diagnostic
    size = len(canonical_json(tool.loaded))
    if size > inputs.limit_bytes:
        yield diagnose("tool_over_budget", operation=operation, bytes=size, limit=inputs.limit_bytes)
    if tool.template.resolver_route is None:
        yield diagnose("not_invocable", operation=operation)


def _ordered(*findings: Diagnostic) -> tuple[Diagnostic, ...]:
    return tuple(sorted(findings, key=lambda one: (one.operation, one.code, one.message)))
