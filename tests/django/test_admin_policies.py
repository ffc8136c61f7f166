"""Tags and selection rules: each save and deletion publishes."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from sezzlee_mcp import publishing
from sezzlee_mcp.models import Catalog, Operation, Revision, SelectionRule, Tag, ToolContent
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import LIBRARY, RULES, delete, errors, operation, page, rows, said, save, tools
from tests.factories import SelectionRuleFactory, SuperuserFactory, TagFactory

BOOKS = "GET /books/"


@pytest.fixture(autouse=True)
def library(db: None, settings: Settings, client: Client) -> None:
    settings.SEZZLEE_MCP = RULES
    sync(LIBRARY)
    client.force_login(SuperuserFactory())


@pytest.fixture
def shelf() -> Tag:
    """A tag that the published books carry."""
    tag = TagFactory(name="Shelf")
    Operation.objects.filter(key=BOOKS).update(overrides_tags=True)
    operation(BOOKS).tags.add(tag)
    publishing.publish(source="command")
    return tag


def tags_of_books() -> list[str]:
    tags: list[str] = ToolContent.objects.get(left_generation=None, operation_key=BOOKS).document["tags"]
    return tags


def test_a_renamed_tag_is_published(client: Client, shelf: Tag) -> None:
    response = save(client, page("tag", "change", shelf.pk), name="Stack")
    assert said(response)[0] == "Generation 3: 1 tool changed."
    assert (tags_of_books(), Revision.objects.latest().note) == (["Stack"], "tag: Stack")


def test_a_tag_that_no_tool_carries_makes_no_generation(client: Client) -> None:
    save(client, page("tag", "add"), name="Shelf", description="Where books stand.")
    assert (Tag.objects.get().folded, Catalog.objects.generation()) == ("shelf", 1)


@pytest.mark.parametrize("kind", ["page", "action"])
def test_a_deleted_tag_leaves_its_tools(client: Client, shelf: Tag, kind: str) -> None:
    if kind == "page":
        response = delete(client, page("tag", "delete", shelf.pk))
    else:
        response = delete(client, page("tag", "changelist"), shelf.pk)
    assert "Generation 3: 1 tool changed." in said(response)
    assert (tags_of_books(), Tag.objects.count()) == ([], 0)


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("SHÉLF", "There is already a tag that reads the same once case and accents are ignored."),
        ("\u0301", "Nothing is left of this name once accents are ignored."),
        ("   ", "This field is required."),
    ],
)
def test_a_tag_that_cannot_be_told_apart_is_refused(client: Client, name: str, refusal: str) -> None:
    TagFactory(name="Shelf")
    response = save(client, page("tag", "add"), name=name)
    assert (errors(response), Tag.objects.count()) == ({"name": [refusal]}, 1)


def test_a_tag_keeps_its_own_name(client: Client, shelf: Tag) -> None:
    save(client, page("tag", "change", shelf.pk), name="SHELF")
    assert tags_of_books() == ["SHELF"]


def test_tags_say_how_many_operations_carry_them(client: Client, shelf: Tag) -> None:
    TagFactory(name="Empty")
    assert rows(client.get(page("tag", "changelist"))) == [["Empty", "0", "-"], ["Shelf", "1", "-"]]


def test_a_new_rule_exposes_what_it_matches(client: Client) -> None:
    response = save(client, page("selectionrule", "add"), route="/auth*/", method="GET", decision="include")
    assert said(response)[0] == "Generation 2: 1 tool added."
    assert tools() == ["authors_list", "books_create", "books_list"]


def test_a_changed_rule_is_compiled_without_what_it_was(client: Client) -> None:
    rule = SelectionRuleFactory(route="/authors/", method="GET")
    publishing.publish(source="command")
    response = save(client, page("selectionrule", "change", rule.pk), decision="exclude")
    assert (response.status_code, tools()) == (302, ["books_create", "books_list"])


@pytest.mark.parametrize("kind", ["page", "action"])
def test_a_deleted_rule_no_longer_decides(client: Client, kind: str) -> None:
    rule = SelectionRuleFactory(route="/authors/", method="GET")
    publishing.publish(source="command")
    if kind == "page":
        delete(client, page("selectionrule", "delete", rule.pk))
    else:
        delete(client, page("selectionrule", "changelist"), rule.pk)
    assert tools() == ["books_create", "books_list"]


def test_the_note_of_a_rule_publishes_nothing(client: Client) -> None:
    rule = SelectionRuleFactory(route="/authors/", method="GET")
    publishing.publish(source="command")
    save(client, page("selectionrule", "change", rule.pk), note="For the librarians.")
    assert (SelectionRule.objects.get().note, Catalog.objects.generation()) == ("For the librarians.", 2)


def test_a_stored_method_in_lower_case_stays_chosen(client: Client) -> None:
    rule = SelectionRuleFactory(route="/authors/", method="get")
    save(client, page("selectionrule", "change", rule.pk))
    assert SelectionRule.objects.get().method == "GET"


def test_the_same_rule_twice_is_refused(client: Client) -> None:
    SelectionRuleFactory(route="/authors/", method="GET")
    response = save(client, page("selectionrule", "add"), route="/authors/", method="GET", decision="include")
    assert errors(response) == {"__all__": ["There is already a rule that says exactly this."]}


def test_a_rule_may_match_what_can_be_no_tool(client: Client) -> None:
    response = save(client, page("selectionrule", "add"), route="/**", method="POST", decision="include")
    assert (response.status_code, tools()) == (302, ["books_create", "books_list"])


@pytest.mark.parametrize("is_new", [True, False])
def test_a_rule_that_would_lose_a_published_tool_is_refused(client: Client, is_new: bool) -> None:
    """A shorter route of the tool would stand for it, and can be no tool."""
    clash: dict[str, Any] = {**LIBRARY["paths"]["/clash/"]["post"], "operationId": "add", "tags": ["Add"]}
    add = {"operationId": "add", "tags": ["Add"], "responses": {"200": {"description": "Yes."}}}
    sync({**LIBRARY, "paths": {"/books/add/": {"post": add}, "/add/": {"post": clash}}}, force=True)
    Operation.objects.filter(key="POST /books/add/").update(exposure="include")
    if not is_new:
        SelectionRuleFactory(pk=1, route="/add/", decision="exclude")
    publishing.publish(source="command")
    before = list(SelectionRule.objects.values()), Catalog.objects.generation(), ["add"]
    url = page("selectionrule", "add") if is_new else page("selectionrule", "change", 1)
    response = save(client, url, route="/add/", decision="include")
    assert errors(response) == {"__all__": ["POST /add/: Two arguments would be named body."]}
    assert (list(SelectionRule.objects.values()), Catalog.objects.generation(), tools()) == before


def test_long_rules_fit_the_note_of_their_revision(client: Client) -> None:
    save(client, page("selectionrule", "add"), route="/" + "a" * 489, decision="include")
    save(client, page("selectionrule", "add"), route="/authors/", decision="include")
    delete(client, page("selectionrule", "changelist"), *SelectionRule.objects.values_list("pk", flat=True))
    note = Revision.objects.latest().note
    assert (tools(), len(note), note[:25]) == (["books_create", "books_list"], 500, "selection rules deleted: ")
