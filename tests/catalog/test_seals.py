"""curation.md, "Where a value comes from": what staff cannot override, and what is left of a choice that is sealed."""

from typing import Any

import pytest

from sezzlee_mcp.catalog.compile import compile_catalog
from sezzlee_mcp.catalog.curation import ArgumentRecord, Curation, OperationCuration, Variant
from sezzlee_mcp.catalog.seals import overridden, sealed, staff_of
from sezzlee_mcp.openapi import Descriptor, Parameter

STAFF = OperationCuration(
    exposed=True,
    name="of_staff",
    title="Staff",
    description="Of staff.",
    annotations={"destructiveHint": False, "openWorldHint": True},
    tags=("staff",),
    arguments=(ArgumentRecord(name="q", agent_name="words"), ArgumentRecord(name="page", description="A page.")),
    variants=(Variant(name="one", description="One.", arguments=(ArgumentRecord(name="q"),)),),
)


def marked(**members: Any) -> Descriptor:
    return Descriptor(method="GET", route="/orders/", extension=members or None)


def of_staff(descriptor: Descriptor, *fields: str) -> Curation:
    return Curation(operations={descriptor.key: STAFF}, sealed=frozenset(fields))


def test_without_a_seal_staff_choose_everything() -> None:
    operation = marked(name="of_code", description="Of the code.")
    said = of_staff(operation)

    assert (staff_of(operation, said), overridden(operation, said)) == (STAFF, ())


def test_sealed_markers_take_back_what_they_say_and_nothing_else() -> None:
    operation = marked(seal=True, name="of_code", expose=False, annotations={"destructiveHint": True})
    said = of_staff(operation)

    left = staff_of(operation, said)

    assert (left.exposed, left.name, left.annotations) == (None, None, {"openWorldHint": True})
    assert (left.description, left.tags, left.arguments) == (STAFF.description, STAFF.tags, STAFF.arguments)
    assert overridden(operation, said) == ("expose", "name", "annotations")
    assert sealed(operation, said) == {"expose", "name", "destructiveHint"}


def test_sealed_record_of_an_argument_holds_in_variants_too() -> None:
    operation = marked(seal=True, arguments=[{"name": "q", "as": "query"}])

    left = staff_of(operation, of_staff(operation))

    assert left.arguments == (ArgumentRecord(name="page", description="A page."),)
    assert left.variants == (Variant(name="one", description="One."),)


def test_settings_seal_a_field_of_every_operation() -> None:
    operation = marked()
    said = of_staff(operation, "description", "variants", "tags")

    left = staff_of(operation, said)

    assert (left.description, left.variants, left.tags, left.name) == (None, (), None, "of_staff")
    assert overridden(operation, said) == ("description", "tags", "variants")


@pytest.mark.parametrize("is_sealed", [True, False])
def test_tool_is_what_the_code_sealed_and_the_choice_a_warning(is_sealed: bool) -> None:
    operation = marked(seal=is_sealed, name="of_code", arguments=[{"name": "q", "as": "query"}])
    operation = Descriptor(
        method="GET",
        route="/orders/",
        extension=operation.extension,
        parameters=(Parameter(name="q", location="query", required=False, schema={}, style="form", explode=True),),
    )
    staff = OperationCuration(exposed=True, name="of_staff", arguments=(ArgumentRecord(name="q", agent_name="words"),))

    made = compile_catalog([operation], Curation(operations={operation.key: staff}))

    (tool,) = made.tools
    found = [one.message for one in made.diagnostics if one.code == "sealed_curation_overridden"]
    assert (tool.name, list(tool.loaded["inputSchema"]["properties"]), found) == (
        (
            "of_code",
            ["query"],
            [
                "What staff chose for arguments is ignored: the code or the settings seal it.",
                "What staff chose for name is ignored: the code or the settings seal it.",
            ],
        )
        if is_sealed
        else ("of_staff", ["words"], [])
    )
