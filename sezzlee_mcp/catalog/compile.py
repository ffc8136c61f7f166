"""The entry: descriptors and curation -> the catalog that would be published."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol, Self

from sezzlee_mcp.canonical import Writer, canonical_json, digest
from sezzlee_mcp.catalog.arguments import Argument, curated, refusals, wire_arguments
from sezzlee_mcp.catalog.bodies import BodyPlan, plan_body
from sezzlee_mcp.catalog.curation import Curation, OperationCuration, Variant, VisibilityPolicy
from sezzlee_mcp.catalog.files import INLINE_SOURCES, REFERENCE
from sezzlee_mcp.catalog.leaks import curation_warnings
from sezzlee_mcp.catalog.names import Name, Naming, name_operations
from sezzlee_mcp.catalog.policies import policies_on, unused
from sezzlee_mcp.catalog.records import Records, records_of, rules_on
from sezzlee_mcp.catalog.resolution import Resolved, resolve
from sezzlee_mcp.catalog.schemas import input_schema, output_schema
from sezzlee_mcp.catalog.seals import staff_of
from sezzlee_mcp.catalog.shapes import objects_in
from sezzlee_mcp.catalog.templates import template_of
from sezzlee_mcp.catalog.tools import SearchDocument, Slot, Template, Tool
from sezzlee_mcp.catalog.variants import body_refusals, described_by, family_refusals, records_by_name
from sezzlee_mcp.catalog.visibility import all_of
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import AuthFacts, Descriptor, Outline

# Raised with every change of what equal inputs compile to, so that no tool of an older compiler is taken over.
COMPILER = 9

# Operation keys -> the descriptors of these operations, in any order.
Reader = Callable[[Collection[str]], Iterable[Descriptor]]

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
    def is_variant(self) -> bool: ...
    @property
    def loaded(self) -> dict[str, Any]: ...
    @property
    def loaded_bytes(self) -> int: ...
    @property
    def findings(self) -> tuple[Diagnostic, ...]: ...


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

    @property
    def compiled(self) -> tuple[Tool, ...]:
        """The tools that this compile made; those that it took over from a revision are none."""
        return tuple(tool for tool in self.tools if isinstance(tool, Tool))


def compile_catalog(
    operations: Iterable[Outline],
    curation: Curation,
    *,
    known: Mapping[str, Known] = _NOTHING,
    digests: Mapping[str, str] = _NOTHING,
    read: Reader | None = None,
    writer: Writer | None = None,
) -> Candidate:
    """
    The tools of all exposed operations, and what was found on the way.

    ``known`` holds compiled tools by their input digest: where the inputs of a tool are equal, it is taken over as it
    is. So outlines will do, beside the ``digests`` of their descriptors by key, and ``read`` gives the descriptors that
    are not compiled yet; without it the operations are descriptors, and digested where their digest is not given.
    ``writer`` is what wrote their schemas for that. An operation that cannot become a tool costs no other one. The
    order of ``operations`` means nothing.
    """
    writer = writer or Writer()
    present = {operation.key: operation for operation in operations}
    resolved = {key: resolve(operation, curation) for key, operation in present.items()}
    selected = tuple(sorted(key for key, fields in resolved.items() if fields.exposed.value))
    naming = name_operations((present[key] for key in selected), curation)
    wanted: dict[str, dict[str, _Inputs]] = {}  # key -> input digest -> inputs, for each tool of the operation
    for key in selected:
        operation_digest = digests.get(key) or writer.digest(present[key].to_json())
        inputs = _tools_of(present[key], operation_digest, resolved[key], naming, curation)
        wanted[key] = {one.digest(): one for one in inputs}
    unknown = {key for key in selected if _has_unknown(wanted[key], resolved[key], known)}
    made = [
        _Made.of(inputs, known[digest])
        for key in selected
        if key not in unknown
        for digest, inputs in wanted[key].items()
    ]
    for descriptor in read(unknown) if read else _themselves(present, unknown):
        made.extend(_made(descriptor, resolved[descriptor.key], wanted[descriptor.key], known, writer))
    own = {one.tool.operation for one in made if one.tool is not None}
    return Candidate(
        tools=tuple(sorted((one.tool for one in made if one.tool is not None), key=lambda tool: tool.name)),
        selected=selected,
        names={key: name for key, name in naming.names.items() if key in own},
        diagnostics=_ordered(
            *(finding for fields in resolved.values() for finding in fields.selection_diagnostics),
            *naming.diagnostics,
            *(finding for one in made for finding in one.diagnostics),
            *_indistinguishable(made),
            *_unused(present, resolved, naming),
            *unused(curation.policies, (policy for one in made for policy in one.policies)),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """Everything that one tool is made of, the slots of its operation apart."""

    operation: Outline
    operation_digest: str
    resolved: Resolved
    variant: Variant | None
    name: str
    curation: Curation
    alternate_routes: tuple[str, ...]
    policies: tuple[VisibilityPolicy, ...]

    @property
    def description(self) -> str:
        return self.resolved.description.value if self.variant is None else self.variant.description

    @property
    def auth(self) -> AuthFacts:
        return all_of([self.operation.auth, *(policy.auth for policy in self.policies)])

    @property
    def staff(self) -> OperationCuration:
        return staff_of(self.operation, self.curation)

    @property
    def file_sources(self) -> tuple[str, ...]:
        return (*INLINE_SOURCES, REFERENCE) if self.curation.resolves_files else INLINE_SOURCES

    def digest(self) -> str:
        """The digest of all that compilation reads, so that equal inputs are not compiled again."""
        rules = rules_on(self.operation.route, self.curation.argument_rules)
        family = self.resolved.variants.value if self.resolved.family_parameter.value else ()
        return digest(
            [
                COMPILER,
                self.operation_digest,
                replace(self.staff, variants=()).to_json(),
                self.variant and self.variant.to_json(),
                [member.to_json() for member in family],  # which can refuse each other
                self.name,
                list(self.alternate_routes),
                sorted(canonical_json(rule.to_json()).decode() for rule in rules),
                self.auth.to_json(),
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
class _Made:
    """One tool, or None when a diagnostic says that there can be none."""

    tool: Known | None
    diagnostics: tuple[Diagnostic, ...]
    policies: tuple[VisibilityPolicy, ...] = ()

    @classmethod
    def of(cls, inputs: _Inputs, tool: Known) -> Self:
        """The tool with what is to be said of it, whenever it was compiled."""
        said = _attributed(_common_findings(inputs, tool), inputs.variant)
        return cls(
            tool=tool,
            diagnostics=(*inputs.resolved.diagnostics, *tool.findings, *said),
            policies=inputs.policies,
        )


def _tools_of(
    operation: Outline, operation_digest: str, resolved: Resolved, naming: Naming, curation: Curation
) -> Iterator[_Inputs]:
    key = operation.key
    own = [(None, naming.names[key].value)] if key in naming.names else []
    kept = naming.variants.get(key, ())
    split = [(variant, variant.name) for variant in resolved.variants.value if variant.name in kept]
    alternate_routes = naming.alternate_routes.get(key, ())
    policies = policies_on(
        curation.policies,
        method=operation.method,
        routes=(operation.route, *alternate_routes),
        tags=resolved.tags.value,
    )
    for variant, name in (*own, *split):
        yield _Inputs(
            operation=operation,
            operation_digest=operation_digest,
            resolved=resolved,
            variant=variant,
            name=name,
            curation=curation,
            alternate_routes=alternate_routes,
            policies=policies,
        )


def _has_unknown(wanted: Mapping[str, _Inputs], resolved: Resolved, known: Mapping[str, Known]) -> bool:
    """Whether only the descriptor can say what becomes of the operation."""
    is_empty_family = bool(resolved.family_parameter.value) and not wanted  # what is wrong with it is not known
    return is_empty_family or not wanted.keys() <= known.keys()


def _themselves(present: Mapping[str, Outline], keys: Iterable[str]) -> Iterator[Descriptor]:
    yield from (operation for key in keys if isinstance(operation := present[key], Descriptor))


def _made(
    descriptor: Descriptor,
    resolved: Resolved,
    wanted: Mapping[str, _Inputs],
    known: Mapping[str, Known],
    writer: Writer,
) -> Iterator[_Made]:
    parameter = resolved.family_parameter.value
    refused = family_refusals(descriptor, parameter, resolved.variants.value, resolved.arguments.value)
    if parameter and (said := tuple(refused)):
        yield _Made(tool=None, diagnostics=said)
        return
    for input_digest, inputs in wanted.items():
        tool = known.get(input_digest) or _compiled(descriptor, inputs, input_digest, writer)
        if isinstance(tool, tuple):
            yield _Made(tool=None, diagnostics=_attributed(tool, inputs.variant))
        else:
            yield _Made.of(inputs, tool)


def _attributed(found: Iterable[Diagnostic], variant: Variant | None) -> tuple[Diagnostic, ...]:
    """The findings of one tool; those of a variant name it, since its operation has others."""
    if variant is None:
        return tuple(found)
    named = f"Variant {variant.name}: "
    return tuple(replace(one, message=f"{named}{one.message}", variant=variant.name) for one in found)


def _compiled(
    operation: Descriptor, inputs: _Inputs, input_digest: str, writer: Writer
) -> Tool | tuple[Diagnostic, ...]:
    """The tool, or why there can be none."""
    descriptor = operation if inputs.variant is None else described_by(operation, inputs.variant)
    arguments = _resolved_arguments(operation, descriptor, inputs)
    if arguments.refusals:
        return arguments.refusals
    accepted = input_schema(arguments.curated, arguments.plan, operation=descriptor.key)
    if isinstance(accepted, Diagnostic):
        return (accepted,)
    template = replace(
        template_of(descriptor, arguments.plan, arguments.curated, inputs.file_sources),
        deadline_seconds=inputs.staff.deadline_seconds,
        budget_bytes=inputs.staff.budget_bytes,
    )
    return Tool.of(
        operation=descriptor.key,
        shape=_shape(inputs, accepted, output_schema(descriptor.responses)),
        template=template,
        document=_document(inputs, accepted, template),
        auth=inputs.auth,
        input_digest=input_digest,
        findings=_attributed(_findings(inputs, arguments), inputs.variant),
        writer=writer,
        is_variant=inputs.variant is not None,
    )


def _resolved_arguments(operation: Descriptor, descriptor: Descriptor, inputs: _Inputs) -> _Arguments:
    """
    Once per tool: the body's plan on wire names, the records that hold, and what they make of the arguments.

    ``descriptor`` is the ``operation`` with a family member's own body.
    """
    variant, curation = inputs.variant, inputs.curation
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
            *_unresolved(operation, inputs, wire, own),
            *(body_refusals(operation, variant, inputs.resolved.family_parameter.value) if variant else ()),
            *refusals(arguments, records.by_name, curation.fill_sources, descriptor.key),
        ),
    )


def _unresolved(
    operation: Descriptor, inputs: _Inputs, wire: tuple[Argument, ...], own: Iterable[str]
) -> Iterator[Diagnostic]:
    """Records without an argument; one of the operation's may be about the body that a member replaces."""
    named = {argument.name for argument in wire}
    missing = [name for name in own if name not in named]
    if missing and inputs.variant is not None and inputs.variant.body is not None:
        beneath = wire_arguments(operation, plan_body(operation, inputs.file_sources))
        replaced = {argument.name for argument in beneath} - {one.name for one in inputs.variant.arguments}
        missing = [name for name in missing if name not in replaced]
    for name in missing:
        yield diagnose("curation_unresolved", operation=operation.key, name=name)


