from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.catalog.curation import ArgumentRecord, OperationCuration, Variant
from sezzlee_mcp.diagnostics import Severity
from sezzlee_mcp.folding import fold
from sezzlee_mcp.models.fields import PackedJSONField, validate_texts
from sezzlee_mcp.models.hints import Hinted
from sezzlee_mcp.openapi.descriptors import Descriptor, Outline

KEY_CHARS = 500  # of "METHOD /route"
TAG_CHARS = 100
NAME_CHARS = 256  # of a tool, or of an argument


class Tag(models.Model):
    """A label that agents can filter by; two labels that fold alike are one tag."""

    name = models.CharField(_("name"), max_length=TAG_CHARS)
    folded = models.CharField(_("folded form"), max_length=100, editable=False)
    description = models.TextField(_("description"), blank=True)

    class Meta:
        verbose_name = _("tag")
        verbose_name_plural = _("tags")
        ordering = ["folded"]
        constraints = [
            models.UniqueConstraint(
                fields=["folded"],
                name="sezzlee_tag_folded_unique",
                violation_error_message=_(
                    "There is already a tag that reads the same once case and accents are ignored."
                ),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, **kwargs: Any) -> None:
        self.folded = fold(self.name)
        if kwargs.get("update_fields") is not None:
            kwargs["update_fields"] = {*kwargs["update_fields"], "folded"}
        super().save(**kwargs)

    def clean(self) -> None:
        self.folded = fold(self.name)
        if self.name and not self.folded.strip():
            fault = ValidationError(_("Nothing is left of this name once accents are ignored."), code="empty_tag")
            raise ValidationError({"name": fault})


def _folded(tag: Tag) -> str:
    return tag.folded


class OperationQuerySet(models.QuerySet["Operation"]):
    def present(self) -> "OperationQuerySet":
        """Operations that the last document holds."""
        return self.filter(absent_since=None)

    def with_curation(self) -> "OperationQuerySet":
        """With everything that ``to_curation`` reads, in four queries however many there are, and without slots."""
        return self.defer("slots").prefetch_related("tags", "arguments", "variants__arguments")


class Operation(Hinted):
    """
    One method on one path of the document: facts that a sync writes, and choices that staff make.

    Staff's choices survive a sync: an operation that leaves the document is kept, marked absent, and
    gets its curation back when it returns. An empty text inherits the value of the code marker or
    of the document; tags and search terms can be emptied, so they say by a flag that they override.
    ``published_name`` is the generated name under which the operation was published: it keeps it, even
    while it is absent, until staff or a code marker declare another (tools.md, "Names", 0). ``held_generation`` is the
    one that it was rolled back to; while there is one, its tools stay as they are published.
    """

    class Exposure(models.TextChoices):
        INHERIT = "inherit", _("as the rules say")
        INCLUDE = "include", _("exposed")
        EXCLUDE = "exclude", _("hidden")

    key = models.CharField(_("key"), max_length=KEY_CHARS, unique=True, editable=False)
    method = models.CharField(_("method"), max_length=10, editable=False)
    route = models.CharField(_("route"), max_length=490, editable=False)
    operation_id = models.TextField(_("operation id"), blank=True, editable=False)
    container = models.TextField(_("container"), blank=True, editable=False)
    view = models.TextField(_("view"), blank=True, editable=False)
    outline = PackedJSONField(_("outline"), editable=False)
    slots = PackedJSONField(_("slots"), editable=False)
    descriptor_digest = models.CharField(_("descriptor digest"), max_length=64, editable=False)
    published_name = models.CharField(_("published name"), max_length=NAME_CHARS, blank=True, editable=False)
    first_seen = models.DateTimeField(_("first seen"), auto_now_add=True)
    held_generation = models.PositiveIntegerField(_("held at generation"), null=True, blank=True, editable=False)
    absent_since = models.DateTimeField(_("absent since"), null=True, blank=True, editable=False)

    exposure = models.CharField(_("exposure"), max_length=7, choices=Exposure.choices, default=Exposure.INHERIT)
    name = models.CharField(_("name"), max_length=NAME_CHARS, blank=True)
    description = models.TextField(_("description"), blank=True)
    title = models.CharField(_("title"), max_length=200, blank=True)
    overrides_tags = models.BooleanField(_("override the tags"), default=False)
    tags = models.ManyToManyField(Tag, verbose_name=_("tags"), blank=True, related_name="operations")
    overrides_search_terms = models.BooleanField(_("override the search terms"), default=False)
    search_terms = models.JSONField(_("search terms"), default=list, blank=True, validators=[validate_texts])
    deadline_seconds = models.FloatField(
        _("deadline in seconds"), null=True, blank=True, validators=[MinValueValidator(0), MaxValueValidator(3600)]
    )
    budget_bytes = models.PositiveIntegerField(
        _("budget in bytes"), null=True, blank=True, validators=[MinValueValidator(1024)]
    )
    family_parameter = models.CharField(_("family parameter"), max_length=NAME_CHARS, blank=True)

    objects = OperationQuerySet.as_manager()

    class Meta:
        verbose_name = _("operation")
        verbose_name_plural = _("operations")
        ordering = ["route", "method"]
        default_permissions = ("view", "change")  # a sync adds them, and none goes
        indexes = [
            models.Index(fields=["method"], name="sezzlee_operation_method"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def is_absent(self) -> bool:
        return self.absent_since is not None

    def to_outline(self) -> Outline:
        return Outline.from_json(self.outline)

    def to_descriptor(self) -> Descriptor:
        return Descriptor.from_json({**self.outline, **self.slots})

    def to_curation(self) -> OperationCuration:
        """Staff's choices as the value that a compile reads."""
        if not self.pk:
            return self.curation_with()
        return self.curation_with(
            tags=self.tags.all(),
            arguments=tuple(row.to_record() for row in self.arguments.all()),
            variants=tuple(row.to_variant(self.family_parameter) for row in self.variants.all()),
        )

    def curation_with(
        self,
        *,
        tags: Iterable[Tag] = (),
        arguments: tuple[ArgumentRecord, ...] = (),
        variants: tuple[Variant, ...] = (),
    ) -> OperationCuration:
        """The same with related rows that a form has and the database has not yet."""
        exposed = {self.Exposure.INHERIT: None, self.Exposure.INCLUDE: True, self.Exposure.EXCLUDE: False}
        return OperationCuration(
            exposed=exposed[self.Exposure(self.exposure)],
            name=self.name or None,
            description=self.description or None,
            title=self.title or None,
            # In the same order on every database: each sorts texts by rules of its own.
            tags=tuple(tag.name for tag in sorted(tags, key=_folded)) if self.overrides_tags else None,
            search_terms=tuple(self.search_terms) if self.overrides_search_terms else None,
            deadline_seconds=self.deadline_seconds,
            budget_bytes=self.budget_bytes,
            annotations=self.hints,
            arguments=arguments,
            variants=variants,
            family_parameter=self.family_parameter or None,
        )


class Diagnostic(models.Model):
    """
    One finding about the document or the catalog; each sync or publish replaces those of its stage.

    An operation that the document lost before it became a row has ``key`` and no ``operation``.
    """

    class Stage(models.TextChoices):
        DOCUMENT = "document", _("document")
        CATALOG = "catalog", _("catalog")

    class Level(models.TextChoices):
        FATAL = Severity.FATAL.value, _("fatal")
        DROPPED = Severity.DROPPED.value, _("dropped")
        WARNING = Severity.WARNING.value, _("warning")

    stage = models.CharField(_("stage"), max_length=8, choices=Stage.choices, editable=False)
    code = models.CharField(_("code"), max_length=60, editable=False)
    severity = models.CharField(_("severity"), max_length=7, choices=Level.choices, editable=False)
    pointer = models.TextField(_("pointer"), blank=True, editable=False)
    message = models.TextField(_("message"), editable=False)
    key = models.CharField(_("operation key"), max_length=KEY_CHARS, blank=True, editable=False)
    operation = models.ForeignKey(
        Operation,
        verbose_name=_("operation"),
        null=True,
        blank=True,
        editable=False,
        on_delete=models.CASCADE,
        related_name="diagnostics",
    )

    class Meta:
        verbose_name = _("diagnostic")
        verbose_name_plural = _("diagnostics")
        ordering = ["severity", "code", "key", "pk"]
        default_permissions = ("view",)
        indexes = [models.Index(fields=["code"], name="sezzlee_diagnostic_code")]

    def __str__(self) -> str:
        return f"{self.code}: {self.key}" if self.key else self.code
