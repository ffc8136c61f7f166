"""Tool aliases in the admin: who still uses an old name, and when it ends."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp.aliases import today
from sezzlee_mcp.models import Operation, Revision, ToolAlias, ToolUse
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import LIBRARY, RULES, delete, page, rows, said, save
from tests.factories import SuperuserFactory

BOOKS = "GET /books/"


@pytest.fixture
def alias(db: None, settings: Settings, client: Client) -> ToolAlias:
    """books_list, which is called find_books now."""
    settings.SEZZLEE_MCP = RULES
    sync(LIBRARY)
    client.force_login(SuperuserFactory())
    Operation.objects.filter(key=BOOKS).update(name="find_books")
    publish(source="admin")
    return ToolAlias.objects.get()


def test_deleted_alias_ends(client: Client, alias: ToolAlias) -> None:
    response = delete(client, page("toolalias", "delete", alias.pk))

    assert said(response)[0] == "Generation 3: no tool changed."
    assert (Revision.objects.latest().aliases, ToolAlias.objects.count()) == ({}, 0)


def test_the_end_of_an_alias_can_be_moved(client: Client, alias: ToolAlias) -> None:
    later = today() + timedelta(days=90)

    save(client, page("toolalias", "change", alias.pk), until=later.isoformat())

    assert Revision.objects.latest().aliases == {"books_list": {"tool": "find_books", "until": later.isoformat()}}


def test_list_says_who_still_calls_by_an_old_name(client: Client, alias: ToolAlias) -> None:
    for outcome, calls in (("ok", 3), ("not_found", 1)):
        use = {"day": today(), "tool": "find_books", "outcome": outcome, "former_name": "books_list"}
        ToolUse.objects.create(**use, calls=calls)

    (row,) = rows(client.get(page("toolalias", "changelist")))

    assert row[:3] == ["books_list", "find_books", "4"]


def test_nobody_adds_an_alias(client: Client, alias: ToolAlias) -> None:
    assert client.get(page("toolalias", "add")).status_code == 403


def test_list_asks_no_query_per_alias(client: Client, alias: ToolAlias) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(page("toolalias", "changelist")).status_code == 200
        return len(captured)

    few = queries()
    for number in range(30):
        ToolAlias.objects.create(name=f"old_{number}", tool="find_books", operation=alias.operation, until=alias.until)

    assert queries() == few <= 30
