"""Who sees which tool: an optimistic filter of search and load, never security (visibility.md)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum

from sezzlee_mcp.openapi.descriptors import AuthFacts

ANYONE = AuthFacts(anonymous="yes")
SOMEBODY = AuthFacts(anonymous="no")
UNREADABLE = AuthFacts(anonymous="unknown", imperative=True)


class PolicyKind(StrEnum):
    """What a policy asks. Its name says all of it: ``staff``, ``superuser``, or kind, colon and what to ask for."""

    STAFF = "staff"
    SUPERUSER = "superuser"
    GROUP = "group"  # group:editors
    PERMISSION = "perm"  # perm:shop.view_order
    CALLABLE = "call"  # call:shop.policies.is_open, a function f(request) -> True, False or None


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


def policy_name(kind: PolicyKind, subject: str = "") -> str:
    return f"{kind}:{subject}" if subject else kind.value


def read_policy(name: str) -> tuple[PolicyKind, str]:
    """The kind of a policy and what it asks for; ValueError when the name is none of a policy."""
    kind, _, subject = name.partition(":")
    found = PolicyKind(kind)
    if bool(subject) is (found in (PolicyKind.STAFF, PolicyKind.SUPERUSER)):
        raise ValueError(name)
    return found, subject


def asked_by(kind: PolicyKind | None, subject: str = "") -> AuthFacts:
    """What a rule of staff's asks for; None asks for nothing but identity."""
    if kind is None:
        return SOMEBODY
    # A function may let anonymous callers pass; all other policies are about somebody.
    gate = "yes" if kind is PolicyKind.CALLABLE else "no"
    return AuthFacts(anonymous=gate, policies=(policy_name(kind, subject),))


def all_of(facts: Iterable[AuthFacts]) -> AuthFacts:
    """What is known when all must hold: any ``no`` is no, else any ``unknown`` is unknown, else yes."""
    joined = tuple(facts)
    gates = {fact.anonymous for fact in joined}
    return AuthFacts(
        anonymous=next((gate for gate in ("no", "unknown") if gate in gates), "yes"),
        policies=tuple(dict.fromkeys(policy for fact in joined for policy in fact.policies)),
        imperative=any(fact.imperative for fact in joined),
    )


def one_of(first: AuthFacts, second: AuthFacts) -> AuthFacts:
    """
    What is known when one of the two must hold.

    The weaker one, where the other implies it. Otherwise only code can tell, and what is known is what both ask for.
    """
    for weaker, stronger in ((first, second), (second, first)):
        if _implies(stronger, weaker):
            return weaker
    if first.anonymous == second.anonymous == "no":
        shared = tuple(policy for policy in first.policies if policy in second.policies)
        return AuthFacts(anonymous="no", policies=shared, imperative=True)
    return UNREADABLE


def _implies(stronger: AuthFacts, weaker: AuthFacts) -> bool:
    """Whether whoever passes the one passes the other; of code, only what it asks for beside itself is known."""
    if weaker.imperative or weaker.anonymous == "unknown":
        return False
    passes_gate = weaker.anonymous == "yes" or stronger.anonymous == "no"
    return passes_gate and set(weaker.policies) <= set(stronger.policies)


def once_checked(auth: AuthFacts) -> AuthFacts:
    """What is left to ask once the view's own check has let the caller pass: the policies, which it need not know."""
    return replace(auth, anonymous="yes", imperative=False)


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
