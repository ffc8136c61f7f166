from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.admin.bases import ReadOnlyAdmin
from sezzlee_mcp.models import Diagnostic


@admin.register(Diagnostic)
class DiagnosticAdmin(ReadOnlyAdmin):
    list_display = ("code", "severity", "where", "message", "stage")
    list_filter = ("severity", "stage", "code")
    search_fields = ("code", "key", "message")
    fields = ("code", "severity", "stage", "where", "message", "pointer")
    readonly_fields = ("where",)

    @admin.display(description=_("operation"), ordering="key")
    def where(self, diagnostic: Diagnostic) -> str:
        if diagnostic.operation_id is None:
            return diagnostic.key
        url = reverse(f"{self.admin_site.name}:sezzlee_mcp_operation_change", args=[diagnostic.operation_id])
        return format_html('<a href="{}">{}</a>', url, diagnostic.key)
