"""Rows -> candidate -> revision: the one way in which anything reaches an agent (publishing.md)."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db import models, transaction
from django.db.models.expressions import ExpressionWrapper
from django.utils.translation import gettext as _

from sezzlee_mcp import aliases, conf, history, holds
from sezzlee_mcp.aliases import Alias
from sezzlee_mcp.canonical import Writer, digest
from sezzlee_mcp.catalog.changes import Change, changes_of_moved
from sezzlee_mcp.catalog.compile import Candidate, Reader, compile_catalog
from sezzlee_mcp.catalog.curation import Curation, OperationCuration, PrefixMode, SelectionRule
from sezzlee_mcp.catalog.sources import Source
from sezzlee_mcp.catalog.tools import Tool
from sezzlee_mcp.diagnostics import Diagnostic, Severity
from sezzlee_mcp.errors import PublishRefused
from sezzlee_mcp.holds import Holds
from sezzlee_mcp.models import ArgumentRule, Catalog, Operation, Revision, ToolContent, VisibilityPolicy
from sezzlee_mcp.models import Diagnostic as DiagnosticRow
from sezzlee_mcp.models import SelectionRule as RuleRow
from sezzlee_mcp.models.fields import packed, unpacked_bytes
from sezzlee_mcp.models.operations import KEY_CHARS
from sezzlee_mcp.openapi.descriptors import Descriptor, Outline
from sezzlee_mcp.search.cards import card
from sezzlee_mcp.signals import catalog_published


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTool:
    """A tool of the current revision; its loaded shape is packed, since a compile reads none but those of variants."""

    name: str
    operation: str
    input_digest: str
    content_digest: str
    is_variant: bool
    packed: bytes
    loaded_bytes: int
    findings: tuple[Diagnostic, ...]

    @property
    def loaded(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(unpacked_bytes(self.packed))
        return loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """
    Everything that a compile reads, as of one edit counter.

    ``rows`` are those of all operations, the absent ones too, by key. ``outlines`` are of those to be compiled,
    ``digests`` their descriptors' by key, and ``read`` gives a descriptor that has to be compiled. ``published`` is the
    current revision's {tool name: content digest}, ``known`` holds its tools by their input digest.
    ``aliases`` are those of the rows, ``published_aliases`` those of the current revision; ``holds`` say what stays
    as it is published. ``draft_waits`` as the catalog's row says it.
    """

    edit: int
    draft_waits: bool
    rows: Mapping[str, Operation]
    outlines: tuple[Outline, ...]
    digests: Mapping[str, str]
    read: Reader
    curation: Curation
    published: Mapping[str, str]
    known: Mapping[str, PublishedTool]
    aliases: Mapping[str, Alias]
    published_aliases: Mapping[str, Alias]
    holds: Holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """
    A compiled catalog that is not published.

    ``contents`` is its {tool name: content digest}, ``aliases`` are the old names of renamed tools, also of those that
    are no tool now. ``changes`` are those since the current revision, as agents meet them.
    ``withheld`` are names of tools that would be other ones if nothing were held.
    """

    inputs: Inputs
    candidate: Candidate
    contents: Mapping[str, str]
    aliases: Mapping[str, Alias]
    changes: tuple[Change, ...]
    withheld: tuple[str, ...]

    @property
    def tool_changes(self) -> dict[str, list[str]]:
        """Tool names by what became of them since the current revision."""
        before, after = self.inputs.published, self.contents
        return {
            "added": sorted(after.keys() - before.keys()),
            "removed": sorted(before.keys() - after.keys()),
            "changed": sorted(name for name in after.keys() & before.keys() if after[name] != before[name]),
        }

    @property
    def answered_aliases(self) -> dict[str, Alias]:
        """The aliases that lead to a tool of it."""
        return {name: alias for name, alias in self.aliases.items() if alias.tool in self.contents}

    @property
    def digest(self) -> str:
        """Of what is published and what publishing it would put in its place."""
        after = {name: alias.tool for name, alias in self.answered_aliases.items()}
        before = {name: alias.tool for name, alias in self.inputs.published_aliases.items()}
        return digest([dict(self.inputs.published), before, dict(self.contents), after])

    @property
    def is_published(self) -> bool:
        """Whether agents read the same now; an alias that has ended by itself is no difference."""
        published = self.inputs.published_aliases
        holding = {name: alias for name, alias in published.items() if alias.holds(aliases.today())}
        return dict(self.contents) == dict(self.inputs.published) and self.answered_aliases == holding


def publish(
    *, source: str, actor: Any = None, note: str = "", draft: Draft | None = None, seen: str | None = None
) -> Revision | None:
    """
    The new revision, or None when what agents read did not change.

    Compiling happens before the lock; what changed meanwhile is compiled again under it. ``draft`` is what the
    rows come to, where that was compiled already under a lock that this transaction still holds. ``seen`` is the
    digest of the draft that whoever asks looked at: PublishRefused when it is another one by now.
    """
    draft = draft or compile_draft(read_inputs())
    with transaction.atomic():
        catalog, draft = _locked(draft)
        if seen is not None:
            refuse_unseen(draft, seen)
        return publish_rows(catalog, draft, source=source, actor=actor, note=note)


def keep(draft: Draft | None = None) -> bool:
    """
    Leave what the rows come to in the draft, so that agents read what they read; whether anything waits there now.

    ``draft`` is as for ``publish``.
    """
    draft = draft or compile_draft(read_inputs())
    with transaction.atomic():
        catalog, draft = _locked(draft)
        keep_rows(catalog, draft)
    return catalog.draft_waits


def _locked(draft: Draft) -> tuple[Catalog, Draft]:
    """The catalog, locked, with the draft; that is compiled again when anything was edited since it was."""
    catalog = Catalog.objects.lock()
    is_current = catalog.edit == draft.inputs.edit + 1
    return catalog, draft if is_current else compile_draft(read_inputs())


def refuse_unseen(draft: Draft, seen: str) -> None:
    """PublishRefused when a draft is not the one, by its digest, that whoever publishes it looked at."""
    if draft.digest != seen:
        raise PublishRefused(
            _(
                "The draft, or what is published, changed since you opened the page. Look at what publishing changes "
                "now, and decide again."
            )
        )


def publish_rows(catalog: Catalog, draft: Draft, *, source: str, actor: Any = None, note: str = "") -> Revision | None:
    """Publish what the rows come to, compiled under the catalog's lock; None when agents read that already."""
    replace_diagnostics(DiagnosticRow.Stage.CATALOG, draft.candidate.diagnostics)
    catalog.release = catalog.synced_release
    revision = write_revision(catalog, draft, source=source, actor=actor, note=note)
    catalog.draft_waits = bool(draft.withheld)
    catalog.save(update_fields=["release", "draft_waits"])
    return revision


