"""The entries of a file -> rows -> a publish, in one transaction, with a report of what changed (curation.md)."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q

from sezzlee_mcp import history
from sezzlee_mcp.canonical import pointer
from sezzlee_mcp.catalog.curation_files import ROOT, did_you_mean
from sezzlee_mcp.curation_files import CHOICES, MEMBERS, SECTIONS, SaidOperation, SaidRow, Section, stored_operations
from sezzlee_mcp.diagnostics import Diagnostic
from sezzlee_mcp.errors import CurationRefused
from sezzlee_mcp.models import ArgumentCuration, Catalog, Operation, Revision, Tag, Variant, VisibilityPolicy
from sezzlee_mcp.models.hints import HINTS
from sezzlee_mcp.publishing import Draft, compile_draft, keep, new_losses, publish, read_inputs

_VARIANT_CHOICES = ("description", "key", "body", "body_required", *HINTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChange:
    """What a load does to one entry: ``kind`` is added, changed or removed; ``members`` are those that differ."""

    section: str
    entry: str
    kind: str
    members: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"section": self.section, "entry": self.entry, "kind": self.kind, "members": list(self.members)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """
    What a load found and did, or would do.

    ``skipped`` are sentences about operations in the file that do not exist here. ``tool_changes`` are names by added,
    removed and changed, ``counts`` changes for agents by class; ``generation`` is the one in force afterwards.
    ``withheld`` are the names of tools that would be other ones if a rollback did not hold them. Where it does not
    ``publishes``, all of that waits in the draft.
    """

    entries: tuple[EntryChange, ...]
    skipped: tuple[str, ...]
    tool_changes: Mapping[str, list[str]]
    counts: Mapping[str, int]
    generation: int
    withheld: tuple[str, ...]
    publishes: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "entries": [entry.to_json() for entry in self.entries],
            "skipped": list(self.skipped),
            "changes": dict(self.tool_changes),
            **self.counts,
            "generation": self.generation,
            "withheld": list(self.withheld),
            "publishes": self.publishes,
        }


def load(
    sections: Mapping[str, Any],
    *,
    write: bool = True,
    publishes: bool = True,
    skip_unknown: bool = False,
    actor: Any = None,
    note: str = "",
) -> LoadReport:
    """
    Make the rows say what the sections of a file say, and nothing else, and publish it; all of it or nothing.

    Where it does not ``publishes``, what the rows come to waits in the draft.

    CurationRefused for what no page of the admin would save, for what would cost a tool, and for operations that do
    not exist here unless ``skip_unknown``. A row of which the file says what it says already is not written. The
    admin's history of each other row names ``actor``, where there is one, and ``note``.
    """
    with transaction.atomic():
        Catalog.objects.lock()
        loading = _Loading(sections, skip_unknown=skip_unknown)
        loading.store()
        draft = loading.draft() if loading.changes else None
        report = _report(loading, draft, publishes)
        if draft is None or not write:
            transaction.set_rollback(True)
            return report
        if actor is not None and apps.is_installed("django.contrib.admin"):
            loading.record(actor, note)
        if not publishes:
            keep(draft)
            return report
        revision = publish(source=Revision.Source.COMMAND, actor=actor, note=note, draft=draft)
    return replace(report, generation=revision.generation) if revision else report


def _report(loading: "_Loading", draft: Draft | None, publishes: bool) -> LoadReport:
    return LoadReport(
        entries=tuple(loading.changes),
        skipped=tuple(loading.skipped),
        tool_changes=draft.tool_changes if draft else {"added": [], "removed": [], "changed": []},
        counts=history.Record.of(draft.changes if draft else ()).counts,
        generation=Catalog.objects.generation(),
        withheld=draft.withheld if draft else (),
        publishes=publishes,
    )


class _Loading:
    """
    The rows on their way to what the sections of a file say, under the catalog's lock.

    ``changes`` are those of operations after all others, ``skipped`` sentences about operations that do not exist here.
    """

    def __init__(self, sections: Mapping[str, Any], *, skip_unknown: bool) -> None:
        self.changes: list[EntryChange] = []
        self.skipped: list[str] = []
        self._sections = sections
        self._skip_unknown = skip_unknown
        self._problems: list[str] = []
        self._written: list[tuple[str, Any, tuple[str, ...]]] = []
        self._before = stored_operations()
        self._edited: list[str] = []

    def store(self) -> None:
        """Write what differs; CurationRefused says everything that no row can hold."""
        for section in SECTIONS:
            self._store_rows(section)
        self._store_operations()
        if self._problems:
            raise CurationRefused(self._problems)

    def draft(self) -> Draft:
        """The catalog of the rows as they are written; CurationRefused says what it would lose."""
        draft = compile_draft(read_inputs())
        lost = new_losses(draft)
        lost += self._caused(draft, [loss for loss in new_losses(draft, self._edited) if loss not in lost])
        if lost:
            raise CurationRefused(f"{self._place(loss)}: {loss.operation}: {loss.message}" for loss in lost)
        return draft

    def record(self, actor: Any, note: str) -> None:
        """Leave each row that was written in the admin's history, with its members that differ."""
        from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry  # a host may do without the app

        flags = {"added": ADDITION, "changed": CHANGE, "removed": DELETION}
        rows: defaultdict[tuple[int, str], list[Any]] = defaultdict(list)
        for kind, row, members in self._written:
            rows[flags[kind], ": ".join(filter(None, (", ".join(members), note)))].append(row)
        for (flag, message), alike in rows.items():
            LogEntry.objects.log_actions(actor.pk, alike, flag, message)

    def _caused(self, draft: Draft, lost: list[Diagnostic]) -> list[Diagnostic]:
        """
        Those losses that are there because of what the file says of operations.

        An operation that can be no tool, for a reason that the document gives, can still be said something of.
        """
        if not lost:
            return []
        inputs, before = draft.inputs, {key: said.row.to_curation() for key, said in self._before.items()}
        without = compile_draft(replace(inputs, curation=replace(inputs.curation, operations=before)))
        there = {(found.operation, found.code, found.message) for found in without.candidate.diagnostics}
        return [loss for loss in lost if (loss.operation, loss.code, loss.message) not in there]

    def _place(self, loss: Diagnostic) -> str:
        """The pointer to the nearest entry that the loss is about; the file's whole where a rule is to blame."""
        entry = self._sections["operations"].get(loss.operation)
        if entry is None:
            return ROOT
        at = pointer("operations", loss.operation)
        variants = [
            (at + pointer("variants", place), variant)
            for place, variant in enumerate(entry.get("variants", ()))
            if variant["name"] in (loss.variant, loss.name)
        ]
        for place, owner in [*variants, (at, entry)]:
            for number, said in enumerate(owner.get("arguments", ())):
                if loss.name in (said["name"], said.get("as"), *said.get("deprecatedAliases", ())):
                    return place + pointer("arguments", number)
        return variants[0][0] if variants else at

    def _store_rows(self, section: Section) -> None:
        stored = {section.identity(said): said for said in section.stored()}
        wanted: dict[tuple[str, ...], tuple[str, Any, SaidRow]] = {}
        for at, key, entry in section.placed(self._sections[section.name]):
            named = entry.get("operations", ()) if isinstance(entry, dict) else ()
            operations = tuple(sorted(self._existing(at + pointer("operations"), named)))
            said = SaidRow(row=section.read(key, entry), operations=operations)
            wanted[section.identity(said)] = (at, entry, said)
        removed = [stored[names].row for names in sorted(stored.keys() - wanted.keys())]
        for row in removed:
            self._note(section, "removed", row)
        section.model.objects.filter(pk__in=[row.pk for row in removed]).delete()
        for names, (at, entry, said) in wanted.items():
            before = stored.get(names)
            differing = _differing(before and section.entry(before), section.entry(said))
            if differing is None:
                continue
            if before is not None:
                said.row.pk, said.row._state.adding = before.row.pk, False
            if faults := list(_row_faults(said.row, at, entry)):
                self._problems += faults
                continue
            said.row.save()
            if section.model is VisibilityPolicy:
                said.row.operations.set([self._before[key].row.pk for key in said.operations])
            self._note(section, "changed" if before else "added", said.row, differing if before else ())

    def _note(self, section: Section, kind: str, row: Any, members: tuple[str, ...] = ()) -> None:
        self.changes.append(EntryChange(section=section.name, entry=str(row), kind=kind, members=members))
        self._written.append((kind, row, members))

    def _existing(self, at: str, keys: Iterable[str]) -> Iterator[str]:
        """The keys that are operations here; any other is a problem, or said and skipped."""
        for place, key in enumerate(keys):
            if key in self._before:
                yield key
            else:
                self._miss(at + pointer(place), key)

    def _miss(self, at: str, key: str) -> None:
        said = f"{at}: there is no operation {key!r} here.{did_you_mean(key, self._before)}"
        (self.skipped if self._skip_unknown else self._problems).append(said)

    def _store_operations(self) -> None:
        given = self._sections["operations"]
        for key in sorted(given.keys() - self._before.keys()):
            self._miss(pointer("operations", key), key)
        changed: list[SaidOperation] = []
        for key, before in sorted(self._before.items()):
            entry = given.get(key, {})
            said = SaidOperation.of(before.row, entry)
            faults = [*self._operation_faults(said, entry)]
            self._problems += faults
            was, becomes = before.entry, {} if faults else said.entry
            differing = _differing(was, becomes)
            if differing is None or faults:
                continue
            kind = "changed" if was and becomes else "added" if becomes else "removed"
            members = differing if kind == "changed" else ()
            self.changes.append(EntryChange(section="operations", entry=key, kind=kind, members=members))
            self._written.append(("changed", said.row, differing))
            self._edited.append(key)
            changed.append(said)
        if not self._problems:
            _write_operations(changed)

    def _operation_faults(self, said: SaidOperation, entry: Mapping[str, Any]) -> Iterator[str]:
        at = pointer("operations", said.row.key)
        known = self._sections["tags"]
        for place, tag in enumerate(said.tags):
            if tag not in known:
                yield f"{at}{pointer('tags', place)}: there is no tag {tag!r} in tags.{did_you_mean(tag, known)}"
        yield from _field_faults(said.row, at, entry)
        yield from _argument_faults(said.arguments, at, entry)
        for place, variant in enumerate(said.variants):
            variant_at, variant_entry = at + pointer("variants", place), entry["variants"][place]
            yield from _field_faults(variant.row, variant_at, variant_entry)
            yield from _argument_faults(variant.arguments, variant_at, variant_entry)


