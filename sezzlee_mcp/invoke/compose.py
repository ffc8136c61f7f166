"""Template + arguments -> the request that the dispatch sends (invoke.md, "Compose")."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sezzlee_mcp.catalog.tools import Slot, Template
from sezzlee_mcp.invoke import cookies, encode, messages
from sezzlee_mcp.invoke.arguments import NULL, Refuse, element_texts, refuse
from sezzlee_mcp.invoke.bodies import Payload, json_text, read_body, write_parts
from sezzlee_mcp.invoke.files import (
    FILE_LIMIT_BYTES,
    INLINE_LIMIT_BYTES,
    REF,
    FileArgument,
    FileContent,
    inline_content,
    refuse_over_inline_limit,
    refuse_too_large,
)
from sezzlee_mcp.invoke.forms import Form
from sezzlee_mcp.invoke.multipart import Part
from sezzlee_mcp.invoke.supply import Call, Supply, agent_name, refuse_unknown, used_aliases
from sezzlee_mcp.openapi.headers import folded

_VARIABLE = re.compile(r"\{([^{}]+)\}")
_NAMING = "content-disposition"
_LINE_BREAKS = re.compile("[\r\n\0]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeContext:
    """
    What a request depends on beside its template and the arguments.

    ``deferred`` are the values of the host's providers by source, ``carried_cookies`` the Cookie header of the
    caller's own request, ``carried_headers`` the folded names of its others that no argument may replace,
    ``inline_limit_bytes`` how much Base64 a call may carry, decoded.
    """

    deferred: Mapping[str, Any] = field(default_factory=dict)
    carried_cookies: str = ""
    carried_headers: frozenset[str] = frozenset()
    inline_limit_bytes: int = INLINE_LIMIT_BYTES


_ALONE = ComposeContext()


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedRequest:
    """
    A request as it will be sent.

    ``path`` and ``query`` are percent-encoded; ``path_values`` holds ``(name, text)`` for each place of the
    route, in its order, as a resolver captures it; the name is the agent's, empty for a hidden argument. Without a
    body, ``content_type`` is None too. ``headers`` join those of the caller's request, which only a hidden argument
    replaces; a Cookie among them begins with the caller's own. ``parts`` are those of a body that waits for its
    ``references`` (``attach``). ``used_aliases`` holds ``(alias, name)`` for each older name that the call used.
    """

    method: str
    path: str
    path_values: tuple[tuple[str, str], ...] = ()
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str | None = None
    body: bytes | None = None
    parts: tuple[Part, ...] = ()
    used_aliases: tuple[tuple[str, str], ...] = ()

    @property
    def references(self) -> tuple[FileArgument, ...]:
        """The files that the host's resolver has to give before the request can be sent."""
        return tuple(file for file in _files(self.parts) if file.source == REF)


def compose(template: Template, arguments: Mapping[str, Any], context: ComposeContext = _ALONE) -> ComposedRequest:
    """
    The request of one call; the same arguments give the same bytes.

    Raises ``CallError`` for the first fault in this order: an argument the tool does not take, then path,
    query, headers, cookies and body, each in declaration order. Whether values make sense is for the backend to say.
    """
    refuse_unknown(template, arguments)
    call = Call(arguments=arguments, deferred=context.deferred)
    path, path_values = _path(template, call)
    request = ComposedRequest(
        method=template.method,
        path=path,
        path_values=path_values,
        query="&".join(_query(template, call)),
        headers=(
            *_headers(template, call, context.carried_headers),
            *_cookie_header(template, call, context.carried_cookies),
        ),
        used_aliases=used_aliases(template, arguments),
    )
    payload = read_body(template, call)
    if payload is None:
        return request
    refuse_over_inline_limit(_files(payload.parts), context.inline_limit_bytes, template.file_sources)
    waiting = replace(request, content_type=payload.content_type, body=payload.body, parts=payload.parts)
    return waiting if waiting.references or payload.body is not None else attach(waiting, ())


def attach(
    request: ComposedRequest, contents: Sequence[FileContent], *, limit_bytes: int = FILE_LIMIT_BYTES
) -> ComposedRequest:
    """
    The request with its body, once ``contents`` gives a file for each of its ``references``, in their order.

    Raises ``file_too_large`` for one over ``limit_bytes``.
    """
    resolved = iter(contents)
    files = []
    for file in _files(request.parts):
        if file.source == REF:
            content = next(resolved)
            refuse_too_large(file, content, limit_bytes)
            files.append(content)
        else:
            files.append(inline_content(file))
    written = write_parts(Payload(content_type=request.content_type or "", parts=request.parts), files)
    named = () if written.disposition is None else (("Content-Disposition", written.disposition),)
    return replace(
        request,
        content_type=written.content_type,
        body=written.body,
        parts=(),
        headers=(*(header for header in request.headers if not named or header[0].lower() != _NAMING), *named),
    )


def _files(parts: tuple[Part, ...]) -> tuple[FileArgument, ...]:
    return tuple(part.value for part in parts if isinstance(part.value, FileArgument))


def _supplied(slot: Slot, call: Call) -> Supply | None:
    return call.supplied(slot.name, slot.exposed, required=slot.required)


def _texts(slot: Slot, supply: Supply, refuse: Refuse, *, is_ascii: bool = False) -> list[str]:
    """The texts of a slot's value before they are encoded; a JSON parameter has one."""
    if slot.type != "json":
        return element_texts(supply.name, slot.type, slot.is_array, supply.value, refuse)
    if supply.value is None:
        raise refuse(supply.name, "a value", NULL)
    return [json_text(supply.name, supply.value, is_ascii=is_ascii)]


