"""What the list of operations can be narrowed by, beside plain columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp import survey
from sezzlee_mcp.folding import fold
from sezzlee_mcp.models import Diagnostic, Operation, ToolContent
from sezzlee_mcp.search.descriptions import Fault

FAULTS: Mapping[Fault, Promise] = {
    Fault.MISSING: _("missing"),
    Fault.LISTING: _("speaks of a list, but the tool writes"),
    Fault.SIBLING: _("equal to another method’s or route’s of its resource"),
    Fault.SHORT: _("too short"),
    Fault.REPEATED: _("equal to another tool’s"),
    Fault.UNNAMED: _("does not name its resource"),
    Fault.LEAKING: _("says a hidden or renamed argument"),
    Fault.CLIPPED: _("longer than its card"),
}
ADVICE: Mapping[Fault, Promise] = {
    Fault.MISSING: _("Write one: say what it does, to what, and when to use it."),
    Fault.LISTING: _("Say what it creates, changes or deletes."),
    Fault.SIBLING: _("Say what this method or route does that the others do not."),
    Fault.SHORT: _("Say more than the name says."),
    Fault.REPEATED: _("Say what sets each of them apart."),
    Fault.UNNAMED: _("Say what the things are called that it is about; an agent searches for them."),
    Fault.LEAKING: _("Say the name that agents know, or nothing of it."),
    Fault.CLIPPED: _("Say first what agents choose by; search shows 160 characters."),
}
HEAVY_TOKENS = (1_000, 4_000, 16_000)

T = TypeVar("T")
Lookups = Iterable[tuple[str, Any]]
Operations = QuerySet[Operation]


class ChosenExposureFilter(admin.ChoicesFieldListFilter):
    """By what staff chose; what comes of it, together with the rules, is the column."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("staff’s exposure")


class TextFilter(admin.AllValuesFieldListFilter):
    """By the values that a text has; the empty one would be a link without a word."""

    def choices(self, changelist: Any) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or self.empty_value_display}


class OwnFilter(admin.SimpleListFilter):
    def get_facet_counts(self, pk_attname: str, filtered_qs: Any) -> dict[str, Any]:
        """The usual counts. What else narrows the list need not stand in each, since they are taken of that list."""
        return super().get_facet_counts(pk_attname, Operation.objects.order_by())


class PublishedFilter(OwnFilter):
    title = _("published")
    parameter_name = "published"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        return [("yes", _("a tool")), ("no", _("no tool"))]

    def queryset(self, request: HttpRequest, queryset: Operations) -> Operations:
        keys = ToolContent.objects.filter(left_generation=None).values("operation_key")
        if self.value() == "yes":
            return queryset.filter(key__in=keys)
        return queryset.exclude(key__in=keys) if self.value() == "no" else queryset


class SelectedFilter(OwnFilter):
    """By what the rules and staff came to at the last publish."""

    title = _("selection")
    parameter_name = "selected"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        return [("yes", _("selected")), ("no", _("not selected"))]

    def queryset(self, request: HttpRequest, queryset: Operations) -> Operations:
        value = self.value()
        if value is None:
            return queryset
        keys = _once(request, survey.selected_operations, _once(request, survey.listed_tools))
        return queryset.filter(key__in=keys) if value == "yes" else queryset.exclude(key__in=keys)


class SurveyFilter(OwnFilter):
    """By what the survey says of the operation's published tools."""

    def queryset(self, request: HttpRequest, queryset: Operations) -> Operations:
        value = self.value()
        if value is None:
            return queryset
        tools = [tool for tool in _once(request, survey.published_tools) if self.holds(request, tool, value)]
        return queryset.filter(key__in=survey.operations_of(tools))

    def holds(self, request: HttpRequest, tool: survey.SurveyedTool, value: str) -> bool:
        raise NotImplementedError


class DescriptionFilter(SurveyFilter):
    title = _("description")
    parameter_name = "description"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        return [(fault.value, label) for fault, label in FAULTS.items()]

    def holds(self, request: HttpRequest, tool: survey.SurveyedTool, value: str) -> bool:
        return value in tool.faults


