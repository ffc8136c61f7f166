"""
Index -> the ranker ``fielded``: what a word gains a tool depends on the field that it stands in.

A field's length is set against the average length of that field (BM25F), so that a tool with many parameters is still
found by its name. Each rule, and what it is worth, is in docs/search-quality.md.
"""

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from math import log, prod
from operator import mul

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search.builtin import BuiltInRanker, Factors, Reading
from sezzlee_mcp.search.index import FIELDS, DocumentTokens, Index
from sezzlee_mcp.search.language import Language
from sezzlee_mcp.search.score import Gain, hits
from sezzlee_mcp.search.spelling import corrections
from sezzlee_mcp.search.tokens import tokenize
from sezzlee_mcp.search.verbs import Intent

K1 = 1.2
B = 0.5
# What one occurrence in each of FIELDS weighs where the field is as long as it is on average. Names and descriptions of
# parameters are most of the words of a catalog, and say least about what a tool is for.
WEIGHTS = (3.0, 1.5, 1.5, 1.0, 1.0, 0.2, 0.2)
# The query's verb speaks of the method already.
VERB_WEIGHT = 0.5
# What a synonym of a word is worth where the word itself is worth 1.
SYNONYM_WEIGHT = 0.15

# By the rule that says so, what a score is multiplied with.
RULES: Mapping[str, float] = {
    "its method is what the verb speaks of": 1.5,
    "it reads one object, and no id was given": 0.9,
    "it is PUT, and there is PATCH": 0.8,
    "it takes many at once": 0.7,
    # Less than any two scores of one search differ by: what deletes comes after everything else.
    "it deletes, and nobody asked for that": 1e-15,
}
_FITS, _ONE, _PUT, _MANY, _DELETES = RULES
_EDITS = ("PUT", "PATCH", "DELETE")

_ROUTE_OF_ONE = re.compile(r"(?P<base>.*)/\{[^/{}]*\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """What the rules ask of a tool: whether its route ends with a variable, and what there is beside it."""

    method: str
    takes_one: bool
    takes_many: bool  # and the same method takes a single one, at the same route and a variable
    has_patch: bool


def fielded(index: Index, language: Language) -> BuiltInRanker:
    """The ranker ``fielded``, over ``index``."""
    model = Model(index, language)
    return BuiltInRanker(index.names, [model.whole, model.prefixed], model.explained, model.read, model.corrections)


class Model:
    """What the ranker knows of a catalog."""

    def __init__(self, index: Index, language: Language) -> None:
        self._index = index
        self._verbs = language.verbs
        self._synonyms = language.synonyms
        self._scales = _scales(index.documents)
        self._forms = _forms(index.documents)
        self._factors = lru_cache(32)(self._factors_of)

    def whole(self, token: str) -> Mapping[str, float]:
        """What the token gains where it or a synonym stands as a whole word, by the documents' names."""
        return self._gains(self._whole(token))

    def prefixed(self, token: str) -> Mapping[str, float]:
        """What it gains where a word begins with it."""
        return self._gains(self._begun(token))

    def read(self, query: str) -> Reading:
        intent, verb = self._verbs.read(query)
        tokens = {token: VERB_WEIGHT if token in tokenize(verb) else 1.0 for token in tokenize(query)}
        return Reading(tokens=tokens, factors=self._factors(intent))

    def corrections(self, query: str, certain: Set[str]) -> Mapping[str, str]:
        """What nobody says so; a verb is right as it is, since it speaks of the method wherever it stands."""
        return corrections(query, self._index, certain, self._synonyms, is_known=self._verbs.__contains__)

    def explained(self, token: str, document: SearchDocument, gain: float) -> Gain:
        """From what the document gains ``gain`` by the token; each occurrence has the weight of its field's length."""
        words = self._whole(token) or self._begun(token)
        documents = len(self._frequencies(words))
        return Gain(
            token=token,
            documents=documents,
            idf=self._idf(documents),
            hits=hits(
                document,
                dict(zip(FIELDS, self._scales[document.name], strict=True)),
                lambda word: words.get(word, 0.0),
            ),
            gain=gain,
        )

    def _idf(self, documents: int) -> float:
        return log(1 + (len(self._index.names) - documents + 0.5) / (documents + 0.5))

    def _whole(self, token: str) -> Mapping[str, float]:
        words = {token: 1.0, **dict.fromkeys(self._synonyms.of(token), SYNONYM_WEIGHT)}
        return {word: weight for word, weight in words.items() if word in self._index.postings}

    def _begun(self, token: str) -> Mapping[str, float]:
        return dict.fromkeys(self._index.matching(token), 1.0)

    def _gains(self, words: Mapping[str, float]) -> dict[str, float]:
        found = self._frequencies(words)
        idf = self._idf(len(found))
        return {name: idf * (tf * (K1 + 1) / (tf + K1)) for name, tf in found.items()}

    def _frequencies(self, words: Mapping[str, float]) -> dict[str, float]:
        """How often these words stand in each document, each occurrence as much as it weighs there."""
        found: dict[str, float] = {}
        for word, weight in words.items():
            for name, occurrences in self._index.postings[word].items():
                found[name] = found.get(name, 0.0) + weight * sum(map(mul, occurrences.counts, self._scales[name]))
        return found

    def _factors_of(self, intent: Intent) -> Factors:
        by_form = {form: prod(RULES[rule] for rule in _rules(form, intent)) for form in set(self._forms.values())}
        return Factors(
            by_name={name: by_form[form] for name, form in self._forms.items()},
            rules=lambda name: {rule: RULES[rule] for rule in _rules(self._forms[name], intent)},
        )


def _rules(form: _Form, intent: Intent) -> Iterator[str]:
    """The rules that hold for a tool of this form."""
    if form.method in intent.methods:
        yield _FITS
    if form.method == "GET" and form.takes_one:
        yield _ONE
    if form.method == "PUT" and form.has_patch:
        yield _PUT
    if form.takes_many and not intent.is_bulk:
        yield _MANY
    if form.method == "DELETE" and not intent.deletes:
        yield _DELETES


def _scales(documents: Mapping[str, DocumentTokens]) -> Mapping[str, tuple[float, ...]]:
    """What one occurrence in each field of each document comes to."""
    columns = zip(*(document.total.counts for document in documents.values()), strict=True)
    averages = [sum(column) / len(documents) or 1.0 for column in columns]
    return {
        name: tuple(
            weight / (1 - B + B * length / average)
            for weight, length, average in zip(WEIGHTS, document.total.counts, averages, strict=True)
        )
        for name, document in documents.items()
    }


def _forms(documents: Mapping[str, DocumentTokens]) -> Mapping[str, _Form]:
    routes = {name: (document.method, document.route.rstrip("/")) for name, document in documents.items()}
    given = set(routes.values())
    single = {(method, found["base"]) for method, route in given if (found := _ROUTE_OF_ONE.fullmatch(route))}
    return {
        name: _Form(
            method=method,
            takes_one=_ROUTE_OF_ONE.fullmatch(route) is not None,
            takes_many=method in _EDITS and (method, route) in single,
            has_patch=("PATCH", route) in given,
        )
        for name, (method, route) in routes.items()
    }
