"""Rows -> candidate -> revision: the one way in which anything reaches an agent (publishing.md)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import models, transaction
from django.db.models.expressions import ExpressionWrapper

from sezzlee_mcp import conf
from sezzlee_mcp.canonical import digest
from sezzlee_mcp.catalog.compile import Candidate, compile_catalog
from sezzlee_mcp.catalog.curation import Curation, PrefixMode, SelectionRule
from sezzlee_mcp.catalog.sources import Source
from sezzlee_mcp.catalog.tools import Tool
from sezzlee_mcp.diagnostics import Diagnostic, Severity
from sezzlee_mcp.models import Catalog, Operation, Revision, ToolContent
from sezzlee_mcp.models import Diagnostic as DiagnosticRow
from sezzlee_mcp.models import SelectionRule as RuleRow
from sezzlee_mcp.models.fields import unpacked_bytes
from sezzlee_mcp.models.operations import KEY_CHARS
from sezzlee_mcp.openapi.descriptors import Descriptor
from sezzlee_mcp.search.cards import card


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTool:
    """A tool of the current revision, its loaded shape packed: a compile that takes it over reads its size only."""

    name: str
    operation: str
    input_digest: str
    content_digest: str
    packed: bytes

    @property
    def loaded(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(unpacked_bytes(self.packed))
        return loaded

    @property
    def loaded_bytes(self) -> int:
        return len(unpacked_bytes(self.packed))  # the order of keys is all that it differs in from canonical JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """
    Everything that a compile reads, as of one edit counter.

    ``digests`` are those of the descriptors, by key; ``published`` is the current revision's
    {tool name: content digest}, ``known`` holds its tools by their input digest.
    """

    edit: int
    descriptors: tuple[Descriptor, ...]
    digests: Mapping[str, str]
    curation: Curation
    published: Mapping[str, str]
    known: Mapping[str, PublishedTool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A compiled catalog that is not published; ``contents`` is its {tool name: content digest}."""

    inputs: Inputs
    candidate: Candidate
    contents: Mapping[str, str]

    @property
    def changes(self) -> dict[str, list[str]]:
        """Tool names by what became of them since the current revision."""
        before, after = self.inputs.published, self.contents
        return {
            "added": sorted(after.keys() - before.keys()),
            "removed": sorted(before.keys() - after.keys()),
            "changed": sorted(name for name in after.keys() & before.keys() if after[name] != before[name]),
        }

    @property
    def is_published(self) -> bool:
        return dict(self.contents) == dict(self.inputs.published)


def publish(*, source: str, actor: Any = None, note: str = "", draft: Draft | None = None) -> Revision | None:
    """
    The new revision, or None when what agents read did not change.

    Compiling happens before the lock; what changed meanwhile is compiled again under it. ``draft`` is what the
    rows come to, where that was compiled already under a lock that this transaction still holds.
    """
    draft = draft or compile_draft(read_inputs())
    with transaction.atomic():
        catalog = Catalog.objects.lock()
        if catalog.edit != draft.inputs.edit + 1:
            draft = compile_draft(read_inputs())
        replace_diagnostics(DiagnosticRow.Stage.CATALOG, draft.candidate.diagnostics)
        return write_revision(catalog, draft, source=source, actor=actor, note=note)


def read_inputs() -> Inputs:
    """The rows as they are now."""
    edit = Catalog.objects.edit()
    operations = list(Operation.objects.with_tags().order_by("key"))
    present = [operation for operation in operations if not operation.is_absent]
    return _inputs(
        edit,
        operations,
        descriptors=tuple(operation.to_descriptor() for operation in present),
        digests={operation.key: operation.descriptor_digest for operation in present},
    )


def read_inputs_beside(descriptors: tuple[Descriptor, ...], digests: Mapping[str, str]) -> Inputs:
    """The rows as they are now, with the operations of a document in place of their own descriptors."""
    edit = Catalog.objects.edit()
    operations = list(Operation.objects.with_tags().defer("descriptor"))
    return _inputs(edit, operations, descriptors=descriptors, digests=digests)


def _inputs(
    edit: int, operations: Iterable[Operation], *, descriptors: tuple[Descriptor, ...], digests: Mapping[str, str]
) -> Inputs:
    tools = _published_tools()
    return Inputs(
        edit=edit,
        descriptors=descriptors,
        digests=digests,
        curation=read_curation(operations),
        published={tool.name: tool.content_digest for tool in tools},
        known={tool.input_digest: tool for tool in tools},
    )


def _published_tools() -> list[PublishedTool]:
    packed = ExpressionWrapper(models.F("loaded"), output_field=models.BinaryField())
    contents = ToolContent.objects.filter(left_generation=None).annotate(packed=packed)
    return [
        PublishedTool(name=name, operation=operation, input_digest=input_digest, content_digest=digest, packed=packed)
        for name, operation, input_digest, digest, packed in contents.values_list(
            "name", "operation_key", "input_digest", "digest", "packed"
        )
    ]


