"""What a caller can make grow and no other module shows: each has its bound, and an answer beyond it."""

from collections import OrderedDict
from datetime import date
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import clear_url_caches
from pytest_django import Settings

from sezzlee_mcp import snapshots, usage
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient


@pytest.fixture
def agent(db: None, settings: Settings) -> McpClient:
    settings.ROOT_URLCONF = "tests.asks.host"
    clear_url_caches()
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        "CACHED_TOOLS": 2,
        "USE_FLUSH_SECONDS": 0,
    }
    sync()
    return McpClient()


@pytest.mark.parametrize(
    ("setting", "value"),
    [("DATA_UPLOAD_MAX_NUMBER_FILES", 0), ("DATA_UPLOAD_MAX_NUMBER_FIELDS", 0), ("DATA_UPLOAD_MAX_MEMORY_SIZE", 1)],
)
def test_limit_of_the_project_for_a_request_holds_for_a_call(
    agent: McpClient, settings: Settings, setting: str, value: int
) -> None:
    setattr(settings, setting, value)

    over_http = Client().post("/api/upload/", {"title": "title", "file": SimpleUploadedFile("h.txt", b"hello")})
    envelope = agent.invoke("upload", {"title": "title", "file": {"text": "hello", "name": "h.txt"}})

    assert over_http.status_code == 400
    assert (envelope["error"], envelope["status"]) == ("bad_request", 400)


def test_message_is_read_as_far_as_the_settings_say(agent: McpClient, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "SEARCH_CHARS": 100, "BODY_LEVELS": 10}

    assert agent.call("search_tools", {"query": "x" * 101})["message"] == (
        "The argument 'query' of search_tools takes at most 100 characters; 101 arrived."
    )
    deep = Client().post("/mcp", "[" * 11 + "]" * 11, content_type="application/json")
    assert deep.json()["error"]["message"] == (
        "Parse error: the body is not the JSON of one message: it is nested more than 10 levels deep."
    )


def test_process_keeps_no_more_tools_loaded_than_the_setting_says(agent: McpClient) -> None:
    for kept in kept_contents():
        kept.clear()  # what tests with other bounds have left

    loaded = [agent.load(name)["name"] for name in ("filter", "form_create", "tree", "paper")]

    assert loaded == ["filter", "form_create", "tree", "paper"]
    assert [len(kept) for kept in kept_contents()] == [2, 2]
    assert agent.load("filter")["name"] == "filter"


def kept_contents() -> list[OrderedDict[str, Any]]:
    return [each._kept for each in vars(snapshots).values() if isinstance(each, snapshots._Contents)]


def test_counts_that_wait_for_the_database_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_KEYS_AT_MOST", 2)
    uses = usage._Uses()
    keys = [usage._Key(date(2026, 1, 1), tool, "ok", "") for tool in ("one", "two", "three", "one")]

    for key in keys:
        uses._merge({key: (1, 0.5)})

    assert uses._counts == {keys[0]: (2, 1.0), keys[1]: (1, 0.5)}
