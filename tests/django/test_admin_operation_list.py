"""The list of operations: what it says of each, how it is narrowed, and how many are exposed or hidden at once."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from sezzlee_mcp import publishing
from sezzlee_mcp.admin.filters import TagFilter
from sezzlee_mcp.models import Catalog, Diagnostic, Operation, Revision, ToolContent
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import LIBRARY, RULES, act, operation, page, rows, said, tools
from tests.factories import SuperuserFactory, TagFactory

AUTHORS, BOOKS, CREATE, CLASH = "GET /authors/", "GET /books/", "POST /books/", "POST /clash/"


@pytest.fixture(autouse=True)
def library(db: None, settings: Settings, client: Client) -> None:
    settings.SEZZLEE_MCP = RULES
    sync(LIBRARY)
    client.force_login(SuperuserFactory())


def listed(client: Client, **query: str) -> list[str]:
    """The tools of the list, in its order."""
    return [row[0] for row in rows(client.get(page("operation", "changelist"), query))]


def warn(key: str) -> None:
    Diagnostic.objects.create(
        stage="document", code="callbacks_ignored", severity="warning", message="Ignored.", operation=operation(key)
    )


def test_each_operation_says_what_it_is_and_why(client: Client) -> None:
    Operation.objects.filter(key=BOOKS).update(name="find_books", exposure="exclude")
    Operation.objects.filter(key=CLASH).update(absent_since=timezone.now())
    Diagnostic.objects.create(
        stage="catalog", code="name_collision", severity="dropped", message="Clash.", operation=operation(BOOKS)
    )
    assert rows(client.get(page("operation", "changelist"))) == [
        ["authors_list", "hidden", "default", "GET", "/authors/", "-", "People"],
        ["books_list", "hidden", "staff", "GET", "/books/", "1 dropped, 1 warning", "Books"],
        ["books_create", "exposed", "rule", "POST", "/books/", "1 warning", "Books, New"],
        ["clash", "absent", "document", "POST", "/clash/", "-", "-"],
    ]


def test_a_published_name_stands_before_the_one_that_is_asked_for(client: Client) -> None:
    Operation.objects.filter(key=BOOKS).update(name="not_published_yet")
    assert "books_list" in listed(client)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"exposure__exact": "exclude"}, ["books_list"]),
        ({"exposure__exact": "inherit"}, ["authors_list", "books_create", "clash"]),
        ({"published": "yes"}, ["books_list", "books_create"]),
        ({"published": "no"}, ["authors_list", "clash"]),
        ({"tag": "people"}, ["authors_list"]),
        ({"tag": "books"}, ["books_list", "books_create"]),
        ({"tag": "new"}, ["books_create"]),
        ({"tag": "nobody has it"}, []),
        ({"method": "POST"}, ["books_create", "clash"]),
        ({"diagnostics": "warning"}, ["authors_list"]),
        ({"diagnostics": "dropped"}, []),
        ({"diagnostics": "none"}, ["books_list", "books_create", "clash"]),
        ({"absent": "yes"}, ["clash"]),
        ({"absent": "no"}, ["authors_list", "books_list", "books_create"]),
        ({"tag": "books", "method": "GET"}, ["books_list"]),
    ],
)
def test_filters_narrow_the_list(client: Client, query: dict[str, str], found: list[str]) -> None:
    Operation.objects.filter(key=BOOKS).update(exposure="exclude")
    Operation.objects.filter(key=CLASH).update(absent_since=timezone.now())
    Diagnostic.objects.all().delete()
    warn(AUTHORS)
    warn(AUTHORS)
    assert listed(client, **query) == found


def test_the_tag_filter_reads_the_tags_in_effect(client: Client) -> None:
    authors, books = operation(AUTHORS), operation(BOOKS)
    authors.overrides_tags = books.overrides_tags = True
    authors.save()
    books.save()
    authors.tags.add(TagFactory(name="Bôoks"))
    publishing.publish(source="command")
    response = client.get(page("operation", "changelist"), {"tag": "books"})
    (spec,) = (spec for spec in response.context["cl"].filter_specs if isinstance(spec, TagFilter))
    assert spec.lookup_choices == [("books", "Bôoks"), ("new", "New")]
    assert [row[0] for row in rows(response)] == ["authors_list", "books_create"]


def test_facets_count_what_each_filter_would_leave(client: Client) -> None:
    text = client.get(page("operation", "changelist"), {"_facets": "True"}).content.decode()
    assert ">Books (2)<" in text.replace("\n", "")
    assert ">a tool (2)<" in text.replace("\n", "")


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("books_create", [CREATE]),
        ("POST /books/", [CREATE]),
        ("people", [AUTHORS]),
        ("written by staff", [BOOKS]),
        ("find_books", [BOOKS]),
        ("published_as", [CREATE]),
        ("books", [BOOKS, CREATE]),
        ("no such thing", []),
    ],
)
def test_search_finds_by_every_name_of_an_operation(client: Client, words: str, keys: list[str]) -> None:
    Operation.objects.filter(key=BOOKS).update(name="find_books", description="Written by staff.")
    ToolContent.objects.filter(operation_key=CREATE).update(name="published_as")
    found = rows(client.get(page("operation", "changelist"), {"q": words}))
    assert [f"{row[3]} {row[4]}" for row in found] == keys


def test_the_list_asks_no_query_per_row(client: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(page("operation", "changelist")).status_code == 200
        return len(captured)

    few = queries()
    more = {f"/more/{number}/": LIBRARY["paths"]["/authors/"] for number in range(30)}
    sync({**LIBRARY, "paths": {**LIBRARY["paths"], **more}}, force=True)
    for row in Operation.objects.all():
        row.overrides_tags = True
        row.save()
        row.tags.add(TagFactory())
        warn(row.key)
    assert queries() == few


def test_the_list_says_that_nothing_was_ever_synced(client: Client) -> None:
    Operation.objects.all().delete()
    text = client.get(page("operation", "changelist")).content.decode()
    assert "never synced. Run <code>manage.py sezzlee_sync</code>" in text


def test_the_list_says_which_generation_agents_read(client: Client) -> None:
    text = client.get(page("operation", "changelist")).content.decode()
    assert "Agents read generation 1." in text
    assert "never synced" not in text


def test_nobody_adds_or_deletes_an_operation(client: Client) -> None:
    statuses = (
        client.get(page("operation", "add")).status_code,
        client.post(page("operation", "delete", operation(BOOKS).pk), {"post": "yes"}).status_code,
    )
    assert statuses == (403, 403)
    assert "delete_selected" not in client.get(page("operation", "changelist")).content.decode()


def test_exposing_publishes_once_and_says_how_many(client: Client) -> None:
    response = act(client, "expose", AUTHORS, BOOKS)
    assert said(response) == ["2 operations: exposed.", "Generation 2: 1 tool added."]
    assert tools() == ["authors_list", "books_create", "books_list"]
    assert operation(BOOKS).exposure == "include"


def test_hiding_takes_the_tools_away(client: Client) -> None:
    response = act(client, "hide", BOOKS)
    assert said(response) == ["1 operation: hidden.", "Generation 2: 1 tool removed."]
    assert tools() == ["books_create"]


def test_the_rules_decide_again_and_nothing_an_agent_reads_changed(client: Client) -> None:
    Operation.objects.filter(key=BOOKS).update(exposure="include")
    response = act(client, "inherit", BOOKS)
    assert said(response) == [
        "1 operation: as the rules say.",
        "Nothing that an agent reads changed, so there is no new generation.",
    ]
    assert (operation(BOOKS).exposure, Catalog.objects.generation()) == ("inherit", 1)


def test_an_action_keeps_chosen_tags(client: Client) -> None:
    books = operation(BOOKS)
    books.overrides_tags = True
    books.save()
    books.tags.add(TagFactory(name="Shelf"))
    act(client, "expose", BOOKS)
    assert [tag.name for tag in operation(BOOKS).tags.all()] == ["Shelf"]
    assert Revision.objects.latest().note == "1 operation: exposed."


def test_an_action_is_in_the_history_of_each_operation(client: Client) -> None:
    act(client, "hide", BOOKS)
    text = client.get(page("operation", "history", operation(BOOKS).pk)).content.decode()
    assert "Changed Exposure." in text
