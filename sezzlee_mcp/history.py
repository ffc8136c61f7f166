"""What changed between revisions: recorded with each of them in bounded size, and found anew between any two."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sezzlee_mcp.aliases import Alias
from sezzlee_mcp.catalog.changes import Change, ChangeClass, changes_of_moved
from sezzlee_mcp.models import Revision, ToolContent

ENTRIES = 300  # of one record; the worst ones of each tool are kept
STEPS = 10_000  # of comparing schemas, about a second; a page or a publish waits for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """
    Changes as far as they are kept or shown, and how many there are of each class.

    ``of_tools`` says the same of each tool that an entry is about.
    """

    entries: tuple[Change, ...]
    counts: Mapping[str, int]
    of_tools: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(cls, changes: tuple[Change, ...]) -> Self:
        entries = _worst_of_each(changes)
        of_tools: dict[str, list[Change]] = {change.tool: [] for change in entries}
        for change in changes:
            if change.tool in of_tools:
                of_tools[change.tool].append(change)
        return cls(
            entries=entries,
            counts=counted(changes),
            of_tools={tool: counted(of_tool) for tool, of_tool in of_tools.items()},
        )

    @property
    def left_out(self) -> int:
        """The changes of tools that no entry is about."""
        return sum(self.counts.values()) - sum(sum(counts.values()) for counts in self.of_tools.values())

    def to_json(self) -> dict[str, Any]:
        entries = [change.to_json() for change in self.entries]
        return {"entries": entries, "counts": dict(self.counts), "of_tools": dict(self.of_tools)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        entries = tuple(map(Change.from_json, value["entries"]))
        return cls(entries=entries, counts=value["counts"], of_tools=value["of_tools"])


def counted(changes: Iterable[Change]) -> dict[str, int]:
    """How many changes there are of each class."""
    counts = Counter(change.change_class for change in changes)
    return {each.value: counts[each] for each in ChangeClass}


def _worst_of_each(changes: Sequence[Change]) -> tuple[Change, ...]:
    """The first change of every tool, then the second of every tool, as far as they are kept, in their own order."""
    of_tool: Counter[str] = Counter()
    places = []
    for number, change in enumerate(changes):
        places.append((of_tool[change.tool], number))
        of_tool[change.tool] += 1
    return tuple(changes[number] for number in sorted(number for _, number in sorted(places)[:ENTRIES]))


def moved(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The names whose contents differ between two maps of {name: content digest}."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def compare(old: Revision, new: Revision) -> tuple[Change, ...]:
    """The changes between two revisions, by their contents; in two queries, however many tools differ."""
    names = moved(old.tools, new.tools)
    aliases = {name: Alias.from_json(alias).tool for name, alias in new.aliases.items() if name in names}
    return changes_of_moved(
        _shapes(old.tools, names),
        _shapes(new.tools, {*names, *aliases.values()}),
        aliases,
        steps=STEPS,
    )


def _shapes(tools: Mapping[str, str], names: Iterable[str]) -> dict[str, Any]:
    digests = {name: tools[name] for name in names if name in tools}
    contents: Iterable[tuple[str, Any]] = ToolContent.objects.filter(digest__in=set(digests.values())).values_list(
        "digest", "loaded"
    )
    loaded = dict(contents)
    return {name: loaded[digest] for name, digest in digests.items()}
