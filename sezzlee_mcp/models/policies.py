from collections.abc import Iterable

from django.contrib.auth.models import Group, Permission
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.module_loading import import_string
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.catalog import curation
from sezzlee_mcp.catalog.visibility import PolicyKind, asked_by
from sezzlee_mcp.models.fields import validate_texts
from sezzlee_mcp.models.operations import Operation

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "QUERY")


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
        return f"{self.get_decision_display()} {self.method or '*'} {self.route or '**'}"

    def clean(self) -> None:
        if self.method and self.method.upper() not in METHODS:
            raise ValidationError({"method": ValidationError(_("There is no such method."), code="no_method")})

    def to_rule(self) -> curation.SelectionRule:
        return curation.SelectionRule(
            include=self.decision == self.Decision.INCLUDE, route=self.route or None, method=self.method or None
        )


class VisibilityPolicyQuerySet(models.QuerySet["VisibilityPolicy"]):
    def with_operations(self) -> "VisibilityPolicyQuerySet":
        return self.prefetch_related(models.Prefetch("operations", Operation.objects.only("key")))


class VisibilityPolicy(models.Model):
    """
    What a caller must be to see some tools, beside what their views ask for.

    A tool is concerned when one of the targets is its own: its operation, a tag that it carries, a route that it
    serves. ``subject`` is the group's name, the permission or the function that the rule is about.
    """

    class Rule(models.TextChoices):
        AUTHENTICATED = "authenticated", _("is logged in")
        STAFF = PolicyKind.STAFF.value, _("is staff")
        SUPERUSER = PolicyKind.SUPERUSER.value, _("is a superuser")
        GROUP = PolicyKind.GROUP.value, _("is in the group")
        PERMISSION = PolicyKind.PERMISSION.value, _("has the permission")
        CALLABLE = PolicyKind.CALLABLE.value, _("passes the function")

    name = models.CharField(_("name"), max_length=100, unique=True)
    rule = models.CharField(_("rule"), max_length=13, choices=Rule.choices)
    subject = models.CharField(
        _("subject"),
        max_length=255,
        blank=True,
        help_text=_(
            "The name of the group, the permission as app.codename, or the dotted path of a function f(request) that "
            "answers True, False or None. The other rules have none."
        ),
    )
    operations = models.ManyToManyField(
        Operation, verbose_name=_("operations"), blank=True, related_name="visibility_policies"
    )
    tags = models.JSONField(_("tags"), default=list, blank=True, validators=[validate_texts])
    routes = models.JSONField(_("routes"), default=list, blank=True, validators=[validate_texts])

    objects = VisibilityPolicyQuerySet.as_manager()

    class Meta:
        verbose_name = _("visibility policy")
        verbose_name_plural = _("visibility policies")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.rule in self.Rule.values and (fault := self._subject_fault()):
            raise ValidationError({"subject": ValidationError(fault, code="invalid_subject")})

    def _subject_fault(self) -> str | None:
        """Why no rule of this kind can be about the subject; None when one can."""
        match self.rule:
            case self.Rule.GROUP:
                known = Group.objects.filter(name=self.subject).exists()
                return None if known else gettext("There is no group of this name.")
            case self.Rule.PERMISSION:
                app_label, _dot, codename = self.subject.partition(".")
                found = Permission.objects.filter(content_type__app_label=app_label, codename=codename)
                return None if found.exists() else gettext("There is no such permission; write it as app.codename.")
            case self.Rule.CALLABLE:
                return _function_fault(self.subject)
        return gettext("This rule is about nothing; leave the subject empty.") if self.subject else None

    def to_policy(self) -> curation.VisibilityPolicy:
        """The policy as a compile reads it."""
        return self.policy_with(self.operations.all())

    def policy_with(self, operations: Iterable[Operation]) -> curation.VisibilityPolicy:
        """The same with operations that a form has and the database has not yet."""
        kind = None if self.rule == self.Rule.AUTHENTICATED else PolicyKind(self.rule)
        return curation.VisibilityPolicy(
            name=self.name,
            auth=asked_by(kind, self.subject),
            operations=frozenset(operation.key for operation in operations),
            tags=tuple(self.tags),
            routes=tuple(self.routes),
        )


def _function_fault(path: str) -> str | None:
    try:
        function = import_string(path)
    except Exception as error:  # noqa: BLE001  (importing a module runs it, and it may raise anything)
        return gettext("It cannot be imported: %(error)s") % {"error": error}
    return None if callable(function) else gettext("This is no function.")
