"""Descriptors + curation -> tools (tools.md). Pure: imports neither Django nor DRF."""

from sezzlee_mcp.catalog.changes import Change, ChangeClass, Side, changes_between
from sezzlee_mcp.catalog.compile import Candidate, compile_catalog
from sezzlee_mcp.catalog.curation import (
    ArgumentRecord,
    ArgumentRule,
    Curation,
    Fill,
    FillKind,
    OperationCuration,
    PrefixMode,
    SelectionRule,
    Variant,
    VisibilityPolicy,
)
from sezzlee_mcp.catalog.names import Name, Naming, name_operations
from sezzlee_mcp.catalog.resolution import Resolved, resolve
from sezzlee_mcp.catalog.selection import Selection, select
from sezzlee_mcp.catalog.sources import Source, Value
from sezzlee_mcp.catalog.tools import BodyTemplate, Exposed, Member, SearchDocument, Slot, Template, Tool
from sezzlee_mcp.catalog.visibility import Answer, Decision, Identity, decide

__all__ = [
    "Answer",
    "ArgumentRecord",
    "ArgumentRule",
    "BodyTemplate",
    "Candidate",
    "Change",
    "ChangeClass",
    "Curation",
    "Decision",
    "Exposed",
    "Fill",
    "FillKind",
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
    "Side",
    "Slot",
    "Source",
    "Template",
    "Tool",
    "Value",
    "Variant",
    "VisibilityPolicy",
    "changes_between",
    "compile_catalog",
    "decide",
    "name_operations",
    "resolve",
    "select",
]
