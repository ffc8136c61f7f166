"""
publishing.md: two who write at once, each with a connection of their own.

One waits or is told, nothing is lost, and nobody reads half of it.
"""

import json
import re
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from django.contrib.admin.models import DELETION, LogEntry
from django.core.management import call_command
from django.db import connection
from django.db.models import Model
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from sezzlee_mcp.canonical import digest
from sezzlee_mcp.catalog_rollback import draft_of_resumption, resume, roll_back
from sezzlee_mcp.errors import PublishRefused
from sezzlee_mcp.models import (
    ArgumentRule,
    Catalog,
    Operation,
    RequestedSync,
    Revision,
    SearchCase,
    SelectionRule,
    Tag,
    ToolContent,
    Variant,
    VisibilityPolicy,
)
from sezzlee_mcp.publishing import compile_draft, publish, read_inputs
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import begin, change_page, errors, page, said, typed
from tests.django.test_sync import document
from tests.factories import SelectionRuleFactory, SuperuserFactory, TagFactory, VisibilityPolicyFactory

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        "connection.vendor == 'sqlite'", reason="SQLite in memory has one connection; PostgreSQL runs this"
    ),
]

LONG = 20  # seconds, after which whoever still waits is stuck
AT_THE_LOCK = 'UPDATE "sezzlee_mcp_catalog" SET "edit"'  # compiled, and nothing written
LOGGED = 'INSERT INTO "django_admin_log"'  # a page is saved, and nothing of it is published
HALF_WAY = 'INSERT INTO "sezzlee_mcp_revision"'  # rows and contents are written, no revision names them


Work = Callable[[], Any]


class Rival(Thread):
    """Somebody at work in a thread, who stops ``before`` their first statement that begins so, until told to go on."""

    def __init__(self, work: Work, before: str = "") -> None:
        super().__init__(daemon=True)
        self._work, self._before = work, before
        self._stopped, self._goes_on = Event(), Event()
        self._outcome: Any = None
        self._pid = 0
        self.start()

    def run(self) -> None:
        try:
            with connection.execute_wrapper(self._execute):
                self._outcome = self._work()
        except Exception as error:  # noqa: BLE001  (raised where they finish)
            self._outcome = error
        finally:
            connection.close()
            self._stopped.set()

    def _execute(self, execute: Any, sql: str, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
        self._pid = context["connection"].connection.info.backend_pid
        if self._before and sql.startswith(self._before) and not self._stopped.is_set():
            self._stopped.set()
            assert self._goes_on.wait(LONG)
        return execute(sql, params, many, context)

    def stand(self) -> None:
        """Return once they stand where they were to stop."""
        assert self._stopped.wait(LONG)
        assert self.is_alive(), self._outcome

    def waits(self) -> bool:
        """Whether they wait for what another one holds; asked until they do, or are done."""
        with connection.cursor() as cursor:
            while self.is_alive():
                cursor.execute("SELECT cardinality(pg_blocking_pids(%s))", [self._pid])
                if cursor.fetchone() != (0,):
                    return True
        return False

    def finish(self) -> Any:
        """What came of their work, which goes on to its end."""
        self._goes_on.set()
        self.join(LONG)
        assert not self.is_alive()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


@pytest.fixture(autouse=True)
def fruit(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    sync(document("apples", "pears", "figs"))


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(SuperuserFactory(username="ada"))
    return client


@pytest.fixture
def bob() -> Client:
    client = Client()
    client.force_login(SuperuserFactory(username="bob"))
    return client


def read() -> dict[str, str]:
    """{tool name: description}, as agents read it; each generation is whole, and they are numbered without a gap."""
    generations = sorted(Revision.objects.values_list("generation", flat=True))
    assert generations == list(range(1, len(generations) + 1))
    catalog, revision = Catalog.objects.get(), Revision.objects.latest()
    assert (catalog.generation, catalog.contents_digest) == (revision.generation, digest(revision.tools))
    for each in Revision.objects.all():
        assert ToolContent.objects.filter(digest__in=each.tools.values()).count() == len(each.tools)
    contents = ToolContent.objects.filter(left_generation=None)
    assert {content.name: content.digest for content in contents} == revision.tools
    return {content.name: content.loaded["description"] for content in contents}


# -- what publishes, beside what publishes --

BARE = {"apples": "GET /apples/", "pears": "GET /pears/", "figs": "GET /figs/"}
APPLES, PEARS = "GET /apples/", "GET /pears/"
FILE = {
    "sezzlee_curation": 1,
    "tags": {},
    "operations": {APPLES: {"description": "Red ones."}, PEARS: {"description": "Soft ones."}},
    "selectionRules": [{"route": "/figs/", "decision": "exclude"}],
    "argumentRules": [],
    "visibilityPolicies": {},
}


def syncing(folder: Path) -> Work:
    return lambda: sync(document("apples", "pears", "figs", "plums"))


def publishing(folder: Path) -> Work:
    def work() -> None:
        Operation.objects.filter(key=APPLES).update(description="Red ones.")
        publish(source=Revision.Source.COMMAND)

    return work


def saving(folder: Path) -> Work:
    client = Client()
    client.force_login(SuperuserFactory())
    url = change_page(PEARS)
    form = typed(client, url, description="Soft ones.")

    def work() -> None:
        assert client.post(url, form).status_code == 302

    return work


def loading(folder: Path) -> Work:
    file = folder / "curation.json"
    file.write_text(json.dumps(FILE), encoding="utf-8")
    return lambda: call_command("sezzlee_curation", "load", str(file), verbosity=0)


EFFECTS: dict[Callable[[Path], Work], Callable[[dict[str, str]], dict[str, str]]] = {
    syncing: lambda tools: {**tools, "plums": "GET /plums/"},
    publishing: lambda tools: {**tools, "apples": "Red ones."},
    saving: lambda tools: {**tools, "pears": "Soft ones."},
    loading: lambda tools: (
        {name: text for name, text in tools.items() if name != "figs"} | {"apples": "Red ones.", "pears": "Soft ones."}
    ),
}
# Whose page was opened before another changed what it shows is told, which tests further below say.
PAIRS = [pair for pair in product(EFFECTS, EFFECTS) if pair not in ((saving, saving), (loading, saving))]


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda work: work.__name__)
def test_the_second_waits_for_the_first_and_adds_to_it(
    tmp_path: Path, one: Callable[[Path], Work], other: Callable[[Path], Work]
) -> None:
    work, other_work, before = one(tmp_path), other(tmp_path), read()
    first = Rival(work, before=HALF_WAY)
    first.stand()
    second = Rival(other_work)

    assert second.waits()
    assert read() == before
    first.finish()
    second.finish()

    assert read() == EFFECTS[other](EFFECTS[one](before))
    assert compile_draft(read_inputs()).is_published


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda work: work.__name__)
def test_what_was_compiled_before_the_lock_takes_in_what_came_between(
    tmp_path: Path, one: Callable[[Path], Work], other: Callable[[Path], Work]
) -> None:
    work, other_work, before = one(tmp_path), other(tmp_path), read()
    late = Rival(other_work, before=AT_THE_LOCK)
    late.stand()

    work()
    late.finish()

    assert read() == EFFECTS[other](EFFECTS[one](before))
    assert compile_draft(read_inputs()).is_published


