from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import Index, Language, Synonyms, Verbs, weigh
from sezzlee_mcp.search.fielded import RULES, SYNONYM_WEIGHT, fielded

FITS, ONE, PUT, MANY, DELETES = RULES


def index_of(*documents):
    return Index.build({document.name: weigh(document) for document in documents})


def tool(name, method="GET", route="", **fields):
    return SearchDocument(name=name, description="", method=method, route=route or f"/{name}/", **fields)


def rank(query, *documents, among=None):
    index = index_of(*documents)
    return list(fielded(index, Language()).rank(query, index.documents.keys() if among is None else among))


def explain(query, name, *documents):
    document = next(document for document in documents if document.name == name)
    return fielded(index_of(*documents), Language()).explain(query, document)


def test_many_parameters_do_not_bury_a_name():
    orders = tool("orders", parameters=tuple(f"filter {number}" for number in range(300)))
    payment = tool("payment", parameters=("order", "order of the order"))

    assert rank("order", payment, orders) == ["orders", "payment"]


def test_a_word_that_stands_there_whole_is_not_searched_for_as_a_prefix():
    assert rank("part", tool("part"), tool("partial")) == ["part"]
    assert rank("parti", tool("part"), tool("partial")) == ["partial"]


def test_whether_a_word_stands_there_whole_depends_on_what_the_caller_may_see():
    assert rank("part", tool("part"), tool("partial"), among={"partial"}) == ["partial"]


def test_a_synonym_stands_for_a_word_and_counts_less_than_the_word_itself():
    documents = (tool("invoices"), tool("bills"), tool("billing"))

    assert rank("bill", *documents) == ["bills", "invoices"]
    assert rank("bill", *documents, among={"invoices", "billing"}) == ["invoices"]
    assert rank("bill", *documents, among={"billing"}) == ["billing"]


def test_synonyms_can_be_those_of_another_language():
    index = index_of(tool("rechnungen_liste"), tool("invoices"))
    ranker = fielded(index, Language(synonyms=Synonyms([["Beleg", "Rechnungen"]])))

    assert list(ranker.rank("BELEG", index.documents.keys())) == ["rechnungen_liste"]
    assert list(ranker.rank("bill", index.documents.keys())) == []


METHODS = [tool(method.lower() + "_order", method, "/orders/") for method in ("GET", "POST", "PATCH", "PUT", "DELETE")]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("order", "get_order"),  # no verb: what is there?
        ("show orders", "get_order"),
        ("new order", "post_order"),
        ("ship order", "post_order"),
        ("rename order", "patch_order"),
        ("drop order", "delete_order"),
        ("order delete", "delete_order"),
        ("bulk delete orders", "delete_order"),
        ("orders sent", "get_order"),
        ("ORDER ADD", "post_order"),
    ],
)
def test_a_verb_speaks_of_the_method(query, first):
    assert rank(query, *METHODS)[0] == first


def test_verbs_can_be_those_of_another_language():
    index = index_of(*METHODS)
    ranker = fielded(index, Language(verbs=Verbs({"POST": ["Anlegen"], "DELETE": ["löschen"]})))

    assert next(ranker.rank("order anlegen", index.documents.keys())) == "post_order"
    assert next(ranker.rank("LOESCHEN order", index.documents.keys())) == "get_order"
    assert next(ranker.rank("Löschen order", index.documents.keys())) == "delete_order"
    assert next(ranker.rank("delete order", index.documents.keys())) != "post_order"


@pytest.mark.parametrize("query", ["order", "order invoice", "cancel order", "new order with a very rare word"])
def test_nothing_that_deletes_comes_before_anything_else_unasked(query):
    delete = tool("order_invoice_rare_word_cancel", "DELETE", tags=("order", "invoice", "rare", "very"))
    others = [tool(f"thing{number}", parameters=("order",) * (number + 1)) for number in range(9)]

    assert rank(query, delete, *others)[-1] == delete.name


