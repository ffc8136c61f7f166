from datetime import date

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.admin.bases import PublishingAdmin
from sezzlee_mcp.admin.forms import ToolAliasForm
from sezzlee_mcp.models import ToolAlias


@admin.register(ToolAlias)
class ToolAliasAdmin(PublishingAdmin):
    """A publish writes aliases; staff move the day of their end, or end them now by deleting them."""

    form = ToolAliasForm
    list_display = ("name", "tool", "uses", "last_used", "is_answered", "until", "created_at")
    search_fields = ("name", "tool")
    fields = ("name", "tool", "of_operation", "created_at", "uses", "last_used", "is_answered", "until")
    readonly_fields = ("name", "tool", "of_operation", "created_at", "uses", "last_used", "is_answered")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolAlias]:
        return ToolAlias.objects.with_uses().with_presence().select_related("operation")

    @admin.display(description=_("calls by the old name"), ordering="uses")
    def uses(self, alias: ToolAlias) -> int:
        uses: int = vars(alias)["uses"]
        return uses

    @admin.display(description=_("last used"), ordering="last_used")
    def last_used(self, alias: ToolAlias) -> date | str:
        day: date | None = vars(alias)["last_used"]
        return day or self.get_empty_value_display()

    @admin.display(description=_("its tool is published"), ordering="leads_to_a_tool", boolean=True)
    def is_answered(self, alias: ToolAlias) -> bool:
        leads: bool = vars(alias)["leads_to_a_tool"]
        return leads

    @admin.display(description=_("operation"))
    def of_operation(self, alias: ToolAlias) -> str:
        url = reverse(f"{self.admin_site.name}:sezzlee_mcp_operation_change", args=[alias.operation_id])
        return format_html('<a href="{}">{}</a>', url, alias.operation)
