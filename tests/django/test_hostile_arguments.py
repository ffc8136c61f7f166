"""An argument stays in its place: it sets no other header or cookie, no other body type, and reaches no other view."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as bounded
from hypothesis import strategies as st
from pytest_django import Settings

from sezzlee_mcp import snapshots
from sezzlee_mcp.catalog.tools import Template
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.django.conftest import TOKENS
from tests.testapp import places
from tests.testapp.middleware import Reached, reached

fuzzed = bounded(max_examples=100, derandomize=True, suppress_health_check=list(HealthCheck))

HOSTILE = [
    *("", "\0", "\r\nX-Admin: 1", "a\nSet-Cookie: sessionid=1", "; sessionid=1", "a=b; Path=/", ",", '"', "'", "\\"),
    *("../secret", "5/secret", "5%2Fsecret", "..", ".", "//evil.example/", "http://evil.example/", "?format=csv", "#x"),
    *("&is_staff=1", "application/xml", "boundary=x", "--x--", "${jndi:ldap://x}", "{{7*7}}", "%s%n", "x" * 50_000),
    *(
        "__proto__",
        "constructor",
        "__class__",
        "ünï\u2028cödé😀",
        "\u202e",
        "\ufeff",
        "\x1b[31m",
        "null",
        "' OR 1=1 --",
    ),
]
TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = TEXTS | st.sampled_from([*places.RESERVED, "Cookie", "sessionid", "HTTP_HOST", "wsgi.input", "PATH_INFO"])
DEEP: Any = "end"
for _ in range(20):
    DEEP = {"__proto__": [DEEP]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | TEXTS | st.just(DEEP),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture
def recorded(db: None, settings: Settings) -> Iterator[list[Reached]]:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.testapp.middleware.recorder"]
    reached.clear()
    yield reached
    reached.clear()


@pytest.fixture
def every_place(recorded: list[Reached], settings: Settings) -> None:
    settings.ROOT_URLCONF = places.__name__
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    sync()


@pytest.fixture
def plain(every_place: None) -> Reached:
    """What reaches the view of a call that says nothing."""
    _, plain = reach(McpClient(), "places", {"id": "5"})
    assert plain is not None
    return plain


def reach(agent: McpClient, tool: str, arguments: dict[str, Any]) -> tuple[Any, Reached | None]:
    """The envelope of a call, and what of it reached a view."""
    reached.clear()
    with transaction.atomic():
        envelope = agent.invoke(tool, arguments)
        transaction.set_rollback(True)
    return envelope, reached[-1] if reached else None


def test_header_that_is_not_the_agents_is_no_argument(every_place: None) -> None:
    assert sorted(McpClient().load("places")["inputSchema"]["properties"]) == [
        "If-Match",
        "X-Tenant",
        "crumb",
        "id",
        "q",
    ]


@pytest.mark.parametrize("name", [*places.RESERVED, "Cookie", "X-Admin", "HTTP_HOST", "REMOTE_ADDR", "wsgi.url_scheme"])
def test_name_of_a_header_that_an_open_body_takes_is_a_field_of_the_body(plain: Reached, name: str) -> None:
    envelope, sent = reach(McpClient(), "places", {"id": "5", name: "mallory"})

    assert envelope["body"]["data"] == {name: "mallory"}
    assert sent == plain


@pytest.mark.parametrize("name", ["X-Tenant", "x_tenant"])
def test_header_that_the_connection_sends_keeps_its_value(every_place: None, name: str) -> None:
    agent = McpClient(Client(**{f"HTTP_{name.upper().replace('-', '_')}": "acme"}))

    envelope, _ = reach(agent, "places", {"id": "5", "X-Tenant": "mallory"})
    assert (envelope["error"], reached) == ("header_carrier_collision", [])

    _, sent = reach(agent, "places", {"id": "5"})
    assert sent is not None and sent.meta["HTTP_X_TENANT"] == "acme"


def test_condition_of_the_outer_request_is_none_of_the_inner_one(every_place: None) -> None:
    agent = McpClient(headers={"If-Match": '"outer"', "Content-Language": "de"})

    _, sent = reach(agent, "places", {"id": "5", "If-Match": '"inner"'})

    assert sent is not None
    assert (sent.meta["HTTP_IF_MATCH"], "HTTP_CONTENT_LANGUAGE" in sent.meta) == ('"inner"', False)


@pytest.mark.parametrize("name", ["id", "q", "X-Tenant", "If-Match", "crumb", "field"])
def test_hostile_value_stays_in_its_place(plain: Reached, name: str) -> None:
    for value in HOSTILE:
        stays_in_its_place(plain, {"id": "5", name: value} if name != "field" else {"id": "5"}, {"field": value})


@fuzzed
@given(
    values=st.fixed_dictionaries(
        {"id": TEXTS}, optional={"q": TEXTS, "X-Tenant": TEXTS, "crumb": TEXTS, "If-Match": TEXTS}
    ),
    fields=st.dictionaries(NAMES, VALUES, max_size=3),
)
def test_values_of_any_kind_stay_in_their_places(
    plain: Reached, values: dict[str, str], fields: dict[str, Any]
) -> None:
    stays_in_its_place(plain, values, fields)


def stays_in_its_place(plain: Reached, values: dict[str, str], fields: dict[str, Any]) -> None:
    """Calls with arguments for path, query, headers and cookie, and with fields of the body."""
    envelope, sent = reach(McpClient(), "places", {**fields, **values})

    if sent is None:
        assert envelope["error"] in {"invalid_path_type", "header_injection", "invalid_type"}
        return
    assert not {"\r", "\n", "\0"}.intersection("".join(sent.meta.values()))
    headers = {"HTTP_X_TENANT": "X-Tenant", "HTTP_IF_MATCH": "If-Match"}
    assert sent.view == plain.view
    assert sent.meta == plain.meta | {key: values[name] for key, name in headers.items() if name in values}
    cookies = without(values, "id", "q", *headers.values())
    assert {name: unquote(value) for name, value in sent.cookies.items()} == cookies
    assert envelope["body"] == {"id": values["id"], "q": values.get("q"), "data": fields}


def without(values: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if name not in names}


def hostile_calls(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of which each has a hostile value, or one that fits, and some that the tool does not have."""
    known = {name: VALUES | fitting(member, schema.get("$defs", {})) for name, member in schema["properties"].items()}
    needed = {name: values for name, values in known.items() if name in schema.get("required", ())}
    others = st.just({}) | st.dictionaries(NAMES, VALUES, max_size=2)
    sent = st.fixed_dictionaries(needed, optional={name: known[name] for name in known.keys() - needed.keys()})
    return st.tuples(others, sent).map(lambda parts: {**parts[0], **parts[1]})