def _differing(before: Any, after: Any) -> tuple[str, ...] | None:
    """The members that differ, also in their order; none for entries without members, None for equal entries."""
    if json.dumps(before) == json.dumps(after):
        return None
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ()
    names = sorted(before.keys() | after.keys())
    return tuple(name for name in names if json.dumps(before.get(name)) != json.dumps(after.get(name)))


def _argument_faults(rows: list[ArgumentCuration], at: str, entry: Mapping[str, Any]) -> Iterator[str]:
    for place, row in enumerate(rows):
        yield from _field_faults(row, at + pointer("arguments", place), entry["arguments"][place])


def _field_faults(row: models.Model, at: str, entry: Any) -> Iterator[str]:
    """What the fields of a row refuse of an entry, as their forms in the admin would; their values are cleaned."""
    hidden = {field.name for field in row._meta.fields if not field.editable}
    try:
        row.clean_fields(exclude={*hidden, "operation", "variant"})
    except ValidationError as refused:
        yield from _refusals(refused, at, entry)


def _row_faults(row: models.Model, at: str, entry: Any) -> Iterator[str]:
    """The same, with what the row as a whole refuses, and what other rows do."""
    faults = list(_field_faults(row, at, entry))
    yield from faults
    for check in () if faults else (row.clean, row.validate_unique, row.validate_constraints):
        try:
            check()
        except ValidationError as refused:
            yield from _refusals(refused, at, entry)
            return


