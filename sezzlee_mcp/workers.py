"""Threads for what may not end in time: bounded in number, started when there is work, one piece of it at a time."""

import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from threading import Condition, Thread
from typing import Any, Self, TypeVar

from asgiref.sync import SyncToAsync
from django.db import close_old_connections, connections

logger = logging.getLogger("sezzlee_mcp")

T = TypeVar("T")

IDLE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Deadline:
    """When an agent stops waiting. A view that an agent called finds it as ``request.sezzlee_deadline``."""

    at: float  # of time.monotonic

    @classmethod
    def after(cls, seconds: float) -> Self:
        return cls(time.monotonic() + seconds)

    @property
    def remaining_seconds(self) -> float:
        """Never below 0."""
        return max(self.at - time.monotonic(), 0)

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.at


class NotStarted(Exception):
    """No thread became free before the deadline."""


class TooLate(Exception):
    """The deadline came first. The work goes on, since no thread can be stopped, and nobody learns what it gives."""


class WorkExited(Exception):
    """The work raised what ends a process, such as SystemExit, which is the cause of this one."""


class Workers:
    """
    A process's threads for one kind of work, at most ``limit()`` of them.

    A thread that has nothing to do ends after a minute, or sooner when a connection to a database that it holds gets
    too old. Threads are daemons: work that never ends does not keep the process from ending.
    """

    def __init__(self, name: str, limit: Callable[[], int]) -> None:
        self._name = name
        self._limit = limit
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """No thread yet, which is also the state of a fork: it has none of its parent's."""
        self._changed = Condition()
        self._busy = 0
        self._idle: list[SimpleQueue[_Job]] = []  # where the next job of each idle thread is put

    def run(self, work: Callable[[], T], deadline: Deadline) -> T:
        """
        What ``work`` gives or raises, done in a thread and in a copy of the caller's context.

        NotStarted or TooLate when the deadline comes first; WorkExited for what is no Exception.
        """
        job = _Job(work=partial(copy_context().run, work), outcome=Future(), loop=_main_loop())
        self._start(job, deadline)
        outcome: Future[T] = job.outcome
        try:
            return outcome.result(timeout=deadline.remaining_seconds)
        except TimeoutError:  # the deadline's, or one that the work raised
            if outcome.done():
                return outcome.result()
            raise TooLate("it was not done in time") from None

    def _start(self, job: "_Job", deadline: Deadline) -> None:
        with self._changed:
            if not self._changed.wait_for(self._has_place, timeout=deadline.remaining_seconds):
                raise NotStarted(f"all of the {self._busy} threads were busy")
            self._busy += 1
            inbox = self._idle.pop() if self._idle else None  # the last to become idle, so that the others grow old
        if inbox is not None:
            inbox.put(job)
            return
        try:
            Thread(target=self._serve, args=(job,), name=self._name, daemon=True).start()
        except RuntimeError:  # the system has no thread left for this process
            logger.exception("No thread can be started.")
            with self._changed:
                self._busy -= 1
                self._changed.notify()
            raise NotStarted("no thread can be started") from None

    def _has_place(self) -> bool:
        return self._busy < self._limit()

    def _serve(self, first: "_Job") -> None:
        inbox: SimpleQueue[_Job] = SimpleQueue()
        job: _Job | None = first
        del first
        while job is not None:
            tell = job.done()
            _drop_old_connections()
            with self._changed:
                self._busy -= 1
                self._idle.append(inbox)
                self._changed.notify()
            tell()
            del job, tell  # an idle thread holds nothing of what it did
            job = self._next(inbox)
        connections.close_all()

    def _next(self, inbox: "SimpleQueue[_Job]") -> "_Job | None":
        try:
            return inbox.get(timeout=_idle_seconds())
        except Empty:
            with self._changed:
                if inbox in self._idle:
                    self._idle.remove(inbox)
                    return None
            return inbox.get()  # it was taken from the idle ones at the last moment, so a job is on its way


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """``loop`` is the event loop of the server that the caller runs under, in which async views run as ever."""

    work: Callable[[], Any]
    outcome: "Future[Any]"
    loop: Any

    def done(self) -> Callable[[], None]:
        """Do the work, and give what tells of its outcome."""
        _set_main_loop(self.loop)
        try:
            return partial(self.outcome.set_result, self.work())
        except Exception as error:  # noqa: BLE001  (it is raised where somebody waits)
            return partial(self.outcome.set_exception, error)
        except BaseException as error:  # noqa: BLE001  (host code may raise anything, and the thread is needed again)
            exited = WorkExited(type(error).__name__)
            exited.__cause__ = error
            return partial(self.outcome.set_exception, exited)
        finally:
            _set_main_loop(None)


def _main_loop() -> Any:
    """
    The loop in which asgiref runs async code that this thread calls; None under WSGI.

    asgiref knows it by thread, so a worker of ours has to be told: clients and pools of the host are bound to it.
    """
    known = SyncToAsync.threadlocal
    is_ours = getattr(known, "main_event_loop_pid", None) == os.getpid()
    return getattr(known, "main_event_loop", None) if is_ours else None


def _set_main_loop(loop: Any) -> None:
    SyncToAsync.threadlocal.main_event_loop = loop
    SyncToAsync.threadlocal.main_event_loop_pid = None if loop is None else os.getpid()


def _drop_old_connections() -> None:
    """As a server's thread does after each request: close what is broken, or older than CONN_MAX_AGE."""
    try:
        close_old_connections()
    except Exception:  # a database that is gone must not cost the thread
        logger.exception("A connection could not be closed.")


def _idle_seconds() -> float:
    """No longer than the connections live that this thread holds; with CONN_MAX_AGE 0 it holds none by now."""
    ages: list[float | None] = [
        connection.settings_dict["CONN_MAX_AGE"] for connection in connections.all(initialized_only=True)
    ]
    return min([IDLE_SECONDS, *(age for age in ages if age)])
