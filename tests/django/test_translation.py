"""Every text that staff read in the admin can be translated: one that marks what it gives leaves none unmarked."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import django
import pytest
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from django.utils import timezone
from django.utils.translation import trans_real
from pytest_django import Settings

import sezzlee_mcp
from sezzlee_mcp import catalog_rollback
from sezzlee_mcp.diagnostics import CODES
from sezzlee_mcp.models import (
    ArgumentCuration,
    ArgumentRule,
    Diagnostic,
    Operation,
    RequestedSync,
    Revision,
    SearchCase,
    ToolUse,
    VainWord,
    Variant,
    VisibilityPolicy,
)
from sezzlee_mcp.models.policies import METHODS
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.search import RANKERS
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import begin, change_page, operation, page, save, typed
from tests.factories import SelectionRuleFactory, StaffFactory, SuperuserFactory, TagFactory

PACKAGE = Path(sezzlee_mcp.__file__).parent
OPEN, SHUT = "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}", "\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}"
LANGUAGE = "ru"  # one whose dates have no Latin letter of their own

site = admin.AdminSite()  # the app's own models alone
for model, model_admin in admin.site._registry.items():
    if model._meta.app_label == "sezzlee_mcp":
        site.register(model, type(model_admin))
urlpatterns = [path("admin/", site.urls)]


class Marking:
    """A language in which every text reads as it did, between marks; it remembers which ones it was ``asked`` for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def gettext(self, message: str) -> str:
        self.asked.add(message)
        return OPEN + message.rpartition("\4")[2] + SHUT  # a context stands before the text

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return self.gettext(singular if number == 1 else plural)

    def to_language(self) -> str:
        return LANGUAGE


class Page(HTMLParser):
    """The texts that a page shows, in their order, but for what stands in it as code."""

    READ = ("title", "alt", "placeholder", "aria-label", "aria-description")
    CODE = ("script", "style", "pre", "code", "textarea")
    EMPTY = ("br", "col", "hr", "img", "input", "link", "meta")

    def __init__(self, body: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self.feed(body)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        read = [*self.READ, *(["value"] if given.get("type") in ("submit", "button", "reset") else [])]
        self.texts += [given[name] for name in read if name in given]
        if tag not in self.EMPTY:
            self._open.append((tag, tag in self.CODE or "sezzlee-json" in given.get("class", "")))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(is_code for _tag, is_code in self._open):
            self.texts.append(data)

    @property
    def unmarked(self) -> str:
        """What stands between no marks; a translated text may hold elements, and others."""
        depth, left = 0, []
        for char in "\n".join(self.texts):
            depth += char == OPEN
            left.append("" if depth else char)
            depth -= char == SHUT
        return "".join(left)


# Data is in another script, or begins with zq: whatever else is in Latin letters is the app's.
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "paths": {
        "/zqbooks/": {
            "get": {
                "operationId": "zqbooks_zqlist",
                "tags": ["Ряд"],
                "description": "Все книги.",
                "deprecated": True,
                "parameters": [
                    {"name": "zqcolour", "in": "query", "description": "Цвет.", "schema": {"type": "string"}},
                    {"name": "zqsize__in", "in": "query", "schema": {"type": "string"}},
                ],
                "responses": {"200": {"description": "Да."}},
            },
            "post": {
                "operationId": "zqbooks_zqadd",
                "tags": ["Ряд"],
                "x-sezzlee": {"description": "Ещё книга.", "seal": True},
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"type": "object", "properties": {"zqname": {"type": "string"}}}}
                    }
                },
                "responses": {"200": {"description": "Да."}},
            },
        },
        "/zqshelves/": {
            "get": {"operationId": "zqshelves", "description": "Полки.", "responses": {"200": {"description": "Да."}}}
        },
        "/zqclash/": {
            "post": {
                "operationId": "zqclash",
                "parameters": [{"name": "body", "in": "query", "schema": {"type": "string"}}],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"type": "array", "items": {}}}},
                },
                "responses": {"200": {"description": "Да."}},
            }
        },
    },
}
BOOKS, ADD, SHELVES, CLASH = "GET /zqbooks/", "POST /zqbooks/", "GET /zqshelves/", "POST /zqclash/"
RULES = [{"route": "/zqbooks/", "decision": "include"}, {"route": "/zqshelves/", "decision": "include"}]
PREVIEW = {"_preview": "yes"}


