import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.search import Case, CasesUnreadable, read_cases, write_cases
from sezzlee_mcp.search.cases import QUERY_CHARS, USER_CHARS

ORDERS = {"need": "What was ordered today?", "query": "orders", "expected": ["GET /api/orders/"]}

texts = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=USER_CHARS)
filled = texts.filter(str.strip)


def problems(value):
    with pytest.raises(CasesUnreadable) as refused:
        read_cases(json.dumps(value))
    return refused.value.problems


def test_a_file_is_a_list_of_cases_in_its_order():
    notes = {"need": "My notes?", "query": "notes", "user": "bob", "tags": ["Notes"], "expected": ["notes_list"]}

    assert read_cases(json.dumps([ORDERS, notes])) == (
        Case(need="What was ordered today?", query="orders", expected=("GET /api/orders/",)),
        Case(need="My notes?", query="notes", user="bob", tags=("Notes",), expected=("notes_list",)),
    )


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"cases": []}, "/: cases are a list of objects, and this is an object."),
        ("cases", "/: cases are a list of objects, and this is a text."),
        (None, "/: cases are a list of objects, and this is null."),
        ([], "/: cases are a list of objects, and this is an empty list."),
        ([["orders"]], "/0: a case is an object, and this is a list."),
        ([ORDERS | {"need": 7}], "/0/need: it is a text, and this is a number."),
        ([ORDERS | {"query": ["orders"]}], "/0/query: it is a text, and this is a list."),
        ([ORDERS | {"query": " "}], "/0/query: it is empty."),
        ([ORDERS | {"user": None}], "/0/user: it is a text, and this is null."),
        ([ORDERS | {"need": "x" * 301}], "/0/need: it has 301 characters, over the limit of 300."),
        ([ORDERS | {"expected": "GET /api/orders/"}], "/0/expected: it is a list of texts, and this is a text."),
        ([ORDERS | {"expected": []}], "/0/expected: it is empty."),
        ([ORDERS | {"expected": ["a", 1]}], "/0/expected/1: it is a text, and this is a number."),
        ([ORDERS | {"expected": [""]}], "/0/expected/0: it is a text, and this is empty."),
        ([ORDERS | {"query": "a\0"}], "/0/query: it holds a control character."),
        ([ORDERS | {"tags": ["\ud800"]}], "/: It is no JSON: a text holds half of a surrogate pair."),
        ([ORDERS | {"limit": 5}], "/0/limit: a case has need, query, user, tags, expected, and no such member."),
        ([ORDERS, {**ORDERS, "need": "Another?"}], "/1: an earlier case is the same search."),
    ],
)
def test_what_is_wrong_is_named_by_place_and_kind(value, problem):
    assert problems(value) == (problem,)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[", "/: It is no JSON: "),
        (b"\xff\xfe\x00", "/: It is not in UTF-8: "),
        ("[" * 100_000, "/: It is nested too deeply"),
        ('[{"need": "a", "need": "b"}]', "/: It is no JSON: an object has the member 'need' twice."),
    ],
)
def test_what_is_no_json_is_said_to_be_none(text, problem):
    with pytest.raises(CasesUnreadable, match=f"^{problem}"):
        read_cases(text)


def test_everything_wrong_is_said_at_once():
    assert problems([{"query": "orders"}, 7, ORDERS | {"tags": None}]) == (
        "/0: its need is missing.",
        "/0: its expected is missing.",
        "/1: a case is an object, and this is a number.",
        "/2/tags: it is a list of texts, and this is null.",
    )


@given(
    st.lists(
        st.builds(
            Case,
            need=filled,
            query=filled.filter(lambda text: len(text) <= QUERY_CHARS),
            user=texts,
            tags=st.lists(filled, max_size=2).map(tuple),
            expected=st.lists(filled, min_size=1, max_size=3).map(tuple),
        ),
        min_size=1,
        unique_by=lambda case: case.search,
    )
)
def test_cases_that_were_written_are_read_again(cases):
    written = write_cases(cases)

    assert read_cases(written) == read_cases(written.encode()) == tuple(cases)
    assert written.count("\n") == len(cases) + 2
