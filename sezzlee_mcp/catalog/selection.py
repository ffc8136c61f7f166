"""Which operations become tools, the same for every caller (tools.md, "Selection")."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sezzlee_mcp.catalog.curation import Curation, SelectionRule
from sezzlee_mcp.catalog.markers import read_markers
from sezzlee_mcp.catalog.seals import staff_of
from sezzlee_mcp.catalog.sources import Source
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import Outline

_TOKEN = re.compile(r"\*\*|\*|[^*]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """
    Whether an operation is a tool, who decided it, and what holds without staff's own choice (``beneath``).

    ``rules`` are those of the highest rank that applies, when rules decided it.
    """

    included: bool
    source: Source
    beneath: bool
    rules: tuple[SelectionRule, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def select(outline: Outline, curation: Curation) -> Selection:
    """The decision of the most specific marker: the operation's, its container's, the rules', the default."""
    inherited = _inherited(outline, curation)
    chosen = staff_of(outline, curation).exposed
    if chosen is None:
        return inherited
    return Selection(included=chosen, source=Source.STAFF, beneath=inherited.included)


def _inherited(outline: Outline, curation: Curation) -> Selection:
    marked = read_markers(outline).expose
    if marked is not None:
        return _decided(marked, Source.CODE)
    if outline.container is not None and outline.container in curation.containers:
        return _decided(curation.containers[outline.container], Source.CONTAINER)
    rules = _sharpest(rule for rule in curation.rules if _applies(rule, outline))
    if rules:
        return _ruled(rules, outline.key)
    return _decided(curation.exposed_by_default, Source.DEFAULT)


def _decided(included: bool, source: Source) -> Selection:
    return Selection(included=included, source=source, beneath=included)


def _ruled(rules: list[SelectionRule], operation: str) -> Selection:
    included = all(rule.include for rule in rules)
    decided = Selection(included=included, source=Source.RULE, beneath=included, rules=_in_order(rules))
    if included or not any(rule.include for rule in rules):
        return decided
    said = ", ".join(sorted(f"{'include' if rule.include else 'exclude'} {rule}" for rule in rules))
    ambiguous = diagnose("ambiguous_selection", operation=operation, rules=said)
    return replace(decided, diagnostics=(ambiguous,))


def _in_order(rules: Iterable[SelectionRule]) -> tuple[SelectionRule, ...]:
    return tuple(sorted(rules, key=lambda rule: (rule.include, str(rule))))


def _applies(rule: SelectionRule, outline: Outline) -> bool:
    if rule.method is not None and rule.method.upper() != outline.method:
        return False
    return rule.route is None or matches(rule.route, outline.route)


def _sharpest(rules: Iterable[SelectionRule]) -> list[SelectionRule]:
    ranked = [((rule.route is not None) + (rule.method is not None), rule) for rule in rules]
    highest = max((rank for rank, _ in ranked), default=0)
    return [rule for rank, rule in ranked if rank == highest]


def matches(glob: str, route: str) -> bool:
    """
    Whether the whole of ``route`` fits ``glob``, case-sensitively.

    ``*`` stands for any text without a slash, ``**`` for any text; every other character, braces
    too, stands for itself. The cost is at most the product of the two lengths.
    """
    ends = {0}
    for token in _TOKEN.findall(glob):
        ends = _advanced(token, route, ends)
        if not ends:
            return False
    return len(route) in ends


def _advanced(token: str, route: str, starts: set[int]) -> set[int]:
    """The positions in ``route`` where ``token`` can end when it begins at one of ``starts``."""
    if token == "**":  # noqa: S105  # a piece of a glob, no password
        return set(range(min(starts), len(route) + 1))
    if token == "*":  # noqa: S105
        return _segment_ends(route, starts)
    return {start + len(token) for start in starts if route.startswith(token, start)}


def _segment_ends(route: str, starts: set[int]) -> set[int]:
    ends: set[int] = set()
    for start in sorted(starts):
        if start not in ends:  # an earlier start of this segment has reached all that this one can
            slash = route.find("/", start)
            ends.update(range(start, (len(route) if slash < 0 else slash) + 1))
    return ends
