"""
Words of a query that occur nowhere -> words that do and are nearly the same (search.md, "Beyond the contract").

Only what a caller may read is ever told, or tells anything: words of tools that they certainly see, and of these no
search terms.
"""

from collections.abc import Callable, Mapping, Set

from sezzlee_mcp.folding import fold
from sezzlee_mcp.search.index import FIELDS, Field, Index, Occurrences
from sezzlee_mcp.search.kept_words import JOINING
from sezzlee_mcp.search.tokens import Word, compose, spelled, words

# A short word has many neighbours, and an agent that types one means it more often than it mistypes it.
SHORTEST_CHARS = 5
# How many letters may be missing, added, changed or swapped with the next; two from as many letters on.
SLIPS = 1
TWO_SLIPS_CHARS = 9
LONGEST_CHARS = 30
# How many words of one query are looked at: each takes as long as a search does.
WORDS_AT_MOST = 5
NEAR_AT_MOST = 5
# Of a word that is not misspelt, what another has to begin with to be told of: "invoic" of "invoicing".
SHORTEST_START_CHARS = 4


def corrections(query: str, index: Index, certain: Set[str], *, is_known: Callable[[str], bool]) -> Mapping[str, str]:
    """
    The words of ``query`` that are in none of the tools ``certain``, each with the one that was probably meant.

    That is the word with the fewest slips, then the one that most of these tools hold. What is short, holds a digit,
    joins words or ``is_known`` is right as it is.
    """
    corrected = {}
    for word in _unknown(query, index, certain):
        if word.token in JOINING or is_known(fold(word.typed)):
            continue
        slips = SLIPS if len(word.token) < TWO_SLIPS_CHARS else SLIPS + 1
        if found := _nearest(word.token, index, certain, slips):
            corrected[word.typed] = spelled(found[0])
    return corrected


def corrected_query(query: str, corrected: Mapping[str, str]) -> str:
    """
    The query with what was probably meant before what was typed, which stays: tools that are not certain may hold it.
    """
    if not corrected:
        return query
    pieces, end, composed = [], 0, compose(query)
    for word in words(composed):
        if word.typed in corrected:
            pieces += [composed[end : word.start], corrected[word.typed], " "]
            end = word.start
    return "".join([*pieces, composed[end:]])


def near_words(query: str, index: Index, certain: Set[str]) -> tuple[str, ...]:
    """Words of the tools ``certain`` that are like those of ``query`` that none has, at most ``NEAR_AT_MOST``."""
    near: dict[str, None] = {}
    for word in _unknown(query, index, certain):
        near |= dict.fromkeys(_nearest(word.token, index, certain, SLIPS + 1) or _akin(word.token, index, certain))
    return tuple(spelled(word) for word in near)[:NEAR_AT_MOST]


def _unknown(query: str, index: Index, certain: Set[str]) -> list[Word]:
    """The first words of a query that may be misspelt: no tool has them, nor a word that begins with them."""
    found: dict[str, Word] = {}
    for word in words(compose(query)):
        if len(found) == WORDS_AT_MOST:
            break
        if _is_correctable(word.token) and word.token not in found and not _occurs(word.token, index, certain):
            found[word.token] = word
    return list(found.values())


def _is_correctable(token: str) -> bool:
    return SHORTEST_CHARS <= len(token) <= LONGEST_CHARS and not any(char.isdigit() for char in token)


def _occurs(token: str, index: Index, certain: Set[str]) -> bool:
    return any(not certain.isdisjoint(index.postings[word].keys()) for word in index.matching(token))


def _nearest(token: str, index: Index, certain: Set[str], slips: int) -> list[str]:
    """
    The words with the fewest slips, at most ``slips``; those that most tools hold come first.

    They begin with the same letter, which is seldom mistyped and leaves a small part of the vocabulary to look at.
    """
    near = [
        (distance, -documents, word)
        for word in index.beginning_with(token[0])
        if abs(len(word) - len(token)) <= slips
        and _is_correctable(word)
        and (distance := _distance(token, word)) <= slips
        and (documents := _readable_in(word, index, certain))
    ]
    return [word for _, _, word in sorted(near)]


def _akin(token: str, index: Index, certain: Set[str]) -> list[str]:
    """The words that begin as much like the token as any word does."""
    for length in range(len(token) - 1, SHORTEST_START_CHARS - 1, -1):
        akin = [word for word in index.beginning_with(token[:length]) if _readable_in(word, index, certain)]
        if akin:
            return akin[:NEAR_AT_MOST]
    return []


def _readable_in(word: str, index: Index, certain: Set[str]) -> int:
    """How many tools say the word where their callers can read it."""
    return sum(name in certain and _is_readable(held) for name, held in index.postings[word].items())


def _is_readable(held: Occurrences) -> bool:
    return any(count for field, count in zip(FIELDS, held.counts, strict=True) if field is not Field.SEARCH_TERMS)


def _distance(left: str, right: str) -> int:
    """How many letters were missed, added, changed or swapped with their neighbour ("optimal string alignment")."""
    above, row = [0] * (len(right) + 1), list(range(len(right) + 1))
    for i, one in enumerate(left, start=1):
        above, before, row = row, above, [i]
        for j, other in enumerate(right, start=1):
            steps = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (one != other))
            if i > 1 and j > 1 and one == right[j - 2] and left[i - 2] == other:
                steps = min(steps, before[j - 2] + 1)
            row.append(steps)
    return row[-1]
