"""What the standard library's parsers read of a composed body is what was sent, and nothing leaves its slot."""

import base64
import json
from urllib.parse import parse_qsl, unquote

from hypothesis import example, given
from hypothesis import strategies as st

from sezzlee_mcp.catalog.tools import Member
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke import ComposeContext, compose
from tests.invoke.making import MULTIPART, URLENCODED, form, post, read_parts, slot

AWKWARD = [
    "",
    "\r\n",
    "\r\n--part-",
    "\0",
    '"',
    "a\r\nX-Admin: 1",
    '; name="x"',
    "&a=b",
    "%0A",
    "__proto__",
    "😀ü",
    "+ ",
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(AWKWARD)
# A declared name may hold anything but what ends its line, and the one character the parsers unescape too late.
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\\"), min_size=1).filter(
    lambda name: name == name.strip() and len(name.splitlines()) == 1
)
INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
FILE_NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters='"\r\n\0/\\'), min_size=1)


@st.composite
def fields(draw):
    """``(type, name, is_array)`` of the fields of a form, with distinct names."""
    names = draw(st.lists(NAMES, unique=True, max_size=4))
    return [(draw(st.sampled_from(sorted(VALUES))), name, draw(st.booleans())) for name in names]


VALUES = {"string": TEXTS, "integer": INTEGERS, "number": FINITE, "boolean": st.booleans()}


def parsed(type, text):
    return text if type == "string" else json.loads(text)


@st.composite
def filled_forms(draw):
    members, arguments = [], {}
    for type, name, is_array in draw(fields()):
        members.append(Member(name=name, type=type, is_array=is_array))
        values = VALUES[type]
        arguments[name] = draw(st.lists(values, min_size=1, max_size=3) if is_array else values)
    return members, arguments


def expected(members, arguments):
    return [
        (member, value)
        for member in members
        for value in (arguments[member.name] if member.is_array else [arguments[member.name]])
    ]


@given(filled_forms())
def test_urlencoded_form_is_read_back(filled):
    members, arguments = filled
    body = compose(form(URLENCODED, *members), arguments).body.decode("ascii")
    read = parse_qsl(body, keep_blank_values=True)
    assert [key for key, _ in read] == [member.name for member, _ in expected(members, arguments)]
    assert [
        parsed(member.type, text) for (member, _), (_, text) in zip(expected(members, arguments), read, strict=True)
    ] == [value for _, value in expected(members, arguments)]


@given(filled_forms())
def test_multipart_form_is_read_back(filled):
    members, arguments = filled
    request = compose(form(MULTIPART, *members), arguments)
    parts = read_parts(request)
    assert [(name, filename) for name, filename, _, _ in parts] == [
        (member.name, None) for member, _ in expected(members, arguments)
    ]
    assert [
        parsed(member.type, part[3].decode())
        for (member, _), part in zip(expected(members, arguments), parts, strict=True)
    ] == [value for _, value in expected(members, arguments)]
    assert compose(form(MULTIPART, *members), arguments) == request


@given(NAMES, st.binary(max_size=200) | TEXTS.map(str.encode), FILE_NAMES)
@example("f", b"\r\n--part-\r\n\r", "Ω'; filename=x.txt")
def test_file_is_read_back(field, data, name):
    file = {"base64": base64.b64encode(data).decode(), "name": name}
    request = compose(form(MULTIPART, Member(name=field, type="file")), {field: file})
    assert read_parts(request) == [(field, name, "application/octet-stream", data)]


@given(st.text(st.characters(exclude_categories=["Cs"])), TEXTS)
@example('a"\r\nX-Admin: 1\r\n\r\nbody', "x")
def test_any_declared_name_stays_in_its_line(name, text):
    body = compose(form(MULTIPART, Member(name=name, type="string")), {name: text}).body
    boundary, disposition, blank, *_ = body.split(b"\r\n")
    assert (boundary[:7], disposition[:31], blank) == (b"--part-", b"Content-Disposition: form-data;", b"")
    assert not {b"\r"[0], b"\n"[0], 0} & set(disposition)


@given(TEXTS, TEXTS)
def test_cookie_value_never_becomes_another_cookie_nor_header(name, value):
    template = post(slot(name or "c", "cookie"))
    headers = compose(template, {name or "c": value}, ComposeContext(carried_cookies="sid=1")).headers
    ((header, written),) = headers
    assert header == "Cookie"
    assert written.isascii()
    assert not set('\r\n\0" \\') & set(written.replace("; ", "", 1))
    carried, _, own = written.partition("; ")
    sent_name, _, sent_value = own.partition("=")
    assert (carried, unquote(sent_value)) == ("sid=1", value)
    assert (name or "c") in {sent_name, unquote(sent_name)}
    assert not set(";,") & set(own)


HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.sampled_from(AWKWARD),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["m", "f", "text", *AWKWARD]), inner),
    max_leaves=8,
)
TYPES = ["string", "integer", "number", "boolean", "any", "file", "object"]


@given(
    st.sampled_from([URLENCODED, MULTIPART, "application/json", "text/plain", "image/png", "*/*"]), HOSTILE, st.data()
)
def test_any_value_is_a_body_of_the_declared_type_or_refused(content_type, value, data):
    members = tuple(
        Member(name=name, type=data.draw(st.sampled_from(TYPES)), is_array=data.draw(st.booleans()))
        for name in ("m", "f")
    )
    if content_type == URLENCODED:
        members = tuple(member for member in members if member.type != "file")
    template = form(content_type, *members, argument="body")
    try:
        request = compose(template, {"body": value})
    except CallError as error:
        assert error.retryable is False
        return
    assert request.path == "/x/"
    assert {name for name, _ in request.headers} <= {"Content-Disposition"}
    assert not set("\r\n\0") & set("".join(text for _, text in request.headers) + request.content_type)
    assert content_type == "*/*" or request.content_type.startswith(content_type)
