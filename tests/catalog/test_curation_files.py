"""curation.md, "Where a value comes from": what a file of curation may hold, and what is said of one that does not."""

import json
from typing import Any

import pytest

from sezzlee_mcp.catalog.curation_files import read_curation, write_curation
from sezzlee_mcp.errors import FileUnreadable

SECTIONS: dict[str, Any] = {
    "operations": {},
    "tags": {},
    "selectionRules": [],
    "argumentRules": [],
    "visibilityPolicies": {},
}


def problems(**sections: Any) -> list[str]:
    with pytest.raises(FileUnreadable) as unreadable:
        read_curation(write_curation({**SECTIONS, **sections}))
    return list(unreadable.value.problems)


def of_operation(**members: Any) -> list[str]:
    at = "/operations/GET ~1a~1"
    found = problems(operations={"GET /a/": members})
    assert all(problem.startswith(at) for problem in found)
    return [problem.removeprefix(at) for problem in found]


def of_argument(**members: Any) -> list[str]:
    found = of_operation(arguments=[{"name": "q", **members}])
    return [problem.removeprefix("/arguments/0") for problem in found]


def test_what_is_written_is_read_again() -> None:
    constant = {"b": [1, 2.5, None, "–"], "a": {}}
    arguments = [{"name": "q", "hidden": {"kind": "constant", "value": constant}}]
    sections = {**SECTIONS, "operations": {"GET /a/": {"expose": False, "arguments": arguments}}}

    assert read_curation(write_curation(sections)) == sections


def test_one_value_stands_on_a_line() -> None:
    sections = {**SECTIONS, "tags": {"Été": "Hot."}, "operations": {"GET /a/": {"searchTerms": ["one", "two"]}}}

    assert write_curation(sections).splitlines() == [
        "{",
        '  "sezzlee_curation": 1,',
        '  "operations": {',
        '    "GET /a/": {',
        '      "searchTerms": [',
        '        "one",',
        '        "two"',
        "      ]",
        "    }",
        "  },",
        '  "tags": {',
        '    "Été": "Hot."',
        "  },",
        '  "selectionRules": [],',
        '  "argumentRules": [],',
        '  "visibilityPolicies": {}',
        "}",
    ]


def test_a_nul_character_is_said() -> None:
    with pytest.raises(FileUnreadable) as unreadable:
        read_curation('{"sezzlee_curation": 1, "a": "\\u0000"}')

    assert unreadable.value.problems == ("It holds a NUL character, which no database stores.",)


def test_a_section_that_is_left_out_is_no_empty_one() -> None:
    with pytest.raises(FileUnreadable) as unreadable:
        read_curation(json.dumps({"sezzlee_curation": 1, "operations": {}, "tags": {}, "argumentRules": []}))

    assert unreadable.value.problems == (
        "/: its selectionRules is missing.",
        "/: its visibilityPolicies is missing.",
    )


