"""Each curated field of an operation, resolved once: staff over code markers over the document (curation.md)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sezzlee_mcp.catalog.annotations import method_hints
from sezzlee_mcp.catalog.curation import ArgumentRecord, Curation, OperationCuration, Variant
from sezzlee_mcp.catalog.markers import Markers, read_markers
from sezzlee_mcp.catalog.names import own_name
from sezzlee_mcp.catalog.seals import overridden, sealed, staff_of
from sezzlee_mcp.catalog.selection import select
from sezzlee_mcp.catalog.sources import Source, Value, overlaid
from sezzlee_mcp.catalog.variants import family_of, records_by_name, variants_of
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.folding import fold
from sezzlee_mcp.openapi.descriptors import Outline


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """
    What an operation's curated fields come to, and from where.

    ``name`` is the one that the operation asks for; what it gets depends on its neighbours (``Naming``).
    ``selection_diagnostics`` say why it is exposed or not, ``diagnostics`` what was left out of the other fields.
    ``sealed`` is what staff cannot choose, as ``seals.sealed`` spells it.
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
    sealed: frozenset[str] = frozenset()
    selection_diagnostics: tuple[Diagnostic, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def resolve(outline: Outline, curation: Curation) -> Resolved:
    """Every curated field of the operation with its value, its source and the value beneath staff's choice."""
    staff, markers = staff_of(outline, curation), read_markers(outline)
    selection = select(outline, curation)
    tags = _listed(staff.tags, markers.tags, outline.tags)
    terms = _listed(staff.search_terms, markers.search_terms, outline.search_terms)
    return Resolved(
        exposed=Value(value=selection.included, source=selection.source, beneath=selection.beneath),
        name=own_name(outline, curation),
        description=_description(outline, staff, markers),
        title=_title(outline, staff),
        tags=_distinct(tags),
        search_terms=_distinct(terms),
        annotations=_annotations(outline, staff, markers),
        arguments=_arguments(staff, markers),
        variants=variants_of(outline, curation),
        family_parameter=family_of(outline, curation),
        sealed=sealed(outline, curation),
        selection_diagnostics=(
            *markers.diagnostics(outline.key),
            *selection.diagnostics,
            *_ignored(outline, curation),
        ),
        diagnostics=(*_tag_problems(tags.value, outline.key), *_term_problems(terms.value, outline.key)),
    )


def _ignored(outline: Outline, curation: Curation) -> Iterator[Diagnostic]:
    for field in overridden(outline, curation):
        yield diagnose("sealed_curation_overridden", operation=outline.key, field=field)


def _description(outline: Outline, staff: OperationCuration, markers: Markers) -> Value[str]:
    # The summary is the title and, without a description, the description: never both in one text.
    documented = outline.description or outline.summary
    if markers.description is not None:
        return overlaid(staff.description, markers.description, Source.CODE)
    if documented:
        return overlaid(staff.description, documented, Source.DOCUMENT)
    return overlaid(staff.description, outline.key, Source.DEFAULT)


def _title(outline: Outline, staff: OperationCuration) -> Value[str]:
    source = Source.DOCUMENT if outline.summary else Source.DEFAULT
    return overlaid(staff.title, outline.summary or "", source)


def _annotations(outline: Outline, staff: OperationCuration, markers: Markers) -> Value[Mapping[str, bool]]:
    beneath = {**method_hints(outline), **markers.annotations}
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
