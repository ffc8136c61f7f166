from dataclasses import replace
from typing import Any

import pytest

from sezzlee_mcp.catalog import Curation, OperationCuration, Source, Value, resolve
from sezzlee_mcp.openapi.descriptors import Endpoint
from tests.catalog.making import EVERYTHING, codes, operation, staffed

KEY = "GET /orders/"


def value(value: Any, source: Source, beneath: Any) -> Value[Any]:
    return Value(value=value, source=source, beneath=beneath)


DOCUMENTED = operation(
    operation_id="orders_list",
    summary="Orders",
    description="Lists the orders.",
    tags=("orders",),
    search_terms=("purchase",),
)
MARKED = replace(
    DOCUMENTED,
    extension={
        "expose": False,
        "name": "list_orders",
        "description": "Finds orders.",
        "tags": ["shop"],
        "searchTerms": ["sale"],
        "annotations": {"openWorldHint": False},
    },
)
CHOSEN = OperationCuration(
    exposed=True,
    name="find_orders",
    description="Finds the shop's orders.",
    title="Find orders",
    annotations={"idempotentHint": False},
    tags=("desk",),
    search_terms=("deal",),
)
HINTS = {"readOnlyHint": True, "idempotentHint": True}


def test_document_speaks_where_nobody_else_does() -> None:
    resolved = resolve(DOCUMENTED, EVERYTHING)
    assert resolved.exposed == value(True, Source.DEFAULT, True)
    assert resolved.name == value("orders_list", Source.DOCUMENT, "orders_list")
    assert resolved.description == value("Lists the orders.", Source.DOCUMENT, "Lists the orders.")
    assert resolved.title == value("Orders", Source.DOCUMENT, "Orders")
    assert resolved.tags == value(("orders",), Source.DOCUMENT, ("orders",))
    assert resolved.search_terms == value(("purchase",), Source.DOCUMENT, ("purchase",))
    assert resolved.annotations == value(HINTS, Source.RULE, HINTS)
    assert (resolved.selection_diagnostics, resolved.diagnostics) == ((), ())


def test_code_markers_beat_the_document() -> None:
    resolved = resolve(MARKED, EVERYTHING)
    hints = {**HINTS, "openWorldHint": False}
    assert resolved.exposed == value(False, Source.CODE, False)
    assert resolved.name == value("list_orders", Source.CODE, "list_orders")
    assert resolved.description == value("Finds orders.", Source.CODE, "Finds orders.")
    assert resolved.tags == value(("shop",), Source.CODE, ("shop",))
    assert resolved.search_terms == value(("sale",), Source.CODE, ("sale",))
    assert resolved.annotations == value(hints, Source.CODE, hints)


def test_staff_beat_both_and_see_what_is_beneath() -> None:
    resolved = resolve(MARKED, Curation(operations={KEY: CHOSEN}))
    hints = {**HINTS, "openWorldHint": False}
    assert resolved.exposed == value(True, Source.STAFF, False)
    assert resolved.name == value("find_orders", Source.STAFF, "list_orders")
    assert resolved.description == value("Finds the shop's orders.", Source.STAFF, "Finds orders.")
    assert resolved.title == value("Find orders", Source.STAFF, "Orders")
    assert resolved.tags == value(("desk",), Source.STAFF, ("shop",))
    assert resolved.search_terms == value(("deal",), Source.STAFF, ("sale",))
    assert resolved.annotations == value({**hints, "idempotentHint": False}, Source.STAFF, hints)


def test_nothing_said_anywhere_is_the_default() -> None:
    resolved = resolve(operation(), Curation())
    assert resolved.description == value("GET /orders/", Source.DEFAULT, "GET /orders/")
    assert resolved.title == value("", Source.DEFAULT, "")
    assert resolved.tags == resolved.search_terms == value((), Source.DEFAULT, ())
    assert resolved.name == value("get_orders", Source.RULE, "get_orders")


