import pytest

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import Audience, Index, Ranking, is_ranked, narrow, read_ranking, weigh

KNOWN = {"apple", "pear", "fig"}


@pytest.mark.parametrize(
    ("answer", "ranking"),
    [
        (["pear", "apple"], Ranking(names=("pear", "apple"))),
        (("pear", "apple"), Ranking(names=("pear", "apple"))),
        ([], Ranking(names=())),
        (["ghost", "fig"], Ranking(names=("fig",), unknown=("ghost",))),
        (["ghost", "ghost"], Ranking(names=(), unknown=("ghost",))),
        (["fig", "pear", "fig", "fig"], Ranking(names=("fig", "pear"), repeated=("fig",))),
        (["Fig", "fig ", ""], Ranking(names=(), unknown=("Fig", "fig ", ""))),
    ],
)
def test_a_list_of_names_is_a_ranking(answer, ranking):
    assert read_ranking(answer, KNOWN) == ranking


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (None, "a NoneType"),
        ("apple", "a str"),
        ({"apple": 1}, "a dict"),
        ({"apple"}, "a set"),
        (iter(["apple"]), "a list_iterator"),
        (["apple", 7], "holds a int"),
        (["apple", None], "holds a NoneType"),
        ([["apple"]], "holds a list"),
        ([b"apple"], "holds a bytes"),
    ],
    ids=repr,
)
def test_anything_else_is_refused_by_its_kind(answer, kind):
    with pytest.raises(ValueError, match=kind):
        read_ranking(answer, KNOWN)


@pytest.mark.parametrize(
    ("query", "expected"), [("order", True), ("  ab ", True), ("", False), ("a ?", False), ("-", False)]
)
def test_only_a_query_with_a_token_is_ranked(query, expected):
    assert is_ranked(query) is expected


def test_filter_visibility_and_limit_keep_the_order_that_was_given():
    tags = {"apple": ("Red",), "fig": ("RED",), "pear": (), "plum": ("red",)}
    documents = [SearchDocument(name=name, description="", tags=carried) for name, carried in tags.items()]
    index = Index.build({document.name: weigh(document) for document in documents})
    audience = Audience.of(index, {"apple", "fig", "pear"})
    ranking = Ranking(names=("plum", "pear", "fig", "apple"))

    found = narrow(index, audience, ranking.order, tags=["Red"], limit=1)

    assert (found.names, found.total) == (("fig",), 3)
