import pytest

from sezzlee_mcp.catalog.curation import Fill, FillKind
from sezzlee_mcp.catalog.tools import BodyTemplate, Exposed, Member, Slot, Template
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke.compose import ComposeContext, ComposedRequest, compose

JSON = "application/json"


def path(name="id", type="string", **options):
    return Slot(name=name, location="path", type=type, required=True, **{"style": "simple", "explode": False} | options)


def query(name, type="string", **options):
    return Slot(name=name, location="query", type=type, **{"style": "form", "explode": True} | options)


def header(name, type="string", **options):
    return Slot(name=name, location="header", type=type, style="simple", explode=False, **options)


def get(route, *slots):
    return Template(method="GET", route=route, slots=slots)


def post(route, *slots, **body):
    return Template(method="POST", route=route, slots=slots, body=BodyTemplate(**{"content_type": JSON} | body))


def refusal(template, arguments, **context):
    with pytest.raises(CallError) as raised:
        compose(template, arguments, ComposeContext(**context))
    return raised.value


def test_each_argument_goes_to_its_place():
    template = post(
        "/orders/{id}/notes/",
        path(type="integer"),
        query("notify", "boolean"),
        header("X-Batch", "integer"),
        properties=("text", "pinned"),
    )
    assert compose(template, {"text": "geç", "id": 5, "X-Batch": 3, "notify": True}) == ComposedRequest(
        method="POST",
        path="/orders/5/notes/",
        path_values=(("id", "5"),),
        query="notify=true",
        headers=(("X-Batch", "3"),),
        content_type="application/json; charset=utf-8",
        body='{"text":"geç"}'.encode(),
    )


def test_call_without_arguments_is_the_bare_route():
    assert compose(get("/orders/", query("page", "integer")), {}) == ComposedRequest(method="GET", path="/orders/")


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("a b", "a%20b"),
        ("5/items", "5%2Fitems"),
        ("%2F..", "%252F.."),
        ("../admin", "..%2Fadmin"),
        ("...", "..."),
        (".hidden", ".hidden"),
        ("a?b#c", "a%3Fb%23c"),
        ("!'()*~-_.", "%21%27%28%29%2A~-_."),
        ("a\\b", "a%5Cb"),
        ("a;b=c&d:e@f,g", "a%3Bb%3Dc%26d%3Ae%40f%2Cg"),
        ("ü😀", "%C3%BC%F0%9F%98%80"),
        ("\r\n\0", "%0D%0A%00"),
        (" ", "%20"),
    ],
)
def test_path_value_stays_inside_its_segment(value, sent):
    request = compose(get("/orders/{id}/", path()), {"id": value})
    assert (request.path, request.path_values) == (f"/orders/{sent}/", (("id", value),))


@pytest.mark.parametrize(
    ("route", "slots", "arguments", "sent", "values"),
    [
        (
            "/{b}/{a}/",
            (path("a"), path("b", "integer")),
            {"a": "x", "b": 1},
            "/1/x/",
            (("b", "1"), ("a", "x")),
        ),
        (
            "/{key}-{number}/{lang}.json",
            (path("key"), path("number", "integer"), path("lang")),
            {"key": "ab-c", "number": 7, "lang": "de"},
            "/ab-c-7/de.json",
            (("key", "ab-c"), ("number", "7"), ("lang", "de")),
        ),
        ("/a/{p}/b/{p}/", (path("p"),), {"p": "x/y"}, "/a/x%2Fy/b/x%2Fy/", (("p", "x/y"), ("p", "x/y"))),
        ("/über uns/{id}/", (path(),), {"id": "1"}, "/%C3%BCber%20uns/1/", (("id", "1"),)),
        ("/{filter__name}/", (path("filter__name"),), {"filter__name": "{x}"}, "/%7Bx%7D/", (("filter__name", "{x}"),)),
    ],
)
def test_places_are_filled_by_name_in_the_routes_order(route, slots, arguments, sent, values):
    request = compose(get(route, *slots), arguments)
    assert (request.path, request.path_values) == (sent, values)


@pytest.mark.parametrize(
    ("style", "explode", "value", "sent", "read"),
    [
        ("simple", False, ["a", "b,c"], "a,b%2Cc", "a,b,c"),
        ("simple", True, ["a", "b"], "a,b", "a,b"),
        ("label", False, ["a", "b"], ".a,b", ".a,b"),
        ("label", True, ["a", "b/c"], ".a.b%2Fc", ".a.b/c"),
        ("matrix", False, ["a", "b"], ";id=a,b", ";id=a,b"),
        ("matrix", True, ["a", "b"], ";id=a;id=b", ";id=a;id=b"),
        ("label", False, ["ü"], ".%C3%BC", ".ü"),
    ],
)
def test_array_in_the_path_keeps_its_delimiters_raw(style, explode, value, sent, read):
    template = get("/x/{id}/", path(is_array=True, style=style, explode=explode))
    request = compose(template, {"id": value})
    assert (request.path, request.path_values) == (f"/x/{sent}/", (("id", read),))


