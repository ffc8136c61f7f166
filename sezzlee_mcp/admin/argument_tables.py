"""The arguments of one tool as staff see them: how agents know each, who said so, and what would hold without staff."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from sezzlee_mcp.admin import origins
from sezzlee_mcp.admin.origins import SOURCES
from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.catalog.arguments import Argument, wire_arguments
from sezzlee_mcp.catalog.bodies import plan_body
from sezzlee_mcp.catalog.curation import ArgumentRecord, ArgumentRule, Fill, FillKind
from sezzlee_mcp.catalog.files import INLINE_SOURCES
from sezzlee_mcp.catalog.markers import read_markers
from sezzlee_mcp.catalog.records import records_of, rules_on
from sezzlee_mcp.catalog.sources import Source, Value, overlaid
from sezzlee_mcp.catalog.variants import described_by, records_by_name
from sezzlee_mcp.models import Operation, Variant
from sezzlee_mcp.openapi import Descriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One argument of the table, in the reader's words."""

    name: str
    place: str
    is_required: bool
    agents: str
    source: str
    beneath: str


def wire_names(operation: Operation, variant: Variant | None = None) -> list[tuple[str, str]]:
    """(wire name, the same with its place) of each argument, in published order."""
    arguments = _arguments(_descriptor(operation, variant))
    return [(argument.name, f"{argument.name} ({_place(argument)})") for argument in arguments]


def table(operation: Operation, variant: Variant | None = None) -> SafeString:
    rows = list(_rows(operation, variant))
    return render_to_string("admin/sezzlee_mcp/arguments.html", {"arguments": rows})


def _rows(operation: Operation, variant: Variant | None) -> Iterator[Row]:
    descriptor = _descriptor(operation, variant)
    arguments = _arguments(descriptor)
    own = variant.to_variant(operation.family_parameter).arguments if variant else ()
    staff = records_by_name(operation.to_curation().arguments, own)
    beneath = _beneath(descriptor, arguments, origins.curation_of(operation).argument_rules)
    for argument in arguments:
        value = overlaid(staff.get(argument.name), *beneath[argument.name])
        yield Row(
            name=argument.name,
            place=_place(argument),
            is_required=argument.required,
            agents=_said(value.value),
            source=str(SOURCES[value.source]),
            beneath=_said(value.beneath) if _differs(value) else "",
        )


def _beneath(
    descriptor: Descriptor, arguments: tuple[Argument, ...], rules: Iterable[ArgumentRule]
) -> dict[str, tuple[ArgumentRecord, Source]]:
    """The record of each argument without staff's own, and whose it is."""
    marked = records_by_name(read_markers(descriptor).arguments)
    ruled = records_of(arguments, {}, rules_on(descriptor.route, rules)).by_name
    found: dict[str, tuple[ArgumentRecord, Source]] = {}
    for name in (argument.name for argument in arguments):
        record, source = (marked.get(name), Source.CODE) if name in marked else (ruled.get(name), Source.RULE)
        found[name] = (record, source) if record else (ArgumentRecord(name=name), Source.DOCUMENT)
    return found


def _differs(value: Value[ArgumentRecord]) -> bool:
    return value.source is Source.STAFF and value.value != value.beneath


def _descriptor(operation: Operation, variant: Variant | None) -> Descriptor:
    descriptor = operation.to_descriptor()
    return descriptor if variant is None else described_by(descriptor, variant.variant_with((), ""))


def _arguments(descriptor: Descriptor) -> tuple[Argument, ...]:
    return wire_arguments(descriptor, plan_body(descriptor, INLINE_SOURCES))


def _place(argument: Argument) -> str:
    places = {"path": _("path"), "query": _("query"), "header": _("header"), "cookie": _("cookie"), "body": _("body")}
    return places.get(argument.location, argument.location)


def _said(record: ArgumentRecord) -> str:
    if record.fill is not None:
        return _hidden(record.fill)
    parts = [
        _("as %(name)s") % {"name": record.agent_name} if record.agent_name else "",
        _("also %(names)s") % {"names": ", ".join(record.deprecated_aliases)} if record.deprecated_aliases else "",
        f"“{record.description}”" if record.description else "",
    ]
    return ", ".join(filter(None, parts)) or _("as in the document")


def _hidden(fill: Fill) -> str:
    if fill.kind is FillKind.CONSTANT:
        return _("hidden, sends %(value)s") % {"value": canonical_json(fill.value).decode()}
    if fill.kind is FillKind.DEFERRED:
        return _("hidden, asks %(provider)s") % {"provider": fill.source}
    return _("hidden, sends nothing")
