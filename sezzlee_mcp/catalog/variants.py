"""One operation as several tools, and families that dispatch on a parameter (curation.md)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.catalog.bodies import MULTIPART, is_form
from sezzlee_mcp.catalog.curation import ArgumentRecord, Curation, FillKind, Variant
from sezzlee_mcp.catalog.markers import read_markers
from sezzlee_mcp.catalog.seals import staff_of
from sezzlee_mcp.catalog.shapes import DEFINITION, references_in, resolved, types_of
from sezzlee_mcp.catalog.sources import Source, Value, overlaid
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import Body, Descriptor, Outline
from sezzlee_mcp.openapi.forms import Form
from sezzlee_mcp.openapi.keywords import misused

_BODILESS = frozenset({"GET", "HEAD"})
_JSON = "application/json"


def variants_of(outline: Outline, curation: Curation) -> Value[tuple[Variant, ...]]:
    """The operation's variants, staff's or else the code's, never a mixture."""
    marked = read_markers(outline).variants
    source = Source.CODE if marked else Source.DEFAULT
    return overlaid(staff_of(outline, curation).variants or None, marked, source)


def family_of(outline: Outline, curation: Curation) -> Value[str]:
    """The parameter that the operation dispatches on; empty for an operation that is no family."""
    marked = read_markers(outline).family_parameter
    source = Source.CODE if marked else Source.DEFAULT
    return overlaid(staff_of(outline, curation).family_parameter, marked or "", source)


def is_split(outline: Outline, curation: Curation) -> bool:
    """Whether the operation's own tool is not published, since its variants are."""
    return bool(variants_of(outline, curation).value or family_of(outline, curation).value)


def described_by(descriptor: Descriptor, variant: Variant) -> Descriptor:
    """The operation as one variant calls it: with the member's own body where it has one that can be read."""
    if variant.body is None or misused(variant.body):  # nothing reads a body that ``body_refusals`` refuses
        return descriptor
    body = descriptor.body or Body(schema={}, required=True, content_type=_JSON)
    own = replace(body, schema=variant.body, required=variant.body_required, defaults={})
    return replace(descriptor, body=own)


def records_by_name(
    operation: Iterable[ArgumentRecord], variant: Iterable[ArgumentRecord] = ()
) -> dict[str, ArgumentRecord]:
    """Records by wire name; a variant's replaces the operation's of that name whole."""
    return {record.name: record for record in (*operation, *variant)}


def family_refusals(
    descriptor: Descriptor, parameter: str, variants: tuple[Variant, ...], records: Iterable[ArgumentRecord]
) -> Iterator[Diagnostic]:
    """Why the operation is no family: nothing of it is published then, the dispatcher least of all."""
    if not _is_scalar(descriptor, parameter):
        yield diagnose("family_parameter_unresolved", operation=descriptor.key, name=parameter)
        return
    if not variants:
        yield diagnose("family_without_members", operation=descriptor.key, name=parameter)
    records = tuple(records)
    owners: dict[bytes, str] = {}
    for variant in variants:
        key = _key(records_by_name(records, variant.arguments), parameter)
        if key is None:
            yield diagnose("family_key_unfilled", operation=descriptor.key, name=parameter, variant=variant.name)
        elif key in owners:
            names = f"{owners[key]}, {variant.name}"
            repeated = diagnose("family_key_duplicate", operation=descriptor.key, name=parameter, variants=names)
            yield replace(repeated, variant=variant.name)
        else:
            owners[key] = variant.name


def body_refusals(descriptor: Descriptor, variant: Variant, family: str) -> Iterator[Diagnostic]:
    """Why a member cannot have the body that it brings."""
    if variant.body is None:
        return
    if not family:
        yield diagnose("variant_body_without_family", operation=descriptor.key)
    reason = _body_problem(descriptor, variant.body)
    if reason is not None:
        yield diagnose("variant_body_invalid", operation=descriptor.key, reason=reason)


def _is_scalar(descriptor: Descriptor, name: str) -> bool:
    for parameter in descriptor.parameters:
        if parameter.name == name:
            schema = resolved(parameter.schema, parameter.schema.get("$defs", {}))
            return parameter.style != "deepObject" and not {"array", "object"} & set(types_of(schema))
    return False


def _key(records: Mapping[str, ArgumentRecord], parameter: str) -> bytes | None:
    record = records.get(parameter)
    if record is None or record.fill is None or record.fill.kind is not FillKind.CONSTANT:
        return None
    return canonical_json(record.fill.value)


def _body_problem(descriptor: Descriptor, schema: dict[str, Any]) -> str | None:
    if descriptor.method in _BODILESS:
        return f"{descriptor.method} sends no body"
    if keyword := misused(schema):
        return f"JSON Schema does not allow what it says under {keyword}"
    definitions = schema.get("$defs", {})
    for reference in references_in(schema):
        if reference.removeprefix(DEFINITION) not in definitions or not reference.startswith(DEFINITION):
            return f"the reference {reference} leads out of its own definitions"
    if descriptor.body is None or not is_form(descriptor.body):
        return None
    form = Form(schema=schema, notation=descriptor.body.notation)
    return form.misfit(allows_files=MULTIPART in {descriptor.body.content_type, descriptor.body.file_content_type})
