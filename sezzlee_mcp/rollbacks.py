"""Host code that is asked something, not told to do it, leaves nothing behind."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from copy import deepcopy
from typing import Any, TypeVar

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.http import HttpRequest

T = TypeVar("T")

_LOADED = "_session_cache"  # where a session keeps its data once they are read
_MESSAGES = "_messages"  # where a request keeps what waits to be told

_undoing: ContextVar[ExitStack | None] = ContextVar("sezzlee_undoing", default=None)


def undone(ask: Callable[[], T], request: HttpRequest) -> T:
    """
    What ``ask`` gives or raises, and nothing else of it.

    What it writes is undone on every database of this thread. Neither does a query that fails harm those that
    follow, and what waits for a commit never runs. The session of ``request`` is what it was, so that no middleware
    saves it, its messages reach nobody, and language, time zone and whatever else is set for a context end with the
    question.
    """
    with _rolled_back() as undoing, _session_restored(request), _messages_kept_apart(request):
        context = copy_context()
        context.run(_undoing.set, undoing)
        return context.run(ask)


@contextmanager
def _rolled_back() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        for connection in connections.all(initialized_only=True):
            _undo(connection, stack)
        yield stack


def _undo(connection: BaseDatabaseWrapper, stack: ExitStack) -> None:
    stack.enter_context(transaction.atomic(using=connection.alias))
    stack.callback(_demand_rollback, connection)


def _demand_rollback(connection: BaseDatabaseWrapper) -> None:
    # A block of the host's that was entering while its connection was opened took itself for the outermost one, and
    # said at its end that there is none. Ours is still open.
    connection.in_atomic_block = connection.needs_rollback = True


@receiver(connection_created, dispatch_uid="sezzlee_mcp.rollbacks")
def _undo_what_is_opened_meanwhile(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
    """A connection that the host's code is the first to need has not been there to begin with."""
    undoing = _undoing.get()
    if undoing is not None and not connection.in_atomic_block:
        _undo(connection, undoing)


@contextmanager
def _session_restored(request: HttpRequest) -> Iterator[None]:
    session = getattr(request, "session", None)
    if session is None:
        yield
        return
    before = dict(vars(session))
    if _LOADED in before:
        before[_LOADED] = deepcopy(before[_LOADED])
    try:
        yield
    finally:
        vars(session).clear()
        vars(session).update(before)


@contextmanager
def _messages_kept_apart(request: HttpRequest) -> Iterator[None]:
    """What is told to the user meanwhile, by ``django.contrib.messages``, would wait for their next page."""
    own = vars(request)
    messages = own.get(_MESSAGES)
    if messages is None:
        yield
        return
    own[_MESSAGES] = type(messages)(request)
    try:
        yield
    finally:
        own[_MESSAGES] = messages
