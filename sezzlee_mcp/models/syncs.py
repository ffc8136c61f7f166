from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

SILENT_SECONDS = 60  # without a sign of life, and its process is taken for dead


class RequestedSyncManager(models.Manager["RequestedSync"]):
    """All times are the database's, on which replicas agree."""

    def current(self) -> "RequestedSync":
        """The last one, with whether it ``is_silent``; unsaved when none was ever asked for."""
        return self.annotate(is_silent=_silent()).filter(pk=RequestedSync.ONLY).first() or RequestedSync()

    def claim(self, actor: Any) -> int | None:
        """The number of a new sync, which is then the caller's to do; None while another one is alive."""
        self.get_or_create(pk=RequestedSync.ONLY)
        is_free = models.Q(started_at=None) | models.Q(ended_at__isnull=False) | _silent()
        claimed = self.filter(is_free, pk=RequestedSync.ONLY).update(
            number=models.F("number") + 1,
            actor=actor,
            started_at=Now(),
            alive_at=Now(),
            ended_at=None,
            outcome="",
            message="",
            counts={},
            done=0,
            total=0,
        )
        return self.values_list("number", flat=True).get(pk=RequestedSync.ONLY) if claimed else None

    def beat(self, number: int, *, done: int, total: int) -> None:
        """Say that a sync is alive, and how far it came; one that was taken for dead says nothing any more."""
        self._running(number).update(alive_at=Now(), done=done, total=total)

    def end(self, number: int, outcome: str, *, message: str = "", counts: dict[str, int] | None = None) -> None:
        self._running(number).update(ended_at=Now(), outcome=outcome, message=message, counts=counts or {})

    def _running(self, number: int) -> models.QuerySet["RequestedSync"]:
        return self.filter(pk=RequestedSync.ONLY, number=number, ended_at=None)


def _silent() -> models.Q:
    return models.Q(ended_at=None, alive_at__lt=Now() - timedelta(seconds=SILENT_SECONDS))


class RequestedSync(models.Model):
    """
    The one row of the last sync that staff asked for in the admin: whoever claims it does it, in whichever process.

    ``number`` counts them, so that one that was taken for dead and is not writes nothing over the next. ``done`` of
    ``total`` endpoints are read; ``counts`` are what it found and did.
    """

    class Outcome(models.TextChoices):
        DONE = "done", _("done")
        REFUSED = "refused", _("refused")
        FAILED = "failed", _("failed")

    ONLY: ClassVar[int] = 1

    number = models.PositiveIntegerField(_("number"), default=0, editable=False)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("asked for by"),
        null=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    started_at = models.DateTimeField(_("started at"), null=True, editable=False)
    alive_at = models.DateTimeField(_("last sign of life"), null=True, editable=False)
    ended_at = models.DateTimeField(_("ended at"), null=True, editable=False)
    outcome = models.CharField(_("outcome"), max_length=7, choices=Outcome.choices, blank=True, editable=False)
    message = models.TextField(_("message"), blank=True, editable=False)
    counts = models.JSONField(_("counts"), default=dict, editable=False)
    done = models.PositiveIntegerField(_("endpoints read"), default=0, editable=False)
    total = models.PositiveIntegerField(_("endpoints"), default=0, editable=False)

    objects = RequestedSyncManager()

    class Meta:
        verbose_name = _("requested sync")
        verbose_name_plural = _("requested syncs")
        default_permissions = ()

    def __str__(self) -> str:
        return gettext("sync %(number)d") % {"number": self.number}

    @property
    def was_lost(self) -> bool:
        """Whether its process seems to have died."""
        return self.started_at is not None and self.ended_at is None and vars(self)["is_silent"]

    @property
    def is_running(self) -> bool:
        return self.started_at is not None and self.ended_at is None and not self.was_lost
