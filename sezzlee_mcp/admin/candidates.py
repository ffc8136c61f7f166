"""What an edit would publish, and what it would lose, beside the rows as they are read (publishing.md)."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sezzlee_mcp import publishing
from sezzlee_mcp.catalog import curation
from sezzlee_mcp.models import ArgumentRule, Operation, SelectionRule, Tag, ToolAlias, VisibilityPolicy
from sezzlee_mcp.publishing import Draft, Inputs


def draft_of_selection_rule(rule: SelectionRule, inputs: Inputs) -> Draft:
    """The catalog as it would be with an unsaved selection rule, new or changed."""
    others = tuple(row.to_rule() for row in SelectionRule.objects.exclude(pk=rule.pk))
    return _draft(inputs, rules=(*others, *publishing.setting_rules(), rule.to_rule()))


def draft_of_policy(policy: VisibilityPolicy, operations: Iterable[Operation], inputs: Inputs) -> Draft:
    """The catalog as it would be with an unsaved visibility policy, new or changed, that names these operations."""
    others = tuple(row.to_policy() for row in VisibilityPolicy.objects.exclude(pk=policy.pk).with_operations())
    return _draft(inputs, policies=(*others, policy.policy_with(operations)))


def draft_of_tag(tag: Tag, inputs: Inputs) -> Draft:
    """The catalog as it would be with an unsaved tag: a new one is carried by nothing, another name by its tools."""
    for operation in inputs.rows.values() if tag.pk else ():
        for carried in operation.tags.all():
            if carried.pk == tag.pk:
                carried.name, carried.folded = tag.name, tag.folded
    return publishing.draft_with({key: operation.to_curation() for key, operation in inputs.rows.items()}, inputs)


def draft_of_argument_rule(rule: ArgumentRule, inputs: Inputs) -> Draft:
    """The catalog as it would be with an unsaved argument rule, new or changed."""
    return _draft(inputs, argument_rules=(*_other_argument_rules(rule), rule.to_rule()))


def draft_without_argument_rule(rule: ArgumentRule, inputs: Inputs) -> Draft:
    """The catalog of the same inputs as it would be if there were no such rule."""
    return _draft(inputs, argument_rules=_other_argument_rules(rule))


def draft_of_alias(alias: ToolAlias, inputs: Inputs) -> Draft:
    """The catalog as it would be with an alias that ends on another day."""
    moved = replace(inputs.aliases[alias.name], until=alias.until)
    return publishing.compile_draft(replace(inputs, aliases={**inputs.aliases, alias.name: moved}))


def _other_argument_rules(rule: ArgumentRule) -> tuple[curation.ArgumentRule, ...]:
    return tuple(row.to_rule() for row in ArgumentRule.objects.exclude(pk=rule.pk))


def _draft(inputs: Inputs, **said: Any) -> Draft:
    """The catalog as it would be if the curation ``said`` something else."""
    return publishing.compile_draft(replace(inputs, curation=replace(inputs.curation, **said)))
