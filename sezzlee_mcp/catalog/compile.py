"""The entry: descriptors and curation -> the catalog that would be published."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol

from sezzlee_mcp.canonical import canonical_json, digest
from sezzlee_mcp.catalog.arguments import Argument, curated, refusals, wire_arguments
from sezzlee_mcp.catalog.bodies import BodyPlan, plan_body
from sezzlee_mcp.catalog.curation import Curation, Variant
from sezzlee_mcp.catalog.files import INLINE_SOURCES, REFERENCE
from sezzlee_mcp.catalog.leaks import curation_warnings
from sezzlee_mcp.catalog.names import Name, Naming, name_operations
from sezzlee_mcp.catalog.records import Records, records_of, rules_on
from sezzlee_mcp.catalog.resolution import Resolved, resolve
from sezzlee_mcp.catalog.schemas import input_schema, output_schema
from sezzlee_mcp.catalog.templates import template_of
from sezzlee_mcp.catalog.tools import SearchDocument, Slot, Template, Tool, version_of
from sezzlee_mcp.catalog.variants import body_refusals, described_by, family_refusals, records_by_name
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import Descriptor

# Raised with every change of what equal inputs compile to, so that no tool of an older compiler is taken over.
COMPILER = 3

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Known(Protocol):
    """A compiled tool as far as a compile reads it, so that a published one need not be unpacked."""

    @property
    def name(self) -> str: ...
    @property
    def operation(self) -> str: ...
    @property
    def input_digest(self) -> str: ...
    @property
    def content_digest(self) -> str: ...
    @property
    def loaded(self) -> dict[str, Any]: ...
    @property
    def loaded_bytes(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """
    A catalog that could be published.

    ``tools`` are sorted by name, each a Tool unless it was known before. ``selected`` holds the keys of the exposed
    operations, ``names`` the name of each tool by the key of its operation, variants apart. ``diagnostics`` are
    sorted by operation.
    """

    tools: tuple[Known, ...]
    selected: tuple[str, ...]
    names: Mapping[str, Name]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def by_name(self) -> dict[str, Known]:
        return {tool.name: tool for tool in self.tools}


def compile_catalog(
    descriptors: Iterable[Descriptor],
    curation: Curation,
    *,
    known: Mapping[str, Known] = _NOTHING,
    digests: Mapping[str, str] = _NOTHING,
) -> Candidate:
    """
    The tools of all exposed operations, and what was found on the way.

    ``known`` holds compiled tools by their input digest: where an operation's inputs are equal, the tool is taken
    over as it is, and what there is to say about it is found anew. ``digests`` holds those of descriptors, by key,
    that were computed before. An operation that cannot become a tool costs no other one. The order of
    ``descriptors`` means nothing.
    """
    present = {descriptor.key: descriptor for descriptor in descriptors}
    resolved = {key: resolve(descriptor, curation) for key, descriptor in present.items()}
    selected = tuple(sorted(key for key, fields in resolved.items() if fields.exposed.value))
    naming = name_operations((present[key] for key in selected), curation)
    families = {key: tuple(_family_refusals(present[key], resolved[key])) for key in selected}
    made = [
        _compiled(inputs, known)
        for key in selected
        if not families[key]
        for inputs in _tools_of(present[key], digests.get(key), resolved[key], naming, curation)
    ]
    own = {one.tool.operation for one in made if one.tool is not None}
    return Candidate(
        tools=tuple(sorted((one.tool for one in made if one.tool is not None), key=lambda tool: tool.name)),
        selected=selected,
        names={key: name for key, name in naming.names.items() if key in own},
        diagnostics=_ordered(
            *(finding for fields in resolved.values() for finding in fields.selection_diagnostics),
            *naming.diagnostics,
            *(finding for found in families.values() for finding in found),
            *(finding for one in made for finding in one.diagnostics),
            *_indistinguishable(made),
            *_unused(present, resolved, naming),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """Everything that one tool is made of; ``descriptor`` has a family member's own body."""

    descriptor: Descriptor
    operation: Descriptor
    operation_digest: str
    resolved: Resolved
    variant: Variant | None
    name: str
    curation: Curation
    alternate_routes: tuple[str, ...]

    @property
    def description(self) -> str:
        return self.resolved.description.value if self.variant is None else self.variant.description

    @property
    def budget_bytes(self) -> int | None:
        return self.curation.of(self.operation.key).budget_bytes

    @property
    def file_sources(self) -> tuple[str, ...]:
        return (*INLINE_SOURCES, REFERENCE) if self.curation.resolves_files else INLINE_SOURCES

    def digest(self) -> str:
        """The digest of all that compilation reads, so that equal inputs are not compiled again."""
        rules = rules_on(self.operation.route, self.curation.argument_rules)
        return digest(
            [
                COMPILER,
                self.operation_digest,
                replace(self.curation.of(self.operation.key), variants=()).to_json(),
                self.variant and self.variant.to_json(),
                self.name,
                list(self.alternate_routes),
                [rule.to_json() for rule in rules],
                sorted(self.curation.fill_sources),
                self.curation.resolves_files,
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    """What the tool's arguments come to, read by its schema and by its template."""

    plan: BodyPlan | None
    curated: tuple[Argument, ...]
    records: Records
    refusals: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    """One tool, or None when a diagnostic says that there can be none."""

    tool: Known | None
    diagnostics: tuple[Diagnostic, ...]
    is_variant: bool


def _tools_of(
    descriptor: Descriptor, known_digest: str | None, resolved: Resolved, naming: Naming, curation: Curation
) -> Iterator[_Inputs]:
    key = descriptor.key
    operation_digest = known_digest or digest(descriptor.to_json())
    own = [(None, naming.names[key].value)] if key in naming.names else []
    kept = naming.variants.get(key, ())
    split = [(variant, variant.name) for variant in resolved.variants.value if variant.name in kept]
    for variant, name in (*own, *split):
        yield _Inputs(
            descriptor=descriptor if variant is None else described_by(descriptor, variant),
            operation=descriptor,
            operation_digest=operation_digest,
            resolved=resolved,
            variant=variant,
            name=name,
            curation=curation,
            alternate_routes=naming.alternate_routes[key],
        )


def _family_refusals(descriptor: Descriptor, resolved: Resolved) -> Iterator[Diagnostic]:
    parameter = resolved.family_parameter.value
    if parameter:
        yield from family_refusals(descriptor, parameter, resolved.variants.value, resolved.arguments.value)


def _compiled(inputs: _Inputs, known: Mapping[str, Known]) -> _Compiled:
    arguments = _resolved_arguments(inputs)
    input_digest = inputs.digest()
    made: tuple[Diagnostic, ...] | Known = (
        arguments.refusals or known.get(input_digest) or _tool(inputs, arguments, input_digest)
    )
    is_variant = inputs.variant is not None
    if isinstance(made, tuple):
        return _Compiled(tool=None, diagnostics=_attributed(made, inputs.variant), is_variant=is_variant)
    warnings = _attributed(_warnings(inputs, made, arguments), inputs.variant)
    return _Compiled(tool=made, diagnostics=(*inputs.resolved.diagnostics, *warnings), is_variant=is_variant)


def _attributed(found: Iterable[Diagnostic], variant: Variant | None) -> tuple[Diagnostic, ...]:
    """The findings of one tool; those of a variant name it, since its operation has others."""
    if variant is None:
        return tuple(found)
    return tuple(replace(one, message=f"Variant {variant.name}: {one.message}") for one in found)


def _resolved_arguments(inputs: _Inputs) -> _Arguments:
    """Once per tool: the body's plan on wire names, the records that hold, and what they make of the arguments."""
    descriptor, variant, curation = inputs.descriptor, inputs.variant, inputs.curation
    plan = plan_body(descriptor, inputs.file_sources)
    wire = wire_arguments(descriptor, plan)
    own = records_by_name(inputs.resolved.arguments.value, variant.arguments if variant else ())
    records = records_of(wire, own, rules_on(descriptor.route, curation.argument_rules))
    arguments = curated(wire, records.by_name)
    return _Arguments(
        plan=plan,
        curated=arguments,
        records=records,
        refusals=(
            *_unresolved(inputs, wire, own),
            *(body_refusals(inputs.operation, variant, inputs.resolved.family_parameter.value) if variant else ()),
            *refusals(arguments, records.by_name, curation.fill_sources, descriptor.key),
        ),
    )


def _unresolved(inputs: _Inputs, wire: tuple[Argument, ...], own: Iterable[str]) -> Iterator[Diagnostic]:
    """Records without an argument; one of the operation's may be about the body that a member replaces."""
    named = {argument.name for argument in wire}
    missing = [name for name in own if name not in named]
    if missing and inputs.variant is not None and inputs.variant.body is not None:
        beneath = wire_arguments(inputs.operation, plan_body(inputs.operation, inputs.file_sources))
        replaced = {argument.name for argument in beneath} - {one.name for one in inputs.variant.arguments}
        missing = [name for name in missing if name not in replaced]
    for name in missing:
        yield diagnose("curation_unresolved", operation=inputs.operation.key, name=name)


def _tool(inputs: _Inputs, arguments: _Arguments, input_digest: str) -> Tool | tuple[Diagnostic, ...]:
    descriptor = inputs.descriptor
    accepted = input_schema(arguments.curated, arguments.plan, operation=descriptor.key)
    if isinstance(accepted, Diagnostic):
        return (accepted,)
    template = template_of(descriptor, arguments.plan, arguments.curated, inputs.file_sources)
    return Tool(
        name=inputs.name,
        operation=descriptor.key,
        loaded=_loaded(inputs, accepted),
        template=template,
        document=_document(inputs, accepted, template),
        auth=descriptor.auth,
        budget_bytes=inputs.budget_bytes,
        input_digest=input_digest,
    )


def _loaded(inputs: _Inputs, accepted: dict[str, Any]) -> dict[str, Any]:
    fields, descriptor = inputs.resolved, inputs.descriptor
    returned = output_schema(descriptor.responses)
    title = {"title": fields.title.value} if fields.title.value else {}
    hints = inputs.variant.annotations if inputs.variant else {}
    loaded = {
        "name": inputs.name,
        "description": inputs.description,
        "inputSchema": accepted,
        **({} if returned is None else {"outputSchema": returned}),
        "annotations": {**title, **fields.annotations.value, **hints},
        **({"deprecated": True} if descriptor.deprecated else {}),
    }
    return {**loaded, "version": version_of(loaded)}


def _document(inputs: _Inputs, accepted: dict[str, Any], template: Template) -> SearchDocument:
    return SearchDocument(
        name=inputs.name,
        description=inputs.description,
        search_terms=inputs.resolved.search_terms.value,
        tags=inputs.resolved.tags.value,
        route=template.route,
        alternate_routes=inputs.alternate_routes,
        parameters=tuple(_searched_parameters(accepted["properties"], template)),
    )


def _searched_parameters(properties: dict[str, Any], template: Template) -> Iterator[str]:
    members = {name: slot.members for slot in template.slots for name in _agent_names(slot)}
    for name, schema in properties.items():
        yield name
        description = schema.get("description") if isinstance(schema, dict) else None
        if isinstance(description, str) and description:
            yield description
        yield from (f"{name}.{member.name}" for member in members.get(name, ()))


def _agent_names(slot: Slot) -> tuple[str, ...]:
    return slot.exposed.names if slot.exposed else (slot.name,)


def _warnings(inputs: _Inputs, tool: Known, arguments: _Arguments) -> Iterator[Diagnostic]:
    operation, plan = inputs.descriptor.key, arguments.plan
    yield from arguments.records.diagnostics(operation)
    yield from curation_warnings(
        arguments.curated, plan, name=inputs.name, description=inputs.description, operation=operation
    )
    if plan is not None and plan.diagnostic is not None:
        yield plan.diagnostic
    size = tool.loaded_bytes
    limit = inputs.curation.budget_bytes if inputs.budget_bytes is None else inputs.budget_bytes
    if size > limit:
        yield diagnose("tool_over_budget", operation=operation, bytes=size, limit=limit)
    if inputs.descriptor.endpoint is None:
        yield diagnose("not_invocable", operation=operation)


def _indistinguishable(made: Iterable[_Compiled]) -> Iterator[Diagnostic]:
    """Variants of one operation between which nothing that an agent reads helps to choose."""
    alike: dict[tuple[str, str, bytes], list[str]] = defaultdict(list)
    for tool in (one.tool for one in made if one.tool is not None and one.is_variant):
        schema = canonical_json(tool.loaded["inputSchema"])
        alike[tool.operation, tool.loaded["description"], schema].append(tool.name)
    for (operation, _, _), names in alike.items():
        if len(names) > 1:
            yield diagnose("variant_indistinguishable", operation=operation, variants=", ".join(names))


def _unused(
    present: Mapping[str, Descriptor], resolved: Mapping[str, Resolved], naming: Naming
) -> Iterator[Diagnostic]:
    """Curation of an operation that another route's tool stands for, where it differs from that tool's own."""
    for key, routes in naming.alternate_routes.items():
        for folded in (f"{present[key].method} {route}" for route in routes):
            said, kept = _said(resolved[folded]), _said(resolved[key])
            if any(said) and said != kept:
                yield diagnose("curation_unused_on_kept_route", operation=folded, route=present[key].route)


def _said(fields: Resolved) -> tuple[object, ...]:
    return fields.arguments.value, fields.variants.value, fields.family_parameter.value


def _ordered(*findings: Diagnostic) -> tuple[Diagnostic, ...]:
    return tuple(sorted(set(findings), key=lambda one: (one.operation, one.code, one.message)))
