"""What holds for any arguments and any answer."""

import json
from urllib.parse import unquote

from hypothesis import example, given
from hypothesis import strategies as st

from sezzlee_mcp.catalog.tools import BodyTemplate, Member, Slot, Template
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke import BackendResponse, CallFacts, Naming, compose, emit, map_response

TEXTS = st.one_of(
    st.text(st.characters()),  # lone surrogates too
    st.sampled_from(["", ".", "..", "/", "../", "5/items", "%2F..", "a\r\nX: y", "\0", "/a/b/", "//h/", "?", "#"]),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=10
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "any"])
STYLES = {
    "path": ["simple", "label", "matrix"],
    "query": ["form", "spaceDelimited", "pipeDelimited"],
    "header": ["simple"],
}


@st.composite
def slots(draw, name, location):
    return Slot(
        name=name,
        location=location,
        type=draw(TYPES),
        is_array=draw(st.booleans()),
        style=draw(st.sampled_from(STYLES[location])),
        explode=draw(st.booleans()),
        allow_reserved=draw(st.booleans()),
    )


GROUP = Slot(
    name="g",
    location="query",
    type="object",
    style="deepObject",
    explode=True,
    members=(Member(name="m", type="any"), Member(name="n", type="string", is_array=True)),
)
BODIES = st.sampled_from(
    [
        None,
        BodyTemplate(content_type="application/json", properties=("b",)),
        BodyTemplate(content_type="application/json", properties=("b",), is_open=True),
        BodyTemplate(content_type="application/json", argument="b"),
    ]
)


@st.composite
def templates(draw, route):
    parameters = [draw(slots(name, location)) for name, location in (("p", "path"), ("q", "query"), ("h", "header"))]
    return Template(method="POST", route=route, slots=(*parameters, GROUP), body=draw(BODIES))


ARGUMENTS = st.dictionaries(st.sampled_from(["p", "q", "h", "g", "b"]) | TEXTS, VALUES, max_size=6)
GROUPS = st.fixed_dictionaries({}, optional={"p": TEXTS, "q": VALUES, "h": VALUES, "g": st.dictionaries(
    st.sampled_from(["m", "n"]), VALUES), "b": VALUES})  # fmt: skip


def composed(template, arguments):
    try:
        return compose(template, arguments)
    except CallError as error:
        return error


@given(templates("/a/{p}/z/"), ARGUMENTS | GROUPS)
@example(
    Template(method="GET", route="/a/{p}/z/", slots=(Slot(
        name="p", location="path", type="string", style="simple", explode=False),)), {"p": "x/../y"})  # fmt: skip
def test_arguments_stay_in_their_places(template, arguments):
    request = composed(template, arguments)
    if isinstance(request, CallError):
        assert request.retryable is False
        return
    assert request.path.isascii()
    assert request.path.count("/") == 4
    assert not {".", ".."} & set(unquote(request.path).split("/")[2:-2][:1])
    assert not set("?# ") & set(request.path)
    assert not set("# \r\n") & set(request.query)
    assert request.query.isascii()
    for _, value in request.headers:
        assert not set("\r\n\0") & set(value)
        value.encode("latin-1")
    if request.body is not None:
        json.loads(request.body.decode("utf-8"))
    assert (request.body is None) == (request.content_type is None)


@given(templates("{p}z/"), ARGUMENTS | GROUPS)
def test_path_that_begins_with_an_argument_stays_on_the_host(template, arguments):
    request = composed(template, arguments)
    if not isinstance(request, CallError):
        assert request.path.startswith("/")
        assert not request.path.startswith("//")
        assert not {".", ".."} & set(unquote(request.path).split("/")[:-2])
        assert not set("?# ") & set(request.path)


@given(templates("/a/{p}/z/"), ARGUMENTS)
def test_composing_twice_gives_the_same(template, arguments):
    first, second = composed(template, arguments), composed(template, arguments)
    if isinstance(first, CallError):
        assert (first.code, first.message) == (second.code, second.message)
    else:
        assert first == second


@given(templates("/a/{p}/z/"))
def test_template_survives_its_json(template):
    assert Template.from_json(json.loads(json.dumps(template.to_json()))) == template


JSON_BODIES = st.builds(lambda value: json.dumps(value).encode(), VALUES)
HEADER_VALUES = st.text(st.characters(max_codepoint=255), max_size=40) | st.sampled_from(
    [
        "application/json",
        "application/problem+json",
        "text/plain; charset=utf-7",
        "text/html",
        'attachment; filename="a',
        "attachment; filename*=x''%ff",
        "attachment; filename*0=a; filename*1*=''b",
        "text/plain; charset*=%00''utf-8",
    ]
)
HEADERS = st.dictionaries(
    st.sampled_from(["content-type", "content-disposition", "location", "retry-after", "x-request-id"]), HEADER_VALUES
)
FACTS = st.builds(
    CallFacts,
    naming=st.builds(Naming, published=st.lists(TEXTS, max_size=3)),
    has_identity=st.booleans(),
    limit_bytes=st.just(10_000),
    login_url=st.none() | TEXTS,
)


def emitted(response, facts):
    try:
        outcome = map_response(response, facts)
    except CallError as error:
        outcome = error
    return emit(outcome, limit_bytes=facts.limit_bytes)


@given(st.integers(100, 599), HEADERS, st.binary(max_size=200) | JSON_BODIES, st.booleans(), FACTS)
def test_any_answer_becomes_a_result(status, headers, body, is_cut, facts):
    result = emitted(BackendResponse(status=status, headers=headers, body=body, is_cut=is_cut), facts)
    envelope = json.loads(result.text.encode("utf-8"))
    assert result.is_error == ("error" in envelope)
    assert result.is_error or envelope["status"] == status < 400


MARKER = "Zq7-marker-x9"
MARKED = st.recursive(
    st.just(MARKER) | SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["detail", "message", "errors", "title", MARKER]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from([401, 403, *range(500, 600)]), HEADERS, MARKED)
def test_nothing_of_a_401_or_a_5xx_is_forwarded_nor_of_a_403_to_nobody(status, headers, value):
    facts = CallFacts(naming=Naming(published=("detail",)), has_identity=False, limit_bytes=10_000)
    body = json.dumps({"detail": MARKER, "errors": {"detail": [MARKER]}, "rest": value}).encode()
    assert MARKER not in emitted(BackendResponse(status=status, headers=headers, body=body), facts).text
