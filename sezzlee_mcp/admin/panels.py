"""The read-only parts of an operation's page: what agents read of it, or why they read nothing."""

import json
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from sezzlee_mcp.admin import origins
from sezzlee_mcp.models import Diagnostic, Operation, ToolContent
from sezzlee_mcp.search.cards import detail


def published_tool(operation: Operation) -> SafeString:
    """The card and the loaded shape of each tool that the current revision holds, or why it holds none."""
    contents = ToolContent.objects.filter(left_generation=None, operation_key=operation.key).order_by("name")
    tools = [_shown(content) for content in contents]
    context = {"tools": tools, "reason": "" if tools else _reason(operation)}
    return render_to_string("admin/sezzlee_mcp/operation/published.html", context)


def diagnostics_list(operation: Operation) -> SafeString | str:
    found = [(each.get_severity_display(), each.code, each.message) for each in operation.diagnostics.all()]
    rows = format_html_join("", "<li><strong>{}</strong> <code>{}</code> {}</li>", found)
    return format_html('<ul class="sezzlee-list">{}</ul>', rows) if found else _("none")


def _shown(content: ToolContent) -> dict[str, Any]:
    loaded = detail(content.loaded)
    return {"name": content.name, "card": _pretty(content.card), "loaded": _pretty(loaded)}


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _reason(operation: Operation) -> str:
    if operation.is_absent:
        return _("No tool: the operation is absent from the document. Your choices are kept for its return.")
    exposed = origins.of(operation).exposed
    if not exposed.value:
        return _("Not exposed. Source: %(source)s.") % {"source": origins.SOURCES[exposed.source]}
    dropped = operation.diagnostics.filter(severity=Diagnostic.Level.DROPPED).values_list("message", flat=True)
    if dropped:
        return _("Dropped: %(reasons)s") % {"reasons": " ".join(dropped)}
    return _("No tool of its own: it is a further route of another tool, or exposed by a setting since the last sync.")
