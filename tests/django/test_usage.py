"""What a call leaves behind: a record with names and no values, a signal, and counts that add up."""

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.models.signals import pre_delete
from django.test import Client
from django.urls import clear_url_caches, include, path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from sezzlee_mcp import usage
from sezzlee_mcp.catalog import ArgumentRecord
from sezzlee_mcp.decorators import mcp_tool
from sezzlee_mcp.models import Operation, Revision, ToolUse, VainWord
from sezzlee_mcp.protocol import CallTrace
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.signals import catalog_published, tool_invoked
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from sezzlee_mcp.vain_searches import FOLLOWED_CALLS
from tests.django.test_endpoint import ENDPOINT, META, bearer

Agent = Callable[[str], McpClient]
Records = Callable[[], list[dict[str, Any]]]

TODAY = datetime.now(UTC).date()
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@mcp_tool(arguments=[ArgumentRecord(name="q", agent_name="words", deprecated_aliases=("query",))])
@extend_schema(operation_id="find", parameters=[OpenApiParameter("q", str)], responses={200: {"type": "object"}})
@api_view(["GET"])
@permission_classes([AllowAny])
def find(request: Request) -> Response:
    return Response({})


urlpatterns = [path("", include("sezzlee_mcp.urls")), path("api/find/", find)]


@pytest.fixture
def records(caplog: pytest.LogCaptureFixture) -> Records:
    """The details of the calls' records so far, less how long each took and how large its answer was."""
    caplog.set_level(logging.INFO, logger="sezzlee_mcp.calls")

    def read() -> list[dict[str, Any]]:
        found = [dict(vars(record)["sezzlee"]) for record in caplog.records if record.name == "sezzlee_mcp.calls"]
        assert all(each.pop("milliseconds") >= 0 and each.pop("size_bytes") >= 0 for each in found)
        return found

    return read


@pytest.fixture(autouse=True)
def nothing_counted_yet() -> Iterator[None]:
    usage.forget()
    yield
    usage.forget()


@pytest.fixture
def counting(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "USE_FLUSH_SECONDS": 3600}


def written() -> list[tuple[Any, ...]]:
    usage.flush()
    rows = ToolUse.objects.order_by("tool", "outcome", "alias")
    return list(rows.values_list("day", "tool", "outcome", "alias", "calls"))


def trace(**members: Any) -> dict[str, Any]:
    return {
        "meta_tool": "invoke_tool",
        "tool": "",
        "arguments": (),
        "outcome": "ok",
        "status": None,
        "client": "",
        "traceparent": "",
        "generation": 1,
        "user": "1",
        **members,
    }


def test_each_call_of_a_meta_tool_is_one_record_with_names_and_no_values(agent: Agent, records: Records) -> None:
    alice = agent("alice")

    alice.search("cancel an order", limit=3)
    alice.load("orders_create")
    alice.invoke("orders_list", {"page": 1})
    alice.invoke("orders_retrieve", {"id": 999_999})

    user = {"user": records()[0]["user"]}
    assert records() == [
        trace(meta_tool="search_tools", arguments=("query", "limit"), **user),
        trace(meta_tool="load_tool", tool="orders_create", arguments=("name",), **user),
        trace(tool="orders_list", arguments=("page",), status=200, **user),
        trace(tool="orders_retrieve", arguments=("id",), outcome="not_found", status=404, **user),
    ]


def test_refused_call_is_a_record_too(agent: Agent, records: Records) -> None:
    agent("alice").invoke("no_such_tool", {"secret": "hunter2"})
    agent("alice").call("load_tool", {"nmae": "orders_create"})

    assert [(each["tool"], each["arguments"], each["outcome"]) for each in records()] == [
        ("no_such_tool", ("secret",), "unknown_tool"),
        ("", ("nmae",), "unknown_argument"),
    ]


def test_call_of_a_user_without_a_row_is_recorded(shop: None, records: Records, settings: Settings) -> None:
    services = ["tests.testapp.services.ServiceName"]
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "AUTHENTICATION_CLASSES": services}

    McpClient(headers={"X-Service": "trusted"}).load("orders_create")

    assert records() == [trace(meta_tool="load_tool", tool="orders_create", arguments=("name",), user="")]


def test_line_break_in_a_name_starts_no_line_of_the_log(agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="sezzlee_mcp.calls")

    agent("alice").invoke("orders\r\nERROR root: all is lost\x1b[2J")

    (message,) = [record.getMessage() for record in caplog.records if record.name == "sezzlee_mcp.calls"]
    assert message == r"invoke_tool 'orders\r\nERROR root: all is lost\x1b[2J': unknown_tool"


