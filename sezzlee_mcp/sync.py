"""Document -> operation rows -> a publish, in one transaction, with a report of what was found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from sezzlee_mcp import conf, source
from sezzlee_mcp.canonical import Writer, holds_nul, sha256
from sezzlee_mcp.diagnostics import Diagnostic, Severity, diagnose
from sezzlee_mcp.errors import PublishRefused
from sezzlee_mcp.models import Catalog, Operation, Revision
from sezzlee_mcp.models import Diagnostic as DiagnosticRow
from sezzlee_mcp.models.fields import packed
from sezzlee_mcp.models.operations import KEY_CHARS
from sezzlee_mcp.openapi.descriptors import Descriptor, Outline
from sezzlee_mcp.openapi.lower import Lowered, lower
from sezzlee_mcp.publishing import (
    Draft,
    compile_draft,
    has_diagnostics,
    keep_rows,
    publish_rows,
    read_inputs,
    read_inputs_beside,
    replace_diagnostics,
    waiting_tools,
)

# A sync that takes away this many tools and more than half of all is a mistake until somebody says otherwise.
SUSPICIOUS_LOSS = 10
# The project's own document; None is a document too (``null`` in JSON), and a fatal one.
OWN: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """
    What a document says: its operations, how many endpoints there were, and what could not be read.

    ``digests`` are those of the descriptors, by key; ``writer`` has written their schemas.
    """

    descriptors: tuple[Descriptor, ...]
    digests: Mapping[str, str]
    writer: Writer
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

    ``compiled`` counts the tools whose inputs were new, the others were taken over as they are published.
    ``generation`` is the one in force afterwards; ``tool_changes`` are names by added, removed and changed: what it
    publishes, or what waits in the draft where it does not ``publishes``.
    ``withheld`` are those that would be other ones if a rollback did not hold them, ``carried`` those that edits in the
    draft change, which it publishes along.
    ``is_behind`` says that this sync found something to write, or to publish where it does. ``lost`` counts the
    published tools that it takes away.
    """

    discovered: int
    selected: int
    tools: int
    compiled: int
    diagnostics: tuple[Diagnostic, ...]
    row_changes: RowChanges
    tool_changes: Mapping[str, list[str]]
    generation: int
    is_behind: bool
    withheld: tuple[str, ...]
    carried: tuple[str, ...]
    publishes: bool
    lost: int

    def count(self, severity: Severity) -> int:
        return sum(found.severity is severity for found in self.diagnostics)

    @property
    def is_fatal(self) -> bool:
        return self.count(Severity.FATAL) > 0

    @property
    def is_suspicious(self) -> bool:
        """Whether so much would go that a sync asks for ``force`` (publishing.md)."""
        removed, added = len(self.tool_changes["removed"]), len(self.tool_changes["added"])
        return _is_suspicious(self.lost, published=self.tools - added + removed)

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
            "compiled": self.compiled,
            "warnings": self.count(Severity.WARNING),
            "dropped": self.count(Severity.DROPPED),
            "fatal": self.count(Severity.FATAL),
            "generation": self.generation,
            "behind": self.is_behind,
            "operations": self.row_changes.to_json(),
            "changes": dict(self.tool_changes),
            "withheld": list(self.withheld),
            "carried": list(self.carried),
            "publishes": self.publishes,
            "diagnostics": [found.to_json() for found in self.diagnostics],
        }


def discover(document: Any = OWN, *, progress: source.Progress | None = None) -> Discovery:
    """The operations of ``document``; without one, of the project's own, generated now."""
    if document is not OWN:
        lowered = lower(document)
        lost = {found.operation for found in lowered.diagnostics if found.severity is Severity.DROPPED}
        return _discovery([lowered], len(lowered.descriptors) + len(lost))
    generated = source.generate(progress=progress)
    lowered_each = [lower(each, body_required="always", notation="drf") for each in generated.documents]
    return _discovery(lowered_each, generated.discovered, generated.diagnostics)


def _discovery(lowered: Iterable[Lowered], discovered: int, diagnostics: Iterable[Diagnostic] = ()) -> Discovery:
    """What was lowered without the operations that no row can hold; each is said, and costs no other one."""
    writer = Writer()
    descriptors, digests, found = [], {}, list(diagnostics)
    for each in lowered:
        found.extend(each.diagnostics)
    for descriptor in (descriptor for each in lowered for descriptor in each.descriptors):
        written = writer.settled(descriptor.to_json())
        obstacle = _obstacle(descriptor.key, written)
        if obstacle is None:
            descriptors.append(descriptor)
            digests[descriptor.key] = sha256(written)
        else:
            found.append(diagnose("part_unwritable", operation=descriptor.key, reason=obstacle))
    return Discovery(
        descriptors=tuple(descriptors), digests=digests, writer=writer, discovered=discovered, diagnostics=tuple(found)
    )


def _obstacle(key: str, written: str) -> str | None:
    if len(key) > KEY_CHARS:
        return f"method and route have over {KEY_CHARS} characters"
    if holds_nul(written):
        return "it holds a NUL character, which PostgreSQL does not store"
    return None


