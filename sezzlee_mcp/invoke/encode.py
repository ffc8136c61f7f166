"""How the texts of one argument are written into the path, the query or a header (invoke.md, "Compose")."""

from collections.abc import Callable, Sequence
from urllib.parse import quote

_RESERVED = ":/?@!$'()*,;[]"  # what allowReserved leaves raw
_DELIMITERS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "|"}

Encode = Callable[[str], str]


def strict(text: str) -> str:
    """Percent-encoded but for the unreserved characters of RFC 3986."""
    return quote(text, safe="")


def literal(text: str) -> str:
    """The fixed part of a route as it is sent: what RFC 3986 allows in a path stays."""
    return quote(text, safe="/:@!$&'()*+,;=")


def path_text(name: str, style: str, explode: bool, texts: Sequence[str], encode: Encode) -> str:
    """One place of a path: ``1,2``; label ``.1,2`` or ``.1.2``; matrix ``;id=1,2`` or ``;id=1;id=2``."""
    encoded = [encode(text) for text in texts]
    if style == "label":
        return "." + (".".join(encoded) if explode else ",".join(encoded))
    if style == "matrix":
        key = encode(name)
        return "".join(f";{key}={text}" for text in encoded) if explode else f";{key}={','.join(encoded)}"
    return ",".join(encoded)


def query_pairs(
    key: str, style: str, explode: bool, texts: Sequence[str], *, allow_reserved: bool = False
) -> list[str]:
    """
    The ``key=value`` pairs of one parameter; no texts, no pair.

    ``key`` is already encoded. Without ``explode`` the texts are encoded one by one and joined with the
    style's raw delimiter, so a delimiter inside a text is encoded whatever ``allow_reserved`` says.
    """
    if explode:
        safe = _RESERVED if allow_reserved else ""
        return [f"{key}={quote(text, safe=safe)}" for text in texts]
    delimiter = _DELIMITERS[style]
    safe = _RESERVED.replace(delimiter, "") if allow_reserved else ""
    joined = delimiter.join(quote(text, safe=safe) for text in texts)
    return [f"{key}={joined}"] if texts else []


def member_key(notation: str, group: str, name: str) -> str:
    """The key of an object's member, of encoded names: ``group[name]`` or ``group.name``."""
    return f"{group}[{name}]" if notation == "bracket" else f"{group}.{name}"
