"""The survey: a whole catalog on one page, each number a link to what it counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import translation
from django.utils.functional import Promise
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from sezzlee_mcp import conf, publishing, requested_sync, survey, windows
from sezzlee_mcp.admin import waiting
from sezzlee_mcp.admin.bases import ReadOnlyAdmin, rendered, summary
from sezzlee_mcp.admin.filters import ADVICE, FAULTS, HEAVY_TOKENS
from sezzlee_mcp.admin.many import WordsForm
from sezzlee_mcp.admin.revisions import RevisionAdmin
from sezzlee_mcp.models import (
    ArgumentCuration,
    Catalog,
    Diagnostic,
    Operation,
    RequestedSync,
    Revision,
    ToolAlias,
    ToolUse,
    VainWord,
    Variant,
)
from sezzlee_mcp.search.descriptions import Fault
from sezzlee_mcp.survey import SurveyedTool, Uses, operations_of
from sezzlee_mcp.windows import Window, WindowKind

SYNC = "sezzlee_mcp.sync_catalog"
REFRESH_SECONDS = 3  # while a sync runs
GENERATIONS_SHOWN = 5
TOOLS_SHOWN = 15
WORDS_SHOWN = 15
NEAREST_SHOWN = 3
DESCRIPTION_CHARS = 300
UNUSED_DAYS = "unused_days"  # in the address: for how many days a window that may close was not used
DAYS_OFFERED = (30, 90, 180)  # the first unless the address names another number
DAYS_AT_MOST = 3650

WINDOWS = {
    WindowKind.TOOL_ALIAS: gettext_lazy("old name of a tool"),
    WindowKind.ARGUMENT_ALIAS: gettext_lazy("older name of an argument"),
    WindowKind.DEPRECATED: gettext_lazy("deprecated tool"),
}
CLOSING = {
    WindowKind.TOOL_ALIAS: gettext_lazy("End the old name"),
    WindowKind.ARGUMENT_ALIAS: gettext_lazy("Remove it from the older names"),
    WindowKind.DEPRECATED: gettext_lazy("Hide the operation"),
}

_WORST_FIRST = list(Fault)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with the list that holds what it counts; ``url`` is empty for those who may not see that."""

    label: str | Promise
    number: int
    url: str
    help: str | Promise = ""


class SyncForm(forms.Form):
    force = forms.BooleanField(
        label=gettext_lazy("Also when more than half of the tools would go"),
        required=False,
        help_text=gettext_lazy("As --force of sezzlee_sync."),
    )


