"""Rules over the arguments of many operations, and what one would change before it is saved."""

from dataclasses import dataclass
from typing import Any, Self

from django import forms
from django.contrib import admin
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.admin import candidates
from sezzlee_mcp.admin.bases import PublishingAdmin, listed
from sezzlee_mcp.admin.forms import HidingForm, PublishingForm, check_constant
from sezzlee_mcp.models import ArgumentRule
from sezzlee_mcp.publishing import Draft, Inputs

TOOLS_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """
    What a rule changes, beside the same catalog without it.

    ``tools`` are the first of the tools it touches, each with the names of its arguments that it touches.
    """

    operations: int
    arguments: int
    saved_bytes: int
    tools: tuple[tuple[str, str], ...]
    other_tools: int

    @classmethod
    def between(cls, without: Draft, ruled: Draft) -> Self:
        before, after = without.candidate.by_name, ruled.candidate.by_name
        changed = [
            name for name in sorted(before.keys() & after.keys()) if without.contents[name] != ruled.contents[name]
        ]
        touched = {name: _touched(before[name].loaded, after[name].loaded) for name in changed}
        touched = {name: arguments for name, arguments in touched.items() if arguments}
        return cls(
            operations=len({before[name].operation for name in touched}),
            arguments=sum(map(len, touched.values())),
            saved_bytes=sum(before[name].loaded_bytes - after[name].loaded_bytes for name in touched),
            tools=tuple((name, ", ".join(touched[name])) for name in list(touched)[:TOOLS_SHOWN]),
            other_tools=max(0, len(touched) - TOOLS_SHOWN),
        )


class ArgumentRuleForm(HidingForm, PublishingForm):
    class Meta:
        model = ArgumentRule
        fields = ("route", "argument", "location", "hidden", "constant", "description", "prefix", "note")
        widgets = {
            "constant": forms.Textarea(attrs={"rows": 2, "cols": 60}),
            "description": forms.Textarea(attrs={"rows": 3, "cols": 60}),
        }
        help_texts = {
            "route": _("A glob: * matches inside a path segment, ** across segments. Empty matches every route."),
            "argument": _("A glob over the names that the backend reads, such as *__in."),
            "hidden": _("A required argument is hidden by a constant only."),
            "constant": _("JSON: a text stands in quotes, and null is a value."),
            "description": _("Replaces the description of every argument that matches."),
            "prefix": _("Stands before the name of every argument that matches, for agents."),
        }

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if "constant" not in self.errors:
            check_constant(self, cleaned.get("hidden") == ArgumentRule.Hidden.CONSTANT)
        return cleaned

    def compiled(self, inputs: Inputs) -> Draft:
        return candidates.draft_of_argument_rule(self.instance, inputs)


@admin.register(ArgumentRule)
class ArgumentRuleAdmin(PublishingAdmin):
    form = ArgumentRuleForm
    list_display = ("argument", "route", "location", "says", "note")
    list_filter = ("location", "hidden")
    search_fields = ("argument", "route", "note", "description")
    fieldsets = (
        (_("Which arguments"), {"fields": ("route", "argument", "location")}),
        (_("What holds for them: one of these"), {"fields": ("hidden", "constant", "description", "prefix")}),
        (None, {"fields": ("note",)}),
    )

    def touched(self, form: Any) -> SafeString:
        """What the rule does beside the same catalog without it, since a part of that may be published."""
        effect = Effect.between(candidates.draft_without_argument_rule(form.instance, form.stored), form.draft)
        return render_to_string("admin/sezzlee_mcp/argumentrule/effect.html", {"effect": effect})

    @admin.display(description=_("says"))
    def says(self, rule: ArgumentRule) -> str:
        return rule.get_hidden_display() or listed(rule.description) or f"{rule.prefix}…"


def _touched(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The arguments that are gone, described otherwise, or of another name."""
    old, new = before["inputSchema"]["properties"], after["inputSchema"]["properties"]
    return [name for name, schema in old.items() if name not in new or new[name] != schema]
