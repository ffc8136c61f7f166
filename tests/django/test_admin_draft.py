"""Edits that wait in the draft: what agents read stays, until somebody publishes all of it together."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp.aliases import today
from sezzlee_mcp.models import (
    ArgumentCuration,
    ArgumentRule,
    Catalog,
    Diagnostic,
    Operation,
    Revision,
    SelectionRule,
    Tag,
    ToolAlias,
    Variant,
    VisibilityPolicy,
)
from sezzlee_mcp.publishing import compile_draft, publish, read_inputs
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.django.admin_pages import act, begin, change_page, delete, errors, operation, page, said, save
from tests.django.test_admin_previews import previewed
from tests.factories import StaffFactory, SuperuserFactory, TagFactory

APPLES, PEARS = "GET /apples/", "GET /pears/"
KEPT = "This is saved and kept in the draft: agents read what they read before, until that is published."
PREVIEW = {"_preview": "Preview"}
RULES = {
    "EXPOSE_BY_DEFAULT": True,
    "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
}
EDITOR = ["view_operation", "change_operation"]


def described(name: str) -> dict[str, Any]:
    parameters = [{"name": each, "in": "query", "schema": {"type": "string"}} for each in ("colour", "size__in")]
    answers = {"responses": {"200": {"description": "Yes."}}}
    return {"get": {"operationId": name, "description": f"All {name}.", "parameters": parameters, **answers}}


def fruit(*names: str) -> dict[str, Any]:
    return {"openapi": "3.1.0", "paths": {f"/{name}/": described(name) for name in names}}


@pytest.fixture(autouse=True)
def orchard(db: None, settings: Settings, client: Client) -> None:
    """Apples, once called crabs, carry a tag; everything of them is published, and staff's edits wait from now on."""
    settings.SEZZLEE_MCP = RULES
    sync(fruit("apples", "pears"))
    apples = operation(APPLES)
    apples.tags.set([TagFactory(name="Round")])
    Operation.objects.filter(pk=apples.pk).update(name="crabs", overrides_tags=True)
    publish(source="admin")
    Operation.objects.filter(pk=apples.pk).update(name="")
    Variant.objects.create(operation=operation(PEARS), name="ripe_pears", description="Soft ones.")
    publish(source="admin")
    settings.SEZZLEE_MCP = {**RULES, "PUBLISH": "draft"}
    client.force_login(SuperuserFactory(username="ada"))


@pytest.fixture
def at_once(settings: Settings) -> None:
    settings.SEZZLEE_MCP = RULES


def agents_read() -> dict[str, Any]:
    """Everything that an agent can learn by requests to the endpoint, by old names too."""
    agent = McpClient()
    found = agent.search("", limit=50)
    names = [card["name"] for card in found["results"]]
    return {
        "found": found,
        "round": agent.search("", tags=["Round"]),
        **{name: agent.load(name) for name in [*names, "crabs"]},
    }


def log_in(client: Client, name: str, *permissions: str) -> None:
    client.force_login(StaffFactory(username=name, permissions=permissions))


def inner(prefix: str, **form: Any) -> dict[str, Any]:
    return {f"{prefix}-TOTAL_FORMS": 1, **{f"{prefix}-0-{name}": value for name, value in form.items()}}


def confirm(client: Client, url: str, **typed: Any) -> HttpResponse:
    form = client.get(url).context["form"]
    return client.post(url, {"seen": form["seen"].value(), "note": "A test.", **typed})


def text(response: HttpResponse) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def publish_page() -> str:
    return page("revision", "publish")


def edit_variant(client: Client) -> HttpResponse:
    return save(client, page("variant", "change", Variant.objects.get().pk), description="Hard ones.")


def move_alias(client: Client) -> HttpResponse:
    url = page("toolalias", "change", ToolAlias.objects.get(name="crabs").pk)
    return save(client, url, until=(today() + timedelta(days=5)).isoformat())


def delete_page(model: type[Any], **of: Any) -> str:
    return page(model._meta.model_name or "", "delete", model._default_manager.get(**of).pk)


