import json
import zlib
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.forms.fields import InvalidJSONInput
from django.utils.translation import gettext_lazy as _

from sezzlee_mcp.canonical import canonical_json, holds_nul
from sezzlee_mcp.catalog.curation import Fill, FillKind


def validate_texts(value: Any) -> None:
    """A JSON list of texts that a database can hold."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValidationError(_("Enter a list of texts."), code="not_texts")
    validate_writable(value)


def validate_writable(value: Any) -> None:
    """JSON that a request and a database can hold: no NaN, no half of a surrogate pair, no NUL."""
    try:
        written = canonical_json(value).decode()
    except (ValueError, RecursionError):
        raise ValidationError(_("No JSON text can hold this value."), code="not_json") from None
    if holds_nul(written):
        raise ValidationError(_("It holds a NUL character, which no database stores."), code="nul")


def fill_of(hidden: str, constant: Any, provider: str = "") -> Fill | None:
    """What fills a hidden argument; None for one that agents send."""
    if not hidden:
        return None
    kind = FillKind(hidden)
    return Fill(kind=kind, value=constant if kind is FillKind.CONSTANT else None, source=provider or None)


def packed(text: str) -> bytes:
    """What a ``PackedJSONField`` stores of a JSON text, which it takes in place of the value."""
    return zlib.compress(text.encode())


def unpacked_bytes(packed: bytes) -> bytes:
    """The JSON text in what a ``PackedJSONField`` stores."""
    return zlib.decompress(packed)


class OptionalJSONField(forms.JSONField):
    """
    JSON that may be left out: an empty field is None, and so is shown; ``null`` has to be shown as NULL_TYPED.

    Thousands of digits or levels, which Python does not read, are refused like what is no JSON.
    """

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except (ValueError, RecursionError):
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": value}) from None

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            return super().bound_data(data, initial)
        except (ValueError, RecursionError):
            return InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(None if initial is NULL_TYPED else initial, data)


NULL_TYPED = InvalidJSONInput("null")


class PackedJSONField(models.BinaryField):  # type: ignore[type-arg]
    """
    JSON, compressed, with its key order kept.

    Schemas of a large catalog are tens of megabytes of text, and agents read the order of arguments, which
    PostgreSQL's own JSON column forgets. In a column that may be NULL, that is how None is stored.
    """

    def get_prep_value(self, value: Any) -> bytes | None:
        if value is None and self.null:
            return None
        if isinstance(value, bytes):  # packed already, which no JSON value is
            return value
        return packed(json.dumps(value, separators=(",", ":"), ensure_ascii=False))

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return None if value is None else json.loads(unpacked_bytes(value))  # None: NULL, or an outer join found no row

    def value_to_string(self, obj: models.Model) -> Any:
        return self.value_from_object(obj)  # a fixture holds the JSON itself

    def to_python(self, value: Any) -> Any:
        return value

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"form_class": OptionalJSONField, **kwargs})
