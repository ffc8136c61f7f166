"""The endpoint over Django's stack: who is let in, what is refused before anybody is asked, nothing half-said."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings

from sezzlee_mcp.testing import McpClient
from tests.django.conftest import TOKENS

ENDPOINT = "/mcp"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def post(client: Client, method: str = "tools/list", **headers: str) -> Any:
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"_meta": META}}
    sent = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **headers}
    return client.post(ENDPOINT, json.dumps(message), content_type="application/json", headers=sent)


def bearer(username: str) -> dict[str, str]:
    return {"Authorization": f"Token {TOKENS[username]}"}


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_endpoint_answers_with_and_without_a_slash(shop: None, client: Client, path: str) -> None:
    response = client.post(
        path,
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        content_type="application/json",
        headers=bearer("alice"),
    )

    assert (response.status_code, response.json()) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete", "head", "options"])
def test_endpoint_takes_post_alone(db: None, client: Client, method: str) -> None:
    response = getattr(client, method)(ENDPOINT)

    assert (response.status_code, response["Allow"]) == (405, "POST")


def test_caller_without_identity_is_challenged(shop: None, client: Client) -> None:
    response = post(client)

    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Token"
    assert response.json() == {
        "jsonrpc": "2.0",
        "error": {"code": -32600, "message": "Authentication credentials were not provided."},
    }


def test_caller_is_challenged_although_the_first_authenticator_has_no_challenge(
    shop: None, client: Client, settings: Settings
) -> None:
    settings.SEZZLEE_MCP = {
        **settings.SEZZLEE_MCP,
        "AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    }

    response = post(client)

    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize(
    "authorization",
    ["Token wrong", "Token", "Basic %%%", "Basic " + base64.b64encode(b"alice:wrong").decode(), "Token a b"],
)
def test_wrong_credentials_are_401(shop: None, client: Client, authorization: str) -> None:
    assert post(client, Authorization=authorization).status_code == 401


def test_session_of_a_browser_needs_the_csrf_token(shop: None) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(get_user_model().objects.get(username="alice"))

    assert post(browser).status_code == 403

    browser.get("/admin/login/")
    token = browser.cookies["csrftoken"].value
    assert post(browser, **{"X-CSRFToken": token}).status_code == 200


def test_origin_of_another_site_is_refused_before_anyone_is_asked(shop: None, client: Client) -> None:
    assert post(client, Origin="https://evil.example").status_code == 403
    assert post(client, Origin="null", **bearer("alice")).status_code == 403
    assert post(client, Origin="http://testserver", **bearer("alice")).status_code == 200


def test_trusted_and_listed_origins_are_served(shop: None, client: Client, settings: Settings) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://*.shop.example"]
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "ALLOWED_ORIGINS": ["https://console.example"]}

    for origin in ("https://desk.shop.example", "https://console.example"):
        assert post(client, Origin=origin, **bearer("alice")).status_code == 200


def test_unknown_host_is_400_without_common_middleware_too(shop: None, client: Client, settings: Settings) -> None:
    settings.MIDDLEWARE = []

    response = post(client, Host="evil.example", **bearer("alice"))

    assert (response.status_code, response.json()["error"]["message"]) == (400, "This Host is not served.")


def test_body_over_the_limit_is_413(shop: None, client: Client, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "BODY_LIMIT_BYTES": 2000}

    def sent(size: int) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"pad": ""}}
        text = json.dumps(message).replace('""', f'"{"x" * (size - len(json.dumps(message)))}"')
        return client.post(ENDPOINT, text, content_type="application/json", headers=bearer("alice")).status_code

    assert (sent(2000), sent(2001)) == (200, 413)


def test_body_may_be_larger_than_djangos_own_limit(shop: None, client: Client, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100

    assert post(client, **bearer("alice")).status_code == 200


def test_throttle_of_the_endpoint_says_how_long_to_wait(shop: None, client: Client, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "THROTTLE_CLASSES": ["tests.django.test_endpoint.NeverAgain"]}

    response = post(client, **bearer("alice"))

    assert (response.status_code, response["Retry-After"]) == (429, "90")


class NeverAgain:
    def allow_request(self, request: Any, view: Any) -> bool:
        return False

    def wait(self) -> float:
        return 89.2


def test_tool_definitions_carry_the_generation(shop: None, agent: Callable[[str], McpClient]) -> None:
    tools = agent("alice").list_tools()

    assert [tool["name"] for tool in tools] == ["load_tool", "search_tools", "invoke_tool"]
    assert [tool["_meta"] for tool in tools] == [{"sezzlee/catalogGeneration": 1}] * 3


def test_lists_are_private_to_the_caller(shop: None, client: Client) -> None:
    result = post(client, **bearer("alice")).json()["result"]

    assert (result["cacheScope"], result["resultType"]) == ("private", "complete")


def test_never_synced_catalog_lists_nothing(db: None, anonymous_endpoint: None) -> None:
    agent = McpClient()

    assert agent.search() == {
        "total": 0,
        "results": [],
        "suggestions": {
            "words": [],
            "message": (
                "No tool is visible to this caller; "
                "call as a user who may use some, or ask who runs this server to expose some."
            ),
        },
    }
    assert agent.list_tools()[0]["_meta"] == {"sezzlee/catalogGeneration": 0}


def test_version_pin_runs_only_the_tool_that_was_read(shop: None, agent: Callable[[str], McpClient]) -> None:
    alice = agent("alice")
    version = alice.load("products_list")["version"]

    assert alice.invoke("products_list", {}, version=version)["status"] == 200
    refused = alice.invoke("products_list", {}, version="0123456789abcdef")
    assert (refused["error"], refused["continuation"]["arguments"]) == ("tool_changed", {"name": "products_list"})
    assert alice.invoke("no_such_tool", {}, version="0123456789abcdef")["error"] == "unknown_tool"


def test_arguments_as_json_text_are_unwrapped_and_logged(
    shop: None, agent: Callable[[str], McpClient], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="sezzlee_mcp")

    envelope = agent("alice").invoke("products_list", '{"search": "desk"}')

    assert envelope["status"] == 200
    assert [record.getMessage() for record in caplog.records if record.name == "sezzlee_mcp"] == [
        "The arguments of products_list came as JSON text and were unwrapped."
    ]


def test_search_over_the_budget_names_what_narrows_it(
    shop: None, agent: Callable[[str], McpClient], settings: Settings
) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "BUDGET_BYTES": 2000}

    envelope = agent("admin").search(detail="schema")

    assert envelope["error"] == "response_too_large"
    assert [field["name"] for field in envelope["fields"]] == ["query", "limit", "detail", "tags"]


def test_bug_in_the_server_is_answered_without_its_internals(
    shop: None, client: Client, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.SEZZLEE_MCP = {"PERMISSION_CLASSES": ["tests.django.test_endpoint.Broken"]}

    response = post(client, **bearer("alice"))

    assert response.status_code == 500
    assert response.json()["error"]["code"] == -32603
    assert "secret" not in response.content.decode()
    assert "secret" in caplog.text


class Broken:
    def has_permission(self, request: Any, view: Any) -> bool:
        raise RuntimeError("secret")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
TOOL_NAMES = st.sampled_from(["search_tools", "load_tool", "invoke_tool", "other"])
OPERATIONS = st.sampled_from(["item", "number", "echo", "box", "file", "stream", "fail", "nothing"]) | JSON
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "name": OPERATIONS,
        "query": JSON,
        "limit": JSON,
        "detail": JSON,
        "tags": JSON,
        "version": JSON,
        "arguments": JSON
        | st.dictionaries(
            st.sampled_from(["pk", "id", "name", "label", "items", "thousands", "kind", "q", "X-Shop"]), JSON
        ),
    },
)
METHODS = st.sampled_from(["tools/call", "tools/list", "server/discover", "initialize", "ping", "x"])
HEADER_VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=40)


@given(
    method=METHODS,
    ident=JSON,
    tool=TOOL_NAMES,
    arguments=ARGUMENTS,
    is_modern=st.booleans(),
    headers=st.dictionaries(
        st.sampled_from(
            ["Accept", "Origin", "MCP-Protocol-Version", "Mcp-Name", "Authorization", "Cookie", "X-Tenant"]
        ),
        HEADER_VALUES,
        max_size=3,
    ),
)
@hypothesis_settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_no_message_gets_a_500_a_traceback_or_html(
    testapp: None, method: str, ident: Any, tool: str, arguments: Any, is_modern: bool, headers: dict[str, str]
) -> None:
    params = {"name": tool, "arguments": arguments, **({"_meta": META} if is_modern else {})}
    modern = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": tool} if is_modern else {}
    body = json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})

    response = Client(raise_request_exception=False).post(
        ENDPOINT, body, content_type="application/json", headers={**modern, **headers}
    )

    assert_clean(response)


@given(body=st.binary(max_size=300), content_type=st.sampled_from(["application/json", "text/plain", "", "a/b;c=d"]))
@hypothesis_settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_get_a_500_a_traceback_or_html(testapp: None, body: bytes, content_type: str) -> None:
    response = Client(raise_request_exception=False).post(ENDPOINT, body, content_type=content_type)

    assert_clean(response)


def assert_clean(response: Any) -> None:
    text = response.content.decode()
    assert response.status_code < 500, text
    assert "Traceback" not in text
    assert "<html" not in text.lower()
    assert text == "" or json.loads(text)["jsonrpc"] == "2.0"