EDITS: dict[str, Callable[[Client], HttpResponse]] = {
    "operation": lambda client: save(client, change_page(APPLES), description="Every apple."),
    "exposure": lambda client: save(client, change_page(APPLES), exposure="exclude"),
    "name": lambda client: save(client, change_page(APPLES), name="find_apples"),
    "argument": lambda client: save(
        client, change_page(APPLES), **inner("arguments", name="colour", agent_name="shade")
    ),
    "new variant": lambda client: save(client, change_page(APPLES), **inner("variants", name="one", description="1.")),
    "variant": edit_variant,
    "argument rule": lambda client: save(client, page("argumentrule", "add"), argument="*__in", hidden="omit"),
    "selection rule": lambda client: save(client, page("selectionrule", "add"), route="/pears/", decision="exclude"),
    "visibility policy": lambda client: save(
        client, page("visibilitypolicy", "add"), name="Office", rule="staff", routes="/apples/"
    ),
    "tag": lambda client: save(client, page("tag", "change", Tag.objects.get().pk), name="Spherical"),
    "alias": move_alias,
    "bulk edit": lambda client: act(client, "hide", APPLES, PEARS),
    "deleted variant": lambda client: delete(client, delete_page(Variant)),
    "deleted alias": lambda client: delete(client, delete_page(ToolAlias, name="crabs")),
    "deleted tag": lambda client: delete(client, page("tag", "changelist"), Tag.objects.get().pk),
}


def rows() -> list[Any]:
    models = (Operation, ArgumentCuration, Variant, ArgumentRule, SelectionRule, Tag, VisibilityPolicy, ToolAlias)
    return [list(model._default_manager.order_by("pk").values()) for model in models]


@pytest.mark.parametrize("kind", EDITS)
def test_no_save_in_draft_mode_changes_what_agents_read(client: Client, kind: str) -> None:
    before, stored, generation = agents_read(), rows(), Catalog.objects.generation()

    response = EDITS[kind](client)

    assert (response.status_code, agents_read(), Catalog.objects.generation()) == (302, before, generation)
    assert rows() != stored
    assert f"{KEPT} Publish the draft" in said(response)
    confirm(client, publish_page())
    assert Catalog.objects.generation() == generation + 1
    assert compile_draft(read_inputs()).is_published


@pytest.mark.parametrize("kind", EDITS)
def test_agents_read_what_waited_once_it_is_published(client: Client, kind: str) -> None:
    before = agents_read()
    EDITS[kind](client)
    confirm(client, publish_page())

    revision = Revision.objects.latest()
    assert (agents_read() == before) is (kind == "alias")  # its last day is no agent's to read
    assert (revision.tools, revision.source, revision.note) == (
        dict(compile_draft(read_inputs()).contents),
        "admin",
        "A test.",
    )


def test_edits_of_several_people_are_published_together_and_told_by_the_history(client: Client) -> None:
    log_in(client, "bob", *EDITOR)
    save(client, change_page(APPLES), description="Every apple.")
    log_in(client, "eve", "view_tag", "change_tag")
    save(client, page("tag", "change", Tag.objects.get().pk), name="Spherical")
    log_in(client, "ann", "view_revision", "publish_catalog")

    shown = text(client.get(publish_page()))
    assert "1 behavioural" in shown
    assert "description was &quot;All apples.&quot; and is &quot;Every apple.&quot;." in shown
    table = shown.partition("Who saved what since the last generation")[2].partition("Note:")[0]
    assert re.findall(r"(bob|eve|ada) (\w+): (.*?) Changed (\w+)", table) == [
        ("eve", "Tag", "Spherical", "Name"),
        ("bob", "Operation", APPLES, "Description"),
    ]
    response = confirm(client, publish_page(), note="The harvest.")

    revision = Revision.objects.latest()
    assert (revision.note, str(revision.actor), response["Location"]) == (
        "The harvest.",
        "ann",
        page("revision", "change", revision.pk),
    )
    assert agents_read()["apples"]["description"] == "Every apple."
    assert Catalog.objects.draft_waits() is False
    assert "there is nothing to publish" in text(client.get(publish_page()))


def test_the_second_of_two_who_publish_is_told_and_nothing_is_overwritten(client: Client) -> None:
    save(client, change_page(APPLES), description="Every apple.")
    seen = client.get(publish_page()).context["form"]["seen"].value()
    save(client, change_page(PEARS), exposure="exclude")

    response = client.post(publish_page(), {"seen": seen, "note": "Mine."})

    form = response.context["form"]
    assert form.non_field_errors() == [
        "The draft, or what is published, changed since you opened the page. Look at what publishing changes now, and "
        "decide again."
    ]
    assert (form["note"].value(), Catalog.objects.generation()) == ("Mine.", 3)
    assert "ripe_pears" in text(response)
    client.post(publish_page(), {"seen": form["seen"].value(), "note": "Mine."})
    assert Catalog.objects.generation() == 4
    assert client.post(publish_page(), {"seen": seen, "note": "Mine."}).status_code == 200
    assert Catalog.objects.generation() == 4