def keep_rows(catalog: Catalog, draft: Draft) -> None:
    """Publish nothing of what the rows come to, compiled under the catalog's lock; the diagnostics are theirs."""
    replace_diagnostics(DiagnosticRow.Stage.CATALOG, draft.candidate.diagnostics)
    if draft.is_published:  # then what agents read is what the code that was synced last comes to
        catalog.release = catalog.synced_release
    catalog.draft_waits = bool(draft.withheld) or not draft.is_published
    catalog.save(update_fields=["release", "draft_waits"])


def read_inputs() -> Inputs:
    """The rows as they are now."""
    catalog, rows = _catalog(), _rows()
    present = [operation for operation in rows.values() if not operation.is_absent]
    return _inputs(
        catalog,
        rows,
        outlines=tuple(operation.to_outline() for operation in present),
        digests={operation.key: operation.descriptor_digest for operation in present},
        read=_stored_descriptors,
    )


def read_inputs_beside(descriptors: tuple[Descriptor, ...], digests: Mapping[str, str]) -> Inputs:
    """The rows as they are now, with the operations of a document in place of their own descriptors."""
    catalog, rows = _catalog(), _rows("outline")
    by_key = {descriptor.key: descriptor for descriptor in descriptors}
    return _inputs(
        catalog, rows, outlines=descriptors, digests=digests, read=lambda keys: (by_key[key] for key in keys)
    )


def _catalog() -> Catalog:
    """The one row, to be read before all others, or what it would say."""
    return Catalog.objects.filter(pk=Catalog.ONLY).first() or Catalog()


def _rows(*deferred: str) -> dict[str, Operation]:
    return {operation.key: operation for operation in Operation.objects.with_curation().defer(*deferred)}


def _stored_descriptors(keys: Collection[str]) -> Iterator[Descriptor]:
    """A few in memory at a time: the schemas of all are a hundred times what is stored."""
    rows = Operation.objects.filter(key__in=keys).only("outline", "slots")
    yield from (row.to_descriptor() for row in rows.iterator(chunk_size=50))


