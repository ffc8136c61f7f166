"""A search that found nothing -> what to try instead (search.md, "Beyond the contract")."""

from collections.abc import Collection
from dataclasses import dataclass

from sezzlee_mcp.search.index import Index
from sezzlee_mcp.search.language import Language
from sezzlee_mcp.search.ranker import is_ranked
from sezzlee_mcp.search.results import Audience
from sezzlee_mcp.search.spelling import near_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """Words that do occur and are near those of the query, the nearest first, and what to try, in one sentence."""

    words: tuple[str, ...]
    message: str


def suggest(index: Index, language: Language, audience: Audience, query: str, tags: Collection[str]) -> Suggestions:
    """What a caller who found nothing by ``query`` and ``tags`` may try; it tells no more than they can find."""
    words = near_words(query, index, audience.certain, language.synonyms)
    return Suggestions(words=words, message=_message(audience, words, query, tags))


def _message(audience: Audience, words: Collection[str], query: str, tags: Collection[str]) -> str:
    if not audience.names or not (tags or is_ranked(query)):
        return (
            "No tool is visible to this caller; "
            "call as a user who may use some, or ask who runs this server to expose some."
        )
    if tags:
        known = " or choose among the answer's `tags`" if audience.tags else ""
        return f"No tool that fits the query carries every one of these tags; search without them{known}."
    if words:
        return "No tool has any word of the query; try one of `words`, or name the thing that it is about differently."
    return 'No tool has any word of the query; name the thing that it is about differently, or list all with query "".'
