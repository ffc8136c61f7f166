"""invoke.md, "Compose" and "Bodies", live: what a view's parser read of a call is what the agent sent."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as bounded
from hypothesis import strategies as st
from pytest_django import Settings

from sezzlee_mcp.invoke.arguments import number_text
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.testapp import round_trip

Invoke = Callable[[str, dict[str, Any]], Any]
# The database is set up once per test: no example writes to it.
fuzzed = bounded(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

AWKWARD = ["", " ", "\r\n", "\0", '"', "a\r\nX-Admin: 1", "&a=b;c", "%0A+%", ",|%20 ", "null", "__proto__", "😀ü\u2028"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(AWKWARD)
# DRF's CharField takes no NUL.
FIELD_TEXTS = TEXTS.filter(lambda text: "\0" not in text)
WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
FRACTIONS = st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | FRACTIONS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)


@pytest.fixture
def sent(db: None, settings: Settings) -> Invoke:
    """What the view of a tool read of a call with these arguments."""
    settings.ROOT_URLCONF = round_trip.__name__
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    sync()
    agent = McpClient()

    def invoke(tool: str, arguments: dict[str, Any]) -> Any:
        round_trip.read.clear()
        envelope = agent.invoke(tool, arguments)
        assert envelope == {"status": 200, "body": {"kept": True}}
        (read,) = round_trip.read
        return read

    return invoke


# -- bodies --


@fuzzed
@given(value=JSON_VALUES)
@example(value=None)
@example(value=[[], [[]], {}, {"": None}, 10**299, 1e308, -0.0])
def test_json_of_any_kind_is_read_as_it_was_sent(sent: Invoke, value: Any) -> None:
    assert exactly(sent("json_any", {"body": value})) == exactly(value)


@fuzzed
@given(members=st.dictionaries(TEXTS, JSON_VALUES, max_size=4))
def test_members_of_an_open_object_keep_their_names_and_values(sent: Invoke, members: dict[str, Any]) -> None:
    assert exactly(sent("json_open", members)) == exactly(members)


def exactly(value: Any) -> str:
    """The value as text: of equal values only those of one type and sign have the same."""
    return json.dumps(value, sort_keys=True)


@st.composite
def filled_forms(draw: st.DrawFn) -> dict[str, Any]:
    fields = {
        **dict.fromkeys(round_trip.FIELD_NAMES, TEXTS),
        "many": st.lists(TEXTS, max_size=3),
        "whole": WHOLE,
        "fraction": FRACTIONS,
        "flag": st.booleans(),
    }
    return draw(st.fixed_dictionaries({}, optional=fields))


@fuzzed
@given(arguments=filled_forms())
@example(arguments={"flag": False})
def test_urlencoded_form_is_read_as_it_was_sent(sent: Invoke, arguments: dict[str, Any]) -> None:
    assert dict(sent("urlencoded", arguments).lists()) == texts_of(arguments)


@fuzzed
@given(arguments=filled_forms())
def test_multipart_form_is_read_as_it_was_sent(sent: Invoke, arguments: dict[str, Any]) -> None:
    assert dict(sent("multipart", arguments).lists()) == texts_of(arguments)


def texts_of(arguments: dict[str, Any]) -> dict[str, list[str]]:
    """The texts by key that a form of these arguments has; an empty list has none."""
    lists = {name: value if isinstance(value, list) else [value] for name, value in arguments.items()}
    return {name: [text_of(value) for value in values] for name, values in lists.items() if values}


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else number_text(value)


# A name with a quote or a slash is refused; Django decodes HTML entities and drops what cannot be printed.
FILE_NAMES = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters='/\\&"'), min_size=1, max_size=40)


@fuzzed
@given(
    data=st.binary(max_size=300) | TEXTS.map(str.encode),
    name=FILE_NAMES.filter(lambda name: name not in {".", ".."}),
    media_type=st.sampled_from(["text/plain", "image/png", "application/x-y+json"]),
    text=TEXTS,
)
@example(data=b"\r\n--part-\r\n", name="Ω';filename=x.txt", media_type="image/png", text="--")
def test_file_is_read_as_it_was_sent(sent: Invoke, data: bytes, name: str, media_type: str, text: str) -> None:
    file = {"base64": base64.b64encode(data).decode(), "name": name, "mediaType": media_type}

    read = sent("multipart", {"text": text, "file": file})

    assert read == {"text": text, "file": (name, media_type, data)}


# A body of no bytes is no body to DRF: no parser is asked, and the view reads an empty object.
@fuzzed
@given(text=TEXTS)
@example(text="")
def test_plain_text_is_read_as_it_was_sent(sent: Invoke, text: str) -> None:
    assert sent("text", {"body": text}) == (text or {})


@fuzzed
@given(data=st.binary(max_size=300), text=TEXTS)
def test_bytes_are_read_as_they_were_sent(sent: Invoke, data: bytes, text: str) -> None:
    assert sent("octets", {"body": {"base64": base64.b64encode(data).decode()}}) == (data or {})
    assert sent("octets", {"body": {"text": text}}) == (text.encode() or {})


NESTED = st.fixed_dictionaries(
    {
        "rows": st.lists(
            st.fixed_dictionaries(
                {"label": FIELD_TEXTS, "amount": WHOLE, "marks": st.lists(FIELD_TEXTS, min_size=1, max_size=3)}
            ),
            min_size=1,
            max_size=3,
        ),
        "inner": st.fixed_dictionaries({"note": FIELD_TEXTS, "ratio": FRACTIONS}),
        "numbers": st.lists(WHOLE, min_size=1, max_size=3),
        "flag": st.booleans(),
    }
)


@pytest.mark.parametrize("family", ["json", "urlencoded", "multipart"])
@fuzzed
@given(arguments=NESTED)
def test_nested_rows_are_what_the_serializer_reads(sent: Invoke, family: str, arguments: dict[str, Any]) -> None:
    assert sent(f"nested_{family}", arguments) == arguments


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("urlencoded", {"text": None}, "null_not_allowed"),
        ("multipart", {"many": ["a", None]}, "null_not_allowed"),
        ("text", {"body": None}, "null_not_allowed"),
        ("urlencoded", {"whole": 2**53}, "invalid_type"),
        ("query", {"commas": [None]}, "null_not_allowed"),
        ("headers", {"X-Text": "a\r\nX-Admin: 1"}, "header_injection"),
    ],
)
def test_what_a_place_cannot_hold_reaches_no_view(sent: Invoke, tool: str, arguments: Any, code: str) -> None:
    round_trip.read.clear()

    assert McpClient().invoke(tool, arguments)["error"] == code
    assert round_trip.read == []


# -- parameters --

LISTS = st.lists(TEXTS, min_size=1, max_size=3)
# The delimiter of spaceDelimited is an encoded space, so no element can hold one.
WITHOUT_SPACES = st.lists(TEXTS.filter(lambda text: " " not in text), min_size=1, max_size=3)
DEEP = st.fixed_dictionaries({}, optional={"min": FRACTIONS, "a b": TEXTS, "many": LISTS})


@fuzzed
@given(
    texts=st.fixed_dictionaries({}, optional=dict.fromkeys(["one", "reserved", "a b&ü"], TEXTS)),
    exploded=LISTS,
    joined=st.fixed_dictionaries({}, optional={"commas": LISTS, "spaces": WITHOUT_SPACES, "pipes": LISTS}),
    deep=DEEP,
    value=JSON_VALUES.filter(lambda value: value is not None),
)
def test_query_of_every_style_is_read_as_it_was_sent(
    sent: Invoke, texts: Any, exploded: Any, joined: Any, deep: Any, value: Any
) -> None:
    read, delimited = sent("query", {**texts, **joined, "exploded": exploded, "deep": deep, "json": value})

    (json_text,) = read.pop("json")
    assert exactly(json.loads(json_text)) == exactly(value)
    assert {key: read[key] for key in read.keys() - joined.keys()} == {
        "exploded": exploded,
        **{key: [text] for key, text in texts.items()},
        **texts_of({f"deep[{name}]": member for name, member in deep.items()}),
    }
    assert (delimited, joined.keys() - read.keys()) == (joined, set())


@pytest.mark.parametrize(("style", "prefix"), [("simple", ""), ("label", "."), ("matrix", ";value=")])
@fuzzed
@given(text=TEXTS.filter(lambda text: "/" not in text and text not in {"", ".", ".."}))
def test_path_of_every_style_is_read_as_it_was_sent(sent: Invoke, style: str, prefix: str, text: str) -> None:
    assert sent(f"path_{style}", {"value": text}) == prefix + text


LATIN_1 = st.text(st.characters(max_codepoint=0xFF, exclude_characters="\r\n\0"), max_size=30)


@fuzzed
@given(text=LATIN_1, many=st.lists(LATIN_1, min_size=1, max_size=3), value=JSON_VALUES, crumb=TEXTS, whole=WHOLE)
def test_headers_and_cookies_are_read_as_they_were_sent(
    sent: Invoke, text: str, many: Any, value: Any, crumb: str, whole: int
) -> None:
    given_json = {} if value is None else {"X-Json": value}

    headers, cookies = sent("headers", {"X-Text": text, "X-Many": many, **given_json, "crumb": crumb, "whole": whole})

    read_json = {"X-Json": exactly(json.loads(headers.pop("X-Json")))} if given_json else {}
    assert headers == {"X-Text": text, "X-Many": ",".join(many)}
    assert read_json == {name: exactly(sent_value) for name, sent_value in given_json.items()}
    assert cookies == {"crumb": crumb, "whole": str(whole)}
