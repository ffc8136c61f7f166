"""Forms that compile before they save: what an edit would lose is refused beside its field (publishing.md)."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.admin import candidates, origins, refusals, versions
from sezzlee_mcp.catalog.curation import ArgumentRecord, FillKind, OperationCuration
from sezzlee_mcp.folding import fold
from sezzlee_mcp.models import ArgumentCuration, Operation, SelectionRule, Tag, ToolAlias, Variant, VisibilityPolicy
from sezzlee_mcp.models.fields import NULL_TYPED, validate_texts
from sezzlee_mcp.models.hints import HINTS
from sezzlee_mcp.models.policies import METHODS
from sezzlee_mcp.publishing import Draft, Inputs, draft_with, new_losses, read_inputs

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Any]
else:
    ModelForm = forms.ModelForm

PREVIEW = "_preview"  # the name of the button


class LinesField(forms.CharField):
    """A list of texts, typed one a line."""

    default_validators = [validate_texts]
    widget = forms.Textarea(attrs={"rows": 4})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = (line.strip() for line in (super().to_python(value) or "").splitlines())
        return [line for line in lines if line]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


class MultilineField(forms.CharField):
    """A text without the carriage returns that a browser sends: agents should not read them, and they are no change."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return text.replace("\r\n", "\n") if text else text


FORM_FIELDS: Mapping[Any, Mapping[str, Any]] = {models.TextField: {"form_class": MultilineField}}


class HidingForm(ModelForm):
    """A form of what describes arguments or hides them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.hidden == FillKind.CONSTANT and self.instance.constant is None:
            self.initial["constant"] = NULL_TYPED  # an empty field would be no constant


def check_constant(form: forms.BaseForm, is_sent: bool) -> None:
    """Refuse a constant that is missing or that nothing sends; an empty field is no JSON, where null is a value."""
    typed = str(form["constant"].data or "").strip()
    if is_sent and not typed:
        form.add_error("constant", ValidationError(_("Type the value that is sent."), code="required"))
    elif typed and not is_sent:
        form.add_error("constant", ValidationError(_("Nothing is hidden that would send a constant."), code="unused"))


class SeenForm(ModelForm):
    """A form that is not valid when somebody else saved what it would overwrite, since the page was opened."""

    @property
    def seen(self) -> str:
        """What the page shows of what is stored, for a save to send along; empty for a row that is added."""
        return json.dumps(self.versions) if self.instance.pk else ""

    @cached_property
    def versions(self) -> dict[str, str]:
        """What is stored, read before what is typed is written into the rows inside the page."""
        return versions.stored(self)

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        for field, error in versions.overwritten(self) if self.instance.pk else ():
            self.add_error(field, error)


class PublishingForm(SeenForm):
    """
    A form that is compiled before it is saved.

    A sound one holds the ``draft`` of the catalog that saving makes. It is not valid while it is previewed, so that
    nothing is saved and the page comes back with everything typed.
    """

    draft: Draft | None = None

    @cached_property
    def stored(self) -> Inputs:
        """The inputs of a compile as they are stored."""
        return read_inputs()

    def compiled(self, inputs: Inputs) -> Draft:
        """The catalog with what the form, and the rows inside its page, would save."""
        raise NotImplementedError

    @property
    def edited_key(self) -> str | None:
        """The key of the operation that the page is about; None for a page about many."""
        return None

    def is_valid(self) -> bool:
        return super().is_valid() and PREVIEW not in self.data

    def _post_clean(self) -> None:
        super()._post_clean()
        formsets = vars(self.instance).get("formsets", ())
        if self.errors or not all(formset.is_valid() for formset in formsets):
            return
        self.draft = self.compiled(self.stored)
        key = self.edited_key
        refusals.place(self, new_losses(self.draft, [] if key is None else [key]), key)


class CuratingForm(PublishingForm):
    """A form of what staff say about one operation."""

    def compiled(self, inputs: Inputs) -> Draft:
        key, choices = self.choices()
        return draft_with({key: choices}, inputs)

    def choices(self) -> tuple[str, OperationCuration]:
        """The operation's key, and all that staff would say of it."""
        raise NotImplementedError

    def records(self) -> tuple[ArgumentRecord, ...]:
        """What is said of arguments once the page is saved."""
        return tuple(row.to_record() for row in refusals.kept_rows(self, ArgumentCuration))


