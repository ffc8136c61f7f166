"""Template + arguments -> the request that the dispatch sends (invoke.md, "Compose")."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.catalog.tools import BodyTemplate, Slot, Template
from sezzlee_mcp.invoke import encode, messages
from sezzlee_mcp.invoke.arguments import element_texts, kind_of, refuse

_VARIABLE = re.compile(r"\{([^{}]+)\}")
_LINE_BREAKS = re.compile("[\r\n\0]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedRequest:
    """
    A request as it will be sent.

    ``path`` and ``query`` are percent-encoded; ``path_values`` holds ``(name, text)`` for each place of the
    route, in its order, as a resolver captures it. Without a body, ``content_type`` is None too.
    """

    method: str
    path: str
    path_values: tuple[tuple[str, str], ...] = ()
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str | None = None
    body: bytes | None = None


def compose(template: Template, arguments: Mapping[str, Any]) -> ComposedRequest:
    """
    The request of one call; the same arguments give the same bytes.

    Raises ``CallError`` for the first fault in this order: an argument the tool does not take, then path,
    query, headers and body, each in declaration order. Whether values make sense is for the backend to say.
    """
    _refuse_unknown(template, arguments)
    path, path_values = _path(template, arguments)
    query = "&".join(_query(template, arguments))
    headers = tuple(_headers(template, arguments))
    body = _body(template, arguments)
    return ComposedRequest(
        method=template.method,
        path=path,
        path_values=path_values,
        query=query,
        headers=headers,
        content_type=None if template.body is None or body is None else _content_type(template.body.content_type),
        body=body,
    )


def _refuse_unknown(template: Template, arguments: Mapping[str, Any]) -> None:
    if _takes_any_field(template.body):
        return
    permitted = template.argument_names
    for name in arguments:
        if name not in permitted:
            raise messages.unknown_argument(name, permitted)


def _path(template: Template, arguments: Mapping[str, Any]) -> tuple[str, tuple[tuple[str, str], ...]]:
    slots = {slot.name: slot for slot in template.slots if slot.location == "path"}
    pieces = _VARIABLE.split(template.route)  # text, name, text, name, ..., text
    written = [encode.literal(pieces[0])]
    values: list[tuple[str, str]] = []
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        is_start = not values and not pieces[0]
        value, encoded = _start_of_path(slots[name], arguments) if is_start else _segment(slots[name], arguments)
        values.append((name, value))
        written += [encoded, encode.literal(text)]
    return "".join(written), tuple(values)


def _segment(slot: Slot, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """The value of one place as the resolver reads it, and as it is sent."""
    texts = _path_texts(slot, arguments)
    for text in texts:
        if text in {"", ".", ".."}:
            raise messages.unusable_path_value(slot.name)
    as_read = encode.path_text(slot.name, slot.style, slot.explode, texts, str)
    return as_read, encode.path_text(slot.name, slot.style, slot.explode, texts, encode.strict)


def _start_of_path(slot: Slot, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """
    A variable that begins the route holds a path itself (``/api/parts/7/``), so its slashes stay.

    What it leads to is for the dispatch to check; here it only must not climb or leave the host.
    """
    value = ",".join(_path_texts(slot, arguments))
    segments = value.split("/")
    if segments[0] or len(segments) < 2 or not segments[1]:
        raise messages.invalid_path_type(slot.name, "a path that begins with one slash", "another text")
    if not {".", ".."}.isdisjoint(segments):
        raise messages.invalid_path_type(slot.name, "a path without '.' and '..'", "one that holds them")
    return value, "/".join(encode.strict(segment) for segment in segments)


def _path_texts(slot: Slot, arguments: Mapping[str, Any]) -> list[str]:
    if slot.name not in arguments or arguments[slot.name] == []:
        raise messages.missing_path_parameter(slot.name)
    return element_texts(slot.name, slot.type, slot.is_array, arguments[slot.name], messages.invalid_path_type)


def _query(template: Template, arguments: Mapping[str, Any]) -> Iterator[str]:
    for slot in template.slots:
        if slot.location == "query" and slot.name in arguments:
            yield from _query_pairs(slot, arguments[slot.name])


def _query_pairs(slot: Slot, value: Any) -> Iterator[str]:
    if slot.type == "object":
        yield from _deep_object_pairs(slot, value)
        return
    texts = element_texts(slot.name, slot.type, slot.is_array, value, refuse)
    key = encode.strict(slot.name)
    explode = slot.explode or not isinstance(value, list)
    yield from encode.query_pairs(key, slot.style, explode, texts, allow_reserved=slot.allow_reserved)


def _deep_object_pairs(slot: Slot, value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        raise refuse(slot.name, "an object", kind_of(value))
    declared = {f"{slot.name}.{member.name}": member for member in slot.members}
    for name in value:
        if f"{slot.name}.{name}" not in declared:
            raise messages.unknown_argument(f"{slot.name}.{name}", tuple(declared))
    for dotted, member in declared.items():
        if member.name in value:
            texts = element_texts(dotted, member.type, member.is_array, value[member.name], refuse)
            key = f"{encode.strict(slot.name)}[{encode.strict(member.name)}]"
            yield from encode.query_pairs(key, slot.style, True, texts, allow_reserved=slot.allow_reserved)


def _headers(template: Template, arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for slot in template.slots:
        if slot.location == "header" and slot.name in arguments:
            texts = element_texts(slot.name, slot.type, slot.is_array, arguments[slot.name], refuse)
            if texts:
                yield slot.name, _header_value(slot.name, ",".join(texts))


def _header_value(name: str, value: str) -> str:
    if _LINE_BREAKS.search(value):
        raise messages.header_injection(name)
    try:
        value.encode("latin-1")  # WSGI carries headers so (PEP 3333)
    except UnicodeEncodeError:
        raise messages.invalid_type(name, "text in Latin-1, since it is sent as a header", "text beyond it") from None
    return value


def _takes_any_field(body: BodyTemplate | None) -> bool:
    return body is not None and body.argument is None and body.is_open


def _body(template: Template, arguments: Mapping[str, Any]) -> bytes | None:
    """The body's bytes; None sends none, which only a body in one argument can ask for."""
    body = template.body
    if body is None:
        return None
    if body.argument is not None:
        return _json(body.argument, arguments[body.argument]) if body.argument in arguments else None
    names = [name for name in body.properties if name in arguments] + _undeclared(template, arguments)
    return b"{" + b",".join(_json(name, name) + b":" + _json(name, arguments[name]) for name in names) + b"}"


def _undeclared(template: Template, arguments: Mapping[str, Any]) -> list[str]:
    """The arguments that only an open body takes; from any other call they were refused before."""
    declared = set(template.argument_names)
    return [name for name in arguments if name not in declared]


def _json(name: str, value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError):  # no number JSON has, half of a surrogate pair, nested without end
        raise messages.invalid_type(name, "a value that JSON can carry", "one that it cannot") from None


def _content_type(media_type: str) -> str:
    return media_type if "charset=" in media_type.lower() else f"{media_type}; charset=utf-8"
