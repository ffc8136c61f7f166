from math import fsum, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import Field, Gain, Hit, Index, Score, weigh
from sezzlee_mcp.search.bm25 import contract, gains
from sezzlee_mcp.search.tokens import tokenize

WORDS = ("order", "orders", "ordering", "note", "notes", "id", "identity", "or", "İade", "listAll", "x")


def _index(documents):
    return Index.build({document.name: weigh(document) for document in documents})


def rank(index, query):
    return tuple(contract(index).rank(query, index.documents.keys()))


def _described(**texts):
    return _index(SearchDocument(name=name, description=text) for name, text in texts.items())


@pytest.mark.parametrize("query", ["", "  ", "?", "a b c", "😀", "a ?", "\u0301\u0302"])
def test_a_query_without_a_token_lists_every_name_by_code_point(query):
    assert rank(_described(bb="", aa="", _z="", b2=""), query) == ("_z", "aa", "b2", "bb")


def test_nothing_is_found_in_an_empty_catalog():
    assert rank(_index([]), "order") == ()
    assert rank(_index([]), "") == ()


def test_documents_without_a_match_are_left_out():
    assert rank(_described(aa="order", bb="note"), "orders zzz") == ("aa",)


def test_a_word_that_every_document_holds_still_scores():
    assert rank(_described(bb="order", aa="order"), "order") == ("aa", "bb")


def test_a_single_score_is_the_formula_by_hand():
    index = _described(aa="order", bb="order note note", cc="")
    # lengths 4.5, 7.5 and 3 (each name is a token), so 5 on average; one note of 1.5 + 1.5
    expected = log(1 + (3 - 1 + 0.5) / (1 + 0.5)) * (3 * 2.2 / (3 + 1.2 * (1 - 0.75 + 0.75 * 7.5 / 5)))

    assert gains(index)("note") == {"bb": pytest.approx(expected, rel=1e-14)}


def test_a_score_is_explained_by_words_and_fields():
    order = SearchDocument(
        name="list_orders", description="Orders, all orders.", search_terms=("ordering",), route="/orders/"
    )
    index = _index([order, SearchDocument(name="note", description="")])

    assert contract(index).explain("order or notes", order) == Score(
        gains=(
            Gain(
                token="order",  # noqa: S106 - a token of a query
                documents=1,
                idf=log(1 + (2 - 1 + 0.5) / (1 + 0.5)),
                hits=(
                    Hit(field=Field.NAME, word="order", times=1, weight=3.0),
                    Hit(field=Field.DESCRIPTION, word="order", times=2, weight=1.5),
                    Hit(field=Field.SEARCH_TERMS, word="ordering", times=1, weight=1.5),
                    Hit(field=Field.ROUTE, word="order", times=1, weight=1.0),
                ),
                gain=gains(index)("order")["list_orders"],
            ),
            Gain(token="or", documents=0, idf=log(1 + 2.5 / 0.5), hits=(), gain=0.0),  # noqa: S106 - as above
            Gain(token="note", documents=1, idf=log(1 + 1.5 / 1.5), hits=(), gain=0.0),  # noqa: S106 - as above
        )
    )


def test_a_repeated_query_word_counts_once():
    index = _described(aa="order order order", bb="note", cc="note")

    assert rank(index, "order note note notes NOTE") == rank(index, "note order")


def test_the_rarer_word_ranks_higher():
    assert rank(_described(aa="order", bb="order", cc="note"), "order note") == ("cc", "aa", "bb")


def test_the_shorter_document_ranks_higher():
    assert rank(_described(aa="order and very many other words", bb="order"), "order") == ("bb", "aa")


def test_a_name_outranks_a_description_and_that_outranks_a_parameter():
    index = _index(
        [
            SearchDocument(name="aa", description="", parameters=("invoice",)),
            SearchDocument(name="bb", description="invoice"),
            SearchDocument(name="invoice", description=""),
        ]
    )

    assert rank(index, "invoice") == ("invoice", "bb", "aa")


def test_ties_go_by_code_point_not_by_alphabet():
    assert rank(_described(**{"é": "order", "b": "order", "B": "order", "_": "order", "a": "order"}), "order") == (
        "B",
        "_",
        "a",
        "b",
        "é",
    )


