"""Text -> tokens, for queries and documents alike (search.md, "Tokens")."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

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


class Word(NamedTuple):
    """A token and what was typed for it, which stands at ``start`` of the composed text."""

    typed: str
    start: int
    token: str


def tokenize(text: str) -> tuple[str, ...]:
    """The folded tokens of ``text`` in their order, repeated as often as they stand there."""
    return tuple(word.token for word in words(compose(text)))


def words(composed: str) -> Iterator[Word]:
    """The words that hold a token, in their order."""
    for found in _WORD.finditer(composed.translate(_KIND_TABLE)):
        typed = composed[found.start() : found.end()]
        folded = fold(typed)
        if len(folded) >= SHORTEST_TOKEN_CHARS:
            yield Word(typed, found.start(), _singular(folded))


def spelled(token: str) -> str:
    """A word that becomes the token: what still ends in ``s`` has lost another one."""
    return f"{token}s" if _singular(token) != token else token


def compose(text: str) -> str:
    """The text in NFC: composed and decomposed spellings are split alike."""
    return unicodedata.normalize("NFC", text)


def _singular(token: str) -> str:
    return token[:-1] if len(token) >= SHORTEST_PLURAL_CHARS and token.endswith("s") else token