def test_what_would_cost_a_tool_of_the_draft_is_refused_beside_its_field(client: Client) -> None:
    save(client, page("variant", "change", Variant.objects.get().pk), name="soft_pears")

    response = save(client, change_page(APPLES), name="soft_pears")

    assert (list(errors(response)), operation(APPLES).name) == (["name", "__all__"], "")


def test_a_preview_in_draft_mode_says_that_nothing_is_published(client: Client) -> None:
    log_in(client, "bob", *EDITOR)
    save(client, change_page(PEARS), exposure="exclude")
    shown = previewed(save(client, change_page(APPLES), description="Every apple.", **PREVIEW))

    assert "Saving keeps this in the draft: agents read what they read now" in shown
    assert (
        "Other edits wait in the draft, and are counted below; they change 1 tool: ripe_pears. Saved by bob." in shown
    )
    assert "Published, the draft would change 2 tools for agents: 1 breaking 1 behavioural" in shown
    assert "Once published" in shown


def test_a_save_without_the_permission_to_publish_waits_also_in_immediate_mode(at_once: None, client: Client) -> None:
    before = agents_read()
    log_in(client, "bob", *EDITOR)

    response = save(client, change_page(APPLES), description="Every apple.")

    assert (said(response)[0], agents_read(), Catalog.objects.draft_waits()) == (KEPT, before, True)


def test_a_preview_of_who_publishes_names_the_edits_that_would_go_along(at_once: None, client: Client) -> None:
    log_in(client, "bob", *EDITOR)
    save(client, change_page(PEARS), exposure="exclude")
    log_in(client, "ann", *EDITOR, "publish_catalog")

    shown = previewed(save(client, change_page(APPLES), description="Every apple.", **PREVIEW))
    bulk = previewed(begin(client, "hide", APPLES))

    warned = "Saving also publishes edits that wait in the draft; they change 1 tool: ripe_pears. Saved by bob."
    assert (warned in shown, warned in bulk, "Saving changes 2 tools for agents" in shown) == (True, True, True)
    save(client, change_page(APPLES), description="Every apple.")
    assert sorted(Revision.objects.latest().tools) == ["apples"]
    assert "wait in the draft" not in previewed(save(client, change_page(APPLES), description="Apples.", **PREVIEW))


ALONG = "Edits that waited in the draft were published along; they change 1 tool: ripe_pears. Saved by bob."


@pytest.mark.parametrize("kind", ["operation", "bulk edit", "selection rule", "deleted alias", "deleted tag"])
def test_whoever_publishes_edits_of_others_along_is_told_whose(at_once: None, client: Client, kind: str) -> None:
    edits = {**EDITS, "bulk edit": lambda client: act(client, "expose", APPLES)}
    log_in(client, "bob", *EDITOR)
    save(client, change_page(PEARS), exposure="exclude")
    client.force_login(SuperuserFactory(username="ann"))

    assert said(edits[kind](client))[-1] == ALONG
    assert "ripe_pears" not in Revision.objects.latest().tools
    assert ALONG not in said(save(client, change_page(APPLES), description="Apples."))


def test_who_publishes_nothing_publishes_nothing_along(at_once: None, client: Client) -> None:
    log_in(client, "bob", *EDITOR)
    save(client, change_page(PEARS), exposure="exclude")
    log_in(client, "eve", *EDITOR)

    assert said(save(client, change_page(APPLES), description="Every apple."))[0] == KEPT
    assert ALONG not in said(save(client, change_page(APPLES), title="Apples"))


@pytest.mark.parametrize("url", [lambda: delete_page(Variant), lambda: page("variant", "changelist")])
def test_a_page_that_asks_whether_to_delete_says_what_is_published(
    settings: Settings, client: Client, url: Callable[[], str]
) -> None:
    def asked() -> str:
        chosen = {"action": "delete_selected", "_selected_action": [Variant.objects.get().pk]}
        return text(client.get(url()) if "delete" in url() else client.post(url(), chosen))

    log_in(client, "bob", *EDITOR)
    save(client, change_page(APPLES), description="Every apple.")
    client.force_login(SuperuserFactory(username="ann"))
    assert "Deleting keeps this in the draft: agents read what they read now" in asked()
    settings.SEZZLEE_MCP = RULES

    shown = asked()

    assert "Deleting also publishes edits that wait in the draft; they change 1 tool: apples. Saved by bob." in shown
    assert "All of this is deleted:" in shown


