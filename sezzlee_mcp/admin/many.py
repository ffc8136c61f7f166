"""One edit of many operations: what it changes is seen before it is saved, and compiled before either."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django import forms
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.functional import Promise, cached_property
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from sezzlee_mcp.admin import origins
from sezzlee_mcp.admin.forms import LinesField
from sezzlee_mcp.canonical import digest
from sezzlee_mcp.catalog.curation import OperationCuration
from sezzlee_mcp.catalog.resolution import Resolved
from sezzlee_mcp.diagnostics import Diagnostic as Finding
from sezzlee_mcp.folding import fold
from sezzlee_mcp.models import Operation, Tag, Variant
from sezzlee_mcp.models.operations import TAG_CHARS
from sezzlee_mcp.publishing import Draft, Inputs, draft_with, new_losses, read_inputs

LOSSES_SHOWN = 10
KEY_DIGITS = 18  # of a primary key; one of more may be larger than a database reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A new value of one row, which is not saved, and how it and the old one are shown."""

    row: Operation | Variant
    value: Any
    before: str
    after: str


class OperationsField(forms.CharField):
    """Operations by their primary keys, in one field: a form has fewer fields than a catalog has operations."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        typed = (super().to_python(value) or "").split(",")
        keys = [key for key in typed if key.isdecimal() and len(key) <= KEY_DIGITS]
        return list(Operation.objects.with_curation().filter(pk__in=keys))

    @staticmethod
    def written(operations: models.QuerySet[Operation]) -> str:
        return ",".join(map(str, operations.order_by("pk").values_list("pk", flat=True)))


class ManyForm(forms.Form):
    """
    An edit of the same field of many operations.

    Sound, it holds the ``edits``, the ``draft`` of the catalog that saving them makes, and the operations that are
    ``sealed`` against it. ``seen`` is the digest of the edits that were shown:
    others are not saved.
    """

    title: ClassVar[Promise]
    changed: ClassVar[str]  # the field, as the history calls it: that translates it when it shows it
    what: ClassVar[Promise | str]  # the same, or what comes of it, for the message
    seal: ClassVar[str]

    operations = OperationsField()
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    note = forms.CharField(
        label=gettext_lazy("Note"),
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        help_text=gettext_lazy("Why you change this. It is kept with the revision."),
    )

    edits: Sequence[Edit] = ()
    sealed: Sequence[Operation] = ()
    draft: Draft | None = None

    @cached_property
    def stored(self) -> Inputs:
        """The inputs of a compile as they are stored."""
        return read_inputs()

    @property
    def digest(self) -> str:
        """Of the edits, so that what is saved is what was seen."""
        return digest([[str(edit.row.pk), edit.before, edit.after] for edit in self.edits])

    @property
    def is_seen(self) -> bool:
        return bool(self.edits) and self.cleaned_data["seen"] == self.digest

    @property
    def outcome(self) -> str:
        """What the edit is, for the revision and for whoever made it."""
        number = len({_operation_of(edit.row) for edit in self.edits})
        text = ngettext("%(number)d operation: %(what)s.", "%(number)d operations: %(what)s.", number)
        return text % {"number": number, "what": self.what}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        resolved = origins.resolved(cleaned["operations"], self.stored.curation)
        self.sealed = [row for row in cleaned["operations"] if self.seal in resolved[row.key].sealed]
        open_ones = [row for row in cleaned["operations"] if row not in self.sealed]
        choices: dict[str, OperationCuration] = {}
        self.edits = [edit for row in open_ones for edit in self.edits_of(row, resolved[row.key], choices)]
        if self.errors or not self.edits:
            return cleaned
        self.draft = draft_with(choices, self.stored)
        if losses := new_losses(self.draft, choices):
            self.edits = ()
            raise ValidationError(refusal(losses), code="losses")
        return cleaned

    def edits_of(self, row: Operation, fields: Resolved, choices: dict[str, OperationCuration]) -> Iterator[Edit]:
        """The edits of one operation; what staff would say of it then goes to ``choices``."""
        raise NotImplementedError

    def save(self, user: Any) -> None:
        """Write the edits, each into the history of its row."""
        self.write()
        rows: dict[Any, dict[int, Any]] = {}
        for edit in self.edits:
            rows.setdefault(type(edit.row), {})[edit.row.pk] = edit.row
        for of_model in rows.values():
            changed = [{"changed": {"fields": [self.changed]}}]
            LogEntry.objects.log_actions(user.pk, list(of_model.values()), CHANGE, changed)

    def write(self) -> None:
        raise NotImplementedError

    def rows(self, model: type[Any]) -> list[Any]:
        return [edit.row for edit in self.edits if isinstance(edit.row, model)]


class ExposureForm(ManyForm):
    exposure: ClassVar[Operation.Exposure]
    changed = "Exposure"
    seal = "expose"

    def edits_of(self, row: Operation, fields: Resolved, choices: dict[str, OperationCuration]) -> Iterator[Edit]:
        if row.exposure == self.exposure:
            return
        before, row.exposure = row.get_exposure_display(), self.exposure
        choices[row.key] = row.to_curation()
        yield Edit(row=row, value=self.exposure, before=before, after=str(self.exposure.label))

    def write(self) -> None:
        Operation.objects.bulk_update(self.rows(Operation), ["exposure"], batch_size=200)


class ExposeForm(ExposureForm):
    title = gettext_lazy("Expose operations")
    exposure = Operation.Exposure.INCLUDE
    what = exposure.label


class HideForm(ExposureForm):
    title = gettext_lazy("Hide operations")
    exposure = Operation.Exposure.EXCLUDE
    what = exposure.label


class InheritForm(ExposureForm):
    title = gettext_lazy("Let the rules decide on operations")
    exposure = Operation.Exposure.INHERIT
    what = exposure.label


class WordsForm(ManyForm):
    """Words that come to those in effect, go from them, or replace them; from then on staff's override all others."""

    class Mode(models.TextChoices):
        ADD = "add", gettext_lazy("add these to those in effect")
        REMOVE = "remove", gettext_lazy("take these away")
        REPLACE = "replace", gettext_lazy("have exactly these")

    mode = forms.ChoiceField(label=gettext_lazy("What to do"), choices=Mode.choices, initial=Mode.ADD)
    words = LinesField(help_text=gettext_lazy("One a line."))

    field_order = ("mode", "words", "note")

    def worded(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """The words after the edit; what folds alike is one."""
        typed: list[str] = self.cleaned_data["words"]
        folded = {fold(word) for word in typed}
        kept = [word for word in words if fold(word) not in folded]
        match self.cleaned_data["mode"]:
            case self.Mode.ADD:
                return (*words, *(word for word in typed if fold(word) not in set(map(fold, words))))
            case self.Mode.REMOVE:
                return tuple(kept)
        return tuple(typed)

    def clean_words(self) -> list[str]:
        words = list({fold(word): word for word in reversed(self.cleaned_data["words"])}.values())[::-1]
        if any(not fold(word).strip() for word in words):
            raise ValidationError(_("Nothing is left of one of them once accents are ignored."), code="empty")
        return words


class TagsForm(WordsForm):
    title = gettext_lazy("Tag operations")
    changed = "Tags"
    what = gettext_lazy("tags")
    seal = "tags"

    def __init__(self, *args: Any, may_add_tags: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._may_add_tags = may_add_tags
        self._spellings: dict[str, str] = dict(Tag.objects.values_list("folded", "name"))
        self.fields["words"].label = _("Tags")

    def clean_words(self) -> list[str]:
        words = super().clean_words()
        new = [word for word in words if fold(word) not in self._spellings]
        if new and not self._may_add_tags and self.cleaned_data.get("mode") != self.Mode.REMOVE:
            message = _("You may not add a tag, and there is none of this name: %(tags)s")
            raise ValidationError(message % {"tags": ", ".join(new)}, code="unknown_tag")
        return words

    def edits_of(self, row: Operation, fields: Resolved, choices: dict[str, OperationCuration]) -> Iterator[Edit]:
        tags = self._as_rows(self.worded(fields.tags.value))
        if set(map(fold, tags)) == set(map(fold, fields.tags.value)):
            return
        for tag in tags:
            if len(tag) > TAG_CHARS:
                message = _("A tag has at most %(limit)d characters, and this one has more: %(tag)s")
                raise ValidationError({"words": message % {"limit": TAG_CHARS, "tag": tag}}, code="too_long")
        row.overrides_tags = True
        choices[row.key] = replace(row.to_curation(), tags=tags)
        yield Edit(row=row, value=tags, before=origins.written(fields.tags.value), after=origins.written(tags))

    def save(self, user: Any) -> None:
        super().save(user)
        LogEntry.objects.log_actions(user.pk, self._added, ADDITION, [{"added": {}}])

    def _as_rows(self, tags: tuple[str, ...]) -> tuple[str, ...]:
        """The tags as their rows will spell and order them."""
        return tuple(self._spellings.get(folded, tag) for folded, tag in sorted((fold(tag), tag) for tag in tags))

    def write(self) -> None:
        names = {fold(name): name for edit in self.edits for name in edit.value}
        known = Tag.objects.in_bulk(names, field_name="folded")
        new = [Tag(name=name, folded=folded) for folded, name in names.items() if folded not in known]
        self._added = Tag.objects.bulk_create(new)
        known |= {tag.folded: tag for tag in self._added}
        carries = Operation.tags.through
        carries.objects.filter(operation__in=[edit.row.pk for edit in self.edits]).delete()
        carries.objects.bulk_create(
            [
                carries(operation_id=edit.row.pk, tag_id=known[fold(name)].pk)
                for edit in self.edits
                for name in edit.value
            ],
            batch_size=500,
        )
        Operation.objects.bulk_update(self.rows(Operation), ["overrides_tags"], batch_size=200)


class TermsForm(WordsForm):
    title = gettext_lazy("Set the search terms of operations")
    changed = "Search terms"
    what = gettext_lazy("search terms")
    seal = "search_terms"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["words"].label = _("Search terms")

    def edits_of(self, row: Operation, fields: Resolved, choices: dict[str, OperationCuration]) -> Iterator[Edit]:
        terms = self.worded(fields.search_terms.value)
        if terms == fields.search_terms.value:
            return
        row.overrides_search_terms, row.search_terms = True, list(terms)
        choices[row.key] = row.to_curation()
        before = origins.written(fields.search_terms.value)
        yield Edit(row=row, value=terms, before=before, after=origins.written(terms))

    def write(self) -> None:
        fields = ["overrides_search_terms", "search_terms"]
        Operation.objects.bulk_update(self.rows(Operation), fields, batch_size=200)


class ReplaceForm(ManyForm):
    """
    A text for another one in descriptions that agents read, staff's or not: what is replaced is staff's from then on.

    Of an operation with variants these are its variants'; those that the code gives are left out.
    """

    title = gettext_lazy("Find and replace in descriptions")
    changed = "Description"
    what = gettext_lazy("descriptions")
    seal = "description"

    find = forms.CharField(
        label=gettext_lazy("Find"), strip=False, widget=forms.TextInput(attrs={"class": "vTextField"})
    )
    replacement = forms.CharField(
        label=gettext_lazy("Replace with"),
        required=False,
        strip=False,
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        help_text=gettext_lazy("Empty: the text is taken out."),
    )
    ignores_case = forms.BooleanField(label=gettext_lazy("Ignore case"), required=False)

    field_order = ("find", "replacement", "ignores_case", "note")

    def edits_of(self, row: Operation, fields: Resolved, choices: dict[str, OperationCuration]) -> Iterator[Edit]:
        own = [] if fields.variants.value or fields.family_parameter.value else [(row, fields.description.value)]
        variants = [] if "variants" in fields.sealed else [(each, each.description) for each in row.variants.all()]
        found: list[tuple[Operation | Variant, str]] = [*own, *variants]
        for target, text in found:
            if edit := self._edit(target, text):
                target.description = edit.value
                choices[row.key] = row.to_curation()
                yield edit

    def _edit(self, row: Operation | Variant, text: str) -> Edit | None:
        flags = re.IGNORECASE if self.cleaned_data["ignores_case"] else 0
        stretches = re.split(f"({re.escape(self.cleaned_data['find'])})", text, flags=flags)
        replacement: str = self.cleaned_data["replacement"]
        new = [replacement if number % 2 else stretch for number, stretch in enumerate(stretches)]
        after = "".join(new)
        if after == text:
            return None
        if not after.strip():
            message = _("Nothing would be left of the description of %(what)s.") % {"what": row}
            raise ValidationError({"replacement": message}, code="empty")
        removed = format_html_join("", "{}", ((_hit("del", each, number),) for number, each in enumerate(stretches)))
        added = format_html_join("", "{}", ((_hit("ins", each, number),) for number, each in enumerate(new)))
        return Edit(row=row, value=after, before=removed, after=added)

    def write(self) -> None:
        for model in (Operation, Variant):
            model._default_manager.bulk_update(self.rows(model), ["description"], batch_size=200)


FORMS: Mapping[str, type[ManyForm]] = {
    "expose": ExposeForm,
    "hide": HideForm,
    "inherit": InheritForm,
    "tags": TagsForm,
    "terms": TermsForm,
    "replace": ReplaceForm,
}


def _operation_of(row: Operation | Variant) -> int:
    return row.operation_id if isinstance(row, Variant) else row.pk


def _hit(tag: str, text: str, number: int) -> SafeString | str:
    """Every second stretch is a hit."""
    return format_html("<{0}>{1}</{0}>", tag, text) if number % 2 and text else text


def refusal(losses: Sequence[Finding]) -> str:
    shown = " ".join(f"{loss.operation}: {loss.message}" for loss in losses[:LOSSES_SHOWN])
    text = ngettext(
        "Nothing was saved, since %(number)d operation would be no tool. %(losses)s",
        "Nothing was saved, since %(number)d operations would be no tools. %(losses)s",
        len(losses),
    )
    return text % {"number": len(losses), "losses": shown}
