"""A check that is validated without the database finds what the database finds."""

from itertools import product
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import models

from sezzlee_mcp.models import ArgumentCuration, ArgumentRule, Operation, Variant
from sezzlee_mcp.models.row_checks import RowCheck

# Every value that tells one row of a model from another to its checks.
VALUES: dict[type[models.Model], dict[str, list[Any]]] = {
    ArgumentCuration: {
        "hidden": ["", "constant", "deferred", "omit"],
        "constant": [None, False, ""],
        "provider": ["", "tenant"],
        "operation_id": [None, 1],
        "variant_id": [None, 1],
    },
    ArgumentRule: {
        "hidden": ["", "constant", "omit"],
        "constant": [None, 0],
        "description": ["", "A colour."],
        "prefix": ["", "q_"],
    },
    Variant: {"description": ["", "Red ones."]},
}
CHECKS = [
    (model, check) for model in VALUES for check in model._meta.constraints if isinstance(check, models.CheckConstraint)
]


def refusal(check: Any, validate: Any, row: models.Model, **said: Any) -> list[str] | None:
    try:
        validate(check, type(row), row, **said)
    except ValidationError as error:
        return error.messages
    return None


@pytest.mark.parametrize(("model", "check"), CHECKS, ids=[check.name for _model, check in CHECKS])
def test_a_check_refuses_the_rows_that_the_database_refuses(
    db: None, model: type[models.Model], check: RowCheck, django_assert_num_queries: Any
) -> None:
    rows = [model(**dict(zip(VALUES[model], values, strict=True))) for values in product(*VALUES[model].values())]
    by_the_database = [refusal(check, models.CheckConstraint.validate, row) for row in rows]

    with django_assert_num_queries(0):
        found = [refusal(check, RowCheck.validate, row) for row in rows]

    assert found == by_the_database
    assert {bool(each) for each in found} == {True, False}


def test_a_check_says_nothing_of_what_is_left_out() -> None:
    row = ArgumentCuration(operation=Operation(pk=1), hidden="omit", constant=1)
    (check,) = (each for each in row._meta.constraints if each.name == "sezzlee_argument_constant")

    assert refusal(check, RowCheck.validate, row) == ["Only an argument that is hidden with a constant has one."]
    assert refusal(check, RowCheck.validate, row, exclude={"constant"}) is None
    assert refusal(check, RowCheck.validate, row, exclude={"provider"}) is not None
