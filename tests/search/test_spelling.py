import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import Audience, Found, Index, Language, Suggestions, corrected_query, narrow, suggest, weigh
from sezzlee_mcp.search.bm25 import contract
from sezzlee_mcp.search.fielded import fielded
from sezzlee_mcp.search.spelling import NEAR_AT_MOST, WORDS_AT_MOST
from sezzlee_mcp.search.tokens import tokenize


def tool(name, description="", **fields):
    return SearchDocument(name=name, description=description, **fields)


SHOP = (
    tool("orders_list", "Orders, by their state."),
    tool("invoices_list", "Invoices.", search_terms=("receipt",)),
    tool("vulnerability_list", "What is the matter with the IPv6 address of version4 hosts."),
)


def index_of(*documents):
    return Index.build({document.name: weigh(document) for document in documents})


def corrected(query, *documents, certain=None):
    index = index_of(*documents)
    return fielded(index, Language()).order(query, index.documents.keys() if certain is None else certain).corrected


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("invoces", {"invoces": "invoice"}),  # a letter too few
        ("orderrs", {"orderrs": "order"}),  # too many
        ("orfers", {"orfers": "order"}),  # another one
        ("odrers", {"odrers": "order"}),  # two of them swapped
        ("Odrers", {"Odrers": "order"}),
        ("vulnerabilites", {"vulnerabilites": "vulnerability"}),  # two slips in a long word
        ("ivnoice of odrers", {"ivnoice": "invoice", "odrers": "order"}),
        ("adddress", {"adddress": "address"}),  # a word that one tokenizes to, not the token
        ("orders", {}),
        ("vulnerab", {}),  # the start of a word occurs
        ("stat", {}),
        ("hots", {}),  # too short to be anything but meant
        ("xrders", {}),  # the first letter is not looked behind
        ("oderrs", {}),  # two slips
        ("version5", {}),  # a number is not misspelt
        ("receitp", {}),  # agents never read search terms
        ("lists", {}),
        ("display", {}),  # a verb, although nothing has it
        ("their", {}),
        ("", {}),
    ],
)
def test_a_word_that_occurs_nowhere_is_corrected_where_it_is_nearly_another(query, found):
    assert corrected(query, *SHOP) == found


def test_the_word_that_most_tools_have_is_meant_and_then_the_first():
    documents = (tool("a", "carton"), tool("b", "canton"), tool("c", "canton"), tool("d", "cawton"))

    assert corrected("caxton", *documents) == {"caxton": "canton"}
    assert corrected("caxton", *documents, certain={"a", "b", "d"}) == {"caxton": "canton"}
    assert corrected("caxton", *documents, certain={"a", "d"}) == {"caxton": "carton"}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("nappy", {"nappy": "diaper"}),
        ("Nappies", {}),  # no form of a group's word
        ("labels", {"labels": "tag"}),
        ("screenshot", {"screenshot": "image"}),  # more tools have it than "picture"
        ("bill", {}),  # too short to be corrected; it finds the invoice all the same
        ("weakness", {"weakness": "cve"}),
    ],
)
def test_a_word_that_occurs_nowhere_may_have_a_synonym_that_does(query, found):
    documents = (
        *(tool("diapers_list"), tool("tags_list"), tool("images_list"), tool("image_upload"), tool("pictures_list")),
        *(tool("cves_list"), tool("weeknesses_list"), tool("invoices_list")),
    )

    assert corrected(query, *documents) == found


def test_synonyms_are_told_only_where_the_caller_can_read_them():
    documents = (tool("diapers_list"), tool("tags_list", search_terms=("picture",)))

    assert corrected("nappy", *documents, certain={"tags_list"}) == {}
    assert corrected("photo", *documents) == {}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("healthcheck", {"healthcheck": "health check"}),
        ("healthChecks healthchecks", {"healthchecks": "health check"}),
        ("healthorders", {}),  # no tool has both
        ("netbox", {}),  # none is about both
        ("addressorders", {"addressorders": "address order"}),
    ],
)
def test_a_blank_may_be_missing(query, found):
    documents = (
        *(tool("health_check"), tool("health_checks_list"), tool("order_address_list")),
        tool("net", parameters=("box",)),
    )

    assert corrected(query, *documents) == found


def test_what_was_typed_is_still_searched_for():
    assert corrected_query("show odrers, of Odrer", {"odrers": "order", "Odrer": "order"}) == (
        "show order odrers, of order Odrer"
    )


def test_tools_that_are_hidden_tell_no_word_and_keep_none_from_being_corrected():
    index = index_of(*SHOP, tool("audits_list", "Odrers are audited."))
    ranker = fielded(index, Language())
    seen = frozenset(document.name for document in SHOP)

    assert ranker.order("odrers aduits", seen).corrected == {"odrers": "order"}
    assert ranker.order("odrers aduits", index.documents.keys()).corrected == {"aduits": "audit"}