def test_the_first_two_syncs_of_all_make_one_catalog() -> None:
    for model in (Catalog, Revision, ToolContent, Operation):
        model._default_manager.all().delete()
    first = Rival(syncing(Path()), before=HALF_WAY)
    first.stand()
    second = Rival(syncing(Path()))

    assert second.waits()  # for a row that nobody else sees yet
    assert (first.finish().generation, second.finish().generation) == (1, 1)
    assert read() == {**BARE, "plums": "GET /plums/"}


def test_one_of_two_who_ask_for_a_sync_at_once_is_told() -> None:
    ada = SuperuserFactory()
    RequestedSync.objects.claim(ada)
    RequestedSync.objects.update(ended_at=Now())
    late = Rival(lambda: RequestedSync.objects.claim(ada), before='UPDATE "sezzlee_mcp_requestedsync"')
    late.stand()

    assert (RequestedSync.objects.claim(ada), late.finish()) == (2, None)


# -- rollbacks --


def rolling_back(seen: int) -> Work:
    return lambda: roll_back(1, seen=seen)


def second_generation() -> None:
    publishing(Path())()
    assert Catalog.objects.generation() == 2


MOVED = "Generation 3 was published since you looked at generation 2. Look at what it changed, and decide again."


def test_a_rollback_that_waited_for_a_publish_is_told_of_it(tmp_path: Path) -> None:
    second_generation()
    publish = Rival(syncing(tmp_path), before=HALF_WAY)
    publish.stand()
    rollback = Rival(rolling_back(seen=2))

    assert rollback.waits()
    publish.finish()
    with pytest.raises(PublishRefused, match=re.escape(MOVED)):
        rollback.finish()

    assert read() == {**BARE, "apples": "Red ones.", "plums": "GET /plums/"}
    assert Catalog.objects.get().held_generation is None


