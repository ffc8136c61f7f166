"""protocol.md, section 6.5, and publishing.md, "Generation and list_changed": streams of real servers."""

import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from sezzlee_mcp.listeners import READ_SECONDS
from tests.processes.conftest import SERVERS, Server, start
from tests.processes.listening import CHANGED, Listener, ask, post
from tests.processes.staff import describe_products_stk_adj

MANY = 500
NAME = f"sezzlee_listen_{os.getpid()}"
UVICORN = SERVERS["uvicorn"]
GUNICORN_ASGI = ["gunicorn", "project.asgi:application", "--bind", "fd://{fd}", "--log-level", "warning"]
ASGI_SERVERS = {
    "uvicorn": UVICORN,
    "gunicorn with uvicorn's worker": [*GUNICORN_ASGI, "--worker-class", "uvicorn.workers.UvicornWorker"],
    "gunicorn with its own worker": [*GUNICORN_ASGI, "--worker-class", "asgi", "--no-control-socket"],
}
SUBSCRIPTION = {"io.modelcontextprotocol/subscriptionId": "watch"}
CHANGE = {"jsonrpc": "2.0", "method": CHANGED, "params": {"_meta": SUBSCRIPTION}}

Run = Callable[..., Server]


@pytest.fixture
def run(environment: dict[str, str]) -> Iterator[Run]:
    """Starts a server of the test's own, which ends with it."""
    with ExitStack() as stack:

        def run(command: list[str], **variables: str) -> Server:
            server = start(command, {**environment, **variables})
            stack.callback(server.process.wait, timeout=20)
            stack.callback(server.process.terminate)
            return server

        yield run


@contextmanager
def listeners(server: Server, count: int) -> Iterator[list[Listener]]:
    with ExitStack() as stack:
        yield [stack.enter_context(closing(Listener(server))) for _ in range(count)]


def final(message: dict | None) -> tuple[str, str]:
    """The id and the subscription of a final result."""
    assert message is not None
    result = message["result"]
    assert result["resultType"] == "complete"
    return message["id"], result["_meta"]["io.modelcontextprotocol/subscriptionId"]


def threads(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("Threads:")[2].split()[0])


def connections(server: Server, database_url: str) -> int:
    """How many database connections the process holds; on PostgreSQL it says its name by ``PGAPPNAME``."""
    if database_url.startswith("sqlite"):
        path = database_url.removeprefix("sqlite:///")
        opened = Path(f"/proc/{server.process.pid}/fd").iterdir()
        return sum(os.path.realpath(descriptor) == path for descriptor in opened)
    with psycopg.connect(database_url.replace("postgres://", "postgresql://", 1)) as connection:
        named = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
        (count,) = connection.execute(named, [NAME]).fetchone() or (0,)
        return int(count)


def test_five_hundred_streams_hold_one_thread_and_one_connection_and_all_hear_of_a_publish(
    run: Run, servers: dict[str, Server], database_url: str
) -> None:
    server = run(UVICORN, PGAPPNAME=NAME)
    with listeners(server, 1):
        threads_of_one = threads(server)
        with listeners(server, MANY - 1) as others:
            assert threads(server) < threads_of_one + 10  # those of requests that have just been let go may be ending
            # That of a request that has just been let go may be closing.
            assert any(connections(server, database_url) == 1 for _ in range(1000))

            describe_products_stk_adj(servers["gunicorn"], "Counts stock.")

            assert [listener.next() for listener in others] == [CHANGE] * (MANY - 1)


def test_publishes_reach_the_streams_of_every_process(run: Run, servers: dict[str, Server]) -> None:
    first, second = run(UVICORN), run(UVICORN)
    with listeners(first, 1) as one, listeners(second, 1) as other:
        for text in ("Adds to the stock.", "Takes from the stock."):
            describe_products_stk_adj(servers["gunicorn"], text)

            assert [listener.next() for listener in (*one, *other)] == [CHANGE, CHANGE]


def test_clients_that_do_not_read_hold_up_neither_the_others_nor_the_end_of_the_server(
    run: Run, servers: dict[str, Server]
) -> None:
    server = run(UVICORN)
    with listeners(server, 1) as (reading,), listeners(server, 100) as slow:
        for text in ("Told to who reads.", "Told to who reads again."):
            describe_products_stk_adj(servers["gunicorn"], text)
            assert reading.next() == CHANGE
        server.process.terminate()
        server.process.wait(timeout=20)

        # What they had not read is still there: no more than was said, and the end.
        assert [listener.next() for listener in slow] == [CHANGE] * len(slow)
        assert [listener.next() for listener in slow] == [CHANGE] * len(slow)
        assert [final(listener.next()) for listener in slow] == [("watch", "watch")] * len(slow)


