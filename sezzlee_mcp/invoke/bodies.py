"""The request body of a call, in its family (invoke.md, "Bodies")."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.catalog.tools import BodyTemplate, Template
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.arguments import kind_of, refuse, scalar_text
from sezzlee_mcp.invoke.encode import strict
from sezzlee_mcp.invoke.files import FileArgument, FileContent, file_name, media_type, read_file
from sezzlee_mcp.invoke.forms import Entry, Form, supplies_file
from sezzlee_mcp.invoke.multipart import Part, file_part, text_part, with_filename, write_multipart
from sezzlee_mcp.invoke.supply import Call, Supply, agent_name, undeclared

MULTIPART = "multipart/form-data"
_URLENCODED = "application/x-www-form-urlencoded"
_TEXT = "text/plain"
_ANYTHING = "*/*"
_JSON = re.compile(r"(?:application|text)/json|[^/]+/[^/]+\+json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """
    A body: its bytes, or the ``parts`` that become them once each file is there.

    ``disposition`` is the header that names the one file of a binary body.
    """

    content_type: str
    body: bytes | None = None
    parts: tuple[Part, ...] = ()
    disposition: str | None = None


def read_body(template: Template, call: Call) -> Payload | None:
    """The body of a call; None sends none, which only a body in one argument can ask for."""
    body = template.body
    if body is None:
        return None
    bare = body.content_type.partition(";")[0].strip().lower()
    root = _root(body, call, keeps_null=_JSON.fullmatch(bare) is not None)
    if body.argument is not None and root is None:
        return None
    if body.file_content_type is not None and _holds_file(body, root, call):
        entries = _entries(template, body, root, call, _form(template, body, is_alternative=True))
        return Payload(content_type=MULTIPART, parts=_parts(entries))
    if _JSON.fullmatch(bare):
        return Payload(content_type=_with_charset(body.content_type), body=_json_body(template, body, root, call))
    if bare == _URLENCODED:
        entries = _entries(template, body, root, call, _form(template, body, is_urlencoded=True))
        return Payload(content_type=body.content_type, body=_urlencoded(entries))
    if bare == MULTIPART:
        return Payload(
            content_type=MULTIPART, parts=_parts(_entries(template, body, root, call, _form(template, body)))
        )
    assert root is not None  # noqa: S101  (text and bytes are bodies of one argument; the catalog makes no other)
    if bare == _TEXT:
        return Payload(content_type=_with_charset(body.content_type), body=_text(root))
    return Payload(content_type=body.content_type, parts=(_file(template, body, root),))


def write_parts(payload: Payload, contents: Sequence[FileContent]) -> Payload:
    """The body written from its parts; ``contents`` are those of its files, in their order."""
    remaining = iter(contents)
    if payload.content_type != MULTIPART:
        (part,) = payload.parts
        assert isinstance(part.value, FileArgument)  # noqa: S101  (a binary body is one file)
        return _binary(payload.content_type, part.value, next(remaining))
    written = [
        text_part(part.name, part.value)
        if isinstance(part.value, str)
        else file_part(part.name, part.value, next(remaining))
        for part in payload.parts
    ]
    content_type, body = write_multipart(written)
    return Payload(content_type=content_type, body=body)


def _binary(content_type: str, file: FileArgument, content: FileContent) -> Payload:
    return Payload(
        content_type=media_type(file, content) if content_type == _ANYTHING else content_type,
        body=content.data,
        disposition=with_filename("attachment", file_name(file, content)),
    )


def _root(body: BodyTemplate, call: Call, *, keeps_null: bool) -> Supply | None:
    if body.argument is None:
        return None
    exposed = body.exposed.get(body.argument)
    return call.supplied(body.argument, exposed, required=body.required, keeps_null=keeps_null)


def _holds_file(body: BodyTemplate, root: Supply | None, call: Call) -> bool:
    values = root.value if root is not None else _field_values(body, call)
    return isinstance(values, dict) and any(
        supplies_file(member, values[member.name]) for member in body.form if member.name in values
    )


def _field_values(body: BodyTemplate, call: Call) -> dict[str, Any]:
    supplies = ((member.name, call.supplied(member.name, body.exposed.get(member.name))) for member in body.form)
    return {name: supply.value for name, supply in supplies if supply is not None}


def _json_body(template: Template, body: BodyTemplate, root: Supply | None, call: Call) -> bytes:
    if root is not None:
        return _gated_json(root)
    members = [*_json_members(body, call), *_open_members(template, call)]
    return b"{" + b",".join(members) + b"}"


def _json_members(body: BodyTemplate, call: Call) -> Iterator[bytes]:
    for name in body.properties:
        supply = call.supplied(name, body.exposed.get(name), keeps_null=True)
        if supply is not None:
            yield json_text(name, name).encode() + b":" + _gated_json(supply)


def _open_members(template: Template, call: Call) -> Iterator[bytes]:
    for name in undeclared(template, call.arguments):
        yield (json_text(name, name) + ":" + json_text(name, call.arguments[name])).encode()


def _gated_json(supply: Supply) -> bytes:
    with supply.gate():
        return json_text(supply.name, supply.value).encode()


def json_text(name: str, value: Any, *, is_ascii: bool = False) -> str:
    """The value as JSON without blanks; what JSON or UTF-8 has no form for is ``invalid_type``."""
    try:
        text = json.dumps(value, ensure_ascii=is_ascii, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (ValueError, RecursionError):  # no number JSON has, half of a surrogate pair, nested without end
        raise messages.invalid_type(name, "a value that JSON can carry", "one that it cannot") from None
    return text


def _with_charset(media_type: str) -> str:
    return media_type if "charset=" in media_type.lower() else f"{media_type}; charset=utf-8"


def _form(template: Template, body: BodyTemplate, *, is_urlencoded: bool = False, is_alternative: bool = False) -> Form:
    """How this body is written as a form; an alternative is written in the place of JSON, for a file's sake."""
    return Form(
        notation=body.notation,
        encode=strict if is_urlencoded else str,
        file_sources=template.file_sources,
        refuse=messages.invalid_form_type if is_alternative else refuse,
        fills_booleans=template.method != "PATCH",  # to a partial update an omitted boolean is omitted in a form too
        asks_for_booleans=is_alternative,
    )


