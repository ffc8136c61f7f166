from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import label_for_field
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from sezzlee_mcp import publishing
from sezzlee_mcp.admin import argument_tables, filters, many, origins, panels, playground, previews, waiting
from sezzlee_mcp.admin.bases import PublishingAdmin, rendered
from sezzlee_mcp.admin.forms import PREVIEW, OperationForm
from sezzlee_mcp.admin.previews import Pair
from sezzlee_mcp.admin.variants import ArgumentInline, VariantInline
from sezzlee_mcp.catalog.resolution import Resolved
from sezzlee_mcp.catalog.sources import Source
from sezzlee_mcp.models import Catalog, Diagnostic, Operation, ToolContent
from sezzlee_mcp.models.hints import HINTS
from sezzlee_mcp.models.operations import OperationQuerySet
from sezzlee_mcp.publishing import Draft

EDITS_SHOWN = 500

_TEXTS = ("exposure", "name", "title", "description", "note")
_WORDS = ("overrides_tags", "tags", "overrides_search_terms", "search_terms")
_CHOICES = (
    (None, {"fields": _TEXTS}),
    (gettext_lazy("Tags and search terms"), {"classes": ("collapse",), "fields": _WORDS}),
    (
        gettext_lazy("Behaviour hints, limits, family"),
        {"classes": ("collapse",), "fields": (*HINTS, "deadline_seconds", "budget_bytes", "family_parameter")},
    ),
)
_FACTS = ("key", "view", "operation_id", "container", "first_seen", "absent_since")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the columns of a listed operation say beside its own fields."""

    fields: Resolved
    published_name: str | None
    severities: Counter[str]


class OperationChangeList(ChangeList):
    """A page of operations with a ``Row`` each; its queries are as many for one row as for a hundred."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        # Lazy, since an action is answered without its list.
        self.result_list = SimpleLazyObject(partial(_with_rows, self.result_list, request))


