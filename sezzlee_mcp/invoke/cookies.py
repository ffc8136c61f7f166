"""Cookie arguments -> the pairs of a Cookie header (invoke.md, "Compose", 4)."""

import re
from collections.abc import Sequence

from sezzlee_mcp.catalog.tools import Slot
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.encode import strict

_OCTETS = re.compile(r"[!#-+\--:<-\[\]-~]*")  # RFC 6265, cookie-octet
_RAW = "cookie"  # the style that is written as it is


def names_of(header: str) -> frozenset[str]:
    """The names of the cookies that a Cookie header carries."""
    return frozenset(pair.partition("=")[0].strip() for pair in header.split(";") if pair.strip())


def pairs(slot: Slot, argument: str, texts: Sequence[str]) -> list[str]:
    """``name=value`` for the texts of one cookie; an array is one value unless it is exploded, and none when empty."""
    encoded = [_octets(argument, text) for text in texts] if slot.style == _RAW else [strict(text) for text in texts]
    name = strict(slot.name)
    if slot.explode:
        return [f"{name}={text}" for text in encoded]
    return [f"{name}={','.join(encoded)}"] if texts else []


def _octets(argument: str, text: str) -> str:
    if _OCTETS.fullmatch(text) is None:
        raise messages.invalid_cookie_value(argument)
    return text
