"""search.md, "The three meta-tools": permissive binding."""

import pytest

from sezzlee_mcp.errors import CallError, Continuation
from sezzlee_mcp.protocol.binding import InvokeCall, LoadCall, SearchCall, bind
from sezzlee_mcp.protocol.metatools import MetaTool

INVOKE, LOAD, SEARCH = MetaTool.INVOKE, MetaTool.LOAD, MetaTool.SEARCH


def refused(tool, arguments):
    with pytest.raises(CallError) as caught:
        bind(tool, arguments)
    return caught.value


@pytest.mark.parametrize(
    ("tool", "arguments", "call"),
    [
        (SEARCH, {}, SearchCall(query="", limit=20, wants_schema=False, tags=())),
        (SEARCH, {"query": None, "limit": None, "detail": None, "tags": None}, SearchCall()),
        (
            SEARCH,
            {"query": "Ölfass ", "limit": 3, "detail": "schema", "tags": ["Order Notes", ""]},
            SearchCall(query="Ölfass ", limit=3, wants_schema=True, tags=("Order Notes", "")),
        ),
        (SEARCH, {"tags": []}, SearchCall()),
        (LOAD, {"name": "get_crate"}, LoadCall(name="get_crate")),
        (LOAD, {"name": ""}, LoadCall(name="")),
        (INVOKE, {"name": "ping"}, InvokeCall(name="ping", arguments={}, version=None, was_unwrapped=False)),
        (INVOKE, {"name": "ping", "arguments": None, "version": None}, InvokeCall(name="ping", arguments={})),
        (
            INVOKE,
            {"name": "a", "arguments": {"id": 1}, "version": "6361f59c"},
            InvokeCall(name="a", arguments={"id": 1}, version="6361f59c"),
        ),
        (
            INVOKE,
            {"name": "a", "arguments": ' {"id": [1, null]} '},
            InvokeCall(name="a", arguments={"id": [1, None]}, was_unwrapped=True),
        ),
        (INVOKE, {"name": "a", "arguments": "{}"}, InvokeCall(name="a", arguments={}, was_unwrapped=True)),
    ],
)
def test_arguments_bind(tool, arguments, call):
    assert bind(tool, arguments) == call


@pytest.mark.parametrize(
    ("value", "limit"),
    [
        (1, 1),
        (50, 50),
        (0, 1),
        (-7, 1),
        (51, 50),
        (10**300, 50),
        (-(10**300), 1),
        (7.9, 7),
        (0.5, 1),
        (50.9, 50),
        (1e300, 50),
        ("7", 7),
        (" 7 ", 7),
        ("7.9", 7),
        ("-3", 1),
        ("+3", 3),
        ("1e1", 10),
        ("1e999", 50),
        ("-1e999", 1),
        ("9" * 5000, 50),
        ("", 20),
        ("ten", 20),
        ("nan", 20),
        ("NaN", 20),
        ("Infinity", 20),
        ("1_0", 20),
        ("0x10", 20),
        ("７", 20),
        ("5 6", 20),
        (True, 20),
        (False, 20),
        (None, 20),
        ([5], 20),
        ({"limit": 5}, 20),
    ],
)
def test_limit_is_clamped_and_never_refused(value, limit):
    assert bind(SEARCH, {"limit": value}) == SearchCall(limit=limit)


@pytest.mark.parametrize("value", ["card", "Schema", "SCHEMA", " schema", "", None, True, 1, ["schema"], {}])
def test_detail_that_is_not_exactly_schema_is_card(value):
    assert bind(SEARCH, {"detail": value}) == SearchCall(wants_schema=False)


@pytest.mark.parametrize(
    ("name", "fits", "over"),
    [
        ("query", "é" * 2_000, "é" * 2_001),
        ("tags", ["é" * 1_000, "b" * 1_000], ["é" * 1_000, "b" * 1_001]),
    ],
)
def test_search_of_too_many_characters_is_refused_unread(name, fits, over):
    assert bind(SEARCH, {name: fits}) == SearchCall(**{name: fits if name == "query" else tuple(fits)})
    assert refused(SEARCH, {name: over}) == CallError(
        code="invalid_type",
        message=f"The argument '{name}' of search_tools takes at most 2000 characters; 2001 arrived.",
        continuation=Continuation(
            kind="revise_arguments",
            tool="search_tools",
            instruction="Repair the arguments as the message says and call search_tools again.",
        ),
    )


@pytest.mark.parametrize(
    ("value", "finding"),
    [
        ("orders", "a string arrived"),
        ("", "a string arrived"),
        (0, "a number arrived"),
        (False, "a boolean arrived"),
        ({}, "an object arrived"),
        (["orders", None], "null is among them"),
        ([["orders"]], "an array is among them"),
        (["orders", 3, None], "a number is among them"),
    ],
)
def test_tags_that_are_not_strings_are_refused_rather_than_dropped(value, finding):
    error = refused(SEARCH, {"tags": value})

    assert error == CallError(
        code="invalid_type",
        message=f"The argument 'tags' of search_tools must be an array of strings; {finding}.",
        continuation=Continuation(
            kind="revise_arguments",
            tool="search_tools",
            instruction="Repair the arguments as the message says and call search_tools again.",
        ),
    )


