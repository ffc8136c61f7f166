from collections.abc import Mapping, Sequence

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from sezzlee_mcp.admin.bases import ReadOnlyAdmin, summary
from sezzlee_mcp.models import Operation, Revision, ToolContent


@admin.register(Revision)
class RevisionAdmin(ReadOnlyAdmin):
    """Nobody edits a revision: it is what agents read."""

    list_display = ("generation", "summary", "note", "source", "actor", "published_at", "tool_count")
    list_filter = ("source", "published_at")
    list_select_related = ("actor",)
    search_fields = ("note",)
    fields = ("generation", "published_at", "actor", "source", "note", "tool_count", "added", "removed", "changed")
    readonly_fields = ("tool_count", "added", "removed", "changed")

    class Media:
        css = {"all": ["sezzlee_mcp/admin.css"]}

    @admin.display(description=gettext_lazy("tools"))
    def tool_count(self, revision: Revision) -> int:
        count: int = revision.counts["tools"]
        return count

    @admin.display(description=gettext_lazy("changes"))
    def summary(self, revision: Revision) -> str:
        return summary(revision.counts)

    @admin.display(description=gettext_lazy("tools added"))
    def added(self, revision: Revision) -> SafeString | str:
        return self._listed(revision.changes["added"], _operation_ids(revision, "added"))

    @admin.display(description=gettext_lazy("tools removed"))
    def removed(self, revision: Revision) -> SafeString | str:
        return self._listed(revision.changes["removed"], {})

    @admin.display(description=gettext_lazy("tools changed"))
    def changed(self, revision: Revision) -> SafeString | str:
        return self._listed(revision.changes["changed"], _operation_ids(revision, "changed"))

    def _listed(self, names: Sequence[str], operations: Mapping[str, int]) -> SafeString | str:
        """The names, each a link to its operation where that is still known."""
        items = format_html_join("", "<li>{}</li>", ((self._linked(name, operations.get(name)),) for name in names))
        return format_html('<ul class="sezzlee-list">{}</ul>', items) if names else _("none")

    def _linked(self, name: str, operation: int | None) -> str:
        if operation is None:
            return name
        url = reverse(f"{self.admin_site.name}:sezzlee_mcp_operation_change", args=[operation])
        return format_html('<a href="{}">{}</a>', url, name)


def _operation_ids(revision: Revision, kind: str) -> dict[str, int]:
    digests = [revision.tools[name] for name in revision.changes[kind]]
    keys = dict(ToolContent.objects.filter(digest__in=digests).values_list("name", "operation_key"))
    ids = dict(Operation.objects.filter(key__in=keys.values()).values_list("key", "pk"))
    return {name: ids[key] for name, key in keys.items() if key in ids}
