"""Fixtures of kind ranked-search: tools, a query and a ranker's answer -> names in order, and what was dropped."""

from typing import Any

from sezzlee_mcp.search import Audience, Ranking, is_ranked, narrow, rank, read_ranking
from tests.conformance.search import NO_LIMIT, index_of


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given = fixture["input"]
    index = index_of(given["tools"])
    try:
        ranking, is_fallback = read_ranking(given["rankerAnswer"], index.tags), False
    except ValueError:
        ranking, is_fallback = Ranking(names=rank(index, given["query"])), True
    if not is_ranked(given["query"]):
        ranking, is_fallback = Ranking(names=rank(index, given["query"])), False
    found = narrow(
        index,
        Audience.of(index, frozenset(index.names)),
        ranking.names,
        tags=given.get("tags") or (),
        limit=given.get("limit", NO_LIMIT),
    )
    dropped = {"unknown": list(ranking.unknown), "duplicate": list(ranking.repeated)}
    return {
        "names": list(found.names),
        "fallback": is_fallback,
        **{key: names for key, names in dropped.items() if names},
    }, fixture["expected"]
