"""What the admin's history says: who changed what, for everything in the admin that writes."""

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.test import Client
from pytest_django import Settings

from sezzlee_mcp.models import ArgumentCuration, ArgumentRule, Operation, Revision, Tag, Variant
from tests.django import admin_requests
from tests.django.admin_pages import change_page, operation, page, save
from tests.django.admin_requests import ACTIONS, APPLES, PAGES, PEARS, address, deletion, logged_in, post, ways
from tests.factories import StaffFactory, SuperuserFactory

KINDS = {ADDITION: "added", CHANGE: "changed", DELETION: "deleted"}


@pytest.fixture(autouse=True)
def orchard(db: None, settings: Settings) -> None:
    admin_requests.orchard(settings)


@pytest.fixture
def ada(orchard: None) -> Client:
    """Who may do everything."""
    return logged_in(SuperuserFactory(username="ada"))


def history() -> list[tuple[str, str]]:
    """Who made each entry, and what it says; the oldest first."""
    return [(entry.user.get_username(), told(entry)) for entry in LogEntry.objects.order_by("pk")]


def told(entry: LogEntry) -> str:
    said = entry.get_change_message()
    what = f"{KINDS[entry.action_flag]} {entry.content_type.model} {entry.object_repr}"
    return f"{what}: {said}" if said else what


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if page.work])
def test_every_page_that_writes_says_who_changed_what(ada: Client, name: str) -> None:
    page = PAGES[name]
    page.work.given()
    url = address(name)
    typed = page.work.typed(ada, url)

    post(logged_in(StaffFactory(username="bob", permissions=ways(page.posts)[0])), url, typed)

    assert history() == [("bob", said) for said in page.work.recorded]


@pytest.mark.parametrize("name", [name for name in ACTIONS if name.endswith(".delete_selected")])
def test_rows_of_a_list_are_deleted_in_the_name_of_who_chose_them(ada: Client, name: str) -> None:
    model = name.partition(".")[0]
    row = admin_requests.first(model)
    expected = f"deleted {model} {row}"
    chosen = {"action": "delete_selected", "_selected_action": [row.pk]}
    bob = logged_in(StaffFactory(username="bob", permissions=ways(ACTIONS[name])[0]))

    bob.post(page(model, "changelist"), {**chosen, **deletion(ada.post(page(model, "changelist"), chosen))})

    assert history() == [("bob", expected)]


@pytest.mark.parametrize(
    ("model", "prefix", "row", "said"),
    [
        ("operation", "arguments", {"name": "size__in", "hidden": "omit"}, "Added curated argument “size__in”."),
        ("operation", "variants", {"name": "red", "description": "Red."}, "Added variant “red”."),
        ("variant", "arguments", {"name": "size__in", "hidden": "omit"}, "Added curated argument “size__in”."),
        ("operation", "arguments", {"agent_name": "hue"}, "Changed Name for agents for curated argument “colour”."),
        ("variant", "arguments", {"agent_name": "hue"}, "Changed Name for agents for curated argument “colour”."),
        ("operation", "arguments", {"DELETE": "on"}, "Deleted curated argument “colour”."),
        ("variant", "arguments", {"DELETE": "on"}, "Deleted curated argument “colour”."),
    ],
)
def test_rows_inside_a_page_are_told_of(ada: Client, model: str, prefix: str, row: dict[str, str], said: str) -> None:
    owner = admin_requests.first(model)
    if "name" not in row:
        ArgumentCuration.objects.create(name="colour", **{model: owner})
    number = 0 if "name" not in row else getattr(owner, prefix).count()
    typed = {f"{prefix}-{number}-{name}": value for name, value in row.items()}

    save(ada, page(model, "change", owner.pk), **typed, **{f"{prefix}-TOTAL_FORMS": number + 1})

    assert history() == [("ada", f"changed {model} {owner}: {said}")]


def test_a_note_is_the_revisions_and_no_change_of_the_operation(ada: Client) -> None:
    save(ada, change_page(APPLES), title="Apples", note="Shorter.")

    assert history() == [("ada", f"changed operation {APPLES}: Changed Title.")]
    assert Revision.objects.latest().note == "Shorter."


def test_tags_that_become_rows_by_an_edit_of_many_are_told_of(ada: Client) -> None:
    url = address("operation_many_tags")

    ada.post(url, admin_requests.seen("tag", mode="add", words="Ripe\nRound")(ada, url))

    operations = [("ada", f"changed operation {key}: Changed Tags.") for key in (APPLES, PEARS)]
    assert history() == [*operations, ("ada", "added tag Ripe: Added.")]


def test_a_rollback_of_one_operation_names_it(ada: Client) -> None:
    url = f"{page('revision', 'roll_back', 2)}?operation={operation(APPLES).pk}"
    seen = ada.get(url).context["form"]["seen"].value()

    ada.post(url, {"seen": seen, "note": "It misleads."})

    assert history() == [("ada", f"changed revision #4: Roll back {APPLES} to generation 2: It misleads.")]


def test_a_sync_that_may_take_most_tools_away_is_told_of_as_one(ada: Client) -> None:
    ada.post(page("catalog", "sync"), {"force": "on"})

    said = "Started a sync, also when more than half of the tools would go."
    assert history() == [("ada", f"changed catalog generation 3: {said}")]


@pytest.mark.parametrize("model", ["operation", "variant", "tag", "argumentrule"])
def test_a_save_of_what_is_stored_changes_nothing(ada: Client, model: str) -> None:
    """Browsers send lines with a carriage return."""
    lines = {"description": "One.\nTwo."}
    for owner in ({"operation": operation(APPLES)}, {"variant": Variant.objects.get()}):
        ArgumentCuration.objects.create(name="colour", **owner, **lines)
    for rows in (Operation, Variant, Tag):
        rows.objects.update(**lines)
    ArgumentRule.objects.update(hidden="", **lines)
    url = page(model, "change", admin_requests.first(model).pk)
    sent = {
        name: value.replace("\n", "\r\n") if isinstance(value, str) else value
        for name, value in admin_requests.typed(ada, url).items()
    }

    ada.post(url, sent)

    assert [said.partition(": ")[2] for _user, said in history()] == ["No fields changed."]
