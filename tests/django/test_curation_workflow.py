"""The way of curation from staging to production, as docs/howto.md has it, command by command."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from sezzlee_mcp.models import ArgumentCuration, Operation, Revision, Tag, ToolAlias, Variant
from sezzlee_mcp.publishing import publish

HOWTO = Path(__file__).resolve().parents[2] / "docs" / "howto.md"
ORDERS = "GET /api/orders/"


def run(command: str, *arguments: Any) -> str:
    out = io.StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=out)
    return out.getvalue()


@contextmanager
def database() -> Iterator[None]:
    """A database as the fixtures left it, which nothing of what is done there outlives."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def curate() -> None:
    """What staff do on staging: a tool renamed and described, an argument renamed, a tool split in two."""
    orders = Operation.objects.get(key=ORDERS)
    orders.name, orders.description, orders.overrides_tags = "list_orders", "Orders, the latest first.", True
    orders.save()
    orders.tags.add(Tag.objects.create(name="Été"))
    ArgumentCuration.objects.create(operation=orders, name="page", agent_name="number", deprecated_aliases=["page"])
    split = Operation.objects.filter(operation_id="orders_retrieve").get()
    for name in ("get_order", "show_order"):
        Variant.objects.create(operation=split, name=name, description=f"One order, by {name}.")
    publish(source="admin")


@pytest.fixture
def staging(shop: None, tmp_path: Path) -> Path:
    """The folder with curation.json, and former.json: what agents of production learned."""
    run("sezzlee_contract", "export", tmp_path / "former.json")
    with database():
        curate()
        run("sezzlee_curation", "export", tmp_path / "curation.json")
        run("sezzlee_contract", "export", tmp_path / "staging.json")
    return tmp_path


def test_the_documented_way_comes_to_the_contract_of_staging(staging: Path) -> None:
    curation, staged = staging / "curation.json", staging / "staging.json"
    with database():  # in CI
        run("sezzlee_sync")
        run("sezzlee_curation", "load", curation)
        with pytest.raises(CommandError, match="breaking change"):
            run("sezzlee_contract", "check", staging / "former.json", "--candidate", "--format", "github")
        run("sezzlee_contract", "export", staging / "contract.json", "--candidate")
    with database():  # in the deployment
        run("sezzlee_sync")
        run("sezzlee_curation", "load", curation, "--note", "1.2")
        checked = run("sezzlee_contract", "check", staging / "contract.json")
        run("sezzlee_contract", "export", staging / "production.json")
        run("sezzlee_curation", "export", staging / "again.json")
        once = Revision.objects.latest().generation
        run("sezzlee_curation", "load", curation, "--note", "1.2")
        generations = (once, Revision.objects.latest().generation)

    assert checked == f"Nothing changed since {staging / 'contract.json'}.\n"
    texts = [(staging / f"{name}.json").read_bytes() for name in ("contract", "production")]
    assert texts == [staged.read_bytes()] * 2
    assert (staging / "again.json").read_bytes() == curation.read_bytes()
    assert generations == (2, 2)


@pytest.mark.parametrize(
    "step",
    [
        "sezzlee_curation export curation.json",
        "sezzlee_curation load curation.json",
        "sezzlee_contract check former.json --candidate --format github",
        "sezzlee_contract export - --candidate",
        'sezzlee_curation load curation.json --note "$RELEASE"',
        "sezzlee_contract check contract.json",
        "sezzlee_curation load curation.json --check",
    ],
)
def test_the_steps_are_those_of_the_documentation(step: str) -> None:
    assert step in HOWTO.read_text(encoding="utf-8")


def test_production_that_says_something_else_is_found_out(staging: Path) -> None:
    Operation.objects.filter(key=ORDERS).update(title="By somebody in production")
    with pytest.raises(CommandError, match="Staff say something else here"):
        run("sezzlee_curation", "load", staging / "curation.json", "--check")


def test_old_names_are_of_the_database_where_a_load_renames(staging: Path) -> None:
    Operation.objects.filter(operation_id="orders_create").update(name="place_order")
    publish(source="admin")
    before = dict(ToolAlias.objects.values_list("name", "tool"))

    run("sezzlee_curation", "load", staging / "curation.json")

    # The file says nothing of place_order, so that name is given back, and leads to the tool as any old name does.
    assert before == {"orders_create": "place_order"}
    assert dict(ToolAlias.objects.values_list("name", "tool")) == {
        "orders_list": "list_orders",
        "place_order": "orders_create",
    }


def test_a_load_ends_no_old_name(staging: Path) -> None:
    run("sezzlee_curation", "load", staging / "curation.json")
    again = (staging / "curation.json").read_text("utf-8").replace('"list_orders"', '"browse_orders"')
    (staging / "again.json").write_text(again, encoding="utf-8")

    run("sezzlee_curation", "load", staging / "again.json")

    assert dict(ToolAlias.objects.values_list("name", "tool")) == {
        "list_orders": "browse_orders",
        "orders_list": "browse_orders",
    }
