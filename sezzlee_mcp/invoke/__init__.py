"""Arguments -> request, answer -> envelope (invoke.md, results.md). Pure: imports neither Django nor DRF."""

from sezzlee_mcp.invoke.budget import described, narrowing
from sezzlee_mcp.invoke.compose import ComposedRequest, compose
from sezzlee_mcp.invoke.envelope import ToolResult, emit
from sezzlee_mcp.invoke.fields import Naming
from sezzlee_mcp.invoke.outcomes import BackendResponse, CallFacts, map_response

__all__ = [
    "BackendResponse",
    "CallFacts",
    "ComposedRequest",
    "Naming",
    "ToolResult",
    "compose",
    "described",
    "emit",
    "map_response",
    "narrowing",
]
