"""invoke.md, "Dispatch": a call reaches the recorded operation as it would over HTTP, and nothing else."""

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from sezzlee_mcp import handler
from sezzlee_mcp.models import Operation
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient

SMUGGLED = [
    "5/items",
    "5/children",
    "..",
    ".",
    "%2F..",
    "../secret",
    "a/../b",
    "x/secret",
    "5/secret",
    "5%2Fchildren",
    "",
]


def reached(envelope: dict[str, Any]) -> Any:
    """The view that ran, or the code of the error."""
    return envelope["body"]["view"] if "body" in envelope else envelope["error"]


@pytest.mark.parametrize("tool", ["item", "regex_item"])
@pytest.mark.parametrize("value", SMUGGLED)
def test_path_argument_never_reaches_another_operation(testapp: None, tool: str, value: str) -> None:
    envelope = McpClient().invoke(tool, {"id": value})

    if "/" in value or value in {"", ".", ".."}:
        assert envelope["error"] == "invalid_path_type"
        assert "'id'" in envelope["message"]
    else:  # a percent sign is data: the view reads the text as it was sent
        assert envelope["body"] == {"view": "item", "pk": value}


@pytest.mark.parametrize("value", SMUGGLED)
def test_path_argument_stays_in_its_place_below_a_language_prefix(
    testapp: None, settings: Settings, value: str
) -> None:
    settings.ROOT_URLCONF = "tests.testapp.localized_urls"
    sync(force=True)

    assert reached(McpClient().invoke("item", {"id": value})) in {"item", "invalid_path_type"}
    assert McpClient().invoke("item", {"id": "5"})["body"] == {"view": "item", "pk": "5"}


