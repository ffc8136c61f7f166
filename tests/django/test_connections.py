"""
What becomes of database connections when calls come by the thousand, hang and break.

A server's threads are threads here, and ask the project's WSGI application, so that connections are opened, kept and
closed as under a server; the test client would keep Django from closing any.
"""

import json
from collections.abc import Iterator
from threading import Barrier, Event, Thread
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.test import RequestFactory
from django.urls import include, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pytest_django import Settings
from rest_framework.decorators import api_view, authentication_classes, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from sezzlee_mcp import dispatch
from sezzlee_mcp.models import Operation
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.django.idleness import wait_until_idle

HERE = "tests.django.test_connections"
LONG = 30.0  # seconds that no test waits, unless it fails
THREADS = 4
HANGS = 97  # one call of so many is given up, in each thread by turns, and no last one
GIVEN_UP_AFTER = 0.02

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only a server counts its connections"),
]

gates: dict[int, Event] = {}


def pid() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        found: int = cursor.fetchone()[0]
        return found


@extend_schema(operation_id="look", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@authentication_classes([])
@permission_classes([AllowAny])
def look(request: Request) -> Response:
    """Ask the database who answers."""
    return Response({"pid": pid()})


@extend_schema(operation_id="hang", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@authentication_classes([])
@permission_classes([AllowAny])
def hang(request: Request, gate: int) -> Response:
    """Use the database, and wait until the gate is opened."""
    pid()
    gates[gate].wait(LONG)
    return Response({"pid": pid()})


@extend_schema(operation_id="meet", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@authentication_classes([])
@permission_classes([AllowAny])
def meet(request: Request) -> Response:
    """Use the database once as many calls as there are threads do."""
    together.wait(LONG)
    return Response({"pid": pid()})


@extend_schema(operation_id="die", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@authentication_classes([])
@permission_classes([AllowAny])
def die(request: Request) -> Response:
    """Lose the connection in the middle."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    return Response({})


urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/look/", look),
    path("api/hang/<int:gate>/", hang),
    path("api/die/", die),
    path("api/meet/", meet),
]

after: list[int] = []
together = Barrier(THREADS)


def asks_afterwards(get_response: Any) -> Any:
    """Uses the database once the view is done, as middleware does that saves a session."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = get_response(request)
        if not dispatch.is_sezzlee_request(request):
            after.append(pid())
        return response

    return middleware


@pytest.fixture(autouse=True)
def host(db: None, settings: Settings) -> Iterator[None]:
    settings.ROOT_URLCONF = HERE
    settings.MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "AUTHENTICATION_CLASSES": [],
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        "USE_FLUSH_SECONDS": 0,
    }
    gates.clear()
    after.clear()
    sync()
    Operation.objects.filter(key="GET /api/hang/{gate}/").update(deadline_seconds=GIVEN_UP_AFTER)
    publish(source="admin")
    yield
    for gate in gates.values():
        gate.set()
    wait_until_idle(dispatch._workers)


class Answer:
    def __init__(self, response: Any) -> None:
        self.status_code = response.status_code
        self.content = response.content
        response.close()

    def json(self) -> Any:
        return json.loads(self.content)


class Served:
    """What McpClient needs of a client: a request of a server's thread, to the end of its response."""

    def __init__(self) -> None:
        self._application = WSGIHandler()

    def post(self, path: str, data: str, *, content_type: str, headers: dict[str, str]) -> Answer:
        request = RequestFactory().post(path, data, content_type=content_type, headers=headers)
        return Answer(self._application(request.environ, lambda status, headers: None))


def served() -> McpClient:
    return McpClient(Served())  # type: ignore[arg-type]


def open_connections() -> int:
    """Those to this database, without the one that asks."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        found: int = cursor.fetchone()[0]
        return found


def settled_at(expected: int) -> int:
    """The number of open connections, asked until it is the expected: a server's end of one closes a little later."""
    return next((expected for _ in range(5000) if open_connections() == expected), open_connections())


def age(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", seconds)


def give_up(agent: McpClient, gate: int) -> str:
    """Call what hangs, be freed at the deadline, and only then let it go."""
    gates[gate] = Event()
    try:
        return str(agent.invoke("hang", {"gate": gate})["error"])
    finally:
        gates[gate].set()


# Connecting anew for each request takes most of the time of those that keep none.
@pytest.mark.parametrize(("calls", "seconds", "kept"), [(10_000, 60, THREADS), (1_000, 0, 0)])
def test_calls_by_the_thousand_leave_no_connection_behind(
    monkeypatch: pytest.MonkeyPatch, calls: int, seconds: float, kept: int
) -> None:
    age(monkeypatch, seconds)
    before = open_connections()
    agent, done, counted = served(), Barrier(THREADS + 1), Event()
    outcomes: list[Any] = []

    def serve(first: int) -> None:
        try:
            for number in range(first, calls, THREADS):
                if number % HANGS:
                    outcomes.append(agent.invoke("look")["status"])
                else:
                    outcomes.append(give_up(agent, number))
            done.wait(LONG * 10)
            counted.wait(LONG)
        finally:
            connections.close_all()

    threads = [Thread(target=serve, args=(first,)) for first in range(THREADS)]
    for thread in threads:
        thread.start()
    done.wait(LONG * 10)
    wait_until_idle(dispatch._workers)
    open_now = settled_at(before + kept)
    counted.set()
    for thread in threads:
        thread.join(LONG)

    hung = len(range(0, calls, HANGS))
    assert {outcome: outcomes.count(outcome) for outcome in set(outcomes)} == {
        200: calls - hung,
        "invoke_timeout": hung,
    }
    assert open_now == before + kept
    assert settled_at(before) == before


def in_a_servers_thread(work: Any) -> Any:
    found: list[Any] = []

    def serve() -> None:
        try:
            found.append(work())
        finally:
            connections.close_all()

    thread = Thread(target=serve)
    thread.start()
    thread.join(LONG)
    return found[0]


def test_kept_connection_serves_call_after_call(monkeypatch: pytest.MonkeyPatch) -> None:
    age(monkeypatch, 60)
    agent = served()

    pids = in_a_servers_thread(lambda: [agent.invoke("look")["body"]["pid"] for _ in range(3)])

    assert len(set(pids)) == 1


def test_thread_whose_call_was_given_up_goes_on_with_another_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    age(monkeypatch, 60)
    agent = served()

    def work() -> tuple[int, str, int, int]:
        gates[0] = Event()
        first = agent.invoke("look")["body"]["pid"]
        error = agent.invoke("hang", {"gate": 0})["error"]
        return first, error, agent.invoke("look")["body"]["pid"], agent.invoke("look")["body"]["pid"]

    first, error, second, third = in_a_servers_thread(work)

    assert error == "invoke_timeout"
    assert first != second == third


@pytest.mark.parametrize("deadline", [0, LONG])
@pytest.mark.parametrize("seconds", [0, 60])
def test_connection_that_breaks_in_a_call_harms_nothing_that_follows(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, seconds: float, deadline: float
) -> None:
    age(monkeypatch, seconds)
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "DEADLINE_SECONDS": deadline}
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{HERE}.asks_afterwards"]
    agent = served()

    envelopes = in_a_servers_thread(lambda: [agent.invoke(name) for name in ("look", "die", "look")])

    assert [envelope.get("error", envelope.get("status")) for envelope in envelopes] == [200, "backend_error", 200]
    assert len(after) == 3


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Django's own pool with a connection for each thread of the server, and none to spare."""
    pytest.importorskip("psycopg_pool", reason="psycopg's pool is a package of its own, in the group dev")
    known = connections.settings["default"]
    sizes = {"min_size": 0, "max_size": THREADS, "timeout": LONG}
    monkeypatch.setitem(known, "OPTIONS", {**known["OPTIONS"], "pool": sizes})
    made = in_a_servers_thread(lambda: connection.pool)  # type: ignore[attr-defined]
    yield made
    connection.close_pool()  # type: ignore[attr-defined]


def test_calls_share_the_connections_of_their_requests_where_a_pool_has_no_more(pool: Any) -> None:
    agent = served()
    bodies: list[Any] = []
    threads = [
        Thread(target=lambda: bodies.append(in_a_servers_thread(lambda: agent.invoke("meet")["body"])))
        for _ in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)

    assert len({body["pid"] for body in bodies}) == THREADS


def test_call_that_was_given_up_gives_its_connection_back_to_the_pool(pool: Any) -> None:
    agent = served()

    assert in_a_servers_thread(lambda: give_up(agent, 0)) == "invoke_timeout"
    wait_until_idle(dispatch._workers)

    stats = pool.get_stats()
    assert stats["pool_available"] == stats["pool_size"]
