"""Search cases in the admin: kept, run under every ranker, exported and loaded."""

import json
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import publishing
from sezzlee_mcp.models import Operation, Revision, SearchCase
from sezzlee_mcp.search import Case, read_cases
from tests.django.admin_pages import errors, page, rows, said, save
from tests.django.test_evaluation import DEMO, ORDERS, report
from tests.factories import StaffFactory, SuperuserFactory

AUDIT = {"need": "Who did it?", "query": "audit", "user": "bob", "expected": ["GET /api/audit/"]}
AUDIT_KEY, ORDERS_KEY = "GET /api/audit/", "GET /api/orders/"
STAFF = ("view_searchcase", "add_searchcase", "change_searchcase")


@pytest.fixture(autouse=True)
def staff(shop: None, client: Client) -> None:
    client.force_login(SuperuserFactory(username="ada"))


def keep(*cases: dict[str, Any]) -> None:
    SearchCase.objects.keep(read_cases(json.dumps(cases)))


def log_in(client: Client, *permissions: str) -> None:
    client.force_login(StaffFactory(permissions=permissions))


def load(client: Client, content: Any) -> HttpResponse:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return client.post(page("searchcase", "load"), {"file": SimpleUploadedFile("cases.json", text)})


def run(client: Client, **query: Any) -> dict[str, Any]:
    """What the page shows: scores by run, places by query, what was not run, and how many were left out."""
    context = client.get(page("searchcase", "run"), query).context
    return {
        "runs": [(run.ranker, run.generation, run.scores.recall_at_1) for run in context["runs"]],
        "places": {case["row"].query: case["places"] for case in context["cases"]},
        "unknown": [(row.query, said) for row, said in context["unknown"]],
        "left_out": context["left_out"],
    }


def test_a_case_is_typed_in_and_listed(client: Client) -> None:
    typed = {"need": "Who did it?", "query": "audit", "user": "bob", "tags": "audit\n", "expected": "audit_list\n"}
    save(client, page("searchcase", "add"), **typed)

    assert SearchCase.objects.cases() == (
        Case(need="Who did it?", query="audit", user="bob", tags=("audit",), expected=("audit_list",)),
    )
    assert rows(client.get(page("searchcase", "changelist"))) == [
        ["audit", "Who did it?", "bob", "audit", "audit_list"]
    ]


@pytest.mark.parametrize(
    ("changes", "refusals"),
    [
        ({"user": "eve"}, {"user": ["There is no user 'eve'."]}),
        (
            {"expected": "GET /api/order/"},
            {"expected": ["There is no operation or tool 'GET /api/order/'. Did you mean 'GET /api/orders/'?"]},
        ),
        ({"expected": ""}, {"expected": ["This field is required."]}),
        ({"query": "audit", "user": "bob"}, {"__all__": ["There is already a case of this search."]}),
    ],
)
def test_a_case_that_cannot_be_run_is_refused_beside_its_field(
    client: Client, changes: dict[str, str], refusals: dict[str, list[str]]
) -> None:
    keep(AUDIT)
    typed = {"need": "Orders?", "query": "orders", "expected": "GET /api/orders/"}

    response = save(client, page("searchcase", "add"), **{**typed, **changes})

    assert (errors(response), SearchCase.objects.count()) == (refusals, 1)


def test_a_run_shows_scores_and_places(client: Client) -> None:
    keep(ORDERS, AUDIT)

    assert run(client) == {
        "runs": [("contract", 1, 0.0), ("fielded", 1, 0.5)],
        "places": {"audit": [None, None], "list orders": [4, 1]},
        "unknown": [],
        "left_out": 0,
    }
    text = client.get(page("searchcase", "run")).content.decode()
    assert "No ranker can find this" in text
    assert "2 search cases" in text


