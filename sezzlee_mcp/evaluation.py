"""Search cases -> what every ranker makes of them in a generation, as their users would see it."""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from django.utils.translation import gettext as _

from sezzlee_mcp import ranking
from sezzlee_mcp.caller_cache import Known, KnownToAll
from sezzlee_mcp.callers import as_user, users_named
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.models import Operation, ToolContent
from sezzlee_mcp.protocol.metatools import LIMIT_DEFAULT
from sezzlee_mcp.ranking import Ranker
from sezzlee_mcp.search import Audience, Case, Outcome, Ranked, Ranking, Scores, differing, judge, narrow
from sezzlee_mcp.sight import Sight
from sezzlee_mcp.snapshots import Snapshot

logger = logging.getLogger("sezzlee_mcp")

PLACES = 5  # what stands behind them an agent may not come to
NEAR = 0.8  # how alike an operation has to be, from 0 to 1, to be what was meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """
    What one ranker made of the cases in one generation.

    ``outcomes`` are those of the cases in their order; there are none when the ranker failed, and ``error`` says how.
    """

    generation: int
    ranker: str
    outcomes: tuple[Outcome, ...] = ()
    error: str = ""

    @property
    def scores(self) -> Scores:
        return Scores.of(self.outcomes)

    def place(self, number: int) -> int | None:
        """Where the case's first right tool is; None when that is nowhere."""
        return self.outcomes[number].place if self.outcomes else None


def remarkable_cases(runs: Sequence[Run]) -> tuple[int, ...]:
    """The numbers of the cases that a run does not find among the first ``PLACES``, or not where the others do."""
    judged = [run.outcomes for run in runs if run.outcomes]
    missed = {number for outcomes in judged for number, outcome in enumerate(outcomes) if not outcome.is_within(PLACES)}
    return tuple(sorted(missed.union(differing(judged))))


class Evaluation:
    """
    Cases against some generations.

    ``unknown`` says by the number of a case why it cannot be run, under ``user`` or ``expected``: what that names does
    not exist. An operation that exists and is no tool is merely found by nobody, as a hidden one is by its user.
    """

    def __init__(self, cases: Sequence[Case], snapshots: Sequence[Snapshot]) -> None:
        self.cases = tuple(cases)
        self._users = users_named({case.user for case in cases if case.user})
        self._catalogs = [_Catalog(snapshot) for snapshot in snapshots]
        operations = frozenset(Operation.objects.values_list("key", flat=True))
        self._known = operations.union(*(catalog.known for catalog in self._catalogs))
        self.unknown = {number: said for number, case in enumerate(self.cases) if (said := self._unknown(case))}

    @property
    def sound(self) -> tuple[Case, ...]:
        """The cases that can be run."""
        return tuple(case for number, case in enumerate(self.cases) if number not in self.unknown)

    def runs(self) -> list[Run]:
        """
        Each ranker's run of the sound cases in each generation.

        A search is what an agent's is that sets no limit: ranking, tag filter, visibility, and the first tools of it.
        """
        return [
            self._run(catalog, name, ranker) for catalog in self._catalogs for name, ranker in ranking.rankers().items()
        ]

    def out_of_sight(self) -> tuple[int, ...]:
        """The numbers, among the sound cases, of those that no ranker can find in the first of the generations."""
        catalog = self._catalogs[0]
        return tuple(
            number
            for number, case in enumerate(self.sound)
            if not catalog.shown(
                case, Ranking(names=tuple(sorted(catalog.right(case)))).order, self._users.get(case.user)
            )
        )

    def _run(self, catalog: "_Catalog", name: str, ranker: Ranker) -> Run:
        generation = catalog.snapshot.generation
        try:
            ranked = [ranker(catalog.snapshot, case.query) for case in self.sound]
        except Exception as error:  # an edge: the ranker may be the host's
            logger.warning("The ranker %s failed.", name, exc_info=error)
            return Run(generation=generation, ranker=name, error=f"{type(error).__name__}: {error}")
        outcomes = (
            judge(catalog.shown(case, names, self._users.get(case.user)), catalog.right(case))
            for case, names in zip(self.sound, ranked, strict=True)
        )
        return Run(generation=generation, ranker=name, outcomes=tuple(outcomes))

    def _unknown(self, case: Case) -> dict[str, str]:
        no_user = "" if case.user in {"", *self._users} else _("There is no user %(name)r.") % {"name": case.user}
        missing = [each for each in case.expected if each not in self._known and not self._is_renamed(each)]
        no_operation = " ".join(_no_operation(each, self._known) for each in missing)
        return {member: said for member, said in (("user", no_user), ("expected", no_operation)) if said}

    def _is_renamed(self, name: str) -> bool:
        return any(catalog.snapshot.find(name) for catalog in self._catalogs)


class _Catalog:
    """One generation, and what is found out about users who see it: for this evaluation alone, and nothing older."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._names_by_key = _names_by_key(snapshot)
        self._everything = Audience.of(snapshot.index, snapshot.entries.keys())
        self._to_all = KnownToAll(snapshot=snapshot)
        self._known: dict[str, Known] = {}

    @property
    def known(self) -> frozenset[str]:
        """What a case can expect: operations by their keys, tools by their names."""
        return frozenset((*self._names_by_key, *self.snapshot.entries))

    def right(self, case: Case) -> frozenset[str]:
        """The names of the tools that a case would have; an old name counts while agents may use it."""
        tools = {tool.name for each in case.expected if (tool := self.snapshot.find(each))}
        return frozenset(tools).union(*(self._names_by_key.get(each, ()) for each in case.expected))

    def shown(self, case: Case, ranked: Ranked, user: Any) -> tuple[str, ...]:
        if user is None:
            found = narrow(self.snapshot.index, self._everything, ranked, tags=case.tags, limit=LIMIT_DEFAULT)
        else:
            known = self._known.setdefault(case.user, Known(generation=self._to_all))
            found = Sight(as_user(user), self.snapshot, known).found(ranked, tags=case.tags, limit=LIMIT_DEFAULT)
        return found.names


def _names_by_key(snapshot: Snapshot) -> Mapping[str, Collection[str]]:
    """The tools that call an operation, by its key and by the key of each route that was folded into it."""
    digests = [entry.digest for entry in snapshot.entries.values()]
    rows = ToolContent.objects.filter(digest__in=digests).values_list("name", "operation_key", "document")
    names: defaultdict[str, set[str]] = defaultdict(set)
    for name, key, document in rows:
        method = key.partition(" ")[0]
        for folded in SearchDocument.from_json(document).alternate_routes:
            names[f"{method} {folded}"].add(name)
        names[key].add(name)
    return names


def _no_operation(given: str, known: Iterable[str]) -> str:
    near = get_close_matches(given, known, n=1, cutoff=NEAR)
    said = [_("There is no operation or tool %(name)r.") % {"name": given}]
    said += [_("Did you mean %(name)r?") % {"name": name} for name in near]
    return " ".join(said)
