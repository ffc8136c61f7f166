"""What is only read: revisions, diagnostics, and every page for staff who may look and not touch."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import publishing
from sezzlee_mcp.models import Catalog, Diagnostic, Operation, Revision, SelectionRule
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import LIBRARY, RULES, change_page, operation, page, rows, save
from tests.factories import SelectionRuleFactory, StaffFactory, SuperuserFactory, TagFactory

BOOKS, CREATE = "GET /books/", "POST /books/"


@pytest.fixture(autouse=True)
def library(db: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = RULES
    sync(LIBRARY)


@pytest.fixture
def ada(client: Client) -> None:
    client.force_login(SuperuserFactory(username="ada"))


def log_in(client: Client, *permissions: str) -> None:
    client.force_login(StaffFactory(permissions=permissions))


def test_revisions_say_who_published_what_and_why(ada: None, client: Client) -> None:
    save(client, change_page(BOOKS), name="find_books", note="Shorter.")
    second, first = rows(client.get(page("revision", "changelist")))
    assert [*second[:6], second[7]] == [
        "2",
        "1 tool added, 1 tool removed",
        "1 behavioural",
        "Shorter.",
        "admin",
        "ada",
        "2",
    ]
    assert [*first[:6], first[7]] == ["1", "2 tools added", "2 additive", "-", "sync", "-", "2"]


def test_a_revision_lists_its_changes_with_links(ada: None, client: Client) -> None:
    save(client, change_page(BOOKS), name="find_books", description="<b>")
    text = client.get(page("revision", "change", 2)).content.decode()
    assert f'<a href="{change_page(BOOKS)}">find_books</a>' in text
    assert "The tool is called find_books now, and books_list still leads to it." in text
    assert "description was &quot;All books.&quot; and is &quot;&lt;b&gt;&quot;." in text
    assert 'name="_save"' not in text


def test_two_generations_are_compared(ada: None, client: Client) -> None:
    save(client, change_page(BOOKS), description="Every book.")
    save(client, change_page(CREATE), exposure="exclude")
    save(client, change_page(BOOKS), description="")

    def marks(old: int, new: int) -> list[tuple[str, str]]:
        text = client.get(page("revision", "compare"), {"old": old, "new": new}).content.decode()
        return re.findall(r'<li><a [^>]*>(\w+)</a> <span class="sezzlee-mark [\w-]+">([\w ]+)</span>', text)

    assert marks(1, 4) == [("books_create", "1 breaking")]
    assert marks(4, 1) == [("books_create", "1 additive")]
    assert marks(2, 3) == [("books_create", "1 breaking")]
    assert marks(2, 2) == []


def test_a_generation_that_is_not_kept_is_no_choice(ada: None, client: Client) -> None:
    form = client.get(page("revision", "compare"), {"old": 1, "new": 9}).context["form"]
    assert list(form.errors) == ["new"]


def test_a_comparison_asks_no_query_per_tool(ada: None, client: Client) -> None:
    def queries(old: int, new: int) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(page("revision", "compare"), {"old": old, "new": new}).status_code == 200
        return len(captured)

    save(client, change_page(BOOKS), description="Every book.")
    Operation.objects.update(exposure="include", description="Other.")
    publishing.publish(source="admin")
    assert queries(1, 3) == queries(1, 2) <= 30


def test_only_who_sees_revisions_compares_them(client: Client) -> None:
    log_in(client, "view_operation")
    assert client.get(page("revision", "compare")).status_code == 403
    log_in(client, "view_revision")
    assert client.get(page("revision", "compare")).status_code == 200


def test_a_revision_outlives_its_operations(ada: None, client: Client) -> None:
    Operation.objects.filter(key=BOOKS).delete()
    text = client.get(page("revision", "change", 1)).content.decode()
    assert "<strong>books_list</strong>" in text
    assert f'<a href="{change_page(CREATE)}">books_create</a>' in text


def test_diagnostics_lead_to_their_operation(ada: None, client: Client) -> None:
    Diagnostic.objects.all().delete()
    Diagnostic.objects.create(
        stage="catalog",
        code="long_tool_name",
        severity="warning",
        message="Long.",
        key=BOOKS,
        operation=operation(BOOKS),
    )
    Diagnostic.objects.create(
        stage="document", code="unsupported_method", severity="dropped", message="Lost.", key="TRACE /books/"
    )
    response = client.get(page("diagnostic", "changelist"))
    assert rows(response) == [
        ["unsupported_method", "dropped", "TRACE /books/", "Lost.", "document"],
        ["long_tool_name", "warning", BOOKS, "Long.", "catalog"],
    ]
    assert f'<a href="{change_page(BOOKS)}">{BOOKS}</a>' in response.content.decode()


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ({"severity__exact": "dropped"}, ["unsupported_method"]),
        ({"stage__exact": "catalog"}, ["long_tool_name"]),
        ({"code": "long_tool_name"}, ["long_tool_name"]),
        ({"q": "TRACE"}, ["unsupported_method"]),
        ({"q": "Long."}, ["long_tool_name"]),
    ],
)
def test_diagnostics_are_narrowed(ada: None, client: Client, query: dict[str, str], codes: list[str]) -> None:
    Diagnostic.objects.all().delete()
    Diagnostic.objects.create(stage="catalog", code="long_tool_name", severity="warning", message="Long.", key=BOOKS)
    Diagnostic.objects.create(
        stage="document", code="unsupported_method", severity="dropped", message="Lost.", key="TRACE /books/"
    )
    assert [row[0] for row in rows(client.get(page("diagnostic", "changelist"), query))] == codes


@pytest.mark.parametrize("model", ["revision", "diagnostic"])
def test_nobody_writes_what_a_publish_wrote(ada: None, client: Client, model: str) -> None:
    rows = {"revision": Revision, "diagnostic": Diagnostic}[model].objects.order_by("pk")
    before = list(rows.values())
    changed = page(model, "change", rows.first().pk)
    statuses = (
        client.get(page(model, "add")).status_code,
        client.post(changed, {"note": "x", "message": "x"}).status_code,
        client.post(page(model, "delete", rows.first().pk), {"post": "yes"}).status_code,
    )
    assert (statuses, list(rows.values())) == ((403, 403, 403), before)


@pytest.mark.parametrize("model", ["revision", "diagnostic", "tag", "selectionrule"])
def test_a_list_asks_no_query_per_row(ada: None, client: Client, model: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(page(model, "changelist")).status_code == 200
        return len(captured)

    def more() -> None:
        operation(BOOKS).tags.add(TagFactory())
        SelectionRuleFactory(route=f"/{SelectionRule.objects.count()}/")
        Operation.objects.filter(key=BOOKS).update(description=f"{Catalog.objects.edit()} books.")
        publishing.publish(source="admin", actor=SuperuserFactory())
        Diagnostic.objects.create(
            stage="document", code="links_ignored", severity="warning", message="Ignored.", operation=operation(BOOKS)
        )

    more()
    few = queries()
    for _ in range(10):
        more()
    assert queries() == few


def test_a_viewer_sees_each_value_with_its_source_and_changes_nothing(client: Client) -> None:
    log_in(client, "view_operation")
    Operation.objects.filter(key=BOOKS).update(description="<i>Mine</i>")
    response = client.get(change_page(BOOKS))
    text = response.content.decode()
    assert '<tr><th scope="row">Name</th><td>books_list</td><td>published revision</td><td>books_list</td></tr>' in text
    assert (
        '<tr><th scope="row">Description</th><td>&lt;i&gt;Mine&lt;/i&gt;</td><td>staff</td><td>All books.</td></tr>'
        in text
    )
    assert ('name="_save"' in text, 'name="note"' in text) == (False, False)
    assert client.post(change_page(BOOKS), {"exposure": "exclude"}).status_code == 403
    assert (operation(BOOKS).exposure, Catalog.objects.generation()) == ("inherit", 1)


def test_an_editor_who_may_not_see_revisions_gets_no_link_to_one(client: Client) -> None:
    log_in(client, "view_operation", "change_operation", "publish_catalog")
    response = save(client, change_page(BOOKS), title="Books")
    text = client.get(response["Location"]).content.decode()
    assert "Generation 2: 1 tool changed." in text


def test_what_only_the_machinery_reads_has_no_page(ada: None, client: Client) -> None:
    text = client.get("/admin/").content.decode()
    assert [name in text for name in ("Tool contents", "Catalogs", "Operations")] == [False, False, True]
