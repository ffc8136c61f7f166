from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.catalog import curation
from sezzlee_mcp.catalog.curation import ArgumentRecord, Fill, FillKind
from sezzlee_mcp.models.fields import PackedJSONField, fill_of, validate_texts, validate_writable
from sezzlee_mcp.models.hints import Hinted
from sezzlee_mcp.models.operations import NAME_CHARS, Operation
from sezzlee_mcp.models.row_checks import RowCheck

_CONSTANT, _DEFERRED, _OMIT = (kind.value for kind in FillKind)


class Variant(Hinted):
    """
    One of several tools of an operation, published in place of the operation's own.

    ``key`` and ``body`` are those of a family member: the value of the operation's family parameter, NULL for none,
    and the schema of a body of its own.
    """

    operation = models.ForeignKey(
        Operation, verbose_name=_("operation"), on_delete=models.CASCADE, related_name="variants"
    )
    name = models.CharField(_("name"), max_length=NAME_CHARS)
    description = models.TextField(_("description"))
    key = PackedJSONField(_("family key"), null=True, blank=True, editable=True, validators=[validate_writable])
    body = PackedJSONField(_("body schema"), null=True, blank=True, editable=True, validators=[validate_writable])
    body_required = models.BooleanField(_("the body has to be sent"), default=True)

    class Meta:
        verbose_name = _("variant")
        verbose_name_plural = _("variants")
        ordering = ["operation", "pk"]
        default_permissions = ()  # whoever may change its operation may write it
        constraints = [
            models.UniqueConstraint(
                fields=["operation", "name"],
                name="sezzlee_variant_name_unique",
                violation_error_message=_("The operation already has a variant of this name."),
            ),
            RowCheck(condition=~Q(description=""), name="sezzlee_variant_is_described"),
        ]

    def __str__(self) -> str:
        return self.name

    def to_variant(self, family_parameter: str) -> curation.Variant:
        """The variant as a compile reads it; its key is a record about the family parameter of its operation."""
        return self.variant_with(
            tuple(row.to_record() for row in self.arguments.all()) if self.pk else (), family_parameter
        )

    def variant_with(self, records: tuple[ArgumentRecord, ...], family_parameter: str) -> curation.Variant:
        """The same with records that a form has and the database has not yet."""
        key = ArgumentRecord(name=family_parameter, fill=Fill(kind=FillKind.CONSTANT, value=self.key))
        return curation.Variant(
            name=self.name,
            description=self.description,
            arguments=records if self.key is None or not family_parameter else (key, *records),
            body=self.body,
            body_required=self.body_required,
            annotations=self.hints,
        )


