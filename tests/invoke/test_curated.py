"""Renamed, hidden and aliased arguments, as composition sees them."""

import pytest

from sezzlee_mcp.catalog.tools import Exposed, Member
from sezzlee_mcp.invoke import ComposeContext, Naming, compose
from tests.invoke.making import MULTIPART, OMITTED, URLENCODED, constant, deferred, form, post, refusal, slot

RENAMED = Exposed(name="keyword")
ALIASED = Exposed(name="keyword", aliases=("term", "words"), required=True)
SECRET = "Zq7-secret"


def test_renamed_arguments_are_written_under_their_wire_names():
    template = post(
        slot("i d", "path", exposed=Exposed(name="id")),
        slot("q", exposed=RENAMED),
        route="/x/{i d}/",
        properties=("b",),
        exposed={"b": Exposed(name="note")},
    )

    request = compose(template, {"note": 1, "id": "7", "keyword": "a"})

    assert (request.path, request.query, request.body) == ("/x/7/", "q=a", b'{"b":1}')
    assert request.path_values == (("id", "7"),)


@pytest.mark.parametrize("name", ["q", "note", "b", "old"])
def test_open_body_is_closed_to_curated_names_and_tells_nothing_of_them(name):
    template = post(
        slot("q", exposed=RENAMED),
        properties=("b", "note"),
        is_open=True,
        exposed={
            "b": Exposed(name=None, aliases=("old",), fill=constant(1).fill),
            "note": Exposed(name="remark"),
        },
    )
    closed = post(slot("q", exposed=RENAMED), properties=("note",), exposed={"note": Exposed(name="remark")})

    error = refusal(template, {name: 1})

    assert error.code == "unknown_argument"
    assert error.message == refusal(closed, {name: 1}).message


def test_message_about_a_renamed_argument_uses_the_agents_name():
    template = post(slot("q", type="integer", exposed=RENAMED))
    assert refusal(template, {"keyword": "x"}).message == "Argument 'keyword' must be an integer, not a string."


@pytest.mark.parametrize("name", ["keyword", "term", "words"])
def test_older_name_still_counts_and_is_told(name):
    for template in (post(slot("q", exposed=ALIASED)), post(properties=("q",), exposed={"q": ALIASED})):
        request = compose(template, {name: "a"})
        assert (request.query, request.body) in {("q=a", None), ("", b'{"q":"a"}')}
        assert request.used_aliases == (() if name == "keyword" else ((name, "keyword"),))


@pytest.mark.parametrize("names", [("keyword", "term"), ("term", "words"), ("keyword", "term", "words")])
@pytest.mark.parametrize(
    "template",
    [post(slot("q", exposed=ALIASED)), post(properties=("q",), exposed={"q": ALIASED})],
    ids=["slot", "body"],
)
def test_only_one_name_of_an_argument_is_taken(template, names):
    error = refusal(template, dict.fromkeys(names, "a"))
    assert (error.code, "Send 'keyword' alone." in error.message) == ("invalid_type", True)


@pytest.mark.parametrize(
    "template",
    [
        post(slot("q", exposed=ALIASED)),
        post(properties=("q",), exposed={"q": ALIASED}),
        form(URLENCODED, Member(name="q", type="string"), exposed={"q": ALIASED}),
    ],
    ids=["slot", "body", "form"],
)
def test_required_pair_is_asked_for_by_its_current_name(template):
    error = refusal(template, {})
    assert error.message == "Argument 'keyword' is missing. The operation cannot be called without it."


def test_path_argument_with_an_older_name_is_missing_by_its_current_one():
    template = post(
        slot("q", "path", exposed=Exposed(name="keyword", aliases=("term",), required=True)), route="/x/{q}/"
    )
    assert refusal(template, {}).code == "missing_path_parameter"
    assert compose(template, {"term": "a"}).path_values == (("term", "a"),)