class OperationForm(CuratingForm):
    search_terms = LinesField(label=_("Search terms"), required=False)
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
            *HINTS,
            "deadline_seconds",
            "budget_bytes",
            "family_parameter",
        )
        help_texts = {
            "overrides_tags": _("The chosen tags replace all others; choose none, and the tool has none."),
            "overrides_search_terms": _("The typed terms replace all others; type none, and the tool has none."),
            "deadline_seconds": _("How long an agent waits for a call; 0: for ever. Leave it empty for the setting’s."),
            "budget_bytes": _("The largest result of a call. Leave it empty for the setting’s."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.is_bound:  # then it is compiled, and what is read for that says the origins as well
            origins.keep(self.instance, self.stored.curation)
        fields = origins.of(self.instance)
        for name, resolved_name in origins.RESOLVED_FIELDS.items():
            if name in self.fields:
                self.fields[name].help_text = origins.origin(getattr(fields, resolved_name))
        for name, hint in origins.hints(self.instance, fields).items():
            if name in self.fields:
                self.fields[name].help_text = origins.origin(hint)
        for name, seals in origins.SEALED_FIELDS.items():
            if name in self.fields and not fields.sealed.isdisjoint(seals):
                self.fields[name].disabled = True
                reason = _("Sealed by the code or the settings, so it cannot be changed here.")
                self.fields[name].help_text = format_html("{}<div>{}</div>", self.fields[name].help_text, reason)

    @property
    def changed_data(self) -> list[str]:
        """Without the note, which is the revision's."""
        return [name for name in super().changed_data if name != "note"]

    @property
    def edited_key(self) -> str:
        key: str = self.instance.key
        return key

    def choices(self) -> tuple[str, OperationCuration]:
        return self.instance.key, self.instance.curation_with(
            tags=self.cleaned_data["tags"],
            arguments=self.records(),
            variants=tuple(row.to_variant(self.instance.family_parameter) for row in refusals.kept_rows(self, Variant)),
        )


class SelectionRuleForm(PublishingForm):
    method = forms.ChoiceField(
        label=_("Method"), required=False, choices=[("", _("every method")), *((name, name) for name in METHODS)]
    )

    class Meta:
        model = SelectionRule
        fields = ("route", "method", "decision", "note")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["method"] = self.instance.method.upper()

    def compiled(self, inputs: Inputs) -> Draft:
        return candidates.draft_of_selection_rule(self.instance, inputs)


class VisibilityPolicyForm(PublishingForm):
    tags = LinesField(
        label=_("Tags"),
        required=False,
        help_text=_("One a line, as the tools carry them; case and accents are ignored."),
    )
    routes = LinesField(
        label=_("Routes"),
        required=False,
        help_text=_("Globs, one a line: * matches inside a path segment, ** across segments."),
    )

    class Meta:
        model = VisibilityPolicy
        fields = ("name", "rule", "subject", "operations", "tags", "routes")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors and not any(cleaned[targets] for targets in ("operations", "tags", "routes")):
            message = _("Say which tools it concerns: by operations, tags or routes. The route ** matches every tool.")
            raise ValidationError(message, code="no_target")
        return cleaned

    def compiled(self, inputs: Inputs) -> Draft:
        return candidates.draft_of_policy(self.instance, self.cleaned_data["operations"], inputs)


class TagForm(PublishingForm):
    class Meta:
        model = Tag
        fields = ("name", "description")

    def clean_name(self) -> str:
        # The constraint is on a field that no form has, so no form validates it.
        name: str = self.cleaned_data["name"]
        if Tag.objects.filter(folded=fold(name)).exclude(pk=self.instance.pk).exists():
            message = _("There is already a tag that reads the same once case and accents are ignored.")
            raise ValidationError(message, code="duplicate_tag")
        return name

    def compiled(self, inputs: Inputs) -> Draft:
        return candidates.draft_of_tag(self.instance, inputs)


class ToolAliasForm(PublishingForm):
    class Meta:
        model = ToolAlias
        fields = ("until",)

    def compiled(self, inputs: Inputs) -> Draft:
        return candidates.draft_of_alias(self.instance, inputs)