def test_the_page_of_a_sync_names_the_edits_that_it_publishes(at_once: None, client: Client) -> None:
    log_in(client, "bob", *EDITOR)
    save(client, change_page(PEARS), exposure="exclude")
    client.force_login(SuperuserFactory(username="ann"))

    shown = text(client.get(page("catalog", "sync")))

    assert (
        "A sync also publishes edits that wait in the draft; they change 1 tool: ripe_pears. Saved by bob. "
    ) in shown
    log_in(client, "eve", "view_catalog", "sync_catalog")
    assert "A sync also publishes" not in text(client.get(page("catalog", "sync")))


def test_the_end_of_a_hold_says_who_saved_what_it_publishes(at_once: None, client: Client) -> None:
    confirm(client, roll_back_page(2))
    log_in(client, "bob", *EDITOR)
    save(client, change_page(APPLES), description="Every apple.")
    client.force_login(SuperuserFactory(username="ann"))

    table = text(client.get(resume_page())).partition("Who saved what since the last generation")[2]

    assert "bob Operation: GET /apples/ Changed Description" in table


def test_a_kept_edit_that_is_taken_back_leaves_nothing_waiting(client: Client) -> None:
    save(client, change_page(APPLES), description="Every apple.")
    assert Catalog.objects.draft_waits() is True

    response = save(client, change_page(APPLES), description="")

    assert said(response)[0] == "This is saved. What agents read is what is saved, so nothing waits in the draft."
    assert Catalog.objects.draft_waits() is False


def test_diagnostics_are_those_of_the_rows_published_or_not(client: Client) -> None:
    curated = inner("arguments", name="colour", agent_name="shade")
    save(client, change_page(APPLES), description="Apples by their colour.", **curated)
    found = list(Diagnostic.objects.filter(stage="catalog").values("code", "key", "message"))

    confirm(client, publish_page())

    assert "curation_leaks_name" in [each["code"] for each in found]
    assert list(Diagnostic.objects.filter(stage="catalog").values("code", "key", "message")) == found


# -- rollbacks --


def roll_back_page(generation: int) -> str:
    return page("revision", "roll_back", generation)


def resume_page() -> str:
    return page("revision", "resume")


def test_a_rollback_publishes_nothing_that_waits_and_the_draft_outlives_it(client: Client) -> None:
    save(client, change_page(APPLES), description="Every apple.")

    confirm(client, roll_back_page(2))

    assert (Catalog.objects.generation(), agents_read()["crabs"]["description"]) == (4, "All apples.")
    shown = text(client.get(publish_page()))
    assert "The catalog is held at the contents of generation 2, so there is nothing to publish." in shown
    assert 'type="submit" class="default"' not in client.get(publish_page()).content.decode()
    confirm(client, resume_page())
    assert (Catalog.objects.generation(), Catalog.objects.get().held_generation) == (4, None)
    assert agents_read()["crabs"]["name"] == "crabs"
    confirm(client, publish_page())
    assert agents_read()["apples"]["description"] == "Every apple."


def test_the_end_of_a_hold_leads_to_the_publish_page_and_says_so(client: Client) -> None:
    confirm(client, roll_back_page(2))
    shown = text(client.get(resume_page()))
    assert "This publishes nothing: agents go on reading what was held." in shown

    response = confirm(client, resume_page())

    assert (response["Location"], said(response)) == (
        publish_page(),
        ["The hold has ended. What the rows say waits in the draft now."],
    )


def test_who_ends_a_hold_is_told_of_an_edit_since(at_once: None, client: Client) -> None:
    confirm(client, roll_back_page(2))
    seen = client.get(resume_page()).context["form"]["seen"].value()
    save(client, change_page(APPLES), description="Every apple.")

    response = client.post(resume_page(), {"seen": seen, "note": "Fixed."})

    assert "changed since you opened the page" in text(response)
    assert Catalog.objects.get().held_generation == 2


# -- syncs and files --


def test_a_sync_in_draft_mode_writes_rows_and_publishes_only_when_told() -> None:
    before = agents_read()
    report = sync(fruit("apples", "pears", "figs"), publishes=False)

    assert (report.generation, report.tool_changes["added"], report.publishes) == (3, ["figs"], False)
    assert (Operation.objects.filter(key="GET /figs/").exists(), agents_read()) == (True, before)
    again = sync(fruit("apples", "pears", "figs"), write=False, publishes=False)
    assert (again.is_behind, sync(fruit("apples", "pears", "figs"), write=False).is_behind) == (False, True)
    assert sync(fruit("apples", "pears", "figs")).generation == 4
    assert "figs" in agents_read()


