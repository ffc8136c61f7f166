"""The host's own ranker, asked under a deadline in a thread of its own (search.md, "Replaceable ranker")."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import BoundedSemaphore, Lock, Thread
from typing import Any

from django.db import connections
from django.utils.module_loading import import_string

from sezzlee_mcp import conf
from sezzlee_mcp.canonical import digest
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.models import ToolContent
from sezzlee_mcp.search import is_ranked, rank, read_ranking
from sezzlee_mcp.snapshots import Snapshot

logger = logging.getLogger("sezzlee_mcp")

# How many rankers may run at once in a process. A late one goes on running, since no thread can be stopped: it keeps
# its place, and when none is left a search waits for one until its own deadline.
WORKERS = 4
_places = BoundedSemaphore(WORKERS)


def ranked(snapshot: Snapshot, query: str) -> tuple[str, ...]:
    """
    The names for ``query`` in the order of the host's ranker; BM25's without one, or for a query without a token.

    CallError ``search_ranker_unavailable`` when the ranker fails and RANKER_FAILURE is ``error``.
    """
    settings = conf.current()
    if settings.ranker is None or not is_ranked(query):
        return rank(snapshot.index, query)
    try:
        ranking = read_ranking(_answer(settings, snapshot, query), snapshot.entries)
    except Exception as error:
        logger.warning("The ranker %s failed.", settings.ranker, exc_info=error)
        if settings.ranker_failure == "error":
            raise messages.search_ranker_unavailable() from None
        return rank(snapshot.index, query)
    if ranking.unknown or ranking.repeated:
        logger.warning(
            "The ranker %s named no tools: %r; repeated: %r.", settings.ranker, ranking.unknown, ranking.repeated
        )
    return ranking.names


def _answer(settings: conf.Settings, snapshot: Snapshot, query: str) -> Any:
    ranker = import_string(settings.ranker or "")
    documents, revision = _documents.get(snapshot)
    return _within(settings.ranker_deadline_seconds, lambda: ranker(query, documents, digest=revision))


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """What ``work`` gives or raises; TimeoutError when it is not done in time, or found no place to run."""
    until = time.monotonic() + seconds
    if not _places.acquire(timeout=seconds):
        raise TimeoutError(f"none of its {WORKERS} threads became free within {seconds} seconds")
    outcome: Future[Any] = Future()
    # A daemon: a ranker that never returns must not keep the process from ending.
    thread = Thread(target=_run, args=(work, outcome), name="sezzlee-ranker", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        _places.release()
        raise
    try:
        return outcome.result(timeout=max(until - time.monotonic(), 0))
    except TimeoutError:  # the deadline's; one that the ranker raised stands behind a RankerRaised
        raise TimeoutError(f"it did not answer within {seconds} seconds") from None


class RankerRaised(Exception):
    """The ranker's own exception is its cause; whatever that was, it must not end the thread that waits."""


def _run(work: Callable[[], Any], outcome: "Future[Any]") -> None:
    try:
        outcome.set_result(work())
    except BaseException as error:  # noqa: BLE001  (host code may raise anything, SystemExit too)
        raised = RankerRaised(type(error).__name__)
        raised.__cause__ = error
        outcome.set_exception(raised)
    finally:
        _places.release()
        connections.close_all()  # those of this thread, which nothing else would close


class _Documents:
    """The documents of the last snapshot that was ranked; search itself keeps only their tokens."""

    def __init__(self) -> None:
        self._of: Snapshot | None = None
        self._held: tuple[tuple[SearchDocument, ...], str] = ((), "")
        self._lock = Lock()

    def get(self, snapshot: Snapshot) -> tuple[tuple[SearchDocument, ...], str]:
        """Every tool's document, by name, and the digest of the revision that they are of."""
        with self._lock:
            if self._of is not snapshot:
                self._held = (_read(snapshot), digest({name: one.digest for name, one in snapshot.entries.items()}))
                self._of = snapshot
            return self._held


_documents = _Documents()


def _read(snapshot: Snapshot) -> tuple[SearchDocument, ...]:
    digests = [snapshot.entries[name].digest for name in snapshot.index.names]
    rows = ToolContent.objects.only("document").in_bulk(digests)
    return tuple(SearchDocument.from_json(rows[one].document) for one in digests)
