"""publishing.md, "Rollback": older contents as a new generation, held until staff say that the rows count again."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import catalog_rollback, snapshots
from sezzlee_mcp.catalog_rollback import draft_of_resumption, roll_back
from sezzlee_mcp.errors import PublishRefused
from sezzlee_mcp.models import Catalog, Diagnostic, Operation, Revision, ToolContent
from sezzlee_mcp.publishing import publish, read_inputs
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import LIBRARY, RULES, change_page, operation, page, said, save, tools
from tests.factories import SuperuserFactory

BOOKS, CREATE, AUTHORS = "GET /books/", "POST /books/", "GET /authors/"


@pytest.fixture(autouse=True)
def library(db: None, settings: Settings) -> None:
    """Two generations: the books' description was "All books." and is "Every book."."""
    settings.SEZZLEE_MCP = RULES
    sync(LIBRARY)
    edit(BOOKS, description="Every book.")


@pytest.fixture
def ada(client: Client) -> None:
    client.force_login(SuperuserFactory(username="ada"))


def edit(key: str, **choices: Any) -> Revision | None:
    Operation.objects.filter(key=key).update(**choices)
    return publish(source="admin")


def resume(operation: Operation | None = None, **said: Any) -> Revision | None:
    """The end of a hold, by somebody who looked at what it publishes."""
    seen = draft_of_resumption(read_inputs(), operation).digest
    return catalog_rollback.resume(operation=operation, seen=seen, **said)


def read(name: str) -> str:
    """The description that agents load."""
    description: str = ToolContent.objects.get(left_generation=None, name=name).loaded["description"]
    return description


def test_rollback_publishes_older_contents_as_a_new_generation() -> None:
    first = Revision.objects.get(pk=1)

    revision = roll_back(1, seen=2, actor=SuperuserFactory(username="ada"), note="The new text misleads.")

    assert (revision.generation, revision.source, revision.note, str(revision.actor)) == (
        3,
        "rollback",
        "The new text misleads.",
        "ada",
    )
    assert (revision.tools, read("books_list")) == (first.tools, "All books.")
    assert [entry["kind"] for entry in revision.changes["entries"]] == ["text_changed"]
    assert b"All books." in snapshots.current().entries["books_list"].card


def test_an_edit_during_a_hold_is_saved_and_not_published() -> None:
    roll_back(1, seen=2)

    assert edit(BOOKS, description="Books of all kinds.") is None
    assert (read("books_list"), Catalog.objects.generation()) == ("All books.", 3)


def test_a_sync_does_not_undo_a_rollback_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    roll_back(1, seen=2)
    grown = {**LIBRARY, "paths": {**LIBRARY["paths"]}}
    grown["paths"]["/books/"] = {**grown["paths"]["/books/"], "put": {"operationId": "books_put", "responses": {}}}

    report = sync(grown)

    assert (report.generation, report.withheld) == (3, ("books_list", "books_put"))
    assert (tools(), Operation.objects.filter(key="PUT /books/").exists()) == (["books_create", "books_list"], True)
    call_command("sezzlee_sync", dry_run=True)
    assert "Held since a rollback, so not published" in capsys.readouterr().out


def test_the_end_of_a_hold_publishes_what_was_saved_meanwhile() -> None:
    roll_back(1, seen=2)
    edit(BOOKS, description="Books of all kinds.")

    revision = resume(note="Fixed.")

    assert revision is not None
    assert (revision.generation, revision.source, read("books_list")) == (4, "admin", "Books of all kinds.")
    assert edit(BOOKS, description="Books.") is not None


def test_one_operation_is_rolled_back_alone() -> None:
    edit(CREATE, description="Add one book.")

    roll_back(1, operation=operation(BOOKS), seen=3)

    assert (read("books_list"), read("books_create")) == ("All books.", "Add one book.")
    assert edit(BOOKS, description="Books of all kinds.") is None
    assert edit(CREATE, description="Add a single book.") is not None
    assert (read("books_list"), read("books_create")) == ("All books.", "Add a single book.")
    resume(operation=operation(BOOKS))
    assert read("books_list") == "Books of all kinds."


def test_an_operation_is_rolled_back_to_when_it_was_no_tool() -> None:
    edit(AUTHORS, exposure="include")

    roll_back(2, operation=operation(AUTHORS), seen=3)

    assert tools() == ["books_create", "books_list"]


