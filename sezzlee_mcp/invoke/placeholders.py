"""A path for a tool of which nobody has said which object it is about (visibility.md, "Permission check tier")."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from sezzlee_mcp.catalog.curation import Fill, FillKind
from sezzlee_mcp.catalog.tools import Slot, Template

_VARIABLE = re.compile(r"\{([^{}]+)\}")
_BY_FORMAT = {"uuid": "00000000-0000-0000-0000-000000000000", "date": "2000-01-01"}
_BY_TYPE = {"integer": "1", "number": "1"}
_OTHER = "probe"


def placeholder_path(template: Template, given: Mapping[str, Any]) -> tuple[str, bool]:
    """
    The path with a value for each variable, and whether one of them is a placeholder.

    A constant of the tool's own is none. For the others the host may have ``given`` values by name; else the type says.
    """
    slots = {slot.name: slot for slot in template.slots if slot.location == "path"}
    constants = {name: fill.value for name, fill in _fills(slots.values()) if fill.kind is FillKind.CONSTANT}
    variables = _VARIABLE.findall(template.route)

    def value(match: re.Match[str]) -> str:
        name = match[1]
        filled = constants.get(name, given.get(name, _typed(slots.get(name))))
        return quote(str(filled), safe="")

    return _VARIABLE.sub(value, template.route), not constants.keys() >= set(variables)


def _fills(slots: Iterable[Slot]) -> Iterator[tuple[str, Fill]]:
    for slot in slots:
        if slot.exposed is not None and slot.exposed.fill is not None:
            yield slot.name, slot.exposed.fill


def _typed(slot: Slot | None) -> str:
    if slot is None:
        return _OTHER
    return _BY_FORMAT.get(slot.format or "") or _BY_TYPE.get(slot.type, _OTHER)