class ArgumentCuration(models.Model):
    """
    What staff say about one argument of an operation, or of one of its variants.

    ``name`` is the argument's wire name. ``aliases_until`` reminds staff to end the older names; nothing ends by
    itself.
    """

    class Hidden(models.TextChoices):
        CONSTANT = _CONSTANT, _("hidden: a constant is sent")
        DEFERRED = _DEFERRED, _("hidden: a provider is asked")
        OMIT = _OMIT, _("hidden: nothing is sent")

        __empty__ = _("shown")

    operation = models.ForeignKey(
        Operation,
        verbose_name=_("operation"),
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="arguments",
    )
    variant = models.ForeignKey(
        Variant, verbose_name=_("variant"), null=True, blank=True, on_delete=models.CASCADE, related_name="arguments"
    )
    name = models.CharField(_("argument"), max_length=NAME_CHARS)
    agent_name = models.CharField(_("name for agents"), max_length=NAME_CHARS, blank=True)
    description = models.TextField(_("description"), blank=True)
    hidden = models.CharField(_("shown or hidden"), max_length=8, choices=Hidden.choices, blank=True)
    constant = PackedJSONField(_("constant"), null=True, blank=True, editable=True, validators=[validate_writable])
    provider = models.CharField(_("provider"), max_length=100, blank=True)
    deprecated_aliases = models.JSONField(_("older names"), default=list, blank=True, validators=[validate_texts])
    aliases_until = models.DateField(_("older names until"), null=True, blank=True)

    class Meta:
        verbose_name = _("curated argument")
        verbose_name_plural = _("curated arguments")
        ordering = ["operation", "variant", "name"]
        default_permissions = ()  # as of variants
        constraints = [
            RowCheck(
                condition=Q(operation__isnull=False, variant__isnull=True)
                | Q(operation__isnull=True, variant__isnull=False),
                name="sezzlee_argument_has_one_owner",
            ),
            RowCheck(
                condition=Q(hidden=_CONSTANT) | Q(constant__isnull=True),
                name="sezzlee_argument_constant",
                violation_error_message=_("Only an argument that is hidden with a constant has one."),
            ),
            RowCheck(
                condition=(Q(hidden=_DEFERRED) & ~Q(provider="")) | (~Q(hidden=_DEFERRED) & Q(provider="")),
                name="sezzlee_argument_provider",
                violation_error_message=_("An argument has a provider exactly when it is hidden and one is asked."),
            ),
            models.UniqueConstraint(
                fields=["operation", "name"],
                name="sezzlee_argument_of_operation",
                violation_error_message=_("This argument of the operation is curated already."),
            ),
            models.UniqueConstraint(
                fields=["variant", "name"],
                name="sezzlee_argument_of_variant",
                violation_error_message=_("This argument of the variant is curated already."),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def to_record(self) -> ArgumentRecord:
        """The record as a compile reads it."""
        return ArgumentRecord(
            name=self.name,
            agent_name=self.agent_name or None,
            description=self.description or None,
            fill=fill_of(self.hidden, self.constant, self.provider),
            deprecated_aliases=tuple(self.deprecated_aliases),
        )


class ArgumentRule(models.Model):
    """What holds for every argument whose route, place and wire name match, unless a record says otherwise."""

    class Hidden(models.TextChoices):
        CONSTANT = _CONSTANT, _("hidden: a constant is sent")
        OMIT = _OMIT, _("hidden: nothing is sent")

        __empty__ = _("shown")

    class Location(models.TextChoices):
        PATH = "path", _("path")
        QUERY = "query", _("query")
        HEADER = "header", _("header")
        COOKIE = "cookie", _("cookie")
        BODY = "body", _("body")

        __empty__ = _("anywhere")

    route = models.CharField(_("route"), max_length=490, blank=True)
    argument = models.CharField(_("argument"), max_length=NAME_CHARS)
    location = models.CharField(_("place"), max_length=6, choices=Location.choices, blank=True)
    hidden = models.CharField(_("shown or hidden"), max_length=8, choices=Hidden.choices, blank=True)
    constant = PackedJSONField(_("constant"), null=True, blank=True, editable=True, validators=[validate_writable])
    description = models.TextField(_("description"), blank=True)
    prefix = models.CharField(_("prefix"), max_length=100, blank=True)
    note = models.CharField(_("note"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("argument rule")
        verbose_name_plural = _("argument rules")
        ordering = ["route", "argument", "location"]
        constraints = [
            RowCheck(
                condition=(~Q(hidden="") & Q(description="", prefix=""))
                | (Q(hidden="", prefix="") & ~Q(description=""))
                | (Q(hidden="", description="") & ~Q(prefix="")),
                name="sezzlee_argument_rule_says_one_thing",
                violation_error_message=_("A rule says one thing: it hides, describes or prefixes."),
            ),
            RowCheck(
                condition=Q(hidden=_CONSTANT) | Q(constant__isnull=True),
                name="sezzlee_argument_rule_constant",
                violation_error_message=_("Only a rule that hides with a constant has one."),
            ),
            models.UniqueConstraint(
                fields=["route", "argument", "location"],
                name="sezzlee_argument_rule_unique",
                violation_error_message=_("There is already a rule for the same arguments."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.location} {self.argument} · {self.route or '**'}".lstrip()

    def to_rule(self) -> curation.ArgumentRule:
        """The rule as a compile reads it."""
        return curation.ArgumentRule(
            argument=self.argument,
            route=self.route or None,
            location=self.location or None,
            fill=fill_of(self.hidden, self.constant),
            description=self.description or None,
            prefix=self.prefix or None,
        )