@pytest.mark.parametrize("value", ["", ".", "..", ["a", ""], [".."], [".", "x"]])
@pytest.mark.parametrize("style", ["simple", "label", "matrix"])
def test_empty_and_dot_segments_are_refused_in_every_style(style, value):
    template = get("/x/{id}/", path(style=style, is_array=isinstance(value, list)))
    assert refusal(template, {"id": value}).code == "invalid_path_type"


@pytest.mark.parametrize(
    ("type", "arguments", "code"),
    [
        ("integer", {}, "missing_path_parameter"),
        ("any", {"id": []}, "missing_path_parameter"),
        ("integer", {"id": None}, "invalid_path_type"),
        ("integer", {"id": "5"}, "invalid_path_type"),
        ("integer", {"id": 5.5}, "invalid_path_type"),
        ("string", {"id": 5}, "invalid_path_type"),
        ("string", {"id": ["5"]}, "invalid_path_type"),
        ("any", {"id": [None]}, "invalid_path_type"),
        ("string", {"id": "\udfff"}, "invalid_path_type"),
    ],
)
def test_path_argument_that_does_not_fit_is_refused(type, arguments, code):
    assert refusal(get("/x/{id}/", path(type=type)), arguments).code == code


def test_variable_that_begins_the_route_keeps_its_slashes():
    template = Template(method="POST", route="{part_href}sync/", slots=(path("part_href"),))
    request = compose(template, {"part_href": "/api/parts/7 ?#%2e/"})
    assert request.path == "/api/parts/7%20%3F%23%252e/sync/"
    assert request.path_values == (("part_href", "/api/parts/7 ?#%2e/"),)


@pytest.mark.parametrize(
    "value", ["", "/", "//", "api/parts/", "//host/x/", "/a/../b/", "/..", "/./a/", "http://host/x/", "\\\\host", 7]
)
def test_variable_that_begins_the_route_neither_climbs_nor_leaves_the_host(value):
    template = Template(method="POST", route="{part_href}sync/", slots=(path("part_href"),))
    assert refusal(template, {"part_href": value}).code == "invalid_path_type"


def test_only_the_first_place_keeps_its_slashes():
    template = get("{base}{id}/", path("base"), path("id"))
    assert compose(template, {"base": "/a/b/", "id": "c/d"}).path == "/a/b/c%2Fd/"


@pytest.mark.parametrize(
    ("slot", "value", "sent"),
    [
        (query("q"), "", "q="),
        (query("q"), "a b&c=d+e", "q=a%20b%26c%3Dd%2Be"),
        (query("q r"), "x", "q%20r=x"),
        (query("q", explode=False), "a,b", "q=a%2Cb"),
        (query("q", "any"), ["a", 1, True], "q=a&q=1&q=true"),
        (query("q", "any", explode=False), ["a,b", 1], "q=a%2Cb,1"),
        (query("q", is_array=True), [], ""),
        (query("q", is_array=True, explode=False), [], ""),
        (query("q", is_array=True), ["a", "b"], "q=a&q=b"),
        (query("q", is_array=True, explode=False), ["", ""], "q=,"),
        (query("q", is_array=True, explode=False), ["a,b", "c"], "q=a%2Cb,c"),
        (query("q", is_array=True, style="spaceDelimited", explode=False), ["a b", "c"], "q=a%20b%20c"),
        (query("q", is_array=True, style="pipeDelimited", explode=False), ["a|b", "c"], "q=a%7Cb|c"),
        (query("q", is_array=True, style="pipeDelimited", explode=True), ["a", "b"], "q=a&q=b"),
        (query("q", allow_reserved=True), ":/?@!$'()*,;[]&=#+% ", "q=:/?@!$'()*,;[]%26%3D%23%2B%25%20"),
        (query("q", is_array=True, explode=False, allow_reserved=True), ["a/b", "c,d"], "q=a/b,c%2Cd"),
    ],
)
def test_query_parameter_is_written_in_its_style(slot, value, sent):
    assert compose(get("/x/", slot), {slot.name: value}).query == sent


def test_query_keeps_declaration_order_whatever_the_order_of_the_arguments():
    template = get("/x/", query("b"), query("a"), query("c"))
    assert compose(template, {"a": "1", "c": "2", "b": "3"}).query == "b=3&a=1&c=2"