def test_everything_that_is_wrong_is_said_at_once() -> None:
    assert problems(operations=[], tags={"a": None}, selectionRules={}, visibilityPolicies={"b": 1}) == [
        "/operations: it is an object, and this is a list.",
        "/tags/a: it is a text, and this is null.",
        "/selectionRules: it is a list, and this is an object.",
        "/visibilityPolicies/b: it is an object, and this is a number.",
    ]


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"nmae": "a"}, "/nmae: there is no such member. Did you mean 'name'?"),
        ({"zzz": "a"}, "/zzz: there is no such member."),
        ({"expose": "yes"}, "/expose: it is true or false, and this is a text."),
        ({"name": None}, "/name: it is a text that is not empty, and this is null."),
        ({"title": " "}, "/title: it is a text that is not empty, and this is empty."),
        ({"tags": "a"}, "/tags: it is a list, and this is a text."),
        ({"tags": ["a", "a"]}, "/tags/1: it is there already."),
        ({"searchTerms": ["a", 1]}, "/searchTerms/1: it is a text that is not empty, and this is a number."),
        ({"annotations": {"readOnly": True}}, "/annotations/readOnly: there is no such member."),
        ({"annotations": {"readOnlyHint": 1}}, "/annotations/readOnlyHint: it is true or false, and this is a number."),
        ({"deadlineSeconds": True}, "/deadlineSeconds: it is a number, and this is a boolean."),
        ({"deadlineSeconds": 10**400}, "/deadlineSeconds: it is a number, and this is a number."),
        ({"budgetBytes": 1.5}, "/budgetBytes: it is a whole number, and this is a number."),
        ({"variants": [{"name": "a"}]}, "/variants/0: its description is missing."),
        ({"variants": [{"name": "a", "description": "A."}] * 2}, "/variants/1: an earlier one has the same name."),
        (
            {"variants": [{"name": "a", "description": "A.", "key": None}]},
            "/variants/0/key: it is JSON other than null, and this is null.",
        ),
        (
            {"variants": [{"name": "a", "description": "A.", "body": True}]},
            "/variants/0/body: it is a schema, which is an object, and this is a boolean.",
        ),
        ({"arguments": [{"as": "a"}]}, "/arguments/0: its name is missing."),
        ({"arguments": [{"name": "a"}] * 2}, "/arguments/1: an earlier one has the same name."),
    ],
)
def test_what_cannot_be_said_of_an_operation(members: dict[str, Any], found: str) -> None:
    (said,) = of_operation(**members)
    assert said.startswith(found)


@pytest.mark.parametrize(
    ("hidden", "found"),
    [
        (True, [": it is an object, and this is a boolean."]),
        ({}, [": its kind is missing."]),
        (
            {"kind": "ommit"},
            ["/kind: it is one of constant, deferred, omit, and this is 'ommit'. Did you mean 'omit'?"],
        ),
        ({"kind": 1}, ["/kind: it is a text, and this is a number."]),
        ({"kind": "constant"}, [": its value is missing."]),
        ({"kind": "deferred"}, [": its source is missing."]),
        ({"kind": "deferred", "source": "a", "value": 1}, ["/value: there is no such member."]),
        ({"kind": "omit", "source": "a"}, ["/source: there is no such member."]),
    ],
)
def test_how_an_argument_cannot_be_hidden(hidden: Any, found: list[str]) -> None:
    assert [problem.removeprefix("/hidden") for problem in of_argument(hidden=hidden)] == found


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ({"argument": "a"}, [": it has exactly one of hidden, description, prefix."]),
        (
            {"argument": "a", "prefix": "p", "description": "d"},
            [": it has exactly one of hidden, description, prefix."],
        ),
        ({"prefix": "p"}, [": its argument is missing."]),
        (
            {"argument": "a", "hidden": {"kind": "deferred", "source": "s"}},
            ["/hidden/kind: it is one of constant, omit, and this is 'deferred'."],
        ),
    ],
)
def test_what_no_argument_rule_says(rule: dict[str, Any], found: list[str]) -> None:
    assert [problem.removeprefix("/argumentRules/0") for problem in problems(argumentRules=[rule])] == found


def test_two_rules_about_the_same_are_refused() -> None:
    rule = {"argument": "a", "prefix": "p"}

    assert problems(argumentRules=[rule, {**rule, "prefix": "q"}], selectionRules=[{"decision": "include"}] * 2) == [
        "/selectionRules/1: an earlier one has the same route, method, decision.",
        "/argumentRules/1: an earlier one has the same route, argument, location.",
    ]


def test_a_policy_that_concerns_no_tool_is_refused() -> None:
    assert problems(visibilityPolicies={"a": {"rule": "staff", "routes": []}}) == [
        "/visibilityPolicies/a: it concerns no tool; name some in operations, tags, routes. "
        "The route ** matches every tool."
    ]
