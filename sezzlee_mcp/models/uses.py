from django.db import models
from django.utils.translation import gettext_lazy as _


class ToolUse(models.Model):
    """
    How often a tool was invoked on one day (UTC) with one outcome.

    ``alias`` and ``former_name`` are empty for the calls themselves. A row with one counts the calls among them that
    used an older name of an argument, or of the tool, so that staff see when nobody needs it any more.
    """

    day = models.DateField(_("day"), editable=False)
    tool = models.CharField(_("tool"), max_length=256, editable=False)
    outcome = models.CharField(_("outcome"), max_length=40, editable=False)
    alias = models.CharField(_("older name of an argument"), max_length=256, blank=True, editable=False)
    former_name = models.CharField(_("older name of the tool"), max_length=256, blank=True, editable=False)
    calls = models.PositiveIntegerField(_("calls"), default=0, editable=False)
    milliseconds = models.PositiveBigIntegerField(_("milliseconds"), default=0, editable=False)

    class Meta:
        verbose_name = _("tool use")
        verbose_name_plural = _("tool uses")
        ordering = ["-day", "tool", "outcome", "alias", "former_name"]
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                fields=["day", "tool", "outcome", "alias", "former_name"], name="sezzlee_use_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.day} {self.outcome}"
