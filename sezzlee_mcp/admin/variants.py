"""What staff say of the arguments of an operation and of its variants, inside its page and on the variants' own."""

from collections.abc import Collection, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import models
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from sezzlee_mcp.admin import argument_tables, origins, panels, previews
from sezzlee_mcp.admin.bases import PublishingAdmin, listed
from sezzlee_mcp.admin.forms import (
    FORM_FIELDS,
    CuratingForm,
    HidingForm,
    LinesField,
    ModelForm,
    check_constant,
)
from sezzlee_mcp.admin.previews import Pair
from sezzlee_mcp.catalog.curation import OperationCuration
from sezzlee_mcp.catalog.seals import sealed_arguments
from sezzlee_mcp.models import ArgumentCuration, Operation, Variant
from sezzlee_mcp.models.hints import HINTS

if TYPE_CHECKING:
    StackedInline = admin.StackedInline[Any, Any]
    RowsOfOne = forms.BaseInlineFormSet[Any, Any, Any]
else:
    StackedInline = admin.StackedInline
    RowsOfOne = forms.BaseInlineFormSet

_JSON = forms.Textarea(attrs={"rows": 2, "cols": 60})


class ArgumentForm(HidingForm):
    deprecated_aliases = LinesField(
        label=gettext_lazy("Older names"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 30}),
        help_text=gettext_lazy("One a line. Agents may go on sending them until you take them away."),
    )

    class Meta:
        model = ArgumentCuration
        fields = (
            "name",
            "agent_name",
            "description",
            "hidden",
            "constant",
            "provider",
            "deprecated_aliases",
            "aliases_until",
        )
        widgets = {"constant": _JSON, "description": forms.Textarea(attrs={"rows": 2, "cols": 60})}
        help_texts = {
            "agent_name": gettext_lazy("What agents send instead. Empty: the name that the backend reads."),
            "description": gettext_lazy("Replaces the document’s. Empty: the document’s stays."),
            "constant": gettext_lazy("JSON: a text stands in quotes, and null is a value."),
            "provider": gettext_lazy("A name of the setting PROVIDERS."),
            "aliases_until": gettext_lazy("A reminder; nothing ends by itself."),
        }

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        kinds, hidden = ArgumentCuration.Hidden, cleaned.get("hidden")
        check_constant(self, hidden == kinds.CONSTANT)
        if hidden == kinds.DEFERRED and not cleaned.get("provider"):
            self.add_error("provider", ValidationError(_("Name the provider that is asked."), code="required"))
        if hidden != kinds.DEFERRED and cleaned.get("provider"):
            self.add_error("provider", ValidationError(_("No provider is asked for it."), code="unused"))
        return cleaned


class MemberForm(ModelForm):
    """A variant inside its operation's page."""

    class Meta:
        model = Variant
        fields = ("name", "description", "key")
        widgets = {"key": forms.Textarea(attrs={"rows": 1, "cols": 30})}
        help_texts = {
            "name": gettext_lazy("The whole name; no prefix is added."),
            "key": gettext_lazy(
                "For a member of a family: the value of the family parameter that it sends, as JSON: a text in quotes."
            ),
        }


class VariantForm(CuratingForm):
    class Meta:
        model = Variant
        fields = (*MemberForm.Meta.fields, "body", "body_required", *HINTS)
        widgets = {**MemberForm.Meta.widgets, "body": forms.Textarea(attrs={"rows": 12, "cols": 80})}
        help_texts = {
            **MemberForm.Meta.help_texts,
            "body": gettext_lazy("For a member of a family: a JSON Schema in place of the operation’s body."),
            "read_only_hint": gettext_lazy("Unknown: as the operation says."),
        }

    def clean_body(self) -> dict[str, Any] | None:
        body = self.cleaned_data["body"]
        if body is not None and not isinstance(body, dict):
            raise ValidationError(_("A schema is a JSON object."), code="no_schema")
        return body

    @property
    def edited_key(self) -> str:
        key: str = self.instance.operation.key
        return key

    def choices(self) -> tuple[str, OperationCuration]:
        operation = self.stored.rows[self.edited_key]
        own = self.instance.variant_with(self.records(), operation.family_parameter)
        variants = [
            own if row.pk == self.instance.pk else row.to_variant(operation.family_parameter)
            for row in operation.variants.all()
        ]
        return operation.key, operation.curation_with(
            tags=operation.tags.all(),
            arguments=tuple(row.to_record() for row in operation.arguments.all()),
            variants=tuple(variants),
        )


class RowField(forms.IntegerField):
    """Which of the rows ``shown`` a form inside a page is of; no row is asked for again."""

    widget = forms.HiddenInput
    default_error_messages = {"invalid_choice": forms.ModelChoiceField.default_error_messages["invalid_choice"]}

    def __init__(self, *, shown: Collection[int], initial: int | None) -> None:
        super().__init__(required=False, initial=initial)
        self.shown = shown

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value is not None and value not in self.shown:
            raise ValidationError(self.error_messages["invalid_choice"], code="invalid_choice")


