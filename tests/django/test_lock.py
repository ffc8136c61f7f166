"""publishing.md: the lock is the first statement of its transaction, and raises the edit counter."""

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sezzlee_mcp.models import Catalog
from tests.django.admin_pages import delete, page, save
from tests.factories import SelectionRuleFactory, SuperuserFactory

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


@pytest.mark.parametrize("kind", ["add", "change", "delete"])
def test_a_transaction_of_the_admin_begins_with_the_lock(client: Client, kind: str) -> None:
    """On SQLite one that has read before it fails when another one wrote since."""
    client.force_login(SuperuserFactory())
    Catalog.objects.lock()
    url = page("selectionrule", kind, *([] if kind == "add" else [SelectionRuleFactory(route="/none/").pk]))

    with CaptureQueriesContext(connection) as queries:
        delete(client, url) if kind == "delete" else save(client, url, route="/no/", decision="include")

    statements = [query["sql"] for query in queries]
    began = next(number for number, sql in enumerate(statements) if sql.startswith("SAVEPOINT"))
    assert statements[began + 1].startswith('UPDATE "sezzlee_mcp_catalog" SET "edit"')
