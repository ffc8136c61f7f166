"""
Words of a query that occur nowhere -> words that do and are meant or near (search.md, "Beyond the contract").

Only what a caller may read is ever told, or tells anything: words of tools that they certainly see, and of these no
search terms.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice

from sezzlee_mcp.folding import fold
from sezzlee_mcp.search.index import FIELDS, Field, Index, Occurrences
from sezzlee_mcp.search.kept_words import JOINING
from sezzlee_mcp.search.synonyms import Synonyms
from sezzlee_mcp.search.tokens import Word, compose, spelled, tokenize, words

# A short word has many neighbours, and an agent that types one means it more often than it mistypes it.
SHORTEST_CHARS = 5
# How many letters may be missing, added, changed or swapped with the next; two from as many letters on.
SLIPS = 1
TWO_SLIPS_CHARS = 9
LONGEST_CHARS = 30
# How many words of one query are looked at: each takes as long as a search does.
WORDS_AT_MOST = 5
NEAR_AT_MOST = 5
# What is left on either side of a missing blank.
SHORTEST_PART_CHARS = 3
# Of a word that is not misspelt, what another has to begin with to be told of: "invoic" of "invoicing".
SHORTEST_START_CHARS = 4

# What callers can read of a tool, and what of that says what the tool is about.
_READABLE = frozenset(FIELDS) - {Field.SEARCH_TERMS}
_SUBJECTS = _READABLE - {Field.PARAMETERS, Field.MEMBERS}


def corrections(
    query: str, index: Index, certain: Set[str], synonyms: Synonyms, *, is_known: Callable[[str], bool]
) -> Mapping[str, str]:
    """
    The words of ``query`` that are in none of the tools ``certain``, each with what was probably meant.

    That is a synonym, or else the two words that it is without a blank, or else the word with the fewest slips; of
    several the one that most of these tools hold. What is short, holds a digit, joins words or ``is_known`` is right as
    it is.
    """

    def may_be_misspelt(word: Word) -> bool:
        return _is_correctable(word.token) and word.token not in JOINING and not is_known(fold(word.typed))

    corrected = {}
    for word in _unknown(filter(may_be_misspelt, words(compose(query))), index, certain):
        token = word.token
        slips = SLIPS if len(token) < TWO_SLIPS_CHARS else SLIPS + 1
        meant = (
            _occurring(synonyms.of(token), index, certain)[:1]
            or _parted(token, index, certain)
            or _nearest(token, index, certain, slips)[:1]
        )
        if meant:
            corrected[word.typed] = " ".join(map(spelled, meant))
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


def near_words(query: str, index: Index, certain: Set[str], synonyms: Synonyms) -> tuple[str, ...]:
    """Words of the tools ``certain`` in place of those of ``query`` that none has, at most ``NEAR_AT_MOST``."""
    near: dict[str, None] = {}
    meaning = (word for word in words(compose(query)) if word.token not in JOINING)
    for word in _unknown(meaning, index, certain):
        near |= dict.fromkeys(_near(word.token, index, certain, synonyms))
    return tuple(spelled(word) for word in near)[:NEAR_AT_MOST]


def _near(token: str, index: Index, certain: Set[str], synonyms: Synonyms) -> Sequence[str]:
    if found := _occurring(synonyms.of(token), index, certain):
        return found
    if not _is_correctable(token):
        return ()
    return _parted(token, index, certain) or _nearest(token, index, certain, SLIPS + 1) or _akin(token, index, certain)


def _unknown(typed: Iterable[Word], index: Index, certain: Set[str]) -> Iterator[Word]:
    """The first words that no tool has, nor a word that begins with them."""
    first: dict[str, Word] = {}
    for word in typed:
        first.setdefault(word.token, word)
    return islice((word for token, word in first.items() if not _occurs(token, index, certain)), WORDS_AT_MOST)


def _is_correctable(token: str) -> bool:
    return SHORTEST_CHARS <= len(token) <= LONGEST_CHARS and not any(char.isdigit() for char in token)


def _occurs(token: str, index: Index, certain: Set[str]) -> bool:
    return any(not certain.isdisjoint(index.postings[word].keys()) for word in index.matching(token))


def _occurring(tokens: Iterable[str], index: Index, certain: Set[str]) -> list[str]:
    """Those that stand where a caller can read them; those that most tools hold come first."""
    held = {token: len(_holders(token, index, certain)) for token in tokens}
    return sorted(filter(held.__getitem__, held), key=lambda token: (-held[token], token))


def _parted(token: str, index: Index, certain: Set[str]) -> Sequence[str]:
    """The two words that the token is, without the blank between them, that most tools are about both of."""
    cuts = range(SHORTEST_PART_CHARS, len(token) - SHORTEST_PART_CHARS + 1)
    pairs = {tokenize(f"{token[:cut]} {token[cut:]}") for cut in cuts}
    held = {
        pair: len(set.intersection(*(_holders(word, index, certain, _SUBJECTS) for word in pair)))
        for pair in sorted(pairs)
    }
    return max(filter(held.__getitem__, held), key=held.__getitem__, default=())


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
        and (documents := len(_holders(word, index, certain)))
    ]
    return [word for _, _, word in sorted(near)]


def _akin(token: str, index: Index, certain: Set[str]) -> list[str]:
    """The words that begin as much like the token as any word does."""
    for length in range(len(token) - 1, SHORTEST_START_CHARS - 1, -1):
        akin = [word for word in index.beginning_with(token[:length]) if _holders(word, index, certain)]
        if akin:
            return akin[:NEAR_AT_MOST]
    return []


def _holders(word: str, index: Index, certain: Set[str], fields: Set[Field] = _READABLE) -> set[str]:
    """The tools that say the word in any of these fields."""
    return {name for name, held in index.postings.get(word, {}).items() if name in certain and _is_in(held, fields)}


def _is_in(held: Occurrences, fields: Set[Field]) -> bool:
    return any(count for field, count in zip(FIELDS, held.counts, strict=True) if field in fields)


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
