"""Where the curated values of an operation come from, and what they would be without staff (curation.md)."""

from collections.abc import Iterable, Mapping, Sequence

from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from sezzlee_mcp import publishing
from sezzlee_mcp.catalog.resolution import Resolved, resolve
from sezzlee_mcp.catalog.sources import Source, Value
from sezzlee_mcp.models import Operation, ToolContent

SOURCES: Mapping[Source, Promise] = {
    Source.STAFF: gettext_lazy("staff"),
    Source.CODE: gettext_lazy("code"),
    Source.CONTAINER: gettext_lazy("container"),
    Source.RULE: gettext_lazy("rule"),
    Source.PUBLISHED: gettext_lazy("published revision"),
    Source.DOCUMENT: gettext_lazy("document"),
    Source.DEFAULT: gettext_lazy("default"),
}

# Form field -> the resolved field whose origin stands beside it.
RESOLVED_FIELDS: Mapping[str, str] = {
    "exposure": "exposed",
    "name": "name",
    "title": "title",
    "description": "description",
    "tags": "tags",
    "search_terms": "search_terms",
}


def published_names(operations: Iterable[Operation]) -> dict[str, str]:
    """The names of an operation's tools in the current revision, by its key; none for what is no tool of its own."""
    keys = [operation.key for operation in operations]
    contents = ToolContent.objects.filter(left_generation=None, operation_key__in=keys).order_by("name")
    names: dict[str, list[str]] = {}
    for key, name in contents.values_list("operation_key", "name"):
        names.setdefault(key, []).append(name)
    return {key: ", ".join(of_operation) for key, of_operation in names.items()}


def resolved(operations: Sequence[Operation]) -> dict[str, Resolved]:
    """What the curated fields of each operation come to, by key."""
    curation = publishing.read_curation(operations)
    return {operation.key: resolve(operation.to_descriptor(), curation) for operation in operations}


def of(operation: Operation) -> Resolved:
    """What the curated fields of one operation come to."""
    return resolved([operation])[operation.key]


def origin(value: Value[object]) -> SafeString:
    """The source of a value and the value beneath, as they stand below its form field."""
    return format_html(
        '<div class="sezzlee-origin"><div>{} <strong>{}</strong></div><div>{} <span>{}</span></div></div>',
        _("Source:"),
        SOURCES[value.source],
        _("Without staff’s choice:"),
        written(value.beneath),
    )


def table(fields: Resolved, labels: Mapping[str, str]) -> SafeString:
    """Every curated value with its source and the value beneath, for those who may only look."""
    rows = [
        (labels[field], written(value.value), SOURCES[value.source], written(value.beneath))
        for field, value in ((field, getattr(fields, name)) for field, name in RESOLVED_FIELDS.items())
    ]
    head = (_("Field"), _("Value"), _("Source"), _("Without staff’s choice"))
    return format_html(
        '<div class="sezzlee-scroll"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>',
        format_html_join("", '<th scope="col">{}</th>', ((title,) for title in head)),
        format_html_join("", '<tr><th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>', rows),
    )


def written(value: object) -> str:
    """A value in the reader's words."""
    if isinstance(value, bool):
        return _("exposed") if value else _("hidden")
    if isinstance(value, tuple):
        return ", ".join(value) or _("none")
    return str(value) or _("none")