def test_ties_go_by_name_although_a_prefix_meets_the_later_name_first():
    assert rank(_described(aa="zulus", bb="zulu", cc="zululand", dd="zuluaa"), "zulu") == ("aa", "bb", "cc", "dd")


def test_equal_gains_tie_whichever_words_they_come_from():
    # Summed as floats in query order, a + b + b and b + b + a differ in the last bit for some of these.
    words = ("red", "green", "blue", "cyan", "pink")
    texts = {f"t{place}": " ".join((*words, word)) for place, word in enumerate(words)}
    filler = {f"u{place}": "sand " * (place % 7 + 1) for place in range(23)}
    index = _described(**texts, **filler)

    assert rank(index, " ".join(words)) == rank(index, " ".join(reversed(words))) == tuple(sorted(texts))


_texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
_documents = st.lists(
    st.builds(
        SearchDocument,
        name=st.sampled_from([f"{word}_{digit}" for word in ("get_order", "note", "id") for digit in "1234"]),
        description=_texts,
        search_terms=st.lists(_texts, max_size=2).map(tuple),
        tags=st.lists(_texts, max_size=2).map(tuple),
        route=_texts,
        parameters=st.lists(_texts, max_size=2).map(tuple),
    ),
    max_size=8,
    unique_by=lambda document: document.name,
)


def _rank_by_definition(documents, query):
    """The rule as it is written, document by document, without an index; the same sums, to the last bit."""
    weighed = {document.name: _occurrences(document) for document in documents}
    lengths = {name: sum(weight for _, weight in places) for name, places in weighed.items()}
    average = sum(lengths.values()) / len(lengths)
    gains = {name: [] for name in weighed}
    for token in set(tokenize(query)):
        tf = {name: sum(weight for word, weight in places if _matches(token, word)) for name, places in weighed.items()}
        df = sum(value > 0 for value in tf.values())
        idf = log(1 + (len(weighed) - df + 0.5) / (df + 0.5))
        for name in weighed:
            if tf[name] > 0:
                norm = tf[name] * (1.2 + 1) / (tf[name] + 1.2 * (1 - 0.75 + 0.75 * lengths[name] / average))
                gains[name].append(idf * norm)
    scores = {name: fsum(parts) for name, parts in gains.items() if parts}
    return sorted(scores, key=lambda name: (-scores[name], name))


def _matches(token, word):
    return word.startswith(token) if len(token) >= 3 else word == token


def _occurrences(document):
    fields = [(document.name, 3.0), (document.description, 1.5), (document.route, 1.0)]
    fields += [(text, 1.5) for text in document.search_terms]
    fields += [(text, 1.0) for text in (*document.tags, *document.parameters)]
    return [(word, weight) for text, weight in fields for word in tokenize(text)]


@given(documents=_documents.filter(bool), query=_texts.filter(tokenize))
def test_the_ranking_is_that_of_the_definition(documents, query):
    assert list(rank(_index(documents), query)) == _rank_by_definition(documents, query)


@given(documents=_documents.filter(bool), query=_texts.filter(tokenize))
def test_an_explanation_has_the_scores_that_rank_and_the_words_that_they_come_from(documents, query):
    index = _index(documents)
    scores = {document.name: contract(index).explain(query, document) for document in documents}

    found = {name: score.total for name, score in scores.items() if score.total}
    assert list(rank(index, query)) == sorted(found, key=lambda name: (-found[name], name))
    assert {
        (gain.token, name): sum(hit.times * hit.weight for hit in gain.hits)
        for name, score in scores.items()
        for gain in score.gains
        if gain.gain
    } == {(token, name): tf for token in set(tokenize(query)) for name, tf in index.frequencies(token).items()}


@given(documents=_documents, words=st.lists(st.sampled_from(WORDS), max_size=5), data=st.data())
def test_neither_the_order_of_the_words_nor_that_of_the_documents_changes_the_ranking(documents, words, data):
    shuffled_words = data.draw(st.permutations(words))
    shuffled_documents = data.draw(st.permutations(documents))

    assert rank(_index(documents), " ".join(words)) == rank(_index(shuffled_documents), " ".join(shuffled_words))
