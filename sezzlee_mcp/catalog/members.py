"""The declared members of an object that is written one by one: a grouped parameter, a form (invoke.md, "Bodies")."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sezzlee_mcp.catalog.bodies import BodyPlan, is_form
from sezzlee_mcp.catalog.shapes import FILE, resolved, scalar_of, types_of
from sezzlee_mcp.catalog.tools import Member
from sezzlee_mcp.openapi.forms import is_file

FORM_MEMBERS = 1_000
FORM_LEVELS = 20  # of objects in objects: each is a call deeper for whoever reads, writes or digests the template


def grouped_members(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[Member]:
    """The members of a grouped parameter, which hold scalars or lists of them."""
    for name, declared in schema.get("properties", {}).items():
        written, is_array = written_type(resolved(declared, definitions), definitions)
        yield Member(name=name, type=written, is_array=is_array)


def form_members(plan: BodyPlan) -> tuple[Member, ...]:
    """The fields of a form, the one file of a binary body; none for any other body."""
    body = plan.body
    if is_form(body):
        members = _opened(body.schema, body.schema.get("$defs", {}))
        return tuple(_with_default(member, body.defaults) for member in members)
    if plan.argument is not None and is_file(body.schema):
        return (Member(name=plan.argument, type=FILE, media_type=body.schema["contentMediaType"]),)
    return ()


def written_type(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[str, bool]:
    """The scalar type that a value of ``schema`` is written as, and whether there are many of it."""
    if types_of(schema) == ["array"]:
        return scalar_of(resolved(schema.get("items", {}), definitions)), True
    return scalar_of(schema), False


@dataclass(slots=True, kw_only=True)
class _Field:
    """A field of a form: what it holds, the objects that are around it, and its own fields once it is opened."""

    name: str
    schema: dict[str, Any]
    is_array: bool
    around: tuple[dict[str, Any], ...]
    fields: list["_Field"] = field(default_factory=list)
    is_open: bool = False

    @property
    def recurs(self) -> bool:
        return any(self.schema is one for one in self.around)

    def to_member(self) -> Member:
        if is_file(self.schema):
            media_type = self.schema["contentMediaType"]
            return Member(name=self.name, type=FILE, is_array=self.is_array, media_type=media_type)
        if self.is_open:
            members = tuple(inner.to_member() for inner in self.fields)
            return Member(name=self.name, type="object", is_array=self.is_array, members=members)
        return Member(name=self.name, type=scalar_of(self.schema), is_array=self.is_array)


def _opened(schema: dict[str, Any], definitions: Mapping[str, Any]) -> Iterator[Member]:
    """
    The fields of a form, those of its objects in them.

    A form ends where an object would recur, and at FORM_MEMBERS and FORM_LEVELS: objects are opened level by level,
    since there are as many ways through objects that refer to each other as there are orders of them.
    """
    top = _fields(resolved(schema, definitions), definitions, ())
    waiting, number = deque(top), len(top)
    while waiting:
        outer = waiting.popleft()
        fits = number + len(outer.schema.get("properties", {})) <= FORM_MEMBERS and len(outer.around) <= FORM_LEVELS
        if fits and types_of(outer.schema) == ["object"] and not outer.recurs:
            outer.is_open = True
            outer.fields = _fields(outer.schema, definitions, outer.around)
            waiting.extend(outer.fields)
            number += len(outer.fields)
    return (outer.to_member() for outer in top)


def _fields(schema: dict[str, Any], definitions: Mapping[str, Any], around: tuple[dict[str, Any], ...]) -> list[_Field]:
    fields = []
    for name, declared in schema.get("properties", {}).items():
        inner = resolved(declared, definitions)
        is_array = types_of(inner) == ["array"]
        item = resolved(inner.get("items", {}), definitions) if is_array else inner
        fields.append(_Field(name=name, schema=item, is_array=is_array, around=(*around, schema)))
    return fields


def _with_default(member: Member, defaults: Mapping[str, Any]) -> Member:
    """A form reads an omitted boolean as false, so what the backend takes instead has to be written (P23)."""
    if member.type != "boolean" or member.is_array or member.name not in defaults:
        return member
    return replace(member, has_default=True, default=defaults[member.name])
