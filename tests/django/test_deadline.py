"""invoke.md, "Deadline": the agent is always freed, and nothing of a call that is late reaches anybody."""

import threading
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest
from django.db import connection, connections
from django.http import StreamingHttpResponse
from django.test import Client
from django.urls import include, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pytest_django import Settings
from rest_framework import serializers
from rest_framework.decorators import api_view, parser_classes, permission_classes
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from sezzlee_mcp import dispatch
from sezzlee_mcp.models import Operation
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.django.idleness import wait_until_idle

HERE = "tests.django.test_deadline"
LONG = 30.0  # seconds that no test waits, unless it fails
SHORT = 0.02

released, closed = Event(), Event()
ran: list[str] = []
used: list[object] = []


@extend_schema(operation_id="hang", responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([AllowAny])
def hang(request: Request) -> Response:
    """Ends when it is let go."""
    ran.append("hang")
    used.append(connection._connections[connection._alias])  # type: ignore[attr-defined]
    released.wait(LONG)
    response = Response({})
    response._resource_closers.append(closed.set)  # type: ignore[attr-defined]
    return response


@extend_schema(operation_id="look", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@permission_classes([AllowAny])
def look(request: Request) -> Response:
    """What it learns of its deadline, and where it runs."""
    if not hasattr(request, "sezzlee_deadline"):
        return Response({"deadline": "not an agent's"})
    deadline = request.sezzlee_deadline
    seconds = deadline and deadline.remaining_seconds
    return Response({"deadline": seconds, "thread": threading.current_thread().name})


def drops() -> Iterator[bytes]:
    try:
        while True:
            yield b"."
    finally:
        closed.set()


@extend_schema(operation_id="trickle", responses={(200, "text/plain"): OpenApiTypes.STR})
@api_view(["GET"])
@permission_classes([AllowAny])
def trickle(request: Request) -> StreamingHttpResponse:
    """A stream without an end."""
    return StreamingHttpResponse(drops(), content_type="text/plain")


class UploadSerializer(serializers.Serializer[object]):
    file = serializers.FileField()


@extend_schema(operation_id="upload", request=UploadSerializer, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([AllowAny])
@parser_classes([MultiPartParser])
def upload(request: Request) -> Response:
    """Take a file."""
    ran.append("upload")
    return Response({})


def slow_file(ref: str, *, deadline: Any, **facts: Any) -> bytes:
    assert 0 <= deadline.remaining_seconds <= SHORT
    released.wait(LONG)
    return b"late"


urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/hang/", hang),
    path("api/look/", look),
    path("api/trickle/", trickle),
    path("api/upload/", upload),
]


@pytest.fixture(autouse=True)
def slow(db: None, settings: Settings) -> Iterator[None]:
    settings.ROOT_URLCONF = HERE
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        "FILE_RESOLVER": f"{HERE}.slow_file",
        "USE_FLUSH_SECONDS": 0,
    }
    released.clear()
    closed.clear()
    ran.clear()
    used.clear()
    sync()
    yield
    released.set()
    wait_until_idle(dispatch._workers)


def hurry(settings: Settings, seconds: float = SHORT, **keys: Any) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "DEADLINE_SECONDS": seconds, **keys}


GIVEN_UP = {
    "error": "invoke_timeout",
    "message": (
        "The backend did not answer within 20 ms and the call was given up. The operation may have been applied all "
        "the same: read what it would have changed before you repeat the call."
    ),
    "retryable": True,
    "continuation": {
        "kind": "retry",
        "instruction": "Find out whether the operation took effect; repeat the call only if it did not.",
    },
}
NOT_STARTED = {
    "error": "invoke_timeout",
    "message": (
        "The call was not started within 20 ms, since this server is busy with others. Nothing was sent to the "
        "backend. Repeat the same call later."
    ),
    "retryable": True,
    "continuation": {"kind": "retry", "instruction": "Repeat the same call later."},
}


@pytest.mark.django_db(transaction=True)
def test_agent_is_freed_at_the_deadline_and_the_view_runs_to_its_end(settings: Settings) -> None:
    hurry(settings)

    assert McpClient().invoke("hang") == GIVEN_UP
    assert not closed.is_set()
    released.set()

    assert closed.wait(LONG)


