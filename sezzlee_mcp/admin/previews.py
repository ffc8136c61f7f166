"""What a save would change for agents, beside what they read now; shown before anything is saved."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from sezzlee_mcp import history
from sezzlee_mcp.admin import changed_tools
from sezzlee_mcp.admin.marks import marks
from sezzlee_mcp.admin.waiting import Waiting
from sezzlee_mcp.catalog.changes import Change
from sezzlee_mcp.catalog.compile import Known
from sezzlee_mcp.models import Operation
from sezzlee_mcp.publishing import Draft
from sezzlee_mcp.search.cards import card, detail, estimated_tokens

TOOLS_SHOWN = 20
CHANGES_SHOWN = 10  # of one tool
CONTEXT_LINES = 3  # beside a line that differs; more of them are folded away
COMPARED_LINES = 4_000  # of two texts; where more differ, they are not compared line by line


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Neighbouring lines of a text: ``differs`` from the other one, or are alike and perhaps ``is_folded`` away."""

    text: str
    lines: int
    differs: bool = False
    is_folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A tool as agents read it, in stretches: its card, and all of it, which takes ``size_bytes``."""

    card: tuple[Stretch, ...]
    loaded: tuple[Stretch, ...]
    size_bytes: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One tool as it is published and as it would be; a side without it is None. A renamed one had ``former_name``."""

    name: str
    former_name: str
    published: Side | None
    saved: Side | None

    @property
    def is_unchanged(self) -> bool:
        if self.published is None or self.saved is None or self.name != self.former_name:
            return False
        sides = (self.published, self.saved)
        return not any(stretch.differs for side in sides for stretch in (*side.card, *side.loaded))


def pairs(draft: Draft, operation: str) -> list[Pair]:
    """The tools of an operation, by key, now and by the draft, in the order of their names."""
    before = {tool.name: tool for tool in draft.inputs.known.values() if tool.operation == operation}
    after = {tool.name: tool for tool in draft.candidate.tools if tool.operation == operation}
    former = {alias.tool: name for name, alias in draft.aliases.items() if name in before and name not in after}
    found = [_pair(name, former.get(name, name), before, after) for name in after]
    found += [_pair(name, name, before, after) for name in before.keys() - after.keys() - set(former.values())]
    return sorted(found, key=lambda pair: pair.name)


def rendered(
    draft: Draft, *, site: str, publishes: bool, waits: Waiting, tools: Sequence[Pair] = (), beside: str = ""
) -> SafeString:
    """
    The tools that change, with the classes of their changes, at most ``TOOLS_SHOWN``; then ``tools``, side by side.

    ``site`` is the name of the admin that is linked to, ``beside`` what a page has to say of its own. Saving
    ``publishes`` what ``waits`` as well, or adds to that.
    """
    by_tool: dict[str, list[Change]] = {}
    for change in draft.changes:
        by_tool.setdefault(change.tool, []).append(change)
    shown = list(by_tool)[:TOOLS_SHOWN]
    entries = [change for tool in shown for change in by_tool[tool][:CHANGES_SHOWN]]
    of_tools = {tool: history.counted(by_tool[tool]) for tool in shown}
    context = {
        "marks": marks(history.counted(draft.changes)),
        "number": len(by_tool),
        "tools": changed_tools.listed(entries, of_tools, page=lambda tool: _page(draft, tool, site)),
        "left_out": max(0, len(by_tool) - TOOLS_SHOWN),
        "withheld": len(draft.withheld),
        "beside": beside,
        "pairs": tools,
        "publishes": publishes,
        "waits": waits,
    }
    return render_to_string("admin/sezzlee_mcp/preview.html", context)


def _page(draft: Draft, tool: str, site: str) -> str:
    """The page of a tool's operation; empty for a tool of one that was deleted."""
    known = draft.candidate.by_name.get(tool)
    keys = [known.operation] if known else [one.operation for one in draft.inputs.known.values() if one.name == tool]
    row: Operation | None = draft.inputs.rows.get(keys[0]) if keys else None
    return reverse(f"{site}:sezzlee_mcp_operation_change", args=[row.pk]) if row else ""


def _pair(name: str, former_name: str, before: Mapping[str, Known], after: Mapping[str, Known]) -> Pair:
    old, new = before.get(former_name), after.get(name)
    cards = _compared(_text(card(old.loaded) if old else None), _text(card(new.loaded) if new else None))
    shapes = _compared(_text(detail(old.loaded) if old else None), _text(detail(new.loaded) if new else None))
    return Pair(
        name=name,
        former_name=former_name,
        published=_side(old, cards[0], shapes[0]) if old else None,
        saved=_side(new, cards[1], shapes[1]) if new else None,
    )


def _side(tool: Known, card: tuple[Stretch, ...], loaded: tuple[Stretch, ...]) -> Side:
    return Side(card=card, loaded=loaded, size_bytes=tool.loaded_bytes, tokens=estimated_tokens(tool.loaded_bytes))


def _text(shape: dict[str, Any] | None) -> list[str]:
    return json.dumps(shape, ensure_ascii=False, indent=2).splitlines() if shape else []


def _compared(old: list[str], new: list[str]) -> tuple[tuple[Stretch, ...], tuple[Stretch, ...]]:
    """Both texts in stretches, what differs apart from what does not; a text without a counterpart is one stretch."""
    if not old or not new:
        return _whole(old), _whole(new)
    left: list[Stretch] = []
    right: list[Stretch] = []
    for alike, (first, last), (start, end) in _runs(old, new):
        left += _stretches(old[first:last], alike)
        right += _stretches(new[start:end], alike)
    return tuple(left), tuple(right)


def _whole(lines: list[str]) -> tuple[Stretch, ...]:
    return (Stretch(text="\n".join(lines), lines=len(lines)),)


def _runs(old: list[str], new: list[str]) -> Iterator[tuple[bool, tuple[int, int], tuple[int, int]]]:
    """Whether a run is alike, with its bounds in both texts."""
    if len(old) + len(new) > COMPARED_LINES and old != new:
        yield False, (0, len(old)), (0, len(new))
        return
    for tag, first, last, start, end in SequenceMatcher(None, old, new).get_opcodes():
        yield tag == "equal", (first, last), (start, end)


def _stretches(lines: list[str], alike: bool) -> Iterator[Stretch]:
    if not lines:
        return
    folded = lines[CONTEXT_LINES:-CONTEXT_LINES] if alike else []
    if len(folded) <= CONTEXT_LINES:
        yield Stretch(text="\n".join(lines), lines=len(lines), differs=not alike)
        return
    yield Stretch(text="\n".join(lines[:CONTEXT_LINES]), lines=CONTEXT_LINES)
    yield Stretch(text="\n".join(folded), lines=len(folded), is_folded=True)
    yield Stretch(text="\n".join(lines[-CONTEXT_LINES:]), lines=CONTEXT_LINES)