def test_hidden_values_are_written_in_their_declared_places():
    template = post(
        slot("t", "path", exposed=deferred("tenant")),
        slot("a"),
        slot("h", exposed=constant(True), type="boolean"),
        slot("b"),
        slot("X-T", "header", exposed=deferred("tenant")),
        slot("c", "cookie", exposed=constant("d e")),
        route="/x/{t}/",
        properties=("n", "s", "o"),
        exposed={"s": constant(None), "o": OMITTED, "n": deferred("nothing")},
    )

    context = ComposeContext(deferred={"tenant": "a/b", "nothing": None})
    request = compose(template, {"b": "2", "a": "1"}, context)

    assert (request.path, request.path_values) == ("/x/a%2Fb/", (("", "a/b"),))
    assert request.query == "a=1&h=true&b=2"
    assert request.headers == (("X-T", "a/b"), ("Cookie", "c=d%20e"))
    assert request.body == b'{"n":null,"s":null}'


def test_hidden_root_is_the_whole_body_and_an_absent_one_sends_none():
    template = post(argument="body", required=False, exposed={"body": deferred("tags")})
    assert compose(template, {}, ComposeContext(deferred={"tags": [1]})).body == b"[1]"
    assert compose(template, {}).body is None


@pytest.mark.parametrize(
    "template",
    [
        post(slot("t", "path", exposed=deferred("tenant")), route="/x/{t}/"),
        post(slot("t", required=True, exposed=deferred("tenant"))),
        post(slot("T", "header", required=True, exposed=deferred("tenant"))),
        post(slot("t", "cookie", required=True, exposed=deferred("tenant"))),
        post(argument="body", exposed={"body": deferred("tenant")}),
        post(properties=("t",), exposed={"t": deferred("tenant", required=True)}),
    ],
    ids=["path", "query", "header", "cookie", "root", "field"],
)
def test_required_hidden_value_that_is_missing_is_the_servers_fault(template):
    error = refusal(template, {})
    assert (error.code, error.retryable) == ("deferred_value_missing", False)
    assert "tenant" not in error.message


@pytest.mark.parametrize(
    ("template", "value"),
    [
        (post(slot("wire", "path", exposed=deferred("src")), route="/x/{wire}/"), ""),
        (post(slot("wire", "path", exposed=deferred("src")), route="/x/{wire}/"), 5),
        (post(slot("wire", type="integer", exposed=deferred("src"))), SECRET),
        (post(slot("wire", is_array=True, exposed=deferred("src"))), SECRET),
        (post(slot("wire", "header", exposed=deferred("src"))), f"{SECRET}\r\nX: 1"),
        (post(slot("wire", "header", exposed=deferred("src"))), f"{SECRET}€"),
        (post(slot("wire", "cookie", style="cookie", exposed=deferred("src"))), f"{SECRET} "),
        (post(slot("wire", type="object", style="deepObject", exposed=deferred("src"))), {SECRET: 1}),
        (post(properties=("wire",), exposed={"wire": deferred("src")}), [float("nan"), SECRET]),
        (post(argument="body", content_type="text/plain", exposed={"body": deferred("src")}), [SECRET]),
        (form(URLENCODED, Member(name="wire", type="integer"), exposed={"wire": deferred("src")}), SECRET),
        (form(MULTIPART, Member(name="wire", type="file"), exposed={"wire": deferred("src")}), SECRET),
        (post(slot("wire", "cookie", exposed=deferred("src"))), "carried"),
    ],
)
def test_hidden_value_that_does_not_fit_is_refused_without_a_word_about_it(template, value):
    error = refusal(template, {}, deferred={"src": value}, carried_cookies="wire=1" if value == "carried" else "")
    assert (error.code, error.retryable) == ("deferred_value_invalid", False)
    for word in (SECRET, "wire", "src"):
        assert word not in error.message


def test_naming_of_a_template_leads_wire_names_to_agent_names_and_hides_the_hidden():
    template = post(slot("Q", exposed=RENAMED), properties=("t", "n"), exposed={"t": constant(1)})

    naming = Naming.of(template, ("keyword", "n"), "non_field_errors")

    assert naming == Naming(published=("keyword", "n"), renamed={"Q": "keyword"}, hidden=frozenset({"t"}))
    paths = [("q",), ("q", 0, "x"), ("keyword",), ("T",), ("t", 1), ("$.t",), ("n",), ("non_field_errors",)]
    assert [naming.text(path) for path in paths] == [
        "keyword", "keyword[0].x", "keyword", None, None, None, "n", None
    ]  # fmt: skip
