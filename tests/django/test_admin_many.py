"""Edits of many operations: what they change is seen first, and saved only as it was seen."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import publishing
from sezzlee_mcp.models import Catalog, Operation, Revision, Tag, ToolContent, Variant
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import LIBRARY, RULES, begin, change_page, operation, page, said, save
from tests.factories import StaffFactory, SuperuserFactory, TagFactory

AUTHORS, BOOKS, CREATE, CLASH = "GET /authors/", "GET /books/", "POST /books/", "POST /clash/"


@pytest.fixture(autouse=True)
def library(db: None, settings: Settings, client: Client) -> None:
    settings.SEZZLEE_MCP = RULES
    sync(LIBRARY)
    client.force_login(SuperuserFactory(username="ada"))


def preview(client: Client, action: str, *keys: str, **typed: Any) -> HttpResponse:
    """The page once something is typed into it and "Preview" is pressed; what asks nothing shows it at once."""
    response = begin(client, action, *keys)
    return press(client, response, _preview="Preview", **typed) if typed else response


def press(client: Client, response: HttpResponse, **changes: Any) -> HttpResponse:
    """What comes of the page's form, sent as it stands but for ``changes``."""
    form = response.context["form"]
    values = {name: form[name].value() for name in form.fields} | {"seen": form.digest} | changes
    address = page("operation", response.context["address"])
    return client.post(address, {name: value for name, value in values.items() if value not in (None, False)})


def shown(response: HttpResponse) -> list[tuple[str, str, str]]:
    return [(str(edit.row), edit.before, edit.after) for edit in response.context["form"].edits]


def tags(key: str) -> list[str]:
    return [tag.name for tag in operation(key).tags.all()]


def read(name: str, member: str) -> Any:
    """What search knows of a tool."""
    return ToolContent.objects.get(left_generation=None, name=name).document[member]


def test_exposing_shows_first_what_would_change_and_saves_nothing(client: Client) -> None:
    response = begin(client, "expose", AUTHORS, BOOKS)
    assert shown(response) == [
        (AUTHORS, "as the rules say", "exposed"),
        (BOOKS, "as the rules say", "exposed"),
    ]
    text = response.content.decode()
    assert "1 additive" in text
    assert "The tool is new." in text
    assert (operation(AUTHORS).exposure, Catalog.objects.generation()) == ("inherit", 1)


def test_what_was_shown_is_saved_published_and_in_the_history(client: Client) -> None:
    response = press(client, begin(client, "expose", AUTHORS, BOOKS), note="Writers matter.")
    assert (response.status_code, response.headers["Location"]) == (302, page("operation", "changelist"))
    assert said(response) == ["2 operations: exposed.", "Generation 2: 1 tool added."]
    revision = Revision.objects.latest()
    assert (revision.note, str(revision.actor)) == ("Writers matter.", "ada")
    logged = LogEntry.objects.get(object_id=str(operation(AUTHORS).pk))
    assert (str(logged.user), logged.get_change_message()) == ("ada", "Changed Exposure.")


def test_tags_come_to_those_in_effect(client: Client) -> None:
    TagFactory(name="Shelf")
    response = preview(client, "tag", BOOKS, CREATE, words="shelf\nRead only")
    assert shown(response) == [
        (BOOKS, "Books", "Books, Read only, Shelf"),
        (CREATE, "Books, New", "Books, New, Read only, Shelf"),
    ]
    assert said(press(client, response)) == ["2 operations: tags.", "Generation 2: 2 tools changed."]
    assert tags(BOOKS) == ["Books", "Read only", "Shelf"]
    assert read("books_create", "tags") == ["Books", "New", "Read only", "Shelf"]
    assert Tag.objects.count() == 4
    assert publishing.publish(source="command") is None


@pytest.mark.parametrize(
    ("mode", "after"),
    [("add", ["Books", "New"]), ("remove", ["New"]), ("replace", ["books"])],
)
def test_tags_are_added_taken_away_or_replaced(client: Client, mode: str, after: list[str]) -> None:
    response = preview(client, "tag", CREATE, mode=mode, words="books")
    if mode == "add":
        assert "Nothing would change in the chosen operation." in response.content.decode()
    else:
        press(client, response)
    assert read("books_create", "tags") == after


def test_who_may_add_no_tag_uses_those_that_there_are(client: Client) -> None:
    TagFactory(name="Shelf")
    client.force_login(StaffFactory(permissions=["change_operation"]))
    response = preview(client, "tag", BOOKS, words="Shelf\nUnheard of")
    assert response.context["form"].errors == {
        "words": ["You may not add a tag, and there is none of this name: Unheard of"]
    }
    assert response.context["form"]["words"].value() == "Shelf\nUnheard of"
    assert shown(preview(client, "tag", BOOKS, words="Shelf")) == [(BOOKS, "Books", "Books, Shelf")]


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ("\N{COMBINING ACUTE ACCENT}", "Nothing is left of one of them once accents are ignored."),
        ("x" * 101, f"A tag has at most 100 characters, and this one has more: {'x' * 101}"),
        ("", "This field is required."),
    ],
)
def test_what_can_be_no_tag_is_refused_beside_the_field(client: Client, words: str, refusal: str) -> None:
    response = preview(client, "tag", BOOKS, words=words)
    assert response.context["form"].errors == {"words": [refusal]}
    assert Tag.objects.count() == 0


