"""The declared members of an object that is written one by one: a grouped parameter, a form (invoke.md, "Bodies")."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sezzlee_mcp.catalog.bodies import BodyPlan, is_form
from sezzlee_mcp.catalog.shapes import FILE, resolved, scalar_of, types_of
from sezzlee_mcp.catalog.tools import Member
from sezzlee_mcp.openapi.forms import is_file


def grouped_members(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[Member]:
    """The members of a grouped parameter, which hold scalars or lists of them."""
    for name, declared in schema.get("properties", {}).items():
        written, is_array = written_type(resolved(declared, definitions), definitions)
        yield Member(name=name, type=written, is_array=is_array)


def form_members(plan: BodyPlan) -> tuple[Member, ...]:
    """The fields of a form, the one file of a binary body; none for any other body."""
    body = plan.body
    if is_form(body):
        definitions = body.schema.get("$defs", {})
        members = _nested(resolved(body.schema, definitions), definitions, ())
        return tuple(_with_default(member, body.defaults) for member in members)
    if plan.argument is not None and is_file(body.schema):
        return (_member(plan.argument, body.schema, {}, ()),)
    return ()


def written_type(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[str, bool]:
    """The scalar type that a value of ``schema`` is written as, and whether there are many of it."""
    if types_of(schema) == ["array"]:
        return scalar_of(resolved(schema.get("items", {}), definitions)), True
    return scalar_of(schema), False


def _nested(
    schema: dict[str, Any], definitions: Mapping[str, Any], around: tuple[dict[str, Any], ...]
) -> Iterator[Member]:
    for name, declared in schema.get("properties", {}).items():
        yield _member(name, declared, definitions, (*around, schema))


def _member(name: str, declared: Any, definitions: Mapping[str, Any], around: tuple[dict[str, Any], ...]) -> Member:
    schema = resolved(declared, definitions)
    is_array = types_of(schema) == ["array"]
    item = resolved(schema.get("items", {}), definitions) if is_array else schema
    if is_file(item):
        return Member(name=name, type=FILE, is_array=is_array, media_type=item["contentMediaType"])
    if types_of(item) == ["object"] and not any(item is one for one in around):  # a form ends where it would recur
        return Member(name=name, type="object", is_array=is_array, members=tuple(_nested(item, definitions, around)))
    return Member(name=name, type=scalar_of(item), is_array=is_array)


def _with_default(member: Member, defaults: Mapping[str, Any]) -> Member:
    """A form reads an omitted boolean as false, so what the backend takes instead has to be written (P23)."""
    if member.type != "boolean" or member.is_array or member.name not in defaults:
        return member
    return replace(member, has_default=True, default=defaults[member.name])