FILTER = query(
    "filter",
    "object",
    style="deepObject",
    members=(
        Member(name="status", type="string"),
        Member(name="min size", type="integer"),
        Member(name="tags", type="string", is_array=True),
    ),
)


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ({}, ""),
        ({"tags": []}, ""),
        ({"min size": 3, "status": "a[b]&c"}, "filter[status]=a%5Bb%5D%26c&filter[min%20size]=3"),
        ({"tags": ["a", "b"]}, "filter[tags]=a&filter[tags]=b"),
    ],
)
def test_grouped_parameter_writes_its_members_in_declared_order(value, sent):
    assert compose(get("/x/", FILTER), {"filter": value}).query == sent


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        (
            None,
            "null_not_allowed",
            "Argument 'filter' is null, which cannot be written there. Leave it out to send nothing.",
        ),
        ("status=x", "invalid_type", "Argument 'filter' must be an object, not a string."),
        ([{"status": "x"}], "invalid_type", "Argument 'filter' must be an object, not an array."),
        ({"status": 1}, "invalid_type", "Argument 'filter.status' must be a string, not a number."),
        ({"tags": "a"}, "invalid_type", "Argument 'filter.tags' must be an array, not a string."),
        (
            {"tags": ["a", None]},
            "null_not_allowed",
            "Argument 'filter.tags[1]' is null, which cannot be written there. Leave it out to send nothing.",
        ),
        (
            {"status": None, "statu": "x"},
            "unknown_argument",
            "This call takes no argument 'filter.statu'. Did you mean 'filter.status'? "
            "Its 3 arguments: filter.status, filter.min size, filter.tags.",
        ),
    ],
)
def test_grouped_parameter_names_the_member_that_does_not_fit(value, code, message):
    error = refusal(get("/x/", FILTER), {"filter": value})
    assert (error.code, error.message) == (code, message)


@pytest.mark.parametrize(
    ("slot", "value", "headers"),
    [
        (header("X-Tag"), "a b, c", (("X-Tag", "a b, c"),)),
        (header("X-Tag"), "", (("X-Tag", ""),)),
        (header("X-Tag", is_array=True), ["a", "b"], (("X-Tag", "a,b"),)),
        (header("X-Tag", is_array=True), [], ()),
        (header("X-Tag"), "é", (("X-Tag", "é"),)),
        (header("X-Tag", "boolean"), True, (("X-Tag", "true"),)),
    ],
)
def test_header_is_written_unencoded(slot, value, headers):
    assert compose(get("/x/", slot), {"X-Tag": value}).headers == headers


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("a\r\nX-Admin: 1", "header_injection"),
        ("a\n", "header_injection"),
        ("\r", "header_injection"),
        ("a\0", "header_injection"),
        ("€", "invalid_type"),
        ("😀", "invalid_type"),
        ("€\n", "header_injection"),
        (None, "null_not_allowed"),
        (1, "invalid_type"),
    ],
)
def test_header_value_that_cannot_be_one_is_refused(value, code):
    assert refusal(get("/x/", header("X-Tag")), {"X-Tag": value}).code == code


def test_line_break_inside_an_array_is_no_header_either():
    template = get("/x/", header("X-Tag", is_array=True))
    assert refusal(template, {"X-Tag": ["a", "b\r\nX: 1"]}).code == "header_injection"


def test_field_mode_always_sends_an_object():
    request = compose(post("/x/", properties=("a",)), {})
    assert (request.content_type, request.body) == ("application/json; charset=utf-8", b"{}")


def test_body_values_pass_as_they_came():
    values = {"n": None, "i": 2**60, "f": 1.5, "s": "ü\u2028</script>", "l": [{"a": [[]]}], "b": False}
    request = compose(post("/x/", properties=("s", "n", "i", "f", "l", "b")), values)
    expected = '{"s":"ü\u2028</script>","n":null,"i":1152921504606846976,"f":1.5,"l":[{"a":[[]]}],"b":false}'
    assert request.body == expected.encode()


def test_open_body_takes_what_it_does_not_declare():
    template = post("/x/{id}/", path(), properties=("a",), is_open=True)
    assert compose(template, {"extra": 1, "a": 2, "id": "7"}).body == b'{"a":2,"extra":1}'


def test_closed_body_refuses_what_it_does_not_declare():
    assert refusal(post("/x/", properties=("a",)), {"extra": 1}).code == "unknown_argument"


@pytest.mark.parametrize(
    ("value", "body"),
    [
        (None, b"null"),
        (0, b"0"),
        (False, b"false"),
        ("", b'""'),
        ([], b"[]"),
        ({}, b"{}"),
        ([1, "a"], b'[1,"a"]'),
        ({"a": {"b": 1}}, b'{"a":{"b":1}}'),
    ],
)
def test_root_mode_sends_the_value_as_the_whole_body(value, body):
    assert compose(post("/x/", argument="body"), {"body": value}).body == body


