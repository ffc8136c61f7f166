"""An object's members as keys and texts: a form, a deepObject parameter, a querystring (invoke.md, "Bodies")."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.catalog.tools import Member
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.arguments import Refuse, element_texts, kind_of, refuse
from sezzlee_mcp.invoke.encode import Encode, member_key
from sezzlee_mcp.invoke.files import FileArgument, read_file

Entry = tuple[str, str | FileArgument]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """
    How members are written: names pass ``encode``, texts come back unencoded.

    ``notation`` is bracket, dot or drf. With ``fills_booleans`` an omitted boolean is written with its default, since
    DRF reads none as false; with ``asks_for_booleans`` one without a default is asked for.
    """

    notation: str
    encode: Encode
    file_sources: tuple[str, ...] = ()
    refuse: Refuse = refuse
    fills_booleans: bool = False
    asks_for_booleans: bool = False

    def member(self, member: Member, key: str, name: str, value: Any, *, is_in_row: bool = False) -> Iterator[Entry]:
        """The entries of one member's value under its encoded ``key``; ``name`` is what messages call it."""
        if member.is_array and not isinstance(value, list):
            raise self.refuse(name, "an array", kind_of(value))
        if member.type == "object" and member.is_array:
            for index, row in enumerate(value):
                yield from self._row(member, f"{key}[{index}]", f"{name}[{index}]", row)
        elif member.type == "object":
            yield from self.members(member.members, key, name, value, is_in_row=is_in_row)
        elif member.type == "file":
            yield from self._files(member, key, name, value, is_in_row=is_in_row)
        else:
            texts = element_texts(name, member.type, member.is_array, value, self.refuse)
            is_counted = is_in_row and isinstance(value, list)  # below an index DRF reads a repeated key once
            yield from ((f"{key}[{index}]" if is_counted else key, text) for index, text in enumerate(texts))

    def members(
        self, members: tuple[Member, ...], group: str | None, name: str, value: Any, *, is_in_row: bool = False
    ) -> Iterator[Entry]:
        """The entries of an object's members in declared order; without a ``group`` they stand at the top."""
        for member in self._declared(members, name, value):
            encoded = self.encode(member.name)
            key = encoded if group is None else member_key(self.notation, group, encoded)
            yield from self._optional(member, key, f"{name}.{member.name}", value, is_in_row=is_in_row)

    def _row(self, member: Member, key: str, name: str, value: Any) -> Iterator[Entry]:
        """One object of a list: only the drf notation has lists, and names a row's members right behind the index."""
        for inner in self._declared(member.members, name, value):
            dotted = f"{name}.{inner.name}"
            yield from self._optional(inner, f"{key}{self.encode(inner.name)}", dotted, value, is_in_row=True)

    def _optional(
        self, member: Member, key: str, name: str, value: Mapping[str, Any], *, is_in_row: bool
    ) -> Iterator[Entry]:
        if member.name in value:
            yield from self.member(member, key, name, value[member.name], is_in_row=is_in_row)
        else:
            yield from self.omitted(member, key, name)

    def _declared(self, members: tuple[Member, ...], name: str, value: Any) -> tuple[Member, ...]:
        """``members``, once the value is known to be an object of no others."""
        if not isinstance(value, dict):
            raise self.refuse(name, "an object", kind_of(value))
        declared = {member.name for member in members}
        for key in value:
            if key not in declared:
                permitted = [f"{name}.{member.name}" for member in members]
                raise messages.unknown_argument(f"{name}.{key}", permitted)
        return members

    def omitted(self, member: Member, key: str, name: str | None) -> Iterator[Entry]:
        """What is written for a member that no value was sent for; a hidden one has no ``name`` to ask for."""
        if not self.fills_booleans or member.type != "boolean" or member.is_array:
            return
        if member.has_default and member.default is not None:
            yield key, "true" if member.default else "false"
        elif not member.has_default and self.asks_for_booleans and name is not None:
            raise messages.boolean_needed(name)

    def _files(self, member: Member, key: str, name: str, value: Any, *, is_in_row: bool) -> Iterator[Entry]:
        if not member.is_array:
            yield key, self._file(member, name, value)
            return
        for index, item in enumerate(value):
            counted = f"{key}[{index}]" if is_in_row else key
            yield counted, self._file(member, f"{name}[{index}]", item)

    def _file(self, member: Member, name: str, value: Any) -> FileArgument:
        return read_file(name, member.name, value, sources=self.file_sources, declared_type=member.media_type)


def supplies_file(member: Member, value: Any) -> bool:
    """Whether the value of a form's member holds a file anywhere."""
    if member.type == "file":
        return value is not None and value != []
    rows = value if isinstance(value, list) else [value]
    return any(
        supplies_file(inner, row[inner.name])
        for row in rows
        if isinstance(row, dict)
        for inner in member.members
        if inner.name in row
    )