def sync(
    document: Any = OWN,
    *,
    write: bool = True,
    force: bool = False,
    publishes: bool = True,
    actor: Any = None,
    progress: source.Progress | None = None,
) -> SyncReport:
    """
    Bring the rows to what the document says and publish; all of it or nothing.

    Where it does not ``publishes``, what the rows come to waits in the draft. A fatal document writes nothing, and the
    last good catalog stays. PublishRefused when more than half of the published tools (at least ten) would go and
    ``force`` was not given; a draft takes none away, but what is a mistake is as hard to see in it.
    """
    discovery = discover(document, progress=progress)
    plan = _plan(discovery, publishes)
    if discovery.is_fatal or not write or not plan.has_to_write:
        return plan.report(Catalog.objects.generation())
    with transaction.atomic():
        catalog = Catalog.objects.lock()
        if catalog.edit != plan.draft.inputs.edit + 1:
            plan = _plan(discovery, publishes)
        if not force:
            _refuse_suspicious_loss(plan)
        _write_rows(plan)
        catalog.synced_release = conf.current().release
        revision = None
        if publishes:
            revision = publish_rows(catalog, plan.draft, source=Revision.Source.SYNC, actor=actor)
        else:
            keep_rows(catalog, plan.draft)
        report = plan.report(revision.generation if revision else catalog.generation)
        if plan.is_behind:
            _stamp(catalog, report)
    return report


def preview() -> Draft | None:
    """What a sync of the project's own document would publish; None when it would refuse the document."""
    discovery = discover()
    return None if discovery.is_fatal else _plan(discovery, publishes=True).draft


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    discovery: Discovery
    row_changes: RowChanges
    draft: Draft
    carried: tuple[str, ...]
    has_new_diagnostics: bool
    has_new_release: bool
    publishes: bool

    @property
    def is_behind(self) -> bool:
        has_new_tools = self.publishes and not self.draft.is_published
        return bool(self.row_changes) or has_new_tools or self.has_new_diagnostics or self.has_new_release

    @property
    def has_to_write(self) -> bool:
        """Also what tools that are published already were compiled from now, which no draft writes down."""
        return self.is_behind or (self.publishes and bool(self.draft.candidate.compiled))

    @property
    def lost(self) -> int:
        """How many published tools go; of a draft, in which edits of staff's wait, those of operations it changes."""
        removed = self.draft.tool_changes["removed"]
        if self.publishes:
            return len(removed)
        changed = {*self.row_changes.updated, *self.row_changes.absent}
        operations = {tool.name: tool.operation for tool in self.draft.inputs.known.values()}
        return sum(operations[name] in changed for name in removed)

    def report(self, generation: int) -> SyncReport:
        return SyncReport(
            discovered=self.discovery.discovered,
            selected=len(self.draft.candidate.selected),
            tools=len(self.draft.candidate.tools),
            compiled=len(self.draft.candidate.compiled),
            diagnostics=(*self.discovery.diagnostics, *self.draft.candidate.diagnostics),
            row_changes=self.row_changes,
            tool_changes=self.draft.tool_changes,
            generation=generation,
            is_behind=self.is_behind,
            withheld=self.draft.withheld,
            carried=self.carried,
            publishes=self.publishes,
            lost=self.lost,
        )


def _plan(discovery: Discovery, publishes: bool) -> _Plan:
    release = conf.current().release
    catalog = Catalog.objects.filter(pk=Catalog.ONLY).only("release", "synced_release").first() or Catalog()
    draft = compile_draft(read_inputs_beside(discovery.descriptors, discovery.digests), discovery.writer)
    return _Plan(
        discovery=discovery,
        row_changes=_row_changes(draft.inputs.rows, discovery.digests),
        draft=draft,
        carried=waiting_tools(read_inputs()) if publishes and draft.inputs.draft_waits else (),
        has_new_diagnostics=not (
            has_diagnostics(DiagnosticRow.Stage.DOCUMENT, discovery.diagnostics)
            and has_diagnostics(DiagnosticRow.Stage.CATALOG, draft.candidate.diagnostics)
        ),
        has_new_release=catalog.synced_release != release or (publishes and catalog.release != release),
        publishes=publishes,
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


def _refuse_suspicious_loss(plan: _Plan) -> None:
    published = len(plan.draft.inputs.published)
    if _is_suspicious(plan.lost, published=published):
        text = _(
            "This sync would remove %(lost)d of %(published)d published tools. Look at the document first; run it "
            "again with --force if that is meant."
        )
        raise PublishRefused(text % {"lost": plan.lost, "published": published})


def _write_rows(plan: _Plan) -> None:
    now = timezone.now()
    changed = {*plan.row_changes.updated, *plan.row_changes.returned}
    created, updated = [], []
    for descriptor in plan.discovery.descriptors:
        row = plan.draft.inputs.rows.get(descriptor.key)
        if row is None:
            created.append(_fill(Operation(key=descriptor.key), descriptor, plan.discovery))
        elif descriptor.key in changed:
            updated.append(_fill(row, descriptor, plan.discovery))
    Operation.objects.bulk_create(created, batch_size=200)
    Operation.objects.bulk_update(updated, _FACTS, batch_size=200)
    Operation.objects.filter(key__in=plan.row_changes.absent).update(absent_since=now)
    replace_diagnostics(DiagnosticRow.Stage.DOCUMENT, plan.discovery.diagnostics)


_FACTS = (
    "operation_id",
    "container",
    "view",
    "outline",
    "slots",
    "descriptor_digest",
    "absent_since",
)


def _fill(row: Operation, descriptor: Descriptor, discovery: Discovery) -> Operation:
    row.method = descriptor.method
    row.route = descriptor.route
    row.operation_id = descriptor.operation_id or ""
    row.container = descriptor.container or ""
    row.view = descriptor.endpoint.view if descriptor.endpoint else ""
    row.outline = packed(discovery.writer.in_order(Outline.to_json(descriptor)))
    row.slots = packed(discovery.writer.in_order(descriptor.slots_to_json()))
    row.descriptor_digest = discovery.digests[descriptor.key]
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
    catalog.save(update_fields=["synced_at", "counts", "synced_release"])