def test_a_run_leads_to_the_operations_that_are_expected(client: Client) -> None:
    keep({**AUDIT, "expected": ["GET /api/audit/", "orders_list"]})
    audit, orders = (page("operation", "change", Operation.objects.get(key=key).pk) for key in (AUDIT_KEY, ORDERS_KEY))
    text = client.get(page("searchcase", "run")).content.decode()
    log_in(client, "view_searchcase", "search_as_user")
    unlinked = client.get(page("searchcase", "run")).content.decode()

    assert f'<a href="{audit}">GET /api/audit/</a><br><a href="{orders}">orders_list</a>' in text
    assert ("GET /api/audit/<br>orders_list" in unlinked, audit in unlinked) == (True, False)


def test_a_run_compares_with_an_earlier_generation(client: Client) -> None:
    Operation.objects.filter(key="GET /api/orders/").update(overrides_search_terms=True, search_terms=["zebra"])
    publishing.publish(source="command", note="Zebras are orders.")
    keep({**ORDERS, "query": "zebra"})

    assert run(client, against=1) == {
        "runs": [("contract", 2, 1.0), ("fielded", 2, 1.0), ("contract", 1, 0.0), ("fielded", 1, 0.0)],
        "places": {"zebra": [1, 1, None, None]},
        "unknown": [],
        "left_out": 0,
    }
    assert run(client, against=7)["runs"] == [("contract", 2, 1.0), ("fielded", 2, 1.0)]


