"""Query -> ranked names, and cards (search.md). Pure: imports neither Django nor DRF."""

from sezzlee_mcp.search.builtin import BuiltInRanker
from sezzlee_mcp.search.cards import card, detail
from sezzlee_mcp.search.cases import Case, CasesUnreadable, read_cases, write_cases
from sezzlee_mcp.search.evaluation import Outcome, Scores, differing, judge
from sezzlee_mcp.search.index import DocumentTokens, Field, Index, weigh
from sezzlee_mcp.search.language import Language
from sezzlee_mcp.search.ranker import RANKERS, Ranking, is_ranked, read_ranking
from sezzlee_mcp.search.results import Audience, Found, Order, Ranked, narrow
from sezzlee_mcp.search.score import Gain, Hit, Score
from sezzlee_mcp.search.spelling import corrected_query
from sezzlee_mcp.search.suggestions import Suggestions, suggest
from sezzlee_mcp.search.synonyms import Synonyms
from sezzlee_mcp.search.verbs import KINDS, Verbs

__all__ = [
    "KINDS",
    "RANKERS",
    "Audience",
    "BuiltInRanker",
    "Case",
    "CasesUnreadable",
    "DocumentTokens",
    "Field",
    "Found",
    "Gain",
    "Hit",
    "Index",
    "Language",
    "Order",
    "Outcome",
    "Ranked",
    "Ranking",
    "Score",
    "Scores",
    "Suggestions",
    "Synonyms",
    "Verbs",
    "card",
    "corrected_query",
    "detail",
    "differing",
    "is_ranked",
    "judge",
    "narrow",
    "read_cases",
    "read_ranking",
    "suggest",
    "weigh",
    "write_cases",
]
