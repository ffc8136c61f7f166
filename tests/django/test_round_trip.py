"""invoke.md, "Compose" and "Bodies", live: what a view's parser read of a call is what the agent sent."""

import base64
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as bounded
from hypothesis import strategies as st
from pytest_django import Settings

from sezzlee_mcp.invoke import FileContent
from sezzlee_mcp.invoke.arguments import number_text
from sezzlee_mcp.models import Operation
from sezzlee_mcp.openapi.parameters import STYLES
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.testapp import round_trip, styles

Invoke = Callable[[str, dict[str, Any]], Any]
# The database is set up once per test: no example writes to it.
fuzzed = bounded(max_examples=60, suppress_health_check=list(HealthCheck))

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
    """What the view of a tool with a body read of a call with these arguments."""
    return synced(settings, round_trip.__name__)


@pytest.fixture
def sent_in_style(db: None, settings: Settings) -> Invoke:
    """What the view of a parameter's style read of a call with these arguments."""
    return synced(settings, styles.__name__)


def synced(settings: Settings, urlconf: str) -> Invoke:
    settings.ROOT_URLCONF = urlconf
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "FILE_RESOLVER": "tests.testapp.round_trip.stored_file",
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


@pytest.mark.parametrize("tool", ["json_any", "json_of_a_vendor", "json_as_text"])
@fuzzed
@given(value=JSON_VALUES)
@example(value=None)
@example(value=[[], [[]], {}, {"": None}, 10**299, 1e308, -0.0])
def test_json_of_any_kind_is_read_as_it_was_sent(sent: Invoke, tool: str, value: Any) -> None:
    assert exactly(sent(tool, {"body": value})) == exactly(value)


@fuzzed
@given(members=st.dictionaries(TEXTS, JSON_VALUES, max_size=4))
def test_members_of_an_open_object_keep_their_names_and_values(sent: Invoke, members: dict[str, Any]) -> None:
    assert exactly(sent("json_open", members)) == exactly(members)


def exactly(value: Any) -> str:
    """The value as text: of equal values only those of one type and sign have the same."""
    return json.dumps(value, sort_keys=True)


def filled(names: Iterable[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Values of any of these text fields, and of the fields of other types."""
    others = {"many": st.lists(TEXTS, max_size=3), "whole": WHOLE, "fraction": FRACTIONS, "flag": st.booleans()}
    return st.fixed_dictionaries({}, optional={**dict.fromkeys(names, TEXTS), **others})


FORMS = filled(round_trip.FIELD_NAMES)


@pytest.mark.parametrize("family", ["urlencoded", "multipart"])
@fuzzed
@given(arguments=FORMS)
@example(arguments={"flag": False})
def test_form_is_read_as_it_was_sent(sent: Invoke, family: str, arguments: dict[str, Any]) -> None:
    assert dict(sent(family, arguments).lists()) == texts_of(arguments)
    assert dict(sent(f"{family}_whole", {"body": arguments}).lists()) == texts_of(arguments)


@pytest.mark.parametrize(
    ("notation", "opening", "closing"), [("bracket", "[", "]"), ("dot", ".", ""), ("drf", ".", "")]
)
@pytest.mark.parametrize("family", ["urlencoded", "multipart"])
def test_object_in_a_form_is_read_in_its_notation(
    sent: Invoke, family: str, notation: str, opening: str, closing: str
) -> None:
    written_in(notation)

    @fuzzed
    @given(group=filled(round_trip.MEMBERS.keys() - {"many", "whole", "fraction", "flag"}), one=TEXTS)
    def check(group: dict[str, Any], one: str) -> None:
        read = dict(sent(f"grouped_{family}", {"group": group, "one": one}).lists())

        assert read == texts_of(
            {f"group{opening}{name}{closing}": value for name, value in group.items()} | {"one": one}
        )

    check()


def written_in(notation: str) -> None:
    """Publishes the operations whose forms hold an object with another notation than that of DRF."""
    for operation in Operation.objects.filter(published_name__startswith="grouped"):
        operation.slots["body"]["notation"] = notation
        operation.descriptor_digest = f"written in {notation}"
        operation.save(update_fields=["slots", "descriptor_digest"])
    publish(source="admin")


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


FILES = st.fixed_dictionaries(
    {
        "data": st.binary(max_size=300) | TEXTS.map(str.encode) | st.just(b"\r\n--part-\r\n"),
        "name": FILE_NAMES.filter(lambda name: name not in {".", ".."}) | st.just("Ω';filename=x.txt"),
        "media_type": st.sampled_from(["text/plain", "image/png", "application/x-y+json"]),
        "source": st.sampled_from(["base64", "ref"]),
    }
)


def argument_of(data: bytes, name: str, media_type: str, source: str) -> dict[str, str]:
    """The file as an agent sends it; of a reference the host's resolver says name and type."""
    if source == "base64":
        return {"base64": base64.b64encode(data).decode(), "name": name, "mediaType": media_type}
    ref = str(len(round_trip.stored))
    round_trip.stored[ref] = FileContent(data=data, name=name, media_type=media_type)
    return {"ref": ref}


def read_of(data: bytes, name: str, media_type: str, source: str) -> tuple[str, str, bytes]:
    return name, media_type, data


@pytest.mark.parametrize("tool", ["multipart", "either"])
@fuzzed
@given(text=TEXTS, file=FILES, files=st.lists(FILES, min_size=1, max_size=3))
def test_files_are_read_as_they_were_sent(sent: Invoke, tool: str, text: str, file: Any, files: list[Any]) -> None:
    arguments = {"file": argument_of(**file), "files": [argument_of(**each) for each in files]}

    assert sent(tool, {"text": text, "flag": True, **arguments}) == {
        "text": [text],
        "flag": ["true"],
        "file": [read_of(**file)],
        "files": [read_of(**each) for each in files],
    }


@fuzzed
@given(text=TEXTS, name=FILE_NAMES.filter(lambda name: name not in {".", ".."}))
def test_file_of_text_is_read_as_utf_8(sent: Invoke, text: str, name: str) -> None:
    read = sent("multipart", {"file": {"text": text, "name": name}})

    assert read == {"file": [(name, "text/plain", text.encode())]}


@fuzzed
@given(arguments=FORMS)
def test_call_without_a_file_is_json_where_the_view_reads_both(sent: Invoke, arguments: dict[str, Any]) -> None:
    assert exactly(sent("either", arguments)) == exactly(arguments)


# A body of no bytes is no body to DRF: no parser is asked, and the view reads an empty object.
@fuzzed
@given(text=TEXTS)
@example(text="")
def test_plain_text_is_read_as_it_was_sent(sent: Invoke, text: str) -> None:
    assert sent("text", {"body": text}) == (text or {})


@pytest.mark.parametrize(
    ("tool", "content_type"), [("octets", "application/octet-stream"), ("image", "image/png"), ("anything", None)]
)
@fuzzed
@given(file=FILES)
def test_bytes_are_read_as_they_were_sent(sent: Invoke, tool: str, content_type: str | None, file: Any) -> None:
    read = sent(tool, {"body": argument_of(**file)})

    assert read == ((content_type or file["media_type"], file["data"]) if file["data"] else {})


@fuzzed
@given(text=TEXTS)
def test_bytes_given_as_text_are_utf_8(sent: Invoke, text: str) -> None:
    assert sent("octets", {"body": {"text": text}}) == (("application/octet-stream", text.encode()) if text else {})


@fuzzed
@given(file=FILES.filter(lambda file: file["data"]))
def test_raw_upload_is_read_with_its_name(sent: Invoke, file: Any) -> None:
    assert sent("named_upload", {"body": argument_of(**file)}) == {"file": [read_of(**file)]}


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


# What an array cannot hold because its place is decoded before it is split, or its delimiter is an encoded character.
DELIMITERS = {
    "path_texts": ",",
    "path_texts_exploded": ",",
    "path_label_texts": ",",
    "path_label_texts_exploded": ".",
    "path_matrix_texts": ",",
    "path_matrix_exploded": ";",
    "query_spaces": " ",
    "header_texts": ",",
    "header_texts_exploded": ",",
    "header_form": ",",
}
OCTETS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters='",;\\'), max_size=30)
WITHOUT_SLASHES = TEXTS.filter(lambda text: "/" not in text and text not in {"", ".", ".."})
WITH_SLASHES = st.lists(WITHOUT_SLASHES, min_size=1, max_size=3).map("/".join).filter(lambda text: "\n" not in text)
TEXTS_IN = {"path": WITHOUT_SLASHES, "header": LATIN_1}