def _inputs(
    catalog: Catalog,
    rows: Mapping[str, Operation],
    *,
    outlines: tuple[Outline, ...],
    digests: Mapping[str, str],
    read: Reader,
) -> Inputs:
    tools = stored_tools(ToolContent.objects.filter(left_generation=None))
    return Inputs(
        edit=catalog.edit,
        draft_waits=catalog.draft_waits,
        rows=rows,
        outlines=outlines,
        digests=digests,
        read=read,
        curation=read_curation(rows.values()),
        published={tool.name: tool.content_digest for tool in tools},
        known={tool.input_digest: tool for tool in tools},
        aliases=aliases.kept(),
        published_aliases=_published_aliases(),
        holds=Holds(catalog=catalog.held_generation, operations=holds.among(rows.values())),
    )


def _published_aliases() -> dict[str, Alias]:
    published = Revision.objects.values_list("aliases", flat=True).first() or {}
    return {name: Alias.from_json(alias) for name, alias in published.items()}


def stored_tools(contents: models.QuerySet[ToolContent]) -> list[PublishedTool]:
    """The tools of these contents as a compile takes them over."""
    packed = ExpressionWrapper(models.F("loaded"), output_field=models.BinaryField())
    contents = contents.annotate(packed=packed)
    return [
        PublishedTool(
            name=name,
            operation=operation,
            input_digest=input_digest,
            content_digest=digest,
            is_variant=is_variant,
            packed=packed,
            loaded_bytes=loaded_bytes,
            findings=tuple(Diagnostic.from_json(found) for found in findings),
        )
        for name, operation, input_digest, digest, is_variant, packed, loaded_bytes, findings in contents.values_list(
            "name", "operation_key", "input_digest", "digest", "is_variant", "packed", "loaded_bytes", "findings"
        )
    ]


def read_curation(operations: Iterable[Operation]) -> Curation:
    """What the operations' rows, the rules and the settings say together."""
    return replace(
        read_choices(operations),
        argument_rules=tuple(rule.to_rule() for rule in ArgumentRule.objects.all()),
        policies=tuple(policy.to_policy() for policy in VisibilityPolicy.objects.with_operations()),
    )


def read_choices(operations: Iterable[Operation]) -> Curation:
    """The same without the rules about arguments and callers, on which no field of an operation depends."""
    settings = conf.current()
    return Curation(
        operations={operation.key: operation.to_curation() for operation in operations},
        containers={name: decision == "include" for name, decision in settings.containers.items()},
        rules=(*(rule.to_rule() for rule in RuleRow.objects.all()), *setting_rules()),
        exposed_by_default=settings.expose_by_default,
        published_names={
            operation.key: operation.published_name for operation in operations if operation.published_name
        },
        prefix_mode=PrefixMode(settings.prefix_mode),
        prefixes=settings.prefixes,
        budget_bytes=settings.budget_bytes,
        fill_sources=frozenset(settings.providers),
        sealed=frozenset(settings.sealed),
        resolves_files=settings.file_resolver is not None,
    )


def compile_draft(inputs: Inputs, writer: Writer | None = None) -> Draft:
    """The catalog that the rows come to, with what is held as it is published."""
    compiled = compile_catalog(
        inputs.outlines,
        inputs.curation,
        known=inputs.known,
        digests=inputs.digests,
        read=inputs.read,
        writer=writer,
    )
    draft = draft_of(inputs, inputs.holds.over(compiled, inputs.known.values()))
    meant = {tool.name: tool.content_digest for tool in compiled.tools}
    return replace(draft, withheld=tuple(history.moved(meant, draft.contents)))


def waiting_tools(inputs: Inputs) -> tuple[str, ...]:
    """
    The tools that publishing the rows as they are would change.

    Compiled only where something is known to wait, since that takes as long as a save.
    """
    changes = compile_draft(inputs).changes if inputs.draft_waits else ()
    return tuple(dict.fromkeys(change.tool for change in changes))


