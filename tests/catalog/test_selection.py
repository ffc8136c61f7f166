import re
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.catalog import Curation, OperationCuration, Selection, SelectionRule, Source, select
from sezzlee_mcp.catalog.selection import matches
from sezzlee_mcp.diagnostics import Diagnostic, Severity
from tests.catalog.making import operation

KEY = "GET /api/orders/{id}/"
ORDER = operation(route="/api/orders/{id}/", container="orders")


def rule(decision: str, route: str | None = None, method: str | None = None) -> SelectionRule:
    return SelectionRule(include=decision == "include", route=route, method=method)


@pytest.mark.parametrize(
    ("glob", "route", "expected"),
    [
        ("/orders/", "/orders/", True),
        ("/orders/", "/orders", False),
        ("/orders", "/orders/", False),
        ("/Orders/", "/orders/", False),
        ("/*/", "/orders/", True),
        ("/*/", "//", True),
        ("/*/", "/orders/7/", False),
        ("*", "/orders", False),
        ("/*", "/orders", True),
        ("**", "/orders/7/notes/", True),
        ("**", "", True),
        ("*", "", True),
        ("", "", True),
        ("", "/", False),
        ("/api/**", "/api/", True),
        ("/api/**", "/api", False),
        ("/api/**/notes/", "/api/orders/7/notes/", True),
        ("/api/**/notes/", "/api/notes/", False),
        ("/api/**notes/", "/api/notes/", True),
        ("/orders/{id}/", "/orders/{id}/", True),
        ("/orders/{*}/", "/orders/{id}/", True),
        ("/orders/{id}/", "/orders/{pk}/", False),
        ("/o*s/", "/orders/", True),
        ("/o*d*s/", "/orders/", True),
        ("/o*x*s/", "/orders/", False),
        ("/***/x", "/a/b/x", True),
        ("/a.c", "/abc", False),
        ("/a?c", "/abc", False),
        ("/[a]", "/a", False),
        ("/a+", "/aa", False),
        ("/\n*", "/\nx", True),
        ("/*", "/a\nb", True),
    ],
)
def test_glob_matches_the_whole_route(glob: str, route: str, expected: bool) -> None:
    assert matches(glob, route) is expected


@given(st.text("ab/*", max_size=10), st.text("ab/", max_size=10))
def test_glob_agrees_with_a_regular_expression(glob: str, route: str) -> None:
    pieces = {"**": ".*", "*": "[^/]*"}
    pattern = "".join(pieces.get(piece, piece) for piece in re.findall(r"\*\*|\*|.", glob))
    assert matches(glob, route) is bool(re.fullmatch(pattern, route))


def test_glob_of_many_stars_ends() -> None:
    assert not matches("/" + "*a" * 200 + "b", "/" + "a" * 2000)
    assert not matches("/" + "**a" * 200 + "b", "/" + "a" * 2000)


def test_nothing_is_exposed_by_default() -> None:
    assert select(ORDER, Curation()) == Selection(included=False, source=Source.DEFAULT, beneath=False)


LEVELS = [
    ("staff", Source.STAFF),
    ("code", Source.CODE),
    ("container", Source.CONTAINER),
    ("rule", Source.RULE),
    ("default", Source.DEFAULT),
]


@pytest.mark.parametrize("decides", [True, False])
@pytest.mark.parametrize("highest", range(len(LEVELS)))
def test_most_specific_marker_wins(highest: int, decides: bool) -> None:
    said = {name: (decides if index == highest else not decides) for index, (name, _) in enumerate(LEVELS)}
    present = {name for name, _ in LEVELS[highest:]}
    descriptor = operation(
        route="/api/orders/{id}/",
        container="orders",
        extension={"expose": said["code"]} if "code" in present else None,
    )
    curation = Curation(
        operations={KEY: OperationCuration(exposed=said["staff"])} if "staff" in present else {},
        containers={"orders": said["container"]} if "container" in present else {},
        rules=(SelectionRule(include=said["rule"]),) if "rule" in present else (),
        exposed_by_default=said["default"],
    )
    source = LEVELS[highest][1]
    expected = Selection(
        included=decides,
        source=source,
        beneath=not decides if source is Source.STAFF else decides,
        rules=curation.rules if source is Source.RULE else (),
    )
    assert select(descriptor, curation) == expected


@pytest.mark.parametrize(
    ("rules", "deciding"),
    [
        ([rule("include", "/api/**")], [0]),
        ([rule("include", "/other/**")], []),
        ([rule("include", method="get")], [0]),
        ([rule("include", method="POST")], []),
        ([rule("include", "/api/**", "Get")], [0]),
        ([rule("include", "/api/**", "DELETE")], []),
        ([rule("exclude"), rule("include", "/api/**")], [1]),
        ([rule("include"), rule("exclude", method="GET")], [1]),
        ([rule("exclude", "/api/**"), rule("include", "/api/**", "GET")], [1]),
        ([rule("exclude", "/api/**"), rule("exclude", method="GET")], [0, 1]),
        ([rule("include", "/api/**"), rule("include", "/api/orders/**")], [0, 1]),
    ],
)
def test_rule_that_names_more_fields_wins_in_any_order(rules: list[SelectionRule], deciding: list[int]) -> None:
    decided = tuple(rules[place] for place in deciding)
    expected = (
        Selection(included=decided[0].include, source=Source.RULE, beneath=decided[0].include, rules=decided)
        if decided
        else Selection(included=False, source=Source.DEFAULT, beneath=False)
    )
    assert {select(ORDER, Curation(rules=order)) for order in permutations(rules)} == {expected}


def test_exclude_wins_among_equal_rules_and_is_reported() -> None:
    rules = (rule("exclude", "/api/orders/**"), rule("include", "/api/**"))
    ambiguous = Diagnostic(
        code="ambiguous_selection",
        severity=Severity.WARNING,
        pointer="",
        message="Selection rules of equal rank say include and exclude "
        "(exclude * /api/orders/**, include * /api/**); exclude wins.",
        operation=KEY,
    )
    expected = Selection(included=False, source=Source.RULE, beneath=False, rules=rules, diagnostics=(ambiguous,))
    assert {select(ORDER, Curation(rules=order)) for order in permutations(rules)} == {expected}


def test_staff_choice_settles_an_ambiguity() -> None:
    curation = Curation(
        operations={KEY: OperationCuration(exposed=True)},
        rules=(rule("include", "/api/**"), rule("exclude", "/api/orders/**")),
    )
    assert select(ORDER, curation) == Selection(included=True, source=Source.STAFF, beneath=False)


def test_marker_of_another_type_decides_nothing() -> None:
    descriptor = operation(extension={"expose": "yes"})
    assert select(descriptor, Curation()) == Selection(included=False, source=Source.DEFAULT, beneath=False)


def test_container_is_the_documents_and_not_a_curated_tag() -> None:
    curation = Curation(operations={KEY: OperationCuration(tags=("other",))}, containers={"other": True})
    assert not select(ORDER, curation).included