def fitting(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a schema's first type whose texts are hostile."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")]
    types = schema.get("type", "string")
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match types if isinstance(types, str) else types[0]:
        case "integer" | "number":
            return st.integers(1, 8)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(fitting(schema.get("items", {}), definitions), min_size=1, max_size=2)
        case "object" if "text" in schema.get("properties", {}):
            return st.fixed_dictionaries({"text": TEXTS}, optional={"name": TEXTS, "mediaType": TEXTS})
        case "object":
            members = schema.get("properties", {}).items()
            return st.fixed_dictionaries({name: fitting(member, definitions) for name, member in members})
    return TEXTS


def test_arguments_reach_no_other_view_and_add_nothing_to_the_request(shop: None, recorded: list[Reached]) -> None:
    agent = McpClient(headers={"Authorization": f"Token {TOKENS['admin']}"})
    _, plain = reach(agent, "me", {})
    assert plain is not None
    entries = snapshots.current().entries
    arrived: set[str] = set()

    @bounded(fuzzed, max_examples=12)
    @given(st.data())
    def check(name: str, template: Template, schema: dict[str, Any], data: st.DataObject) -> None:
        _, sent = reach(agent, name, data.draw(hostile_calls(schema)))
        if sent is not None:
            arrived.add(name)
            assert (sent.view, sent.cookies) == (template.view, {})
            assert without(sent.meta, *OWN) == without(plain.meta, *OWN)
            assert sent.meta["REQUEST_METHOD"] == template.method
            assert sent.meta.get("CONTENT_TYPE", "").partition(";")[0] in content_types(template)

    for name, entry in entries.items():
        check(name, snapshots.template_of(entry), agent.load(name)["inputSchema"])

    assert arrived == entries.keys()


OWN = ["CONTENT_TYPE", "HTTP_ACCEPT", "REQUEST_METHOD"]  # what is each operation's own


def content_types(template: Template) -> set[str | None]:
    return {""} if template.body is None else {template.body.content_type, template.body.file_content_type}
