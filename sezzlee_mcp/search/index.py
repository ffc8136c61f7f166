"""What search holds of a catalog: weighed documents, and the index of all of them (search.md, "Match and score")."""

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.folding import fold
from sezzlee_mcp.search.tokens import tokenize

NAME_WEIGHT = 3.0
TEXT_WEIGHT = 1.5  # the description and the declared search terms
FACT_WEIGHT = 1.0  # tags, routes, parameters

K1 = 1.2
B = 0.75

SHORTEST_PREFIX_CHARS = 3
_BEYOND_ANY_TOKEN = chr(sys.maxunicode)  # a noncharacter: it separates, so no token holds it


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTokens:
    """
    A tool's document, weighed: all that the index needs of it.

    ``weights[i]`` is the sum over all places of ``tokens[i]``, ``length`` the sum of all weights, ``tags`` the
    folded tags. The weights are multiples of one half, so every sum of them is exact in any order.
    """

    tokens: tuple[str, ...]
    weights: tuple[float, ...]
    length: float
    tags: tuple[str, ...]


def weigh(document: SearchDocument) -> DocumentTokens:
    """The weighed tokens of ``document``; it depends on nothing else, so it is kept as long as the tool's content."""
    weights: defaultdict[str, float] = defaultdict(float)
    for weight, text in _weighted_texts(document):
        for token in tokenize(text):
            weights[sys.intern(token)] += weight  # thousands of documents share their words
    return DocumentTokens(
        tokens=tuple(weights),
        weights=tuple(weights.values()),
        length=sum(weights.values()),
        tags=tuple(sorted({sys.intern(fold(tag)) for tag in document.tags})),
    )


def _weighted_texts(document: SearchDocument) -> Iterator[tuple[float, str]]:
    yield NAME_WEIGHT, document.name
    for text in (document.description, *document.search_terms):
        yield TEXT_WEIGHT, text
    for text in (*document.tags, document.route, *document.alternate_routes, *document.parameters):
        yield FACT_WEIGHT, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """
    A whole catalog, ready to be ranked.

    A document's number is the place of its name in ``names``, which is sorted by code point. The postings of
    ``vocabulary[i]`` are ``numbers`` and ``weights`` from ``starts[i]`` to ``starts[i + 1]``: tokens that share a
    prefix are neighbours, and so are their postings. ``dampings`` is what BM25
    adds to a frequency in each document for the document's length.
    """

    names: tuple[str, ...]
    tags: Mapping[str, tuple[str, ...]]
    dampings: Sequence[float]
    vocabulary: tuple[str, ...]
    starts: Sequence[int]
    numbers: Sequence[int]
    weights: Sequence[float]

    @classmethod
    def build(cls, documents: Mapping[str, DocumentTokens]) -> Self:
        """The index over ``documents``, which are given by tool name; their order has no effect."""
        names = tuple(sorted(documents))
        vocabulary, starts, numbers, weights = _postings([documents[name] for name in names])
        return cls(
            names=names,
            tags={name: documents[name].tags for name in names},
            dampings=_dampings([documents[name].length for name in names]),
            vocabulary=vocabulary,
            starts=starts,
            numbers=numbers,
            weights=weights,
        )

    def frequencies(self, token: str) -> dict[int, float]:
        """
        The frequency of a query token in each document that it matches, by document number.

        A token of three or more characters matches what it is a prefix of, a shorter one only its equal.
        """
        start, end = self._span(token)
        found: dict[int, float] = {}
        for number, weight in zip(self.numbers[start:end], self.weights[start:end], strict=True):
            found[number] = found.get(number, 0.0) + weight
        return found

    def _span(self, token: str) -> tuple[int, int]:
        first = bisect_left(self.vocabulary, token)
        if len(token) >= SHORTEST_PREFIX_CHARS:
            last = bisect_left(self.vocabulary, token + _BEYOND_ANY_TOKEN)
        else:
            last = bisect_right(self.vocabulary, token)
        return self.starts[first], self.starts[last]


def _dampings(lengths: Sequence[float]) -> Sequence[float]:
    average = sum(lengths) / max(len(lengths), 1) or 1.0
    return array("d", (K1 * (1 - B + B * length / average) for length in lengths))


def _postings(
    documents: list[DocumentTokens],
) -> tuple[tuple[str, ...], Sequence[int], Sequence[int], Sequence[float]]:
    numbers_of: defaultdict[str, list[int]] = defaultdict(list)
    weights_of: defaultdict[str, list[float]] = defaultdict(list)
    for number, document in enumerate(documents):
        for token, weight in zip(document.tokens, document.weights, strict=True):
            numbers_of[token].append(number)
            weights_of[token].append(weight)
    vocabulary = tuple(sorted(numbers_of))
    starts, numbers, weights = array("I", [0]), array("I"), array("d")
    for token in vocabulary:
        numbers.extend(numbers_of[token])
        weights.extend(weights_of[token])
        starts.append(len(numbers))
    return vocabulary, starts, numbers, weights
