from django.db import models
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.search.kept_words import WORD_CHARS


class VainWord(models.Model):
    """
    How often a word stood in searches that came to nothing on one day (UTC), by all callers together.

    ``unanswered`` counts the searches that found no tool, ``unfollowed`` those of whose tools their caller took none.
    """

    day = models.DateField(_("day"), editable=False)
    word = models.CharField(_("word"), max_length=WORD_CHARS, editable=False)
    unanswered = models.PositiveIntegerField(_("found nothing"), default=0, editable=False)
    unfollowed = models.PositiveIntegerField(_("not followed"), default=0, editable=False)

    class Meta:
        verbose_name = _("word searched in vain")
        verbose_name_plural = _("words searched in vain")
        ordering = ["-day", "-unanswered", "-unfollowed", "word"]
        default_permissions = ("view", "delete")
        constraints = [
            models.UniqueConstraint(fields=["day", "word"], name="sezzlee_vain_word_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.word} {self.day}"