def _entries(template: Template, body: BodyTemplate, root: Supply | None, call: Call, form: Form) -> list[Entry]:
    if root is not None:
        with root.gate():
            return list(form.members(body.form, None, root.name, root.value))
    if others := undeclared(template, call.arguments):
        raise messages.unknown_argument(others[0], template.argument_names)  # a form is closed
    _refuse_unwritable(body, call, form)
    return list(_field_entries(body, call, form))


def _refuse_unwritable(body: BodyTemplate, call: Call, form: Form) -> None:
    """Refuses a field that JSON carries and a form does not declare; left out in silence it would be lost."""
    declared = {member.name for member in body.form}
    for name in body.properties:
        supply = None if name in declared else call.supplied(name, body.exposed.get(name))
        if supply is not None:
            with supply.gate():
                raise form.refuse(supply.name, "left out", kind_of(supply.value))


def _field_entries(body: BodyTemplate, call: Call, form: Form) -> Iterator[Entry]:
    for member in body.form:
        exposed = body.exposed.get(member.name)
        supply = call.supplied(member.name, exposed)
        key = form.encode(member.name)
        if supply is None:
            yield from form.omitted(member, key, agent_name(member.name, exposed))
        else:
            with supply.gate():
                entries = list(form.member(member, key, supply.name, supply.value))
            yield from entries


def _parts(entries: list[Entry]) -> tuple[Part, ...]:
    return tuple(Part(name=key, value=value) for key, value in entries)


def _urlencoded(entries: list[Entry]) -> bytes:
    # The catalog puts no file into such a form; one that stood there would have no text.
    return "&".join(f"{key}={strict(value)}" for key, value in entries if isinstance(value, str)).encode()


def _text(root: Supply) -> bytes:
    with root.gate():
        return scalar_text(root.name, "string", root.value, refuse).encode()


def _file(template: Template, body: BodyTemplate, root: Supply) -> Part:
    declared = body.content_type if body.content_type != _ANYTHING else None
    declared_type = next((member.media_type for member in body.form), None) or declared
    field = body.argument or root.name
    with root.gate():
        file = read_file(root.name, field, root.value, sources=template.file_sources, declared_type=declared_type)
    return Part(name=field, value=file)
