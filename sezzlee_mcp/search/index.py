"""What search holds of a catalog: weighed documents, and the index of all of them (search.md, "Match and score")."""

import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import mul
from typing import Self

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.folding import fold
from sezzlee_mcp.search.tokens import tokenize


class Field(StrEnum):
    """The parts of a tool's document."""

    NAME = "name"
    DESCRIPTION = "description"
    SEARCH_TERMS = "search_terms"
    TAGS = "tags"
    ROUTE = "route"
    PARAMETERS = "parameters"
    MEMBERS = "members"


FIELDS = tuple(Field)
_PLACES = {field: place for place, field in enumerate(FIELDS)}

# What one occurrence weighs for the contract, which knows no members.
WEIGHTS: Mapping[Field, float] = {
    Field.NAME: 3.0,
    Field.DESCRIPTION: 1.5,
    Field.SEARCH_TERMS: 1.5,
    Field.TAGS: 1.0,
    Field.ROUTE: 1.0,
    Field.PARAMETERS: 1.0,
    Field.MEMBERS: 0.0,
}

SHORTEST_PREFIX_CHARS = 3
_BEYOND_ANY_TOKEN = chr(sys.maxunicode)  # a noncharacter: it separates, so no token holds it


@dataclass(frozen=True, slots=True)
class Occurrences:
    """How often something stands in each of ``FIELDS``, and what that weighs; the sum is exact in any order."""

    counts: tuple[int, ...]
    weight: float

    @classmethod
    def of(cls, counts: Sequence[int]) -> Self:
        return cls(tuple(counts), sum(map(mul, WEIGHTS.values(), counts)))


# Thousands of documents share their words and the few counts that there are, so each is held once.
_HELD: dict[tuple[int, ...], Occurrences] = {}
_NOWHERE = Occurrences.of([0] * len(FIELDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTokens:
    """
    A tool's document, weighed: all that search needs of it.

    ``occurrences`` are by token, ``total`` is their sum, ``tags`` are the folded tags.
    """

    occurrences: Mapping[str, Occurrences]
    total: Occurrences
    tags: tuple[str, ...]
    method: str
    route: str


def weigh(document: SearchDocument) -> DocumentTokens:
    """The weighed tokens of ``document``; it depends on nothing else, so it is kept as long as the tool's content."""
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(FIELDS))
    total = [0] * len(FIELDS)
    for field, text in texts(document):
        place = _PLACES[field]
        for token in tokenize(text):
            counts[token][place] += 1
            total[place] += 1
    return DocumentTokens(
        occurrences={sys.intern(token): _held(tuple(each)) for token, each in counts.items()},
        total=Occurrences.of(total),
        tags=tuple(sorted({sys.intern(fold(tag)) for tag in document.tags})),
        method=sys.intern(document.method),
        route=document.route,
    )


def texts(document: SearchDocument) -> Iterator[tuple[Field, str]]:
    """All that search reads of a tool; the routes that were folded into its own count as that does."""
    yield Field.NAME, document.name
    yield Field.DESCRIPTION, document.description
    yield from ((Field.SEARCH_TERMS, text) for text in document.search_terms)
    yield from ((Field.TAGS, text) for text in document.tags)
    yield from ((Field.ROUTE, text) for text in (document.route, *document.alternate_routes))
    yield from ((Field.PARAMETERS, text) for text in document.parameters)
    yield from ((Field.MEMBERS, text) for text in document.members)


def matches(token: str, word: str) -> bool:
    """Whether a query's token matches a word: by being its start, or its equal where the token is short."""
    return word.startswith(token) if len(token) >= SHORTEST_PREFIX_CHARS else word == token


def _held(counts: tuple[int, ...]) -> Occurrences:
    held = _HELD.get(counts)
    return held if held is not None else _HELD.setdefault(counts, Occurrences.of(counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """
    A whole catalog, ready to be ranked.

    ``names`` are sorted by code point, and so is ``vocabulary``: tokens that share a prefix are neighbours.
    ``postings`` is by token its occurrences in each document that holds it, by name. ``tagged`` is by folded tag the
    names that carry it.
    """

    documents: Mapping[str, DocumentTokens]
    names: tuple[str, ...]
    tagged: Mapping[str, frozenset[str]]
    vocabulary: tuple[str, ...]
    postings: Mapping[str, Mapping[str, Occurrences]]

    @classmethod
    def build(cls, documents: Mapping[str, DocumentTokens]) -> Self:
        """The index over ``documents``, which are given by tool name; their order has no effect."""
        return cls(documents={}, names=(), tagged={}, vocabulary=(), postings={}).updated(documents)

    def updated(self, documents: Mapping[str, DocumentTokens]) -> Self:
        """The index over ``documents``, with the postings of every token taken over that none of the edits concerns."""
        postings = dict(self.postings)
        for token, moved in _moved(self.documents, documents).items():
            occurrences = {**postings.pop(token, {}), **moved}
            if held := {name: each for name, each in occurrences.items() if each is not _NOWHERE}:
                postings[token] = held
        return type(self)(
            documents=documents,
            names=tuple(sorted(documents)),
            tagged=_tagged(documents),
            vocabulary=tuple(sorted(postings)),
            postings=postings,
        )

    def frequencies(self, token: str) -> Mapping[str, float]:
        """
        The frequency that a query token has for the contract in each document that it matches, by name.

        A token of three or more characters matches what it is a prefix of, a shorter one only its equal.
        """
        found: dict[str, float] = {}
        for word in self.matching(token):
            for name, occurrences in self.postings[word].items():
                found[name] = found.get(name, 0.0) + occurrences.weight
        return {name: weight for name, weight in found.items() if weight}

    def matching(self, token: str) -> tuple[str, ...]:
        """The words of the vocabulary that a query token matches, by code point."""
        if len(token) >= SHORTEST_PREFIX_CHARS:
            return self.beginning_with(token)
        return (token,) if token in self.postings else ()

    def beginning_with(self, start: str) -> tuple[str, ...]:
        """The words of the vocabulary that begin so, by code point."""
        first = bisect_left(self.vocabulary, start)
        return self.vocabulary[first : bisect_left(self.vocabulary, start + _BEYOND_ANY_TOKEN, first)]


def _moved(
    before: Mapping[str, DocumentTokens], after: Mapping[str, DocumentTokens]
) -> Mapping[str, Mapping[str, Occurrences]]:
    """By token, the occurrences in each document where they are not what they were; ``_NOWHERE`` where it is gone."""
    moved: defaultdict[str, dict[str, Occurrences]] = defaultdict(dict)
    # A document that nobody touched is the same object. Postings in the order of names are cheap to put in order later.
    edited = sorted(name for name in before.keys() | after.keys() if before.get(name) is not after.get(name))
    for name in edited:
        old = before[name].occurrences if name in before else {}
        new = after[name].occurrences if name in after else {}
        for token in old.keys() - new.keys():
            moved[token][name] = _NOWHERE
        for token, occurrences in new.items():
            if occurrences != old.get(token):
                moved[token][name] = occurrences
    return moved


def _tagged(documents: Mapping[str, DocumentTokens]) -> Mapping[str, frozenset[str]]:
    tagged: defaultdict[str, set[str]] = defaultdict(set)
    for name, document in documents.items():
        for tag in document.tags:
            tagged[tag].add(name)
    return {tag: frozenset(names) for tag, names in tagged.items()}
