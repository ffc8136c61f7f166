"""A catalog as a file: what agents load, in a form that is stable, reviewed and compared (publishing.md)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from sezzlee_mcp.canonical import pointer, stable
from sezzlee_mcp.catalog.changes import Change, Shapes, changes_between
from sezzlee_mcp.errors import FileUnreadable
from sezzlee_mcp.json_files import read_exported
from sezzlee_mcp.openapi.keywords import ONE_SCHEMA, SCHEMA_LISTS, SCHEMA_MAPS, TYPES, VALUES, is_pattern

COMMAND = "sezzlee_contract"  # and the member that holds the version of its file
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """
    What agents can rely on: loaded shapes by name, and old names that lead to some of them.

    A file holds the shapes alone: when an old name ends is a matter of the calendar.
    """

    tools: Shapes
    aliases: Mapping[str, str] = field(default_factory=dict)

    def changes_since(self, old: "Contract") -> tuple[Change, ...]:
        return changes_between(old.tools, self.tools, self.aliases)

    def to_text(self) -> str:
        """JSON in which equal catalogs are equal byte for byte, whatever process wrote it."""
        tools = {
            name: stable({member: value for member, value in shape.items() if member not in ("name", "version")})
            for name, shape in sorted(self.tools.items())
        }
        return json.dumps({COMMAND: VERSION, "tools": tools}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_text(cls, text: str | bytes) -> Self:
        """FileUnreadable for anything that ``to_text`` of this version cannot have written."""
        return cls(tools=_read_tools(read_exported(text, command=COMMAND, version=VERSION)))


def _read_tools(document: Mapping[str, Any]) -> Shapes:
    tools = document.get("tools")
    if not isinstance(tools, dict):
        raise FileUnreadable(["Its member tools is not an object."])
    for name, shape in tools.items():
        fault = next(_shape_faults(shape, pointer("tools", name)), None)
        if fault is not None:
            raise FileUnreadable([f"What stands at {fault} is not what an export writes there."])
    return tools


def _shape_faults(shape: Any, at: str) -> Iterator[str]:
    """Pointers to what is no part of a loaded shape."""
    if not isinstance(shape, dict):
        yield at
        return
    kinds = {"description": str, "inputSchema": dict, "annotations": dict}
    for member, kind in kinds.items():
        if not isinstance(shape.get(member), kind):
            yield at + pointer(member)
    for member in ("inputSchema", "outputSchema"):
        if member in shape:
            yield from _schema_faults(shape[member], at + pointer(member))


def _schema_faults(schema: Any, at: str) -> Iterator[str]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield at
        return
    for keyword, value in schema.items():
        place = at + pointer(keyword)
        if keyword in ONE_SCHEMA:
            yield from _schema_faults(value, place)
        elif keyword in SCHEMA_LISTS:
            yield from _faults_of_list(value, place)
        elif keyword in SCHEMA_MAPS or keyword == "$defs":
            yield from _faults_of_map(value, place)
            if keyword == "patternProperties" and isinstance(value, dict):
                yield from (place for name in value if not is_pattern(name))
        elif not _may_hold(keyword, value):
            yield place


def _faults_of_list(value: Any, at: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield at
        return
    for index, schema in enumerate(value):
        yield from _schema_faults(schema, at + pointer(index))


def _faults_of_map(value: Any, at: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield at
        return
    for name, schema in value.items():
        yield from _schema_faults(schema, at + pointer(name))


def _may_hold(keyword: str, value: Any) -> bool:
    if keyword == "type":
        return value in TYPES if isinstance(value, str) else _are_texts(value) and set(value) <= set(TYPES)
    if keyword == "required":
        return _are_texts(value)
    if keyword == "$ref":
        return isinstance(value, str)
    return VALUES[keyword](value) if keyword in VALUES else True


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
