"""Which visibility policies concern a tool (visibility.md, "Facts stored per operation")."""

from collections.abc import Iterable, Iterator

from sezzlee_mcp.catalog.curation import VisibilityPolicy
from sezzlee_mcp.catalog.selection import matches
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.folding import fold


def policies_on(
    policies: Iterable[VisibilityPolicy], *, method: str, routes: Iterable[str], tags: Iterable[str]
) -> tuple[VisibilityPolicy, ...]:
    """
    Those that concern a tool with these tags, by name, since tools say what is asked in this order.

    ``routes`` are all that the tool stands for: a policy on a route that was folded away is not lost.
    """
    served, carried = tuple(routes), {fold(tag) for tag in tags}
    keys = {f"{method} {route}" for route in served}
    concerned = (
        policy
        for policy in policies
        if not keys.isdisjoint(policy.operations)
        or any(fold(tag) in carried for tag in policy.tags)
        or any(matches(glob, route) for glob in policy.routes for route in served)
    )
    return tuple(sorted(concerned, key=lambda policy: policy.name))


def unused(policies: Iterable[VisibilityPolicy], used: Iterable[VisibilityPolicy]) -> Iterator[Diagnostic]:
    """A policy that concerns no tool hides nothing, which a mistyped target is the likeliest reason for."""
    names = {policy.name for policy in used}
    for policy in policies:
        if policy.name not in names:
            yield diagnose("policy_unused", name=policy.name)
