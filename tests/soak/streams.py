"""
What open streams cost one process, and how soon they hear: ``python -m tests.soak.streams --streams 500``.

The host runs under uvicorn in one process, on a PostgreSQL of its own, and is asked to listen that often. Ten times the
catalog is published from this process; then the server is told to stop. Status 1 when a stream misses a change or
breaks off without its result, when streams hold threads or connections, or when the server does not end.
"""
# ruff: noqa: T201 - what it prints is its result

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import django
import psycopg
from django.db import connections

from tests.soak.cluster import running_cluster
from tests.soak.prepare import USERS, token_of

ROOT = Path(__file__).resolve().parents[2]
PUBLISHES = 10
SPARE_THREADS = 10  # those of requests that have just been let go may be ending
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
ACKNOWLEDGED, CHANGED, ENDED = b"subscriptions/acknowledged", b"tools/list_changed", b'"resultType":"complete"'


class Client:
    """A stream that was acknowledged. What is sent waits in its socket until it is expected."""

    def __init__(self, port: int) -> None:
        asked = {"_meta": META, "notifications": {"toolsListChanged": True}}
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": asked})
        lines = (
            *("POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Token {token_of(USERS[0])}"),
            *("Content-Type: application/json", "Accept: application/json, text/event-stream"),
            *("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen"),
            *(f"Content-Length: {len(message)}", "", message),
        )
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.sendall("\r\n".join(lines).encode())
        self._received = b""
        self.expect(ACKNOWLEDGED)

    def expect(self, text: bytes) -> None:
        """Read up to ``text``; RuntimeError when the stream ends before."""
        while text not in self._received:
            more = self._socket.recv(65536)
            if not more:
                raise RuntimeError(f"The stream ended before {text.decode()}.")
            self._received += more
        self._received = self._received.partition(text)[2]

    def expect_end(self) -> None:
        self.expect(ENDED)
        while self._socket.recv(65536):
            pass
        self._socket.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=500)
    streams = parser.parse_args().streams
    with running_cluster() as cluster:
        os.environ.update(DATABASE_URL=cluster.url, DJANGO_SETTINGS_MODULE="tests.soak.settings")
        subprocess.run([sys.executable, "-m", "tests.soak.prepare"], cwd=ROOT, check=True)  # noqa: S603
        django.setup()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            words = ["uvicorn", "tests.soak.asgi:application", "--fd", str(listener.fileno()), "--log-level", "warning"]
            server = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", *words], cwd=ROOT, pass_fds=[listener.fileno()]
            )
            port = listener.getsockname()[1]
        try:
            return measure(server, port, cluster.url, streams)
        finally:
            server.kill()
            server.wait()


def measure(server: "subprocess.Popen[bytes]", port: int, database_url: str, streams: int) -> int:
    clients = [Client(port)]
    of_one = Costs(server.pid, database_url)
    clients += [Client(port) for _ in range(streams - 1)]
    of_all = Costs(server.pid, database_url)
    seconds = sorted(heard_after(clients, number) for number in range(PUBLISHES))

    server.terminate()
    told = time.perf_counter()
    for client in clients:
        client.expect_end()
    ended = time.perf_counter() - told
    status = server.wait(timeout=30)
    gone = time.perf_counter() - told

    print(f"{streams} streams of one process")
    print(f"  threads: {of_all.threads}, with one stream {of_one.threads}")
    print(f"  database connections: {of_all.connections}, with one stream {of_one.connections}")
    print(f"  memory: {of_all.megabytes:.1f} MB, with one stream {of_one.megabytes:.1f} MB")
    print(f"  all heard of a publish after {seconds[0]:.2f} to {seconds[-1]:.2f} s, in the middle {seconds[5]:.2f} s")
    print(
        f"  told to stop: the last stream had its result after {ended:.2f} s, the server had ended after {gone:.2f} s"
    )
    print(f"  status of the server: {status}")
    is_free = of_all.threads <= of_one.threads + SPARE_THREADS and of_all.connections <= of_one.connections
    return 0 if is_free else 1


class Costs:
    """What a process holds now."""

    def __init__(self, pid: int, database_url: str) -> None:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        self.threads = int(status["Threads"])
        self.megabytes = int(status["VmRSS"].split()[0]) * 1024 / 1e6
        connections.close_all()  # so that only the server's are left
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        with psycopg.connect(database_url.replace("postgres://", "postgresql://", 1)) as connection:
            (self.connections,) = connection.execute(others).fetchone() or (0,)


def heard_after(clients: list[Client], number: int) -> float:
    """Seconds from a publish until the last of the clients had heard of it."""
    from sezzlee_mcp.models import Operation
    from sezzlee_mcp.publishing import publish

    Operation.objects.filter(key="GET /api/me/").update(title=f"Who am I, {number}")
    revision: Any = publish(source="command")
    assert revision is not None
    published = time.perf_counter()
    for client in clients:
        client.expect(CHANGED)
    return time.perf_counter() - published


if __name__ == "__main__":
    sys.exit(main())
