from typing import Any

import pytest

from sezzlee_mcp.catalog import ArgumentRecord, Fill, FillKind, Variant
from sezzlee_mcp.catalog.markers import Markers, read_markers
from tests.catalog.making import operation


def test_no_extension_says_nothing() -> None:
    assert read_markers(operation()) == Markers()


def test_every_member_is_read() -> None:
    descriptor = operation(
        extension={
            "expose": True,
            "name": "list_orders",
            "prefix": "shop",
            "description": "Lists orders.",
            "tags": ["orders"],
            "searchTerms": ["purchase"],
            "annotations": {"openWorldHint": False},
            "arguments": [
                {"name": "page", "as": "page_number", "description": "Which page.", "deprecatedAliases": ["p"]},
                {"name": "mode", "hidden": {"kind": "constant", "value": None}},
            ],
            "variants": [
                {
                    "name": "open_orders",
                    "description": "Open ones.",
                    "arguments": [{"name": "mode", "hidden": {"kind": "deferred", "source": "tenant"}}],
                    "body": {"type": "object"},
                    "bodyRequired": False,
                    "annotations": {"readOnlyHint": True},
                }
            ],
            "familyParameter": "mode",
        }
    )
    assert read_markers(descriptor) == Markers(
        expose=True,
        name="list_orders",
        prefix="shop",
        description="Lists orders.",
        tags=("orders",),
        search_terms=("purchase",),
        annotations={"openWorldHint": False},
        arguments=(
            ArgumentRecord(name="page", agent_name="page_number", description="Which page.", deprecated_aliases=("p",)),
            ArgumentRecord(name="mode", fill=Fill(kind=FillKind.CONSTANT, value=None)),
        ),
        variants=(
            Variant(
                name="open_orders",
                description="Open ones.",
                arguments=(ArgumentRecord(name="mode", fill=Fill(kind=FillKind.DEFERRED, source="tenant")),),
                body={"type": "object"},
                body_required=False,
                annotations={"readOnlyHint": True},
            ),
        ),
        family_parameter="mode",
    )


def test_null_says_nothing() -> None:
    extension = dict.fromkeys(["expose", "name", "prefix", "description", "tags", "searchTerms", "annotations"])
    assert read_markers(operation(extension=extension)) == Markers()


@pytest.mark.parametrize(
    ("extension", "problem"),
    [
        ({"expose": 1}, "expose must be true or false, not a number"),
        ({"expose": "true"}, "expose must be true or false, not a text"),
        ({"name": ["a"]}, "name must be a text, not a list"),
        ({"prefix": {"a": 1}}, "prefix must be a text, not an object"),
        ({"description": False}, "description must be a text, not a boolean"),
        ({"tags": "orders"}, "tags must be a list of texts, not a text"),
        ({"tags": ["a", None]}, "tags must be a list of texts, but it holds null"),
        ({"searchTerms": ["a", 1.5]}, "searchTerms must be a list of texts, but it holds a number"),
        ({"arguments": {}}, "arguments must be a list of objects, not an object"),
        ({"arguments": ["page"]}, "arguments[0] must be an object, not a text"),
        ({"arguments": [{"as": "page"}]}, "arguments[0] has no name and is left out"),
        (
            {"arguments": [{"name": "a", "hidden": {"kind": "gone"}}]},
            "arguments[0].hidden.kind must be one of constant, deferred, omit",
        ),
        (
            {"arguments": [{"name": "a", "hidden": {"kind": "constant"}}]},
            "arguments[0].hidden has no value and is left out",
        ),
        (
            {"arguments": [{"name": "a", "hidden": {"kind": "deferred"}}]},
            "arguments[0].hidden has no source and is left out",
        ),
        ({"variants": [{"name": "a"}]}, "variants[0] has no description and is left out"),
        ({"familyParameter": 1}, "familyParameter must be a text, not a number"),
        ({"annotations": []}, "annotations must be an object of hints, not a list"),
        ({"annotations": {"readOnlyHint": None}}, "annotations.readOnlyHint must be true or false, not null"),
    ],
)
def test_member_of_another_type_is_ignored_and_named(extension: dict[str, Any], problem: str) -> None:
    assert read_markers(operation(extension=extension)) == Markers(problems=(problem,))


def test_good_members_survive_bad_ones() -> None:
    extension = {"name": 3, "expose": True, "annotations": {"readOnlyHint": True, "idempotentHint": "no"}}
    assert read_markers(operation(extension=extension)) == Markers(
        expose=True,
        annotations={"readOnlyHint": True},
        problems=(
            "name must be a text, not a number",
            "annotations.idempotentHint must be true or false, not a text",
        ),
    )


def test_unknown_members_are_named() -> None:
    extension = {"exposed": True, "annotations": {"readOnly": True}}
    assert [problem.split(";")[0] for problem in read_markers(operation(extension=extension)).problems] == [
        "exposed is no member of it",
        "annotations.readOnly is no hint",
    ]