def test_an_operation_that_left_the_document_can_be_rolled_back() -> None:
    sync({**LIBRARY, "paths": {"/authors/": LIBRARY["paths"]["/authors/"]}})
    assert tools() == []

    roll_back(1, operation=operation(BOOKS), seen=3)

    assert tools() == ["books_list"]


def test_a_name_that_another_tool_has_now_is_not_taken_back() -> None:
    edit(BOOKS, name="find_books")
    edit(CREATE, name="books_list")

    with pytest.raises(PublishRefused, match="which is the name of POST /books/ now"):
        roll_back(1, operation=operation(BOOKS), seen=4)
    assert Catalog.objects.generation() == 4


def test_a_held_name_is_not_taken_by_another_tool() -> None:
    edit(BOOKS, name="find_books")
    roll_back(1, operation=operation(BOOKS), seen=3)

    edit(CREATE, name="books_list")

    assert (tools(), Operation.objects.get(key=CREATE).name) == (["books_list"], "books_list")
    found = Diagnostic.objects.filter(stage="catalog").values_list("code", "key")
    assert ("name_collision", CREATE) in found


def test_a_rollback_of_a_rename_keeps_both_names_answered() -> None:
    edit(BOOKS, name="find_books")

    revision = roll_back(1, seen=3)

    assert (sorted(revision.tools), {old: alias["tool"] for old, alias in revision.aliases.items()}) == (
        ["books_create", "books_list"],
        {"find_books": "books_list"},
    )


def test_a_generated_name_outlives_a_rollback() -> None:
    before = Operation.objects.get(key=BOOKS).published_name
    roll_back(1, seen=2)
    resume()

    assert (Operation.objects.get(key=BOOKS).published_name, tools()) == (before, ["books_create", "books_list"])


def test_a_rollback_of_everything_takes_the_place_of_single_holds() -> None:
    roll_back(1, operation=operation(BOOKS), seen=2)
    edit(CREATE, description="Add one book.")

    roll_back(2, seen=4)
    resume()

    assert (Operation.objects.exclude(held_generation=None).count(), read("books_list")) == (0, "Every book.")


@pytest.mark.parametrize(
    ("generation", "seen", "reason"),
    [
        (1, 1, "Generation 2 was published since you looked at generation 1"),
        (2, 2, "Agents read the contents of generation 2 already"),
        (9, 2, "Generation 9 is no longer kept"),
    ],
)
def test_a_rollback_that_cannot_be_is_told_and_writes_nothing(generation: int, seen: int, reason: str) -> None:
    edits = Catalog.objects.edit()

    with pytest.raises(PublishRefused, match=reason):
        roll_back(generation, seen=seen)

    assert (Catalog.objects.edit(), Catalog.objects.get().held_generation, Revision.objects.count()) == (edits, None, 2)


def test_contents_of_a_rollback_outlive_the_revision_that_they_are_of(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**RULES, "KEPT_REVISIONS": 2}
    roll_back(1, operation=operation(BOOKS), seen=2)
    for number in range(4):
        edit(CREATE, description=f"Text {number}.")

    assert (read("books_list"), Revision.objects.filter(pk=1).exists()) == ("All books.", False)


# -- the pages --


def confirm(client: Client, url: str, **typed: Any) -> HttpResponse:
    """What a browser sends when the form of a confirmation page is submitted."""
    form = client.get(url).context["form"]
    return client.post(url, {"seen": form["seen"].value(), "note": "A test.", **typed})


def roll_back_page(generation: int, key: str | None = None) -> str:
    url = page("revision", "roll_back", generation)
    return url if key is None else f"{url}?operation={operation(key).pk}"


def resume_page(key: str | None = None) -> str:
    url = page("revision", "resume")
    return url if key is None else f"{url}?operation={operation(key).pk}"


def test_a_rollback_is_confirmed_on_a_page_that_says_what_it_changes(ada: None, client: Client) -> None:
    shown = client.get(roll_back_page(1)).content.decode()
    assert "description was &quot;Every book.&quot; and is &quot;All books.&quot;." in shown
    assert "they are held: an edit or a sync is saved and does not change them" in shown
    assert Catalog.objects.generation() == 2

    response = confirm(client, roll_back_page(1), note="It misleads.")

    assert (response["Location"], Revision.objects.latest().note) == (page("revision", "change", 3), "It misleads.")
    assert read("books_list") == "All books."
    entry = LogEntry.objects.latest("pk")
    assert entry.get_change_message() == "Roll back the whole catalog to generation 1: It misleads."


