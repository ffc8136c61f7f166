"""Revision -> what a process holds of it in memory, refreshed when the generation moves (publishing.md)."""

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, Self, TypeVar

from sezzlee_mcp import conf
from sezzlee_mcp.catalog.tools import SearchDocument, Template
from sezzlee_mcp.models import Catalog, Revision, ToolContent
from sezzlee_mcp.openapi.descriptors import AuthFacts
from sezzlee_mcp.search import DocumentTokens, Index, weigh

T = TypeVar("T")

_COLUMNS = ("digest", "name", "version", "card", "document", "auth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What every search and check needs of one tool; the card is kept as bytes of JSON."""

    digest: str
    name: str
    version: str
    card: bytes
    tokens: DocumentTokens
    auth: AuthFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One generation, complete: requests that began with it end with it."""

    generation: int
    entries: Mapping[str, Entry]
    index: Index
    names_by_auth: Mapping[AuthFacts, frozenset[str]]  # visibility is decided once per distinct fact, not per tool

    @classmethod
    def of(cls, generation: int, entries: Mapping[str, Entry]) -> Self:
        groups: dict[AuthFacts, set[str]] = {}
        for entry in entries.values():
            groups.setdefault(entry.auth, set()).add(entry.name)
        return cls(
            generation=generation,
            entries=entries,
            index=Index.build({name: entry.tokens for name, entry in entries.items()}),
            names_by_auth={facts: frozenset(names) for facts, names in groups.items()},
        )


EMPTY = Snapshot.of(0, {})


class ContentGone(LookupError):
    """A tool was published away, and its content pruned, while a request still held its snapshot."""


class _Contents(Generic[T]):
    """A bounded cache by content digest; contents never change, so nothing in it is ever stale."""

    def __init__(self, column: str, read: Callable[[Any], T]) -> None:
        self._column = column
        self._read = read
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()

    def get(self, digests: Iterable[str]) -> dict[str, T]:
        """The contents of these digests; one query reads all that are missing."""
        wanted = list(digests)
        with self._lock:
            found = {digest: self._kept[digest] for digest in wanted if digest in self._kept}
            for digest in found:
                self._kept.move_to_end(digest)
        missing = [digest for digest in wanted if digest not in found]
        if missing:
            rows = ToolContent.objects.filter(digest__in=missing).values_list("digest", self._column)
            read = {digest: self._read(content) for digest, content in rows}
            self._keep(read)
            found.update(read)
        if len(found) < len(set(wanted)):
            raise ContentGone
        return found

    def _keep(self, read: Mapping[str, T]) -> None:
        with self._lock:
            self._kept.update(read)
            while len(self._kept) > conf.current().cached_tools:
                self._kept.popitem(last=False)


_loaded: _Contents[dict[str, Any]] = _Contents("loaded", lambda loaded: loaded)
_templates: _Contents[Template] = _Contents("template", Template.from_json)


def loaded_shapes(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """The loaded shapes of these tools, in their order."""
    entries = list(entries)
    shapes = _loaded.get(entry.digest for entry in entries)
    return [shapes[entry.digest] for entry in entries]


def template_of(entry: Entry) -> Template:
    return _templates.get([entry.digest])[entry.digest]


class _Current:
    """The snapshot of this process; one thread refreshes it while the others wait for it."""

    def __init__(self) -> None:
        self._snapshot = EMPTY
        self._stamp = (0, "")
        self._checked_at = float("-inf")
        self._lock = Lock()

    def get(self) -> Snapshot:
        now = time.monotonic()
        if now - self._checked_at < conf.current().generation_check_seconds:
            return self._snapshot
        stamp = Catalog.objects.stamp()
        if stamp != self._stamp:
            with self._lock:
                stamp = Catalog.objects.stamp()  # another thread may have gone further than what was read outside
                if stamp != self._stamp:
                    self._snapshot = _refreshed(self._snapshot, stamp[0])
                    self._stamp = stamp
        self._checked_at = now
        return self._snapshot


_current = _Current()


def current() -> Snapshot:
    """The snapshot of the generation in force, by one primary-key read when it has not moved."""
    return _current.get()


def _refreshed(previous: Snapshot, generation: int) -> Snapshot:
    """The snapshot of ``generation``; only contents that the previous one does not hold are read."""
    if generation == 0:
        return EMPTY
    digests = Revision.objects.values_list("tools", flat=True).get(generation=generation)
    held = {entry.digest: entry for entry in previous.entries.values()}
    missing = [digest for digest in digests.values() if digest not in held]
    rows = ToolContent.objects.filter(digest__in=missing).values_list(*_COLUMNS)
    held.update({row[0]: _to_entry(*row) for row in rows.iterator()})
    return Snapshot.of(generation, {name: held[digest] for name, digest in digests.items()})


def _to_entry(digest: str, name: str, version: str, card: Any, document: Any, auth: Any) -> Entry:
    return Entry(
        digest=digest,
        name=name,
        version=version,
        card=json.dumps(card, ensure_ascii=False, separators=(",", ":")).encode(),
        tokens=weigh(SearchDocument.from_json(document)),
        auth=AuthFacts.from_json(auth),
    )
