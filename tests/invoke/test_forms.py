from urllib.parse import parse_qsl

import pytest

from sezzlee_mcp.catalog.tools import Exposed, Member
from sezzlee_mcp.invoke import ComposeContext, compose
from tests.invoke.making import MULTIPART, OMITTED, URLENCODED, deferred, form, post, read_parts, refusal, slot

TEXT = Member(name="name", type="string")
BOOLEAN = Member(name="is_active", type="boolean", has_default=True, default=True)
BARE_BOOLEAN = Member(name="is_active", type="boolean")
PHOTO = Member(name="photo", type="file")
ADDRESS = Member(
    name="address", type="object", members=(Member(name="city", type="string"), Member(name="no", type="integer"))
)


def sent(template, arguments):
    return parse_qsl(compose(template, arguments).body.decode(), keep_blank_values=True, strict_parsing=False)


def test_urlencoded_form_says_its_bare_type_and_writes_in_declared_order():
    template = form(URLENCODED, TEXT, Member(name="a&b", type="any", is_array=True))
    request = compose(template, {"a&b": ["x y", 1.0, True], "name": "ü="})
    assert (request.content_type, request.body) == (URLENCODED, b"name=%C3%BC%3D&a%26b=x%20y&a%26b=1&a%26b=true")


@pytest.mark.parametrize("content_type", [URLENCODED, MULTIPART])
def test_form_without_a_field_is_still_sent(content_type):
    request = compose(form(content_type, TEXT), {})
    assert request.body is not None
    assert request.content_type.startswith(content_type)


@pytest.mark.parametrize("content_type", [URLENCODED, MULTIPART])
@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        (TEXT, None, "null_not_allowed"),
        (TEXT, 1, "invalid_type"),
        (TEXT, "\ud800", "invalid_type"),
        (Member(name="name", type="integer"), "3", "invalid_type"),
        (Member(name="name", type="integer"), 2**53, "invalid_type"),
        (Member(name="name", type="string", is_array=True), "a", "invalid_type"),
        (Member(name="name", type="string", is_array=True), ["a", None], "null_not_allowed"),
        (Member(name="name", type="object", members=(TEXT,)), "a", "invalid_type"),
        (Member(name="name", type="object", members=(TEXT,)), {"x": 1}, "unknown_argument"),
        (Member(name="name", type="object", members=(TEXT,)), {"__proto__": 1}, "unknown_argument"),
        (Member(name="name", type="any"), {"a": 1}, "invalid_type"),
    ],
)
def test_field_that_does_not_fit_is_refused(content_type, member, value, code):
    assert refusal(form(content_type, member), {"name": value}).code == code


@pytest.mark.parametrize(
    ("notation", "keys"),
    [
        ("bracket", ["address[city]", "address[no]"]),
        ("dot", ["address.city", "address.no"]),
        ("drf", ["address.city", "address.no"]),
    ],
)
def test_member_is_named_in_the_notation(notation, keys):
    arguments = {"address": {"no": 7, "city": "a b"}}
    template = form(URLENCODED, ADDRESS, notation=notation)
    parts = read_parts(compose(form(MULTIPART, ADDRESS, notation=notation), arguments))
    assert sent(template, arguments) == list(zip(keys, ["a b", "7"], strict=True))
    assert [(part[0], part[3]) for part in parts] == list(zip(keys, [b"a b", b"7"], strict=True))


def test_drf_notation_reaches_any_depth():
    line = Member(
        name="lines",
        type="object",
        is_array=True,
        members=(
            Member(name="sku", type="string"),
            Member(name="tags", type="string", is_array=True),
            Member(name="size", type="object", members=(Member(name="w", type="number"),)),
            Member(name="parts", type="object", is_array=True, members=(Member(name="n", type="integer"),)),
            Member(name="scans", type="file", is_array=True),
        ),
    )
    order = Member(name="order", type="object", members=(line, Member(name="labels", type="string", is_array=True)))
    value = {
        "labels": ["x", "y"],
        "lines": [
            {"sku": "a", "tags": ["t", "u"], "size": {"w": 1.5}},
            {"parts": [{"n": 1}, {"n": 2}], "scans": [{"text": "s"}]},
        ],
    }
    keys = [
        (part[0], part[3]) for part in read_parts(compose(form(MULTIPART, order, notation="drf"), {"order": value}))
    ]
    assert keys == [
        ("order.lines[0]sku", b"a"),
        ("order.lines[0]tags[0]", b"t"),
        ("order.lines[0]tags[1]", b"u"),
        ("order.lines[0]size.w", b"1.5"),
        ("order.lines[1]parts[0]n", b"1"),
        ("order.lines[1]parts[1]n", b"2"),
        ("order.lines[1]scans[0]", b"s"),
        ("order.labels", b"x"),
        ("order.labels", b"y"),
    ]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"rows": {}}, "'rows' must be an array"),
        ({"rows": [1]}, "'rows[0]' must be an object"),
        ({"rows": [{"a": 1}, {"b": 1}]}, "'rows[1].b'"),
        ({"rows": [{"a": "x"}]}, "'rows[0].a' must be an integer"),
    ],
)
def test_row_that_does_not_fit_is_named(value, name):
    rows = Member(name="rows", type="object", is_array=True, members=(Member(name="a", type="integer"),))
    assert name in refusal(form(URLENCODED, rows, notation="drf"), value).message


