"""What a page showed of its rows when it was opened, so that nobody overwrites what another saved since."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django import forms
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import NestedObjects
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db import models, router
from django.forms.models import model_to_dict
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from sezzlee_mcp.canonical import digest

SEEN = "_seen"  # the name of the hidden input
_DIGITS = 12
_ROW = ":"  # stands in the name of a row inside the page, and in that of no field


def stored(form: Any) -> dict[str, str]:
    """A digest of each value that the form would write, as it is stored, and of each row inside its page."""
    values = {name: _version(value) for name, value in form.initial.items() if name in form.fields}
    return values | {name: _version(model_to_dict(row)) for name, row in _rows(form)}


def overwritten(form: Any) -> Iterator[tuple[str | None, ValidationError]]:
    """What somebody else saved since the page was opened: each error beside its field, and one above them all."""
    seen = _read(form.data.get(SEEN, ""))
    if seen is None:
        text = _("It is not known what this page showed when you opened it. Compare it with what is stored; then save.")
        yield None, ValidationError(text, code="not_seen")
        return
    now, rows = form.versions, dict(_rows(form))
    changed = [
        name
        for name in {**seen, **now}
        if now.get(name) != seen.get(name) and (name in now or _ROW in name)  # a field that is not here is not written
    ]
    if not changed:
        return
    yield None, ValidationError(_since(form.instance), code="overwritten")
    for name in changed:
        if name in form.fields:
            text = _("It was changed and is now: %(value)s") % {
                "value": _written(form.fields[name], form.initial.get(name))
            }
            yield name, ValidationError(text, code="overwritten")
        elif name not in now:
            text = _("A row inside this page was deleted. Open the page anew to go on.")
            yield None, ValidationError(text, code="overwritten")
        else:
            said = _("“%(row)s” was added: open the page anew to see it.")
            text = (_("“%(row)s” was changed.") if name in seen else said) % {"row": rows[name]}
            yield None, ValidationError(text, code="overwritten")


def of_deletion(model: type[models.Model], rows: Iterable[models.Model]) -> str:
    """A digest of rows of ``model``, and of everything that goes with them when they are deleted."""
    collector = NestedObjects(using=router.db_for_write(model))
    collector.collect(list(rows))
    gone = [row for found in collector.data.values() for row in found]
    return digest(sorted([row._meta.label, str(row.pk), _version(_values(row))] for row in gone))


def refused_deletion(rows: Iterable[models.Model]) -> str:
    """Why nothing was deleted, and who saved what would have been, where that is one row."""
    rows = list(rows)
    text: str = _("Somebody changed this since you opened the page, so nothing was deleted.")
    said = _last_save(rows[0]) if len(rows) == 1 else ""
    return " ".join(filter(None, (text, said, _("Look at what would be deleted now, and decide again."))))


def _values(row: models.Model) -> dict[str, Any]:
    return model_to_dict(row, [field.name for field in row._meta.concrete_fields])


def _rows(form: Any) -> Iterator[tuple[str, models.Model]]:
    for formset in vars(form.instance).get("formsets", ()):
        for row in formset.get_queryset():
            yield f"{formset.prefix}{_ROW}{row.pk}", row


def _version(value: Any) -> str:
    is_rows = isinstance(value, list) and all(isinstance(each, models.Model) for each in value)
    return digest(repr(sorted(each.pk for each in value) if is_rows else value))[:_DIGITS]


def _read(text: str) -> Mapping[str, str] | None:
    try:
        seen = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return seen if isinstance(seen, dict) else None


def _since(row: models.Model) -> str:
    text: str = _("Somebody saved this since you opened the page, so nothing was saved now. What you typed is kept.")
    return " ".join(filter(None, (text, _last_save(row), _("Save again to put what stands here in its place."))))


def _last_save(row: models.Model) -> str:
    """Whose it was, in a sentence; empty where the history says nothing."""
    kind = ContentType.objects.get_for_model(row)
    entries = LogEntry.objects.filter(content_type=kind, object_id=str(row.pk)).select_related("user")
    last = entries.order_by("-action_time", "-pk").first()
    if last is None:
        return ""
    when = date_format(localtime(last.action_time), "DATETIME_FORMAT")
    return _("The last save on record is that of %(user)s, %(when)s.") % {"user": last.user, "when": when}


def _written(field: Any, value: Any) -> str:
    if isinstance(field, forms.JSONField):
        value = field.prepare_value(value)
    if isinstance(value, list):
        return ", ".join(map(str, value)) or _("none")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None or value == "":
        return _("none")
    return str(dict(getattr(field, "choices", ())).get(value, value))
