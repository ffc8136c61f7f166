"""visibility.md, "Permission check tier": what stands for path variables that nobody has named."""

from typing import Any

import pytest

from sezzlee_mcp.catalog import Exposed, Fill, FillKind, Slot, Template
from sezzlee_mcp.invoke.placeholders import placeholder_path


def slot(name: str, kind: str = "string", location: str = "path", **facts: Any) -> Slot:
    return Slot(name=name, location=location, type=kind, style="simple", explode=False, required=True, **facts)


def constant(value: Any) -> Exposed:
    return Exposed(name=None, fill=Fill(kind=FillKind.CONSTANT, value=value))


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        (slot("id", "integer"), "/a/1/"),
        (slot("id", "number"), "/a/1/"),
        (slot("id", format="uuid"), "/a/00000000-0000-0000-0000-000000000000/"),
        (slot("id", format="date"), "/a/2000-01-01/"),
        (slot("id", format="email"), "/a/probe/"),
        (slot("id", "any"), "/a/probe/"),
        (slot("id", location="query"), "/a/probe/"),
    ],
)
def test_placeholder_is_of_the_variables_type(variable: Slot, expected: str) -> None:
    assert placeholder_path(Template(method="GET", route="/a/{id}/", slots=(variable,)), {}) == (expected, True)


def test_the_host_gives_values_by_name() -> None:
    template = Template(method="GET", route="/{shop}/{id}/", slots=(slot("shop"), slot("id", "integer")))
    assert placeholder_path(template, {"shop": "a/b ü", "other": 5}) == ("/a%2Fb%20%C3%BC/1/", True)


def test_a_constant_of_the_tool_wins_and_is_no_placeholder() -> None:
    template = Template(method="GET", route="/{shop}/", slots=(slot("shop", exposed=constant("main")),))
    assert placeholder_path(template, {"shop": "other"}) == ("/main/", False)


def test_one_variable_without_a_constant_is_enough_for_a_placeholder() -> None:
    slots = (slot("shop", exposed=constant("main")), slot("id", "integer"))
    assert placeholder_path(Template(method="GET", route="/{shop}/{id}/", slots=slots), {}) == ("/main/1/", True)


def test_a_path_without_variables_has_no_placeholder() -> None:
    assert placeholder_path(Template(method="GET", route="/a/"), {}) == ("/a/", False)
