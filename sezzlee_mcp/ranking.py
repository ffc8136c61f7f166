"""The host's own ranker, asked under a deadline (search.md, "Replaceable ranker")."""

import logging
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

from django.utils.module_loading import import_string

from sezzlee_mcp import conf
from sezzlee_mcp.canonical import digest
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.models import ToolContent
from sezzlee_mcp.search import RANKERS, Ranked, is_ranked, read_ranking
from sezzlee_mcp.snapshots import Snapshot
from sezzlee_mcp.workers import Deadline, Workers

logger = logging.getLogger("sezzlee_mcp")

# How many rankers may run at once in a process. A late one goes on running: it keeps its place, and when none is left a
# search waits for one until its own deadline.
WORKERS = 4
_workers = Workers("sezzlee-ranker", lambda: WORKERS)

Ranker = Callable[[Snapshot, str], Ranked]


def rankers() -> dict[str, Ranker]:
    """Every ranker there is: the built-in ones by their names, the host's own by its dotted path."""
    chosen = conf.current().ranker
    built_in: dict[str, Ranker] = {name: partial(_built_in, name) for name in RANKERS}
    return built_in if chosen in RANKERS else {**built_in, chosen: _own}


def in_force() -> str:
    """The name of the ranker that searches are answered by."""
    return conf.current().ranker


def ranked(snapshot: Snapshot, query: str) -> Ranked:
    """
    What ``query`` finds, by the ranker that the host chose; a query without a token lists every tool.

    CallError ``search_ranker_unavailable`` when the ranker fails and RANKER_FAILURE is ``error``.
    """
    settings = conf.current()
    if settings.ranker in RANKERS:
        return _built_in(settings.ranker, snapshot, query)
    try:
        return _own(snapshot, query)
    except Exception as error:
        logger.warning("The ranker %s failed.", settings.ranker, exc_info=error)
        if settings.ranker_failure == "error":
            raise messages.search_ranker_unavailable() from None
        return _built_in("contract", snapshot, query)


def _built_in(ranker: str, snapshot: Snapshot, query: str) -> Ranked:
    return partial(snapshot.rankers[ranker].order, query)


def _own(snapshot: Snapshot, query: str) -> Ranked:
    """What the query finds by the host's ranker; raises whatever it raises, or comes to by being late or wrong."""
    settings = conf.current()
    if not is_ranked(query):
        return _built_in("contract", snapshot, query)
    ranking = read_ranking(_answer(settings, snapshot, query), snapshot.entries)
    if ranking.unknown or ranking.repeated:
        logger.warning(
            "The ranker %s named no tools: %r; repeated: %r.", settings.ranker, ranking.unknown, ranking.repeated
        )
    return ranking.order


def _answer(settings: conf.Settings, snapshot: Snapshot, query: str) -> Any:
    ranker = import_string(settings.ranker)
    documents, revision = _documents.get(snapshot)
    deadline = Deadline.after(settings.ranker_deadline_seconds)
    return _workers.run(lambda: ranker(query, documents, digest=revision), deadline)


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