def test_of_two_who_roll_back_at_once_the_second_is_told(ada: None, client: Client) -> None:
    edit(CREATE, description="Add one book.")
    confirm(client, roll_back_page(1))

    response = client.post(roll_back_page(2), {"seen": 3, "note": "Me too."})

    assert response.context["form"].non_field_errors() == [
        "Generation 4 was published since you looked at generation 3. Look at what it changed, and decide again."
    ]
    assert (Catalog.objects.generation(), response.context["form"]["note"].value()) == (4, "Me too.")


def test_a_rollback_wants_a_reason(ada: None, client: Client) -> None:
    response = confirm(client, roll_back_page(1), note="")

    assert (list(response.context["form"].errors), Catalog.objects.generation()) == (["note"], 2)


def test_a_save_during_a_hold_says_that_it_is_not_published(ada: None, client: Client) -> None:
    confirm(client, roll_back_page(1))

    response = save(client, change_page(BOOKS), description="Books of all kinds.")

    assert (
        said(response)[0] == "This is saved and not published: since a rollback agents read generation 1 until it ends."
    )
    assert (
        "The catalog is held at the contents of generation 1"
        in client.get(page("operation", "changelist")).content.decode()
    )


def test_a_hold_is_ended_on_a_page_that_says_what_it_publishes(ada: None, client: Client) -> None:
    confirm(client, roll_back_page(1))
    listed = client.get(page("revision", "changelist")).content.decode()
    assert f'<a href="{resume_page()}">End the hold</a>' in listed
    shown = client.get(resume_page()).content.decode()
    assert "description was &quot;All books.&quot; and is &quot;Every book.&quot;." in shown

    confirm(client, resume_page())

    assert (read("books_list"), Catalog.objects.get().held_generation) == ("Every book.", None)
    assert client.get(resume_page()).status_code == 404


def test_a_comparison_leads_to_a_rollback_of_one_operation(ada: None, client: Client) -> None:
    compared = client.get(page("revision", "compare"), {"old": 1, "new": 2}).content.decode()
    assert re.findall(r'<a href="([^"]*roll-back[^"]*)">', compared) == [roll_back_page(1, BOOKS)]

    confirm(client, roll_back_page(1, BOOKS))

    assert (
        f"{BOOKS} is held at the contents of generation 1."
        in client.get(page("revision", "changelist")).content.decode()
    )
    assert "held at the contents of generation 1" in client.get(change_page(BOOKS)).content.decode()
    confirm(client, resume_page(BOOKS))
    assert read("books_list") == "Every book."


def test_what_cannot_be_rolled_back_has_no_button(ada: None, client: Client) -> None:
    shown = client.get(roll_back_page(2))
    assert "Agents read the contents of generation 2 already." in shown.content.decode()
    assert 'type="submit" class="default"' not in shown.content.decode()
    assert client.get(roll_back_page(9)).status_code == 404
    assert client.get(f"{roll_back_page(1)}?operation=x").status_code == 404


@pytest.mark.parametrize("url", ["compare", "roll-back", "resume"])
def test_pages_ask_as_many_queries_for_any_number_of_tools(ada: None, client: Client, url: str) -> None:
    def queries() -> int:
        current = Catalog.objects.generation()
        pages = {
            "compare": f"{page('revision', 'compare')}?old=1&new={current}",
            "roll-back": roll_back_page(1),
            "resume": resume_page(),
        }
        with CaptureQueriesContext(connection) as captured:
            assert client.get(pages[url]).status_code == 200
        return len(captured)

    Catalog.objects.update(held_generation=2 if url == "resume" else None)
    few = queries()
    Catalog.objects.update(held_generation=None)
    paths = {f"/shelf{number}/": LIBRARY["paths"]["/authors/"] for number in range(30)}
    sync({**LIBRARY, "paths": {**LIBRARY["paths"], **paths}})
    Operation.objects.filter(key__startswith="GET /shelf").update(exposure="include", description="A shelf.")
    publish(source="admin")
    Catalog.objects.update(held_generation=2 if url == "resume" else None)

    assert queries() == few <= 30