def read_curation(operations: Iterable[Operation]) -> Curation:
    """What the operations' rows, the selection rules and the settings say together."""
    settings = conf.current()
    return Curation(
        operations={operation.key: operation.to_curation() for operation in operations},
        containers={name: decision == "include" for name, decision in settings.containers.items()},
        rules=(*(rule.to_rule() for rule in RuleRow.objects.all()), *(_setting_rule(rule) for rule in settings.rules)),
        exposed_by_default=settings.expose_by_default,
        published_names={
            operation.key: operation.published_name for operation in operations if operation.published_name
        },
        prefix_mode=PrefixMode(settings.prefix_mode),
        prefixes=settings.prefixes,
        budget_bytes=settings.budget_bytes,
        fill_sources=frozenset(settings.providers),
        resolves_files=settings.file_resolver is not None,
    )


def compile_draft(inputs: Inputs) -> Draft:
    candidate = compile_catalog(inputs.descriptors, inputs.curation, known=inputs.known, digests=inputs.digests)
    contents = {tool.name: tool.content_digest for tool in candidate.tools}
    return Draft(inputs=inputs, candidate=candidate, contents=contents)


def draft_with(operation: Operation, tags: tuple[str, ...]) -> Draft:
    """The catalog as it would be with the choices of an operation that is not saved yet."""
    inputs = read_inputs()
    curated = {**inputs.curation.operations, operation.key: operation.curation_with(tags)}
    return compile_draft(replace(inputs, curation=replace(inputs.curation, operations=curated)))


def losses(draft: Draft, edited: Iterable[str] = ()) -> tuple[Diagnostic, ...]:
    """
    What a draft would newly drop: a published operation, or one of those being ``edited`` (publishing.md).

    Also a further route of such an operation, since the shortest route that is exposed makes the tool of them all.
    """
    guarded = {*(tool.operation for tool in draft.inputs.known.values()), *edited}
    named = [descriptor for descriptor in draft.inputs.descriptors if descriptor.operation_id]
    tools = {_tool_identity(descriptor) for descriptor in named if descriptor.key in guarded}
    guarded.update(descriptor.key for descriptor in named if _tool_identity(descriptor) in tools)
    return tuple(
        found
        for found in draft.candidate.diagnostics
        if found.severity is Severity.DROPPED and found.operation in guarded
    )


def _tool_identity(descriptor: Descriptor) -> tuple[str | None, ...]:
    """What operations that are one tool have in common (tools.md, "Names")."""
    return (descriptor.container, descriptor.operation_id, descriptor.method)


def write_revision(
    catalog: Catalog, draft: Draft, *, source: str, actor: Any = None, note: str = ""
) -> Revision | None:
    """Publish a draft that was made under the catalog's lock; None when it is what is published already."""
    if draft.is_published and catalog.generation:
        return None
    changes = draft.changes
    generation = catalog.generation + 1
    _write_contents(draft, changes, generation)
    revision = Revision.objects.create(
        generation=generation,
        actor=actor,
        source=source,
        note=note,
        counts={"tools": len(draft.contents), **{kind: len(names) for kind, names in changes.items()}},
        changes=changes,
        tools=dict(draft.contents),
    )
    catalog.generation = generation
    catalog.contents_digest = digest(dict(draft.contents))
    catalog.save(update_fields=["generation", "contents_digest"])
    _keep_names(draft)
    _prune(generation)
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


def _setting_rule(rule: Mapping[str, str]) -> SelectionRule:
    return SelectionRule(include=rule["decision"] == "include", route=rule.get("route"), method=rule.get("method"))


def _write_contents(draft: Draft, changes: Mapping[str, list[str]], generation: int) -> None:
    gone = [draft.inputs.published[name] for name in (*changes["removed"], *changes["changed"])]
    ToolContent.objects.filter(digest__in=gone).update(left_generation=generation)
    wanted = {draft.contents[name] for name in (*changes["added"], *changes["changed"])}
    returning = ToolContent.objects.filter(digest__in=wanted)
    returning.update(left_generation=None)
    missing = wanted - set(returning.values_list("digest", flat=True))
    compiled = [tool for tool in draft.candidate.tools if isinstance(tool, Tool)]
    contents = [_to_content(tool, draft.contents[tool.name]) for tool in compiled]
    ToolContent.objects.bulk_create([content for content in contents if content.digest in missing], batch_size=100)


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
    removed, _ = Revision.objects.filter(generation__lt=oldest).delete()
    if removed:
        ToolContent.objects.filter(left_generation__lte=oldest).delete()


def _to_content(tool: Tool, content_digest: str) -> ToolContent:
    return ToolContent(
        digest=content_digest,
        name=tool.name,
        operation_key=tool.operation,
        version=tool.version,
        input_digest=tool.input_digest,
        card=card(tool.loaded),
        document=tool.document.to_json(),
        auth=tool.auth.to_json(),
        loaded=tool.loaded,
        template=tool.template.to_json(),
    )
