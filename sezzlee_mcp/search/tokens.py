"""Text -> tokens, for queries and documents alike (search.md, "Tokens")."""

import re
import unicodedata

from sezzlee_mcp.folding import fold

SHORTEST_TOKEN_CHARS = 2
SHORTEST_PLURAL_CHARS = 4

_KINDS = {"Lu": "U", "Ll": "l", **dict.fromkeys(("Lt", "Lm", "Lo", "Mn", "Mc", "Nd"), "o")}
# On the kinds of a text's characters: a word ends before a capital that follows a small letter, and before one
# that follows a capital and precedes a small letter.
_WORD = re.compile(r"[Ulo](?:[lo]|(?<![Ul])U|(?<=U)U(?!l))*")


class _KindTable(dict[int, str]):
    """For ``str.translate``: each character becomes its kind, so places in both texts are equal."""

    def __missing__(self, code: int) -> str:
        return _KINDS.get(unicodedata.category(chr(code)), " ")


_KIND_TABLE = _KindTable()
_KIND_TABLE.update((code, _KIND_TABLE[code]) for code in range(0x250))  # Latin, ahead: what most texts are written in


def tokenize(text: str) -> tuple[str, ...]:
    """The folded tokens of ``text`` in their order, repeated as often as they stand there."""
    composed = unicodedata.normalize("NFC", text)
    words = _WORD.finditer(composed.translate(_KIND_TABLE))
    folded = (fold(composed[word.start() : word.end()]) for word in words)
    return tuple(_singular(token) for token in folded if len(token) >= SHORTEST_TOKEN_CHARS)


def _singular(token: str) -> str:
    return token[:-1] if len(token) >= SHORTEST_PLURAL_CHARS and token.endswith("s") else token