def test_a_ranker_that_fails_is_told_beside_the_others(client: Client, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RANKER": "tests.django.test_evaluation.broken"}
    keep(ORDERS, {**AUDIT, "user": ""})

    response = client.get(page("searchcase", "run"))

    body = response.content.decode()
    assert "It failed: ConnectionError: no model answers" in body
    assert [case["places"] for case in response.context["cases"]] == [[4, 1, None], [1, 1, None]]
    assert body.count('"sezzlee-number"><strong>–</strong></td>') == body.count('"sezzlee-number">–</td>') == 1


def test_a_case_whose_operation_is_gone_costs_no_other(client: Client) -> None:
    keep(ORDERS, {**AUDIT, "expected": ["zebra"]})

    found = run(client)

    assert (found["places"], found["unknown"]) == (
        {"list orders": [4, 1]},
        [("audit", ["There is no operation or tool 'zebra'."])],
    )


def test_a_run_of_thirty_cases_is_within_thirty_queries(client: Client) -> None:
    call_command("sezzlee_eval", str(DEMO), keep=True, verbosity=0)

    with CaptureQueriesContext(connection) as asked:
        found = run(client)

    assert len(found["places"]) == 30
    # A view that is asked about a user is asked in a savepoint, which is rolled back.
    queries = [query["sql"] for query in asked.captured_queries if "SAVEPOINT" not in query["sql"]]
    assert len(queries) <= 30


@pytest.mark.parametrize("name", ["run", "load"])
def test_a_page_leads_back_to_the_list(client: Client, name: str) -> None:
    text = client.get(page("searchcase", name)).content.decode()
    crumbs = text.partition('class="breadcrumbs"')[2].partition('id="main"')[0]

    assert f'<a href="{page("searchcase", "changelist")}">Search cases</a>' in crumbs
    assert "jsi18n" not in text


def test_an_empty_page_runs_nothing(client: Client) -> None:
    assert run(client) == {
        "runs": [("contract", 1, 0.0), ("fielded", 1, 0.0)],
        "places": {},
        "unknown": [],
        "left_out": 0,
    }


# -- files --


def test_what_is_exported_is_loaded_again(client: Client) -> None:
    call_command("sezzlee_eval", str(DEMO), keep=True, verbosity=0)
    kept = SearchCase.objects.cases()
    exported = client.get(page("searchcase", "export"))
    SearchCase.objects.all().delete()

    response = load(client, exported.content)

    assert exported["Content-Disposition"] == 'attachment; filename="search_cases.json"'
    assert said(response) == ["Search cases loaded: 30 new, 0 changed."]
    assert SearchCase.objects.cases() == kept == read_cases(DEMO.read_bytes())
    assert said(load(client, exported.content))[1:] == ["Search cases loaded: 0 new, 0 changed."]


def test_a_file_changes_the_case_of_the_same_search_and_no_other(client: Client) -> None:
    keep(ORDERS, AUDIT)

    load(client, [{**ORDERS, "need": "What came in?"}, {**ORDERS, "user": "alice"}])

    assert [(case.need, case.user) for case in SearchCase.objects.cases()] == [
        ("What came in?", ""),
        ("Who did it?", "bob"),
        ("What was ordered?", "alice"),
    ]
    assert sorted(entry.get_change_message() for entry in LogEntry.objects.all()) == [
        "Added.",
        "Changed Need.",
    ]


@pytest.mark.parametrize(
    ("content", "refusals"),
    [
        (b"[", ["/: It is no JSON: Expecting value: line 1 column 2 (char 1)."]),
        ([ORDERS, 7], ["/1: a case is an object, and this is a number."]),
        ([ORDERS, {**AUDIT, "user": "eve"}], ["/1: There is no user 'eve'."]),
        (b" " * 1_000_001, ["It is larger than a megabyte."]),
    ],
)
def test_a_file_in_which_one_case_is_wrong_is_refused_whole(client: Client, content: Any, refusals: list[str]) -> None:
    response = load(client, content)

    assert response.context["form"].errors == {"file": refusals}
    assert SearchCase.objects.count() == 0


# -- permissions --


def test_who_may_not_search_as_another_user_runs_only_the_other_cases(client: Client) -> None:
    keep(ORDERS, AUDIT)
    log_in(client, *STAFF)
    named = run(client)
    log_in(client, *STAFF, "search_as_user")

    assert (named["places"], named["left_out"]) == ({"list orders": [4, 1]}, 1)
    assert run(client)["left_out"] == 0


def test_who_may_not_search_as_another_user_names_none(client: Client) -> None:
    keep(ORDERS, AUDIT)
    log_in(client, *STAFF)
    orders, audit = SearchCase.objects.all()

    save(client, page("searchcase", "change", orders.pk), query="orders", user="carol")
    save(client, page("searchcase", "change", audit.pk), query="trail")
    save(client, page("searchcase", "add"), need="What is there?", query="things", user="carol", expected=AUDIT_KEY)
    refused = load(client, [AUDIT])

    kept = [(case.query, case.user) for case in SearchCase.objects.cases()]
    assert kept == [("orders", ""), ("trail", "bob"), ("things", "")]
    assert refused.context["form"].errors == {"file": ["It names users, and you may not search as another user."]}


@pytest.mark.parametrize(
    ("permissions", "choices"), [(STAFF, ["none", "1"]), ((*STAFF, "view_revision"), ["none", "1: The first."])]
)
def test_notes_of_generations_are_for_who_may_see_those(
    client: Client, permissions: tuple[str, ...], choices: list[str]
) -> None:
    Revision.objects.update(note="The first.")
    Operation.objects.filter(key=ORDERS_KEY).update(name="find_orders")
    publishing.publish(source="admin")
    log_in(client, *permissions)

    form = client.get(page("searchcase", "run")).context["form"]

    assert [label for _value, label in form.fields["against"].choices] == choices


# -- the command --


def test_the_command_without_a_file_runs_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    keep(ORDERS)

    assert [case["places"] for case in report(capsys)["cases"]] == [[4, 1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "There are no search cases in the admin; give a FILE."),
        (["--keep"], "--keep needs a FILE."),
    ],
)
def test_a_command_without_cases_is_misuse(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message) as refused:
        call_command("sezzlee_eval", *arguments)

    assert refused.value.returncode == 2


def test_a_file_in_which_one_case_is_wrong_is_not_kept(tmp_path: Any) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([ORDERS, {**AUDIT, "expected": ["zebra"]}]))

    with pytest.raises(CommandError, match="zebra"):
        call_command("sezzlee_eval", str(path), "--keep")

    assert SearchCase.objects.count() == 0
