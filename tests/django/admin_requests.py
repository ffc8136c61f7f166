"""Every page and action of the admin, who may use it, and a request that does its work."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.test import Client
from pytest_django import Settings

from sezzlee_mcp.catalog_rollback import roll_back
from sezzlee_mcp.models import (
    ArgumentRule,
    Catalog,
    Diagnostic,
    Operation,
    SearchCase,
    ToolUse,
    VainWord,
    Variant,
)
from sezzlee_mcp.publishing import keep, publish
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import begin, operation, page, typed
from tests.factories import SelectionRuleFactory, TagFactory, VisibilityPolicyFactory

APP = "sezzlee_mcp"
APPLES, PEARS = "GET /apples/", "GET /pears/"
DAY, NOTE = "2026-11-30", "A test."
NOBODY, ANY_STAFF = "nobody", "any staff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """
    A request that writes: what is ``typed`` by somebody who may do everything, and what the history says of it.

    ``given`` makes the database be as the work needs it.
    """

    typed: Callable[[Client, str], dict[str, Any]]
    recorded: tuple[str, ...]
    given: Callable[[], Any] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """
    Who may see a page and who may post to it, such as ``view_tag or change_tag`` or ``view_tag and delete_tag``.

    A page without ``work`` writes nothing. One that ``leads_away`` answers GET with another page's address.
    """

    opens: str
    posts: str
    work: Work | None = None
    row: Callable[[], tuple[Any, ...]] = tuple
    leads_away: bool = False


def permits(who: str, permissions: frozenset[str]) -> bool:
    return who == ANY_STAFF or any(way <= permissions for way in ways(who))


def ways(who: str) -> list[frozenset[str]]:
    """The sets of permissions each of which is enough."""
    return [] if who in {NOBODY, ANY_STAFF} else [frozenset(way.split(" and ")) for way in who.split(" or ")]


def orchard(settings: Settings) -> None:
    """A row of each kind: apples, once called crabs, and pears, of which there is a variant."""
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    parameters = [{"name": each, "in": "query", "schema": {"type": "string"}} for each in ("colour", "size__in")]
    described = {"description": "Fruit.", "parameters": parameters, "responses": {"200": {"description": "Yes."}}}
    paths = {f"/{name}/": {"get": {"operationId": name, **described}} for name in ("apples", "pears")}
    sync({"openapi": "3.1.0", "paths": paths})
    Operation.objects.filter(key=APPLES).update(name="crabs")
    publish(source="admin")
    Operation.objects.filter(key=APPLES).update(name="")
    Variant.objects.create(operation=operation(PEARS), name="ripe_pears", description="Soft ones.")
    publish(source="admin")
    TagFactory(name="Round")
    SelectionRuleFactory(route="/figs/")
    ArgumentRule.objects.create(argument="shape", hidden="omit")
    VisibilityPolicyFactory(name="Growers", routes=["/figs/"])
    SearchCase.objects.create(need="What is ripe?", query="ripe fruit", expected=[APPLES])
    ToolUse.objects.create(day=DAY, tool="apples", outcome="ok", calls=1)
    VainWord.objects.create(day=DAY, word="quince", unanswered=1)
    Diagnostic.objects.create(stage="document", code="lost", severity="warning", message="Lost.", key="GET /figs/")


def first(model: str) -> Model:
    row = apps.get_model(APP, model)._default_manager.order_by("pk").first()
    assert row is not None
    return row


def logged_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def post(client: Client, url: str, typed: dict[str, Any]) -> HttpResponse:
    for value in typed.values():
        if hasattr(value, "seek"):
            value.seek(0)
    return client.post(url, typed)


def address(name: str) -> str:
    row = PAGES[name].row()
    model, _, kind = name.partition("_")
    return f"{page(model, 'changelist')}{row[0]}/" if kind == "old_address" else page(model, kind, *row)


def _edit(**changes: Any) -> Callable[[Client, str], dict[str, Any]]:
    return lambda client, url: typed(client, url, **changes)


def _sent(**values: Any) -> Callable[[Client, str], dict[str, Any]]:
    return lambda client, url: values


def deletion(shown: HttpResponse) -> dict[str, Any]:
    """What confirms a deletion; search cases and words, of which nothing is published, ask for no more."""
    return {"post": "yes", "_seen": shown.context.get("seen", "")}


def _confirmed(client: Client, url: str) -> dict[str, Any]:
    return {"seen": client.get(url).context["form"]["seen"].value(), "note": NOTE}


def seen(action: str, **words: Any) -> Callable[[Client, str], dict[str, Any]]:
    """What is sent to save what an edit of apples and pears shows."""

    def shown(client: Client, url: str) -> dict[str, Any]:
        form = begin(client, action, APPLES, PEARS).context["form"]
        chosen = {"operations": form["operations"].value(), **words}
        form = client.post(url, chosen).context["form"] if words else form
        return {**chosen, "seen": form.digest, "note": NOTE}

    return shown


def _many_page(action: str, *changed: str, field: str, given: Callable[[], Any] = lambda: None, **words: Any) -> Page:
    recorded = tuple(f"changed {row}: Changed {field}." for row in changed)
    work = Work(given=given, typed=seen(action, **words), recorded=recorded)
    return Page(opens="change_operation", posts="change_operation", leads_away=True, work=work)


def _cases(client: Client, url: str) -> dict[str, Any]:
    known = {"need": "What can be eaten?", "query": "ripe fruit", "expected": [APPLES]}
    new = {"need": "What is soft?", "query": "soft fruit", "expected": [PEARS]}
    return {"file": SimpleUploadedFile("cases.json", json.dumps([known, new]).encode())}


def _draft() -> None:
    Operation.objects.filter(key=APPLES).update(title="Apples")
    assert keep(None)


def _exposed() -> None:
    Operation.objects.update(exposure="include")
    publish(source="admin")


def _held() -> None:
    roll_back(1, seen=Catalog.objects.generation())


def _pages(
    model: str,
    *,
    view: str,
    add: str = NOBODY,
    change: str = NOBODY,
    delete: str = NOBODY,
    added: Work | None = None,
    changed: Work | None = None,
    deleted: str = "",
) -> dict[str, Page]:
    """The pages that Django makes of a model."""

    def row() -> tuple[Any, ...]:
        return (first(model).pk,)

    deleting = (
        Work(typed=lambda client, url: deletion(client.get(url)), recorded=(f"deleted {model} {deleted}",))
        if deleted
        else None
    )
    return {
        f"{model}_changelist": Page(opens=view, posts=view),
        f"{model}_add": Page(opens=add, posts=add, work=added),
        f"{model}_history": Page(opens=view, posts=view, row=row),
        f"{model}_delete": Page(opens=delete, posts=delete, work=deleting, row=row),
        f"{model}_change": Page(opens=view, posts=change, work=changed, row=row),
        f"{model}_old_address": Page(opens=ANY_STAFF, posts=ANY_STAFF, row=row, leads_away=True),
    }


def _editable(model: str, **works: Any) -> dict[str, Page]:
    may = {verb: f"{verb}_{model}" for verb in ("add", "change", "delete")}
    return _pages(model, view=f"view_{model} or change_{model}", **may, **works)


_OPERATIONS = "view_operation or change_operation"
_BOTH = (f"operation {APPLES}", f"operation {PEARS}")
_CASES = "view_searchcase or change_searchcase"

PAGES: Mapping[str, Page] = {
    **_pages(
        "operation",
        view=_OPERATIONS,
        change="change_operation",
        changed=Work(typed=_edit(title="Apples"), recorded=(f"changed operation {APPLES}: Changed Title.",)),
    ),
    "operation_many_expose": _many_page("expose", *_BOTH, field="Exposure"),
    "operation_many_hide": _many_page("hide", *_BOTH, field="Exposure"),
    "operation_many_inherit": _many_page("inherit", *_BOTH, field="Exposure", given=_exposed),
    "operation_many_tags": _many_page("tag", *_BOTH, field="Tags", mode="add", words="Round"),
    "operation_many_terms": _many_page("set_terms", *_BOTH, field="Search terms", mode="add", words="orchard"),
    "operation_many_replace": _many_page(
        "find_and_replace", f"operation {APPLES}", "variant ripe_pears", field="Description", find=".", replacement="!"
    ),
    "operation_try_search": Page(opens=_OPERATIONS, posts=_OPERATIONS),
    "operation_try_tool": Page(opens=_OPERATIONS, posts=_OPERATIONS),
    **_pages(
        "variant",
        view=_OPERATIONS,
        change="change_operation",
        delete="change_operation",
        changed=Work(
            typed=_edit(description="Ripe ones."), recorded=("changed variant ripe_pears: Changed Description.",)
        ),
        deleted="ripe_pears",
    ),
    **_editable(
        "tag",
        added=Work(typed=_edit(name="Flat"), recorded=("added tag Flat: Added.",)),
        changed=Work(typed=_edit(description="A ball."), recorded=("changed tag Round: Changed Description.",)),
        deleted="Round",
    ),
    **_editable(
        "selectionrule",
        added=Work(
            typed=_edit(route="/plums/", decision="exclude"),
            recorded=("added selectionrule exclude * /plums/: Added.",),
        ),
        changed=Work(
            typed=_edit(method="POST", note="Rare."),
            recorded=("changed selectionrule include POST /figs/: Changed Method and Note.",),
        ),
        deleted="include * /figs/",
    ),
    **_editable(
        "argumentrule",
        added=Work(typed=_edit(argument="colour", hidden="omit"), recorded=("added argumentrule colour · **: Added.",)),
        changed=Work(typed=_edit(note="Too fine."), recorded=("changed argumentrule shape · **: Changed Note.",)),
        deleted="shape · **",
    ),
    **_editable(
        "visibilitypolicy",
        added=Work(
            typed=_edit(name="Grocers", rule="staff", routes="/plums/"),
            recorded=("added visibilitypolicy Grocers: Added.",),
        ),
        changed=Work(
            typed=_edit(routes="/figs/\n/plums/"), recorded=("changed visibilitypolicy Growers: Changed Routes.",)
        ),
        deleted="Growers",
    ),
    **_editable(
        "searchcase",
        added=Work(
            typed=_edit(need="What is soft?", query="soft fruit", expected=PEARS),
            recorded=("added searchcase soft fruit: Added.",),
        ),
        changed=Work(
            typed=_edit(need="What can be eaten?"), recorded=("changed searchcase ripe fruit: Changed Need.",)
        ),
        deleted="ripe fruit",
    ),
    "searchcase_run": Page(opens=_CASES, posts=_CASES),
    "searchcase_export": Page(opens=_CASES, posts=_CASES),
    "searchcase_load": Page(
        opens="add_searchcase and change_searchcase",
        posts="add_searchcase and change_searchcase",
        work=Work(
            typed=_cases,
            recorded=(
                "added searchcase soft fruit: Added.",
                "changed searchcase ripe fruit: Changed Need.",
            ),
        ),
    ),
    **_pages(
        "toolalias",
        view="view_toolalias or change_toolalias",
        change="change_toolalias",
        delete="delete_toolalias",
        changed=Work(
            typed=_edit(until="2099-12-31"),
            recorded=("changed toolalias crabs → apples: Changed Until.",),
        ),
        deleted="crabs → apples",
    ),
    **_pages("revision", view="view_revision"),
    "revision_compare": Page(opens="view_revision", posts="view_revision"),
    "revision_publish": Page(
        opens="view_revision and publish_catalog",
        posts="view_revision and publish_catalog",
        work=Work(given=_draft, typed=_confirmed, recorded=(f"changed revision #4: Publish the draft: {NOTE}",)),
    ),
    "revision_resume": Page(
        opens="view_revision and publish_catalog",
        posts="view_revision and publish_catalog",
        work=Work(
            given=_held,
            typed=_confirmed,
            recorded=(f"changed revision #5: End the hold of the whole catalog: {NOTE}",),
        ),
    ),
    "revision_roll_back": Page(
        opens="view_revision and roll_back_catalog",
        posts="view_revision and roll_back_catalog",
        row=lambda: (1,),
        work=Work(
            typed=_confirmed, recorded=(f"changed revision #4: Roll back the whole catalog to generation 1: {NOTE}",)
        ),
    ),
    **_pages("catalog", view="view_catalog"),
    "catalog_sync": Page(
        opens="view_catalog",
        posts="view_catalog and sync_catalog",
        work=Work(typed=_sent(), recorded=("changed catalog generation 3: Started a sync.",)),
    ),
    **_pages("diagnostic", view="view_diagnostic"),
    **_pages("tooluse", view="view_tooluse"),
    **_pages("vainword", view="view_vainword", delete="delete_vainword", deleted=f"quince {DAY}"),
}

# Who may have an action of a list done.
ACTIONS: Mapping[str, str] = {
    **{f"operation.{action}": "change_operation" for action in ("expose", "hide", "inherit")},
    **{f"operation.{action}": "change_operation" for action in ("tag", "set_terms", "find_and_replace")},
    "variant.delete_selected": "change_operation",
    **{
        f"{model}.delete_selected": f"view_{model} and delete_{model} or change_{model} and delete_{model}"
        for model in ("tag", "selectionrule", "argumentrule", "visibilitypolicy", "searchcase", "toolalias")
    },
    "vainword.delete_selected": "view_vainword and delete_vainword",
}


def pages() -> set[str]:
    """The names of all pages that the admin has of the app."""
    return {
        (pattern.name or f"{APP}_{model}_old_address").removeprefix(f"{APP}_")
        for model, model_admin in _admins()
        for pattern in model_admin.get_urls()
    }


def actions(request: HttpRequest) -> set[str]:
    """All actions of the app's lists, as ``model.action``."""
    return {f"{model}.{action}" for model, model_admin in _admins() for action in model_admin.get_actions(request)}


def _admins() -> list[tuple[str, Any]]:
    registered = admin.site._registry.items()
    return [(model._meta.model_name or "", each) for model, each in registered if model._meta.app_label == APP]