@pytest.fixture
def language(monkeypatch: pytest.MonkeyPatch) -> Marking:
    marking = Marking()
    monkeypatch.setitem(trans_real._translations, LANGUAGE, marking)  # type: ignore[arg-type]
    return marking


@pytest.fixture
def ada(db: None, settings: Settings, language: Marking, client: Client) -> Client:
    """One row of everything, and two generations."""
    settings.ROOT_URLCONF = __name__
    settings.SEZZLEE_MCP = {"RULES": RULES}
    settings.LANGUAGE_CODE = LANGUAGE
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = LANGUAGE
    user = SuperuserFactory(username="zqada")
    client.force_login(user)
    ContentType.objects.clear_cache()
    sync(DOCUMENT)
    books = operation(BOOKS)
    TagFactory(name="Полка")
    SelectionRuleFactory(route="/zqnone/", note="Так.")
    ArgumentRule.objects.create(argument="*__in", hidden="omit", note="Так.")
    VisibilityPolicy.objects.create(name="Свои", rule="staff", routes=["/zqnone/"])
    SearchCase.objects.create(need="Книги", query="книги", expected=[BOOKS])
    SearchCase.objects.create(need="Книги", query="книга", expected=["GET /zqbook/"], user="zqnobody")
    ArgumentCuration.objects.create(operation=books, name="zqcolour", agent_name="zqtint", deprecated_aliases=["zqhue"])
    Variant.objects.create(operation=operation(SHELVES), name="zqvariant", description="Вид.")
    Operation.objects.filter(pk=books.pk).update(name="zqrenamed")
    publish(source=Revision.Source.ADMIN, actor=user, note="Так.")
    today = datetime.now(UTC).date()
    for outcome in ("ok", "invalid_arguments"):
        ToolUse.objects.create(day=today, tool="zqrenamed", outcome=outcome, calls=3, milliseconds=7)
    VainWord.objects.create(day=today, word="zqword", unanswered=2, unfollowed=1)
    return client


DATA = re.compile(r"\bzq\w*|\{.*\}|\b[0-9a-f]{16,}\b", re.DOTALL)
IDENTIFIERS = {*CODES, *METHODS, *RANKERS, "ok", "invalid_arguments", "body", "__in", "authUncertain"}
DJANGOS = {"True", "False", "Search", "Filter"}  # as alternative texts of its icons


def untranslated(response: HttpResponse) -> list[str]:
    """The Latin words of a page that are neither marked nor data; diagnostics are said in English everywhere."""
    assert response.status_code == 200
    found = Page(response.content.decode())
    text = "\n".join(DATA.sub("", each) if each.startswith("{") else each for each in found.unmarked.split("\n"))
    for message in sorted(Diagnostic.objects.values_list("message", flat=True), key=len, reverse=True):
        text = text.replace(message, "")
    words = re.findall(r"[A-Za-z_][\w]+", DATA.sub("", text))
    return [word for word in words if word not in IDENTIFIERS | DJANGOS]


@pytest.mark.parametrize("name", sorted(model._meta.model_name or "" for model in site._registry))
def test_the_pages_of_each_model(ada: Client, name: str) -> None:
    row = next(model for model in site._registry if model._meta.model_name == name)._default_manager.first()
    assert row is not None
    chosen = {"action": "delete_selected", "_selected_action": [row.pk]}
    shown = [
        ada.get(page(name, "changelist")),
        *(ada.get(page(name, kind, row.pk)) for kind in ("change", "history", "delete")),
        ada.get(page(name, "add")),
        ada.post(page(name, "add"), {}),
        ada.post(page(name, "change", row.pk), {}),
        ada.post(page(name, "changelist"), chosen),
    ]

    pages = [each for each in shown if each.status_code == 200]

    assert len(pages) >= 3
    assert [word for each in pages for word in untranslated(each)] == []


def try_search(ada: Client) -> HttpResponse:
    asked = {"query": "книги zqword", "sought": "zqbooks_zqadd", "agent": "user", "user": "zqada"}
    return ada.get(page("operation", "try_search"), asked)


def try_tool(ada: Client, **typed: str) -> HttpResponse:
    return ada.post(page("operation", "try_tool") + "?name=zqrenamed", typed)


def rolled_back(ada: Client) -> HttpResponse:
    catalog_rollback.roll_back(1, seen=2, note="Так.")
    return ada.get(page("revision", "changelist"))


def held_page(ada: Client) -> HttpResponse:
    rolled_back(ada)
    save(ada, change_page(BOOKS), description="Новое.")
    return ada.get(change_page(BOOKS))