def test_root_argument_holds_the_fields_of_a_form():
    template = form(URLENCODED, TEXT, ADDRESS, argument="body", required=False)
    assert compose(template, {"body": {"address": {"city": "x"}, "name": "n"}}).body == b"name=n&address[city]=x"
    assert compose(template, {}).body is None
    assert "'body.nam'" in refusal(template, {"body": {"nam": 1}}).message


@pytest.mark.parametrize(
    ("method", "member", "arguments", "body"),
    [
        ("POST", BOOLEAN, {}, b"is_active=true"),
        ("PUT", BOOLEAN, {"is_active": False}, b"is_active=false"),
        ("PATCH", BOOLEAN, {}, b""),
        ("POST", BARE_BOOLEAN, {}, b""),
        ("POST", Member(name="is_active", type="boolean", has_default=True, default=None), {}, b""),
        ("POST", Member(name="is_active", type="string", has_default=True, default="x"), {}, b""),
    ],
)
def test_form_writes_the_default_of_an_omitted_boolean(method, member, arguments, body):
    assert compose(form(URLENCODED, member, method=method), arguments).body == body


def side_by_side(*members, method="POST", **body):
    return form(
        "application/json", *members, method=method, **{"file_content_type": MULTIPART, "notation": "drf"} | body
    )


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        ({"name": "a"}, b'{"name":"a"}'),
        ({"name": "a", "photo": None}, b'{"name":"a","photo":null}'),
        ({}, b"{}"),
    ],
)
def test_call_without_a_file_stays_json(arguments, body):
    request = compose(side_by_side(TEXT, PHOTO, BARE_BOOLEAN), arguments)
    assert (request.content_type, request.body) == ("application/json; charset=utf-8", body)


def test_call_with_a_file_is_a_form_that_keeps_the_boolean_default():
    parts = read_parts(compose(side_by_side(TEXT, PHOTO, BOOLEAN), {"photo": {"text": "x"}, "name": "a"}))
    assert [(part[0], part[1], part[3]) for part in parts] == [
        ("name", None, b"a"),
        ("photo", "photo", b"x"),
        ("is_active", None, b"true"),
    ]


def test_file_deep_in_the_value_makes_it_a_form_too():
    rows = Member(name="rows", type="object", is_array=True, members=(PHOTO,))
    template = side_by_side(rows)
    assert compose(template, {"rows": [{"photo": None}, {}]}).body == b'{"rows":[{"photo":null},{}]}'
    assert [part[0] for part in read_parts(compose(template, {"rows": [{"photo": {"text": "x"}}]}))] == ["rows[0]photo"]


def test_file_in_the_root_argument_makes_it_a_form():
    template = side_by_side(TEXT, PHOTO, argument="body", required=False)
    parts = read_parts(compose(template, {"body": {"photo": {"text": "x"}, "name": "a"}}))
    assert [part[0] for part in parts] == ["name", "photo"]
    assert compose(template, {"body": {"name": "a"}}).body == b'{"name":"a"}'
    assert compose(template, {"body": [1]}).body == b"[1]"


def test_boolean_without_a_default_is_asked_for_when_a_file_makes_the_call_a_form():
    template = side_by_side(PHOTO, BARE_BOOLEAN, exposed={"is_active": Exposed(name="active")})
    error = refusal(template, {"photo": {"text": "x"}})
    assert (error.code, "'active' is missing" in error.message) == ("invalid_type", True)
    assert len(read_parts(compose(template, {"photo": {"text": "x"}, "active": False}))) == 2