def test_record_names_the_client_and_carries_a_wellformed_traceparent(
    shop: None, client: Client, records: Records
) -> None:
    info = {"io.modelcontextprotocol/clientInfo": {"name": "field-notes", "version": "3.2.0"}}
    for traceparent in (TRACEPARENT, "00-short-01\r\n", 5):
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "search_tools", "_meta": {**META, **info, "traceparent": traceparent}},
        }
        named = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "search_tools"}
        headers = {**bearer("alice"), **named}
        assert client.post(ENDPOINT, message, content_type="application/json", headers=headers).status_code == 200

    assert [(each["client"], each["traceparent"]) for each in records()] == [
        ("field-notes 3.2.0", TRACEPARENT),
        ("field-notes 3.2.0", ""),
        ("field-notes 3.2.0", ""),
    ]


def test_names_are_bounded_in_number_and_length(agent: Agent, records: Records) -> None:
    agent("alice").invoke("x" * 5000, {f"{number}{'y' * 500}": 1 for number in range(80)})

    (record,) = records()
    assert len(record["tool"]) == 257
    assert [len(name) for name in record["arguments"]] == [257] * 50


def test_the_longest_name_of_a_tool_is_recorded_whole(agent: Agent, records: Records) -> None:
    agent("alice").invoke("x" * 256)

    (record,) = records()
    assert record["tool"] == "x" * 256


def test_tool_invoked_tells_of_the_call_and_a_receiver_that_raises_changes_nothing(agent: Agent) -> None:
    heard: list[tuple[str, CallTrace]] = []

    def hear(*, user: Any, trace: CallTrace, seconds: float, **kwargs: Any) -> None:
        assert seconds > 0
        heard.append((user.username, trace))
        raise RuntimeError("a receiver of the host's")

    tool_invoked.connect(hear)
    try:
        answer = agent("admin").invoke("orders_list", {})
        agent("admin").search("orders")
        agent("admin").invoke("no_such_tool")
    finally:
        tool_invoked.disconnect(hear)

    assert answer["status"] == 200
    assert [(name, trace.tool, trace.outcome, trace.status) for name, trace in heard] == [
        ("admin", "orders_list", "ok", 200)
    ]


