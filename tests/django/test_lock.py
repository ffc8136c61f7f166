"""publishing.md: the lock is the first statement of its transaction, and raises the edit counter."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from sezzlee_mcp.models import Catalog

pytestmark = pytest.mark.django_db


def test_first_lock_makes_the_row() -> None:
    assert Catalog.objects.edit() == 0

    assert (Catalog.objects.lock().edit, Catalog.objects.lock().edit) == (1, 2)
    assert Catalog.objects.count() == 1


def test_lock_writes_before_it_reads() -> None:
    Catalog.objects.lock()

    with CaptureQueriesContext(connection) as queries, transaction.atomic():
        Catalog.objects.lock()

    statements = [query["sql"].split(" ")[0] for query in queries if "SAVEPOINT" not in query["sql"]]
    assert statements == ["UPDATE", "SELECT"]