def _shape(inputs: _Inputs, accepted: dict[str, Any], returned: dict[str, Any] | None) -> dict[str, Any]:
    fields = inputs.resolved
    title = {"title": fields.title.value} if fields.title.value else {}
    hints = inputs.variant.annotations if inputs.variant else {}
    return {
        "name": inputs.name,
        "description": inputs.description,
        "inputSchema": accepted,
        **({} if returned is None else {"outputSchema": returned}),
        "annotations": {**title, **fields.annotations.value, **hints},
        **({"deprecated": True} if inputs.operation.deprecated else {}),
    }


def _document(inputs: _Inputs, accepted: dict[str, Any], template: Template) -> SearchDocument:
    return SearchDocument(
        name=inputs.name,
        description=inputs.description,
        search_terms=inputs.resolved.search_terms.value,
        tags=inputs.resolved.tags.value,
        route=template.route,
        alternate_routes=inputs.alternate_routes,
        parameters=tuple(_searched_parameters(accepted["properties"], template)),
        members=tuple(dict.fromkeys(_searched_members(accepted, template))),
        method=template.method,
    )


def _searched_parameters(properties: dict[str, Any], template: Template) -> Iterator[str]:
    members = {name: slot.members for slot in template.slots for name in _agent_names(slot)}
    for name, schema in properties.items():
        yield from _searched_property(name, schema)
        yield from (f"{name}.{member.name}" for member in members.get(name, ()))


