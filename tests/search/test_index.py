import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import DocumentTokens, Index, weigh
from sezzlee_mcp.search.index import FIELDS, Occurrences


def occurrences(**counts):
    return Occurrences.of([counts.get(field, 0) for field in FIELDS])


def _index(**texts):
    return Index.build({name: weigh(SearchDocument(name=name, description=text)) for name, text in texts.items()})


def test_each_field_has_its_weight():
    document = SearchDocument(
        name="alpha",
        description="bravo",
        search_terms=("charlie", "delta"),
        tags=("Echo",),
        route="/foxtrot/{golf}/",
        alternate_routes=("/hotel/",),
        parameters=("india", "juliett kilo"),
        members=("lima",),
    )

    weighed = weigh(document)

    assert {token: each.weight for token, each in weighed.occurrences.items()} == {
        "alpha": 3.0,
        "bravo": 1.5,
        "charlie": 1.5,
        "delta": 1.5,
        "echo": 1.0,
        "foxtrot": 1.0,
        "golf": 1.0,
        "hotel": 1.0,
        "india": 1.0,
        "juliett": 1.0,
        "kilo": 1.0,
        "lima": 0.0,
    }
    assert weighed.total.weight == 14.5


def test_a_token_is_counted_by_field():
    document = SearchDocument(
        name="list_orders",
        description="Lists orders.",
        tags=("Orders",),
        route="/orders/",
        parameters=("order", "id"),
        method="GET",
    )

    weighed = weigh(document)

    assert weighed == DocumentTokens(
        occurrences={
            "list": occurrences(name=1, description=1),
            "order": occurrences(name=1, description=1, tags=1, route=1, parameters=1),
            "id": occurrences(parameters=1),
        },
        total=occurrences(name=2, description=2, tags=1, route=1, parameters=2),
        tags=("orders",),
        method="GET",
        route="/orders/",
    )
    assert (weighed.occurrences["order"].weight, weighed.total.weight) == (7.5, 13.0)


def test_tags_are_folded_whole_and_kept_once():
    document = SearchDocument(name="x", description="", tags=("Order Items", "ORDER ITEMS", "İADE ", "ΟΔΟΣ", "a-b"))

    assert weigh(document).tags == ("a-b", "iade ", "order items", "οδοσ")


def test_a_tool_without_a_word_weighs_nothing():
    weighed = weigh(SearchDocument(name="x", description="?"))

    assert (weighed.occurrences, weighed.total) == ({}, occurrences())


def test_the_contract_knows_nothing_of_the_members_of_a_body():
    document = SearchDocument(name="x", description="", members=("invoice",))
    index = Index.build({"x": weigh(document)})

    assert index.matching("invoice") == ("invoice",)
    assert index.frequencies("invoice") == {}


def test_the_texts_of_a_field_are_not_joined():
    document = SearchDocument(name="x", description="", parameters=("ORDER", "id"))

    assert [*weigh(document).occurrences] == ["order", "id"]


@pytest.mark.parametrize(
    ("token", "matching"),
    [
        ("order", {"aa": 3.0, "bb": 1.5, "cc": 1.5}),
        ("orderi", {"cc": 1.5}),
        ("ordered", {}),  # longer than any token that it starts like
        ("ord", {"aa": 3.0, "bb": 1.5, "cc": 1.5}),
        ("or", {}),  # two characters match their equal only
        ("id", {"bb": 1.5}),
        ("ide", {"cc": 1.5}),
        ("aaa", {}),
        ("aa", {"aa": 3.0}),
        ("zzz", {}),
        ("日本", {}),
        ("日本語", {"aa": 1.5}),
    ],
)
def test_three_characters_match_as_a_prefix_and_fewer_exactly(token, matching):
    index = _index(aa="order orders 日本語訳", bb="order id", cc="ordering identity")

    assert index.frequencies(token) == matching


def test_the_frequency_of_a_prefix_is_the_sum_over_all_tokens_it_starts():
    index = _index(aa="order ordering orderly", bb="ordering")

    assert index.frequencies("order") == {"aa": 4.5, "bb": 1.5}


def test_the_last_character_of_unicode_ends_no_prefix_early():
    index = _index(aa="order\U0001f12f orderz order\U00020000")

    assert index.frequencies("order") == {"aa": 4.5}


def test_the_order_of_the_documents_has_no_effect():
    weighed = {
        name: weigh(SearchDocument(name=name, description=f"{name} of all")) for name in ("zz", "aa", "Bb", "éé")
    }

    built = Index.build(weighed)

    assert built == Index.build(dict(reversed(weighed.items())))
    assert built.names == ("Bb", "aa", "zz", "éé")


def test_an_empty_catalog_has_an_index():
    index = Index.build({})

    assert index.names == ()
    assert index.frequencies("order") == {}


def test_a_catalog_without_a_word_has_an_index():
    index = Index.build({"x": weigh(SearchDocument(name="x", description=""))})

    assert index.frequencies("order") == {}


_names = st.sampled_from(["aa", "bb", "cc", "order_list"])
_catalogs = st.dictionaries(_names, st.sampled_from(["", "order", "orders order", "ordering note", "note id"]))


@given(catalogs=st.lists(_catalogs, max_size=4))
def test_an_index_that_saw_edits_is_the_index_of_what_they_led_to(catalogs):
    index = Index.build({})
    for texts in catalogs:
        weighed = {name: weigh(SearchDocument(name=name, description=text)) for name, text in texts.items()}
        kept = {name: old for name, old in index.documents.items() if weighed.get(name) == old}
        before = dataclasses.replace(index, postings={token: {**held} for token, held in index.postings.items()})

        updated = index.updated({**weighed, **kept})

        assert updated == Index.build(weighed)
        assert index == before  # requests go on with it
        index = updated


def test_an_edit_leaves_the_postings_alone_that_it_does_not_concern():
    texts = {"aa": "order", "bb": "note"}
    weighed = {name: weigh(SearchDocument(name=name, description=text)) for name, text in texts.items()}
    index = Index.build(weighed)

    updated = index.updated({**weighed, "bb": weigh(SearchDocument(name="bb", description="notes of all"))})

    assert updated.postings["order"] is index.postings["order"]
    assert updated.postings["note"] is index.postings["note"]  # as heavy as before
    assert updated.frequencies("all") == {"bb": 1.5}
