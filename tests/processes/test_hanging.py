"""A view that hangs under a real server: its agent is freed at the deadline, and nobody else waits for it."""

import fcntl
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.processes.conftest import SERVERS, Server, start
from tests.processes.hanging_settings import CALL_THREADS
from tests.processes.test_replicas import ask

GIVEN_UP = (
    "The backend did not answer within 3000 ms and the call was given up. The operation may have been applied all the "
    "same: read what it would have changed before you repeat the call."
)
NOT_STARTED = (
    "The call was not started within 3000 ms, since this server is busy with others. Nothing was sent to the backend. "
    "Repeat the same call later."
)


def call(server: Server, meta_tool: str, **arguments: Any) -> dict[str, Any]:
    result = ask(server, "tools/call", {"name": meta_tool, "arguments": arguments})
    envelope: dict[str, Any] = json.loads(result["content"][0]["text"])
    return envelope


def invoke(server: Server, tool: str) -> dict[str, Any]:
    return call(server, "invoke_tool", name=tool, arguments={})


def failure(envelope: dict[str, Any]) -> tuple[str, str, bool]:
    return envelope["error"], envelope["message"], envelope["retryable"]


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """While within, the list of products hangs."""
    with (directory / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(params=[*((name, "Hanging") for name in SERVERS), ("uvicorn", "HangingInAnAsyncView")], ids="-".join)
def server(request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "lock").touch()
    os.mkfifo(tmp_path / "entered")
    name, kind = request.param
    settings = {"DJANGO_SETTINGS_MODULE": "tests.processes.hanging_settings", "HANGING": str(tmp_path)}
    started = start(SERVERS[name], {**environment, **settings, "HANGING_KIND": kind})
    yield started
    started.process.terminate()
    started.process.wait(timeout=20)


def test_hanging_view_frees_its_agent_at_the_deadline_and_stops_nobody_else(server: Server, tmp_path: Path) -> None:
    with held(tmp_path), ThreadPoolExecutor(CALL_THREADS) as agents:
        hanging = []
        for _ in range(CALL_THREADS):
            answered = invoke(server, "customers_list")  # on a thread of its own, whatever hangs by now
            hanging.append(agents.submit(invoke, server, "products_list"))
            (tmp_path / "entered").read_bytes()

            assert answered["status"] == 200
            assert call(server, "search_tools", query="customers")["results"]

        assert [failure(call.result(timeout=60)) for call in hanging] == [("invoke_timeout", GIVEN_UP, True)] * 2
        assert failure(invoke(server, "customers_list")) == ("invoke_timeout", NOT_STARTED, True)
        assert call(server, "search_tools", query="customers")["results"]

    # What hung has ended or is about to; each call that finds no thread has waited for one until its deadline.
    assert any(invoke(server, "customers_list").get("status") == 200 for _ in range(10))
