"""Windows that may close: what nobody used for so long, and the page that closes it."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import survey, windows
from sezzlee_mcp.aliases import today
from sezzlee_mcp.models import ArgumentCuration, Operation, ToolAlias, ToolUse, Variant
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.sync import sync
from sezzlee_mcp.windows import WindowKind, WindowUses
from tests.django.admin_pages import page, rows
from tests.factories import StaffFactory, SuperuserFactory

YES = {"responses": {"200": {"description": "Yes."}}}
SHELF = {"name": "shelf", "in": "query", "schema": {"type": "string"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "paths": {
        "/books/": {"get": {"operationId": "books_list", "description": "Books.", "parameters": [SHELF], **YES}},
        "/loans/": {"get": {"operationId": "loans_list", "description": "Loans.", "parameters": [SHELF], **YES}},
        "/cards/": {"get": {"operationId": "cards_list", "description": "Cards.", "deprecated": True, **YES}},
    },
}
FEW, MANY = 10, 40


@pytest.fixture(autouse=True)
def library(db: None, settings: Settings, client: Client) -> None:
    """find_books was books_list once, and its argument rack was case; the operation of cards is deprecated."""
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    sync(DOCUMENT)
    books = Operation.objects.get(key="GET /books/")
    Operation.objects.filter(pk=books.pk).update(name="find_books")
    argument = ArgumentCuration(operation=books, name="shelf", agent_name="rack", deprecated_aliases=["case"])
    argument.aliases_until = date(2020, 1, 1)
    argument.save()
    publish(source="admin")
    renamed_days_ago(MANY)
    client.force_login(SuperuserFactory())


def renamed_days_ago(days: int) -> None:
    alias = ToolAlias.objects.get()
    ToolAlias.objects.filter(pk=alias.pk).update(created_at=alias.created_at - timedelta(days=days))


def used(tool: str, days_ago: int, calls: int = 1, **names: str) -> None:
    ToolUse.objects.create(day=today() - timedelta(days=days_ago), tool=tool, outcome="ok", calls=calls, **names)


def found(days: int) -> dict[tuple[str, str], tuple[list[str], WindowUses]]:
    return {
        (each.kind.value, each.name): ([tool.name for tool in each.tools], each.uses)
        for each in windows.closable(survey.published_tools(), days)
    }


def test_what_nobody_uses_is_listed_whole() -> None:
    assert found(FEW) == {
        ("tool_alias", "books_list"): (["find_books"], WindowUses()),
        ("argument_alias", "case"): (["find_books"], WindowUses()),
        ("deprecated", "cards_list"): (["cards_list"], WindowUses()),
    }


def test_a_use_keeps_a_window_open_for_so_many_days() -> None:
    for days_ago, calls in ((FEW, 3), (MANY, 4)):
        used("find_books", days_ago, calls, former_name="books_list")
        used("books_list", days_ago, calls, alias="case")
        used("cards_list", days_ago, calls)

    uses = WindowUses(7, today() - timedelta(days=FEW))
    assert found(FEW) == {}
    assert {name: uses for (_kind, name), (_tools, uses) in found(FEW - 1).items()} == {
        "books_list": uses,
        "case": uses,
        "cards_list": uses,
    }


def test_calls_of_the_tool_itself_do_not_use_its_old_names() -> None:
    used("find_books", 0, 9)
    used("loans_list", 0, 9, alias="case")

    assert found(FEW)["tool_alias", "books_list"] == (["find_books"], WindowUses())
    assert found(FEW)["argument_alias", "case"] == (["find_books"], WindowUses())


def test_an_old_name_that_is_new_is_not_listed() -> None:
    assert ("tool_alias", "books_list") in found(MANY - 1)
    assert ("tool_alias", "books_list") not in found(MANY)


def test_an_old_name_whose_tool_is_gone_is_marked(client: Client) -> None:
    used("find_books", 0, former_name="books_list")
    Operation.objects.filter(key="GET /books/").update(exposure="exclude")
    publish(source="admin")

    (window,) = [each for each in windows.closable(survey.published_tools(), FEW) if each.kind != "deprecated"]

    assert (window.kind, window.name, window.is_gone) == (WindowKind.TOOL_ALIAS, "books_list", True)
    assert "its tool is gone" in client.get(page("catalog", "changelist")).content.decode()
    response = client.get(page("toolalias", "changelist"))
    assert rows(response)[0][:3] == ["books_list", "find_books", "1"]
    assert 'alt="False"' in response.content.decode()


def test_an_older_name_of_a_variants_argument_is_its_own(client: Client) -> None:
    loans = Operation.objects.get(key="GET /loans/")
    variants = [
        Variant.objects.create(operation=loans, name=name, description=f"Reads {name}.") for name in ("open", "all")
    ]
    ArgumentCuration.objects.create(variant=variants[0], name="shelf", agent_name="rack", deprecated_aliases=["board"])
    publish(source="admin")

    assert found(FEW)["argument_alias", "board"] == (["open"], WindowUses())
    assert closing(client)["board"] == page("variant", "change", variants[0].pk)


def closing(client: Client, days: object = FEW) -> dict[str, str]:
    context = client.get(page("catalog", "changelist"), {"unused_days": days}).context
    return {each["window"].name: each["url"] for each in context["windows"]}


def test_each_window_leads_to_what_closes_it(client: Client) -> None:
    books, cards = (Operation.objects.get(key=f"GET /{name}/").pk for name in ("books", "cards"))

    assert closing(client) == {
        "books_list": page("toolalias", "delete", ToolAlias.objects.get().pk),
        "case": page("operation", "change", books),
        "cards_list": page("operation", "change", cards),
    }


def test_readers_are_led_to_no_page_that_is_shut(client: Client) -> None:
    client.force_login(StaffFactory(permissions=["view_catalog"]))
    assert closing(client) == {"books_list": "", "case": "", "cards_list": ""}
    client.force_login(StaffFactory(permissions=["view_catalog", "view_toolalias"]))
    assert closing(client)["books_list"] == page("toolalias", "change", ToolAlias.objects.get().pk)


@pytest.mark.parametrize("days", ["0", "-1", "x", "", "9" * 30, "٣"])
def test_what_is_no_number_of_days_is_thirty(client: Client, days: str) -> None:
    context = client.get(page("catalog", "changelist"), {"unused_days": days}).context
    assert (context["unused_days"], context["other_days"]) == (30, [90, 180])


def test_where_nothing_is_counted_no_window_seems_unused(client: Client, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True, "USE_FLUSH_SECONDS": 0}
    response = client.get(page("catalog", "changelist"))
    assert response.context["windows"] == []
    assert "no calls are counted, so nobody can tell" in response.content.decode()


def test_windows_take_three_queries_however_many_there_are() -> None:
    books = Operation.objects.get(key="GET /books/")
    for number in range(20):
        ToolAlias.objects.create(name=f"old_{number}", tool="find_books", operation=books, until=today())
    tools = survey.published_tools()
    with CaptureQueriesContext(connection) as captured:
        windows.closable(tools, FEW)
    assert len(captured) == 3