def draft_of(inputs: Inputs, candidate: Candidate) -> Draft:
    """The draft that publishes exactly the tools of a candidate."""
    contents = {tool.name: tool.content_digest for tool in candidate.tools}
    renamed = aliases.renames(inputs.known.values(), candidate.tools)
    followed = aliases.followed(inputs.aliases, renamed, contents, conf.current().tool_alias_days)
    return Draft(
        inputs=inputs,
        candidate=candidate,
        contents=contents,
        aliases=followed,
        changes=_changes(inputs, candidate, contents, followed),
        withheld=(),
    )


def _changes(
    inputs: Inputs, candidate: Candidate, contents: Mapping[str, str], followed: Mapping[str, Alias]
) -> tuple[Change, ...]:
    names = set(history.moved(inputs.published, contents))
    led = {name: alias.tool for name, alias in followed.items() if name in names and alias.tool in contents}
    old = {tool.name: tool.loaded for tool in inputs.known.values() if tool.name in names}
    new = {tool.name: tool.loaded for tool in candidate.tools if tool.name in names.union(led.values())}
    return changes_of_moved(old, new, led, steps=history.STEPS)


def draft_with(choices: Mapping[str, OperationCuration], inputs: Inputs | None = None) -> Draft:
    """The catalog as it would be with choices, by operation key, that are not saved yet."""
    inputs = inputs or read_inputs()
    curated = {**inputs.curation.operations, **choices}
    return compile_draft(replace(inputs, curation=replace(inputs.curation, operations=curated)))


def losses(draft: Draft, edited: Iterable[str] = ()) -> tuple[Diagnostic, ...]:
    """
    What a draft would newly drop: a published operation, or one of those being ``edited`` (publishing.md).

    Also a further route of such an operation, since the shortest route that is exposed makes the tool of them all.
    """
    guarded = {*(tool.operation for tool in draft.inputs.known.values()), *edited}
    named = [outline for outline in draft.inputs.outlines if outline.operation_id]
    tools = {_tool_identity(outline) for outline in named if outline.key in guarded}
    guarded.update(outline.key for outline in named if _tool_identity(outline) in tools)
    return tuple(
        found
        for found in draft.candidate.diagnostics
        if found.severity is Severity.DROPPED and found.operation in guarded
    )


def new_losses(draft: Draft, edited: Iterable[str] = ()) -> list[Diagnostic]:
    """
    The losses of a draft that are not there already.

    An operation that is no tool, for a reason that the document gives, can still be edited.
    """
    found = losses(draft, edited)
    stored = DiagnosticRow.objects.filter(stage=DiagnosticRow.Stage.CATALOG, key__in={loss.operation for loss in found})
    known = set(stored.values_list("key", "code", "message"))
    return [loss for loss in found if (loss.operation, loss.code, loss.message) not in known]


def _tool_identity(outline: Outline) -> tuple[str | None, ...]:
    """What operations that are one tool have in common (tools.md, "Names")."""
    return (outline.container, outline.operation_id, outline.method)


def write_revision(
    catalog: Catalog, draft: Draft, *, source: str, actor: Any = None, note: str = ""
) -> Revision | None:
    """
    Publish a draft that was made under the catalog's lock; None when it is what is published already.

    What came to an equal content from other inputs, as after an upgrade, is remembered all the same.
    """
    _keep_inputs(draft)
    if draft.is_published and catalog.generation:
        return None
    changes, record = draft.tool_changes, history.Record.of(draft.changes)
    generation = catalog.generation + 1
    _write_contents(draft, changes, generation)
    revision = Revision.objects.create(
        generation=generation,
        actor=actor,
        source=source,
        note=note,
        release=catalog.release,
        counts={
            "tools": len(draft.contents),
            **{kind: len(names) for kind, names in changes.items()},
            **record.counts,
        },
        changes=record.to_json(),
        tools=dict(draft.contents),
        aliases={name: alias.to_json() for name, alias in sorted(draft.answered_aliases.items())},
    )
    catalog.generation = generation
    catalog.contents_digest = digest(dict(draft.contents))
    catalog.save(update_fields=["generation", "contents_digest"])
    _keep_names(draft)
    aliases.store(draft.aliases, {tool.name: tool.operation for tool in draft.candidate.tools})
    _prune(generation)
    transaction.on_commit(partial(catalog_published.send_robust, sender=Revision, revision=revision))
    return revision


def has_diagnostics(stage: str, found: Iterable[Diagnostic]) -> bool:
    """Whether exactly these diagnostics are stored for a stage."""
    return sorted(DiagnosticRow.objects.filter(stage=stage).values_list(*_COLUMNS)) == _diagnostic_rows(found)


