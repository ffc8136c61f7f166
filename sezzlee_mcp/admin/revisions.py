from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from sezzlee_mcp import catalog_rollback, conf, history, holds, publishing
from sezzlee_mcp.admin import changed_tools, waiting
from sezzlee_mcp.admin.bases import NOTE_CHARS, ReadOnlyAdmin, outcome, rendered, summary
from sezzlee_mcp.admin.marks import marks
from sezzlee_mcp.admin.waiting import PUBLISH
from sezzlee_mcp.errors import PublishRefused
from sezzlee_mcp.models import Catalog, Operation, Revision, ToolContent
from sezzlee_mcp.publishing import Draft

ROLL_BACK = "sezzlee_mcp.roll_back_catalog"
SAVES_SHOWN = 100


class ComparisonForm(forms.Form):
    """Which two generations; the older one is compared with the newer one, or the other way round."""

    old = forms.TypedChoiceField(label=gettext_lazy("From"), coerce=int)
    new = forms.TypedChoiceField(label=gettext_lazy("To"), coerce=int)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kept = Revision.objects.values_list("generation", "note")
        choices = [(generation, f"#{generation} {note}".strip()[:60]) for generation, note in kept]
        for field in self.fields.values():
            field.choices = choices  # type: ignore[attr-defined]


class ConfirmationForm(forms.Form):
    """The confirmation of a publish, with what was ``seen`` on the page that asked for it."""

    note = forms.CharField(
        label=gettext_lazy("Note"),
        max_length=NOTE_CHARS,
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        help_text=gettext_lazy("Why you do this. It is kept with the revision."),
    )

    def show(self, seen: Any) -> None:
        """Be about what the page shows now, also after a refusal."""
        self.initial["seen"] = seen
        if self.is_bound:
            self.data = {"note": self["note"].value(), "seen": seen}


class ReleaseForm(ConfirmationForm):
    """``seen`` is the digest of the draft."""

    seen = forms.CharField(widget=forms.HiddenInput)


class RollbackForm(ConfirmationForm):
    """``seen`` is the generation in force."""

    seen = forms.IntegerField(widget=forms.HiddenInput)