class CurationFormSet(RowsOfOne):
    """The rows that come with the page's object; they are not asked for again, whether all or one by one."""

    @cached_property
    def rows(self) -> list[Any]:
        # Copies: a form writes what is typed into its row, and the rest of the page shows what is stored.
        return [copy(row) for row in getattr(self.instance, self.fk.remote_field.get_accessor_name()).all()]

    def get_queryset(self) -> Any:
        return self.rows

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        name = form._meta.model._meta.pk.name
        form.fields[name] = RowField(shown={row.pk for row in self.rows}, initial=form.fields[name].initial)


class CurationInline(StackedInline):
    """Rows that whoever may change an operation may write: they are what staff say of it."""

    formset = CurationFormSet
    formfield_overrides = FORM_FIELDS
    extra = 0
    seal = ""  # what a seal on the rows is called

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_curate(request) and (obj is None or self.seal not in origins.sealed_on(_operation(obj)))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_curate(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_look(request)


class ArgumentInline(CurationInline):
    model = ArgumentCuration
    seal = "arguments"
    form = ArgumentForm
    fieldsets = (
        (None, {"fields": ("name", "agent_name", "description", ("hidden", "constant", "provider"))}),
        (gettext_lazy("Older names"), {"classes": ("collapse",), "fields": ("deprecated_aliases", "aliases_until")}),
    )

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        self._owner: Operation | Variant | None = obj
        return super().get_formset(request, obj, **kwargs)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name != "name" or self._owner is None:
            return super().formfield_for_dbfield(db_field, request, **kwargs)
        return forms.ChoiceField(label=gettext_lazy("Argument"), choices=_argument_choices(self._owner))


class VariantInline(CurationInline):
    model = Variant
    seal = "variants"
    form = MemberForm
    show_change_link = True

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Variant]:
        return super().get_queryset(request).prefetch_related("arguments")


_CHOICES = (
    (None, {"fields": ("of_operation", "name", "description")}),
    (gettext_lazy("Family member"), {"classes": ("collapse",), "fields": ("key", "body", "body_required")}),
    (gettext_lazy("Behaviour hints"), {"classes": ("collapse",), "fields": (*HINTS,)}),
)


@admin.register(Variant)
class VariantAdmin(PublishingAdmin):
    """A variant with its arguments; one is added on its operation's page."""

    form = VariantForm
    inlines = (ArgumentInline,)
    list_display = ("name", "of_operation", "described")
    search_fields = ("name", "description", "operation__key")
    readonly_fields = ("of_operation", "arguments_found", "published")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_curate(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_curate(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_look(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_look(request)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Variant]:
        of_operation = models.Prefetch("operation", Operation.objects.with_curation())
        return super().get_queryset(request).prefetch_related("arguments", of_operation)

    def get_fieldsets(self, request: HttpRequest, obj: Variant | None = None) -> Any:
        stored = (_("What agents read"), {"fields": ("arguments_found", "published")})
        return _CHOICES if request.method == "POST" else (*_CHOICES, stored)  # as on the page of an operation

    def previewed_tools(self, form: Any) -> Sequence[Pair]:
        operation, names = form.edited_key, {form.initial["name"], form.instance.name}
        return [pair for pair in previews.pairs(form.draft, operation) if names & {pair.name, pair.former_name}]

    @admin.display(description=gettext_lazy("operation"), ordering="operation__key")
    def of_operation(self, variant: Variant) -> str:
        url = reverse(f"{self.admin_site.name}:sezzlee_mcp_operation_change", args=[variant.operation_id])
        return format_html('<a href="{}">{}</a>', url, variant.operation)

    @admin.display(description=gettext_lazy("description"), ordering="description")
    def described(self, variant: Variant) -> str:
        return listed(variant.description)

    @admin.display(description=gettext_lazy("arguments"))
    def arguments_found(self, variant: Variant) -> SafeString:
        return argument_tables.table(variant.operation, variant)

    @admin.display(description=gettext_lazy("published tool"))
    def published(self, variant: Variant) -> SafeString | str:
        return panels.published_variant(variant)


def may_curate(request: HttpRequest) -> bool:
    return request.user.has_perm("sezzlee_mcp.change_operation")


def may_look(request: HttpRequest) -> bool:
    return request.user.has_perm("sezzlee_mcp.view_operation") or may_curate(request)


def _operation(owner: Operation | Variant) -> Operation:
    return owner.operation if isinstance(owner, Variant) else owner


def _argument_choices(owner: Operation | Variant) -> list[tuple[str, str]]:
    """The arguments that staff can curate, and those that something is said of though they no longer can."""
    operation = _operation(owner)
    read = argument_tables.wire_names(operation, owner if isinstance(owner, Variant) else None)
    sealed = sealed_arguments(operation.to_descriptor())
    open_ones = [(name, label) for name, label in read if name not in sealed]
    labels = {name: _("%(name)s (sealed by the code)") % {"name": label} for name, label in read if name in sealed}
    kept = [row.name for row in owner.arguments.all() if row.name not in dict(open_ones)]
    rest = [(name, labels.get(name, _("%(name)s (no longer there)") % {"name": name})) for name in kept]
    return [("", "---------"), *open_ones, *rest]
