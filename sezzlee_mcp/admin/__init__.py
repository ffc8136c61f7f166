"""Staff's pages: choices are made here, and each saved one is published."""

from sezzlee_mcp.admin.diagnostics import DiagnosticAdmin
from sezzlee_mcp.admin.operations import OperationAdmin
from sezzlee_mcp.admin.policies import SelectionRuleAdmin, TagAdmin
from sezzlee_mcp.admin.revisions import RevisionAdmin

__all__ = ["DiagnosticAdmin", "OperationAdmin", "RevisionAdmin", "SelectionRuleAdmin", "TagAdmin"]
