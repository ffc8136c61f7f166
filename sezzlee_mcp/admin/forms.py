"""Forms that compile before they save: what an edit would lose is refused beside its field (publishing.md)."""

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.admin import candidates, origins
from sezzlee_mcp.diagnostics import Diagnostic
from sezzlee_mcp.folding import fold
from sezzlee_mcp.models import Operation, SelectionRule, Tag
from sezzlee_mcp.publishing import Draft, draft_with

if TYPE_CHECKING:
    OperationModelForm = forms.ModelForm[Operation]
    RuleModelForm = forms.ModelForm[SelectionRule]
    TagModelForm = forms.ModelForm[Tag]
else:
    OperationModelForm = RuleModelForm = TagModelForm = forms.ModelForm

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "QUERY")

# The field that can mend what a loss of the edited operation names; the others came with its exposure.
_MENDING_FIELDS = {"invalid_name": "name", "name_collision": "name"}


class SearchTermsField(forms.CharField):
    """A list of texts, typed one a line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = (line.strip() for line in (super().to_python(value) or "").splitlines())
        return [line for line in lines if line]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


class OperationForm(OperationModelForm):
    """A sound form holds the ``draft`` of the catalog that saving it makes."""

    search_terms = SearchTermsField(label=_("Search terms"), required=False)
    note = forms.CharField(
        label=_("Note"),
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        help_text=_("Why you change this. It is kept with the revision."),
    )

    class Meta:
        model = Operation
        fields = (
            "exposure",
            "name",
            "title",
            "description",
            "overrides_tags",
            "tags",
            "overrides_search_terms",
            "search_terms",
        )
        help_texts = {
            "overrides_tags": _("The chosen tags replace all others; choose none, and the tool has none."),
            "overrides_search_terms": _("The typed terms replace all others; type none, and the tool has none."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields = origins.of(self.instance)
        for name, resolved_name in origins.RESOLVED_FIELDS.items():
            if name in self.fields:
                self.fields[name].help_text = origins.origin(getattr(fields, resolved_name))

    def clean_description(self) -> str:
        description: str = self.cleaned_data["description"]
        return description.replace("\r\n", "\n")  # what a browser sends for a line end is not what agents should read

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            self.draft = self._draft(cleaned)
            losses = candidates.new_losses(self.draft, [self.instance.key])
            _add_losses(self, losses, self.instance.key)
        return cleaned

    def _draft(self, cleaned: dict[str, Any]) -> Draft:
        edited = copy(self.instance)
        for name, value in cleaned.items():
            if name not in ("tags", "note"):
                setattr(edited, name, value)
        return draft_with(edited, tuple(tag.name for tag in cleaned["tags"]))


class SelectionRuleForm(RuleModelForm):
    method = forms.ChoiceField(
        label=_("Method"), required=False, choices=[("", _("every method")), *((name, name) for name in METHODS)]
    )

    class Meta:
        model = SelectionRule
        fields = ("route", "method", "decision", "note")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["method"] = self.instance.method.upper()

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            edited = SelectionRule(pk=self.instance.pk, **cleaned)
            _add_losses(self, candidates.losses_of_rule(edited))
        return cleaned


class TagForm(TagModelForm):
    class Meta:
        model = Tag
        fields = ("name", "description")

    def clean_name(self) -> str:
        # The constraint is on a field that no form has, so no form validates it.
        name: str = self.cleaned_data["name"]
        folded = fold(name)
        if not folded.strip():
            raise ValidationError(_("Nothing is left of this name once accents are ignored."), code="empty_tag")
        if Tag.objects.filter(folded=folded).exclude(pk=self.instance.pk).exists():
            message = _("There is already a tag that reads the same once case and accents are ignored.")
            raise ValidationError(message, code="duplicate_tag")
        return name


def _add_losses(form: forms.BaseForm, losses: Iterable[Diagnostic], edited: str | None = None) -> None:
    for loss in losses:
        if loss.operation == edited:
            form.add_error(_MENDING_FIELDS.get(loss.code, "exposure"), ValidationError(loss.message, code=loss.code))
        else:
            form.add_error(None, ValidationError(f"{loss.operation}: {loss.message}", code=loss.code))
