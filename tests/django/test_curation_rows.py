"""curation.md: what staff say in rows is what a compile reads, and rows that can mean nothing cannot be stored."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import snapshots
from sezzlee_mcp.catalog import curation
from sezzlee_mcp.catalog.curation import ArgumentRecord, Fill, FillKind, OperationCuration
from sezzlee_mcp.models import ArgumentCuration, ArgumentRule, Operation, Revision, Variant
from sezzlee_mcp.publishing import publish, read_inputs
from sezzlee_mcp.sync import sync
from tests.django.test_sync import document

ADMIN = Revision.Source.ADMIN
TEXT = {"type": "string"}


@pytest.fixture
def fruit(db: None, settings: Settings) -> Operation:
    """Apples and pears, each with the query arguments ``colour`` and ``kind``."""
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True, "PROVIDERS": {"tenant": "builtins.str"}}
    parameters = [{"name": name, "in": "query", "schema": TEXT} for name in ("colour", "kind")]
    sync(document("apples", "pears", parameters=parameters))
    return Operation.objects.get(key="GET /apples/")


def properties(tool: str) -> dict[str, Any]:
    """The arguments of a published tool as agents read them."""
    (shape,) = snapshots.loaded_shapes([snapshots.current().entries[tool]])
    found: dict[str, Any] = shape["inputSchema"]["properties"]
    return found


def test_rows_of_an_operation_are_what_a_compile_reads(fruit: Operation) -> None:
    fruit.family_parameter, fruit.destructive_hint = "kind", False
    fruit.save()
    ArgumentCuration.objects.create(operation=fruit, name="colour", agent_name="shade", deprecated_aliases=["tint"])
    cider = Variant.objects.create(
        operation=fruit, name="cider", description="Apples for cider.", key="cider", read_only_hint=True
    )
    ArgumentCuration.objects.create(variant=cider, name="colour", hidden="constant", constant={"b": 1, "a": None})
    Variant.objects.create(operation=fruit, name="any_apple", description="Any.", body={"type": "object"})

    read = Operation.objects.with_curation().get(pk=fruit.pk).to_curation()

    assert read == OperationCuration(
        annotations={"destructiveHint": False},
        arguments=(ArgumentRecord(name="colour", agent_name="shade", deprecated_aliases=("tint",)),),
        variants=(
            curation.Variant(
                name="cider",
                description="Apples for cider.",
                arguments=(
                    ArgumentRecord(name="kind", fill=Fill(kind=FillKind.CONSTANT, value="cider")),
                    ArgumentRecord(name="colour", fill=Fill(kind=FillKind.CONSTANT, value={"b": 1, "a": None})),
                ),
                annotations={"readOnlyHint": True},
            ),
            curation.Variant(name="any_apple", description="Any.", body={"type": "object"}),
        ),
        family_parameter="kind",
    )


@pytest.mark.parametrize(
    ("said", "fill"),
    [
        ({"hidden": "omit"}, Fill(kind=FillKind.OMIT)),
        ({"hidden": "constant"}, Fill(kind=FillKind.CONSTANT, value=None)),
        ({"hidden": "constant", "constant": False}, Fill(kind=FillKind.CONSTANT, value=False)),
        ({"hidden": "deferred", "provider": "tenant"}, Fill(kind=FillKind.DEFERRED, source="tenant")),
        ({}, None),
    ],
)
def test_fill_survives_its_row(fruit: Operation, said: dict[str, Any], fill: Fill | None) -> None:
    stored = ArgumentCuration.objects.create(operation=fruit, name="colour", **said)

    stored.refresh_from_db()

    assert stored.to_record() == ArgumentRecord(name="colour", fill=fill)


def test_argument_row_renames_for_agents(fruit: Operation) -> None:
    ArgumentCuration.objects.create(operation=fruit, name="colour", agent_name="shade", description="Of the skin.")

    revision = publish(source=ADMIN)

    assert revision is not None
    assert {entry["tool"] for entry in revision.changes["entries"]} == {"apples"}
    assert properties("apples") == {"shade": {"type": "string", "description": "Of the skin."}, "kind": TEXT}


def test_variants_take_the_place_of_the_operations_own_tool(fruit: Operation) -> None:
    for kind in ("red", "green"):
        variant = Variant.objects.create(operation=fruit, name=f"{kind}_apples", description=f"The {kind} ones.")
        ArgumentCuration.objects.create(variant=variant, name="colour", hidden="constant", constant=kind)

    revision = publish(source=ADMIN)

    assert revision is not None
    assert [(entry["kind"], entry["tool"]) for entry in revision.changes["entries"]] == [
        ("tool_removed", "apples"),
        ("tool_added", "green_apples"),
        ("tool_added", "red_apples"),
    ]
    assert properties("red_apples") == {"kind": TEXT}


def test_rule_row_hides_an_argument_of_every_operation(fruit: Operation) -> None:
    ArgumentRule.objects.create(route="/*/", argument="col*", location="query", hidden="omit")

    revision = publish(source=ADMIN)

    assert revision is not None
    assert {entry["tool"] for entry in revision.changes["entries"]} == {"apples", "pears"}
    assert properties("apples") == properties("pears") == {"kind": TEXT}


def test_rows_of_one_operation_compile_no_other_again(fruit: Operation) -> None:
    known = {tool.name: tool.input_digest for tool in read_inputs().known.values()}
    ArgumentCuration.objects.create(operation=fruit, name="colour", hidden="omit")

    publish(source=ADMIN)

    now = {tool.name: tool.input_digest for tool in read_inputs().known.values()}
    assert {name for name in known if known[name] != now[name]} == {"apples"}


def test_rows_are_read_by_as_many_queries_for_many_operations_as_for_one(fruit: Operation) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            read_inputs()
        return len(asked)

    variant = Variant.objects.create(operation=fruit, name="cider", description="For cider.")
    ArgumentCuration.objects.create(variant=variant, name="kind", hidden="omit")
    ArgumentCuration.objects.create(operation=fruit, name="colour", hidden="omit")
    for_one = queries()
    for operation in Operation.objects.exclude(pk=fruit.pk):
        variant = Variant.objects.create(operation=operation, name="perry", description="For perry.")
        ArgumentCuration.objects.create(variant=variant, name="kind", hidden="omit")
        ArgumentCuration.objects.create(operation=operation, name="colour", hidden="omit")

    assert queries() == for_one


IMPOSSIBLE: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "an argument of nothing": (ArgumentCuration, {}),
    "an argument of two": (ArgumentCuration, {"operation": True, "variant": True}),
    "a constant that is not sent": (ArgumentCuration, {"operation": True, "hidden": "omit", "constant": 1}),
    "a provider that is not asked": (ArgumentCuration, {"operation": True, "provider": "tenant"}),
    "a provider that is missing": (ArgumentCuration, {"operation": True, "hidden": "deferred"}),
    "a variant without a description": (Variant, {"operation": True, "description": ""}),
    "a rule that says nothing": (ArgumentRule, {}),
    "a rule that says two things": (ArgumentRule, {"description": "It.", "hidden": "omit"}),
    "a rule that says two others": (ArgumentRule, {"description": "It.", "prefix": "q_"}),
    "a rule with a constant that is not sent": (ArgumentRule, {"hidden": "omit", "constant": 1}),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_row_that_can_mean_nothing_cannot_be_stored(fruit: Operation, case: str) -> None:
    model, said = IMPOSSIBLE[case]
    owners = {"operation": fruit, "variant": Variant.objects.create(operation=fruit, name="one", description="One.")}
    said = {field: owners[field] if value is True else value for field, value in said.items()}
    named = {"argument": "colour"} if model is ArgumentRule else {"name": "colour"}

    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.create(**named, **said)


@pytest.mark.parametrize("owner", ["operation", "variant"])
def test_argument_is_curated_once_for_each_owner(fruit: Operation, owner: str) -> None:
    variant = Variant.objects.create(operation=fruit, name="one", description="One.")
    for_both = {"operation": fruit, "variant": variant}
    for name, row in for_both.items():
        ArgumentCuration.objects.create(**{name: row}, name="colour")

    with pytest.raises(IntegrityError), transaction.atomic():
        ArgumentCuration.objects.create(**{owner: for_both[owner]}, name="colour")


def test_curation_of_an_absent_operation_waits_for_it(fruit: Operation) -> None:
    ArgumentCuration.objects.create(operation=fruit, name="colour", hidden="omit")
    parameters = [{"name": name, "in": "query", "schema": TEXT} for name in ("colour", "kind")]
    sync(document("pears", parameters=parameters))

    sync(document("apples", "pears", parameters=parameters))

    assert properties("apples") == {"kind": TEXT}
