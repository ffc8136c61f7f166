"""
New generation -> the event streams that are open in this process.

A stream costs memory and its socket. It holds no thread and no database connection: one thread asks for all of them
whether the catalog moved, and ends with the last one.
"""

import asyncio
import logging
import signal
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from threading import Lock, Thread, current_thread, main_thread
from types import FrameType
from typing import Any
from weakref import WeakSet

from asgiref.sync import SyncToAsync, sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import connections
from django.http import HttpRequest

from sezzlee_mcp import conf
from sezzlee_mcp.models import Catalog
from sezzlee_mcp.protocol.subscriptions import KEEP_ALIVE, Subscription

logger = logging.getLogger("sezzlee_mcp")

READ_SECONDS = 1.0  # how often the catalog's row is asked for a new generation
KEEP_ALIVE_SECONDS = 15.0  # how long a stream may be silent; proxies close what is silent for longer


def can_listen(request: HttpRequest) -> bool:
    """Whether this request may be answered with a stream: a WSGI server would give up a worker for each."""
    return isinstance(request, ASGIRequest) and conf.current().listen_streams > 0


class Stream:
    """
    The frames of one subscription, as the body of a response.

    It tells that the catalog moved, not how often: while a slow reader takes in what was sent, one flag stands for
    everything that happens. It ends after ``seconds``, or when ``end`` is called, with the frame that says so.
    """

    def __init__(
        self,
        subscription: Subscription,
        *,
        contents: tuple[int, str],
        seconds: float,
        keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
    ) -> None:
        self._subscription = subscription
        self._contents = contents
        self._seconds = seconds
        self._keep_alive_seconds = keep_alive_seconds
        self._has_changed = False
        self._is_ending = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        await _let_go()
        self._loop = loop = asyncio.get_running_loop()
        _streams.end_at_shutdown(loop)
        ends_at = loop.time() + self._seconds
        yield self._subscription.acknowledged()
        while True:
            self._woken.clear()
            if self._has_changed:
                self._has_changed = False
                yield self._subscription.changed()
            if self._is_ending or loop.time() >= ends_at:
                break
            try:
                async with asyncio.timeout(min(self._keep_alive_seconds, ends_at - loop.time())):
                    await self._woken.wait()
            except TimeoutError:
                if loop.time() < ends_at:
                    yield KEEP_ALIVE
        yield self._subscription.ended()

    def see(self, contents: tuple[int, str]) -> None:
        """Tell the client, when ``contents`` are not those that it knows of; from any thread."""
        if contents != self._contents:
            self._contents = contents
            self._has_changed = True
            self._wake()

    def end(self) -> None:
        self._is_ending = True
        self._wake()

    def _wake(self) -> None:
        loop = self._loop  # None before the first frame; what was set is looked at before the first wait
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed, and the client gone with it
                loop.call_soon_threadsafe(self._woken.set)

    def close(self) -> None:
        """Called by Django at the end of the response, however it ended."""
        _streams.remove(self)


async def _let_go() -> None:
    """
    Free what the request has held until now: the thread that ran its view, and that thread's database connections.

    Django gives each request a thread of its own for what is synchronous and keeps it until the response is sent.
    What runs in one later, such as the end of the response, is given a new one.
    """
    await sync_to_async(connections.close_all)()
    context = SyncToAsync.thread_sensitive_context.get(None)
    executor = None if context is None else SyncToAsync.context_to_thread_executor.pop(context, None)
    if executor is not None:
        executor.shutdown(wait=False)


class _Streams:
    """The open streams of this process, and the thread that reads the catalog's generation for them."""

    def __init__(self) -> None:
        # Weak, since a middleware of the host's may drop a response without closing it.
        self._open: WeakSet[Stream] = WeakSet()
        self._lock = Lock()
        self._reader: Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_stopping = False

    def add(self, stream: Stream, *, at_most: int) -> bool:
        """Whether there was a place for the stream; from now on it is told what happens."""
        with self._lock:
            if len(self._open) >= at_most:
                return False
            if self._reader is None:
                # A daemon: a database that does not answer must not keep the process from ending.
                reader = Thread(target=self._read, name="sezzlee-listen", daemon=True)
                reader.start()
                self._reader = reader
            self._open.add(stream)
            if self._is_stopping:
                stream.end()
            return True

    def remove(self, stream: Stream) -> None:
        with self._lock:
            self._open.discard(stream)

    def end_at_shutdown(self, loop: asyncio.AbstractEventLoop) -> None:
        """
        End the streams when the process is told to stop.

        ASGI tells a request nothing of that, and its lifespan ends after the last response: a server would wait for
        the streams, some without limit, and then cut them. So the signals are heard before the server's own handlers.
        """
        is_new, self._loop = self._loop is None, loop
        if is_new and current_thread() is main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                known = signal.getsignal(number)
                if callable(known):  # else the process ends at once
                    signal.signal(number, partial(self._heed, known))

    def _heed(self, known: Any, number: int, frame: FrameType | None) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._end_all)  # not here: the signal may have come while the lock was held
        known(number, frame)

    def _end_all(self) -> None:
        with self._lock:
            self._is_stopping = True
            for stream in self._open:
                stream.end()

    def _read(self) -> None:
        is_away = False
        try:
            while self._is_anyone_listening():
                try:
                    contents = Catalog.objects.stamp().contents
                except Exception as error:  # an edge: whatever is wrong with the database may be right in a second
                    if not is_away:
                        logger.warning("The catalog cannot be read for those who listen.", exc_info=error)
                    is_away = True
                    connections.close_all()
                else:
                    is_away = False
                    self._tell(contents)
                time.sleep(READ_SECONDS)
        finally:
            connections.close_all()

    def _is_anyone_listening(self) -> bool:
        with self._lock:
            if not self._open:
                self._reader = None
            return bool(self._open)

    def _tell(self, contents: tuple[int, str]) -> None:
        with self._lock:
            for stream in self._open:
                stream.see(contents)


_streams = _Streams()


def open_stream(subscription: Subscription, credential: Any) -> Stream | None:
    """
    The stream of a subscription, told of every generation from now on; None when this process holds its share.

    It ends at LISTEN_AGE_SECONDS, or before, when the ``credential`` that asked for it ends.
    """
    settings = conf.current()
    stream = Stream(
        subscription,
        contents=Catalog.objects.stamp().contents,
        seconds=min(settings.listen_age_seconds, seconds_left(credential)),
    )
    return stream if _streams.add(stream, at_most=settings.listen_streams) else None


def seconds_left(credential: Any) -> float:
    """
    How long a credential (DRF's ``request.auth``) is good for; infinite when it does not say.

    Known are ``expires`` (django-oauth-toolkit), ``expiry`` (django-rest-knox) and the claim ``exp`` of a JSON web
    token, which is a mapping or has one as ``payload``.
    """
    for name in ("expires", "expiry"):
        moment = getattr(credential, name, None)
        if isinstance(moment, datetime):
            return moment.timestamp() - time.time()
    claims = getattr(credential, "payload", credential)
    expiry = claims.get("exp") if isinstance(claims, Mapping) else None
    return expiry - time.time() if isinstance(expiry, int | float) else float("inf")