@admin.register(Operation)
class OperationAdmin(PublishingAdmin):
    """Nobody adds or deletes an operation: a sync adds what the document holds and marks absent what it lost."""

    form = OperationForm
    list_display = ("tool", "exposed", "source", "method", "route", "findings", "tags_in_effect")
    list_display_links = ("tool",)
    list_filter = (
        ("exposure", filters.ChosenExposureFilter),
        filters.SelectedFilter,
        filters.PublishedFilter,
        "method",
        filters.DiagnosticsFilter,
        filters.AbsentFilter,
        filters.DescriptionFilter,
        filters.AbbreviationFilter,
        filters.TokensFilter,
        filters.MarkFilter,
        filters.CallsFilter,
        filters.TagFilter,  # the longest
    )
    search_fields = ("key", "operation_id", "name", "description", "container")
    search_help_text = gettext_lazy("Tool name, method, route, operation id, description or container")
    actions = ("expose", "hide", "inherit", "tag", "set_terms", "find_and_replace")
    filter_horizontal = ("tags",)
    inlines = (ArgumentInline, VariantInline)
    readonly_fields = (*_FACTS, "arguments_found", "explanation", "published", "diagnostics_found", "values")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Operation | None = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        many_view = self.admin_site.admin_view(self.many_view)
        own = [
            path(f"many/{edit}/", many_view, {"edit": edit}, name=f"sezzlee_mcp_operation_many_{edit}")
            for edit in many.FORMS
        ]
        return [*own, *playground.urls(self), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Operation]:
        return cast(OperationQuerySet, super().get_queryset(request)).with_curation()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return OperationChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Operation], search_term: str
    ) -> tuple[QuerySet[Operation], bool]:
        """Also by the published name, since that is what an agent reports."""
        if "\0" in search_term:
            return queryset.none(), False
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if not search_term:
            return found, may_repeat
        named = ToolContent.objects.filter(left_generation=None, name__icontains=search_term.strip())
        return found | queryset.filter(key__in=named.values("operation_key")), may_repeat

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        catalog = Catalog.objects.filter(pk=Catalog.ONLY).first()
        context = {
            "catalog": catalog,
            "keeps_draft": not waiting.publishes(request) and self.has_change_permission(request),
            "publish_page": waiting.publish_page(request, self.admin_site.name),
        }
        return super().changelist_view(request, {**(extra_context or {}), **context})

    def get_fieldsets(self, request: HttpRequest, obj: Operation | None = None) -> Any:
        choices = _CHOICES if self.has_change_permission(request, obj) else ((None, {"fields": ("values",)}),)
        stored = ("arguments_found", "explanation", "published", "diagnostics_found")
        # A preview shows what is published beside what would be, and a refusal what has to be mended.
        read = () if request.method == "POST" else ((_("What agents read"), {"fields": stored}),)
        return (*choices, *read, (_("Facts"), {"fields": _FACTS}))

    def revision_note(self, form: Any) -> str:
        note: str = form.cleaned_data["note"]
        return note or super().revision_note(form)

    def previewed_tools(self, form: Any) -> Sequence[Pair]:
        return previews.pairs(form.draft, form.edited_key)

    def save_model(self, request: HttpRequest, obj: Operation, form: Any, change: bool) -> None:
        obj.save(update_fields=[name for name in OperationForm.Meta.fields if name != "tags"])

    def release_saved(self, request: HttpRequest, form: Any) -> None:
        super().release_saved(request, form)
        for flag, chosen in (("overrides_tags", "tags"), ("overrides_search_terms", "search_terms")):
            if form.cleaned_data[chosen] and not form.cleaned_data[flag]:
                message = _("The chosen %(values)s are kept, but not in force: “%(flag)s” is not ticked.")
                labels = {"values": form.fields[chosen].label.lower(), "flag": form.fields[flag].label}
                self.message_user(request, message % labels, messages.WARNING)

    @admin.display(description=gettext_lazy("tool"), ordering="operation_id")
    def tool(self, operation: Operation) -> str:
        row = _row(operation)
        return row.published_name or row.fields.name.value

    @admin.display(description=gettext_lazy("tags"))
    def tags_in_effect(self, operation: Operation) -> str:
        return ", ".join(_row(operation).fields.tags.value)

    @admin.display(description=gettext_lazy("exposure"), ordering="exposure")
    def exposed(self, operation: Operation) -> str:
        return _("absent") if operation.is_absent else origins.written(_row(operation).fields.exposed.value)

    @admin.display(description=gettext_lazy("source"))
    def source(self, operation: Operation) -> str:
        return str(origins.SOURCES[Source.DOCUMENT if operation.is_absent else _row(operation).fields.exposed.source])

    @admin.display(description=gettext_lazy("diagnostics"))
    def findings(self, operation: Operation) -> str:
        severities = _row(operation).severities
        return ", ".join(
            f"{severities[value]} {label}" for value, label in Diagnostic.Level.choices if severities[value]
        )

    @admin.display(description=gettext_lazy("values"))
    def values(self, operation: Operation) -> SafeString:
        return origins.table(
            origins.of(operation),
            {name: capfirst(str(label_for_field(name, Operation))) for name in origins.RESOLVED_FIELDS},
        )

    @admin.display(description=gettext_lazy("explanation"))
    def explanation(self, operation: Operation) -> SafeString:
        return panels.explanation(operation)

    @admin.display(description=gettext_lazy("arguments"))
    def arguments_found(self, operation: Operation) -> SafeString:
        return argument_tables.table(operation)

    @admin.display(description=gettext_lazy("published tool"))
    def published(self, operation: Operation) -> SafeString | str:
        return panels.published_tool(operation)

    @admin.display(description=gettext_lazy("diagnostics"))
    def diagnostics_found(self, operation: Operation) -> SafeString | str:
        return panels.diagnostics_list(operation)

    @admin.action(permissions=["change"], description=gettext_lazy("Expose the selected operations"))
    def expose(self, request: HttpRequest, queryset: QuerySet[Operation]) -> HttpResponse:
        return self._begin(request, queryset, "expose")

    @admin.action(permissions=["change"], description=gettext_lazy("Hide the selected operations"))
    def hide(self, request: HttpRequest, queryset: QuerySet[Operation]) -> HttpResponse:
        return self._begin(request, queryset, "hide")

    @admin.action(permissions=["change"], description=gettext_lazy("Let the rules decide on the selected operations"))
    def inherit(self, request: HttpRequest, queryset: QuerySet[Operation]) -> HttpResponse:
        return self._begin(request, queryset, "inherit")

    @admin.action(permissions=["change"], description=gettext_lazy("Tag the selected operations…"))
    def tag(self, request: HttpRequest, queryset: QuerySet[Operation]) -> HttpResponse:
        return self._begin(request, queryset, "tags")

    @admin.action(permissions=["change"], description=gettext_lazy("Set search terms of the selected operations…"))
    def set_terms(self, request: HttpRequest, queryset: QuerySet[Operation]) -> HttpResponse:
        return self._begin(request, queryset, "terms")

    @admin.action(permissions=["change"], description=gettext_lazy("Find and replace in their descriptions…"))
    def find_and_replace(self, request: HttpRequest, queryset: QuerySet[Operation]) -> HttpResponse:
        return self._begin(request, queryset, "replace")

    def _begin(self, request: HttpRequest, queryset: QuerySet[Operation], edit: str) -> HttpResponse:
        """The page of an edit of many; one that asks nothing shows at once what it changes."""
        chosen = {"operations": many.OperationsField.written(queryset)}
        asks = not issubclass(many.FORMS[edit], many.ExposureForm)
        form = self._many_form(request, edit, initial=chosen) if asks else self._many_form(request, edit, chosen)
        return self._many_page(request, edit, form)

    def many_view(self, request: HttpRequest, edit: str) -> HttpResponse:
        """Shows what an edit of many changes; saves what was shown."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        address = reverse(f"{self.admin_site.name}:sezzlee_mcp_operation_changelist")
        if request.method != "POST":
            return HttpResponseRedirect(address)
        if not request.POST.get("seen") or PREVIEW in request.POST:
            return self._many_page(request, edit, self._many_form(request, edit, request.POST))
        with self.locked(request):
            form = self._many_form(request, edit, request.POST)
            if not (form.is_valid() and form.is_seen):
                return self._many_page(request, edit, form)
            form.save(request.user)
            self.message_user(request, form.outcome)
            self.release(request, form.cleaned_data["note"] or form.outcome, form.stored, form.draft)
        return HttpResponseRedirect(address)

    def _many_form(self, request: HttpRequest, edit: str, *args: Any, **kwargs: Any) -> many.ManyForm:
        if edit == "tags":
            kwargs["may_add_tags"] = request.user.has_perm("sezzlee_mcp.add_tag")
        return many.FORMS[edit](*args, **kwargs)

    def _many_page(self, request: HttpRequest, edit: str, form: many.ManyForm) -> HttpResponse:
        is_sound = form.is_bound and form.is_valid()
        context = {
            "title": form.title,
            "address": f"many_{edit}",
            "form": form,
            "fields": [field for field in form.visible_fields() if field.name != "note"],
            "number": len(form.cleaned_data["operations"]) if is_sound else None,
            "is_sound": is_sound,
            "is_outdated": is_sound and PREVIEW not in request.POST and bool(form.cleaned_data["seen"]),
            "preview": self._preview_of(request, form) if form.draft else "",
            "publishes": waiting.publishes(request),
        }
        return rendered(self, request, "operation/many.html", context)

    def _preview_of(self, request: HttpRequest, form: many.ManyForm) -> SafeString:
        """Each value as it is and as it would be, and what agents meet of it."""
        shown = {"edits": form.edits[:EDITS_SHOWN], "left_out": max(0, len(form.edits) - EDITS_SHOWN)}
        values = render_to_string("admin/sezzlee_mcp/operation/edits.html", shown)
        site, publishes = self.admin_site.name, waiting.publishes(request)
        return previews.rendered(
            cast(Draft, form.draft), site=site, publishes=publishes, waits=waiting.of(form.stored), beside=values
        )


def _row(operation: Operation) -> Row:
    row: Row = vars(operation)["row"]
    return row


def _with_rows(operations: Iterable[Operation], request: HttpRequest) -> list[Operation]:
    """A page of the list, each operation with its ``Row``."""
    page = list(operations)
    fields = origins.resolved(page, publishing.read_choices(page))
    names, severities = filters.published_names(request), _severities(page)
    for operation in page:
        vars(operation)["row"] = Row(
            fields=fields[operation.key],
            published_name=names.get(operation.key),
            severities=severities.get(operation.pk, Counter()),
        )
    return page


def _severities(page: Sequence[Operation]) -> dict[int, Counter[str]]:
    found = Diagnostic.objects.filter(operation__in=page).order_by().values_list("operation", "severity")
    severities: dict[int, Counter[str]] = {}
    for operation, severity, number in found.annotate(number=Count("pk")):
        severities.setdefault(operation, Counter())[severity] = number
    return severities
