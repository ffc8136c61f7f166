"""What staff cannot override: fields that the settings seal, and what sealed markers in the code say (curation.md)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sezzlee_mcp.catalog.curation import ArgumentRecord, Curation, OperationCuration, Variant
from sezzlee_mcp.catalog.markers import Markers, read_markers
from sezzlee_mcp.openapi.descriptors import Outline

# What can be sealed, as settings and decorators spell it -> the field of staff's choices.
SEALABLE: Mapping[str, str] = {
    "expose": "exposed",
    "name": "name",
    "title": "title",
    "description": "description",
    "tags": "tags",
    "search_terms": "search_terms",
    "annotations": "annotations",
    "arguments": "arguments",
    "variants": "variants",
    "family_parameter": "family_parameter",
}
_WHOLE = ("expose", "name", "description", "tags", "search_terms", "variants", "family_parameter")
_NOTHING = OperationCuration()


def staff_of(outline: Outline, curation: Curation) -> OperationCuration:
    """Staff's choices for the operation, as far as no seal forbids them."""
    staff, withheld = curation.of(outline.key), dict(_withheld(outline, curation))
    return replace(staff, **withheld) if withheld else staff


def overridden(outline: Outline, curation: Curation) -> tuple[str, ...]:
    """What staff chose, wholly or in part, though it is sealed; in the words of ``SEALABLE``."""
    fields = dict(_withheld(outline, curation))
    return tuple(name for name, field in SEALABLE.items() if field in fields)


def sealed(outline: Outline, curation: Curation) -> frozenset[str]:
    """What staff cannot choose for the operation, in the words of ``SEALABLE``; a hint by its own name."""
    markers = read_markers(outline)
    if not markers.seal:
        return curation.sealed
    return curation.sealed | {*_said(markers), *markers.annotations}


def sealed_arguments(outline: Outline) -> frozenset[str]:
    """The wire names of the arguments whose records in the code are sealed."""
    markers = read_markers(outline)
    return frozenset(record.name for record in markers.arguments) if markers.seal else frozenset()


def _withheld(outline: Outline, curation: Curation) -> Iterator[tuple[str, Any]]:
    """Each field of staff's choices that a seal changes, with what is left of it."""
    staff, markers = curation.of(outline.key), read_markers(outline)
    if not curation.sealed and not markers.seal:
        return
    left = _left(staff, markers) if markers.seal else {}
    left.update({SEALABLE[name]: getattr(_NOTHING, SEALABLE[name]) for name in curation.sealed})
    for field, value in left.items():
        if value != getattr(staff, field):
            yield field, value


def _left(staff: OperationCuration, markers: Markers) -> dict[str, Any]:
    names = {record.name for record in markers.arguments}

    def kept(records: tuple[ArgumentRecord, ...]) -> tuple[ArgumentRecord, ...]:
        return tuple(record for record in records if record.name not in names)

    def with_kept(variant: Variant) -> Variant:
        return replace(variant, arguments=kept(variant.arguments))

    return {
        "annotations": {hint: value for hint, value in staff.annotations.items() if hint not in markers.annotations},
        "arguments": kept(staff.arguments),
        "variants": tuple(map(with_kept, staff.variants)),
        **{SEALABLE[name]: getattr(_NOTHING, SEALABLE[name]) for name in _said(markers)},
    }


def _said(markers: Markers) -> list[str]:
    """What the markers say as a whole, apart from hints and from records of single arguments."""
    values = {name: getattr(markers, name) for name in _WHOLE}
    return [name for name, value in values.items() if value is not None and (name != "variants" or value)]