def test_localized_route_is_called_in_the_callers_language(testapp: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.testapp.localized_urls"
    sync(force=True)

    body = McpClient(headers={"Accept-Language": "de"}).invoke("echo")["body"]

    assert (body["path"], body["language"]) == ("/de/api/echo/", "de")


def test_key_and_route_leave_the_language_prefix_out(testapp: None, settings: Settings) -> None:
    before = McpClient().search("item", detail="schema")
    settings.ROOT_URLCONF = "tests.testapp.localized_urls"

    report = sync()

    assert report.tool_changes["added"] == report.tool_changes["removed"] == []
    assert [tool["name"] for tool in McpClient().search("item", detail="schema")["results"]] == [
        tool["name"] for tool in before["results"]
    ]


@pytest.mark.parametrize("value", [*SMUGGLED, "5"])
def test_urlconf_of_the_request_cannot_put_another_view_behind_a_tool(
    testapp: None, settings: Settings, value: str
) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.testapp.middleware.tenant_urlconf"]

    envelope = McpClient(headers={"X-Tenant": "other"}).invoke("item", {"id": value})

    assert envelope["error"] == "invalid_path_type"


def test_urlconf_of_the_request_serves_what_it_shares(testapp: None, settings: Settings) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.testapp.middleware.tenant_urlconf"]
    other = McpClient(headers={"X-Tenant": "other"})

    assert other.invoke("number", {"id": 7})["body"] == {"view": "number", "pk": 7}
    assert other.invoke("download")["error"] == "not_invocable"


@pytest.mark.parametrize("value", ["01", "+1", "seven"])
def test_value_that_the_route_would_read_otherwise_is_refused(testapp: None, value: str) -> None:
    operation = Operation.objects.get(key="GET /api/numbers/{id}/")
    slots = operation.slots
    slots["parameters"][0]["schema"] = {"type": "string"}
    Operation.objects.filter(pk=operation.pk).update(slots=slots, descriptor_digest="of a text")
    publish(source="admin")

    envelope = McpClient().invoke("number", {"id": value})

    assert (envelope["error"], "no longer leads to" in envelope["message"]) == ("invalid_path_type", True)


def test_path_converter_takes_slashes(testapp: None) -> None:
    assert McpClient().invoke("file", {"name": "a/b c/d.txt"})["body"] == {"view": "file", "name": "a/b c/d.txt"}


def test_inner_request_is_the_outer_one_with_another_target(testapp: None, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["shop.example"]
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.testapp.middleware.tenant"]
    client = Client(headers={"host": "shop.example"}, REMOTE_ADDR="203.0.113.9")
    agent = McpClient(client, headers={"X-Tenant": "acme", "Origin": "http://shop.example"})

    envelope = agent.invoke(
        "echo", {"q": "a&b=c d", "many": ["1", "2,3"], "X-Shop": "north", "colour": "öl", "n": None}
    )

    accept = envelope["body"].pop("accept")
    assert accept.split(", ")[0] == "application/json" and accept.split(", ")[-1] == "*/*"
    assert envelope == {
        "status": 200,
        "body": {
            "query": {"q": ["a&b=c d"], "many": ["1", "2,3"]},
            "data": {"colour": "öl", "n": None},
            "shop": "north",
            "path": "/api/echo/",
            "host": "shop.example",
            "address": "203.0.113.9",
            "secure": False,
            "content_type": "application/json; charset=utf-8",
            "origin": None,
            "mcp": [],
            "tenant": "acme",
            "is_sezzlee": True,
            "language": "en",
            "zone": "UTC",
        },
    }


def test_request_of_a_browser_is_no_agents_call(testapp: None) -> None:
    response = Client().post("/api/echo/", "{}", content_type="application/json")

    assert response.json()["is_sezzlee"] is False


def test_crash_of_the_view_is_an_error_without_its_text(testapp: None) -> None:
    client = Client(raise_request_exception=False)

    assert McpClient(client).invoke("fail", {"kind": "crash"}) == {
        "error": "backend_error",
        "message": "The backend failed on this call (500). The details were withheld.",
        "retryable": False,
        "status": 500,
    }


def test_401_of_the_view_is_not_forwarded(testapp: None) -> None:
    envelope = McpClient().invoke("fail", {"kind": "anonymous"})

    assert envelope["error"] == "unauthenticated"
    assert "secret" not in json.dumps(envelope)


def test_page_for_people_is_not_forwarded(testapp: None) -> None:
    envelope = McpClient().invoke("page")

    assert (envelope["error"], envelope["status"]) == ("bad_request", 400)
    assert "secret" not in json.dumps(envelope)


def test_nested_validation_errors_name_the_argument(testapp: None) -> None:
    envelope = McpClient().invoke("box", {"label": "", "items": [{"quantity": 1}, {"quantity": 0}]})

    assert envelope["error"] == "validation_failed"
    assert [problem["name"] for problem in envelope["fields"]] == ["label", "items[1].quantity"]


def test_stream_is_read_up_to_the_budget(testapp: None) -> None:
    assert McpClient().invoke("stream", {"thousands": 2})["body"] == "x" * 2000

    envelope = McpClient().invoke("stream", {"thousands": 10**9})

    assert (envelope["error"], envelope["payload"]["limit"]) == ("response_too_large", 262_144)


def test_bytes_come_as_base64_with_their_name(testapp: None) -> None:
    assert McpClient().invoke("download") == {
        "status": 200,
        "body": {"base64": "JVBERi0xLjQg//4="},
        "contentType": "application/pdf",
        "filename": "small.pdf",
    }


def test_tool_of_a_file_document_is_found_and_not_invocable(testapp: None) -> None:
    document = {
        "openapi": "3.1.0",
        "paths": {"/elsewhere/": {"get": {"operationId": "elsewhere", "responses": {"200": {"description": "Yes."}}}}},
    }
    sync(document, force=True)

    assert McpClient().load("elsewhere")["name"] == "elsewhere"
    assert McpClient().invoke("elsewhere")["error"] == "not_invocable"


def test_the_endpoint_itself_is_no_operation(testapp: None) -> None:
    names = {tool["name"] for tool in McpClient().search(limit=50)["results"]}

    assert names == {
        "box",
        "download",
        "echo",
        "fail",
        "file",
        "item",
        "item_children",
        "number",
        "page",
        "regex_item",
        "stream",
        "upload",
    }


def test_middleware_is_loaded_once(testapp: None) -> None:
    handler.forget_middleware()
    McpClient().invoke("download")
    chain = handler._handler._middleware_chain  # type: ignore[attr-defined]

    McpClient().invoke("download")

    assert handler._handler._middleware_chain is chain  # type: ignore[attr-defined]