def test_catalog_published_is_sent_once_the_generation_has_committed(
    shop: None, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    heard: list[int] = []

    def hear(*, revision: Revision, **kwargs: Any) -> None:
        heard.append(revision.generation)

    catalog_published.connect(hear)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            Operation.objects.filter(key="GET /api/orders/").update(title="Orders of the shop")
            publish(source="command")
            assert heard == []
        with django_capture_on_commit_callbacks(execute=True):
            publish(source="command")  # nothing changed, so nothing is new
    finally:
        catalog_published.disconnect(hear)

    assert heard == [2]


def test_calls_add_up_by_tool_and_outcome(agent: Agent, counting: None) -> None:
    alice = agent("alice")
    alice.invoke("orders_list", {})
    alice.invoke("orders_list", {"page": 999})
    assert written() == [(TODAY, "orders_list", "not_found", "", 1), (TODAY, "orders_list", "ok", "", 1)]

    alice.invoke("orders_list", {})
    alice.invoke("no_such_tool")
    alice.search("orders")
    assert written() == [(TODAY, "orders_list", "not_found", "", 1), (TODAY, "orders_list", "ok", "", 2)]


def test_older_name_of_an_argument_is_counted_beside_the_call(db: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = __name__
    clear_url_caches()
    settings.SEZZLEE_MCP = {"PERMISSION_CLASSES": [], "USE_FLUSH_SECONDS": 3600}
    sync()

    McpClient().invoke("find", {"query": "a"})
    McpClient().invoke("find", {"words": "b"})

    assert written() == [(TODAY, "find", "ok", "", 2), (TODAY, "find", "ok", "query", 1)]


def test_counts_that_cannot_be_written_wait_for_the_next_time(
    agent: Agent, counting: None, caplog: pytest.LogCaptureFixture
) -> None:
    agent("alice").invoke("orders_list", {})
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE sezzlee_mcp_tooluse RENAME TO put_away")
        usage.flush()
        cursor.execute("ALTER TABLE put_away RENAME TO sezzlee_mcp_tooluse")
    assert "The uses of 1 tools could not be written; they are kept for the next time." in caplog.messages

    agent("alice").invoke("orders_list", {})

    assert written() == [(TODAY, "orders_list", "ok", "", 2)]


def test_old_days_are_deleted(agent: Agent, counting: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "KEPT_USE_DAYS": 30}
    for days in (30, 31):
        ToolUse.objects.create(day=TODAY - timedelta(days=days), tool="orders_list", outcome="ok", calls=9)

    agent("alice").invoke("orders_list", {})

    assert written() == [
        (TODAY - timedelta(days=30), "orders_list", "ok", "", 9),
        (TODAY, "orders_list", "ok", "", 1),
    ]


def test_old_days_that_cannot_be_deleted_make_no_call_count_twice(
    agent: Agent, counting: None, caplog: pytest.LogCaptureFixture
) -> None:
    ToolUse.objects.create(day=TODAY - timedelta(days=401), tool="orders_list", outcome="ok", calls=9)
    agent("alice").invoke("orders_list", {})

    def keep(**kwargs: Any) -> None:
        raise PermissionError

    pre_delete.connect(keep, sender=ToolUse)
    try:
        usage.flush()
    finally:
        pre_delete.disconnect(keep, sender=ToolUse)
    assert "What is kept no longer could not be deleted; that is tried again the next time." in caplog.messages

    agent("alice").invoke("orders_list", {})

    assert written() == [(TODAY, "orders_list", "ok", "", 2)]


def test_nothing_is_counted_without_a_time_to_write_it(agent: Agent) -> None:
    agent("alice").invoke("orders_list", {})

    assert written() == []


def test_admin_lists_the_uses_and_nobody_edits_them(shop: None, client: Client) -> None:
    ToolUse.objects.create(day=TODAY, tool="orders_list", outcome="ok", calls=4, milliseconds=50)
    client.force_login(get_user_model().objects.get(username="admin"))

    page = client.get("/admin/sezzlee_mcp/tooluse/").content.decode()

    assert '<td class="field-calls">4</td><td class="field-mean_milliseconds">12</td>' in page
    assert client.get("/admin/sezzlee_mcp/tooluse/add/").status_code == 403


# -- searches that came to nothing --


def vain() -> dict[str, tuple[int, int]]:
    """How many searches with each word found nothing, and how many were not followed."""
    usage.flush()
    return {
        word: (nothing, left)
        for word, nothing, left in VainWord.objects.values_list("word", "unanswered", "unfollowed")
    }


def abandon(alice: McpClient) -> None:
    """As many calls as there have to be for no search before them to be open any more."""
    for _number in range(FOLLOWED_CALLS):
        alice.invoke("no_such_tool")


def test_words_of_a_search_that_found_nothing_are_counted_by_day(agent: Agent, counting: None) -> None:
    for _number in range(2):
        agent("alice").search("teleport zebra4711")

    assert vain() == {"teleport": (2, 0)}
    assert VainWord.objects.get().day == TODAY


@pytest.mark.parametrize("follow", ["load", "invoke"])
def test_search_is_followed_by_a_call_of_a_tool_that_it_found(agent: Agent, counting: None, follow: str) -> None:
    alice = agent("alice")

    alice.search("orders")
    alice.search("zebra")
    getattr(alice, follow)("orders_list")
    abandon(alice)

    assert vain() == {"zebra": (1, 0)}


def test_search_whose_caller_goes_on_with_something_else_is_not_followed(agent: Agent, counting: None) -> None:
    alice = agent("alice")

    alice.search("cancel orders")
    agent("bob").load("orders_list")  # which is no sign of what alice does
    assert vain() == {}
    abandon(alice)

    assert vain() == {"cancel": (0, 1), "order": (0, 1)}


def test_search_that_tags_narrow_is_not_judged(agent: Agent, counting: None) -> None:
    agent("alice").search("teleport", tags=["orders"])

    assert vain() == {}


def test_no_word_is_kept_where_the_settings_say_so(agent: Agent, counting: None, settings: Settings) -> None:
    VainWord.objects.create(day=TODAY, word="zebra", unanswered=1)
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "KEPT_WORD_DAYS": 0}

    agent("alice").search("teleport")
    agent("alice").invoke("orders_list", {})

    assert vain() == {}


def test_old_words_are_deleted(agent: Agent, counting: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "KEPT_WORD_DAYS": 30}
    for days in (29, 30):
        VainWord.objects.create(day=TODAY - timedelta(days=days), word=f"word{days}", unanswered=1)

    agent("alice").search("teleport")

    assert vain() == {"teleport": (1, 0), "word29": (1, 0)}


def test_words_that_cannot_be_written_wait_for_the_next_time(agent: Agent, counting: None) -> None:
    agent("alice").search("teleport")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE sezzlee_mcp_vainword RENAME TO put_away")
        usage.flush()
        cursor.execute("ALTER TABLE put_away RENAME TO sezzlee_mcp_vainword")
    agent("alice").search("teleport")

    assert vain() == {"teleport": (2, 0)}


def test_staff_can_delete_a_word_and_change_none(shop: None, client: Client) -> None:
    word = VainWord.objects.create(day=TODAY, word="lovelace", unanswered=1)
    client.force_login(get_user_model().objects.get(username="admin"))
    pages = f"/admin/sezzlee_mcp/vainword/{word.pk}"

    assert client.get("/admin/sezzlee_mcp/vainword/add/").status_code == 403
    assert client.post(f"{pages}/change/", {"word": "other"}).status_code == 403
    client.post(f"{pages}/delete/", {"post": "yes"})

    assert list(VainWord.objects.all()) == []
