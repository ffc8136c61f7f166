"""What one caller sees of one generation: declared facts, then policies, then the view's own check (visibility.md)."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice, tee

from sezzlee_mcp import caller_cache, conf, permission_checks, policies, snapshots
from sezzlee_mcp.caller_cache import Known
from sezzlee_mcp.callers import Caller
from sezzlee_mcp.catalog.visibility import Answer, Decision, decide, once_checked
from sezzlee_mcp.openapi.descriptors import AuthFacts
from sezzlee_mcp.permission_checks import Check
from sezzlee_mcp.search import Audience, Found, Ranked, narrow
from sezzlee_mcp.snapshots import ContentGone, Entry, Snapshot

logger = logging.getLogger("sezzlee_mcp")

# How many views one search may ask: as many as it can show.
CHECKS = 50
# How long a request waits for another one of its caller's: the host's code may hang, or call this endpoint.
WAIT_SECONDS = 5


class Sight:
    """
    What one request's caller sees.

    Policies and views are asked once per caller for as long as the caller cache keeps the answers. What raised is not
    kept there, so the next request asks again; nor is what a view said of an anonymous caller, of whom there are many.
    """

    def __init__(self, caller: Caller, snapshot: Snapshot, known: Known | None = None) -> None:
        self._caller = caller
        self._snapshot = snapshot
        self._known = known or caller_cache.known_of(caller, snapshot)
        self._own_checks: dict[str, Check] = {}
        self._declared: dict[AuthFacts, Decision] = {}
        self._unanswered: set[str] = set()
        self._checks_left = CHECKS

    @property
    def audience(self) -> Audience:
        """The tools that nothing declared hides from the caller; a view's own check may still hide one of them."""
        with self._turn():
            if self._known.audience is None:
                audience = self._audience()
                if self._unanswered:
                    return audience
                self._known.audience = audience
            return self._known.audience

    def found(self, ranked: Ranked, *, tags: Sequence[str] = (), limit: int) -> Found:
        """What a search with this ranking shows the caller."""
        return narrow(self._snapshot.index, self.audience, ranked, tags=tags, limit=limit, admitted=self._shown)

    def _shown(self, names: Iterable[str]) -> Iterator[str]:
        entries = self._snapshot.entries
        ahead, names = tee(names)
        self.prepare(entries[name] for name in islice(ahead, CHECKS))
        return (name for name in names if self.shows(entries[name]))

    def decision(self, entry: Entry) -> Decision:
        """Whether the caller may use the tool, as far as it can be said before the call."""
        match self.check(entry):
            case None:
                return self._decide(entry.auth)
            case Check.PASSED:
                return self._decide(once_checked(entry.auth))
            case Check.REFUSED:
                return Decision.DENY
        return Decision.UNKNOWN

    def check(self, entry: Entry) -> Check | None:
        """What the tool's own view says of the caller; None where what is declared decides, or no view is asked."""
        if not self._may_be_checked(entry.auth):
            return None
        return self._check(entry)

    def answers(self, auth: AuthFacts) -> dict[str, Answer]:
        """What each policy says of the caller; none is asked about a caller without identity."""
        return {name: self._answer(name) for name in auth.policies} if self._caller.has_identity else {}

    def shows(self, entry: Entry) -> bool:
        decision = self.decision(entry)
        return decision is Decision.ALLOW or (decision is Decision.UNKNOWN and _shows_undecided())

    def is_uncertain(self, entry: Entry) -> bool:
        return self.decision(entry) is Decision.UNKNOWN

    def prepare(self, entries: Iterable[Entry]) -> None:
        """Read at once what it takes to check these tools, instead of one by one."""
        needed = [entry for entry in entries if self._may_be_checked(entry.auth) and not self._done(entry)]
        with suppress(ContentGone):
            snapshots.templates_of(needed)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One request of the caller asks while the others wait for its answers; one that waits too long asks itself."""
        if not self._known.lock.acquire(timeout=WAIT_SECONDS):
            self._known = Known(generation=self._known.generation)
            self._known.lock.acquire()
        lock = self._known.lock
        try:
            yield
        finally:
            lock.release()

    def _audience(self) -> Audience:
        groups, shared = self._snapshot.names_by_auth, self._known.generation.audiences
        visible = frozenset(auth for auth in groups if self._is_candidate(auth))
        certain = frozenset(auth for auth in visible if not self._may_be_checked(auth))
        audience = shared.get((visible, certain))
        if audience is None:
            names = frozenset().union(*(groups[auth] for auth in visible))
            unsure = frozenset().union(*(groups[auth] for auth in visible - certain))
            audience = Audience.of(self._snapshot.index, names, names - unsure if unsure else names)
            shared[visible, certain] = audience
        return audience

    def _may_be_checked(self, auth: AuthFacts) -> bool:
        return self._decide(auth) is Decision.UNKNOWN and _can_be_checked(auth)

    def _is_candidate(self, auth: AuthFacts) -> bool:
        declared = self._decide(auth)
        return declared is Decision.ALLOW or (
            declared is Decision.UNKNOWN and (_shows_undecided() or _can_be_checked(auth))
        )

    def _decide(self, auth: AuthFacts) -> Decision:
        if auth not in self._declared:
            self._declared[auth] = decide(auth, identity=self._caller.identity, policies=self.answers(auth))
        return self._declared[auth]

    def _answer(self, policy: str) -> Answer:
        with self._turn():
            if policy not in self._known.answers and policy not in self._unanswered:
                try:
                    self._known.answers[policy] = policies.ask(policy, self._caller.request, self._caller.user)
                except Exception:  # a user model, a backend or a function of the host's that cannot say it
                    logger.exception("The policy %s could not be asked.", policy)
                    self._unanswered.add(policy)
            return self._known.answers.get(policy, Answer.UNKNOWN)

    def _check(self, entry: Entry) -> Check:
        if not self._caller.has_identity:  # nobody else waits for the answer
            return self._once_checked(entry)
        with self._turn():
            return self._once_checked(entry)

    def _once_checked(self, entry: Entry) -> Check:
        done = self._done(entry)
        if done is None and self._checks_left:
            self._checks_left -= 1
            done = self._checked(entry)
        return done or Check.UNKNOWN

    @property
    def _checks(self) -> dict[str, Check]:
        """
        What views said of the caller: of an anonymous one in this request alone.

        Whom no authenticator found may be anybody, and a view may know them by a key in a header or by their address.
        """
        return self._known.checks if self._caller.has_identity else self._own_checks

    def _done(self, entry: Entry) -> Check | None:
        return Check.FAILED if entry.digest in self._known.generation.broken else self._checks.get(entry.digest)

    def _checked(self, entry: Entry) -> Check:
        try:
            template = snapshots.template_of(entry)
        except ContentGone:
            return Check.UNKNOWN
        found = permission_checks.check(template, self._caller)
        if found is Check.FAILED:
            self._known.generation.broken.add(entry.digest)
        else:
            self._checks[entry.digest] = found
        return found


def _can_be_checked(auth: AuthFacts) -> bool:
    return auth.imperative and conf.current().permission_checks


def _shows_undecided() -> bool:
    return conf.current().undecided == "show"
