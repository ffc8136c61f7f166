"""Who sees which tool: an optimistic filter of search and load, never security (visibility.md)."""

from collections.abc import Mapping
from enum import StrEnum

from sezzlee_mcp.openapi.descriptors import AuthFacts


class Identity(StrEnum):
    """What the host's own authenticators say of a request."""

    PRESENT = "present"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Answer(StrEnum):
    """What one policy says of a caller."""

    ALLOW = "allow"
    DENY = "deny"
    UNKNOWN = "unknown"


class Decision(StrEnum):
    """Whether a caller sees a tool; an undecided one is shown with ``authUncertain``."""

    ALLOW = "allow"
    DENY = "deny"
    UNKNOWN = "unknown"


def decide(auth: AuthFacts, *, identity: Identity, policies: Mapping[str, Answer]) -> Decision:
    """The first rule that applies, in the order of visibility.md; a policy without an answer is unknown."""
    answers = [policies.get(name, Answer.UNKNOWN) for name in auth.policies]
    if auth.anonymous == "no" and identity is Identity.ABSENT:
        return Decision.DENY
    if Answer.DENY in answers:
        return Decision.DENY
    if auth.imperative or auth.anonymous == "unknown":
        return Decision.UNKNOWN
    if auth.anonymous == "no" and identity is Identity.UNKNOWN:
        return Decision.UNKNOWN
    return Decision.UNKNOWN if Answer.UNKNOWN in answers else Decision.ALLOW
