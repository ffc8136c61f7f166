from math import fsum
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import BuiltInRanker, Gain, Score
from sezzlee_mcp.search.builtin import FIRST_NAMES

TOKENS = ("aa", "bb", "cc", "dd")
NAMES = tuple(f"n{number:03}" for number in range(FIRST_NAMES * 3))
# Some of them come to equal sums that a float would tell apart: 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1.
GAINS = (0.1, 0.2, 0.3, 0.30000000000000004, 0.6, 1e-5, 4.0)


@st.composite
def _tables(draw):
    """Gains by token and name: of few different values or of many, for all names or for some."""
    chance = Random(draw(st.integers(0, 2**32)))  # noqa: S311 - hypothesis draws what it starts from
    values = {token: draw(st.sets(st.sampled_from(GAINS), min_size=1)) for token in TOKENS}
    share = {token: draw(st.sampled_from([0.0, 0.05, 0.4, 0.9, 1.0])) for token in TOKENS}
    return {
        token: {name: chance.choice(sorted(values[token])) for name in NAMES if chance.random() < share[token]}
        for token in TOKENS
    }


def _explained(token, document, gain):
    return Gain(token=token, documents=7, idf=0.5, hits=(), gain=gain)


def _by_definition(table, tokens, among):
    parts = {name: [table[token][name] for token in tokens if name in table[token]] for name in among}
    scores = {name: fsum(gained) for name, gained in parts.items() if gained}
    return sorted(scores, key=lambda name: (-scores[name], name))


@given(
    table=_tables(),
    tokens=st.lists(st.sampled_from(TOKENS), min_size=1, unique=True),
    among=st.just(frozenset(NAMES)) | st.sets(st.sampled_from(NAMES)),
)
def test_the_order_is_that_of_the_exact_sums_and_then_of_the_names(table, tokens, among):
    ranker = BuiltInRanker(NAMES, [table.__getitem__], _explained)

    assert list(ranker.rank(" ".join(tokens), among)) == _by_definition(table, tokens, among)


def test_a_token_that_was_searched_for_is_not_worked_out_again():
    asked = []
    ranker = BuiltInRanker(NAMES, [lambda token: asked.append(token) or {"n001": 1.0}], _explained)

    for query in ("order", "order note", "notes"):
        assert list(ranker.rank(query, frozenset(NAMES))) == ["n001"]

    assert asked == ["order", "note"]


@pytest.mark.parametrize("query", ["", "  ", "?", "a b c"])
def test_a_query_without_a_token_lists_what_may_be_seen(query):
    ranker = BuiltInRanker(("aa", "bb", "cc"), [{}.__getitem__], _explained)

    assert list(ranker.rank(query, {"cc", "aa"})) == ["aa", "cc"]


def test_an_explanation_holds_each_token_once_with_what_it_gains():
    gains = {"note": {"bb": 1.0}, "order": {"aa": 0.1, "bb": 0.2}}
    ranker = BuiltInRanker(("aa", "bb"), [gains.__getitem__], _explained)
    document = SearchDocument(name="aa", description="")

    score = ranker.explain("orders, NOTES: order", document)

    assert score == Score(gains=(_explained("order", document, 0.1), _explained("note", document, 0.0)))
    assert score.total == 0.1
    assert ranker.explain("?", document) == Score(gains=())
