"""Ranked names -> what one caller gets of them (search.md, "After ranking, in this order")."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import Self

from sezzlee_mcp.folding import fold
from sezzlee_mcp.search.index import Index

TAG_VOCABULARY_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """
    What a query finds.

    ``among`` gives those of some names that it finds, best first: what is not asked for is not worth putting in order.
    ``corrected`` are words of the query as they were typed, each with the word that was searched for beside it.
    """

    among: Callable[[Set[str]], Iterable[str]]
    corrected: Mapping[str, str] = field(default_factory=dict)


# What a query finds, where its caller certainly sees these names: it tells of no other tool's words.
Ranked = Callable[[Set[str]], Order]


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Audience:
    """
    The part of a catalog that one caller may see, the same for all of their searches.

    ``certain`` are those of the ``names`` that no view's own check may still hide. ``tags`` is its folded tag
    vocabulary by code point; None when it is empty or over ``TAG_VOCABULARY_LIMIT``, since a shortened list would deny
    tags that exist.
    """

    names: Set[str]
    certain: Set[str]
    tags: tuple[str, ...] | None

    @classmethod
    def of(cls, index: Index, names: Set[str], certain: Set[str] | None = None) -> Self:
        """The audience of a caller who may see exactly the tools ``names``, all of which the index knows."""
        tags = sorted(tag for tag, carriers in index.tagged.items() if not carriers.isdisjoint(names))
        return cls(
            names=names,
            certain=names if certain is None else certain,
            tags=tuple(tags) if 0 < len(tags) <= TAG_VOCABULARY_LIMIT else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A search's answer before its results are rendered; ``total`` and ``tags`` are those of the audience."""

    names: tuple[str, ...]
    total: int
    tags: tuple[str, ...] | None
    corrected: Mapping[str, str] = field(default_factory=dict)


def narrow(
    index: Index,
    audience: Audience,
    ranked: Ranked,
    *,
    tags: Iterable[str] = (),
    limit: int,
    admitted: Callable[[Iterable[str]], Iterator[str]] = iter,
) -> Found:
    """
    The best ``limit`` tools of a ranking that carry every one of ``tags`` and that the audience may see.

    The ranking's order stays. ``admitted`` has the last word: it is asked about no more names than it takes.
    """
    order = ranked(audience.certain)
    names = audience.names
    for tag in {fold(tag) for tag in tags}:
        names = names & index.tagged.get(tag, frozenset())
    return Found(
        names=tuple(islice(admitted(order.among(names)), limit)),
        total=len(audience.names),
        tags=audience.tags,
        corrected=order.corrected,
    )