@admin.register(Catalog)
class CatalogAdmin(ReadOnlyAdmin):
    """The one row is the survey; what a sync or a publish wrote on it stands there."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        tools, used = survey.published_tools(), survey.uses()
        pages = _Pages(self, request, {row.key: row.pk for row in Operation.objects.only("key").order_by()})
        by_size = sorted(tools, key=lambda tool: -tool.loaded_bytes)
        context = {
            "title": _("Survey"),
            "catalog": Catalog.objects.filter(pk=Catalog.ONLY).first(),
            "publish_page": waiting.publish_page(request, self.admin_site.name),
            "search_page": pages.search,
            "figures": _figures(pages, tools),
            "generations": self._generations(pages),
            "faults": [
                pages.figure(
                    label, (tool for tool in tools if fault in tool.faults), ADVICE[fault], description=fault.value
                )
                for fault, label in FAULTS.items()
            ],
            "worst": [pages.described(tool) for tool in _worst(tools)],
            "abbreviations": _abbreviations(pages, tools),
            "may_edit": pages.may_edit,
            "heavy": [
                pages.figure(
                    _("over %(number)d tokens") % {"number": number},
                    (tool for tool in tools if tool.tokens > number),
                    tokens=number,
                )
                for number in HEAVY_TOKENS
            ],
            "largest": [pages.linked(tool) for tool in by_size[:TOOLS_SHOWN]],
            "total_bytes": sum(tool.loaded_bytes for tool in tools),
            "total_tokens": sum(tool.tokens for tool in tools),
            **_uses(pages, tools, used),
            **_windows(pages, tools, _unused_days(request)),
            **_vain_words(pages, tools),
        }
        return rendered(self, request, "catalog/survey.html", context)

    def get_urls(self) -> list[URLPattern]:
        sync_view = self.admin_site.admin_view(self.sync_view)
        return [path("sync/", sync_view, name="sezzlee_mcp_catalog_sync"), *super().get_urls()]

    def sync_view(self, request: HttpRequest) -> HttpResponse:
        """How the last sync that was asked for stands; a POST asks for one, unless one runs."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = SyncForm(request.POST or None)
        if request.method == "POST":
            if not request.user.has_perm(SYNC):
                raise PermissionDenied
            self._start(request, force="force" in request.POST)
            return HttpResponseRedirect(reverse(f"{self.admin_site.name}:sezzlee_mcp_catalog_sync"))
        asked = RequestedSync.objects.current()
        context = {"title": _("Sync"), "sync": asked, "form": form, "may_sync": request.user.has_perm(SYNC)}
        publishes, draft_waits = waiting.publishes(request), Catalog.objects.draft_waits()
        is_asking = publishes and draft_waits and not asked.is_running
        waits = waiting.of(publishing.read_inputs()) if is_asking else None
        release = {"publishes": publishes, "draft_waits": draft_waits, "waits": waits}
        page = {
            "publish_page": waiting.publish_page(request, self.admin_site.name),
            "history_page": reverse(f"{self.admin_site.name}:sezzlee_mcp_catalog_history", args=[Catalog.ONLY]),
            "outcome": _outcome(asked),
        }
        response = rendered(self, request, "catalog/sync.html", {**context, **release, **page})
        if asked.is_running:
            response.headers["Refresh"] = str(REFRESH_SECONDS)
        return response

    def _start(self, request: HttpRequest, *, force: bool) -> None:
        """A sync, which begins once it is in the history; its entry says what came of it as soon as that is known."""
        language = translation.get_language()
        forced = _("Started a sync, also when more than half of the tools would go.")
        started = forced if force else _("Started a sync.")

        def tell(ended: RequestedSync) -> None:
            with translation.override(language):
                entries.update(change_message=f"{started} {_outcome(ended)}")

        with transaction.atomic():
            publishes = waiting.publishes(request)
            if not requested_sync.start(request.user, force=force, publishes=publishes, tell=tell):
                self.message_user(request, _("A sync runs already, so none was started."), messages.WARNING)
                return
            catalog, _is_new = Catalog.objects.get_or_create(pk=Catalog.ONLY)
            entries = LogEntry.objects.filter(pk=self.log_change(request, catalog, started).pk)

    def _generations(self, pages: "_Pages") -> list[dict[str, Any]]:
        """The last ones; what each changed is counted in its row, so no content is read."""
        admin_of_revisions = cast(RevisionAdmin, self.admin_site.get_model_admin(Revision))
        rows = Revision.objects.select_related("actor").defer("changes", "tools", "aliases")[:GENERATIONS_SHOWN]
        return [
            {
                "revision": row,
                "url": pages.of_row(row),
                "summary": summary(row.counts),
                "classes": admin_of_revisions.classes(row),
            }
            for row in rows
        ]