def _refusals(refused: ValidationError, at: str, entry: Any) -> Iterator[str]:
    for field, messages in refused.message_dict.items():
        member = MEMBERS.get(field, field)
        place = at + pointer(member) if isinstance(entry, dict) and member in entry else at
        yield from (f"{place}: {message}" for message in messages)


def _write_operations(changed: list[SaidOperation]) -> None:
    """
    Write operations with all that is said of them.

    One UPDATE each: ``bulk_update`` takes seven times longer for 1,675, most of it to compose its own.
    Variants keep their rows, by their names, so that their history goes on; records have none of their own.
    """
    keys = [said.row.pk for said in changed]
    for said in changed:
        said.row.save(update_fields=CHOICES)
    tags, through = dict(Tag.objects.values_list("name", "pk")), Operation.tags.through
    through._default_manager.filter(operation__in=keys).delete()
    links = [through(operation_id=said.row.pk, tag_id=tags[name]) for said in changed for name in said.tags]
    through._default_manager.bulk_create(links)
    ArgumentCuration.objects.filter(Q(operation__in=keys) | Q(variant__operation__in=keys)).delete()
    _write_variants(keys, [(said.row.pk, variant.row) for said in changed for variant in said.variants])
    variants = _variant_ids(keys)
    for said in changed:
        for row in said.arguments:
            row.operation_id = said.row.pk
        for variant in said.variants:
            for row in variant.arguments:
                row.variant_id = variants[said.row.pk, variant.row.name]
    records = [
        *(row for said in changed for row in said.arguments),
        *(row for said in changed for variant in said.variants for row in variant.arguments),
    ]
    ArgumentCuration.objects.bulk_create(records, batch_size=500)


def _write_variants(operations: list[int], wanted: list[tuple[int, Variant]]) -> None:
    stored = _variant_ids(operations)
    for operation, row in wanted:
        row.operation_id, row.pk = operation, stored.pop((operation, row.name), None)
    Variant.objects.filter(pk__in=stored.values()).delete()
    rows = [row for _operation, row in wanted]
    for row in rows:
        if row.pk:
            row.save(update_fields=_VARIANT_CHOICES)
    Variant.objects.bulk_create([row for row in rows if not row.pk], batch_size=200)


def _variant_ids(operations: list[int]) -> dict[tuple[int, str], int]:
    rows = Variant.objects.filter(operation__in=operations).order_by()
    return {(operation, name): pk for operation, name, pk in rows.values_list("operation_id", "name", "pk")}
