"""The rows of a catalog: facts from the document, staff's choices, and what was published of both."""

from sezzlee_mcp.models.aliases import ToolAlias
from sezzlee_mcp.models.cases import SearchCase
from sezzlee_mcp.models.curation import ArgumentCuration, ArgumentRule, Variant
from sezzlee_mcp.models.operations import Diagnostic, Operation, Tag
from sezzlee_mcp.models.policies import SelectionRule, VisibilityPolicy
from sezzlee_mcp.models.revisions import Catalog, Revision, ToolContent
from sezzlee_mcp.models.syncs import RequestedSync
from sezzlee_mcp.models.uses import ToolUse
from sezzlee_mcp.models.vain_words import VainWord

__all__ = [
    "ArgumentCuration",
    "ArgumentRule",
    "Catalog",
    "Diagnostic",
    "Operation",
    "RequestedSync",
    "Revision",
    "SearchCase",
    "SelectionRule",
    "Tag",
    "ToolAlias",
    "ToolContent",
    "ToolUse",
    "VainWord",
    "Variant",
    "VisibilityPolicy",
]