def resumption(ada: Client) -> HttpResponse:
    rolled_back(ada)
    return ada.get(page("revision", "resume"))


def leave_waiting() -> None:
    bob = Client(headers={"accept-language": LANGUAGE})
    bob.force_login(StaffFactory(username="zqbob", permissions=["view_operation", "change_operation"]))
    save(bob, change_page(ADD), exposure="exclude")
    save(bob, change_page(SHELVES), exposure="exclude")


def waiting(url: Callable[[], str]) -> Callable[[Client], HttpResponse]:
    def shown(ada: Client) -> HttpResponse:
        leave_waiting()
        return ada.get(url())

    return shown


def saved_along(ada: Client) -> HttpResponse:
    leave_waiting()
    return ada.get(save(ada, change_page(BOOKS), description="Новое.").headers["Location"])


def overwritten(ada: Client) -> HttpResponse:
    opened = typed(ada, change_page(BOOKS), title="Так")
    save(ada, change_page(BOOKS), description="Новое.", exposure="include")
    return ada.post(change_page(BOOKS), opened)


def deleted_meanwhile(ada: Client) -> HttpResponse:
    row = Variant.objects.get().pk
    save(ada, page("variant", "change", row), description="Другой.")
    return ada.post(page("variant", "delete", row), {"_seen": "old"})


def asked_sync(**state: Any) -> Callable[[Client], HttpResponse]:
    def shown(ada: Client) -> HttpResponse:
        long_ago = timezone.now() - timedelta(hours=1)
        row, _is_new = RequestedSync.objects.get_or_create(pk=1)
        RequestedSync.objects.update(started_at=long_ago, alive_at=long_ago, **state)
        return ada.get(page("catalog", "sync"))

    return shown


def many(ada: Client, action: str, **typed: str) -> HttpResponse:
    shown = begin(ada, action, BOOKS, SHELVES, ADD).context
    operations = shown["form"]["operations"].value()
    return ada.post(page("operation", shown["address"]), {"operations": operations, **typed, **PREVIEW})


COUNTS = {"publishes": True, "generation": 3, "added": 1, "removed": 2, "changed": 1}
STATES: dict[str, Callable[[Client], HttpResponse]] = {
    "index": lambda ada: ada.get("/admin/"),
    "search": try_search,
    "unknown tool": lambda ada: ada.get(page("operation", "try_search"), {"sought": "zqnone", "agent": "user"}),
    "tool": lambda ada: try_tool(ada, arguments='{"zqtint": "1"}'),
    "no arguments": lambda ada: try_tool(ada, arguments="{"),
    "compared": lambda ada: ada.get(page("revision", "compare"), {"old": 1, "new": 2}),
    "wrongly compared": lambda ada: ada.get(page("revision", "compare"), {"old": 1, "new": 7}),
    "rollback": lambda ada: ada.get(page("revision", "roll_back", 1)),
    "rollback of nothing": lambda ada: ada.get(page("revision", "roll_back", 2)),
    "second rollback": lambda ada: ada.post(page("revision", "roll_back", 1), {"seen": 1, "note": "Так."}),
    "rolled back": rolled_back,
    "held": held_page,
    "resumption": resumption,
    "nothing to publish": lambda ada: ada.get(page("revision", "publish")),
    "publish": waiting(lambda: page("revision", "publish")),
    "second publish": lambda ada: ada.post(page("revision", "publish"), {"seen": "old", "note": "Так."}),
    "survey": lambda ada: ada.get(page("catalog", "changelist")),
    "survey of a draft": waiting(lambda: page("catalog", "changelist")),
    "sync": waiting(lambda: page("catalog", "sync")),
    "running sync": asked_sync(done=3, total=7),
    "done sync": asked_sync(ended_at=timezone.now(), outcome="done", counts=COUNTS),
    "sync to the draft": asked_sync(ended_at=timezone.now(), outcome="done", counts={**COUNTS, "publishes": False}),
    "refused sync": asked_sync(ended_at=timezone.now(), outcome="refused"),
    "failed sync": asked_sync(ended_at=timezone.now(), outcome="failed"),
    "cases": lambda ada: ada.get(page("searchcase", "run"), {"against": 1}),
    "load cases": lambda ada: ada.post(page("searchcase", "load"), {}),
    "wrong case": lambda ada: save(ada, page("searchcase", "add"), need="Книги", query="книги", expected="GET /zq/"),
    "preview": lambda ada: save(ada, change_page(BOOKS), description="Новое.", exposure="include", **PREVIEW),
    "preview beside a draft": lambda ada: (leave_waiting(), many(ada, "expose"))[1],
    "preview of a rule": lambda ada: save(ada, page("argumentrule", "add"), argument="zqc*", hidden="omit", **PREVIEW),
    "saved": saved_along,
    "overwritten": overwritten,
    "deleted meanwhile": deleted_meanwhile,
    "deletion": waiting(lambda: page("variant", "delete", Variant.objects.get().pk)),
    "wrong argument": lambda ada: save(
        ada, change_page(SHELVES), **{"arguments-TOTAL_FORMS": 1, "arguments-0-hidden": "constant"}
    ),
    "no tags": lambda ada: many(ada, "tag"),
    "tags": lambda ada: many(ada, "tag", mode="add", words="Новое"),
    "terms": lambda ada: many(ada, "set_terms", mode="replace", words="слово"),
    "replacement": lambda ada: many(ada, "find_and_replace", find="Полки.", replacement=""),
    "exposure": lambda ada: many(ada, "hide"),
    "filtered": lambda ada: ada.get(page("operation", "changelist"), {"published": "yes", "_facets": "True"}),
    "history": lambda ada: (
        save(ada, change_page(BOOKS), title="Так"),
        ada.get(page("operation", "history", operation(BOOKS).pk)),
    )[1],
}


