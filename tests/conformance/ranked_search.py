"""Fixtures of kind ranked-search: tools, a query and a ranker's answer -> names in order, and what was dropped."""

from functools import partial
from typing import Any

from sezzlee_mcp.search import Audience, is_ranked, narrow, read_ranking
from sezzlee_mcp.search.bm25 import contract
from tests.conformance.search import NO_LIMIT, index_of


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given = fixture["input"]
    index = index_of(given["tools"])
    ranked, is_fallback, dropped = partial(contract(index).order, given["query"]), False, {}
    if is_ranked(given["query"]):
        try:
            ranking = read_ranking(given["rankerAnswer"], index.documents)
        except ValueError:
            is_fallback = True
        else:
            ranked = ranking.order
            dropped = {"unknown": list(ranking.unknown), "duplicate": list(ranking.repeated)}
    found = narrow(
        index,
        Audience.of(index, index.documents.keys()),
        ranked,
        tags=given.get("tags") or (),
        limit=given.get("limit", NO_LIMIT),
    )
    return {
        "names": list(found.names),
        "fallback": is_fallback,
        **{key: names for key, names in dropped.items() if names},
    }, fixture["expected"]
