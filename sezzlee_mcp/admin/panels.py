"""The read-only parts of an operation's page: what agents read of it, or where it is lost on its way to them."""

import json
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from sezzlee_mcp.admin import origins
from sezzlee_mcp.explanations import Outcome, Stage, explain_row
from sezzlee_mcp.models import Diagnostic, Operation, ToolContent, Variant
from sezzlee_mcp.search.cards import detail, estimated_tokens

# The steps up to what is asked of callers; the later ones are about one caller, and a page is about none.
STAGES: Mapping[Stage, Promise] = {
    Stage.DOCUMENT: gettext_lazy("document"),
    Stage.SELECTION: gettext_lazy("selection"),
    Stage.COMPILE: gettext_lazy("compile"),
    Stage.PUBLISH: gettext_lazy("publish"),
    Stage.FACTS: gettext_lazy("auth facts"),
}
OUTCOMES: Mapping[Outcome, Promise] = {
    Outcome.PASSED: gettext_lazy("passed"),
    Outcome.LOST: gettext_lazy("lost"),
    Outcome.PENDING: gettext_lazy("pending"),
}


def explanation(operation: Operation) -> SafeString:
    """The operation's way from the document to agents, up to what is asked of each of them."""
    steps = [
        {
            "stage": STAGES[step.stage],
            "outcome": OUTCOMES[step.outcome],
            "style": f"sezzlee-{step.outcome}",
            "detail": step.detail,
            "findings": [(Diagnostic.Level(each.severity).label, each.code, each.message) for each in step.findings],
            "advice": step.advice,
        }
        for step in explain_row(operation.key, operation, origins.curation_of(operation)).steps
    ]
    return render_to_string("admin/sezzlee_mcp/operation/explanation.html", {"steps": steps})


def published_tool(operation: Operation) -> SafeString | str:
    """The card and the loaded shape of each tool that the current revision holds; also whether those are held."""
    return _published(ToolContent.objects.filter(operation_key=operation.key), operation.held_generation)


def published_variant(variant: Variant) -> SafeString | str:
    """The same of one variant."""
    contents = ToolContent.objects.filter(operation_key=variant.operation.key, name=variant.name)
    return _published(contents, variant.operation.held_generation)


def diagnostics_list(operation: Operation) -> SafeString | str:
    found = [(each.get_severity_display(), each.code, each.message) for each in operation.diagnostics.all()]
    rows = format_html_join("", "<li><strong>{}</strong> <code>{}</code> {}</li>", found)
    return format_html('<ul class="sezzlee-list" tabindex="0">{}</ul>', rows) if found else _("none")


def _published(contents: QuerySet[ToolContent], held: int | None) -> SafeString | str:
    tools = [_shown(content) for content in contents.filter(left_generation=None).order_by("name")]
    if not tools and held is None:
        return _("none")
    return render_to_string("admin/sezzlee_mcp/operation/published.html", {"tools": tools, "held": held})


def _shown(content: ToolContent) -> dict[str, Any]:
    loaded = detail(content.loaded)
    return {
        "name": content.name,
        "card": _pretty(content.card),
        "loaded": _pretty(loaded),
        "size_bytes": content.loaded_bytes,
        "tokens": estimated_tokens(content.loaded_bytes),
    }


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
