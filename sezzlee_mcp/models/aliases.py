from django.db import models
from django.db.models import Max, Q, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.models.operations import NAME_CHARS, Operation
from sezzlee_mcp.models.revisions import ToolContent
from sezzlee_mcp.models.uses import ToolUse


class ToolAliasQuerySet(models.QuerySet["ToolAlias"]):
    def with_uses(self) -> "ToolAliasQuerySet":
        """
        With ``uses``, the calls that named the tool by it, and ``last_used``, the day of the last or None.

        Both as far as calls are counted and kept.
        """
        calls = ToolUse.objects.filter(former_name=models.OuterRef("name")).order_by().values("former_name")
        uses = models.Subquery(calls.annotate(sum=Sum("calls")).values("sum"))
        last_used = models.Subquery(calls.annotate(last=Max("day")).values("last"))
        return self.annotate(uses=Coalesce(uses, 0), last_used=last_used)

    def with_presence(self) -> "ToolAliasQuerySet":
        """With ``leads_to_a_tool``: whether the tool is one that agents reach now."""
        current = ToolContent.objects.filter(left_generation=None, name=models.OuterRef("tool"))
        return self.annotate(leads_to_a_tool=models.Exists(current))


class ToolAlias(models.Model):
    """
    The old name of a renamed tool, under which agents reach it until the end of a day (UTC).

    A publish writes it, and makes it follow when the tool is renamed again. ``tool`` is the name that it leads to.
    """

    name = models.CharField(_("old name"), max_length=NAME_CHARS, unique=True, editable=False)
    tool = models.CharField(_("tool"), max_length=NAME_CHARS, editable=False)
    operation = models.ForeignKey(
        Operation, verbose_name=_("operation"), on_delete=models.CASCADE, related_name="aliases", editable=False
    )
    created_at = models.DateTimeField(_("renamed at"), auto_now_add=True)
    until = models.DateField(_("until"))

    objects = ToolAliasQuerySet.as_manager()

    class Meta:
        verbose_name = _("tool alias")
        verbose_name_plural = _("tool aliases")
        ordering = ["until", "name"]
        default_permissions = ("view", "change", "delete")  # a publish adds them
        constraints = [
            models.CheckConstraint(condition=~Q(name=models.F("tool")), name="sezzlee_alias_is_no_tool"),
        ]

    def __str__(self) -> str:
        return f"{self.name} → {self.tool}"