class _Pages:
    """Addresses of other pages, for whoever asks: "" for one that is shut to him."""

    def __init__(self, model_admin: CatalogAdmin, request: HttpRequest, ids: Mapping[str, int]) -> None:
        self._site = model_admin.admin_site
        self._ids = ids
        self._open: dict[type[Model], bool] = {
            model: self._site.get_model_admin(model).has_view_permission(request)
            for model in (Diagnostic, Operation, Revision, ToolAlias, ToolUse, VainWord, Variant)
        }
        self.may_edit = self._site.get_model_admin(Operation).has_change_permission(request)
        self._may_end = self._site.get_model_admin(ToolAlias).has_delete_permission(request)

    def list_of(self, model: type[Model], **query: Any) -> str:
        address = self._address(model, "changelist")
        return f"{address}?{urlencode(query)}" if address else ""

    def of_row(self, row: Model) -> str:
        return self._address(type(row), "change", row.pk)

    def _address(self, model: type[Model], kind: str, *args: Any) -> str:
        if not self._open[model]:
            return ""
        return reverse(f"{self._site.name}:sezzlee_mcp_{model._meta.model_name}_{kind}", args=args)

    @property
    def search(self) -> str:
        """Where a search is tried as an agent makes it."""
        return self._address(Operation, "try_search")

    def edit_of_many(self, edit: str) -> str:
        """Where an edit of operations is shown before it is saved; "" for those who may not make one."""
        return reverse(f"{self._site.name}:sezzlee_mcp_operation_many_{edit}") if self.may_edit else ""

    def shows(self, model: type[Model]) -> bool:
        return self._open[model]

    def figure(
        self, label: str | Promise, tools: Iterable[SurveyedTool], help: str | Promise = "", **query: Any
    ) -> Figure:
        """How many operations these tools belong to, as the list shows them under ``query``."""
        number = len(operations_of(tools) & self._ids.keys())
        return Figure(label=label, number=number, url=self.list_of(Operation, **query), help=help)

    def linked(self, tool: SurveyedTool) -> dict[str, Any]:
        pk = self._ids.get(tool.operation)
        return {"tool": tool, "operation": pk, "url": self._address(Operation, "change", pk) if pk else ""}

    def described(self, tool: SurveyedTool) -> dict[str, Any]:
        """A tool with what is wrong with its description; a save on its page leads to those of the same fault."""
        linked = self.linked(tool)
        if linked["url"]:
            same_fault = urlencode({"description": tool.faults[0].value})
            linked["url"] += "?" + urlencode({"_changelist_filters": same_fault})
        reasons = [FAULTS[fault] for fault in tool.faults]
        text = Truncator(tool.description).chars(DESCRIPTION_CHARS)
        return {**linked, "reasons": reasons, "text": text}

    def window(self, window: Window) -> dict[str, Any]:
        """A window with the page that closes it, or that says more to those who may not."""
        tools = [self.linked(tool) for tool in window.tools]
        match window.row:
            case ToolAlias():
                url = self._address(ToolAlias, "delete" if self._may_end else "change", window.row.pk)
            case ArgumentCuration(variant_id=int(variant)):
                url = self._address(Variant, "change", variant)
            case _:
                url = tools[0]["url"]
        return {"window": window, "label": WINDOWS[window.kind], "action": CLOSING[window.kind]} | {
            "tools": tools,
            "url": url,
        }

    def used(self, tool: SurveyedTool, uses: Uses) -> dict[str, Any]:
        return {**self.linked(tool), "uses": uses, "uses_url": self.list_of(ToolUse, q=tool.name)}


def _outcome(asked: RequestedSync) -> str:
    """What came of a sync that ended, in the reader's language but for what a refusal says."""
    match asked.outcome:
        case RequestedSync.Outcome.DONE if not asked.counts["publishes"]:
            return _("In the draft, which nobody published by that: %(changes)s.") % {"changes": summary(asked.counts)}
        case RequestedSync.Outcome.DONE:
            return _("Generation %(number)d: %(changes)s.") % {
                "number": asked.counts["generation"],
                "changes": summary(asked.counts),
            }
        case RequestedSync.Outcome.REFUSED:
            return asked.message or _("The document cannot be used; the catalog stays as it was.")
        case RequestedSync.Outcome.FAILED:
            return _("It failed, and nothing was changed. The log of the server says why.")
    return ""


def _figures(pages: _Pages, tools: Sequence[SurveyedTool]) -> list[Figure]:
    present = Operation.objects.present()
    selected = present.filter(key__in=survey.selected_operations(survey.listed_tools())).count()
    dropped = Diagnostic.objects.filter(severity=Diagnostic.Level.DROPPED)
    lost = {"stage__exact": Diagnostic.Stage.DOCUMENT.value, "severity__exact": Diagnostic.Level.DROPPED.value}
    return [
        Figure(
            label=_("discovered"),
            number=present.count(),
            url=pages.list_of(Operation, absent="no"),
            help=_("operations that the document holds"),
        ),
        Figure(
            label=_("lost in the document"),
            number=dropped.filter(stage=Diagnostic.Stage.DOCUMENT).count(),
            url=pages.list_of(Diagnostic, **lost),
            help=_("findings for which something of the document could not be read"),
        ),
        Figure(
            label=_("selected"),
            number=selected,
            url=pages.list_of(Operation, selected="yes", absent="no"),
            help=_("exposed by staff, code, a rule or the default"),
        ),
        pages.figure(
            _("published"),
            tools,
            _("operations that agents reach, by %(number)d tools") % {"number": len(tools)},
            published="yes",
        ),
        Figure(
            label=_("dropped"),
            number=dropped.exclude(operation=None).values("operation").distinct().count(),
            url=pages.list_of(Operation, diagnostics="dropped"),
            help=_("operations of which something could not become a tool"),
        ),
        pages.figure(
            _("undecided"),
            (tool for tool in tools if tool.is_undecided),
            _("whether a caller may use them is known only by asking the view, or by the call"),
            mark="undecided",
        ),
        pages.figure(
            _("deprecated"),
            (tool for tool in tools if tool.is_deprecated),
            _("marked so by the document"),
            mark="deprecated",
        ),
    ]


