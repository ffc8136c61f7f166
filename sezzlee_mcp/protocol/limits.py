"""How much of a message is read at all; reading more takes time that grows with it."""

from dataclasses import dataclass

from sezzlee_mcp.protocol.jsonrpc import MAX_LEVELS


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    ``levels`` of arrays and objects within each other in a body, at most ``MAX_LEVELS``.

    ``search_chars``: characters of a search's query, and of its tags together.
    """

    levels: int = MAX_LEVELS
    search_chars: int = 2_000
