from typing import ClassVar, NamedTuple

from django.conf import settings
from django.db import connections, models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.conf import RELEASE_CHARS
from sezzlee_mcp.models.fields import PackedJSONField

_STAMP = "SELECT generation, contents_digest, release FROM sezzlee_mcp_catalog WHERE id = %s"


class ToolContent(models.Model):
    """
    A compiled tool under the digest of its content; never changed, since a digest names one content.

    The columns that every search reads stand apart from ``loaded`` and ``template``, which a process reads
    one at a time when a tool is loaded or invoked. ``input_digest`` and ``findings`` are those of the last compile that
    came to the content, so that the next one need not. ``left_generation`` is empty while the current revision names
    the content.
    """

    digest = models.CharField(_("digest"), max_length=64, primary_key=True)
    name = models.CharField(_("name"), max_length=256)
    operation_key = models.CharField(_("operation key"), max_length=500)
    is_variant = models.BooleanField(_("variant"), default=False)
    version = models.CharField(_("version"), max_length=16)
    input_digest = models.CharField(_("input digest"), max_length=64, db_index=True)
    card = PackedJSONField(_("card"))
    document = models.JSONField(_("search document"))
    auth = models.JSONField(_("auth facts"))
    findings = models.JSONField(_("findings"), default=list)
    loaded = PackedJSONField(_("loaded shape"))
    loaded_bytes = models.PositiveIntegerField(_("bytes of the loaded shape"))
    template = PackedJSONField(_("template"))
    left_generation = models.PositiveIntegerField(_("first generation without it"), null=True, db_index=True)

    class Meta:
        verbose_name = _("tool content")
        verbose_name_plural = _("tool contents")
        default_permissions = ()  # it has no page

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Revision(models.Model):
    """
    An immutable published catalog; its number is the generation.

    ``counts`` are those of its tools, of tools by what became of them, and of changes by class; ``changes`` is a
    ``history.Record`` of those since the revision before. ``tools`` is {name: content digest}, ``aliases``
    {old name: {"tool": name, "until": the last day, as ISO 8601}}.
    """

    class Source(models.TextChoices):
        SYNC = "sync", _("sync")
        ADMIN = "admin", _("admin")
        COMMAND = "command", _("command")
        ROLLBACK = "rollback", _("rollback")

    generation = models.PositiveIntegerField(_("generation"), primary_key=True)
    published_at = models.DateTimeField(_("published at"), auto_now_add=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("published by"),
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    source = models.CharField(_("source"), max_length=8, choices=Source.choices)
    note = models.CharField(_("note"), max_length=500, blank=True)
    release = models.CharField(_("release"), max_length=RELEASE_CHARS, blank=True)
    counts = models.JSONField(_("counts"))
    changes = models.JSONField(_("changes"))
    tools = models.JSONField(_("tools"))
    aliases = models.JSONField(_("aliases"), default=dict)

    class Meta:
        verbose_name = _("revision")
        verbose_name_plural = _("revisions")
        ordering = ["-generation"]
        get_latest_by = "generation"
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"#{self.generation}"

    @property
    def previous(self) -> int:
        """The generation before; 0 for the first."""
        return self.generation - 1


class Stamp(NamedTuple):
    """What tells a process whether what it holds of the catalog is current."""

    generation: int = 0
    contents_digest: str = ""
    release: str = ""

    @property
    def contents(self) -> tuple[int, str]:
        """What agents read; the same contents may be of another release."""
        return self.generation, self.contents_digest


class CatalogManager(models.Manager["Catalog"]):
    def generation(self) -> int:
        """The current generation by one primary-key read; 0 when nothing was ever published."""
        return self.filter(pk=Catalog.ONLY).values_list("generation", flat=True).first() or 0

    def stamp(self) -> Stamp:
        """
        The stamp of what is published, by one primary-key read.

        Every request asks for it, and composing it as a query set takes ten times longer than the database's answer.
        """
        with connections[self.db].cursor() as cursor:
            cursor.execute(_STAMP, [Catalog.ONLY])
            row = cursor.fetchone()
        return Stamp(*(row or ()))

    def draft_waits(self) -> bool:
        """Whether the rows are known to come to something else than what is published."""
        return self.filter(pk=Catalog.ONLY, draft_waits=True).exists()

    def edit(self) -> int:
        """The edit counter, to be compared under the lock."""
        return self.filter(pk=Catalog.ONLY).values_list("edit", flat=True).first() or 0

    def lock(self) -> "Catalog":
        """
        The one row, locked until the transaction ends, its edit counter raised.

        An UPDATE locks on PostgreSQL and SQLite alike; ``select_for_update`` does nothing on SQLite. It comes first:
        a transaction of SQLite that has read fails at its first write when another one wrote since.
        """
        if not self._raise_edit():
            self.get_or_create(pk=Catalog.ONLY)
            self._raise_edit()
        return self.get(pk=Catalog.ONLY)

    def _raise_edit(self) -> int:
        return self.filter(pk=Catalog.ONLY).update(edit=models.F("edit") + 1)


class Catalog(models.Model):
    """
    The one row that publishing locks and every process reads: which generation is current.

    ``contents_digest`` is that of the revision's {name: digest}. The number alone would not do: a database
    that was restored counts a generation anew. ``release`` is that of the code that what is published was made from,
    ``synced_release`` that of the code whose operations were synced last. ``held_generation`` is the one that all was
    rolled back to; while there is one, no publish changes anything. ``draft_waits`` says that the rows, as of the last
    save, sync or publish, come to something else than what is published.
    """

    ONLY: ClassVar[int] = 1

    edit = models.PositiveBigIntegerField(_("edit counter"), default=0)
    generation = models.PositiveIntegerField(_("current generation"), default=0)
    contents_digest = models.CharField(_("contents digest"), max_length=64, blank=True)
    release = models.CharField(_("release"), max_length=RELEASE_CHARS, blank=True)
    synced_release = models.CharField(_("release of the last sync"), max_length=RELEASE_CHARS, blank=True)
    draft_waits = models.BooleanField(_("draft waits"), default=False)
    held_generation = models.PositiveIntegerField(_("held at generation"), null=True, blank=True)
    synced_at = models.DateTimeField(_("last sync that changed something"), null=True, blank=True)
    counts = models.JSONField(_("counts of the last sync"), default=dict)

    objects = CatalogManager()

    class Meta:
        verbose_name = _("catalog")
        verbose_name_plural = _("catalog")  # there is one
        default_permissions = ("view",)
        permissions = [
            ("publish_catalog", _("Can publish the draft and end a hold")),
            ("roll_back_catalog", _("Can roll back the catalog")),
            ("sync_catalog", _("Can sync the catalog")),
        ]

    def __str__(self) -> str:
        return gettext("generation %(number)d") % {"number": self.generation}
