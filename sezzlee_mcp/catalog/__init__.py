"""Descriptors + curation -> tools (tools.md). Pure: imports neither Django nor DRF."""

from sezzlee_mcp.catalog.compile import Candidate, compile_catalog
from sezzlee_mcp.catalog.curation import Curation, OperationCuration, PrefixMode, SelectionRule
from sezzlee_mcp.catalog.names import Name, Naming, name_operations
from sezzlee_mcp.catalog.resolution import Resolved, resolve
from sezzlee_mcp.catalog.selection import Selection, select
from sezzlee_mcp.catalog.sources import Source, Value
from sezzlee_mcp.catalog.tools import BodyTemplate, Member, SearchDocument, Slot, Template, Tool
from sezzlee_mcp.catalog.visibility import Answer, Decision, Identity, decide

__all__ = [
    "Answer",
    "BodyTemplate",
    "Candidate",
    "Curation",
    "Decision",
    "Identity",
    "Member",
    "Name",
    "Naming",
    "OperationCuration",
    "PrefixMode",
    "Resolved",
    "SearchDocument",
    "Selection",
    "SelectionRule",
    "Slot",
    "Source",
    "Template",
    "Tool",
    "Value",
    "compile_catalog",
    "decide",
    "name_operations",
    "resolve",
    "select",
]