@pytest.mark.parametrize("before", [AT_THE_LOCK, HALF_WAY])
@pytest.mark.parametrize("work", [syncing, saving, loading], ids=lambda work: work.__name__)
def test_what_meets_a_rollback_is_saved_and_waits_for_its_end(
    tmp_path: Path, work: Callable[[Path], Work], before: str
) -> None:
    """Whether it waited for the rollback, or was compiled before that and locks after it."""
    second_generation()
    other, rollback = work(tmp_path), rolling_back(seen=2)
    if before == HALF_WAY:
        first = Rival(rollback, before=before)
        first.stand()
        second = Rival(other)
        assert second.waits()
    else:
        first = Rival(rollback)
        second = Rival(other, before=before)
        second.stand()
    first.finish()
    second.finish()

    catalog = Catalog.objects.get()
    assert (catalog.generation, catalog.held_generation, catalog.draft_waits) == (3, 1, True)
    assert read() == BARE
    resume(seen=draft_of_resumption(read_inputs()).digest)
    assert read() == EFFECTS[work]({**BARE, "apples": "Red ones."})


def test_the_second_of_two_rollbacks_is_told(tmp_path: Path) -> None:
    second_generation()
    first = Rival(rolling_back(seen=2), before=HALF_WAY)
    first.stand()
    second = Rival(rolling_back(seen=2))

    assert second.waits()
    first.finish()
    with pytest.raises(PublishRefused, match=re.escape(MOVED)):
        second.finish()

    assert (Catalog.objects.generation(), read()) == (3, BARE)


def test_the_second_who_publishes_the_draft_at_once_is_told(ada: Client, bob: Client) -> None:
    Operation.objects.filter(key=APPLES).update(description="Red ones.")
    url = page("revision", "publish")
    confirmed = {"seen": ada.get(url).context["form"]["seen"].value(), "note": "Ripe."}
    first = Rival(lambda: ada.post(url, confirmed), before=HALF_WAY)
    first.stand()
    second = Rival(lambda: bob.post(url, confirmed))

    assert second.waits()
    assert (first.finish().status_code, second.finish().context["form"].errors["__all__"]) == (
        302,
        [
            "The draft, or what is published, changed since you opened the page. Look at what publishing changes now, "
            "and decide again."
        ],
    )
    assert (Catalog.objects.generation(), Revision.objects.latest().actor.username) == (2, "ada")


# -- two members of staff on one page --


def apples_page() -> str:
    return change_page(APPLES)


def variant_page() -> str:
    Variant.objects.create(operation=Operation.objects.get(key=APPLES), name="red_apples", description="Red.")
    publish(source=Revision.Source.ADMIN)
    return page("variant", "change", Variant.objects.get().pk)


def selection_rule_page() -> str:
    return page("selectionrule", "change", SelectionRuleFactory(route="/none/").pk)


def argument_rule_page() -> str:
    return page("argumentrule", "change", ArgumentRule.objects.create(argument="none*", hidden="omit").pk)


def policy_page() -> str:
    return page("visibilitypolicy", "change", VisibilityPolicyFactory(routes=["/none/"]).pk)


def tag_page() -> str:
    tag = TagFactory(name="Round")
    apples = Operation.objects.get(key=APPLES)
    apples.tags.set([tag])
    Operation.objects.filter(pk=apples.pk).update(overrides_tags=True)
    publish(source=Revision.Source.ADMIN)
    return page("tag", "change", tag.pk)


def search_case_page() -> str:
    return page("searchcase", "change", SearchCase.objects.create(need="Fruit?", query="fruit", expected=[APPLES]).pk)


EDITED: dict[Callable[[], str], tuple[str, str, str]] = {
    apples_page: ("description", "Ada’s.", "Bob’s."),
    variant_page: ("description", "Ada’s.", "Bob’s."),
    selection_rule_page: ("route", "/apples/", "/pears/"),
    argument_rule_page: ("note", "Ada’s.", "Bob’s."),
    policy_page: ("routes", "/apples/", "/pears/"),
    tag_page: ("name", "Ada’s.", "Bob’s."),
    search_case_page: ("need", "Ada’s?", "Bob’s?"),
}


@pytest.mark.parametrize("opened", EDITED, ids=lambda opened: opened.__name__)
def test_the_second_of_two_who_save_one_page_at_once_is_told(
    ada: Client, bob: Client, opened: Callable[[], str]
) -> None:
    url, (field, adas, bobs) = opened(), EDITED[opened]
    forms = typed(ada, url, **{field: adas}), typed(bob, url, **{field: bobs})
    first = Rival(lambda: ada.post(url, forms[0]), before=LOGGED)
    first.stand()
    second = Rival(lambda: bob.post(url, forms[1]))

    assert second.waits()
    assert first.finish().status_code == 302
    response = second.finish()

    assert errors(response)[field] == [f"It was changed and is now: {adas}"]
    assert "The last save on record is that of ada" in errors(response)["__all__"][0]
    assert typed(ada, url)[field] == adas
    assert compile_draft(read_inputs()).is_published