@pytest.mark.parametrize("state", STATES)
def test_other_pages_and_what_they_say(ada: Client, state: str) -> None:
    assert untranslated(STATES[state](ada)) == []


@pytest.mark.parametrize("template", sorted(PACKAGE.glob("templates/**/*.html")), ids=lambda path: path.stem)
def test_templates_hold_no_text_outside_a_translation(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    for markup in (
        r"\{#.*?#\}",
        r"\{% blocktranslate.*?\{% endblocktranslate %\}",
        r"\{%.*?%\}",
        r"\{\{.*?\}\}",
        r'(?<=\s)(?!(?:title|alt|placeholder|aria-label|value)=)[\w-]+="[^"]*"',
    ):
        text = re.sub(markup, "", text, flags=re.DOTALL)
    shown = Page(text).texts
    hidden_inputs = {"yes", "delete_selected"}
    assert [each for each in shown if re.search(r"[A-Za-z]", each) and each not in hidden_inputs] == []


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The texts of the app as ``makemessages`` finds them."""
    if not shutil.which("xgettext"):
        pytest.skip("GNU gettext is not installed, which makemessages asks; Debian calls it gettext")
    folder = tmp_path_factory.mktemp("app")
    shutil.copytree(PACKAGE, folder / "sezzlee_mcp")
    (folder / "sezzlee_mcp" / "locale").mkdir()
    (folder / "bare_settings.py").write_text("USE_I18N = True\n")
    made = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "django", "makemessages", "--locale", LANGUAGE, "--verbosity", "0"],
        cwd=folder / "sezzlee_mcp",
        env={**os.environ, "PYTHONPATH": str(folder), "DJANGO_SETTINGS_MODULE": "bare_settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    return folder / "sezzlee_mcp" / "locale" / LANGUAGE / "LC_MESSAGES" / "django.po"


def texts_of(file: Path) -> set[str]:
    """The texts to translate of a file that ``makemessages`` wrote, each plural form for itself."""
    found: list[str] = []
    is_asked = False
    for line in file.read_text(encoding="utf-8").splitlines():
        keyword, quote, rest = line.partition('"')
        if keyword:
            is_asked = keyword.startswith("msgid")
            found += [""] * is_asked
        if quote and is_asked:
            found[-1] += ast.literal_eval(quote + rest)
    return set(found)


SEEN = ("survey", "preview", "search", "tool", "cases", "overwritten", "deletion", "saved", "rollback", "refused sync")


@pytest.mark.parametrize("state", SEEN)
def test_makemessages_finds_every_text(ada: Client, language: Marking, catalog: Path, state: str) -> None:
    """One that is put together before it is looked up would be found in no language."""
    djangos = Path(django.__file__).parent.glob("**/locale/en/LC_MESSAGES/django.po")
    known = texts_of(catalog).union(*map(texts_of, djangos))

    STATES[state](ada)

    assert {text.rpartition("\4")[2] for text in language.asked} - known == set()