@pytest.mark.django_db(transaction=True)
def test_calls_that_hang_cost_others_nothing_until_the_threads_are_used_up(settings: Settings) -> None:
    hurry(settings, CALL_THREADS=2)
    agent = McpClient()

    assert agent.invoke("hang") == GIVEN_UP
    hurry(settings, LONG)
    assert agent.invoke("look")["status"] == 200
    hurry(settings)
    assert agent.invoke("hang") == GIVEN_UP
    assert agent.invoke("look") == agent.invoke("hang") == NOT_STARTED
    assert ran == ["hang", "hang"]
    assert agent.search("look")["results"][0]["name"] == "look"
    released.set()
    hurry(settings, LONG)

    assert agent.invoke("look")["status"] == 200


@pytest.mark.django_db(transaction=True)
def test_call_that_is_given_up_keeps_its_connections_and_closes_them(settings: Settings) -> None:
    hurry(settings)
    McpClient().invoke("hang")
    now = connections["default"]
    assert used[0] is not now
    assert Operation.objects.count() == 4  # the thread that was freed goes on with one of its own
    released.set()
    wait_until_idle(dispatch._workers)

    if not (connection.vendor == "sqlite" and connection.is_in_memory_db()):  # which Django never closes
        assert used[0].connection is None  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
def test_call_that_ends_in_time_works_with_the_connections_of_its_request() -> None:
    mine = connections["default"]
    released.set()

    assert McpClient().invoke("hang")["status"] == 200
    assert used == [mine]
    assert connections["default"] is mine
    assert not mine.allow_thread_sharing
    assert "close_if_unusable_or_obsolete" not in vars(mine)


@pytest.mark.django_db(transaction=True)
def test_call_runs_in_a_thread_of_its_own_and_knows_its_deadline() -> None:
    body = McpClient().invoke("look")["body"]

    assert body["thread"] == "sezzlee-call"
    assert 0 < body["deadline"] <= 30


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("common", "own"), [(0, None), (LONG, 0)])
def test_call_without_a_deadline_runs_in_the_thread_of_its_request(
    settings: Settings, common: float, own: float | None
) -> None:
    hurry(settings, common)
    override("GET /api/look/", deadline_seconds=own)

    body = McpClient().invoke("look")["body"]

    assert body == {"deadline": None, "thread": threading.current_thread().name}


def test_call_inside_a_transaction_runs_in_it() -> None:
    body = McpClient().invoke("look")["body"]

    assert body["thread"] == threading.current_thread().name
    assert 0 < body["deadline"] <= 30


def test_request_of_a_browser_has_no_deadline() -> None:
    assert Client().get("/api/look/").json() == {"deadline": "not an agent's"}


@pytest.mark.django_db(transaction=True)
def test_deadline_of_an_operation_beats_the_setting(settings: Settings) -> None:
    hurry(settings, LONG)
    override("POST /api/hang/", deadline_seconds=SHORT)

    assert McpClient().invoke("hang") == GIVEN_UP


@pytest.mark.django_db(transaction=True)
def test_stream_without_an_end_ends_at_the_deadline(settings: Settings) -> None:
    hurry(settings, BUDGET_BYTES=2**31)

    assert McpClient().invoke("trickle") == GIVEN_UP
    assert closed.wait(LONG)


def test_stream_ends_at_the_deadline_inside_a_transaction_too(settings: Settings) -> None:
    hurry(settings, BUDGET_BYTES=2**31)

    assert McpClient().invoke("trickle") == GIVEN_UP
    assert closed.is_set()


@pytest.mark.django_db(transaction=True)
def test_file_that_comes_too_late_is_not_sent(settings: Settings) -> None:
    hurry(settings)

    assert McpClient().invoke("upload", {"file": {"ref": "a"}}) == GIVEN_UP
    released.set()
    wait_until_idle(dispatch._workers)

    assert ran == []


def override(key: str, **limits: Any) -> None:
    Operation.objects.filter(key=key).update(**limits)
    publish(source="admin")


def test_budget_of_an_operation_beats_the_setting(settings: Settings) -> None:
    override("GET /api/trickle/", budget_bytes=2000)

    payload = McpClient().invoke("trickle")["payload"]

    assert (payload["bytes"], payload["limit"]) == (2001, 2000)
