from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.models.fields import validate_texts
from sezzlee_mcp.search.cases import NEED_CHARS, QUERY_CHARS, USER_CHARS, Case

AS_USER = "sezzlee_mcp.search_as_user"

_TOLD = ("need", "expected")  # what is said of a search; the rest is which search it is


class SearchCaseQuerySet(models.QuerySet["SearchCase"]):
    def cases(self) -> tuple[Case, ...]:
        return tuple(row.to_case() for row in self)

    def keep(self, cases: Iterable[Case]) -> tuple[list["SearchCase"], list[tuple["SearchCase", tuple[str, ...]]]]:
        """
        Make each of the cases a row, or the row of the same search that case.

        The rows that are new, and those that are changed, each with the names of the fields that are.
        """
        with transaction.atomic():
            known = {row.to_case().search: row for row in self.all()}
            new, changed = [], []
            for case in cases:
                said = SearchCase.of(case)
                row = known.get(case.search)
                if row is None:
                    new.append(said)
                elif fields := tuple(name for name in _TOLD if getattr(row, name) != getattr(said, name)):
                    row.need, row.expected = said.need, said.expected
                    changed.append((row, fields))
            for row in (*new, *(row for row, _fields in changed)):
                row.save()
        return new, changed


class SearchCase(models.Model):
    """
    A search that staff keep, and what it has to find; none of it is published.

    ``user`` is a user name and no key: a file says the same of another database.
    """

    need = models.CharField(
        _("need"), max_length=NEED_CHARS, help_text=_("The sentence that a person would say to the agent.")
    )
    query = models.CharField(_("query"), max_length=QUERY_CHARS, help_text=_("What the agent would type for it."))
    user = models.CharField(
        _("user"),
        max_length=USER_CHARS,
        blank=True,
        help_text=_("Whose search it is, by user name. Empty: a search of the whole catalog."),
    )
    tags = models.JSONField(_("tags"), default=list, blank=True, validators=[validate_texts])
    expected = models.JSONField(_("expected"), default=list, validators=[validate_texts])

    objects = SearchCaseQuerySet.as_manager()

    class Meta:
        verbose_name = _("search case")
        verbose_name_plural = _("search cases")
        ordering = ["pk"]
        permissions = [("search_as_user", _("Can search as another user"))]

    def __str__(self) -> str:
        return self.query

    def clean(self) -> None:
        others = SearchCase.objects.filter(query=self.query, user=self.user).exclude(pk=self.pk)
        if self.to_case().search in {other.to_case().search for other in others}:
            raise ValidationError(_("There is already a case of this search."), code="duplicate_case")

    @classmethod
    def of(cls, case: Case) -> "SearchCase":
        return cls(need=case.need, query=case.query, user=case.user, tags=list(case.tags), expected=list(case.expected))

    def to_case(self) -> Case:
        return Case(
            need=self.need, query=self.query, user=self.user, tags=tuple(self.tags), expected=tuple(self.expected)
        )