ROWS: dict[Callable[[], str], type[Model]] = {
    variant_page: Variant,
    selection_rule_page: SelectionRule,
    argument_rule_page: ArgumentRule,
    policy_page: VisibilityPolicy,
    tag_page: Tag,
}
DELETED = (
    "Somebody changed this since you opened the page, so nothing was deleted. The last save on record is that of ada"
)


@pytest.mark.parametrize("opened", ROWS, ids=lambda opened: opened.__name__)
def test_whoever_deletes_what_another_saves_at_once_is_told(
    ada: Client, bob: Client, opened: Callable[[], str]
) -> None:
    url, (field, adas, _bobs) = opened(), EDITED[opened]
    form, shown = typed(ada, url, **{field: adas}), bob.get(deletion(url))
    first = Rival(lambda: ada.post(url, form), before=LOGGED)
    first.stand()
    second = Rival(lambda: bob.post(deletion(url), confirmed(shown)))

    assert second.waits()
    assert first.finish().status_code == 302
    response = second.finish()

    assert response.context["refusal"].startswith(DELETED)
    assert typed(ada, url)[field] == adas
    assert bob.post(deletion(url), confirmed(response)).status_code == 302
    assert ROWS[opened]._default_manager.count() == 0
    assert compile_draft(read_inputs()).is_published


def test_whoever_saves_or_deletes_what_another_deletes_at_once_is_told(ada: Client, bob: Client) -> None:
    url = variant_page()
    forms = confirmed(ada.get(deletion(url))), confirmed(bob.get(deletion(url))), typed(bob, url, description="Bob’s.")
    first = Rival(lambda: ada.post(deletion(url), forms[0]), before=LOGGED)
    first.stand()
    second = Rival(lambda: bob.post(deletion(url), forms[1]))

    assert second.waits()
    first.finish()
    gone = "doesn’t exist. Perhaps it was deleted?"
    assert [gone in said(each)[-1] for each in (second.finish(), bob.post(url, forms[2]))] == [True, True]
    assert (LogEntry.objects.filter(action_flag=DELETION).count(), read()) == (1, BARE)


def test_whoever_deletes_several_rows_is_told_of_one_that_changed(ada: Client, bob: Client) -> None:
    url, rules = selection_rule_page(), page("selectionrule", "changelist")
    other = SelectionRuleFactory(route="/figs/")
    chosen = {"action": "delete_selected", "_selected_action": [rule.pk for rule in SelectionRule.objects.all()]}
    shown, form = bob.post(rules, chosen), typed(ada, url, note="Ada’s.")
    first = Rival(lambda: ada.post(url, form), before=LOGGED)
    first.stand()
    second = Rival(lambda: bob.post(rules, {**chosen, **confirmed(shown)}))

    assert second.waits()
    first.finish()
    response = second.finish()

    assert "so nothing was deleted" in response.context["refusal"]
    assert list(SelectionRule.objects.order_by("pk").values_list("note", flat=True)) == ["Ada’s.", other.note]
    bob.post(rules, {**chosen, **confirmed(response)})
    assert SelectionRule.objects.count() == 0


def test_an_edit_of_many_beside_a_page_is_told(ada: Client, bob: Client) -> None:
    url, form = apples_page(), typed(ada, apples_page(), exposure="exclude")
    shown = begin(bob, "hide", APPLES, PEARS).context
    many = {"operations": shown["form"]["operations"].value(), "seen": shown["form"].digest}
    first = Rival(lambda: ada.post(url, form), before=HALF_WAY)
    first.stand()
    second = Rival(lambda: bob.post(page("operation", shown["address"]), many))

    assert second.waits()
    first.finish()

    assert second.finish().context["is_outdated"]
    assert sorted(read()) == ["figs", "pears"]


def deletion(url: str) -> str:
    return url.replace("/change/", "/delete/")


def confirmed(response: Any) -> dict[str, str]:
    return {"post": "yes", "_seen": response.context["seen"]}


def test_a_page_beside_a_load_is_told_what_the_load_changed(ada: Client, tmp_path: Path) -> None:
    url, load = apples_page(), loading(tmp_path)
    form = typed(ada, url, description="Ada’s.")
    first = Rival(load, before=HALF_WAY)
    first.stand()
    second = Rival(lambda: ada.post(url, form))

    assert second.waits()
    first.finish()
    assert errors(second.finish())["description"] == ["It was changed and is now: Red ones."]
    assert read()["apples"] == "Red ones."
