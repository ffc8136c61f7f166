from functools import partial

import pytest

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import Audience, Found, Index, narrow, weigh
from sezzlee_mcp.search.bm25 import contract


def _index(**tags):
    documents = (SearchDocument(name=name, description="order", tags=carried) for name, carried in sorted(tags.items()))
    return Index.build({document.name: weigh(document) for document in documents})


def _find(index, query="order", *, names=None, tags=(), limit=50):
    audience = Audience.of(index, frozenset(index.names if names is None else names))
    return narrow(index, audience, partial(contract(index).order, query), tags=tags, limit=limit)


def test_an_answer_names_the_matches_and_what_the_caller_may_see():
    index = _index(aa=("Orders",), bb=("Notes", "ORDERS"), cc=())

    assert _find(index, limit=2) == Found(names=("aa", "bb"), total=3, tags=("notes", "orders"))


@pytest.mark.parametrize("query", ["order", ""])
def test_hidden_tools_take_no_place_under_the_limit(query):
    index = _index(aa=(), bb=(), cc=(), dd=())

    assert _find(index, query, names={"bb", "dd"}, limit=2) == Found(names=("bb", "dd"), total=2, tags=None)


def test_total_and_tags_depend_on_the_caller_alone():
    index = _index(aa=("one",), bb=("two",), cc=("three",))

    answers = [
        _find(index, query, names={"aa", "bb"}, tags=tags, limit=1)
        for query in ("order", "zzz", "")
        for tags in ((), ("one",), ("none",))
    ]

    assert {(answer.total, answer.tags) for answer in answers} == {(2, ("one", "two"))}


def test_a_caller_who_sees_nothing_gets_an_empty_answer():
    assert _find(_index(aa=("one",)), names=()) == Found(names=(), total=0, tags=None)


@pytest.mark.parametrize(
    ("tags", "names"),
    [
        ((), ("items", "joined", "orders")),
        (("orders",), ("orders",)),
        (("ORDERS",), ("orders",)),
        (("Ordérs",), ("orders",)),
        (("order",), ()),  # no prefix, no plural
        (("order items",), ("items",)),
        (("orderitems",), ("joined",)),
        (("order  items",), ()),
        ((" orders",), ()),  # nothing is trimmed
        (("orders", "report"), ("orders",)),
        (("orders", "orders", "REPORT"), ("orders",)),
        (("orders", "order items"), ()),
        (("",), ()),
        (("unknown",), ()),
    ],
)
@pytest.mark.parametrize("query", ["order", ""])
def test_a_tool_carries_every_wanted_tag_whole(query, tags, names):
    index = _index(orders=("Orders", "Report"), items=("Order Items",), joined=("OrderItems",))

    assert tuple(sorted(_find(index, query, tags=tags).names)) == names


def test_the_tag_filter_keeps_the_ranking():
    documents = [
        SearchDocument(name="aa", description="order", tags=("kept",)),
        SearchDocument(name="bb", description="order order order", tags=("kept",)),
        SearchDocument(name="order", description="order", tags=("other",)),
    ]
    index = Index.build({document.name: weigh(document) for document in documents})

    assert _find(index).names == ("order", "bb", "aa")
    assert _find(index, tags=("kept",)).names == ("bb", "aa")
    assert _find(index, tags=("kept",), limit=1).names == ("bb",)


def test_what_a_caller_cannot_see_still_counts_in_the_ranking():
    # Among all tools "note" is the common word, among those in sight it would be the rare one.
    documents = [
        SearchDocument(name="aa", description="note"),
        SearchDocument(name="bb", description="task"),
        SearchDocument(name="cc", description="task"),
        *(SearchDocument(name=f"hidden{place}", description="note") for place in range(9)),
    ]
    index = Index.build({document.name: weigh(document) for document in documents})

    assert _find(index, "note task", names={"aa", "bb", "cc"}).names == ("bb", "cc", "aa")


@pytest.mark.parametrize(("count", "is_listed"), [(0, False), (1, True), (200, True), (201, False)])
def test_the_tag_vocabulary_is_whole_or_left_out(count, is_listed):
    index = _index(aa=tuple(f"tag{place:03}" for place in range(count)), bb=())

    expected = tuple(f"tag{place:03}" for place in range(count)) if is_listed else None
    assert _find(index).tags == expected


def test_tags_that_fold_alike_are_one_of_the_vocabulary():
    index = _index(aa=tuple(f"tag{place}" for place in range(200)), bb=tuple(f"TÁG{place}" for place in range(200)))

    assert len(_find(index).tags) == 200


def test_the_vocabulary_goes_by_code_point():
    assert _find(_index(aa=("Éa", "zebra", "_x", "日本", "Ab"))).tags == ("_x", "ab", "ea", "zebra", "日本")