@admin.register(Revision)
class RevisionAdmin(ReadOnlyAdmin):
    """Nobody edits a revision: it is what agents read."""

    change_form_template = "admin/sezzlee_mcp/revision/change_form.html"
    change_list_template = "admin/sezzlee_mcp/revision/change_list.html"
    list_display = ("generation", "summary", "classes", "note", "source", "actor", "published_at", "tool_count")
    list_filter = ("source", "published_at")
    list_select_related = ("actor",)
    search_fields = ("note",)
    fields = ("generation", "published_at", "actor", "source", "note", "tool_count", "summary", "recorded")
    readonly_fields = ("tool_count", "summary", "recorded")

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("compare/", wrap(self.compare_view), name="sezzlee_mcp_revision_compare"),
            path("publish/", wrap(self.publish_view), name="sezzlee_mcp_revision_publish"),
            path("resume/", wrap(self.resume_view), name="sezzlee_mcp_revision_resume"),
            path("<int:generation>/roll-back/", wrap(self.roll_back_view), name="sezzlee_mcp_revision_roll_back"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        held = holds.kept()
        operations = Operation.objects.exclude(held_generation=None).only("pk", "key", "held_generation")
        context = {
            "held": held,
            "held_operations": operations if held.operations else (),
            "may_publish": request.user.has_perm(PUBLISH),
            "publish_page": waiting.publish_page(request, self.admin_site.name),
            "draft_waits": Catalog.objects.draft_waits(),
        }
        return super().changelist_view(request, {**(extra_context or {}), **context})

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        may = request.user.has_perm(ROLL_BACK) and str(Catalog.objects.generation()) != object_id
        return super().changeform_view(request, object_id, form_url, {**(extra_context or {}), "may_roll_back": may})

    @admin.display(description=gettext_lazy("tools"))
    def tool_count(self, revision: Revision) -> int:
        count: int = revision.counts["tools"]
        return count

    @admin.display(description=gettext_lazy("changes"))
    def summary(self, revision: Revision) -> str:
        return summary(revision.counts)

    @admin.display(description=gettext_lazy("for agents"))
    def classes(self, revision: Revision) -> SafeString:
        return marks(revision.counts)

    @admin.display(description=gettext_lazy("for agents"))
    def recorded(self, revision: Revision) -> SafeString:
        return self._shown(history.Record.from_json(revision.changes), [revision.tools])

    def roll_back_view(self, request: HttpRequest, generation: int) -> HttpResponse:
        """An older generation's contents as a new one, of everything or of ``?operation=``, once that is confirmed."""
        self._demand(request, ROLL_BACK)
        target = get_object_or_404(Revision, pk=generation)
        operation = _asked_operation(request)
        what = _("the whole catalog") if operation is None else operation.key

        def draft() -> Draft:
            return catalog_rollback.draft_of_rollback(publishing.read_inputs(), target, operation)

        def act(**said: Any) -> Revision:
            return catalog_rollback.roll_back(generation, operation=operation, **said)

        title = _("Roll back %(what)s to generation %(generation)d") % {"what": what, "generation": generation}
        form = RollbackForm(request.POST or None)
        if done := self._released(request, title, form, act):
            return done
        seen = Catalog.objects.generation()
        return self._release_page(request, title, form, draft, lambda drafted: seen, {"kind": "rollback"})

    def resume_view(self, request: HttpRequest) -> HttpResponse:
        """What the rows say, published again: of everything, or of ``?operation=`` alone."""
        self._demand(request, PUBLISH)
        operation = _asked_operation(request)
        held = holds.kept()
        if (held.catalog if operation is None else operation.held_generation) is None:
            raise Http404(_("Nothing is held there."))
        what = _("the whole catalog") if operation is None else operation.key
        publishes = conf.current().publishes_at_once

        def draft() -> Draft:
            return catalog_rollback.draft_of_resumption(publishing.read_inputs(), operation)

        def act(**said: Any) -> Revision | None:
            return catalog_rollback.resume(operation=operation, publishes=publishes, **said)

        title = _("End the hold of %(what)s") % {"what": what}
        form = ReleaseForm(request.POST or None)
        if done := self._released(request, title, form, act, publishes=publishes):
            return done
        context = {"kind": "resumption", "publishes": publishes, **(self._saves() if publishes else {})}
        return self._release_page(request, title, form, draft, lambda drafted: drafted.digest, context)

    def publish_view(self, request: HttpRequest) -> HttpResponse:
        """All that waits in the draft, and who saved it; published together once that is confirmed."""
        self._demand(request, PUBLISH)

        def draft() -> Draft:
            return publishing.compile_draft(publishing.read_inputs())

        def act(**said: Any) -> Revision | None:
            return publishing.publish(source=Revision.Source.ADMIN, **said)

        title = _("Publish the draft")
        form = ReleaseForm(request.POST or None)
        if done := self._released(request, title, form, act):
            return done
        context = {"kind": "publish", "held": holds.kept(), **self._saves()}
        return self._release_page(request, title, form, draft, lambda drafted: drafted.digest, context)

    def _demand(self, request: HttpRequest, permission: str) -> None:
        if not (self.has_view_permission(request) and request.user.has_perm(permission)):
            raise PermissionDenied

    def _released(
        self,
        request: HttpRequest,
        title: str,
        form: ConfirmationForm,
        act: Callable[..., Revision | None],
        *,
        publishes: bool = True,
    ) -> HttpResponse | None:
        """The answer to a confirmation that was acted upon; None without one, or with the refusal in the form."""
        if not form.is_valid():
            return None
        said = form.cleaned_data
        try:
            revision = act(seen=said["seen"], actor=request.user, note=said["note"])
        except PublishRefused as refusal:
            form.add_error(None, ValidationError(refusal.message, code="refused"))
            return None
        current = revision or Revision.objects.latest()
        self.log_change(request, current, f"{title}: {said['note']}")
        site = self.admin_site.name
        if not publishes:
            self.message_user(request, _("The hold has ended. What the rows say waits in the draft now."))
            return redirect(f"{site}:sezzlee_mcp_revision_publish")
        self.message_user(request, outcome(request, self.admin_site, revision))
        return redirect(f"{site}:sezzlee_mcp_revision_change", current.pk)

    def _release_page(
        self,
        request: HttpRequest,
        title: str,
        form: ConfirmationForm,
        draft: Callable[[], Draft],
        seen: Callable[[Draft], Any],
        context: dict[str, Any],
    ) -> HttpResponse:
        """A page that shows what a publish would change, and asks for a confirmation of just that."""
        page = {**context, "title": title, "form": form}
        try:
            drafted = draft()
        except PublishRefused as refusal:
            page["refusal"] = refusal.message
        else:
            page["shown"] = self._shown(
                history.Record.of(drafted.changes), [drafted.inputs.published, drafted.contents]
            )
            page["withheld"] = len(drafted.withheld)
            page["is_published"] = drafted.is_published
            form.show(seen(drafted))
        return rendered(self, request, "revision/release.html", page)

    def _saves(self) -> dict[str, Any]:
        """Who saved what of that which a page publishes."""
        saves = waiting.saves()
        shown = list(saves[:SAVES_SHOWN])
        return {
            "saves": [(entry, self._saved_page(entry)) for entry in shown],
            "saves_left_out": saves.count() - len(shown) if len(shown) == SAVES_SHOWN else 0,
        }

    def _saved_page(self, entry: LogEntry) -> str:
        """The page of what was saved; "" for what was deleted since, by that very save."""
        model = entry.content_type.model if entry.content_type else ""
        if entry.is_deletion() or not model or model == "catalog":
            return ""
        return reverse(f"{self.admin_site.name}:sezzlee_mcp_{model}_change", args=[entry.object_id])

    def compare_view(self, request: HttpRequest) -> HttpResponse:
        """The changes between any two kept revisions."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = ComparisonForm(request.GET or None)
        shown: SafeString | str = ""
        if form.is_valid():
            kept = Revision.objects.in_bulk([form.cleaned_data["old"], form.cleaned_data["new"]])
            old, new = kept[form.cleaned_data["old"]], kept[form.cleaned_data["new"]]
            back_to = old.pk if request.user.has_perm(ROLL_BACK) else None
            shown = self._shown(history.Record.of(history.compare(old, new)), [old.tools, new.tools], back_to)
        context = {"title": _("Compare two generations"), "form": form, "shown": shown}
        return rendered(self, request, "revision/compare.html", context)

    def _shown(
        self, record: history.Record, tools: Iterable[Mapping[str, str]], back_to: int | None = None
    ) -> SafeString:
        """The changes, each tool with links to its operation and to a rollback of that, where it is known."""
        operations, site = _operations(set(record.of_tools), tools), self.admin_site.name

        def page(tool: str) -> str:
            row = operations.get(tool)
            return reverse(f"{site}:sezzlee_mcp_operation_change", args=[row]) if row else ""

        def back(tool: str) -> str:
            way = reverse(f"{site}:sezzlee_mcp_revision_roll_back", args=[back_to])
            return f"{way}?operation={operations[tool]}" if tool in operations else ""

        may_go_back = back if back_to is not None else None
        listed = changed_tools.listed(record.entries, record.of_tools, page=page, back=may_go_back)
        context = {"marks": marks(record.counts), "tools": listed, "left_out": record.left_out}
        return render_to_string("admin/sezzlee_mcp/revision/changes.html", context)


def _operations(names: set[str], tools: Iterable[Mapping[str, str]]) -> dict[str, int]:
    """The operations' primary keys by the names of their tools."""
    digests = {each[name] for each in tools for name in names if name in each}
    keys = dict(ToolContent.objects.filter(digest__in=digests).values_list("name", "operation_key"))
    ids = dict(Operation.objects.filter(key__in=set(keys.values())).values_list("key", "pk"))
    return {name: ids[key] for name, key in keys.items() if key in ids}


def _asked_operation(request: HttpRequest) -> Operation | None:
    asked = request.GET.get("operation")
    if asked is None:
        return None
    try:
        return get_object_or_404(Operation, pk=asked)
    except ValueError:  # no number, or one of more digits than are read
        raise Http404 from None