def test_empty_choice_of_staff_means_empty() -> None:
    resolved = resolve(DOCUMENTED, staffed(KEY, title="", tags=(), search_terms=()))
    assert resolved.title == value("", Source.STAFF, "Orders")
    assert resolved.tags == value((), Source.STAFF, ("orders",))
    assert resolved.search_terms == value((), Source.STAFF, ("purchase",))


@pytest.mark.parametrize(
    ("summary", "description", "expected"),
    [
        (None, None, "GET /orders/"),
        ("", "", "GET /orders/"),
        ("Orders", None, "Orders"),
        (None, "Lists *orders*.\n\n- all", "Lists *orders*.\n\n- all"),
        ("Orders", "All of them.", "All of them."),
        ("Orders", "Orders\n\nAll of them.", "Orders\n\nAll of them."),
    ],
)
def test_description_never_says_the_summary_twice(summary: str | None, description: str | None, expected: str) -> None:
    assert resolve(operation(summary=summary, description=description), EVERYTHING).description.value == expected


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("GET", HINTS),
        ("HEAD", HINTS),
        ("OPTIONS", HINTS),
        ("QUERY", HINTS),
        ("POST", {"destructiveHint": False}),
        ("PUT", {"destructiveHint": True, "idempotentHint": True}),
        ("PATCH", {"destructiveHint": True}),
        ("DELETE", {"destructiveHint": True, "idempotentHint": True}),
        ("PURGE", {}),
    ],
)
def test_hints_follow_from_the_method(method: str, expected: dict[str, bool]) -> None:
    assert resolve(operation(method), EVERYTHING).annotations.value == expected


@pytest.mark.parametrize(
    ("method", "expected"),
    [("POST", {}), ("GET", HINTS), ("DELETE", {"destructiveHint": True, "idempotentHint": True})],
)
def test_post_on_an_extra_route_promises_nothing(method: str, expected: dict[str, bool]) -> None:
    route = "/orders/{id}/cancel/"
    endpoint = Endpoint(path=route, route="orders/<pk>/cancel/", view="v", action="cancel", is_extra_action=True)
    assert resolve(operation(method, route, endpoint=endpoint), EVERYTHING).annotations.value == expected


def test_tags_that_fold_alike_are_one_and_empty_ones_none() -> None:
    resolved = resolve(operation(tags=("Café", "", "orders", "cafe", " ", "CAFÉ")), EVERYTHING)
    assert resolved.tags.value == ("Café", "orders")
    assert [(found.code, found.message) for found in resolved.diagnostics] == [
        ("duplicate_tag", "The tags Café, cafe, CAFÉ are one tag once case and accents are folded."),
        ("empty_tag", "An empty tag was left out."),
    ]


def test_search_terms_that_fold_alike_are_one_and_empty_ones_none() -> None:
    resolved = resolve(operation(search_terms=("sale", "", "Sale", "deal", "SALE")), EVERYTHING)
    assert resolved.search_terms.value == ("sale", "deal")
    assert [(found.code, found.message) for found in resolved.diagnostics] == [
        ("duplicate_search_term", "The search term Sale stands twice."),
        ("duplicate_search_term", "The search term SALE stands twice."),
        ("empty_search_term", "An empty search term was left out."),
    ]


def test_only_the_tags_in_force_are_judged() -> None:
    resolved = resolve(operation(tags=("a", "A")), staffed(KEY, tags=("b",)))
    assert resolved.tags == value(("b",), Source.STAFF, ("a",))
    assert resolved.diagnostics == ()


def test_bad_marker_is_reported_for_an_operation_that_is_not_exposed_too() -> None:
    resolved = resolve(operation(extension={"expose": "yes"}), Curation())
    assert [(found.code, found.operation, found.message) for found in resolved.selection_diagnostics] == [
        ("extension_invalid", KEY, "x-sezzlee: expose must be true or false, not a text; that is ignored.")
    ]
    assert codes(resolved.diagnostics) == []
