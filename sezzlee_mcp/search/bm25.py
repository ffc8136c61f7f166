"""Index -> the ranker of the contract: BM25 as search.md, "Match and score", fixes it."""

from collections.abc import Callable, Mapping
from functools import partial
from math import log

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search.builtin import BuiltInRanker
from sezzlee_mcp.search.index import WEIGHTS, Index, matches
from sezzlee_mcp.search.score import Gain, hits

K1 = 1.2
B = 0.75


def contract(index: Index) -> BuiltInRanker:
    """The ranker of the contract, over ``index``."""
    return BuiltInRanker(index.names, [gains(index)], partial(_explained, index))


def gains(index: Index) -> Callable[[str], dict[str, float]]:
    """What a query token gains each document that it matches, by the documents' names."""
    lengths = {name: document.total.weight for name, document in index.documents.items()}
    average = sum(lengths.values()) / max(len(lengths), 1) or 1.0
    dampings = {name: K1 * (1 - B + B * length / average) for name, length in lengths.items()}
    return partial(_gains, index, dampings)


def _gains(index: Index, dampings: Mapping[str, float], token: str) -> dict[str, float]:
    """``dampings`` is what BM25 adds to a frequency in each document for the document's length."""
    frequencies = index.frequencies(token)
    idf = _idf(index, len(frequencies))
    return {name: idf * (tf * (K1 + 1) / (tf + dampings[name])) for name, tf in frequencies.items()}


def _idf(index: Index, documents: int) -> float:
    """What a token is worth that so many documents match: the rarer, the more."""
    return log(1 + (len(index.names) - documents + 0.5) / (documents + 0.5))


def _explained(index: Index, token: str, document: SearchDocument, gain: float) -> Gain:
    documents = len(index.frequencies(token))
    return Gain(
        token=token,
        documents=documents,
        idf=_idf(index, documents),
        hits=hits(document, WEIGHTS, partial(matches, token)),
        gain=gain,
    )