def _path(template: Template, call: Call) -> tuple[str, tuple[tuple[str, str], ...]]:
    slots = {slot.name: slot for slot in template.slots if slot.location == "path"}
    pieces = _VARIABLE.split(template.route)  # text, name, text, name, ..., text
    written = [encode.literal(pieces[0])]
    values: list[tuple[str, str]] = []
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        place = _start_of_path if not values and not pieces[0] else _segment
        supply = _path_supply(slots[name], call)
        with supply.gate():
            value, encoded = place(slots[name], supply)
        values.append(("" if supply.is_hidden else supply.name, value))
        written += [encoded, encode.literal(text)]
    return "".join(written), tuple(values)


def _path_supply(slot: Slot, call: Call) -> Supply:
    supply = call.supplied(slot.name, slot.exposed, required=slot.required, missing=messages.missing_path_parameter)
    if supply is not None and (supply.value != [] or slot.type == "json"):
        return supply
    name = agent_name(slot.name, slot.exposed)
    raise messages.deferred_value_missing() if name is None else messages.missing_path_parameter(name)


def _segment(slot: Slot, supply: Supply) -> tuple[str, str]:
    """The value of one place as the resolver reads it, and as it is sent."""
    texts = _texts(slot, supply, messages.invalid_path_type)
    for text in texts:
        if text in {"", ".", ".."}:
            raise messages.unusable_path_value(supply.name)
    as_read = encode.path_text(slot.name, slot.style, slot.explode, texts, str)
    return as_read, encode.path_text(slot.name, slot.style, slot.explode, texts, encode.strict)


def _start_of_path(slot: Slot, supply: Supply) -> tuple[str, str]:
    """
    A variable that begins the route holds a path itself (``/api/parts/7/``), so its slashes stay.

    What it leads to is for the dispatch to check; here it only must not climb or leave the host.
    """
    value = ",".join(_texts(slot, supply, messages.invalid_path_type))
    segments = value.split("/")
    if segments[0] or len(segments) < 2 or not segments[1]:
        raise messages.invalid_path_type(supply.name, "a path that begins with one slash", "another text")
    if not {".", ".."}.isdisjoint(segments):
        raise messages.invalid_path_type(supply.name, "a path without '.' and '..'", "one that holds them")
    return value, "/".join(encode.strict(segment) for segment in segments)


def _query(template: Template, call: Call) -> Iterator[str]:
    for slot in template.slots:
        if slot.location not in {"query", "querystring"}:
            continue
        supply = _supplied(slot, call)
        if supply is not None:
            with supply.gate():
                pairs = list(_query_pairs(slot, supply))
            yield from pairs


def _query_pairs(slot: Slot, supply: Supply) -> Iterator[str]:
    if slot.type == "object":
        group = encode.strict(slot.name) if slot.location == "query" else None
        entries = Form(notation=slot.notation, encode=encode.strict).members(
            slot.members, group, supply.name, supply.value
        )
        for key, text in entries:
            yield from encode.query_pairs(key, "form", True, [str(text)], allow_reserved=slot.allow_reserved)
        return
    texts = _texts(slot, supply, refuse)
    if slot.location == "querystring":
        yield from (encode.strict(text) for text in texts)
        return
    key = encode.strict(slot.name)
    explode = slot.explode or slot.type == "json" or not isinstance(supply.value, list)
    yield from encode.query_pairs(key, slot.style, explode, texts, allow_reserved=slot.allow_reserved)


def _headers(template: Template, call: Call, taken: frozenset[str]) -> Iterator[tuple[str, str]]:
    for slot in template.slots:
        supply = _supplied(slot, call) if slot.location == "header" else None
        if supply is None:
            continue
        with supply.gate():
            texts = _texts(slot, supply, refuse, is_ascii=True)
            value = _header_value(supply.name, ",".join(texts))
        if texts and folded(slot.name) in taken and not supply.is_hidden:  # what fills a hidden one is the host's word
            raise messages.header_carrier_collision(supply.name)
        if texts:
            yield slot.name, value


def _header_value(name: str, value: str) -> str:
    if _LINE_BREAKS.search(value):
        raise messages.header_injection(name)
    try:
        value.encode("latin-1")  # WSGI carries headers so (PEP 3333)
    except UnicodeEncodeError:
        raise messages.invalid_type(name, "text in Latin-1, since it is sent as a header", "text beyond it") from None
    return value


def _cookie_header(template: Template, call: Call, carried: str) -> tuple[tuple[str, str], ...]:
    """The one Cookie header, the caller's own cookies first; none when no argument is a cookie."""
    pairs = list(_cookie_pairs(template, call, cookies.names_of(carried)))
    return (("Cookie", "; ".join([carried, *pairs] if carried else pairs)),) if pairs else ()


def _cookie_pairs(template: Template, call: Call, taken: frozenset[str]) -> Iterator[str]:
    for slot in template.slots:
        supply = _supplied(slot, call) if slot.location == "cookie" else None
        if supply is None:
            continue
        with supply.gate():
            texts = _texts(slot, supply, refuse, is_ascii=True)
            pair = cookies.pair_of(slot, supply.name, texts)
            if pair is not None and slot.name in taken:
                raise messages.cookie_carrier_collision(supply.name)
        if pair is not None:
            yield pair