def test_the_tag_filter_makes_no_word_misspelt():
    index = index_of(tool("orders_list", tags=("sales",)), tool("borders_list", "odrers", tags=("maps",)))
    ranker, everyone = fielded(index, Language()), Audience.of(index, index.documents.keys())

    found = narrow(index, everyone, lambda certain: ranker.order("odrers", certain), tags=["sales"], limit=5)

    assert (found.names, found.corrected) == ((), {})


def test_the_contract_corrects_nothing():
    index = index_of(*SHOP)
    ranker, everyone = contract(index), Audience.of(index, index.documents.keys())

    found = narrow(index, everyone, lambda certain: ranker.order("odrers", certain), limit=5)

    assert found == Found(names=(), total=3, tags=None, corrected={})


def test_no_more_than_some_words_of_a_query_are_looked_at():
    typed = [f"invoxic{letter}" for letter in "abcdfghi"]

    assert list(corrected(" ".join(typed), tool("invoxice_list"))) == typed[:WORDS_AT_MOST]


@pytest.mark.parametrize("words", ["about could would these those their", "display remove update replace fetch search"])
def test_verbs_and_words_that_join_others_are_none_of_them(words):
    assert corrected(f"{words} ivnoice", *SHOP) == {"ivnoice": "invoice"}


def test_words_that_join_others_are_none_of_those_that_an_empty_answer_is_about():
    index = index_of(*SHOP)

    everything = Audience.of(index, index.documents.keys())

    found = suggest(index, Language(), everything, "about could would these those oderrs", ())

    assert found.words == ("order",)


@given(st.text(alphabet="aderos ÅéIİßς\u0301'-_9", max_size=40))
def test_a_corrected_query_finds_what_was_meant_and_what_was_typed(query):
    found = corrected(query, *SHOP)

    assert set(tokenize(corrected_query(query, found))) == {
        *tokenize(query),
        *(token for word in found.values() for token in tokenize(word)),
    }


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("oderrs", ("order",)),  # nearer than what is corrected need not be
        ("invoicing", ("invoice",)),
        ("vulnerable", ("vulnerability",)),
        ("refund", ()),
        ("receitp", ()),
        ("adresss", ("address",)),
        ("bill", ("invoice",)),  # a synonym, as short as it is
        ("orderinvoice", ("order",)),  # no tool has both
        ("addresshost", ("address", "host")),
    ],
)
def test_an_empty_answer_names_words_that_do_occur(query, words):
    index = index_of(*SHOP)

    assert suggest(index, Language(), Audience.of(index, index.documents.keys()), query, ()).words == words


def test_suggested_words_are_few():
    index = index_of(*(tool(f"reportable{letter}") for letter in "bcdefghi"))

    found = suggest(index, Language(), Audience.of(index, index.documents.keys()), "reporting", ()).words

    assert found == ("reportableb", "reportablec", "reportabled", "reportablee", "reportablef")
    assert len(found) == NEAR_AT_MOST


@pytest.mark.parametrize(
    ("names", "query", "tags", "message"),
    [
        ({"orders_list"}, "odrers", (), "No tool has any word of the query; try one of `words`, or name the thing"),
        ({"orders_list"}, "refund", (), "No tool has any word of the query; name the thing that it is about diff"),
        ({"orders_list"}, "orders", ("x",), "No tool that fits the query carries every one of these tags; search wi"),
        ({"orders_list"}, "", ("x",), "No tool that fits the query carries every one of these tags; search wi"),
        (set(), "orders", (), "No tool is visible to this caller; call as a user who may use some, or"),
        (set(), "", ("x",), "No tool is visible to this caller; call as a user who may use some, or"),
    ],
)
def test_an_empty_answer_says_what_to_try(names, query, tags, message):
    index = index_of(*SHOP)

    assert suggest(index, Language(), Audience.of(index, names), query, tags).message.startswith(message)


def test_an_answer_without_a_vocabulary_sends_nobody_to_it():
    index = index_of(tool("orders_list", tags=("sales",)))
    said = [
        suggest(index, Language(), Audience(names=index.documents.keys(), certain=set(), tags=tags), "x", ["none"])
        for tags in (("sales",), None)
    ]

    assert said == [
        Suggestions(
            words=(),
            message=(
                "No tool that fits the query carries every one of these tags; "
                "search without them or choose among the answer's `tags`."
            ),
        ),
        Suggestions(
            words=(),
            message="No tool that fits the query carries every one of these tags; search without them.",
        ),
    ]
