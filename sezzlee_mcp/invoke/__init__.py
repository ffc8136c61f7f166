"""Arguments -> request, answer -> envelope (invoke.md, results.md). Pure: imports neither Django nor DRF."""

from sezzlee_mcp.invoke.budget import described, narrowing
from sezzlee_mcp.invoke.compose import ComposeContext, ComposedRequest, attach, compose
from sezzlee_mcp.invoke.envelope import ToolResult, emit
from sezzlee_mcp.invoke.fields import Naming
from sezzlee_mcp.invoke.files import FileArgument, FileContent
from sezzlee_mcp.invoke.outcomes import BackendResponse, CallFacts, Recognizer, map_response
from sezzlee_mcp.invoke.pages import PagedCall
from sezzlee_mcp.invoke.recognizers import Problem

__all__ = [
    "BackendResponse",
    "CallFacts",
    "ComposeContext",
    "ComposedRequest",
    "FileArgument",
    "FileContent",
    "Naming",
    "PagedCall",
    "Problem",
    "Recognizer",
    "ToolResult",
    "attach",
    "compose",
    "described",
    "emit",
    "map_response",
    "narrowing",
]
