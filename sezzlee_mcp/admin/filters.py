"""What the list of operations can be narrowed by, beside plain columns."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.folding import fold
from sezzlee_mcp.models import Diagnostic, Operation, ToolContent

Lookups = Iterable[tuple[str, Any]]
Operations = QuerySet[Operation]


class ChosenExposureFilter(admin.ChoicesFieldListFilter):
    """By what staff chose; what comes of it, together with the rules, is the column."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("staff’s exposure")


class PublishedFilter(admin.SimpleListFilter):
    title = _("published")
    parameter_name = "published"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        return [("yes", _("a tool")), ("no", _("no tool"))]

    def queryset(self, request: HttpRequest, queryset: Operations) -> Operations:
        keys = ToolContent.objects.filter(left_generation=None).values("operation_key")
        if self.value() == "yes":
            return queryset.filter(key__in=keys)
        return queryset.exclude(key__in=keys) if self.value() == "no" else queryset


class TagFilter(admin.SimpleListFilter):
    """By the tags in effect, wherever they come from; two spellings that fold alike are one tag."""

    title = _("tag")
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        self._operations: dict[str, list[int]] = {}
        labels: dict[str, str] = {}
        for pk, tags in _tags_in_effect():
            for tag in tags:
                labels.setdefault(fold(tag), tag)
                self._operations.setdefault(fold(tag), []).append(pk)
        return sorted(labels.items())

    def queryset(self, request: HttpRequest, queryset: Operations) -> Operations:
        value = self.value()
        return queryset if value is None else queryset.filter(pk__in=self._operations.get(value, []))


class DiagnosticsFilter(admin.SimpleListFilter):
    title = _("diagnostics")
    parameter_name = "diagnostics"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        return [
            (Diagnostic.Level.DROPPED.value, _("dropped")),
            (Diagnostic.Level.WARNING.value, _("warning")),
            ("none", _("none")),
        ]

    def queryset(self, request: HttpRequest, queryset: Operations) -> Operations:
        value = self.value()
        if value is None:
            return queryset
        found = Diagnostic.objects.exclude(operation=None).values("operation")
        return (
            queryset.exclude(pk__in=found) if value == "none" else queryset.filter(pk__in=found.filter(severity=value))
        )


class AbsentFilter(admin.SimpleListFilter):
    title = _("presence in the document")
    parameter_name = "absent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        return [("no", _("present")), ("yes", _("absent"))]

    def queryset(self, request: HttpRequest, queryset: Operations) -> Operations:
        value = self.value()
        return queryset if value is None else queryset.filter(absent_since__isnull=value == "no")


def _tags_in_effect() -> Iterable[tuple[int, list[str]]]:
    """
    (primary key, tags) of every operation: what agents filter its tool by.

    What is no tool has the tags that staff chose, else its container: reading every descriptor would cost too much.
    """
    tools = ToolContent.objects.filter(left_generation=None)
    published: dict[str, list[str]] = dict(tools.values_list("operation_key", "document__tags"))
    chosen: dict[int, list[str]] = {}
    for pk, name in Operation.objects.filter(overrides_tags=True).values_list("pk", "tags__name"):
        chosen.setdefault(pk, []).extend([] if name is None else [name])
    for pk, key, container in Operation.objects.order_by("pk").values_list("pk", "key", "container"):
        yield pk, published.get(key, chosen.get(pk, [container] if container else []))
