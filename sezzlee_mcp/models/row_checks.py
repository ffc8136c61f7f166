from collections.abc import Collection, Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS, models
from django.db.models import Q


class RowCheck(models.CheckConstraint):
    """
    A check constraint over columns of one row, compared with values or NULL, that is validated without the database.

    Django asks the database, in a savepoint, for every row of a page.
    """

    def validate(
        self,
        model: type[models.Model],
        instance: models.Model,
        exclude: Collection[str] | None = None,
        using: str = DEFAULT_DB_ALIAS,
    ) -> None:
        left_out = set(exclude or ()).intersection(_column(term) for term, _value in _terms(self.condition))
        if not left_out and not _holds(self.condition, instance):
            raise ValidationError(self.get_violation_error_message(), code=self.violation_error_code)

    def deconstruct(self) -> Any:
        _path, *rest = super().deconstruct()
        return "django.db.models.CheckConstraint", *rest  # which is what the database has of it


def _terms(condition: Any) -> Iterator[tuple[str, Any]]:
    for each in condition.children:
        yield from _terms(each) if isinstance(each, Q) else (each,)


def _holds(condition: Any, row: models.Model) -> bool:
    told = [_holds(each, row) if isinstance(each, Q) else _is(row, *each) for each in condition.children]
    return (all(told) if condition.connector == Q.AND else any(told)) is not condition.negated


def _is(row: models.Model, term: str, value: Any) -> bool:
    column: Any = row._meta.get_field(_column(term))
    stored = getattr(row, column.attname)
    return (stored is None) is value if term.endswith("__isnull") else stored == value


def _column(term: str) -> str:
    return term.partition("__")[0]