def test_what_deletes_is_found_where_nothing_else_is():
    assert rank("order", tool("order", "DELETE")) == ["order"]


def test_of_two_forms_the_one_that_takes_many_is_second_unless_it_is_asked_for():
    one = tool("orders_update", "PATCH", "/orders/{id}/")
    many = tool("orders_bulk_update", "PATCH", "/orders/")

    assert rank("update orders", many, one) == [one.name, many.name]
    assert rank("bulk update orders", many, one) == [many.name, one.name]


def test_a_single_thing_at_a_route_of_its_own_does_not_take_many():
    assert explain("update me", "me", tool("me", "PATCH", "/me/")).rules == {FITS: 1.5}


def test_an_explanation_says_which_field_and_which_rule_gave_what():
    update = tool("orders_update", "PUT", "/orders/{id}/", tags=("orders",))
    documents = (update, tool("orders_patch", "PATCH", "/orders/{id}/"), tool("all", "PUT", "/orders/"))

    explained = explain("order", "orders_update", *documents)

    (gain,) = explained.gains
    assert explained.rules == {PUT: 0.8}
    assert [(hit.word, hit.field, hit.times) for hit in gain.hits] == [
        ("order", "name", 1),
        ("order", "tags", 1),
        ("order", "route", 1),
    ]
    assert explained.total == pytest.approx(gain.gain * 0.8)


def test_what_a_query_does_not_find_has_no_score():
    explained = explain("zebra", "order", tool("order"))

    assert ([gain.hits for gain in explained.gains], explained.total) == ([()], 0)


def test_a_synonym_is_explained_with_what_it_is_worth():
    (gain,) = explain("bill", "x", tool("x", route="/y/", tags=("invoice", "bills"))).gains

    bill, invoice = sorted(gain.hits, key=lambda hit: hit.word)
    assert [(hit.word, hit.field, hit.times) for hit in (bill, invoice)] == [
        ("bill", "tags", 1),
        ("invoice", "tags", 1),
    ]
    assert invoice.weight == pytest.approx(bill.weight * SYNONYM_WEIGHT)


def test_a_prefix_is_explained_with_the_word_that_it_begins():
    (gain,) = explain("invoic", "x", tool("x", route="/y/", parameters=("invoice",))).gains

    assert [(hit.word, hit.field, hit.times) for hit in gain.hits] == [("invoice", "parameters", 1)]


WORDS = ("bill", "invoice", "order", "orders", "ordering", "note", "id", "identity", "delete", "add", "list", "bulk")
_texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
_documents = st.lists(
    st.builds(
        SearchDocument,
        name=st.sampled_from([f"{word}_{digit}" for word in ("order", "note", "id") for digit in "1234"]),
        description=_texts,
        tags=st.lists(_texts, max_size=2).map(tuple),
        route=st.sampled_from(["/orders/", "/orders/{id}/", "/notes/"]),
        parameters=st.lists(_texts, max_size=2).map(tuple),
        members=st.lists(_texts, max_size=2).map(tuple),
        method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    ),
    max_size=8,
    unique_by=lambda document: document.name,
)


@given(documents=_documents, query=_texts.filter(bool))
def test_the_order_is_that_of_the_explained_scores(documents, query):
    index = index_of(*documents)
    ranker = fielded(index, Language())
    scores = {document.name: ranker.explain(query, document).total for document in documents}

    ranked = rank(query, *documents)

    assert set(ranked) == {name for name, score in scores.items() if score}
    assert all(
        scores[first] >= scores[second] * (1 - 1e-9)
        for first, second in zip(ranked, islice(ranked, 1, None), strict=False)
    )


@given(documents=_documents, words=st.lists(st.sampled_from(WORDS), max_size=5), data=st.data())
def test_the_order_of_the_documents_does_not_change_the_ranking(documents, words, data):
    shuffled = data.draw(st.permutations(documents))

    assert rank(" ".join(words), *documents) == rank(" ".join(words), *shuffled)
