"""Document -> operation rows -> a publish, in one transaction, with a report of what was found."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from sezzlee_mcp import source
from sezzlee_mcp.canonical import canonical_json, digest
from sezzlee_mcp.diagnostics import Diagnostic, Severity, diagnose
from sezzlee_mcp.errors import PublishRefused
from sezzlee_mcp.models import Catalog, Operation, Revision
from sezzlee_mcp.models import Diagnostic as DiagnosticRow
from sezzlee_mcp.models.operations import KEY_CHARS
from sezzlee_mcp.openapi.descriptors import Descriptor
from sezzlee_mcp.openapi.lower import lower
from sezzlee_mcp.publishing import (
    Draft,
    compile_draft,
    has_diagnostics,
    read_inputs_beside,
    replace_diagnostics,
    write_revision,
)

# A sync that takes away this many tools and more than half of all is a mistake until somebody says otherwise.
SUSPICIOUS_LOSS = 10
# The project's own document; None is a document too (``null`` in JSON), and a fatal one.
OWN: Any = object()
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")  # as JSON writes it, and not the text of an escape


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What a document says: its operations, how many endpoints there were, and what could not be read."""

    descriptors: tuple[Descriptor, ...]
    discovered: int
    diagnostics: tuple[Diagnostic, ...]

    @property
    def is_fatal(self) -> bool:
        return any(found.severity is Severity.FATAL for found in self.diagnostics)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChanges:
    """Operation keys by what a sync does to their rows."""

    created: tuple[str, ...]
    updated: tuple[str, ...]
    returned: tuple[str, ...]
    absent: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.created or self.updated or self.returned or self.absent)

    def to_json(self) -> dict[str, list[str]]:
        return {
            "created": list(self.created),
            "updated": list(self.updated),
            "returned": list(self.returned),
            "absent": list(self.absent),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """
    What a sync found and did.

    ``generation`` is the one in force afterwards; ``tool_changes`` are names by added, removed and changed.
    ``is_behind`` says that the catalog was not what the document says before this sync.
    """

    discovered: int
    selected: int
    tools: int
    diagnostics: tuple[Diagnostic, ...]
    row_changes: RowChanges
    tool_changes: Mapping[str, list[str]]
    generation: int
    is_behind: bool

    def count(self, severity: Severity) -> int:
        return sum(found.severity is severity for found in self.diagnostics)

    @property
    def is_fatal(self) -> bool:
        return self.count(Severity.FATAL) > 0

    @property
    def is_suspicious(self) -> bool:
        """Whether so much would go that a sync asks for ``force`` (publishing.md)."""
        removed, added = len(self.tool_changes["removed"]), len(self.tool_changes["added"])
        return _is_suspicious(removed, published=self.tools - added + removed)

    def summary(self) -> str:
        return (
            f"{self.discovered} discovered, {self.selected} selected, {self.tools} tools, "
            f"{self.count(Severity.WARNING)} warnings, {self.count(Severity.DROPPED)} dropped, "
            f"{self.count(Severity.FATAL)} fatal"
        )

    def by_code(self) -> list[tuple[str, Severity, list[Diagnostic]]]:
        """(code, severity, findings): the severest first, then the most frequent."""
        order = list(Severity)
        groups: dict[str, list[Diagnostic]] = {}
        for found in self.diagnostics:
            groups.setdefault(found.code, []).append(found)
        rows = [(code, found[0].severity, found) for code, found in groups.items()]
        return sorted(rows, key=lambda row: (order.index(row[1]), -len(row[2]), row[0]))

    def to_json(self) -> dict[str, Any]:
        return {
            "discovered": self.discovered,
            "selected": self.selected,
            "tools": self.tools,
            "warnings": self.count(Severity.WARNING),
            "dropped": self.count(Severity.DROPPED),
            "fatal": self.count(Severity.FATAL),
            "generation": self.generation,
            "behind": self.is_behind,
            "operations": self.row_changes.to_json(),
            "changes": dict(self.tool_changes),
            "diagnostics": [
                {
                    "code": found.code,
                    "severity": found.severity.value,
                    "operation": found.operation,
                    "pointer": found.pointer,
                    "message": found.message,
                }
                for found in self.diagnostics
            ],
        }


def discover(document: Any = OWN, *, progress: source.Progress | None = None) -> Discovery:
    """The operations of ``document``; without one, of the project's own, generated now."""
    if document is not OWN:
        lowered = lower(document)
        lost = {found.operation for found in lowered.diagnostics if found.severity is Severity.DROPPED}
        return _storable(
            Discovery(
                descriptors=lowered.descriptors,
                discovered=len(lowered.descriptors) + len(lost),
                diagnostics=lowered.diagnostics,
            )
        )
    generated = source.generate(progress=progress)
    lowered_each = [lower(each, body_required="always", notation="drf") for each in generated.documents]
    return _storable(
        Discovery(
            descriptors=tuple(descriptor for lowered in lowered_each for descriptor in lowered.descriptors),
            discovered=generated.discovered,
            diagnostics=(*generated.diagnostics, *(found for lowered in lowered_each for found in lowered.diagnostics)),
        )
    )


def _storable(discovery: Discovery) -> Discovery:
    """The same without operations that no row can hold, each with a diagnostic: one must not cost the others."""
    obstacles = {descriptor.key: _obstacle(descriptor) for descriptor in discovery.descriptors}
    return Discovery(
        descriptors=tuple(descriptor for descriptor in discovery.descriptors if not obstacles[descriptor.key]),
        discovered=discovery.discovered,
        diagnostics=(
            *discovery.diagnostics,
            *(
                diagnose("part_unwritable", operation=key, reason=reason)
                for key, reason in obstacles.items()
                if reason is not None
            ),
        ),
    )


def _obstacle(descriptor: Descriptor) -> str | None:
    if len(descriptor.key) > KEY_CHARS:
        return f"method and route have over {KEY_CHARS} characters"
    if _NUL.search(canonical_json(descriptor.to_json())):
        return "it holds a NUL character, which PostgreSQL does not store"
    return None


def sync(
    document: Any = OWN,
    *,
    write: bool = True,
    force: bool = False,
    actor: Any = None,
    progress: source.Progress | None = None,
) -> SyncReport:
    """
    Bring the rows to what the document says and publish; all of it or nothing.

    A fatal document writes nothing, and the last good catalog stays. PublishRefused when more than half of the
    published tools (at least ten) would go and ``force`` was not given.
    """
    discovery = discover(document, progress=progress)
    plan = _plan(discovery)
    if discovery.is_fatal or not write or not plan.is_behind:
        return plan.report(Catalog.objects.generation())
    with transaction.atomic():
        catalog = Catalog.objects.lock()
        if catalog.edit != plan.draft.inputs.edit + 1:
            plan = _plan(discovery)
        if not force:
            _refuse_suspicious_loss(plan.draft)
        _write_rows(plan)
        revision = write_revision(catalog, plan.draft, source=Revision.Source.SYNC, actor=actor)
        report = plan.report(revision.generation if revision else catalog.generation)
        _stamp(catalog, report)
    return report


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    discovery: Discovery
    digests: Mapping[str, str]
    rows: Mapping[str, Operation]
    row_changes: RowChanges
    draft: Draft
    has_new_diagnostics: bool

    @property
    def is_behind(self) -> bool:
        return bool(self.row_changes) or not self.draft.is_published or self.has_new_diagnostics

    def report(self, generation: int) -> SyncReport:
        return SyncReport(
            discovered=self.discovery.discovered,
            selected=len(self.draft.candidate.selected),
            tools=len(self.draft.candidate.tools),
            diagnostics=(*self.discovery.diagnostics, *self.draft.candidate.diagnostics),
            row_changes=self.row_changes,
            tool_changes=self.draft.changes,
            generation=generation,
            is_behind=self.is_behind,
        )


def _plan(discovery: Discovery) -> _Plan:
    rows = {operation.key: operation for operation in Operation.objects.defer("descriptor")}
    digests = {descriptor.key: digest(descriptor.to_json()) for descriptor in discovery.descriptors}
    draft = compile_draft(read_inputs_beside(discovery.descriptors, digests))
    return _Plan(
        discovery=discovery,
        digests=digests,
        rows=rows,
        row_changes=_row_changes(rows, digests),
        draft=draft,
        has_new_diagnostics=not (
            has_diagnostics(DiagnosticRow.Stage.DOCUMENT, discovery.diagnostics)
            and has_diagnostics(DiagnosticRow.Stage.CATALOG, draft.candidate.diagnostics)
        ),
    )


def _row_changes(rows: Mapping[str, Operation], digests: Mapping[str, str]) -> RowChanges:
    known = rows.keys() & digests.keys()
    return RowChanges(
        created=tuple(key for key in digests if key not in rows),
        updated=tuple(sorted(key for key in known if rows[key].descriptor_digest != digests[key])),
        returned=tuple(sorted(key for key in known if rows[key].is_absent)),
        absent=tuple(sorted(key for key in rows.keys() - digests.keys() if not rows[key].is_absent)),
    )


def _is_suspicious(removed: int, *, published: int) -> bool:
    return removed >= SUSPICIOUS_LOSS and removed * 2 > published


def _refuse_suspicious_loss(draft: Draft) -> None:
    removed, published = len(draft.changes["removed"]), len(draft.inputs.published)
    if _is_suspicious(removed, published=published):
        raise PublishRefused(
            f"This sync would remove {removed} of {published} published tools. "
            "Look at the document first; run it again with --force if that is meant."
        )


def _write_rows(plan: _Plan) -> None:
    now = timezone.now()
    changed = {*plan.row_changes.updated, *plan.row_changes.returned}
    created, updated = [], []
    for descriptor in plan.discovery.descriptors:
        row = plan.rows.get(descriptor.key)
        if row is None:
            created.append(_fill(Operation(key=descriptor.key), descriptor, plan.digests))
        elif descriptor.key in changed:
            updated.append(_fill(row, descriptor, plan.digests))
    Operation.objects.bulk_create(created, batch_size=200)
    Operation.objects.bulk_update(updated, _FACTS, batch_size=200)
    Operation.objects.filter(key__in=plan.row_changes.absent).update(absent_since=now)
    replace_diagnostics(DiagnosticRow.Stage.DOCUMENT, plan.discovery.diagnostics)
    replace_diagnostics(DiagnosticRow.Stage.CATALOG, plan.draft.candidate.diagnostics)


_FACTS = (
    "operation_id",
    "container",
    "view",
    "descriptor",
    "descriptor_digest",
    "absent_since",
)


def _fill(row: Operation, descriptor: Descriptor, digests: Mapping[str, str]) -> Operation:
    row.method = descriptor.method
    row.route = descriptor.route
    row.operation_id = descriptor.operation_id or ""
    row.container = descriptor.container or ""
    row.view = descriptor.endpoint.view if descriptor.endpoint else ""
    row.descriptor = descriptor.to_json()
    row.descriptor_digest = digests[descriptor.key]
    row.absent_since = None
    return row


def _stamp(catalog: Catalog, report: SyncReport) -> None:
    catalog.synced_at = timezone.now()
    catalog.counts = {
        "discovered": report.discovered,
        "selected": report.selected,
        "tools": report.tools,
        **{severity.value: report.count(severity) for severity in Severity},
    }
    catalog.save(update_fields=["synced_at", "counts"])
