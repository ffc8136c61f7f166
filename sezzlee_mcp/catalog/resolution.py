"""Each curated field of an operation, resolved once: staff over code markers over the document (curation.md)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sezzlee_mcp.catalog.annotations import method_hints
from sezzlee_mcp.catalog.curation import ArgumentRecord, Curation, OperationCuration, Variant
from sezzlee_mcp.catalog.markers import Markers, read_markers
from sezzlee_mcp.catalog.names import own_name
from sezzlee_mcp.catalog.selection import select
from sezzlee_mcp.catalog.sources import Source, Value, overlaid
from sezzlee_mcp.catalog.variants import family_of, records_by_name, variants_of
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.folding import fold
from sezzlee_mcp.openapi.descriptors import Descriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """
    What an operation's curated fields come to, and from where.

    ``name`` is the one that the operation asks for; what it gets depends on its neighbours (``Naming``).
    ``selection_diagnostics`` say why it is exposed or not, ``diagnostics`` what was left out of the other fields.
    """

    exposed: Value[bool]
    name: Value[str]
    description: Value[str]
    title: Value[str]
    tags: Value[tuple[str, ...]]
    search_terms: Value[tuple[str, ...]]
    annotations: Value[Mapping[str, bool]]
    arguments: Value[tuple[ArgumentRecord, ...]]
    variants: Value[tuple[Variant, ...]]
    family_parameter: Value[str]
    selection_diagnostics: tuple[Diagnostic, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def resolve(descriptor: Descriptor, curation: Curation) -> Resolved:
    """Every curated field of the operation with its value, its source and the value beneath staff's choice."""
    staff, markers = curation.of(descriptor.key), read_markers(descriptor)
    selection = select(descriptor, curation)
    tags = _listed(staff.tags, markers.tags, descriptor.tags)
    terms = _listed(staff.search_terms, markers.search_terms, descriptor.search_terms)
    return Resolved(
        exposed=Value(value=selection.included, source=selection.source, beneath=selection.beneath),
        name=own_name(descriptor, curation),
        description=_description(descriptor, staff, markers),
        title=_title(descriptor, staff),
        tags=_distinct(tags),
        search_terms=_distinct(terms),
        annotations=_annotations(descriptor, staff, markers),
        arguments=_arguments(staff, markers),
        variants=variants_of(descriptor, curation),
        family_parameter=family_of(descriptor, curation),
        selection_diagnostics=(*markers.diagnostics(descriptor.key), *selection.diagnostics),
        diagnostics=(*_tag_problems(tags.value, descriptor.key), *_term_problems(terms.value, descriptor.key)),
    )


def _description(descriptor: Descriptor, staff: OperationCuration, markers: Markers) -> Value[str]:
    # The summary is the title and, without a description, the description: never both in one text.
    documented = descriptor.description or descriptor.summary
    if markers.description is not None:
        return overlaid(staff.description, markers.description, Source.CODE)
    if documented:
        return overlaid(staff.description, documented, Source.DOCUMENT)
    return overlaid(staff.description, descriptor.key, Source.DEFAULT)


def _title(descriptor: Descriptor, staff: OperationCuration) -> Value[str]:
    source = Source.DOCUMENT if descriptor.summary else Source.DEFAULT
    return overlaid(staff.title, descriptor.summary or "", source)


def _annotations(descriptor: Descriptor, staff: OperationCuration, markers: Markers) -> Value[Mapping[str, bool]]:
    beneath = {**method_hints(descriptor), **markers.annotations}
    source = Source.CODE if markers.annotations else Source.RULE
    return overlaid({**beneath, **staff.annotations} if staff.annotations else None, beneath, source)


def _arguments(staff: OperationCuration, markers: Markers) -> Value[tuple[ArgumentRecord, ...]]:
    """Staff's records beside those of the code that name other arguments."""
    chosen = tuple(records_by_name(markers.arguments, staff.arguments).values()) if staff.arguments else None
    return overlaid(chosen, markers.arguments, Source.CODE if markers.arguments else Source.DEFAULT)


def _listed(
    chosen: tuple[str, ...] | None, marked: tuple[str, ...] | None, documented: tuple[str, ...]
) -> Value[tuple[str, ...]]:
    if marked is not None:
        return overlaid(chosen, marked, Source.CODE)
    return overlaid(chosen, documented, Source.DOCUMENT if documented else Source.DEFAULT)


def _distinct(listed: Value[tuple[str, ...]]) -> Value[tuple[str, ...]]:
    return Value(value=_spellings(listed.value), source=listed.source, beneath=_spellings(listed.beneath))


def _spellings(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The first spelling of each text, empty ones left out."""
    return tuple(same[0] for folded, same in _alike(texts).items() if folded)


def _alike(texts: tuple[str, ...]) -> dict[str, list[str]]:
    """The spellings of each text by its folded form; what folds to blanks alone is ``""``."""
    spellings: dict[str, list[str]] = {}
    for text in texts:
        folded = fold(text)
        spellings.setdefault(folded if folded.strip() else "", []).append(text)
    return spellings


def _tag_problems(tags: tuple[str, ...], operation: str) -> Iterator[Diagnostic]:
    for folded, same in _alike(tags).items():
        if not folded:
            yield diagnose("empty_tag", operation=operation)
        elif len(same) > 1:
            yield diagnose("duplicate_tag", operation=operation, tags=", ".join(same))


def _term_problems(terms: tuple[str, ...], operation: str) -> Iterator[Diagnostic]:
    for folded, same in _alike(terms).items():
        if not folded:
            yield diagnose("empty_search_term", operation=operation)
        for repeated in same[1:] if folded else ():
            yield diagnose("duplicate_search_term", operation=operation, term=repeated)