@pytest.mark.parametrize(
    ("value", "kind"), [(5, "a number"), (True, "a boolean"), (["order"], "an array"), ({}, "an object")]
)
def test_query_that_is_no_string_is_refused(value, kind):
    error = refused(SEARCH, {"query": value})

    assert (error.code, error.message) == (
        "invalid_type",
        f"The argument 'query' of search_tools must be a string of keywords; {kind} arrived.",
    )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([], "an array"),
        ([{"id": 1}], "an array"),
        (5, "a number"),
        (1.5, "a number"),
        (False, "a boolean"),
        ("", "a string that is not the JSON of an object"),
        ("id=1", "a string that is not the JSON of an object"),
        ("null", "a string that is not the JSON of an object"),
        ("[1]", "a string that is not the JSON of an object"),
        ('"{}"', "a string that is not the JSON of an object"),
        ('{"id": NaN}', "a string that is not the JSON of an object"),
        ('{"id": 1e999}', "a string that is not the JSON of an object"),
        ('{"id": "\\ud800"}', "a string that is not the JSON of an object"),
        ('{"a":' * 200 + "1" + "}" * 200, "a string that is not the JSON of an object"),
        ("[" * 100_000, "a string that is not the JSON of an object"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_arguments_that_are_no_object_are_refused_by_the_kind_that_arrived(value, kind):
    error = refused(INVOKE, {"name": "a", "arguments": value})

    assert error == CallError(
        code="invalid_type",
        message=f"The argument 'arguments' of invoke_tool must be an object with the operation's arguments; "
        f"{kind} arrived.",
        continuation=Continuation(
            kind="revise_arguments",
            tool="invoke_tool",
            instruction="Repair the arguments as the message says and call invoke_tool again.",
        ),
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        (LOAD, {"Name": "a"}, "load_tool takes no argument 'Name'. It takes 'name'. Did you mean 'name'?"),
        (LOAD, {"tool": "a"}, "load_tool takes no argument 'tool'. It takes 'name'."),
        (LOAD, {"name": "a", "version": "1"}, "load_tool takes no argument 'version'. It takes 'name'."),
        (
            SEARCH,
            {"q": "a"},
            "search_tools takes no argument 'q'. It takes 'query', 'limit', 'detail', 'tags'.",
        ),
        (
            SEARCH,
            {"query": "a", "tag": ["b"]},
            "search_tools takes no argument 'tag'. It takes 'query', 'limit', 'detail', 'tags'. Did you mean 'tags'?",
        ),
        (
            INVOKE,
            {"name": "a", "id": 1, "quantity": 2},
            "invoke_tool takes no argument 'id', 'quantity'. It takes 'name', 'arguments', 'version'. "
            "The operation's own arguments belong inside 'arguments'.",
        ),
        (
            INVOKE,
            {"name": "a", "argument": {}},
            "invoke_tool takes no argument 'argument'. It takes 'name', 'arguments', 'version'. "
            "Did you mean 'arguments'?",
        ),
        (
            INVOKE,
            {"z" * 500: 1},
            f"invoke_tool takes no argument '{'z' * 80}…'. It takes 'name', 'arguments', 'version'. "
            "The operation's own arguments belong inside 'arguments'.",
        ),
        (
            LOAD,
            {str(number): 1 for number in range(9)},
            "load_tool takes no argument '0', '1', '2', '3', '4'. It takes 'name'.",
        ),
        (
            LOAD,
            {},
            "load_tool takes the argument 'name', a string: an operation's name from search_tools; it is missing.",
        ),
        (
            INVOKE,
            {"arguments": {}},
            "invoke_tool takes the argument 'name', a string: an operation's name from search_tools; it is missing.",
        ),
        (
            LOAD,
            {"name": None},
            "load_tool takes the argument 'name', a string: an operation's name from search_tools; null arrived.",
        ),
        (
            INVOKE,
            {"name": ["a"]},
            "invoke_tool takes the argument 'name', a string: an operation's name from search_tools; an array arrived.",
        ),
        (
            INVOKE,
            {"name": "a", "version": 3},
            "The argument 'version' of invoke_tool must be the string that load_tool returned, or be left out; "
            "a number arrived.",
        ),
        (
            INVOKE,
            {"name": "a", "version": False},
            "The argument 'version' of invoke_tool must be the string that load_tool returned, or be left out; "
            "a boolean arrived.",
        ),
    ],
)
def test_misnamed_or_missing_argument_is_answered_with_the_ones_the_tool_takes(tool, arguments, message):
    error = refused(tool, arguments)

    assert (error.code, error.message, error.retryable) == ("unknown_argument", message, False)


def test_misnamed_argument_is_told_before_a_missing_one():
    error = refused(LOAD, {"nome": "a"})

    assert error.message == "load_tool takes no argument 'nome'. It takes 'name'. Did you mean 'name'?"
