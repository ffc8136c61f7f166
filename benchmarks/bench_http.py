"""
Prints how many calls per second an agent gets beside a plain GET of the demo shop: ``python -m benchmarks.bench_http``.

The demo runs under gunicorn and under uvicorn, one process each, on one temporary SQLite database. Clients keep their
connections, as agents do. Requests of all kinds take turns, so that whatever else the machine does, it does to each:
the ratios hold where the rates do not. A GET of the endpoint, which is refused before anyone asks who sent it, shows
what server, middleware and routing take of every request; no ratio can be higher than its own.

The servers bind their own sockets: one that is handed over is written to without TCP_NODELAY, and each answer then
waits 40 ms for an acknowledgement.
"""
# ruff: noqa: T201 - what a benchmark prints is its result

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

ROUNDS = 60
WARM_UP = 5
CALLS = 3  # of each client, one after another, in each round
CLIENTS = (1, 4)
STARTS_WITHIN_SECONDS = 60
TOKEN = {"Authorization": "Token admin-demo-token"}
PLAIN = "plain GET"
REFUSED = "refused GET"
SERVERS = {
    "gunicorn": ["gunicorn", "--config", "project/demo/gunicorn.conf.py", "--bind", "127.0.0.1:{port}"],
    "uvicorn": ["uvicorn", "project.asgi:application", "--port", "{port}", "--log-level", "warning"],
}
CALLED: dict[str, tuple[str, dict[str, Any]]] = {
    "tools/list": ("tools/list", {}),
    "search_tools": ("tools/call", {"name": "search_tools", "arguments": {"query": "cancel an order"}}),
    "load_tool": ("tools/call", {"name": "load_tool", "arguments": {"name": "orders_create"}}),
    "invoke_tool": ("tools/call", {"name": "invoke_tool", "arguments": {"name": "orders_list", "arguments": {}}}),
}
GOALS = {
    "gunicorn": {"tools/list": 2.5, "invoke_tool": 0.85},
    "uvicorn": {"tools/list": 2.5, "invoke_tool": 0.9},
}


def main() -> int:
    with TemporaryDirectory() as folder:
        database = {"DATABASE_URL": f"sqlite:///{folder}/benchmark.sqlite3"}
        environment = {**os.environ, **database, "DJANGO_SETTINGS_MODULE": "project.settings"}
        for command in (["migrate", "-v0"], ["loaddata", "users", "shop", "-v0"], ["sezzlee_sync", "-v0"]):
            subprocess.run([sys.executable, "manage.py", *command], env=environment, check=True)  # noqa: S603
        for server in SERVERS:
            with _running(server, environment) as port:
                for clients in CLIENTS:
                    _report(f"{server}, {clients} at a time", _rates(port, clients), GOALS[server])
    return 0


@contextmanager
def _running(server: str, environment: dict[str, str]) -> Iterator[int]:
    """The port that the server answers on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    words = [word.format(port=port) for word in SERVERS[server]]
    process = subprocess.Popen([sys.executable, "-m", *words], env=environment)  # noqa: S603
    try:
        _wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_for(port: int) -> None:
    until = perf_counter() + STARTS_WITHIN_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if perf_counter() > until:
                raise
            sleep(0.1)
        else:
            return


def _rates(port: int, clients: int) -> dict[str, float]:
    """Calls per second of each kind, all clients together, at the median of the rounds."""
    rates: dict[str, list[float]] = {kind: [] for kind in (PLAIN, REFUSED, *CALLED)}
    connections = [HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(clients)]
    with ThreadPoolExecutor(clients) as pool:
        for _ in range(WARM_UP + ROUNDS):
            for kind, measured in rates.items():
                started = perf_counter()
                list(pool.map(_ask, connections, [kind] * clients))
                measured.append(CALLS * clients / (perf_counter() - started))
    for connection in connections:
        connection.close()
    return {kind: median(measured[WARM_UP:]) for kind, measured in rates.items()}


def _ask(connection: HTTPConnection, kind: str) -> None:
    for _ in range(CALLS):
        if kind in CALLED:
            method, params = CALLED[kind]
            message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            connection.request("POST", "/mcp", message, {**TOKEN, "Content-Type": "application/json"})
        else:
            connection.request("GET", "/api/orders/" if kind == PLAIN else "/mcp", headers=TOKEN)
        response = connection.getresponse()
        body = json.loads(response.read())
        failed = kind in CALLED and ("error" in body or body["result"].get("isError"))
        if response.status != (405 if kind == REFUSED else 200) or failed:
            raise RuntimeError(f"{kind} was answered {response.status}: {body}")


def _report(title: str, rates: dict[str, float], goals: dict[str, float]) -> None:
    plain = rates.pop(PLAIN)
    print(f"{title}: {PLAIN} of the small list {plain:.0f} calls per second")
    for kind, rate in rates.items():
        goal = f" (goal {goals[kind]})" if kind in goals else ""
        print(f"  {kind}: {rate:.0f} calls per second, {rate / plain:.2f} times the {PLAIN}'s{goal}")


if __name__ == "__main__":
    sys.exit(main())
