"""What a call leaves behind: a log record, a signal, and counts per day that reach the database later."""

import atexit
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from django.db import connections, transaction
from django.db.models import F

from sezzlee_mcp import conf, vain_searches
from sezzlee_mcp.models import ToolUse
from sezzlee_mcp.protocol.metatools import MetaTool
from sezzlee_mcp.protocol.traces import CallTrace
from sezzlee_mcp.signals import tool_invoked
from sezzlee_mcp.vain_searches import Search, VainSearches

logger = logging.getLogger("sezzlee_mcp")
calls_logger = logging.getLogger("sezzlee_mcp.calls")

# How many rows' worth of counts a process keeps while the database is away.
_KEYS_AT_MOST = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """
    What the protocol cannot know of a call: whose it was, of which generation and tool, and what it took.

    ``tool`` is empty when nobody published one of that name, ``former_name`` unless it was called by an old one.
    ``caller`` is a digest that tells callers apart, None where they cannot be; ``search`` is what a search leaves, None
    for one that is not judged.
    """

    request: Any
    user: Any
    seconds: float
    generation: int
    tool: str
    former_name: str = ""
    aliases: tuple[str, ...] = ()
    caller: str | None = None
    search: Search | None = None


def record(trace: CallTrace, facts: CallFacts) -> None:
    """
    Leave the traces of one answered call.

    The record of ``sezzlee_mcp.calls`` carries ``sezzlee``, a dict: the trace, and the caller's primary key as text.
    A name that nobody published is logged as the client wrote it and not counted.
    """
    key = getattr(facts.user, "pk", None)  # a user of the host's may be no row
    details = {
        **asdict(trace),
        "generation": facts.generation,
        "milliseconds": round(facts.seconds * 1000, 1),
        "user": "" if key is None else str(key),
    }
    # The name came from the client: quoted, a line break in it starts no line of the log.
    called = f"{trace.meta_tool} {trace.tool!r}" if trace.tool else trace.meta_tool
    calls_logger.info("%s: %s", called, trace.outcome, extra={"sezzlee": details})
    _uses.follow(facts)
    if trace.meta_tool == MetaTool.INVOKE and facts.tool:
        _uses.add(trace, facts)
        tool_invoked.send_robust(
            sender=CallTrace, request=facts.request, user=facts.user, trace=trace, seconds=facts.seconds
        )


def flush() -> None:
    """Add this process's counts to the rows now; what cannot be written is kept for the next time."""
    _uses.flush()


class _Key(NamedTuple):
    day: date
    tool: str
    outcome: str
    alias: str = ""
    former_name: str = ""


class _Uses:
    """
    The counts of this process that are not in the database yet.

    A thread adds them to the rows every USE_FLUSH_SECONDS, and the interpreter's exit adds the rest. A process
    that is killed loses what it counted since.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[_Key, tuple[int, float]] = {}
        self._vain = VainSearches()
        self._is_watched = False
        self._pruned: date | None = None

    def add(self, trace: CallTrace, facts: CallFacts) -> None:
        if not conf.current().use_flush_seconds:
            return
        call = _Key(datetime.now(UTC).date(), facts.tool, trace.outcome)
        keys = [call, *(call._replace(alias=alias) for alias in dict.fromkeys(facts.aliases))]
        if facts.former_name:
            keys.append(call._replace(former_name=facts.former_name))
        with self._lock:
            self._merge(dict.fromkeys(keys, (1, facts.seconds)))
        self._watch()

    def follow(self, facts: CallFacts) -> None:
        """Judge the searches of the call's caller by it, and open another one if it is a search itself."""
        settings, now = conf.current(), time.monotonic()
        if not (settings.use_flush_seconds and settings.kept_word_days):
            return
        with self._lock:
            if facts.search is not None:
                self._vain.searched(facts.caller, facts.search, now)
            elif facts.caller is not None:
                self._vain.called(facts.caller, facts.tool, now)
        self._watch()

    def flush(self) -> None:
        with self._lock:
            counts, self._counts = self._counts, {}
            words = self._vain.taken(time.monotonic())
        if not (counts or words):
            return
        try:
            with transaction.atomic():
                _write(counts)
                vain_searches.write(words)
        except Exception:  # the database is away, or full: nothing that a call has to wait for
            logger.exception("The uses of %d tools could not be written; they are kept for the next time.", len(counts))
            with self._lock:
                self._merge(counts)
                self._vain.merge(words)
            return
        try:
            self._prune()
        except Exception:  # what was counted is written, and is not to be counted again
            logger.exception("What is kept no longer could not be deleted; that is tried again the next time.")

    def _watch(self) -> None:
        """Have a thread write what is counted, from the first time on."""
        with self._lock:
            is_watched, self._is_watched = self._is_watched, self._is_watched or not _in_transaction()
        if is_watched != self._is_watched:
            Thread(target=self._write_for_ever, name="sezzlee-uses", daemon=True).start()
            atexit.register(flush)  # which writes the counts of whoever ends: a fork has handlers of its parent's

    def _merge(self, counts: Mapping[_Key, tuple[int, float]]) -> None:
        for key, (calls, seconds) in counts.items():
            if key not in self._counts and len(self._counts) >= _KEYS_AT_MOST:
                continue
            before_calls, before_seconds = self._counts.get(key, (0, 0.0))
            self._counts[key] = (before_calls + calls, before_seconds + seconds)

    def _prune(self) -> None:
        today = datetime.now(UTC).date()
        if self._pruned != today:
            with transaction.atomic():
                ToolUse.objects.filter(day__lt=today - timedelta(days=conf.current().kept_use_days)).delete()
                vain_searches.prune(today, conf.current().kept_word_days)
            self._pruned = today

    def _write_for_ever(self) -> None:
        pause = Event()
        while True:
            pause.wait(conf.current().use_flush_seconds or 60)
            self.flush()
            connections.close_all()  # those of this thread, which nothing else would close


def _in_transaction() -> bool:
    """Whether a test surrounds the call: its thread alone sees its rows."""
    return bool(transaction.get_connection().in_atomic_block)


def _write(counts: Mapping[_Key, tuple[int, float]]) -> None:
    """Add to the rows, in one order in every process: two that write at once wait for each other, and none fails."""
    keys = sorted(counts)
    with transaction.atomic():
        ToolUse.objects.bulk_create([ToolUse(**key._asdict()) for key in keys], ignore_conflicts=True, batch_size=500)
        for key in keys:
            calls, seconds = counts[key]
            ToolUse.objects.filter(**key._asdict()).update(
                calls=F("calls") + calls, milliseconds=F("milliseconds") + round(seconds * 1000)
            )


_uses = _Uses()


def forget() -> None:
    """Drop what was counted and not written: a fork's copy of its parent's counts."""
    global _uses
    _uses = _Uses()


os.register_at_fork(after_in_child=forget)  # the parent writes what it counted, and its thread stayed there
