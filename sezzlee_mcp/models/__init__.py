"""The rows of a catalog: facts from the document, staff's choices, and what was published of both."""

from sezzlee_mcp.models.operations import Diagnostic, Operation, Tag
from sezzlee_mcp.models.policies import SelectionRule
from sezzlee_mcp.models.revisions import Catalog, Revision, ToolContent

__all__ = ["Catalog", "Diagnostic", "Operation", "Revision", "SelectionRule", "Tag", "ToolContent"]
