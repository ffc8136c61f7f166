"""What an edit would publish, and what it would lose, before it is saved (publishing.md)."""

from collections.abc import Iterable
from dataclasses import replace

from sezzlee_mcp import publishing
from sezzlee_mcp.diagnostics import Diagnostic
from sezzlee_mcp.models import Diagnostic as DiagnosticRow
from sezzlee_mcp.models import Operation, SelectionRule


def draft_of_operations(operations: Iterable[Operation]) -> publishing.Draft:
    """The catalog as it would be with the unsaved choices of these operations, whose tags are saved."""
    inputs = publishing.read_inputs()
    edited = {operation.key: operation.to_curation() for operation in operations}
    curation = replace(inputs.curation, operations={**inputs.curation.operations, **edited})
    return publishing.compile_draft(replace(inputs, curation=curation))


def losses_of_rule(rule: SelectionRule) -> list[Diagnostic]:
    """What an unsaved selection rule, new or changed, would newly drop of what is published."""
    inputs = publishing.read_inputs()
    rules = list(inputs.curation.rules)
    if stored := SelectionRule.objects.filter(pk=rule.pk).first():
        rules.remove(stored.to_rule())
    curation = replace(inputs.curation, rules=(*rules, rule.to_rule()))
    return new_losses(publishing.compile_draft(replace(inputs, curation=curation)), ())


def new_losses(draft: publishing.Draft, edited: Iterable[str]) -> list[Diagnostic]:
    """
    The losses of a draft that are not there already.

    An operation that is no tool, for a reason that the document gives, can still be edited.
    """
    losses = publishing.losses(draft, edited)
    stored = DiagnosticRow.objects.filter(
        stage=DiagnosticRow.Stage.CATALOG, key__in={loss.operation for loss in losses}
    )
    known = set(stored.values_list("key", "code", "message"))
    return [loss for loss in losses if (loss.operation, loss.code, loss.message) not in known]