def _worst(tools: Iterable[SurveyedTool]) -> list[SurveyedTool]:
    """Those with the worst fault first; of equal ones that with more faults, then by name."""
    faulty = [tool for tool in tools if tool.faults]
    faulty.sort(key=lambda tool: (_WORST_FIRST.index(tool.faults[0]), -len(tool.faults), tool.name))
    return faulty[:TOOLS_SHOWN]


def _abbreviations(pages: _Pages, tools: Sequence[SurveyedTool]) -> list[dict[str, Any]]:
    """Those in most routes first; one of their operations stands for all where an action is begun."""
    by_word: dict[str, list[SurveyedTool]] = {}
    for tool in tools:
        for word in tool.abbreviations:
            by_word.setdefault(word, []).append(tool)
    found = [
        {"figure": pages.figure(word, of_word, abbreviation=word), "one": pages.linked(of_word[0])["operation"]}
        for word, of_word in by_word.items()
    ]
    return sorted(found, key=lambda each: (-each["figure"].number, each["figure"].label))[:WORDS_SHOWN]


def _uses(pages: _Pages, tools: Sequence[SurveyedTool], used: Mapping[str, Uses]) -> dict[str, Any]:
    called = [(tool, used[tool.name]) for tool in tools if tool.name in used]
    failing = [(tool, uses) for tool, uses in called if uses.failures]
    called.sort(key=lambda each: -each[1].calls)
    failing.sort(key=lambda each: -each[1].failures)
    return {
        "most_used": [pages.used(*each) for each in called[:TOOLS_SHOWN]],
        "most_failing": [pages.used(*each) for each in failing[:TOOLS_SHOWN]],
        "calls": [
            pages.figure(_("called"), (tool for tool, _uses in called), calls="some"),
            pages.figure(_("failed at least once"), (tool for tool, _uses in failing), calls="failed"),
            pages.figure(_("never called"), survey.uncalled(tools, used), calls="none"),
        ],
    }


def _unused_days(request: HttpRequest) -> int:
    """What the address asks for; anything but a number of days is no wish."""
    asked = request.GET.get(UNUSED_DAYS, "")
    days = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) <= len(str(DAYS_AT_MOST)) else 0
    return days if 1 <= days <= DAYS_AT_MOST else DAYS_OFFERED[0]


def _windows(pages: _Pages, tools: Sequence[SurveyedTool], days: int) -> dict[str, Any]:
    counts_uses = bool(conf.current().use_flush_seconds)
    found = windows.closable(tools, days)
    return {
        "windows": [pages.window(each) for each in found if counts_uses or each.is_gone],
        "unused_days": days,
        "other_days": [each for each in DAYS_OFFERED if each != days],
        "counts_uses": counts_uses,
    }


def _vain_words(pages: _Pages, tools: Sequence[SurveyedTool]) -> dict[str, Any]:
    """None for those who may not see them."""
    if not pages.shows(VainWord):
        return {"vain_words": None}
    by_name = {tool.name: tool for tool in tools}
    found = survey.vain_words(WORDS_SHOWN, NEAREST_SHOWN)
    return {
        "vain_words": [
            {
                "word": each.word,
                "vain": each.vain,
                "url": pages.list_of(VainWord, q=each.word),
                "nearest": [pages.linked(by_name[name]) for name in each.nearest if name in by_name],
            }
            for each in found
        ],
        "words_url": pages.list_of(VainWord),
        "operations_url": pages.list_of(Operation),
        "terms_url": pages.edit_of_many("terms"),
        "add_mode": WordsForm.Mode.ADD,
        "keeps_words": bool(conf.current().kept_word_days and conf.current().use_flush_seconds),
    }
