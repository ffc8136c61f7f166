"""Two members of staff on one page: the second is told, and nothing is overwritten in silence."""

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from sezzlee_mcp.models import ArgumentCuration, ArgumentRule, Catalog, SelectionRule
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import LIBRARY, RULES, change_page, errors, operation, page, save, typed
from tests.factories import SelectionRuleFactory, SuperuserFactory, TagFactory

BOOKS = "GET /books/"
FRUIT = {"name": "colour", "in": "query", "schema": {"type": "string"}}


@pytest.fixture(autouse=True)
def library(db: None, settings: Settings, client: Client) -> None:
    settings.SEZZLEE_MCP = RULES
    books = LIBRARY["paths"]["/books/"]
    sync(
        {**LIBRARY, "paths": {**LIBRARY["paths"], "/books/": {**books, "get": {**books["get"], "parameters": [FRUIT]}}}}
    )
    client.force_login(SuperuserFactory(username="ada"))


@pytest.fixture
def bob() -> Client:
    client = Client()
    client.force_login(SuperuserFactory(username="bob"))
    return client


def told(found: dict[str, list[str]]) -> bool:
    """Whether the page says who saved, above its fields."""
    return any("The last save on record is that of bob" in message for message in found["__all__"])


def test_a_value_that_another_changed_is_said_beside_its_field(client: Client, bob: Client) -> None:
    opened = typed(client, change_page(BOOKS), title="Find books", description="Mine.", note="Why.")
    save(bob, change_page(BOOKS), description="<b>Bob’s.</b>")

    response = client.post(change_page(BOOKS), opened)

    found = errors(response)
    assert (told(found), found["description"]) == (True, ["It was changed and is now: <b>Bob’s.</b>"])
    assert sorted(found) == ["__all__", "description"]
    form = response.context["adminform"].form
    assert [form[name].value() for name in ("title", "description", "note")] == ["Find books", "Mine.", "Why."]
    assert (operation(BOOKS).description, Catalog.objects.generation()) == ("<b>Bob’s.</b>", 2)


def test_whoever_was_told_may_save_again(client: Client, bob: Client) -> None:
    opened = typed(client, change_page(BOOKS), description="Mine.")
    save(bob, change_page(BOOKS), description="Bob’s.")
    response = client.post(change_page(BOOKS), opened)

    again = client.post(change_page(BOOKS), {**opened, "_seen": response.context["adminform"].form.seen})

    assert (again.status_code, operation(BOOKS).description) == (302, "Mine.")
    assert 'name="_seen" value="{&quot;' in response.content.decode()


def test_tags_and_the_same_value_again(client: Client, bob: Client) -> None:
    tag = TagFactory(name="Shelf")
    opened = typed(client, change_page(BOOKS), title="Mine")
    save(bob, change_page(BOOKS), tags=[tag.pk])
    assert errors(client.post(change_page(BOOKS), opened))["tags"] == ["It was changed and is now: Shelf"]

    opened = typed(client, change_page(BOOKS), title="Mine")
    save(bob, change_page(BOOKS))
    assert client.post(change_page(BOOKS), opened).status_code == 302


@pytest.mark.parametrize("what", ["added", "changed", "deleted"])
def test_a_row_inside_the_page_that_another_saved_is_said(client: Client, bob: Client, what: str) -> None:
    row = {"name": "colour", "description": "Of the cover."}
    if what != "added":
        ArgumentCuration.objects.create(operation=operation(BOOKS), **row)
    opened = typed(client, change_page(BOOKS), title="Mine")
    changes: dict[str, dict[str, Any]] = {
        "added": {"arguments-TOTAL_FORMS": 1, **{f"arguments-0-{name}": value for name, value in row.items()}},
        "changed": {"arguments-0-description": "Bob’s."},
        "deleted": {"arguments-0-DELETE": "on"},
    }
    save(bob, change_page(BOOKS), **changes[what])

    found = errors(client.post(change_page(BOOKS), opened))

    said = {
        "added": "“colour” was added: open the page anew to see it.",
        "changed": "“colour” was changed.",
        "deleted": "A row inside this page was deleted. Open the page anew to go on.",
    }
    assert (told(found), list(found["__all__"])[1:]) == (True, [said[what]])
    assert operation(BOOKS).title == ""


def test_pages_about_many_tools_tell_it_as_well(client: Client, bob: Client) -> None:
    rule = SelectionRuleFactory(route="/authors/", method="GET")
    url = page("selectionrule", "change", rule.pk)
    opened = typed(client, url, note="Mine.")
    save(bob, url, decision="exclude")

    assert errors(client.post(url, opened))["decision"] == ["It was changed and is now: exclude"]
    assert SelectionRule.objects.get().note == ""


@pytest.mark.parametrize("constant", [{"a": [1]}, ["a", 1], True, "a"])
def test_json_that_another_changed_is_said_as_it_is_typed(client: Client, constant: Any) -> None:
    rule = ArgumentRule.objects.create(argument="size", hidden="constant", constant=1)
    url = page("argumentrule", "change", rule.pk)
    opened = typed(client, url, note="Mine.")
    ArgumentRule.objects.update(constant=constant)

    assert errors(client.post(url, opened))["constant"] == [f"It was changed and is now: {json.dumps(constant)}"]


@pytest.mark.parametrize("answered", [{"_preview": "Preview"}, {"budget_bytes": "few"}], ids=["preview", "refusal"])
def test_a_row_that_was_edited_and_shown_again_can_be_saved_from_there(
    client: Client, answered: dict[str, str]
) -> None:
    ArgumentCuration.objects.create(operation=operation(BOOKS), name="colour", description="Of the cover.")
    opened = typed(client, change_page(BOOKS), **{"arguments-0-description": "Of its cover."})
    shown = client.post(change_page(BOOKS), {**opened, **answered})

    saved = client.post(change_page(BOOKS), {**opened, "_seen": shown.context["adminform"].form.seen})

    assert (shown.status_code, saved.status_code) == (200, 302)
    assert operation(BOOKS).arguments.get().description == "Of its cover."


@pytest.mark.parametrize("seen", [None, "", "[]", "{", "[" * 100_000], ids=["none", "", "list", "half", "levels"])
def test_a_save_that_does_not_say_what_it_saw_is_refused(client: Client, seen: str | None) -> None:
    response = save(client, change_page(BOOKS), title="Mine", _seen=seen)

    assert errors(response) == {
        "__all__": [
            "It is not known what this page showed when you opened it. Compare it with what is stored; then save."
        ]
    }
