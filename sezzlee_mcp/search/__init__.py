"""Query -> ranked names, and cards (search.md). Pure: imports neither Django nor DRF."""

from sezzlee_mcp.search.bm25 import rank
from sezzlee_mcp.search.cards import card, detail
from sezzlee_mcp.search.index import DocumentTokens, Index, weigh
from sezzlee_mcp.search.ranker import Ranking, is_ranked, read_ranking
from sezzlee_mcp.search.results import Audience, Found, find, narrow

__all__ = [
    "Audience",
    "DocumentTokens",
    "Found",
    "Index",
    "Ranking",
    "card",
    "detail",
    "find",
    "is_ranked",
    "narrow",
    "rank",
    "read_ranking",
    "weigh",
]
