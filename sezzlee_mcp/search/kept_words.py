"""Query -> the words of it that may be kept: such as are in a dictionary, not what somebody is called or knows."""

import re
import unicodedata

from sezzlee_mcp.search.tokens import tokenize

SHORTEST_CHARS = 3
WORD_CHARS = 30  # no word of a language that agents search in is longer; a secret may be

# What stands between quotation marks, or behind a colon or an equals sign, is somebody's value.
_VALUES = re.compile(
    r"""
      "[^"]*(?:"|$) | “[^”]*(?:”|$) | „[^“”]*(?:[“”]|$) | «[^»]*(?:»|$) | `[^`]*(?:`|$)
    | (?<!\w)['‘][^'’]*['’](?!\w)
    | [:=]\s*\S*
    """,
    re.VERBOSE,
)
_PUNCTUATION = ".,;!?…()[]{}"
_JOINT = re.compile(r"[-'’]")
# Words that join others, in the language that agents mostly search in: every search holds some, and none finds a tool.
JOINING = frozenset(
    tokenize(
        "about all and any are can could does each for from get has have how into its new one our own please some than "
        "that the their them then there these they this those use using via want what when where which who will with "
        "would you your"
    )
)


def kept_words(query: str) -> frozenset[str]:
    """
    The words of a query that may be kept, folded as search compares them.

    Left out is all that holds anything but letters, hyphens and apostrophes, or a capital inside: numbers, addresses,
    paths, names of code, most secrets. So is whatever is quoted, the word that follows a colon or an equals sign, and
    what is too short or too long for a word.
    """
    said = _VALUES.sub(" ", unicodedata.normalize("NFC", query))
    pieces = (piece.strip(_PUNCTUATION) for piece in said.split())
    parts = [part for piece in pieces if _is_written_as_word(piece) for part in _JOINT.split(piece)]
    words = {token for part in parts for token in tokenize(part)}
    return frozenset(word for word in words if SHORTEST_CHARS <= len(word) <= WORD_CHARS and word not in JOINING)


def _is_written_as_word(piece: str) -> bool:
    """Whether each part is letters and their marks alone, all capitals or none but the first."""
    parts = _JOINT.split(piece)
    return all(_is_of_letters(part) and (part.isupper() or part[1:] == part[1:].lower()) for part in parts)


def _is_of_letters(part: str) -> bool:
    return bool(part) and all(unicodedata.category(char)[0] in "LM" for char in part)
