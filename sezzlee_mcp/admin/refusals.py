"""What an edit would lose, said beside the field that can mend it."""

from collections.abc import Iterable, Iterator
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from sezzlee_mcp.diagnostics import Diagnostic
from sezzlee_mcp.models import ArgumentCuration, Variant

# Code of a loss -> the field of an argument, of a variant, or of the operation that can mend it, the nearest first.
_ARGUMENT_FIELDS = {
    "argument_collision": "agent_name",
    "curation_invalid": "agent_name",
    "curation_unresolved": "name",
    "hidden_required_omitted": "hidden",
    "invalid_fill_constant": "constant",
    "unknown_fill_source": "provider",
}
_VARIANT_FIELDS = {
    "family_key_duplicate": "key",
    "family_key_unfilled": "key",
    "invalid_name": "name",
    "name_collision": "name",
    "variant_body_invalid": "body",
    "variant_body_without_family": "body",
}
_OPERATION_FIELDS = {
    "family_key_duplicate": "family_parameter",
    "family_key_unfilled": "family_parameter",
    "family_parameter_unresolved": "family_parameter",
    "family_without_members": "family_parameter",
    "invalid_name": "name",
    "name_collision": "name",
}


def place(form: Any, losses: Iterable[Diagnostic], edited: str | None = None) -> None:
    """
    Add the losses to a form and to its formsets.

    Those of other operations than the ``edited`` one, and those that no field on the page mends, stand above.
    """
    arguments, variants = kept_forms(form, ArgumentCuration), kept_forms(form, Variant)
    for loss in losses:
        if loss.operation == edited:
            mending, field = next(_mending(form, arguments, variants, loss), (form, None))
            mending.add_error(field, ValidationError(loss.message, code=loss.code))
        else:
            form.add_error(None, ValidationError(f"{loss.operation}: {loss.message}", code=loss.code))


def kept_forms(form: Any, model: type[Any]) -> list[Any]:
    """
    The forms of the page's rows of ``model`` that stay or come: neither deleted nor left empty.

    To be asked while all formsets are valid: others do not say what is deleted, and an error there is no error.
    """
    return [
        each
        for formset in vars(form.instance).get("formsets", ())
        if formset.model is model
        for each in formset.forms
        if each not in formset.deleted_forms and (each.instance.pk or each.has_changed())
    ]


def kept_rows(form: Any, model: type[Any]) -> list[Any]:
    """The rows that saving the page leaves: those of the kept forms, after those that were added since it was shown."""
    formsets = [formset for formset in vars(form.instance).get("formsets", ()) if formset.model is model]
    shown = {each.instance.pk for formset in formsets for each in formset.forms}
    since = [row for formset in formsets for row in formset.get_queryset() if row.pk not in shown]
    return [*since, *(each.instance for each in kept_forms(form, model))]


def _mending(
    form: Any, arguments: list[Any], variants: list[Any], loss: Diagnostic
) -> Iterator[tuple[forms.BaseForm, str]]:
    for argument in arguments:
        if loss.code in _ARGUMENT_FIELDS and loss.name in _names(argument.instance):
            yield argument, _ARGUMENT_FIELDS[loss.code]
    for variant in [*variants, form]:
        if loss.code in _VARIANT_FIELDS and _concerns(loss, variant.instance):
            yield variant, _VARIANT_FIELDS[loss.code]
    if loss.code in _OPERATION_FIELDS and _OPERATION_FIELDS[loss.code] in form.fields:
        yield form, _OPERATION_FIELDS[loss.code]
    if "exposure" in form.fields:
        yield form, "exposure"


def _names(argument: ArgumentCuration) -> tuple[str, ...]:
    return (argument.name, argument.agent_name, *argument.deprecated_aliases)


def _concerns(loss: Diagnostic, row: Any) -> bool:
    return isinstance(row, Variant) and row.name == (loss.variant or loss.name)
