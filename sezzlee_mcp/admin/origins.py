"""Where the curated values of an operation come from, and what they would be without staff (curation.md)."""

from collections.abc import Iterable, Mapping

from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from sezzlee_mcp import conf, publishing
from sezzlee_mcp.catalog.curation import Curation
from sezzlee_mcp.catalog.markers import read_markers
from sezzlee_mcp.catalog.resolution import Resolved, resolve
from sezzlee_mcp.catalog.seals import sealed
from sezzlee_mcp.catalog.sources import Source, Value, overlaid
from sezzlee_mcp.models import Operation
from sezzlee_mcp.models.hints import HINTS

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
    "family_parameter": "family_parameter",
}


# Form field -> what a seal on it is called.
SEALED_FIELDS: Mapping[str, tuple[str, ...]] = {
    "exposure": ("expose",),
    "name": ("name",),
    "title": ("title",),
    "description": ("description",),
    "overrides_tags": ("tags",),
    "tags": ("tags",),
    "overrides_search_terms": ("search_terms",),
    "search_terms": ("search_terms",),
    "family_parameter": ("family_parameter",),
    **{field: ("annotations", hint) for field, hint in HINTS.items()},
}


def resolved(operations: Iterable[Operation], curation: Curation) -> dict[str, Resolved]:
    """What the curated fields of each operation come to, by key."""
    return {operation.key: resolve(operation.to_outline(), curation) for operation in operations}


def curation_of(operation: Operation) -> Curation:
    """What is said of one operation, by its rows, the rules and the settings; read once for all parts of its page."""
    if "curation" not in vars(operation):
        keep(operation, publishing.read_curation([operation]))
    curation: Curation = vars(operation)["curation"]
    return curation


def keep(operation: Operation, curation: Curation) -> None:
    """Let the parts of an operation's page take what is said of it from there."""
    vars(operation)["curation"] = curation


def of(operation: Operation) -> Resolved:
    """What the curated fields of one operation come to."""
    return resolve(operation.to_outline(), curation_of(operation))


def sealed_on(operation: Operation) -> frozenset[str]:
    """What staff cannot choose for an operation; asks the database nothing."""
    return sealed(operation.to_descriptor(), Curation(sealed=frozenset(conf.current().sealed)))


def hints(operation: Operation, fields: Resolved) -> dict[str, Value[object]]:
    """Each behaviour hint by its form field, in the reader's words."""
    marked = read_markers(operation.to_outline()).annotations
    found: dict[str, Value[object]] = {}
    for field, name in HINTS.items():
        is_sealed = not fields.sealed.isdisjoint({"annotations", name})
        beneath, chosen = fields.annotations.beneath.get(name), None if is_sealed else operation.hints.get(name)
        source = Source.CODE if name in marked else Source.DEFAULT if beneath is None else Source.RULE
        found[field] = overlaid(None if chosen is None else _yes_or_no(chosen), _yes_or_no(beneath), source)
    return found


def _yes_or_no(hint: bool | None) -> str:
    return _("not said") if hint is None else _("yes") if hint else _("no")


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
