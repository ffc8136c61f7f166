"""The survey: each number is that of the list it leads to, and nothing is compiled to show it."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import publishing, snapshots
from sezzlee_mcp.models import (
    ArgumentCuration,
    Operation,
    Revision,
    SelectionRule,
    ToolAlias,
    ToolContent,
    ToolUse,
    VainWord,
    Variant,
)
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import operation, page, rows, save
from tests.factories import StaffFactory, SuperuserFactory

YES = {"responses": {"200": {"description": "Yes."}}}
SHELF = {"name": "shelf", "in": "query", "schema": {"type": "string", "description": "x" * 5000}}
SIBLING = "equal to another method’s or route’s of its resource"
LONG = "Lists the books of a library together with their authors. " * 4


def documented(name: str, description: str, **more: Any) -> dict[str, Any]:
    return {"operationId": name, "tags": ["Library"], "description": description, **YES, **more}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "paths": {
        "/books/": {
            "get": documented("books_list", LONG),
            "post": documented("books_create", ""),
            "put": documented("books_update", "Update.", deprecated=True),
        },
        "/loans/": {
            "get": documented("loans_list", "Lists all the loans.", parameters=[SHELF]),
            "post": documented("loans_create", "Lists all the LOANS.", parameters=[SHELF]),
            "delete": documented("loans_destroy", "Takes every book back from its shelf.", parameters=[SHELF]),
        },
        "/staff/": {"get": documented("staff_list", "Lists who works in the library.")},
        "/clash/": {
            "post": documented(
                "clash",
                "Can be no tool, since two arguments would be named alike.",
                parameters=[{"name": "body", "in": "query", "schema": {"type": "string"}}],
                requestBody={
                    "required": True,
                    "content": {"application/json": {"schema": {"type": "array", "items": {}}}},
                },
            )
        },
        "/lost/": {"trace": documented("lost", "No method that is called.")},
    },
}


@pytest.fixture(autouse=True)
def library(db: None, settings: Settings, client: Client) -> None:
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "RULES": [{"route": "/staff/", "decision": "exclude"}],
    }
    sync(DOCUMENT)
    client.force_login(SuperuserFactory(username="ada"))


def survey(client: Client) -> Any:
    """What the page shows, by what its template calls it."""
    return client.get(page("catalog", "changelist")).context


def figures(client: Client, *groups: str) -> dict[str, int]:
    context = survey(client)
    return {str(figure.label): figure.number for group in groups for figure in context[group]}


def used(tool: str, outcome: str = "ok", calls: int = 1, **names: str) -> None:
    ToolUse.objects.create(day=datetime.now(UTC).date(), tool=tool, outcome=outcome, calls=calls, **names)


def searched(word: str, unanswered: int = 1, unfollowed: int = 0, days_ago: int = 0) -> None:
    day = datetime.now(UTC).date() - timedelta(days=days_ago)
    VainWord.objects.create(day=day, word=word, unanswered=unanswered, unfollowed=unfollowed)


def split_the_loans() -> None:
    for name in ("loans_open", "loans_all"):
        Variant.objects.create(operation=operation("GET /loans/"), name=name, description=f"Reads {name} of everybody.")
    publishing.publish(source="command", note="Two tools of one.")


def test_the_survey_counts_what_became_of_the_operations(client: Client) -> None:
    split_the_loans()
    assert figures(client, "figures") == {
        "discovered": 8,
        "lost in the document": 1,
        "selected": 7,
        "published": 6,
        "dropped": 1,
        "undecided": 6,
        "deprecated": 1,
    }
    assert "operations that agents reach, by 7 tools" in client.get(page("catalog", "changelist")).content.decode()


def test_every_number_leads_to_a_list_of_as_many(client: Client) -> None:
    split_the_loans()
    ArgumentCuration.objects.create(operation=operation("DELETE /loans/"), name="shelf", hidden="omit")
    publishing.publish(source="command")
    used("books_list", calls=4)
    used("loans_open", "not_found")
    context = survey(client)
    shown = [figure for group in ("figures", "faults", "heavy", "calls") for figure in context[group]]
    assert {str(figure.label): figure.number for figure in shown} == {
        str(figure.label): client.get(figure.url).context["cl"].result_count for figure in shown
    }
    assert all("?" in figure.url for figure in shown)


def test_a_folded_route_and_a_dropped_operation_are_selected(client: Client) -> None:
    twin = {"/v2/books/": {"get": DOCUMENT["paths"]["/books/"]["get"]}}
    sync({**DOCUMENT, "paths": {**DOCUMENT["paths"], **twin}})
    assert figures(client, "figures")["selected"] == 8
    selected = client.get(page("operation", "changelist"), {"selected": "no"})
    assert [row[4] for row in rows(selected)] == ["/staff/"]


def test_the_worst_descriptions_come_first_with_their_reasons(client: Client) -> None:
    ArgumentCuration.objects.create(operation=operation("DELETE /loans/"), name="shelf", hidden="omit")
    publishing.publish(source="command")
    assert [(each["tool"].name, list(map(str, each["reasons"]))) for each in survey(client)["worst"]] == [
        ("books_create", ["missing"]),
        ("loans_create", ["speaks of a list, but the tool writes", SIBLING]),
        ("loans_list", [SIBLING]),
        ("books_update", ["too short", "does not name its resource"]),
        ("loans_destroy", ["does not name its resource", "says a hidden or renamed argument"]),
        ("books_list", ["longer than its card"]),
    ]


def abbreviate(*names: str) -> None:
    """Routes behind /dci/, the first behind /crm/ too, and nobody says what these are."""
    paths = [("dci", "east", name) for name in names] + [("crm", "west", names[0])]
    routes = {
        f"/{short}/{name}/": {"get": documented(f"{short}_{name}", f"Lists all {name} of the {wing} wing.")}
        for short, wing, name in paths
    }
    sync({**DOCUMENT, "paths": {**DOCUMENT["paths"], **routes}})


def test_an_abbreviation_is_said_once_with_the_operations_that_it_concerns(client: Client) -> None:
    abbreviate("rooms", "doors", "lamps")
    assert [(each["figure"].label, each["figure"].number) for each in survey(client)["abbreviations"]] == [
        ("dci", 3),
        ("crm", 1),
    ]
    lists = [client.get(each["figure"].url).context["cl"] for each in survey(client)["abbreviations"]]
    assert [shown.result_count for shown in lists] == [3, 1]
    assert not [each for each in survey(client)["worst"] if "dci" in each["tool"].name]


def test_an_abbreviation_is_explained_in_one_place(client: Client) -> None:
    abbreviate("rooms", "doors", "lamps")
    first = survey(client)["abbreviations"][0]
    begun = {"action": "set_terms", "select_across": "1", "_selected_action": first["one"]}
    form = client.post(first["figure"].url, begun).context["form"]
    typed = {"operations": form["operations"].value(), "mode": "add", "words": "data centre"}
    seen = client.post(page("operation", "many_terms"), {**typed, "_preview": "yes"}).context["form"].digest

    client.post(page("operation", "many_terms"), {**typed, "seen": seen})

    explained = Operation.objects.filter(search_terms=["data centre"]).values_list("route", flat=True)
    assert sorted(explained) == ["/dci/doors/", "/dci/lamps/", "/dci/rooms/"]
    assert [each["figure"].label for each in survey(client)["abbreviations"]] == ["crm"]
    assert "Set a search term of all operations with crm" in client.get(page("catalog", "changelist")).content.decode()


def test_who_may_not_edit_reads_of_abbreviations(client: Client) -> None:
    abbreviate("rooms")
    client.force_login(StaffFactory(permissions=["view_catalog", "view_operation"]))
    shown = client.get(page("catalog", "changelist")).content.decode()
    assert ("Abbreviations that nothing explains" in shown, "Set a search term" in shown) == (True, False)


def test_a_mended_description_leads_to_the_others_of_its_fault(client: Client) -> None:
    (url,) = (each["url"] for each in survey(client)["worst"] if each["tool"].name == "books_update")
    saved = save(client, url, description="Replaces a book by another one.")
    more = client.get(saved.headers["Location"])

    assert saved.headers["Location"] == f"{page('operation', 'changelist')}?description=short"
    assert rows(more) == []


def test_the_largest_tools_come_first_in_bytes_and_estimated_tokens(client: Client) -> None:
    largest = [(each["tool"].name, each["tool"].loaded_bytes) for each in survey(client)["largest"]]
    stored = dict(ToolContent.objects.values_list("name", "loaded_bytes"))
    assert largest == sorted(stored.items(), key=lambda tool: -tool[1])
    assert figures(client, "heavy") == {"over 1000 tokens": 3, "over 4000 tokens": 0, "over 16000 tokens": 0}


def test_use_is_counted_under_the_name_of_today(client: Client) -> None:
    used("books_list", calls=4)
    used("old_books", calls=5)
    used("loans_list", "not_found", calls=2)
    used("loans_list", "not_found", calls=2, alias="an older argument")
    used("gone", calls=99)
    ToolAlias.objects.create(
        name="old_books", tool="books_list", operation=operation("GET /books/"), until=datetime.now(UTC).date()
    )
    context = survey(client)
    assert [(each["tool"].name, *each["uses"]) for each in context["most_used"]] == [
        ("books_list", 9, 0),
        ("loans_list", 2, 2),
    ]
    assert [(each["tool"].name, *each["uses"]) for each in context["most_failing"]] == [("loans_list", 2, 2)]
    assert figures(client, "calls") == {"called": 2, "failed at least once": 1, "never called": 4}


def test_words_searched_in_vain_stand_beside_the_nearest_tools(client: Client) -> None:
    searched("borrow", unanswered=0, unfollowed=9)
    searched("loan", unanswered=2)
    searched("loan", unanswered=1, unfollowed=1, days_ago=1)

    words = survey(client)["vain_words"]

    assert [(each["word"], *each["vain"], [near["tool"].name for near in each["nearest"]]) for each in words] == [
        ("loan", 3, 1, ["loans_create", "loans_list", "loans_destroy"]),
        ("borrow", 0, 9, []),
    ]


def test_a_word_becomes_a_search_term_as_by_any_edit_of_many(client: Client) -> None:
    searched("loan")
    text = client.get(page("catalog", "changelist")).content.decode()
    fields = dict(re.findall(r'<input type="hidden" name="(operations|mode|words)" value="([^"]*)">', text))
    (address,) = set(re.findall(r'<form method="post" action="([^"]*)" class="sezzlee-nearest">', text))

    shown = client.post(address, fields)
    client.post(address, {**fields, "seen": shown.context["form"].digest})

    row = Operation.objects.get(pk=fields["operations"])
    assert (row.overrides_search_terms, row.search_terms) == (True, ["loan"])
    assert (Revision.objects.latest().generation, Revision.objects.latest().note) == (2, "1 operation: search terms.")


def test_who_may_not_change_operations_sees_words_and_no_buttons(client: Client) -> None:
    searched("loan")
    client.force_login(StaffFactory(permissions=["view_catalog", "view_vainword", "view_operation"]))
    text = client.get(page("catalog", "changelist")).content.decode()
    assert ("Searched in vain" in text, "Add as search term" in text) == (True, False)
    client.force_login(StaffFactory(permissions=["view_catalog"]))
    assert "Searched in vain" not in client.get(page("catalog", "changelist")).content.decode()


def test_the_last_generations_say_what_they_changed(client: Client) -> None:
    Operation.objects.filter(key="GET /books/").update(description="Every book of the library.")
    publishing.publish(source="admin", note="Shorter.")
    text = client.get(page("catalog", "changelist")).content.decode()
    assert re.findall(r'class="sezzlee-mark sezzlee-(\w+)">(\d+)', text) == [("behavioural", "1"), ("additive", "6")]
    assert f'<a href="{page("revision", "change", 2)}">2</a>' in text
    assert "Shorter." in text


def test_the_survey_asks_no_query_per_tool_or_generation(client: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(page("catalog", "changelist")).status_code == 200
        return len(captured)

    searched("shelf")
    snapshots.current()
    few = queries()
    for number in range(20):
        searched(f"book{number}")
    more = {f"/more/{number}/": {"get": documented(f"more{number}", "")} for number in range(40)}
    sync({**DOCUMENT, "paths": {**DOCUMENT["paths"], **more}})
    for row in Operation.objects.all()[:10]:
        used(row.operation_id, "not_found")
        Operation.objects.filter(pk=row.pk).update(description=f"Says {row.pk}.")
        publishing.publish(source="command")
    snapshots.current()  # a process reads each generation once, whoever asks first
    assert queries() == few <= 30


def test_facets_count_a_narrowed_list(client: Client) -> None:
    text = client.get(page("operation", "changelist"), {"calls": "none", "_facets": "True"}).content.decode()
    assert ">missing (1)<" in text.replace("\n", "")
    assert ">never called (6)<" in text.replace("\n", "")


def test_links_lead_to_what_the_reader_may_see(client: Client) -> None:
    client.force_login(StaffFactory(permissions=["view_catalog"]))
    context = survey(client)
    assert {figure.url for figure in context["figures"]} == {""}
    assert page("operation", "changelist") not in client.get(page("catalog", "changelist")).content.decode()
    client.force_login(StaffFactory(permissions=["view_operation"]))
    assert client.get(page("catalog", "changelist")).status_code == 403


def test_a_catalog_that_was_never_published_says_so(client: Client) -> None:
    SelectionRule.objects.all().delete()
    Operation.objects.all().delete()
    ToolContent.objects.all().delete()
    publishing.Catalog.objects.all().delete()
    text = client.get(page("catalog", "changelist")).content.decode()
    assert "Nothing is published yet. Run <code>manage.py sezzlee_sync</code>." in text
