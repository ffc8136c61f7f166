from collections.abc import Mapping

from django.db import models
from django.utils.translation import gettext_lazy as _

# Field -> the hint as agents read it.
HINTS: Mapping[str, str] = {
    "read_only_hint": "readOnlyHint",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "open_world_hint": "openWorldHint",
}


class Hinted(models.Model):
    """A row with behaviour hints of staff's; one that is not set inherits the value beneath."""

    read_only_hint = models.BooleanField(_("only reads"), null=True, blank=True)
    destructive_hint = models.BooleanField(_("may destroy"), null=True, blank=True)
    idempotent_hint = models.BooleanField(_("may be repeated"), null=True, blank=True)
    open_world_hint = models.BooleanField(_("reaches outside"), null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def hints(self) -> dict[str, bool]:
        """The hints that are set, as agents read them."""
        said = {hint: getattr(self, field) for field, hint in HINTS.items()}
        return {hint: value for hint, value in said.items() if value is not None}
