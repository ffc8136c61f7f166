from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from sezzlee_mcp.admin.bases import PublishingAdmin, listed
from sezzlee_mcp.admin.filters import TextFilter
from sezzlee_mcp.admin.forms import SelectionRuleForm, TagForm, VisibilityPolicyForm
from sezzlee_mcp.models import SelectionRule, Tag, VisibilityPolicy


@admin.register(Tag)
class TagAdmin(PublishingAdmin):
    form = TagForm
    list_display = ("name", "operation_count", "described")
    search_fields = ("name", "folded", "description")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tag]:
        tags: QuerySet[Tag] = super().get_queryset(request)
        return tags.annotate(operation_count=Count("operations"))

    @admin.display(description=_("operations"), ordering="operation_count")
    def operation_count(self, tag: Tag) -> int:
        count: int = vars(tag)["operation_count"]
        return count

    @admin.display(description=_("description"), ordering="description")
    def described(self, tag: Tag) -> str:
        return listed(tag.description)


@admin.register(SelectionRule)
class SelectionRuleAdmin(PublishingAdmin):
    form = SelectionRuleForm
    list_display = ("decision", "method", "route", "note")
    list_display_links = ("decision", "route")
    list_filter = ("decision", ("method", TextFilter))
    search_fields = ("route", "note")


@admin.register(VisibilityPolicy)
class VisibilityPolicyAdmin(PublishingAdmin):
    form = VisibilityPolicyForm
    list_display = ("name", "rule", "subject", "targets")
    list_filter = ("rule",)
    search_fields = ("name", "subject")
    autocomplete_fields = ("operations",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[VisibilityPolicy]:
        policies: QuerySet[VisibilityPolicy] = (
            super().get_queryset(request).annotate(operation_count=Count("operations"))
        )
        return policies

    @admin.display(description=_("concerns"))
    def targets(self, policy: VisibilityPolicy) -> str:
        count: int = vars(policy)["operation_count"]
        operations = ngettext("%d operation", "%d operations", count) % count if count else ""
        return ", ".join(filter(None, (operations, *policy.tags, *policy.routes)))
