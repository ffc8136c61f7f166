"""Ranked names -> what one caller gets of them (search.md, "After ranking, in this order")."""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from itertools import islice
from typing import Self

from sezzlee_mcp.folding import fold
from sezzlee_mcp.search.bm25 import rank
from sezzlee_mcp.search.index import Index

TAG_VOCABULARY_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """
    The part of a catalog that one caller may see, the same for all of their searches.

    ``tags`` is its folded tag vocabulary by code point; None when it is empty or over ``TAG_VOCABULARY_LIMIT``,
    since a shortened list would deny tags that exist.
    """

    names: Set[str]
    tags: tuple[str, ...] | None

    @classmethod
    def of(cls, index: Index, names: Set[str]) -> Self:
        """The audience of a caller who may see exactly the tools ``names``, all of which the index knows."""
        tags = {tag for carried in {index.tags[name] for name in names} for tag in carried}
        return cls(names=names, tags=tuple(sorted(tags)) if 0 < len(tags) <= TAG_VOCABULARY_LIMIT else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A search's answer before its results are rendered; ``total`` and ``tags`` are those of the audience."""

    names: tuple[str, ...]
    total: int
    tags: tuple[str, ...] | None


def find(index: Index, audience: Audience, query: str, *, tags: Iterable[str] = (), limit: int) -> Found:
    """The best ``limit`` tools for ``query`` that carry every one of ``tags`` and that the audience may see."""
    return narrow(index, audience, rank(index, query), tags=tags, limit=limit)


def narrow(index: Index, audience: Audience, ranked: Iterable[str], *, tags: Iterable[str] = (), limit: int) -> Found:
    """The same of names that are ranked already, all of which the index knows; their order stays."""
    wanted = {fold(tag) for tag in tags}
    shown = (name for name in ranked if wanted.issubset(index.tags[name]) and name in audience.names)
    return Found(names=tuple(islice(shown, limit)), total=len(audience.names), tags=audience.tags)
