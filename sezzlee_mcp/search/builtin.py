"""What a query's tokens gain each document -> names, best first: what all built-in rankers have in common."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial
from heapq import nlargest
from itertools import accumulate, islice, repeat
from math import fsum

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search.results import Order
from sezzlee_mcp.search.score import Gain, Score
from sezzlee_mcp.search.spelling import corrected_query
from sezzlee_mcp.search.tokens import tokenize

# How many tokens' gains a ranker keeps: the same words come again and again, and it takes longest to work them out.
KEPT_TOKENS = 512
# How many names are put in order at first: more than a search shows, and all that most searches ever ask for.
FIRST_NAMES = 64
# Sums of floats are off by a few of their last bits. What is nearer than this to a bound may lie on it.
_ROUNDING = 1 - 1e-9

# The words of a query that may be misspelt, each with the one that was probably meant, told from these names alone.
Corrections = Callable[[str, Set[str]], Mapping[str, str]]
# A query token -> what it gains each document that it matches, by the documents' names.
Gains = Callable[[str], Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Factors:
    """
    What the gains of a query are multiplied with, by the documents' names.

    ``rules`` says of one document which rules make up its factor, and with how much each.
    """

    by_name: Mapping[str, float]
    rules: Callable[[str], Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a query is ranked by: its tokens, each with what multiplies its gains, and what the documents have."""

    tokens: Mapping[str, float]
    factors: Factors | None = None


def read_tokens(query: str) -> Reading:
    """The reading of a query as its tokens, each once, and nothing more."""
    return Reading(tokens=dict.fromkeys(tokenize(query), 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    """What one query token gains the documents that it matches, by name; ``most`` is the largest of them."""

    gains: Mapping[str, float]
    most: float


_NO_MATCH = _Match(gains={}, most=0.0)


class BuiltInRanker:
    """
    A ranker that scores a document with the sum of what each query token gains it, every token counted once.

    ``ways`` are the ways in which a token can match: the first in which it gains any document counts. ``read`` may
    weigh tokens, and multiply scores. ``corrections`` says which words of a query may be misspelt. All of
    them have to be pure functions. ``explained`` says from what one document gains what it does.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        ways: Sequence[Gains],
        explained: Callable[[str, SearchDocument, float], Gain],
        read: Callable[[str], Reading] = read_tokens,
        corrections: Corrections = lambda query, certain: {},
    ) -> None:
        self._names = names
        self._ways = [lru_cache(KEPT_TOKENS)(way) for way in ways]
        self._explained = explained
        self._read = read
        self._corrections = corrections
        self._kept = lru_cache(KEPT_TOKENS)(_match)

    def order(self, query: str, certain: Set[str]) -> Order:
        """What the query finds, with the likely word beside each that ``certain`` do not hold."""
        corrected = self._corrections(query, certain)
        return Order(among=partial(self.rank, corrected_query(query, corrected)), corrected=corrected)

    def rank(self, query: str, among: Set[str]) -> Iterator[str]:
        """
        The names ``among`` the catalog's that match, best first, equal scores by code point.

        A query without a token lists every name. What is never asked for is never put in order.
        """
        reading = self._read(query)
        if not reading.tokens:
            yield from filter(among.__contains__, self._names)
            return
        matches = [self._matched(token, reading, among) for token in reading.tokens]
        first = _best(matches, FIRST_NAMES)
        yield from first
        if len(first) == FIRST_NAMES:
            yield from islice(_best(matches, len(self._names)), FIRST_NAMES, None)

    def explain(self, query: str, document: SearchDocument) -> Score:
        """The score of one of the catalog's documents, by which ``rank`` places it, and what makes it up."""
        reading = self._read(query)
        gained = {token: self._gain(token, document.name) * weight for token, weight in reading.tokens.items()}
        return Score(
            gains=tuple(self._explained(token, document, gain) for token, gain in gained.items()),
            rules=reading.factors.rules(document.name) if reading.factors else {},
        )

    def _gain(self, token: str, name: str) -> float:
        found = (way(token) for way in self._ways)
        return next((gains.get(name, 0.0) for gains in found if gains), 0.0)

    def _matched(self, token: str, reading: Reading, among: Set[str]) -> _Match:
        found = (
            self._narrowed(self._kept(way, token, reading.tokens[token], reading.factors), among) for way in self._ways
        )
        return next((each for each in found if each.gains), _NO_MATCH)

    def _narrowed(self, match: _Match, among: Set[str]) -> _Match:
        if len(among) == len(self._names):
            return match
        gains = {name: match.gains[name] for name in match.gains.keys() & among}
        return _Match(gains=gains, most=max(gains.values(), default=0.0))


def _match(way: Gains, token: str, weight: float, factors: Factors | None) -> _Match:
    """What a token gains in one way, multiplied with all that a query multiplies it with."""
    gains = way(token)
    if factors is not None:
        by_name = factors.by_name
        gains = {name: gain * weight * by_name[name] for name, gain in gains.items()}
    return _Match(gains=gains, most=max(gains.values(), default=0.0))


def _best(matches: Iterable[_Match], count: int) -> list[str]:
    """
    The ``count`` names with the highest scores, in their order.

    The tokens that can gain a document most come first. As soon as ``count`` documents have more than all tokens that
    are left could gain another one, only documents found so far can be among the best ("MaxScore").
    """
    ordered = sorted(matches, key=lambda match: match.most, reverse=True)
    lefts = [*accumulate(match.most for match in reversed(ordered))][::-1]
    sums: dict[str, float] = {}
    for match, left in zip(ordered, lefts, strict=True):
        if _nth(sums, count) * _ROUNDING > left:
            break
        sums = _added(sums, match.gains)
    else:
        left = 0.0
    if left or len(ordered) > 2:  # a sum of two numbers is rounded once, as fsum's is
        reach = (_nth(sums, count) - left) * _ROUNDING
        sums = _scores(ordered, [name for name, found in sums.items() if found >= reach])
    return nlargest(count, sorted(sums), key=sums.__getitem__)  # which keeps the order of equal scores


def _nth(sums: Mapping[str, float], count: int) -> float:
    """The sum that ``count`` documents have at least."""
    return nlargest(count, sums.values())[-1] if len(sums) >= count else 0.0


def _added(sums: dict[str, float], gains: Mapping[str, float]) -> dict[str, float]:
    if not sums:
        return dict(gains)
    for name, gain in gains.items():
        sums[name] = sums.get(name, 0.0) + gain
    return sums


def _scores(matches: Iterable[_Match], names: list[str]) -> dict[str, float]:
    """
    The sums of what these documents are gained.

    fsum is exact, so documents that gain the same from different tokens tie, whatever the tokens' order.
    """
    columns = (map(match.gains.get, names, repeat(0.0)) for match in matches)
    return dict(zip(names, map(fsum, zip(*columns, strict=True)), strict=True))
