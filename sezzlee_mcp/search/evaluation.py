"""What searches answered + what would have been right -> how good the answers are."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import fsum
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One case under one ranker: how many tools were ``found``, and at which ``place`` from 1 the first right one."""

    found: int
    place: int | None

    def is_within(self, places: int) -> bool:
        return self.place is not None and self.place <= places


def judge(names: Sequence[str], right: Set[str]) -> Outcome:
    """The outcome of a search that answered ``names``, best first, where each of ``right`` would do."""
    places = (place for place, name in enumerate(names, start=1) if name in right)
    return Outcome(found=len(names), place=next(places, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """
    All cases under one ranker.

    ``recall_at_n`` is the share of cases with a right tool among the first n, ``mrr`` the mean of one over its place,
    which is 0 for a case without; ``empty`` counts the searches that found nothing at all.
    """

    cases: int
    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    mrr: float
    empty: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Self:
        """The scores of these outcomes; without any, all are 0."""
        number = len(outcomes) or 1
        recalls = [sum(outcome.is_within(places) for outcome in outcomes) / number for places in (1, 5, 10)]
        return cls(
            cases=len(outcomes),
            recall_at_1=recalls[0],
            recall_at_5=recalls[1],
            recall_at_10=recalls[2],
            mrr=fsum(1 / outcome.place for outcome in outcomes if outcome.place) / number,
            empty=sum(not outcome.found for outcome in outcomes),
        )

    def to_json(self) -> dict[str, Any]:
        """The members as reports name them, the shares with three decimals."""
        return {
            "cases": self.cases,
            "recall@1": round(self.recall_at_1, 3),
            "recall@5": round(self.recall_at_5, 3),
            "recall@10": round(self.recall_at_10, 3),
            "mrr": round(self.mrr, 3),
            "empty": self.empty,
        }


def differing(runs: Sequence[Sequence[Outcome]]) -> tuple[int, ...]:
    """
    The numbers of the cases that not all runs find at the same place.

    Each run holds the outcomes of the same cases in the same order: two rankers, or one at two generations.
    """
    return tuple(
        number for number, outcomes in enumerate(zip(*runs, strict=True)) if len({each.place for each in outcomes}) > 1
    )
