"""The built-in rankers, and what a host's own answered -> names that can be used (search.md, "Replaceable ranker")."""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.search.bm25 import contract
from sezzlee_mcp.search.builtin import BuiltInRanker
from sezzlee_mcp.search.fielded import fielded
from sezzlee_mcp.search.index import Index
from sezzlee_mcp.search.language import Language
from sezzlee_mcp.search.results import Order
from sezzlee_mcp.search.tokens import tokenize

# By its name, what makes a ranker of an index, for the language that agents search in.
RANKERS: Mapping[str, Callable[[Index, Language], BuiltInRanker]] = {
    "contract": lambda index, language: contract(index),
    "fielded": fielded,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """
    A ranker's names in its order, each once.

    ``unknown`` are dropped names that no tool has, ``repeated`` those that it named more than once.
    """

    names: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()

    def order(self, certain: Set[str]) -> Order:
        """The same order whoever asks."""
        return Order(among=self._among)

    def _among(self, names: Container[str]) -> Iterator[str]:
        return (name for name in self.names if name in names)


def is_ranked(query: str) -> bool:
    """Whether there is anything to rank by; a query without a token lists every tool."""
    return bool(tokenize(query))


def read_ranking(answer: Any, known: Container[str]) -> Ranking:
    """
    The ranking that an answer stands for; an empty one is an answer too: no tool fits.

    ValueError, with the kind that arrived, for anything but a list of names. One entry that is none spoils the whole.
    """
    if not isinstance(answer, list | tuple):
        raise ValueError(f"it answered with a {type(answer).__name__}, not with a list of names")
    for item in answer:
        if not isinstance(item, str):
            raise ValueError(f"its list holds a {type(item).__name__}, where every item has to be a name")
    times = Counter(answer)  # in the order of the first occurrences
    return Ranking(
        names=tuple(name for name in times if name in known),
        unknown=tuple(name for name in times if name not in known),
        repeated=tuple(name for name in times if times[name] > 1 and name in known),
    )
