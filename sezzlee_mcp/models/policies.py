from django.db import models
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.catalog import curation


class SelectionRule(models.Model):
    """A glob over routes, a method, or both, and whether what they match is exposed."""

    class Decision(models.TextChoices):
        INCLUDE = "include", _("include")
        EXCLUDE = "exclude", _("exclude")

    route = models.CharField(
        _("route"),
        max_length=490,
        blank=True,
        help_text=_("A glob: * matches inside a path segment, ** across segments. Empty matches every route."),
    )
    method = models.CharField(_("method"), max_length=10, blank=True, help_text=_("Empty matches every method."))
    decision = models.CharField(_("decision"), max_length=7, choices=Decision.choices)
    note = models.CharField(_("note"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("selection rule")
        verbose_name_plural = _("selection rules")
        ordering = ["route", "method", "decision"]
        constraints = [
            models.UniqueConstraint(
                fields=["route", "method", "decision"],
                name="sezzlee_rule_unique",
                violation_error_message=_("There is already a rule that says exactly this."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.decision} {self.method or '*'} {self.route or '**'}"

    def to_rule(self) -> curation.SelectionRule:
        return curation.SelectionRule(
            include=self.decision == self.Decision.INCLUDE, route=self.route or None, method=self.method or None
        )
