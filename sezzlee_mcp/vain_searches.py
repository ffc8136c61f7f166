"""Searches that came to nothing -> counts of their words: told in this process, from what it holds in memory."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import F

from sezzlee_mcp.models import VainWord

# A search is followed when its caller loads or calls a tool of its answer before it is this old, and as one of this
# many next calls. The wire has no sessions, so nothing else tells what belongs together.
FOLLOWED_SECONDS = 600
FOLLOWED_CALLS = 5
CALLERS_AT_MOST = 1_000  # whose searches are open; those of the one who was seen longest ago are judged no more
WORDS_AT_MOST = 1_000  # different ones that a process counts on one day


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is held of a search until it is followed or not: the words that may be kept, and what tools it found."""

    words: frozenset[str]
    found: frozenset[str]


class WordKey(NamedTuple):
    day: date
    word: str


class Vain(NamedTuple):
    """Searches with a word: those that found no tool, and those that were not followed."""

    unanswered: int = 0
    unfollowed: int = 0


@dataclass(slots=True, kw_only=True)
class _Open:
    """A search that may yet be followed."""

    search: Search
    until: float
    calls_left: int = FOLLOWED_CALLS


class Following:
    """
    The searches of each caller that may yet be followed; a caller is a digest.

    Each method takes the time in seconds and gives the searches that it ends unfollowed.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[str, list[_Open]] = OrderedDict()

    def searched(self, caller: str, search: Search, now: float) -> list[Search]:
        """The caller's next call was this search; one of the same words goes on with it."""
        unfollowed = self.called(caller, "", now)
        kept = self._open.setdefault(caller, [])
        same = [each for each in kept if each.search.words == search.words]
        found = search.found.union(*(each.search.found for each in same))
        opened = _Open(search=Search(words=search.words, found=found), until=now + FOLLOWED_SECONDS)
        self._open[caller] = [each for each in kept if each not in same] + [opened]
        self._open.move_to_end(caller)
        while len(self._open) > CALLERS_AT_MOST:
            self._open.popitem(last=False)
        return unfollowed

    def called(self, caller: str, tool: str, now: float) -> list[Search]:
        """The caller's next call loaded or called ``tool``, "" for none that there is."""
        left = [each for each in self._open.pop(caller, ()) if tool not in each.search.found]
        for each in left:
            each.calls_left -= 1
        return self._parted(caller, left, now)

    def ended(self, now: float) -> list[Search]:
        """Time went on."""
        return [search for caller in list(self._open) for search in self._parted(caller, self._open.pop(caller), now)]

    def _parted(self, caller: str, searches: Iterable[_Open], now: float) -> list[Search]:
        """Keep those that may yet be followed, and give the others."""
        going = [each for each in searches if each.calls_left > 0 and each.until > now]
        if going:
            self._open[caller] = going
        return [each.search for each in searches if each not in going]


@dataclass(slots=True)
class VainSearches:
    """The words of this process that are not in the database yet; its owner holds a lock."""

    counts: dict[WordKey, Vain] = field(default_factory=dict)
    following: Following = field(default_factory=Following)
    _day: date | None = None
    _words: set[str] = field(default_factory=set)

    def searched(self, caller: str | None, search: Search, now: float) -> None:
        """Count a search; of a caller who cannot be told from others only whether it found anything."""
        if not search.found:
            self._count([search], Vain(unanswered=1))
        if caller is not None and search.found and search.words:
            self._count(self.following.searched(caller, search, now), Vain(unfollowed=1))
        elif caller is not None:
            self.called(caller, "", now)

    def called(self, caller: str, tool: str, now: float) -> None:
        self._count(self.following.called(caller, tool, now), Vain(unfollowed=1))

    def taken(self, now: float) -> dict[WordKey, Vain]:
        """What is counted until now; nothing of it stays."""
        self._count(self.following.ended(now), Vain(unfollowed=1))
        taken, self.counts = self.counts, {}
        return taken

    def merge(self, counts: Mapping[WordKey, Vain]) -> None:
        for key, vain in counts.items():
            before = self.counts.get(key, Vain())
            self.counts[key] = Vain(before.unanswered + vain.unanswered, before.unfollowed + vain.unfollowed)

    def _count(self, searches: Iterable[Search], vain: Vain) -> None:
        today = datetime.now(UTC).date()
        if self._day != today:
            self._day, self._words = today, set()
        for word in self._admitted(word for search in searches for word in sorted(search.words)):
            self.merge({WordKey(today, word): vain})

    def _admitted(self, words: Iterable[str]) -> Iterator[str]:
        for word in words:
            if word in self._words or len(self._words) < WORDS_AT_MOST:
                self._words.add(word)
                yield word


def write(counts: Mapping[WordKey, Vain]) -> None:
    """Add to the rows, in one order in every process: two that write at once wait for each other, and none fails."""
    keys = sorted(counts)
    with transaction.atomic():
        VainWord.objects.bulk_create([VainWord(**key._asdict()) for key in keys], ignore_conflicts=True, batch_size=500)
        for key in keys:
            VainWord.objects.filter(**key._asdict()).update(
                **{name: F(name) + number for name, number in counts[key]._asdict().items()}
            )


def prune(today: date, days: int) -> None:
    """Delete all but the last ``days``, today among them."""
    VainWord.objects.filter(day__lte=today - timedelta(days=days)).delete()
