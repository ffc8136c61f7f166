"""Revision -> what a process holds of it in memory, refreshed when the generation moves (publishing.md)."""

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Generic, Self, TypeVar

from sezzlee_mcp import conf
from sezzlee_mcp.aliases import Alias, today
from sezzlee_mcp.catalog.tools import SearchDocument, Template
from sezzlee_mcp.models import Catalog, Revision, ToolContent
from sezzlee_mcp.models.revisions import Stamp
from sezzlee_mcp.openapi.descriptors import AuthFacts
from sezzlee_mcp.search import RANKERS, BuiltInRanker, DocumentTokens, Index, weigh

T = TypeVar("T")

_NOTHING = Index.build({})
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


class _Rankers(Mapping[str, BuiltInRanker]):
    """The built-in rankers of a catalog by their names, each made when somebody asks for it."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._made: dict[str, BuiltInRanker] = {}

    def __getitem__(self, name: str) -> BuiltInRanker:
        if name not in self._made:
            self._made[name] = RANKERS[name](self._index, conf.language())
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(RANKERS)

    def __len__(self) -> int:
        return len(RANKERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One generation, complete, and the release it was synced from: requests that began with it end with it."""

    generation: int
    entries: Mapping[str, Entry]
    index: Index
    rankers: Mapping[str, BuiltInRanker]
    names_by_auth: Mapping[AuthFacts, frozenset[str]]  # visibility is decided once per distinct fact, not per tool
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    release: str = ""

    @classmethod
    def of(
        cls, generation: int, entries: Mapping[str, Entry], aliases: Mapping[str, Alias], index: Index = _NOTHING
    ) -> Self:
        """The snapshot of these entries; what is still so is taken over from ``index``, which is one of any others."""
        index = index.updated({name: entry.tokens for name, entry in entries.items()})
        groups: dict[AuthFacts, set[str]] = {}
        for entry in entries.values():
            groups.setdefault(entry.auth, set()).add(entry.name)
        return cls(
            generation=generation,
            entries=entries,
            index=index,
            rankers=_Rankers(index),
            names_by_auth={facts: frozenset(names) for facts, names in groups.items()},
            aliases=aliases,
        )

    def find(self, name: str) -> Entry | None:
        """The tool of this name, or the one that was renamed from it a short time ago."""
        found = self.entries.get(name)
        alias = self.aliases.get(name)
        if found is not None or alias is None or not alias.holds(today()):
            return found
        return self.entries.get(alias.tool)


EMPTY = Snapshot.of(0, {}, {})


class ContentGone(LookupError):
    """A tool was published away, and its content pruned, while it was still wanted."""


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


def templates_of(entries: Iterable[Entry]) -> list[Template]:
    """The templates of these tools, in their order."""
    entries = list(entries)
    templates = _templates.get(entry.digest for entry in entries)
    return [templates[entry.digest] for entry in entries]


def template_of(entry: Entry) -> Template:
    return templates_of([entry])[0]


class _Current:
    """The snapshot of this process; one thread refreshes it while the others wait for it."""

    def __init__(self) -> None:
        self._snapshot = EMPTY
        self._stamp = Stamp()
        self._checked_at = float("-inf")
        self._lock = Lock()

    def get(self) -> Snapshot:
        now = time.monotonic()
        if now - self._checked_at < conf.current().generation_check_seconds:
            return self._snapshot
        stamp = Catalog.objects.stamp()
        if stamp != self._stamp:
            with self._lock:
                self._follow()
        self._checked_at = now
        return self._snapshot

    def _follow(self) -> None:
        stamp = Catalog.objects.stamp()  # another thread may have gone further than what was read outside
        while stamp != self._stamp:
            try:
                if stamp.contents != self._stamp.contents:
                    self._snapshot = _refreshed(self._snapshot, stamp.generation)
            except ContentGone:  # publishes while it was read pruned it; the next one is there
                pruned, stamp = stamp, Catalog.objects.stamp()
                if stamp == pruned:
                    raise
            else:
                self._snapshot = replace(self._snapshot, release=stamp.release)
                self._stamp = stamp


_current = _Current()


def current() -> Snapshot:
    """The snapshot of the generation in force, by one primary-key read when it has not moved."""
    return _current.get()


def of_generation(generation: int) -> Snapshot:
    """The snapshot of the current generation or of an earlier one; LookupError when its revision is not kept."""
    snapshot = current()
    if generation == snapshot.generation:
        return snapshot
    return _refreshed(snapshot, generation)


def _refreshed(previous: Snapshot, generation: int) -> Snapshot:
    """
    The snapshot of ``generation``; only contents that the previous one does not hold are read.

    ContentGone when the revision, or a content that it names, is not kept any more.
    """
    if generation == 0:
        return EMPTY
    kept = Revision.objects.values_list("tools", "aliases").filter(generation=generation).first()
    if kept is None:
        raise ContentGone(generation)
    digests, aliases = kept
    held = {entry.digest: entry for entry in previous.entries.values()}
    missing = [digest for digest in digests.values() if digest not in held]
    rows = ToolContent.objects.filter(digest__in=missing).values_list(*_COLUMNS)
    held.update({row[0]: _to_entry(*row) for row in rows.iterator()})
    if not held.keys() >= set(digests.values()):
        raise ContentGone(generation)
    return Snapshot.of(
        generation,
        {name: held[digest] for name, digest in digests.items()},
        {name: Alias.from_json(alias) for name, alias in aliases.items()},
        previous.index,
    )


def entry_of(content: ToolContent) -> Entry:
    """The entry of one tool, for whoever needs no more of a revision."""
    return _to_entry(*(getattr(content, column) for column in _COLUMNS))


def _to_entry(digest: str, name: str, version: str, card: Any, document: Any, auth: Any) -> Entry:
    return Entry(
        digest=digest,
        name=name,
        version=version,
        card=json.dumps(card, ensure_ascii=False, separators=(",", ":")).encode(),
        tokens=weigh(SearchDocument.from_json(document)),
        auth=AuthFacts.from_json(auth),
    )
