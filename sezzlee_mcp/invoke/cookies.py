"""Cookie arguments -> the pairs of a Cookie header (invoke.md, "Compose", 4)."""

import re
from collections.abc import Sequence

from sezzlee_mcp.catalog.tools import Slot
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.encode import strict

_OCTETS = re.compile(r"[!#-+\--:<-\[\]-~]*")  # RFC 6265, cookie-octet
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 6265, token
_RAW = "cookie"  # the style that is written as it is


def names_of(header: str) -> frozenset[str]:
    """The names of the cookies that a Cookie header carries."""
    return frozenset(pair.partition("=")[0].strip() for pair in header.split(";") if pair.strip())


def pair_of(slot: Slot, argument: str, texts: Sequence[str]) -> str | None:
    """``name=value`` of one cookie, an array joined by commas; None without a text."""
    if not texts:
        return None
    encoded = [_octets(argument, text) for text in texts] if slot.style == _RAW else [strict(text) for text in texts]
    return f"{slot.name if _NAME.fullmatch(slot.name) else strict(slot.name)}={','.join(encoded)}"


def _octets(argument: str, text: str) -> str:
    if _OCTETS.fullmatch(text) is None:
        raise messages.invalid_cookie_value(argument)
    return text
