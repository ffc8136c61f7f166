"""
A thread's database connections, lent to the thread that runs its call.

A call needs no second connection then: under CONN_MAX_AGE 0 that would be opened for every call, and with a pool
threads could wait for each other's.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger("sezzlee_mcp")


class Loan:
    """
    All connections of the thread that makes the loan, for one piece of work in another.

    The lender settles it. Connections that are still in use then are the borrower's to close.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._has_ended = False
        self._is_written_off = False
        self._lent = connections.all(initialized_only=True)
        for connection in self._lent:
            del connections[connection.alias]
            connection.inc_thread_sharing()

    @contextmanager
    def used(self) -> Iterator[None]:
        """In the borrower's thread: the lent connections in place of its own."""
        own = {connection.alias: connection for connection in connections.all(initialized_only=True)}
        for connection in self._lent:
            connections[connection.alias] = connection
        try:
            with kept_open(self._lent):
                yield
        finally:
            for connection in self._lent:
                del connections[connection.alias]
                if connection.alias in own:
                    connections[connection.alias] = own[connection.alias]
            self._end()

    def cancel(self) -> None:
        """Nobody has used the connections, or will."""
        self._has_ended = True

    def settle(self) -> None:
        """In the lender's thread: take back what is no longer in use, and write off what is."""
        with self._lock:
            self._is_written_off = not self._has_ended
        if self._is_written_off:
            return
        for connection in self._lent:
            connection.dec_thread_sharing()
            connections[connection.alias] = connection

    def _end(self) -> None:
        with self._lock:
            self._has_ended = True
        for connection in self._lent if self._is_written_off else ():
            try:
                connection.close()
            except Exception:  # a server that is gone must not keep the others open
                logger.exception("A connection could not be closed.")


@contextmanager
def kept_open(kept: Iterable[BaseDatabaseWrapper]) -> Iterator[None]:
    """
    The connections belong to the outer request, so the end of the inner one does not close them.

    Django closes at ``request_finished`` whatever is older than CONN_MAX_AGE, and what is in a transaction at
    once. Connection objects are the thread's own, so no other request is touched. One that broke meanwhile is
    closed all the same, for what the outer request may ask afterwards.
    """
    for connection in kept:
        connection.close_if_unusable_or_obsolete = _leave_open  # type: ignore[method-assign]
    try:
        yield
    finally:
        for connection in kept:
            vars(connection).pop("close_if_unusable_or_obsolete", None)
            if connection.errors_occurred and not connection.in_atomic_block:
                connection.close_if_unusable_or_obsolete()


def _leave_open() -> None:
    pass
