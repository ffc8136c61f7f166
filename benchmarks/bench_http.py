"""
Prints what a call over HTTP costs beside a plain GET of the demo shop: ``python -m benchmarks.bench_http``.

The demo runs under gunicorn and under uvicorn, one process each, on one temporary SQLite database. Requests of all
kinds take turns, so the ratios are of one run of one machine. Each opens a connection: on a kept one, delayed
acknowledgements of TCP add 40 ms to every answer that a server writes in two pieces, and hide what is measured.
"""
# ruff: noqa: T201 - what a benchmark prints is its result

import json
import os
import socket
import subprocess
import sys
from http.client import HTTPConnection
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

ROUNDS = 200
WARM_UP = 20
TOKEN = {"Authorization": "Token admin-demo-token"}
PLAIN = "plain GET"
SERVERS = {
    "gunicorn": ["gunicorn", "--config", "project/demo/gunicorn.conf.py", "--bind", "fd://{fd}"],
    "uvicorn": ["uvicorn", "project.asgi:application", "--fd", "{fd}", "--log-level", "warning"],
}
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "tools/list": ("tools/list", {}),
    "search_tools": ("tools/call", {"name": "search_tools", "arguments": {"query": "cancel an order"}}),
    "load_tool": ("tools/call", {"name": "load_tool", "arguments": {"name": "orders_create"}}),
    "invoke_tool": ("tools/call", {"name": "invoke_tool", "arguments": {"name": "orders_list", "arguments": {}}}),
}


def main() -> int:
    with TemporaryDirectory() as folder:
        database = {"DATABASE_URL": f"sqlite:///{folder}/benchmark.sqlite3"}
        environment = {**os.environ, **database, "DJANGO_SETTINGS_MODULE": "project.settings"}
        for command in (["migrate", "-v0"], ["loaddata", "users", "shop", "-v0"], ["sezzlee_sync", "-v0"]):
            subprocess.run([sys.executable, "manage.py", *command], env=environment, check=True)  # noqa: S603
        for name, command in SERVERS.items():
            _report(name, command, environment)
    return 0


def _report(name: str, command: list[str], environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        words = [word.format(fd=listener.fileno()) for word in command]
        server = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", *words], env=environment, pass_fds=[listener.fileno()]
        )
        port = listener.getsockname()[1]
    try:
        medians = _medians(port)
    finally:
        server.terminate()
        server.wait(timeout=20)
    plain = medians.pop(PLAIN)
    print(f"{name}: {PLAIN} of the same list {plain * 1000:.1f} ms at the median of {ROUNDS}")
    for kind, seconds in medians.items():
        print(f"  {kind}: {seconds * 1000:.1f} ms, {seconds / plain:.2f} of it")


def _medians(port: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {PLAIN: [], **{kind: [] for kind in REQUESTS}}
    for _ in range(WARM_UP + ROUNDS):
        for kind, seconds in taken.items():
            started = perf_counter()
            _ask(port, kind)
            seconds.append(perf_counter() - started)
    return {kind: median(seconds[WARM_UP:]) for kind, seconds in taken.items()}


def _ask(port: int, kind: str) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    if kind == PLAIN:
        connection.request("GET", "/api/orders/", headers=TOKEN)
    else:
        method, params = REQUESTS[kind]
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        connection.request("POST", "/mcp", json.dumps(message), {**TOKEN, "Content-Type": "application/json"})
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    failed = kind != PLAIN and ("error" in body or body["result"].get("isError"))
    if response.status != 200 or failed:
        raise RuntimeError(f"{kind} was answered {response.status}: {body}")


if __name__ == "__main__":
    sys.exit(main())
