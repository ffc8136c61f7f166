"""What one stream says and when, and how many there may be (protocol.md, section 6.5)."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import RequestFactory
from pytest_django import Settings

from sezzlee_mcp.listeners import Stream, can_listen, open_stream, seconds_left
from sezzlee_mcp.protocol import KEEP_ALIVE, Subscription

SUBSCRIPTION = Subscription(id="watch", notifications={"toolsListChanged": True}, meta={})
ACKNOWLEDGED, CHANGED, ENDED = SUBSCRIPTION.acknowledged(), SUBSCRIPTION.changed(), SUBSCRIPTION.ended()
BEFORE, AFTER, LATER = (1, "a"), (2, "b"), (3, "c")
ENDS = datetime(2100, 1, 1, tzinfo=UTC)


def stream(*, seconds: float = 60, keep_alive_seconds: float = 60) -> Stream:
    return Stream(SUBSCRIPTION, contents=BEFORE, seconds=seconds, keep_alive_seconds=keep_alive_seconds)


async def rest(frames: AsyncIterator[bytes]) -> list[bytes]:
    return [frame async for frame in frames]


def all_frames(opened: Stream) -> list[bytes]:
    return asyncio.run(rest(aiter(opened)))


def test_change_is_told_once_and_an_unchanged_catalog_never():
    async def listen() -> list[bytes]:
        opened = stream()
        frames = aiter(opened)
        heard = [await anext(frames)]
        for contents in (BEFORE, AFTER):
            opened.see(contents)
        heard.append(await anext(frames))
        opened.see(AFTER)
        opened.end()
        return heard + await rest(frames)

    assert asyncio.run(listen()) == [ACKNOWLEDGED, CHANGED, ENDED]


def test_changes_that_a_slow_reader_has_not_taken_become_one():
    async def listen() -> list[bytes]:
        opened = stream()
        frames = aiter(opened)
        heard = [await anext(frames)]
        for contents in (AFTER, LATER, AFTER):
            opened.see(contents)
        opened.end()
        return heard + await rest(frames)

    assert asyncio.run(listen()) == [ACKNOWLEDGED, CHANGED, ENDED]


def test_change_between_the_opening_and_the_first_frame_is_told_after_the_acknowledgement():
    opened = stream()
    opened.see(AFTER)
    opened.end()

    assert all_frames(opened) == [ACKNOWLEDGED, CHANGED, ENDED]


def test_change_that_another_thread_sees_wakes_the_stream():
    async def listen() -> bytes:
        opened = stream()
        frames = aiter(opened)
        await anext(frames)
        waiting = asyncio.ensure_future(anext(frames))
        await asyncio.to_thread(opened.see, AFTER)
        return await waiting

    assert asyncio.run(listen()) == CHANGED


def test_silent_stream_is_kept_alive():
    async def listen() -> list[bytes]:
        frames = aiter(stream(keep_alive_seconds=0.001))
        return [await anext(frames) for _ in range(3)]

    assert asyncio.run(listen()) == [ACKNOWLEDGED, KEEP_ALIVE, KEEP_ALIVE]


def test_stream_ends_at_its_age():
    assert all_frames(stream(seconds=0.01)) == [ACKNOWLEDGED, ENDED]


@pytest.mark.parametrize(
    "credential",
    [
        SimpleNamespace(expires=ENDS),
        SimpleNamespace(expiry=ENDS),
        SimpleNamespace(payload={"exp": ENDS.timestamp()}),
        {"exp": int(ENDS.timestamp())},
    ],
    ids=["django-oauth-toolkit", "django-rest-knox", "token object", "claims"],
)
def test_credential_that_says_when_it_ends_is_believed(credential: Any) -> None:
    earlier = ENDS.timestamp() - time.time()
    found = seconds_left(credential)
    later = ENDS.timestamp() - time.time()

    assert later <= found <= earlier


@pytest.mark.parametrize("credential", [None, SimpleNamespace(key="k"), SimpleNamespace(expiry=None), {"exp": "soon"}])
def test_credential_that_does_not_say_when_it_ends_holds(credential: Any) -> None:
    assert seconds_left(credential) == float("inf")


@pytest.fixture
def _reader_ends(transactional_db: None) -> Iterator[None]:
    """The thread that reads for this test's streams is gone before the next test, and its connection with it."""
    yield
    for thread in threading.enumerate():
        if thread.name == "sezzlee-listen":
            thread.join(timeout=20)


def open_one(credential: Any = None) -> Stream | None:
    return open_stream(SUBSCRIPTION, credential)


def is_open() -> bool:
    opened = open_one()
    if opened is not None:
        opened.close()
    return opened is not None


@pytest.mark.usefixtures("_reader_ends")
def test_stream_of_a_credential_that_has_ended_ends_at_once() -> None:
    opened = open_one(SimpleNamespace(expires=datetime.now(UTC)))
    assert opened is not None

    assert all_frames(opened) == [ACKNOWLEDGED, ENDED]
    opened.close()


@pytest.mark.usefixtures("_reader_ends")
def test_stream_has_a_place_until_its_response_is_closed(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"LISTEN_STREAMS": 1}
    opened = open_one()
    assert opened is not None

    assert not is_open()
    opened.close()
    assert is_open()


@pytest.mark.usefixtures("_reader_ends")
def test_stream_whose_response_a_middleware_dropped_has_no_place(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"LISTEN_STREAMS": 1}
    opened = open_one()
    assert opened is not None
    assert not is_open()

    del opened

    assert is_open()


def test_request_of_a_wsgi_server_cannot_listen() -> None:
    assert can_listen(RequestFactory().post("/mcp")) is False


def test_nobody_listens_where_no_stream_is_allowed(settings: Settings, async_rf: Any) -> None:
    assert can_listen(async_rf.post("/mcp")) is True

    settings.SEZZLEE_MCP = {"LISTEN_STREAMS": 0}

    assert can_listen(async_rf.post("/mcp")) is False