def values_for(name: str) -> st.SearchStrategy[Any]:
    """Values that the place and the style can hold."""
    style = styles.STYLES[name]
    texts = OCTETS if "raw" in name else WITH_SLASHES if name == "path_slashes" else TEXTS_IN.get(style.place, TEXTS)
    if delimiter := DELIMITERS.get(name):
        texts = texts.filter(lambda text: delimiter not in text)
    lists = {"many": st.lists(texts, min_size=1, max_size=3), "wholes": st.lists(WHOLE, min_size=1, max_size=3)}
    match style.schema:
        case {"type": "array", "items": {"type": "string"}}:
            return lists["many"]
        case {"type": "array"}:
            return lists["wholes"]
        case {"type": "object"}:
            members = {"min": FRACTIONS, "flag": st.booleans(), "a b": texts, "ü&[=": texts, **lists}
            return st.fixed_dictionaries({}, optional=members)
        case {"type": kind}:
            return {"string": texts, "integer": WHOLE, "number": FRACTIONS, "boolean": st.booleans()}[kind]
    values = JSON_VALUES.filter(lambda value: value is not None)
    return values.filter(lambda value: "/" not in exactly(value)) if style.place == "path" else values


def test_every_style_that_is_written_has_its_row() -> None:
    rows = {(row.place, row.facts["style"]) for row in styles.STYLES.values() if "style" in row.facts}
    defaults = {(place, written[0]) for place, written in STYLES.items()}

    assert rows | defaults == {(place, style) for place, written in STYLES.items() for style in written}


@pytest.mark.parametrize("place", STYLES)
def test_parameter_of_every_style_is_read_as_it_was_sent(sent_in_style: Invoke, place: str) -> None:
    @bounded(fuzzed, max_examples=30)
    @given(st.data())
    def check(name: str, data: st.DataObject) -> None:
        value = data.draw(values_for(name))
        assert same(sent_in_style(name, {"value": value}), value)

    for name, style in styles.STYLES.items():
        if style.place == place:
            check(name)


def same(read: Any, value: Any) -> bool:
    """Whether both are equal and, numbers aside, of one type: 1.0 is written 1 where a style has only texts."""
    return bool(read == value) and (isinstance(read, bool) is isinstance(value, bool))
