"""Staff's pages: choices are made here, and each saved one is published."""

from sezzlee_mcp.admin.aliases import ToolAliasAdmin
from sezzlee_mcp.admin.argument_rules import ArgumentRuleAdmin
from sezzlee_mcp.admin.cases import SearchCaseAdmin
from sezzlee_mcp.admin.catalog import CatalogAdmin
from sezzlee_mcp.admin.diagnostics import DiagnosticAdmin
from sezzlee_mcp.admin.operations import OperationAdmin
from sezzlee_mcp.admin.policies import SelectionRuleAdmin, TagAdmin, VisibilityPolicyAdmin
from sezzlee_mcp.admin.revisions import RevisionAdmin
from sezzlee_mcp.admin.uses import ToolUseAdmin, VainWordAdmin
from sezzlee_mcp.admin.variants import VariantAdmin

__all__ = [
    "ArgumentRuleAdmin",
    "CatalogAdmin",
    "DiagnosticAdmin",
    "OperationAdmin",
    "RevisionAdmin",
    "SearchCaseAdmin",
    "SelectionRuleAdmin",
    "TagAdmin",
    "ToolAliasAdmin",
    "ToolUseAdmin",
    "VainWordAdmin",
    "VariantAdmin",
    "VisibilityPolicyAdmin",
]
