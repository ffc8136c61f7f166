"""Which record holds for each argument: the variant's, the operation's, a rule's (curation.md)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.catalog.arguments import Argument
from sezzlee_mcp.catalog.curation import ArgumentRecord, ArgumentRule, FillKind
from sezzlee_mcp.catalog.selection import matches
from sezzlee_mcp.diagnostics import Diagnostic, diagnose


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The record of each curated argument by its wire name; ``ambiguous`` names arguments that rules disagree on."""

    by_name: Mapping[str, ArgumentRecord]
    ambiguous: tuple[str, ...] = ()

    def diagnostics(self, operation: str) -> Iterator[Diagnostic]:
        for name in self.ambiguous:
            yield diagnose("ambiguous_curation", operation=operation, name=name)


def rules_on(route: str, rules: Iterable[ArgumentRule]) -> tuple[ArgumentRule, ...]:
    return tuple(rule for rule in rules if rule.route is None or matches(rule.route, route))


def records_of(
    arguments: Iterable[Argument], own: Mapping[str, ArgumentRecord], rules: tuple[ArgumentRule, ...]
) -> Records:
    """An argument's own record, whole; without one what the sharpest of the route's ``rules`` says."""
    by_name, ambiguous = dict(own), []
    for argument in arguments:
        sharpest = _sharpest(rules, argument) if rules and argument.name not in own else []
        if sharpest:
            by_name[argument.name] = _record(sharpest[0], argument)
        if len({_said(rule) for rule in sharpest}) > 1:
            ambiguous.append(argument.name)
    return Records(by_name=by_name, ambiguous=tuple(ambiguous))


def _sharpest(rules: tuple[ArgumentRule, ...], argument: Argument) -> list[ArgumentRule]:
    """The rules of the highest rank, the one that wins first: one that hides, and no order of theirs decides."""
    applying = [rule for rule in rules if _applies(rule, argument)]
    highest = max(map(_rank, applying), default=0)
    equal = [rule for rule in applying if _rank(rule) == highest]
    return sorted(equal, key=lambda rule: (rule.fill is None, canonical_json(rule.to_json())))


def _applies(rule: ArgumentRule, argument: Argument) -> bool:
    if rule.location is not None and rule.location != argument.location:
        return False
    if rule.fill is not None and rule.fill.kind is FillKind.OMIT and argument.required:
        return False  # a rule never hides a required argument without a value
    return matches(rule.argument, argument.name)


def _rank(rule: ArgumentRule) -> int:
    return 1 + (rule.route is not None) + (rule.location is not None)


def _said(rule: ArgumentRule) -> bytes:
    fill = rule.fill and rule.fill.to_json()
    return canonical_json([fill, rule.description, rule.prefix])


def _record(rule: ArgumentRule, argument: Argument) -> ArgumentRecord:
    name = None if rule.prefix is None else f"{rule.prefix}{argument.name}"
    return ArgumentRecord(name=argument.name, agent_name=name, description=rule.description, fill=rule.fill)