def test_root_mode_without_the_argument_sends_no_body():
    request = compose(post("/x/", argument="body", required=True), {})
    assert (request.content_type, request.body) == (None, None)


def test_open_root_body_still_refuses_other_arguments():
    assert refusal(post("/x/", argument="body", is_open=True), {"other": 1}).code == "unknown_argument"


@pytest.mark.parametrize(
    ("content_type", "sent"),
    [
        ("application/merge-patch+json", "application/merge-patch+json; charset=utf-8"),
        ("application/json; version=2", "application/json; version=2; charset=utf-8"),
        ("application/json; Charset=UTF-8", "application/json; Charset=UTF-8"),
    ],
)
def test_json_bodies_say_their_charset(content_type, sent):
    assert compose(post("/x/", properties=(), content_type=content_type), {}).content_type == sent


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "\ud800", {"\udc00": 1}, [float("-inf")], pytest.param(10**5000, id="5001 digits")],
)
def test_body_value_that_json_cannot_carry_is_refused_by_name(value):
    error = refusal(post("/x/", properties=("a", "b")), {"a": 1, "b": value})
    expected = ("invalid_type", "Argument 'b' must be a value that JSON can carry, not one that it cannot.")
    assert (error.code, error.message) == expected


def test_body_nested_without_end_is_refused():
    value = []
    for _ in range(100_000):
        value = [value]
    assert refusal(post("/x/", argument="body"), {"body": value}).code == "invalid_type"


@pytest.mark.parametrize("name", ["X-Tenant", "x_tenant", "X_TENANT"])
def test_header_that_the_connection_sends_is_not_replaced(name):
    carried = frozenset({"x-tenant"})
    assert refusal(get("/x/", header(name)), {name: "a"}, carried_headers=carried).code == "header_carrier_collision"


@pytest.mark.parametrize(
    ("declared", "arguments", "headers"),
    [
        (header("X-Tag"), {"X-Tag": "a"}, (("X-Tag", "a"),)),
        (header("X-Tenant"), {}, ()),
        (header("X-Tenant", is_array=True), {"X-Tenant": []}, ()),
        (
            header("X-Tenant", exposed=Exposed(name=None, fill=Fill(kind=FillKind.CONSTANT, value="b"))),
            {},
            (("X-Tenant", "b"),),
        ),
    ],
    ids=["another", "left out", "empty list", "hidden"],
)
def test_header_that_the_connection_sends_is_no_collision_unless_the_agent_sets_it(declared, arguments, headers):
    context = ComposeContext(carried_headers=frozenset({"x-tenant"}))
    assert compose(get("/x/", declared), arguments, context).headers == headers


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"nope": 1, "id": None, "q": None, "X": "\n"}, "unknown_argument"),
        ({"q": None, "X": "\n"}, "missing_path_parameter"),
        ({"id": 1.5, "q": None, "X": "\n"}, "invalid_path_type"),
        ({"id": 1, "q": None, "X": "\n"}, "null_not_allowed"),
        ({"id": 1, "X": "\n", "a": float("nan")}, "header_injection"),
        ({"id": 1, "a": float("nan")}, "invalid_type"),
    ],
)
def test_the_first_fault_in_the_order_of_the_request_is_reported(arguments, code):
    template = post("/x/{id}/", path(type="integer"), query("q"), header("X"), properties=("a",))
    assert refusal(template, arguments).code == code


@pytest.mark.parametrize(
    ("names", "sent", "message"),
    [
        ([], "x", "This call takes no argument 'x'. It takes no arguments at all."),
        (["page"], "zzz", "This call takes no argument 'zzz'. Its one argument: page."),
        (
            ["page", "page_size"],
            "pagesize",
            "This call takes no argument 'pagesize'. Did you mean 'page_size'? Its 2 arguments: page, page_size.",
        ),
        (["page"], "PAGE" * 100, f"This call takes no argument '{'PAGE' * 25}…'. Its one argument: page."),
    ],
)
def test_unknown_argument_is_answered_with_those_there_are(names, sent, message):
    error = refusal(get("/x/", *(query(name) for name in names)), {sent: 1})
    assert (error.code, error.message) == ("unknown_argument", message)


def test_of_many_arguments_the_first_twenty_are_named():
    names = [f"filter_{index}" for index in range(375)]
    message = refusal(get("/x/", *(query(name) for name in names)), {"filter_374x": 1}).message
    assert message == (
        "This call takes no argument 'filter_374x'. Did you mean 'filter_374'? "
        f"The first 20 of its 375 arguments: {', '.join(names[:20])}."
    )
