"""The arguments of a tool, resolved once: what the backend reads, and how an agent sends it (curation.md)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sezzlee_mcp.catalog.bodies import BodyPlan
from sezzlee_mcp.catalog.constants import misfit
from sezzlee_mcp.catalog.curation import ArgumentRecord, FillKind
from sezzlee_mcp.catalog.tools import Exposed
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import Descriptor, Parameter

BODY = "body"  # the location of what the request's body holds

_AGENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """
    One argument; ``name`` is its wire name, ``definitions`` are what its schema refers to.

    ``owns_definitions`` says that they are its own and published with it, not those of a whole body.
    ``exposed`` is None for one that an agent sends under its wire name.
    """

    name: str
    location: str
    schema: Any
    required: bool
    definitions: Mapping[str, Any]
    owns_definitions: bool = True
    exposed: Exposed | None = None

    @property
    def is_hidden(self) -> bool:
        return self.exposed is not None and self.exposed.name is None

    @property
    def is_renamed(self) -> bool:
        """Whether the wire name is one that no agent sends."""
        return self.exposed is not None and self.name not in self.exposed.names


def wire_arguments(descriptor: Descriptor, plan: BodyPlan | None) -> tuple[Argument, ...]:
    """What the backend reads, parameters first, before anybody curated it."""
    return (*map(_of_parameter, descriptor.parameters), *_of_body(plan))


def curated(arguments: Iterable[Argument], records: Mapping[str, ArgumentRecord]) -> tuple[Argument, ...]:
    """The arguments as the records by wire name say; their order stays."""
    return tuple(
        _curated(argument, records[argument.name]) if argument.name in records else argument for argument in arguments
    )


def refusals(
    arguments: Iterable[Argument],
    records: Mapping[str, ArgumentRecord],
    fill_sources: frozenset[str],
    operation: str,
) -> Iterator[Diagnostic]:
    """Why the curated arguments make no tool."""
    arguments = tuple(arguments)
    for argument in arguments:
        record = records.get(argument.name)
        if record is not None:
            yield from _record_refusals(record, operation)
            yield from _fill_refusals(argument, record, fill_sources, operation)
    for name, times in Counter(name for argument in arguments for name in _names(argument)).items():
        if times > 1:
            yield diagnose("argument_collision", operation=operation, name=name)


def separated(schema: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema and its ``$defs`` apart; one with an ``$id`` resolves its references itself and keeps them."""
    if "$defs" not in schema or "$id" in schema:
        return schema, {}
    return {key: value for key, value in schema.items() if key != "$defs"}, schema["$defs"]


def _of_parameter(parameter: Parameter) -> Argument:
    schema = parameter.schema
    if parameter.description is not None and "description" not in schema:
        schema = {**schema, "description": parameter.description}
    own, definitions = separated(schema)
    return Argument(
        name=parameter.name,
        location=parameter.location,
        schema=own,
        required=parameter.required,
        definitions=definitions,
    )


def _of_body(plan: BodyPlan | None) -> Iterator[Argument]:
    if plan is None:
        return
    if plan.argument is not None:
        own, definitions = separated(plan.schema)
        yield Argument(
            name=plan.argument,
            location=BODY,
            schema=own,
            required=plan.body.required,
            definitions=definitions,
        )
        return
    required, definitions = plan.root.get("required", []), plan.root.get("$defs", {})
    for name, schema in plan.root.get("properties", {}).items():
        yield Argument(
            name=name,
            location=BODY,
            schema=schema,
            required=name in required,
            definitions=definitions,
            owns_definitions=False,
        )


def _curated(argument: Argument, record: ArgumentRecord) -> Argument:
    described = argument.schema if record.description is None else _described(argument.schema, record.description)
    return replace(argument, schema=described, exposed=_exposed(argument, record))


def _exposed(argument: Argument, record: ArgumentRecord) -> Exposed | None:
    if record.fill is not None:
        refused = (record.agent_name,) if record.agent_name else ()
        return Exposed(name=None, aliases=refused, fill=record.fill, required=argument.required)
    name = argument.name if record.agent_name is None else record.agent_name
    if name == argument.name and not record.deprecated_aliases:
        return None
    return Exposed(
        name=name,
        aliases=record.deprecated_aliases,
        required=argument.required and bool(record.deprecated_aliases),
    )


def _described(schema: Any, description: str) -> dict[str, Any]:
    asked = schema if isinstance(schema, dict) else {} if schema else {"not": {}}
    return {**asked, "description": description}


def _record_refusals(record: ArgumentRecord, operation: str) -> Iterator[Diagnostic]:
    for problem in _problems(record):
        yield diagnose("curation_invalid", operation=operation, name=record.name, problem=problem)


def _problems(record: ArgumentRecord) -> Iterator[str]:
    if record.description is not None and not record.description.strip():
        yield "its description is empty"
    named = [name for name in (record.agent_name, *record.deprecated_aliases) if name is not None]
    for name in named:
        if name != record.name and not _AGENT_NAME.fullmatch(name):
            yield f"an agent cannot send {name!r}; a name is letters, digits and underscores and begins with no digit"
    if record.fill is not None and record.deprecated_aliases:
        yield "it is hidden, so no older name of it can count"
    current = record.name if record.agent_name is None else record.agent_name
    for alias, times in Counter((current, *record.deprecated_aliases)).items():
        if times > 1:
            yield f"{alias} stands twice among its names"


def _fill_refusals(
    argument: Argument, record: ArgumentRecord, fill_sources: frozenset[str], operation: str
) -> Iterator[Diagnostic]:
    fill = record.fill
    if fill is None:
        return
    if fill.kind is FillKind.OMIT and argument.required:
        yield diagnose("hidden_required_omitted", operation=operation, name=argument.name)
    if fill.kind is FillKind.DEFERRED and fill.source not in fill_sources:
        yield diagnose("unknown_fill_source", operation=operation, name=argument.name, source=fill.source)
    if fill.kind is FillKind.CONSTANT:
        reason = misfit(fill.value, argument.location, argument.schema, argument.definitions)
        if reason:
            yield diagnose("invalid_fill_constant", operation=operation, name=argument.name, reason=reason)


def _names(argument: Argument) -> Iterable[str]:
    """Every name that means this argument, to the backend or to an agent."""
    exposed = argument.exposed
    chosen = () if exposed is None else (exposed.name, *exposed.aliases)
    return dict.fromkeys(name for name in (argument.name, *chosen) if name is not None)
