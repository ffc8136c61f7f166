"""What a call may ask of the host: values of hidden arguments and files behind references."""

from typing import Any

import pytest
from pytest_django import Settings

from sezzlee_mcp.models import Operation
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.testapp import views

HERE = "tests.django.test_providers"
asked: list[str] = []


def tenant(request: Any) -> str:
    asked.append(request.headers.get("X-Tenant", ""))
    return str(request.headers["X-Tenant"])


def stored_file(ref: str, *, field: str, tool: str, user: Any, limit_bytes: int, deadline: Any) -> bytes:
    if ref == "down":
        raise ConnectionError("the secret host is down")
    if ref != "mine":
        raise PermissionError(ref)
    return f"{tool}:{field}".encode()


@pytest.fixture
def hosted(db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    asked.clear()
    settings.ROOT_URLCONF = "tests.testapp.urls"
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        "PROVIDERS": {"tenant": f"{HERE}.tenant"},
        "FILE_RESOLVER": f"{HERE}.stored_file",
    }
    sync()


def test_reference_is_followed_for_the_caller(hosted: None) -> None:
    envelope = McpClient().invoke("upload", {"title": "A", "attachment": {"ref": "mine", "name": "a.txt"}})

    assert envelope["body"] == {"title": "A", "name": "a.txt", "content": "upload:attachment"}


@pytest.mark.parametrize(("ref", "retryable"), [("other", False), ("down", True)])
def test_reference_that_is_not_given_says_no_more_than_that(hosted: None, ref: str, retryable: bool) -> None:
    envelope = McpClient().invoke("upload", {"title": "A", "attachment": {"ref": ref}})

    assert (envelope["error"], envelope["retryable"]) == ("file_unresolved", retryable)
    assert "secret" not in str(envelope)


def test_file_comes_with_the_call(hosted: None) -> None:
    envelope = McpClient().invoke("upload", {"title": "B", "attachment": {"text": "häagen", "name": "ö.txt"}})

    assert envelope["body"] == {"title": "B", "name": "ö.txt", "content": "häagen"}


def test_hidden_argument_is_what_its_provider_says_of_the_request(hosted: None) -> None:
    envelope = McpClient(headers={"X-Tenant": "acme"}).invoke("tenant_echo")

    assert envelope["body"] == {"tenant": "acme"}
    assert asked == ["acme"]


def test_provider_that_fails_leaves_the_value_missing(hosted: None) -> None:
    envelope = McpClient().invoke("tenant_echo")

    assert envelope["error"] == "deferred_value_missing"
    assert "tenant" not in envelope["message"].lower()


def test_hidden_argument_is_not_published(hosted: None) -> None:
    assert McpClient().load("tenant_echo")["inputSchema"]["properties"] == {}
    assert Operation.objects.get(key="GET /api/tenants/").view == f"{views.__name__}.tenant_echo"