def _searched_members(accepted: dict[str, Any], template: Template) -> Iterator[str]:
    if template.body is None or template.body.argument is None:
        return
    exposed = template.body.exposed.get(template.body.argument)
    for argument in exposed.names[:1] if exposed else (template.body.argument,):
        for found in objects_in(accepted["properties"].get(argument), accepted.get("$defs", {})):
            for name, schema in found["properties"].items():
                yield from _searched_property(name, schema)


def _searched_property(name: str, schema: Any) -> Iterator[str]:
    yield name
    description = schema.get("description") if isinstance(schema, dict) else None
    if isinstance(description, str) and description:
        yield description


def _agent_names(slot: Slot) -> tuple[str, ...]:
    return slot.exposed.names if slot.exposed else (slot.name,)


def _findings(inputs: _Inputs, arguments: _Arguments) -> Iterator[Diagnostic]:
    """What a compilation finds; equal inputs have equal findings."""
    operation, plan = inputs.operation.key, arguments.plan
    yield from arguments.records.diagnostics(operation)
    yield from curation_warnings(
        arguments.curated, plan, name=inputs.name, description=inputs.description, operation=operation
    )
    if plan is not None and plan.diagnostic is not None:
        yield plan.diagnostic


def _common_findings(inputs: _Inputs, tool: Known) -> Iterator[Diagnostic]:
    """What depends on more than the inputs: the budget of all tools is the input of none."""
    operation, size = inputs.operation, tool.loaded_bytes
    limit = inputs.curation.budget_bytes if inputs.staff.budget_bytes is None else inputs.staff.budget_bytes
    if size > limit:
        yield diagnose("tool_over_budget", operation=operation.key, bytes=size, limit=limit)
    if operation.endpoint is None:
        yield diagnose("not_invocable", operation=operation.key)


def _indistinguishable(made: Iterable[_Made]) -> Iterator[Diagnostic]:
    """Variants of one operation between which nothing that an agent reads helps to choose."""
    alike: dict[tuple[str, str, bytes], list[str]] = defaultdict(list)
    for tool in (one.tool for one in made if one.tool is not None and one.tool.is_variant):
        schema = canonical_json(tool.loaded["inputSchema"])
        alike[tool.operation, tool.loaded["description"], schema].append(tool.name)
    for (operation, _, _), names in alike.items():
        if len(names) > 1:
            yield diagnose("variant_indistinguishable", operation=operation, variants=", ".join(names))


def _unused(present: Mapping[str, Outline], resolved: Mapping[str, Resolved], naming: Naming) -> Iterator[Diagnostic]:
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
