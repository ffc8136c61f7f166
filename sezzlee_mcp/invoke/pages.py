"""The address of the next page, as a paginated body gives it -> the arguments of the call that asks for it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from sezzlee_mcp.catalog.tools import Slot, Template
from sezzlee_mcp.invoke.supply import agent_name

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_BOOLEANS = {"true": True, "false": False}

Pairs = dict[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedCall:
    """
    The call whose answer may be a page: what the agent sent, and the ``query`` that it became, percent-encoded.

    ``version`` is the one that the agent pinned the call to.
    """

    tool: str
    arguments: Mapping[str, Any]
    template: Template
    query: str
    version: str | None = None


def next_arguments(body: Any, address: str | None, call: PagedCall) -> dict[str, Any] | None:
    """
    The arguments with which ``call`` leads to the next page of ``body``; None when nothing says that there is one.

    ``address`` is the absolute one that was called. A next page at another address belongs to another operation or
    another host. Arguments that the next address writes as this call did, or leaves out, stay as they were sent; there
    are no arguments when it sets what the agent cannot.
    """
    link = _link(body)
    if link is None or address is None:
        return None
    try:
        asked = _query_of(link, address)
        return None if asked is None else _arguments(asked, _pairs(call.query), call)
    except ValueError:  # no address, or bytes in it that are no text
        return None


def _link(body: Any) -> str | None:
    """``next``, or ``links.next``."""
    if not isinstance(body, dict):
        return None
    links = body.get("links")
    found = (body.get("next"), links.get("next") if isinstance(links, dict) else None)
    return next((link for link in found if isinstance(link, str) and link), None)


def _query_of(link: str, address: str) -> Pairs | None:
    here, there = urlsplit(address), urlsplit(urljoin(address, link))
    is_same = there.netloc.lower() == here.netloc.lower() and unquote(there.path) == unquote(here.path)
    return _pairs(there.query) if is_same and there.scheme in {"http", "https"} else None


def _pairs(query: str) -> Pairs:
    """The texts under each key, in their order."""
    pairs: Pairs = {}
    for key, text in parse_qsl(query, keep_blank_values=True, errors="strict"):
        pairs.setdefault(key, []).append(text)
    return pairs


def _arguments(asked: Pairs, sent: Pairs, call: PagedCall) -> dict[str, Any] | None:
    slots = {slot.name: slot for slot in call.template.slots if slot.location == "query"}
    arguments = dict(call.arguments)
    changed = {key: texts for key, texts in asked.items() if texts != sent.get(key)}
    for key, texts in changed.items():
        slot = slots.get(key)
        name = None if slot is None else agent_name(slot.name, slot.exposed)
        if slot is None or name is None:
            return None
        for known in slot.exposed.names if slot.exposed else ():
            arguments.pop(known, None)
        arguments[name] = _value(slot, texts)
    return arguments if changed else None


def _value(slot: Slot, texts: list[str]) -> Any:
    """The value that is written as these texts; ValueError for one whose texts do not tell it."""
    if slot.is_array and slot.explode:
        return [_scalar(slot.type, text) for text in texts]
    if slot.is_array or len(texts) > 1:
        raise ValueError(f"{slot.name} is written in one text")
    return _scalar(slot.type, texts[0])


def _scalar(kind: str, text: str) -> Any:
    if kind in {"string", "any"}:
        return text
    if kind == "boolean" and text in _BOOLEANS:
        return _BOOLEANS[text]
    if kind in {"integer", "number"} and _INTEGER.fullmatch(text):
        return int(text)
    raise ValueError(f"{text!r} is no {kind}")