def replace_diagnostics(stage: str, found: Iterable[Diagnostic]) -> None:
    """Store these diagnostics as those of a stage; equal ones are left as they are."""
    found = tuple(found)
    if has_diagnostics(stage, found):
        return
    DiagnosticRow.objects.filter(stage=stage).delete()
    ids = dict(Operation.objects.values_list("key", "pk"))
    DiagnosticRow.objects.bulk_create(
        [
            DiagnosticRow(stage=stage, operation_id=ids.get(row[-1]), **dict(zip(_COLUMNS, row, strict=True)))
            for row in _diagnostic_rows(found)
        ],
        batch_size=500,
    )


_COLUMNS = ("code", "severity", "pointer", "message", "key")


def _diagnostic_rows(found: Iterable[Diagnostic]) -> list[tuple[str, ...]]:
    texts = ((each.code, each.severity.value, each.pointer, each.message, each.operation[:KEY_CHARS]) for each in found)
    # PostgreSQL stores no NUL, which a document may hold anywhere.
    return sorted({tuple(text.replace("\0", "\N{REPLACEMENT CHARACTER}") for text in row) for row in texts})


def setting_rules() -> tuple[SelectionRule, ...]:
    """The selection rules of the settings; those of the admin are rows."""
    return tuple(
        SelectionRule(include=rule["decision"] == "include", route=rule.get("route"), method=rule.get("method"))
        for rule in conf.current().rules
    )


def _write_contents(draft: Draft, changes: Mapping[str, list[str]], generation: int) -> None:
    gone = [draft.inputs.published[name] for name in (*changes["removed"], *changes["changed"])]
    ToolContent.objects.filter(digest__in=gone).update(left_generation=generation)
    wanted = {draft.contents[name] for name in (*changes["added"], *changes["changed"])}
    returning = ToolContent.objects.filter(digest__in=wanted)
    returning.update(left_generation=None)
    missing = wanted - set(returning.values_list("digest", flat=True))
    compiled = [tool for tool in draft.candidate.tools if isinstance(tool, Tool) and tool.content_digest in missing]
    writer = Writer()
    ToolContent.objects.bulk_create([_to_content(tool, writer) for tool in compiled], batch_size=100)


def _keep_inputs(draft: Draft) -> None:
    """Say of contents that are stored what they were compiled from now, so that the next compile takes them over."""
    compiled = {tool.content_digest: tool for tool in draft.candidate.compiled}
    rows = list(ToolContent.objects.filter(digest__in=compiled).only("digest", "input_digest", "findings"))
    for row in rows:
        row.input_digest, row.findings = compiled[row.digest].input_digest, _said(compiled[row.digest])
    ToolContent.objects.bulk_update(rows, ["input_digest", "findings"], batch_size=500)


def _said(tool: Tool) -> list[dict[str, str]]:
    return [found.to_json() for found in tool.findings]


def _keep_names(draft: Draft) -> None:
    """Remember each generated name with its operation; a declared one needs no memory, and may be withdrawn."""
    names = {
        operation: "" if name.source in (Source.STAFF, Source.CODE) else name.value
        for operation, name in draft.candidate.names.items()
    }
    kept = draft.inputs.curation.published_names
    moved = [operation for operation, name in names.items() if kept.get(operation, "") != name]
    rows = list(Operation.objects.filter(key__in=moved).only("pk", "key", "published_name"))
    for row in rows:
        row.published_name = names[row.key]
    Operation.objects.bulk_update(rows, ["published_name"], batch_size=500)


def _prune(generation: int) -> None:
    oldest = generation - conf.current().kept_revisions + 1
    removed, _of_models = Revision.objects.filter(generation__lt=oldest).delete()
    if removed:
        ToolContent.objects.filter(left_generation__lte=oldest).delete()


def _to_content(tool: Tool, writer: Writer) -> ToolContent:
    return ToolContent(
        digest=tool.content_digest,
        name=tool.name,
        operation_key=tool.operation,
        is_variant=tool.is_variant,
        version=tool.version,
        input_digest=tool.input_digest,
        card=card(tool.loaded),
        document=tool.document.to_json(),
        auth=tool.auth.to_json(),
        findings=_said(tool),
        loaded=packed(writer.in_order(tool.loaded)),
        loaded_bytes=tool.loaded_bytes,
        template=tool.template.to_json(),
    )