@pytest.mark.parametrize("options", [{"method": "PATCH"}, {"exposed": {"is_active": OMITTED}}])
def test_boolean_is_not_asked_for_where_it_means_nothing_or_is_hidden(options):
    template = side_by_side(PHOTO, BARE_BOOLEAN, **options)
    assert [part[0] for part in read_parts(compose(template, {"photo": {"text": "x"}}))] == ["photo"]


def test_value_that_only_json_carries_is_refused_beside_a_file():
    template = side_by_side(PHOTO, Member(name="meta", type="any"), properties=("photo", "meta", "free"))
    assert compose(template, {"meta": {"a": [[1]]}, "free": {}}).body == b'{"meta":{"a":[[1]]},"free":{}}'
    for name in ("meta", "free"):
        error = refusal(template, {"photo": {"text": "x"}, name: {"a": 1}})
        assert (error.code, "in a call that supplies a file" in error.message) == ("invalid_type", True)


def test_open_body_is_closed_beside_a_file():
    template = side_by_side(PHOTO, is_open=True)
    assert compose(template, {"extra": 1}).body == b'{"extra":1}'
    assert refusal(template, {"photo": {"text": "x"}, "extra": 1}).code == "unknown_argument"


def test_hidden_null_is_no_field_of_a_form():
    template = form(URLENCODED, TEXT, exposed={"name": deferred("src")})
    assert compose(template, {}, ComposeContext(deferred={"src": None})).body == b""


@pytest.mark.parametrize("text", ["", "a", "ü\r\n\0😀", " "])
def test_text_body_is_the_string(text):
    request = compose(post(argument="body", content_type="text/plain"), {"body": text})
    assert (request.content_type, request.body) == ("text/plain; charset=utf-8", text.encode())


@pytest.mark.parametrize(
    ("value", "code"), [(None, "null_not_allowed"), (1, "invalid_type"), ("\ud800", "invalid_type")]
)
def test_text_body_is_nothing_else(value, code):
    assert refusal(post(argument="body", content_type="text/plain"), {"body": value}).code == code


MEMBERS = (Member(name="a b", type="string"), Member(name="tags", type="integer", is_array=True))
JSON = {"type": "json", "content_type": "application/json"}


@pytest.mark.parametrize(
    ("declared", "value", "query"),
    [
        (
            slot("q", "querystring", "object", members=MEMBERS),
            {"tags": [1, 2], "a b": "x&y"},
            "a%20b=x%26y&tags=1&tags=2",
        ),
        (slot("q", "querystring", "object", members=MEMBERS), {}, ""),
        (slot("q", "querystring", **JSON), {"a": "&"}, "%7B%22a%22%3A%22%26%22%7D"),
        (slot("q", "querystring", content_type="text/plain"), "a=b&c", "a%3Db%26c"),
        (slot("q", **JSON), [], "q=%5B%5D"),
        (slot("q", **JSON), ["a", 1.5, None], "q=%5B%22a%22%2C1.5%2Cnull%5D"),
        (slot("q", **JSON), "x", "q=%22x%22"),
        (slot("q", type="object", style="deepObject", notation="dot", members=MEMBERS), {"a b": "."}, "q.a%20b=."),
        (
            slot("q", type="object", style="deepObject", members=(Member(name="m", type="object", members=MEMBERS),)),
            {"m": {"tags": [1]}},
            "q[m][tags]=1",
        ),
    ],
)
def test_content_grouped_and_whole_query_parameters(declared, value, query):
    assert compose(post(declared), {"q": value}).query == query


def test_json_parameter_in_a_header_is_ascii():
    request = compose(post(slot("X", "header", **JSON)), {"X": {"a": "€\r\n"}})
    assert request.headers == (("X", '{"a":"\\u20ac\\r\\n"}'),)


def test_json_parameter_in_the_path_is_one_segment():
    request = compose(post(slot("k", "path", **JSON), route="/x/{k}/"), {"k": ["a/b"]})
    assert (request.path, request.path_values) == ("/x/%5B%22a%2Fb%22%5D/", (("k", '["a/b"]'),))


@pytest.mark.parametrize(
    ("declared", "value", "code"),
    [
        (slot("q", **JSON), None, "null_not_allowed"),
        (slot("q", **JSON), float("nan"), "invalid_type"),
        (slot("q", "querystring", "object", members=MEMBERS), {"b": 1}, "unknown_argument"),
        (slot("q", "querystring", "object", members=MEMBERS), [], "invalid_type"),
    ],
)
def test_content_parameter_that_does_not_fit_is_refused(declared, value, code):
    assert refusal(post(declared), {"q": value}).code == code
