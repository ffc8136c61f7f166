from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.admin.bases import ReadOnlyAdmin
from sezzlee_mcp.models import ToolUse, VainWord


@admin.register(ToolUse)
class ToolUseAdmin(ReadOnlyAdmin):
    """Counts that processes add up on their own, up to USE_FLUSH_SECONDS late."""

    list_display = ("day", "tool", "outcome", "alias", "former_name", "calls", "mean_milliseconds")
    list_filter = ("day", "outcome")
    search_fields = ("tool", "alias", "former_name")
    date_hierarchy = "day"

    @admin.display(description=_("milliseconds per call"))
    def mean_milliseconds(self, use: ToolUse) -> int:
        return round(use.milliseconds / use.calls) if use.calls else 0


@admin.register(VainWord)
class VainWordAdmin(ReadOnlyAdmin):
    """Words that processes count on their own; staff can delete one that should not have been kept."""

    list_display = ("day", "word", "unanswered", "unfollowed")
    list_filter = ("day",)
    search_fields = ("word",)
    date_hierarchy = "day"

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super(ReadOnlyAdmin, self).has_delete_permission(request, obj)