def test_the_command_follows_the_setting(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("sezzlee_sync", document=fruit("apples", "figs"))
    assert capsys.readouterr().out.splitlines()[-1] == (
        "Waits in the draft: 1 added, 1 removed, 0 changed. Agents read generation 3 until that is published: on the "
        "admin's page, or by sezzlee_sync --publish."
    )
    call_command("sezzlee_sync", document=fruit("apples", "figs"), publish=True)
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "Generation 4: 1 added, 1 removed, 0 changed.",
        "Published along, as it waited in the draft: what changed of ripe_pears, figs.",
    ]


def test_a_sync_says_which_waiting_edits_it_publishes(
    at_once: None, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    log_in(client, "bob", *EDITOR)
    save(client, change_page(APPLES), description="Every apple.")

    call_command("sezzlee_sync", document=fruit("apples", "pears", "figs"), dry_run=True)
    assert capsys.readouterr().out.splitlines()[-1] == (
        "Would publish along, as it waited in the draft: what changed of apples."
    )
    call_command("sezzlee_sync", document=fruit("apples", "pears", "figs"))
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "Generation 4: 1 added, 0 removed, 1 changed.",
        "Published along, as it waited in the draft: what changed of apples.",
    ]
    assert sync(fruit("apples", "pears", "figs"), write=False).carried == ()


def test_a_release_vouches_for_what_is_published_once_it_is(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**RULES, "RELEASE": "two"}
    sync(fruit("apples", "figs"), publishes=False)
    assert (Catalog.objects.get().synced_release, Catalog.objects.get().release) == ("two", "")

    publish(source="admin")

    assert (Catalog.objects.get().release, Revision.objects.latest().release) == ("two", "two")


def test_a_sync_that_takes_most_away_is_refused_in_draft_mode_too_but_not_for_what_staff_hid() -> None:
    names = [f"fruit{number}" for number in range(20)]
    sync(fruit(*names), force=True)
    Operation.objects.filter(key__in=[f"GET /{name}/" for name in names[:12]]).update(exposure="exclude")

    assert sync(fruit(*names, "figs"), publishes=False).lost == 0
    assert sync(fruit(*names[:5]), write=False, publishes=False).is_suspicious is True


def test_a_file_is_loaded_into_the_draft(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "curation.json"
    call_command("sezzlee_curation", "export", str(file))
    file.write_text(file.read_text().replace('"Soft ones."', '"Hard ones."'))
    before = agents_read()

    call_command("sezzlee_curation", "load", str(file))

    assert (agents_read(), Variant.objects.get().description) == (before, "Hard ones.")
    assert "Waits in the draft: 0 added, 0 removed, 1 changed; 0 breaking, 1 behavioural" in capsys.readouterr().out
    file.write_text(file.read_text().replace('"Hard ones."', '"Sweet ones."'))
    call_command("sezzlee_curation", "load", str(file), "--publish")
    assert agents_read()["ripe_pears"]["description"] == "Sweet ones."


# -- the pages --


def test_pages_lead_to_what_waits_for_those_who_may_publish(client: Client) -> None:
    save(client, change_page(APPLES), description="Every apple.")
    link = f'<a href="{publish_page()}">'
    pages = [page("catalog", "changelist"), page("revision", "changelist"), page("operation", "changelist")]

    assert [link in client.get(url).content.decode() for url in [*pages, page("catalog", "sync")]] == [True] * 4
    log_in(client, "bob", *EDITOR, "view_catalog", "view_revision")
    assert [link in client.get(url).content.decode() for url in [*pages, page("catalog", "sync")]] == [False] * 4


def test_the_publish_page_asks_as_many_queries_for_any_number_of_edits(client: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(publish_page()).status_code == 200
        return len(captured)

    save(client, change_page(APPLES), description="Every apple.")
    few = queries()
    names = [f"fruit{number}" for number in range(30)]
    sync(fruit("apples", "pears", *names), publishes=False)
    act(client, "inherit", *(f"GET /{name}/" for name in names))
    for name in names[:5]:
        save(client, change_page(f"GET /{name}/"), description="A fruit.")

    assert queries() == few <= 30
