"""Why a tool ranks where it does: what each token of the query gains it, and from which of its words."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import fsum, prod

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search.index import Field, texts
from sezzlee_mcp.search.tokens import tokenize


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A word that a token matches: how many times it stands in one field of a document, and what each is worth."""

    field: Field
    word: str
    times: int
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """
    What one token of a query gains a document.

    ``documents`` is how many of the catalog's it matches, ``idf`` what finding it is worth for that. Without ``hits``
    the ``gain`` is 0.
    """

    token: str
    documents: int
    idf: float
    hits: tuple[Hit, ...]
    gain: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """
    What a query scores a document: the sum of what its tokens gain it, in the order in which they were typed.

    ``rules`` are those that hold for the document, by their names, each with what the gains are multiplied with.
    """

    gains: tuple[Gain, ...]
    rules: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        factor = prod(self.rules.values())
        return fsum(gain.gain * factor for gain in self.gains)


def hits(document: SearchDocument, weights: Mapping[Field, float], worth: Callable[[str], float]) -> tuple[Hit, ...]:
    """Where a document holds words that are ``worth`` something, field by field; a field without a weight is none."""
    found = Counter((part, word) for part, text in texts(document) for word in tokenize(text))
    return tuple(
        Hit(field=part, word=word, times=times, weight=weight)
        for (part, word), times in found.items()
        if (weight := weights[part] * worth(word))
    )
