"""Index + query -> names in order: BM25 as search.md, "Match and score", fixes it."""

from collections import defaultdict
from collections.abc import Iterable
from math import fsum, log

from sezzlee_mcp.search.index import K1, Index
from sezzlee_mcp.search.tokens import tokenize


def rank(index: Index, query: str) -> tuple[str, ...]:
    """The names of the documents that match, best first; a query without a token lists every name by code point."""
    tokens = set(tokenize(query))
    if not tokens:
        return index.names
    scores = _scores(index, tokens)
    # Equal scores keep the order of their numbers, which is that of their names.
    ordered = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return tuple(index.names[number] for number in ordered)


def _scores(index: Index, tokens: Iterable[str]) -> dict[int, float]:
    gains: defaultdict[int, list[float]] = defaultdict(list)
    for token in tokens:
        for number, gain in _gains(index, token):
            gains[number].append(gain)
    # fsum is exact, so documents that gain the same from different words tie, whatever the words' order.
    return {number: fsum(parts) for number, parts in gains.items()}


def _gains(index: Index, token: str) -> list[tuple[int, float]]:
    frequencies, dampings = index.frequencies(token), index.dampings
    idf = log(1 + (len(index.names) - len(frequencies) + 0.5) / (len(frequencies) + 0.5))
    return [(number, idf * (tf * (K1 + 1) / (tf + dampings[number]))) for number, tf in frequencies.items()]
