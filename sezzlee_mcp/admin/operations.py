from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.utils import label_for_field
from django.contrib.admin.views.main import ChangeList
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from sezzlee_mcp.admin import candidates, filters, origins, panels
from sezzlee_mcp.admin.bases import PublishingAdmin
from sezzlee_mcp.admin.forms import OperationForm
from sezzlee_mcp.catalog.resolution import Resolved
from sezzlee_mcp.catalog.sources import Source
from sezzlee_mcp.diagnostics import Diagnostic as Finding
from sezzlee_mcp.models import Catalog, Diagnostic, Operation, ToolContent
from sezzlee_mcp.publishing import Draft

LOSSES_SHOWN = 10

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
        page: list[Operation] = list(self.result_list)
        fields, names, severities = origins.resolved(page), origins.published_names(page), _severities(page)
        for operation in page:
            vars(operation)["row"] = Row(
                fields=fields[operation.key],
                published_name=names.get(operation.key),
                severities=severities.get(operation.pk, Counter()),
            )
        self.result_list = page


@admin.register(Operation)
class OperationAdmin(PublishingAdmin):
    """Nobody adds or deletes an operation: a sync adds what the document holds and marks absent what it lost."""

    form = OperationForm
    list_display = ("tool", "exposed", "source", "method", "route", "findings", "tags_in_effect")
    list_display_links = ("tool",)
    list_filter = (
        ("exposure", filters.ChosenExposureFilter),
        filters.PublishedFilter,
        filters.TagFilter,
        "method",
        filters.DiagnosticsFilter,
        filters.AbsentFilter,
    )
    search_fields = ("key", "operation_id", "name", "description", "container")
    search_help_text = gettext_lazy("Tool name, method, route, operation id, description or container")
    actions = ("expose", "hide", "inherit")
    filter_horizontal = ("tags",)
    readonly_fields = (*_FACTS, "published", "diagnostics_found", "values")

    class Media:
        css = {"all": ["sezzlee_mcp/admin.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Operation | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Operation]:
        return super().get_queryset(request).prefetch_related("tags")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return OperationChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Operation], search_term: str
    ) -> tuple[QuerySet[Operation], bool]:
        """Also by the published name, since that is what an agent reports."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if not search_term:
            return found, may_repeat
        named = ToolContent.objects.filter(left_generation=None, name__icontains=search_term.strip())
        return found | queryset.filter(key__in=named.values("operation_key")), may_repeat

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        catalog = Catalog.objects.filter(pk=Catalog.ONLY).first()
        return super().changelist_view(request, {**(extra_context or {}), "catalog": catalog})

    def get_fieldsets(self, request: HttpRequest, obj: Operation | None = None) -> Any:
        choices = (*OperationForm.Meta.fields, "note") if self.has_change_permission(request, obj) else ("values",)
        return (
            (None, {"fields": choices}),
            (_("What agents read"), {"fields": ("published", "diagnostics_found")}),
            (_("Facts"), {"fields": _FACTS}),
        )

    def revision_note(self, form: Any) -> str:
        note: str = form.cleaned_data["note"]
        return note

    def saved_draft(self, form: Any) -> Draft | None:
        draft: Draft = form.draft
        return draft

    def save_model(self, request: HttpRequest, obj: Operation, form: Any, change: bool) -> None:
        obj.save(update_fields=[name for name in OperationForm.Meta.fields if name != "tags"])

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
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

    @admin.display(description=gettext_lazy("published tool"))
    def published(self, operation: Operation) -> SafeString:
        return panels.published_tool(operation)

    @admin.display(description=gettext_lazy("diagnostics"))
    def diagnostics_found(self, operation: Operation) -> SafeString | str:
        return panels.diagnostics_list(operation)

    @admin.action(permissions=["change"], description=gettext_lazy("Expose the selected operations"))
    def expose(self, request: HttpRequest, queryset: QuerySet[Operation]) -> None:
        self._set_exposure(request, queryset, Operation.Exposure.INCLUDE)

    @admin.action(permissions=["change"], description=gettext_lazy("Hide the selected operations"))
    def hide(self, request: HttpRequest, queryset: QuerySet[Operation]) -> None:
        self._set_exposure(request, queryset, Operation.Exposure.EXCLUDE)

    @admin.action(permissions=["change"], description=gettext_lazy("Let the rules decide on the selected operations"))
    def inherit(self, request: HttpRequest, queryset: QuerySet[Operation]) -> None:
        self._set_exposure(request, queryset, Operation.Exposure.INHERIT)

    def _set_exposure(self, request: HttpRequest, queryset: QuerySet[Operation], exposure: Operation.Exposure) -> None:
        with transaction.atomic():
            Catalog.objects.lock()
            operations = list(queryset)
            for operation in operations:
                operation.exposure = exposure
            draft = candidates.draft_of_operations(operations)
            if losses := candidates.new_losses(draft, [operation.key for operation in operations]):
                self.message_user(request, _refusal(losses), messages.ERROR)
                return
            Operation.objects.bulk_update(operations, ["exposure"], batch_size=200)
            said = _counted(len(operations), exposure)
            changed = [{"changed": {"fields": ["Exposure"]}}]  # the history translates it when it shows it
            LogEntry.objects.log_actions(request.user.pk, operations, CHANGE, changed)  # type: ignore[arg-type]
            self.message_user(request, said)
            self.publish(request, said, draft)


def _row(operation: Operation) -> Row:
    row: Row = vars(operation)["row"]
    return row


def _severities(page: Sequence[Operation]) -> dict[int, Counter[str]]:
    found = Diagnostic.objects.filter(operation__in=page).order_by().values_list("operation", "severity")
    severities: dict[int, Counter[str]] = {}
    for operation, severity, number in found.annotate(number=Count("pk")):
        severities.setdefault(operation, Counter())[severity] = number
    return severities


def _counted(number: int, exposure: Operation.Exposure) -> str:
    text = ngettext("%(number)d operation: %(exposure)s.", "%(number)d operations: %(exposure)s.", number)
    return text % {"number": number, "exposure": exposure.label}


def _refusal(losses: Sequence[Finding]) -> str:
    shown = " ".join(f"{loss.operation}: {loss.message}" for loss in losses[:LOSSES_SHOWN])
    text = ngettext(
        "Nothing was saved, since %(number)d operation would be no tool. %(losses)s",
        "Nothing was saved, since %(number)d operations would be no tools. %(losses)s",
        len(losses),
    )
    return text % {"number": len(losses), "losses": shown}
