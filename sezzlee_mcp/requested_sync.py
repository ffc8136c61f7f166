"""A sync that staff ask for in the admin: in a thread, since no proxy waits a minute for an answer."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

from django.db import DatabaseError, connections, transaction

from sezzlee_mcp.errors import PublishRefused
from sezzlee_mcp.models import RequestedSync
from sezzlee_mcp.sync import SyncReport, sync

logger = logging.getLogger("sezzlee_mcp")

THREAD = "sezzlee-sync"
BEAT_SECONDS = 5


def start(actor: Any, *, force: bool, publishes: bool, tell: Callable[[RequestedSync], None]) -> bool:
    """
    Begin a sync of the project's own document; False while another one runs, in whichever process.

    It publishes, or leaves what it brings in the draft. ``tell`` is told, in its thread, what came of it.

    Its thread starts once the row that says so is committed, and dies with its process: a sync writes all or
    nothing, and a row without a sign of life can be claimed again.
    """
    number = RequestedSync.objects.claim(actor)
    if number is None:
        return False
    thread = Thread(target=_do, args=(number, actor, force, publishes, tell), name=THREAD, daemon=True)
    transaction.on_commit(thread.start)
    return True


def _do(number: int, actor: Any, force: bool, publishes: bool, tell: Callable[[RequestedSync], None]) -> None:
    life = _Life(number)
    beats = Thread(target=life.beat, name=f"{THREAD}-life", daemon=True)
    beats.start()
    try:
        ended = _outcome(sync(force=force, publishes=publishes, actor=actor, progress=life.progress))
    except PublishRefused as refusal:
        ended = RequestedSync(outcome=RequestedSync.Outcome.REFUSED, message=refusal.message)
    except BaseException:  # noqa: BLE001  (whatever the host's code raised, whoever asked is told that it did)
        logger.exception("The sync that was asked for in the admin failed.")
        ended = RequestedSync(outcome=RequestedSync.Outcome.FAILED)
    life.stop()
    beats.join()
    RequestedSync.objects.end(number, ended.outcome, message=ended.message, counts=ended.counts)
    tell(ended)
    connections.close_all()  # those of this thread, which nothing else would close


def _outcome(report: SyncReport) -> RequestedSync:
    counts = {
        "discovered": report.discovered,
        "selected": report.selected,
        "tools": report.tools,
        "generation": report.generation,
        "publishes": report.publishes,
        **{kind: len(names) for kind, names in report.tool_changes.items()},
    }
    outcome = RequestedSync.Outcome.REFUSED if report.is_fatal else RequestedSync.Outcome.DONE
    return RequestedSync(outcome=outcome, counts=counts)


class _Life:
    """The signs of life of one sync, from a thread of its own: generating and compiling leave no moment for them."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._reached = (0, 0)
        self._stopped = Event()

    def progress(self, done: int, total: int) -> None:
        self._reached = (done, total)

    def stop(self) -> None:
        self._stopped.set()

    def beat(self) -> None:
        while not self._stopped.wait(BEAT_SECONDS):
            done, total = self._reached
            try:
                RequestedSync.objects.beat(self._number, done=done, total=total)
            except DatabaseError:  # SQLite while the sync writes; the next beat comes soon enough
                logger.warning("A sign of life of the sync could not be written.", exc_info=True)
        connections.close_all()
