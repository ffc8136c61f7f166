"""The page of one operation: what it shows, what it publishes, and what it refuses beside the field."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import publishing
from sezzlee_mcp.models import Catalog, Diagnostic, Operation, Revision, ToolContent
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.django.admin_pages import LIBRARY, RULES, change_page, errors, operation, page, said, save, tools, typed
from tests.factories import SuperuserFactory, TagFactory

AUTHORS, BOOKS, CREATE, CLASH = "GET /authors/", "GET /books/", "POST /books/", "POST /clash/"
OPEN = {**RULES, "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}


@pytest.fixture(autouse=True)
def library(db: None, settings: Settings, client: Client) -> None:
    settings.SEZZLEE_MCP = OPEN
    sync(LIBRARY)
    client.force_login(SuperuserFactory(username="ada"))


def text_of(client: Client, key: str) -> str:
    text = re.sub(r"<[^>]*>", " ", client.get(change_page(key)).content.decode())
    return " ".join(text.split())


def origins(client: Client, key: str) -> dict[str, tuple[str, str]]:
    """{field: (source, value beneath)} as they stand beside the fields of a page."""
    form = client.get(change_page(key)).context["adminform"].form
    found = {name: re.findall(r"<(?:strong|span)>(.*?)</", str(field.help_text)) for name, field in form.fields.items()}
    return {name: (texts[0], texts[1]) for name, texts in found.items() if len(texts) == 2}


def descriptions(found: dict[str, Any]) -> dict[str, str]:
    return {result["name"]: result["description"] for result in found["results"]}


def test_an_edited_description_is_what_agents_read_next(client: Client) -> None:
    agent = McpClient()
    before = agent.search("", tags=["books"])
    response = save(client, change_page(BOOKS), description="Every book.\r\nNew ones first.", note="Asked for.")
    assert (response.status_code, said(response)[:1]) == (302, ["Generation 2: 1 tool changed."])
    assert descriptions(before) == {"books_create": "Add a book.", "books_list": "All books."}
    assert descriptions(agent.search("", tags=["books"])) == {
        "books_create": "Add a book.",
        "books_list": "Every book.\nNew ones first.",
    }
    assert {tool["_meta"]["sezzlee/catalogGeneration"] for tool in agent.list_tools()} == {2}


def test_a_save_becomes_a_revision_that_says_who_and_why(client: Client) -> None:
    save(client, change_page(BOOKS), name="find_books", note="Shorter.")
    revision = Revision.objects.latest()
    assert (revision.generation, revision.source, revision.note, str(revision.actor)) == (2, "admin", "Shorter.", "ada")
    assert [entry["kind"] for entry in revision.changes["entries"]] == ["tool_renamed"]


def test_a_save_without_a_note_says_in_its_revision_what_it_is_about(client: Client) -> None:
    save(client, change_page(BOOKS), name="find_books")
    assert Revision.objects.latest().note == "operation: GET /books/"


def test_the_message_links_to_the_revision(client: Client) -> None:
    response = client.post(change_page(BOOKS), typed(client, change_page(BOOKS), title="Books"), follow=True)
    assert f'<a href="{page("revision", "change", 2)}">Generation 2</a>: 1 tool changed.' in response.content.decode()


def test_a_save_without_a_change_makes_no_generation(client: Client) -> None:
    response = save(client, change_page(BOOKS), note="Nothing.")
    assert said(response)[0] == "Nothing that an agent reads changed, so there is no new generation."
    assert Catalog.objects.generation() == 1


def test_the_history_names_what_was_changed_and_nothing_else(client: Client) -> None:
    Operation.objects.filter(key=BOOKS).update(search_terms=["novel"])
    save(client, change_page(BOOKS))
    save(client, change_page(BOOKS), title="Books", search_terms="novel\r\nstory")
    messages = LogEntry.objects.order_by("pk").values_list("change_message", flat=True)
    assert [json.loads(message) for message in messages] == [
        [],
        [{"changed": {"fields": ["Title", "Search terms"]}}],
    ]


def test_an_edit_of_a_hidden_operation_makes_no_generation(client: Client) -> None:
    save(client, change_page(AUTHORS), description="Writers.")
    assert (operation(AUTHORS).description, Catalog.objects.generation()) == ("Writers.", 1)


def test_every_choice_reaches_the_tool(client: Client) -> None:
    tag = TagFactory(name="Shelf")
    save(
        client,
        change_page(BOOKS),
        name="find_books",
        title="Find books",
        overrides_tags="on",
        tags=[tag.pk],
        overrides_search_terms="on",
        search_terms="novel\r\n\r\n  short story \r\n",
        deadline_seconds="2.5",
        budget_bytes="4096",
    )
    content = ToolContent.objects.get(left_generation=None, operation_key=BOOKS)
    assert (content.name, content.document["tags"], content.document["searchTerms"]) == (
        "find_books",
        ["Shelf"],
        ["novel", "short story"],
    )
    assert (content.template["deadlineSeconds"], content.template["budgetBytes"]) == (2.5, 4096)
    assert operation(BOOKS).search_terms == ["novel", "short story"]


def test_an_override_with_nothing_in_it_means_nothing(client: Client) -> None:
    save(client, change_page(CREATE), overrides_tags="on", overrides_search_terms="on")
    document = ToolContent.objects.get(left_generation=None, operation_key=CREATE).document
    assert (document["tags"], document["searchTerms"]) == ([], [])


def test_choices_that_are_not_in_force_are_kept_and_said(client: Client) -> None:
    tag = TagFactory(name="Shelf")
    response = save(client, change_page(BOOKS), tags=[tag.pk], search_terms="novel")
    assert said(response)[:3] == [
        "Nothing that an agent reads changed, so there is no new generation.",
        "The chosen tags are kept, but not in force: “Override the tags” is not ticked.",
        "The chosen search terms are kept, but not in force: “Override the search terms” is not ticked.",
    ]
    assert (list(operation(BOOKS).tags.all()), operation(BOOKS).search_terms) == ([tag], ["novel"])


def test_search_terms_are_shown_one_a_line(client: Client) -> None:
    Operation.objects.filter(key=BOOKS).update(search_terms=["novel", "short story"])
    assert typed(client, change_page(BOOKS))["search_terms"] == "novel\nshort story"


def test_each_field_shows_its_source_and_the_value_beneath(client: Client) -> None:
    assert origins(client, CREATE) == {
        "exposure": ("rule", "exposed"),
        "name": ("published revision", "books_create"),
        "title": ("default", "none"),
        "description": ("code", "Add a book."),
        "tags": ("code", "Books, New"),
        "search_terms": ("code", "novel"),
        "read_only_hint": ("default", "not said"),
        "destructive_hint": ("rule", "no"),
        "idempotent_hint": ("default", "not said"),
        "open_world_hint": ("default", "not said"),
        "family_parameter": ("default", "none"),
    }


def test_what_staff_chose_shows_what_it_replaces(client: Client) -> None:
    save(
        client,
        change_page(BOOKS),
        exposure="exclude",
        name="find_books",
        title="Find",
        description="<b>Mine.</b>",
        overrides_tags="on",
        overrides_search_terms="on",
        search_terms="novel",
        read_only_hint="false",
    )
    assert origins(client, BOOKS) == {
        "exposure": ("staff", "exposed"),
        "name": ("staff", "books_list"),
        "title": ("staff", "List books"),
        "description": ("staff", "All books."),
        "tags": ("staff", "Books"),
        "search_terms": ("staff", "none"),
        "read_only_hint": ("staff", "yes"),
        "destructive_hint": ("default", "not said"),
        "idempotent_hint": ("rule", "yes"),
        "open_world_hint": ("default", "not said"),
        "family_parameter": ("default", "none"),
    }


def test_a_value_beneath_is_never_markup(client: Client) -> None:
    paths = {
        **LIBRARY["paths"],
        "/authors/": {"get": {**LIBRARY["paths"]["/authors/"]["get"], "description": "<i>All</i>"}},
    }
    sync({**LIBRARY, "paths": paths})
    assert origins(client, AUTHORS)["description"] == ("document", "&lt;i&gt;All&lt;/i&gt;")


@pytest.mark.parametrize(
    ("key", "changes", "refusals"),
    [
        (
            BOOKS,
            {"name": "books_create"},
            {"name": ["The name books_create is also that of POST /books/. Give one of them a name of its own."]},
        ),
        (
            BOOKS,
            {"name": "Find books"},
            {
                "name": [
                    "The name Find books does not match ^[a-z][a-z0-9_]{0,255}$. Give the operation a name of its own."
                ]
            },
        ),
        (
            AUTHORS,
            {"exposure": "include", "name": "books_list"},
            {"name": ["The name books_list is also that of GET /books/. Give one of them a name of its own."]},
        ),
        (CLASH, {"exposure": "include"}, {"exposure": ["Two arguments would be named body."]}),
        (
            BOOKS,
            {"exposure": "perhaps"},
            {"exposure": ["Select a valid choice. perhaps is not one of the available choices."]},
        ),
    ],
)
def test_an_edit_that_would_drop_a_tool_is_refused_beside_its_field(
    client: Client, key: str, changes: dict[str, str], refusals: dict[str, list[str]]
) -> None:
    before = Operation.objects.values().get(key=key)
    response = save(client, change_page(key), description="Typed and kept.", note="Why.", **changes)
    assert (response.status_code, errors(response)) == (200, refusals)
    form = response.context["adminform"].form
    assert {name: form[name].value() for name in (*changes, "description", "note")} == {
        **changes,
        "description": "Typed and kept.",
        "note": "Why.",
    }
    assert (Operation.objects.values().get(key=key), Catalog.objects.generation()) == (before, 1)


def test_a_refused_edit_keeps_typed_lists(client: Client) -> None:
    tag = TagFactory(name="Shelf")
    response = save(client, change_page(BOOKS), name="books_create", tags=[tag.pk], search_terms="novel\r\nstory")
    form = response.context["adminform"].form
    assert (form["tags"].value(), form["search_terms"].value()) == ([str(tag.pk)], "novel\r\nstory")
    assert list(operation(BOOKS).tags.all()) == []


def test_an_operation_that_is_no_tool_already_can_be_edited(client: Client) -> None:
    Operation.objects.filter(key=CLASH).update(exposure="include")
    publishing.publish(source="command")
    response = save(client, change_page(CLASH), description="Still none.")
    assert (response.status_code, operation(CLASH).description) == (302, "Still none.")


def test_a_shorter_route_of_a_tool_is_refused_when_it_can_be_none(client: Client) -> None:
    clash = {**LIBRARY["paths"]["/clash/"]["post"], "operationId": "add", "tags": ["Add"]}
    add = {"post": {"operationId": "add", "tags": ["Add"], "responses": {"200": {"description": "Yes."}}}}
    sync({**LIBRARY, "paths": {"/add/to/shelf/": add, "/add/": {"post": clash}}}, force=True)
    save(client, change_page("POST /add/to/shelf/"), exposure="include")
    response = save(client, change_page("POST /add/"), exposure="include")
    assert errors(response) == {"exposure": ["Two arguments would be named body."]}
    assert tools() == ["add"]


def test_the_page_shows_the_published_tool(client: Client) -> None:
    response = client.get(change_page(BOOKS)).content.decode()
    card, loaded = (
        json.loads(shown.replace("&quot;", '"')) for shown in re.findall(r"<pre.*?>(.*?)</pre>", response, re.DOTALL)
    )
    assert card == {"name": "books_list", "description": "All books.", "parameters": ""}
    # Whether a caller may use the tool is said to each caller, and staff are none here.
    assert {**loaded, "authUncertain": True} == McpClient().load("books_list")


@pytest.mark.parametrize(
    ("key", "choices", "reason"),
    [
        (AUTHORS, {}, "selection lost Not exposed: EXPOSE_BY_DEFAULT, since no choice, marker, container or rule"),
        (BOOKS, {"exposure": "exclude"}, "selection lost Not exposed: staff’s choice on its page."),
        (
            CLASH,
            {"exposure": "include"},
            "compile lost It can be no tool as it is; the last publish dropped it. "
            "dropped argument_collision Two arguments would be named body.",
        ),
        (
            BOOKS,
            {"absent_since": datetime(2026, 1, 2, 3, 4, tzinfo=UTC)},
            "document lost GET /books/ is absent from the document since 2026-01-02 03:04.",
        ),
    ],
)
def test_the_page_says_why_there_is_no_tool(client: Client, key: str, choices: dict[str, Any], reason: str) -> None:
    Operation.objects.filter(key=key).update(**choices)
    publishing.publish(source="command")
    assert reason in text_of(client, key)


def test_the_page_says_that_a_choice_is_not_published_yet(client: Client) -> None:
    Operation.objects.filter(key=AUTHORS).update(exposure="include")
    assert "publish lost Generation 1 does not hold it" in text_of(client, AUTHORS)


def test_facts_and_diagnostics_are_shown_and_not_editable(client: Client) -> None:
    Diagnostic.objects.create(
        stage="document",
        code="callbacks_ignored",
        severity="warning",
        message="<Callbacks>",
        operation=operation(AUTHORS),
    )
    text = text_of(client, AUTHORS)
    assert "Key: GET /authors/ View: - Operation id: authors_list Container: People" in text
    assert "warning callbacks_ignored &lt;Callbacks&gt;" in text
    save(client, change_page(AUTHORS), key="GET /other/", container="Other", outline="{}")
    assert (operation(AUTHORS).container, operation(AUTHORS).to_descriptor().route) == ("People", "/authors/")


def test_the_catalog_is_locked_before_a_form_compiles(client: Client) -> None:
    """Two members of staff who save at once: the second compiles what the first one saved."""
    url = change_page(BOOKS)
    filled_in = typed(client, url, title="Books")
    with CaptureQueriesContext(connection) as captured:
        client.post(url, filled_in)
    statements = [query["sql"] for query in captured]
    locked, read = (
        next(place for place, sql in enumerate(statements) if sql.startswith(start) and f"sezzlee_mcp_{table}" in sql)
        for start, table in (("UPDATE", "catalog"), ("SELECT", "operation"))
    )
    assert locked < read


def test_a_page_asks_as_many_queries_in_a_large_catalog(client: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(change_page(BOOKS)).status_code == 200
        return len(captured)

    few = queries()
    more = {f"/more/{number}/": LIBRARY["paths"]["/books/"] for number in range(20)}
    sync({**LIBRARY, "paths": {**LIBRARY["paths"], **more}}, force=True)
    operation(BOOKS).tags.add(TagFactory(), TagFactory(), TagFactory())
    assert queries() == few


def test_no_page_holds_an_inline_script_or_style(client: Client) -> None:
    for url in (change_page(BOOKS), page("operation", "changelist")):
        text = client.get(url).content.decode()
        assert re.findall(r"<script(?![^>]* src=)[^>]*>|<style|\sstyle=|\son\w+=", text) == []
