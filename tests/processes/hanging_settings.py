"""The demo with two threads for calls, in which the list of products hangs for as long as a test wants."""

import asyncio
import fcntl
import os
from pathlib import Path
from typing import Any

from django.http import HttpRequest

from project.settings import *  # noqa: F403
from project.settings import MIDDLEWARE as DEMO_MIDDLEWARE
from project.settings import SEZZLEE_MCP as DEMO_SEZZLEE_MCP
from sezzlee_mcp.dispatch import is_sezzlee_request

DEADLINE_SECONDS = 3
CALL_THREADS = 2
SEZZLEE_MCP = {**DEMO_SEZZLEE_MCP, "DEADLINE_SECONDS": DEADLINE_SECONDS, "CALL_THREADS": CALL_THREADS}
MIDDLEWARE = [*DEMO_MIDDLEWARE, f"tests.processes.hanging_settings.{os.environ.get('HANGING_KIND', 'Hanging')}"]


class Hanging:
    """
    In front of the view of the products, waits for a lock that a test holds.

    ``HANGING`` names a directory with the file ``lock`` and the pipe ``entered``, which gets a byte before the wait.
    """

    def __init__(self, get_response: Any) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *arguments: object) -> None:
        if is_to_hang(request):
            hang()


class HangingInAnAsyncView(Hanging):
    """The same where Django runs what is asynchronous: under ASGI the event loop of the server."""

    async def process_view(self, request: HttpRequest, *arguments: object) -> None:  # type: ignore[override]
        if is_to_hang(request):
            await asyncio.to_thread(hang)


def is_to_hang(request: HttpRequest) -> bool:
    return is_sezzlee_request(request) and request.path == "/api/products/"


def hang() -> None:
    directory = Path(os.environ["HANGING"])
    with (directory / "entered").open("wb") as entered:
        entered.write(b".")
    with (directory / "lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