@pytest.mark.parametrize("command", ASGI_SERVERS.values(), ids=ASGI_SERVERS)
def test_server_that_is_told_to_stop_ends_its_streams_and_then_itself(run: Run, command: list[str]) -> None:
    server = run(command)
    with listeners(server, 3) as open_ones:
        server.process.terminate()

        assert [final(listener.next()) for listener in open_ones] == [("watch", "watch")] * 3
        assert [listener.next() for listener in open_ones] == [None] * 3
        server.process.wait(timeout=20)


def bounded(run: Run, **variables: str) -> Server:
    return run(UVICORN, DJANGO_SETTINGS_MODULE="tests.processes.bounded_settings", **variables)


def test_stream_ends_at_its_age_with_its_result(run: Run) -> None:
    with listeners(bounded(run, LISTEN_AGE_SECONDS="0.5"), 1) as (listener,):
        assert final(listener.next()) == ("watch", "watch")
        assert listener.next() is None


def test_stream_is_never_compressed_and_passes_middleware_of_every_kind(run: Run, servers: dict[str, Server]) -> None:
    server = bounded(run)
    with listeners(server, 1) as (listener,):
        describe_products_stk_adj(servers["gunicorn"], "Moves stock.")

        assert listener.next() == CHANGE
        assert {
            name: listener.response.headers.get(name)
            for name in ("Content-Type", "Content-Encoding", "Cache-Control", "X-Accel-Buffering")
        } == {
            "Content-Type": "text/event-stream",
            "Content-Encoding": None,
            "Cache-Control": "no-cache, no-transform",
            "X-Accel-Buffering": "no",
        }
        assert threads(server) < 10


def test_one_stream_too_many_is_refused_until_another_client_goes(run: Run) -> None:
    server = bounded(run)
    with listeners(server, 2) as (first, _):
        status, message = ask(server, "subscriptions/listen", notifications={"toolsListChanged": True})

        assert (status, message["id"], message["error"]["code"]) == (500, "watch", -32603)
        first.close()
        assert any(is_accepted(server) for _ in range(1000))


def is_accepted(server: Server) -> bool:
    connection, response = post(server, "subscriptions/listen", notifications={"toolsListChanged": True})
    connection.close()
    return response.status == 200


def test_streams_outlive_a_database_that_was_away_and_the_log_says_so_once(
    environment: dict[str, str], servers: dict[str, Server], database_url: str
) -> None:
    warning = b"The catalog cannot be read for those who listen."
    server = start(UVICORN, environment, stderr=subprocess.PIPE)
    log = server.process.stderr
    assert log is not None
    try:
        with listeners(server, 1) as (listener,):
            with away(database_url):
                assert any(warning in line for line in log)
                with pytest.raises(subprocess.TimeoutExpired):
                    server.process.wait(timeout=2.5 * READ_SECONDS)  # it lives on, and asks at least twice more
            describe_products_stk_adj(servers["gunicorn"], "Counts and corrects stock.")

            assert listener.next() == CHANGE
    finally:
        server.process.terminate()
        _, rest = server.process.communicate(timeout=20)
    assert warning not in rest


@contextmanager
def away(database_url: str) -> Iterator[None]:
    """While within, the catalog's table cannot be read."""
    rename = "ALTER TABLE {} RENAME TO {}"
    names = ("sezzlee_mcp_catalog", "catalog_away")
    execute(database_url, rename.format(*names))
    try:
        yield
    finally:
        execute(database_url, rename.format(*reversed(names)))


def execute(database_url: str, statement: str) -> None:
    if database_url.startswith("sqlite"):
        with closing(sqlite3.connect(database_url.removeprefix("sqlite:///"), timeout=20)) as connection:
            connection.execute(statement)
        return
    with psycopg.connect(database_url.replace("postgres://", "postgresql://", 1), autocommit=True) as connection:
        connection.execute(statement)


def test_wsgi_server_neither_promises_nor_serves_streams(servers: dict[str, Server]) -> None:
    _, discovered = ask(servers["gunicorn"], "server/discover")
    status, refused = ask(servers["gunicorn"], "subscriptions/listen", notifications={"toolsListChanged": True})

    assert discovered["result"]["capabilities"] == {"tools": {}}
    assert (status, refused["error"]["code"]) == (404, -32601)