class AbbreviationFilter(SurveyFilter):
    title = _("unexplained abbreviation")
    parameter_name = "abbreviation"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        tools = _once(request, survey.published_tools)
        return [(word, word) for word in sorted({word for tool in tools for word in tool.abbreviations})]

    def holds(self, request: HttpRequest, tool: survey.SurveyedTool, value: str) -> bool:
        return value in tool.abbreviations


class TokensFilter(SurveyFilter):
    title = _("tokens that loading costs, estimated")
    parameter_name = "tokens"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        return [(str(number), _("over %(number)d") % {"number": number}) for number in HEAVY_TOKENS]

    def holds(self, request: HttpRequest, tool: survey.SurveyedTool, value: str) -> bool:
        return value in map(str, HEAVY_TOKENS) and tool.tokens > int(value)


class MarkFilter(SurveyFilter):
    title = _("mark for agents")
    parameter_name = "mark"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        return [("deprecated", _("deprecated")), ("undecided", _("undecided"))]

    def holds(self, request: HttpRequest, tool: survey.SurveyedTool, value: str) -> bool:
        return tool.is_deprecated if value == "deprecated" else value == "undecided" and tool.is_undecided


class CallsFilter(SurveyFilter):
    title = _("calls")
    parameter_name = "calls"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        return [("some", _("called")), ("failed", _("failed at least once")), ("none", _("never called"))]

    def holds(self, request: HttpRequest, tool: survey.SurveyedTool, value: str) -> bool:
        used = _once(request, survey.uses).get(tool.name, survey.Uses())
        return {"some": used.calls > 0, "failed": used.failures > 0, "none": not used.calls}.get(value, False)


class TagFilter(OwnFilter):
    """By the tags in effect, wherever they come from; two spellings that fold alike are one tag."""

    title = _("tag")
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        self._operations: dict[str, list[int]] = {}
        labels: dict[str, str] = {}
        for pk, tags in _once(request, _tags_in_effect, _once(request, survey.listed_tools)):
            for tag in tags:
                labels.setdefault(fold(tag), tag)
                self._operations.setdefault(fold(tag), []).append(pk)
        return sorted(labels.items())

    def queryset(self, request: HttpRequest, queryset: Operations) -> Operations:
        value = self.value()
        return queryset if value is None else queryset.filter(pk__in=self._operations.get(value, []))


class DiagnosticsFilter(OwnFilter):
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


class AbsentFilter(OwnFilter):
    title = _("presence in the document")
    parameter_name = "absent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Lookups:
        return [("no", _("present")), ("yes", _("absent"))]

    def queryset(self, request: HttpRequest, queryset: Operations) -> Operations:
        value = self.value()
        return queryset if value is None else queryset.filter(absent_since__isnull=value == "no")


def published_names(request: HttpRequest) -> dict[str, str]:
    """The names of an operation's tools in the current revision, by its key; none for what is no tool of its own."""
    names: dict[str, list[str]] = {}
    for tool in _once(request, survey.listed_tools):
        names.setdefault(tool.operation, []).append(tool.name)
    return {key: ", ".join(of_operation) for key, of_operation in names.items()}


def _once(request: HttpRequest, read: Callable[..., T], *of: Any) -> T:
    """What ``read`` gives, asked once a request: where facets are counted, each makes all filters anew."""
    kept = vars(request).setdefault("_sezzlee_read", {})
    if read not in kept:
        kept[read] = read(*of)
    found: T = kept[read]
    return found


def _tags_in_effect(tools: Iterable[survey.ListedTool]) -> list[tuple[int, list[str]]]:
    """
    (primary key, tags) of every operation: what agents filter its tool by.

    What is no tool has the tags that staff chose, else its container: reading every descriptor would cost too much.
    """
    published = {tool.operation: tool.tags for tool in tools}
    chosen: dict[int, list[str]] = {}
    for pk, name in Operation.objects.filter(overrides_tags=True).values_list("pk", "tags__name"):
        chosen.setdefault(pk, []).extend([] if name is None else [name])
    return [
        (pk, published.get(key, chosen.get(pk, [container] if container else [])))
        for pk, key, container in Operation.objects.order_by("pk").values_list("pk", "key", "container")
    ]