def test_search_terms_are_set(client: Client) -> None:
    response = preview(client, "set_terms", BOOKS, CREATE, mode="replace", words="volume\nvolume")
    assert shown(response) == [(BOOKS, "none", "volume"), (CREATE, "novel", "volume")]
    assert said(press(client, response))[0] == "2 operations: search terms."
    assert (read("books_list", "searchTerms"), read("books_create", "searchTerms")) == (["volume"], ["volume"])
    assert operation(BOOKS).search_terms == ["volume"]


def test_a_text_is_replaced_in_descriptions_of_any_source(client: Client) -> None:
    Operation.objects.filter(key=BOOKS).update(description="Each book & its <author>. Books!")
    response = preview(client, "find_and_replace", BOOKS, CREATE, AUTHORS, find="book", replacement="<i>")
    assert shown(response) == [
        (
            BOOKS,
            "Each <del>book</del> &amp; its &lt;author&gt;. Books!",
            "Each <ins>&lt;i&gt;</ins> &amp; its &lt;author&gt;. Books!",
        ),
        (CREATE, "Add a <del>book</del>.", "Add a <ins>&lt;i&gt;</ins>."),
    ]
    assert said(press(client, response))[0] == "2 operations: descriptions."
    assert (read("books_list", "description"), read("books_create", "description")) == (
        "Each <i> & its <author>. Books!",
        "Add a <i>.",
    )


def test_case_may_be_ignored_and_a_replacement_is_no_pattern(client: Client) -> None:
    response = preview(client, "find_and_replace", BOOKS, find="ALL B", replacement=r"\1", ignores_case="on")
    press(client, response)
    assert read("books_list", "description") == r"\1ooks."


def test_of_an_operation_with_variants_theirs_are_replaced(client: Client) -> None:
    for name in ("old_books", "new_books"):
        Variant.objects.create(operation=operation(BOOKS), name=name, description=f"All {name}.")
    publishing.publish(source="command")
    response = preview(client, "find_and_replace", BOOKS, find="All", replacement="Every")
    assert [row for row, _before, _after in shown(response)] == ["old_books", "new_books"]
    assert said(press(client, response))[0] == "1 operation: descriptions."
    assert (operation(BOOKS).description, read("old_books", "description")) == ("", "Every old_books.")
    assert LogEntry.objects.filter(content_type__model="variant").count() == 2


def test_a_description_of_which_nothing_is_left_is_refused_and_nothing_typed_is_lost(client: Client) -> None:
    response = preview(client, "find_and_replace", BOOKS, find="All books.", replacement=" ")
    form = response.context["form"]
    assert form.errors == {"replacement": ["Nothing would be left of the description of GET /books/."]}
    assert (form["find"].value(), form["replacement"].value()) == ("All books.", " ")


def test_an_edit_that_would_drop_one_is_refused_as_a_whole(client: Client) -> None:
    response = begin(client, "expose", AUTHORS, CLASH)
    assert response.context["form"].non_field_errors() == [
        "Nothing was saved, since 1 operation would be no tool. POST /clash/: Two arguments would be named body."
    ]
    assert (operation(AUTHORS).exposure, Catalog.objects.generation()) == ("inherit", 1)


def test_what_somebody_else_changed_meanwhile_is_told_and_not_overwritten(client: Client) -> None:
    response = preview(client, "find_and_replace", BOOKS, find="books", replacement="volumes")
    save(client, change_page(BOOKS), description="Some old books.")
    again = press(client, response)
    assert "Nothing was saved: this would change something else than what you saw" in again.content.decode()
    assert (operation(BOOKS).description, shown(again)[0][2]) == ("Some old books.", "Some old <ins>volumes</ins>.")
    press(client, again)
    assert operation(BOOKS).description == "Some old volumes."


def test_what_was_typed_after_the_preview_is_shown_before_it_is_saved(client: Client) -> None:
    response = preview(client, "find_and_replace", BOOKS, find="books", replacement="volumes")
    again = press(client, response, replacement="tomes")
    assert shown(again)[0][2] == "All <ins>tomes</ins>."
    assert Catalog.objects.generation() == 1


def test_what_is_sealed_is_left_out_and_said(client: Client, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**RULES, "SEALED": ["expose"]}
    response = begin(client, "hide", BOOKS)
    assert [str(row) for row in response.context["form"].sealed] == [BOOKS]
    assert "Left out, since the code or the settings seal this:" in response.content.decode()
    assert shown(response) == []


def test_a_page_that_is_asked_for_anew_leads_to_the_list(client: Client) -> None:
    response = client.get(page("operation", "many_tags"))
    assert response.headers["Location"] == page("operation", "changelist")


def test_more_operations_than_a_form_has_fields_are_edited_without_a_query_for_each(
    client: Client, settings: Settings
) -> None:
    def queries() -> int:
        keys = Operation.objects.values_list("key", flat=True)
        response = begin(client, "tag", *keys)
        with CaptureQueriesContext(connection) as captured:
            again = press(client, response, words="Shelf", _preview="Preview")
            assert press(client, again).status_code == 302
        Operation.tags.through.objects.all().delete()
        Operation.objects.update(overrides_tags=False)
        publishing.publish(source="command")
        return len(captured)

    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 60
    few = queries()
    more = {f"/more/{number}/": LIBRARY["paths"]["/authors/"] for number in range(50)}
    sync({**LIBRARY, "paths": {**LIBRARY["paths"], **more}}, force=True)
    assert queries() <= few + 2
