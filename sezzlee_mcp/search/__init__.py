"""Query -> ranked names, and cards (search.md). Pure: imports neither Django nor DRF."""

from sezzlee_mcp.search.bm25 import rank
from sezzlee_mcp.search.cards import card, detail
from sezzlee_mcp.search.index import DocumentTokens, Index, weigh
from sezzlee_mcp.search.results import Audience, Found, find

__all__ = ["Audience", "DocumentTokens", "Found", "Index", "card", "detail", "find", "rank", "weigh"]
