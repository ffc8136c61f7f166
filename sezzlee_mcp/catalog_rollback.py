"""An older revision's contents as a new generation, and the way back to what the rows say (publishing.md)."""

from dataclasses import replace
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from sezzlee_mcp import publishing
from sezzlee_mcp.catalog.compile import Candidate
from sezzlee_mcp.errors import PublishRefused
from sezzlee_mcp.models import Catalog, Operation, Revision, ToolContent
from sezzlee_mcp.publishing import Draft, Inputs, PublishedTool


def draft_of_rollback(inputs: Inputs, target: Revision, operation: Operation | None = None) -> Draft:
    """
    The catalog with the contents of ``target``, of everything or of one operation alone.

    PublishRefused when that is what is published, or when another operation has one of the names now.
    """
    contents = ToolContent.objects.filter(digest__in=set(target.tools.values()))
    tools: list[PublishedTool]
    if operation is None:
        tools = publishing.stored_tools(contents)
    else:
        tools = publishing.stored_tools(contents.filter(operation_key=operation.key))
        others = [tool for tool in inputs.known.values() if tool.operation != operation.key]
        _refuse_collisions(tools, others)
        tools += others
    in_order = tuple(sorted(tools, key=lambda tool: tool.name))
    draft = publishing.draft_of(inputs, Candidate(tools=in_order, selected=(), names={}, diagnostics=()))
    if draft.contents == inputs.published:
        text = _("Agents read the contents of generation %(number)d already.")
        raise PublishRefused(text % {"number": target.generation})
    return draft


def draft_of_resumption(inputs: Inputs, operation: Operation | None = None) -> Draft:
    """What the rows come to once the hold of everything, or of one operation alone, is gone."""
    held = {} if operation is None else {k: g for k, g in inputs.holds.operations.items() if k != operation.key}
    catalog = None if operation is None else inputs.holds.catalog
    return publishing.compile_draft(replace(inputs, holds=replace(inputs.holds, catalog=catalog, operations=held)))


def roll_back(
    generation: int, *, operation: Operation | None = None, seen: int, actor: Any = None, note: str = ""
) -> Revision:
    """
    The new revision with the contents of an older one, which are held from then on.

    ``seen`` is the generation that whoever asks looked at: PublishRefused when another one is in force by now.
    """
    with transaction.atomic():
        catalog = Catalog.objects.lock()
        if catalog.generation != seen:
            text = _(
                "Generation %(number)d was published since you looked at generation %(seen)d. Look at what it changed, "
                "and decide again."
            )
            raise PublishRefused(text % {"number": catalog.generation, "seen": seen})
        target = Revision.objects.filter(generation=generation).first()
        if target is None:
            raise PublishRefused(_("Generation %(number)d is no longer kept.") % {"number": generation})
        draft = draft_of_rollback(publishing.read_inputs(), target, operation)
        revision = publishing.write_revision(catalog, draft, source=Revision.Source.ROLLBACK, actor=actor, note=note)
        assert revision is not None  # noqa: S101  (its contents differ from what is published)
        _hold(generation, operation)
        catalog.draft_waits = True
        catalog.save(update_fields=["draft_waits"])
    return revision


def resume(
    *, operation: Operation | None = None, seen: str, publishes: bool = True, actor: Any = None, note: str = ""
) -> Revision | None:
    """
    End a hold and publish what the rows say again; None when that is what is held.

    ``seen`` is the digest of the draft that whoever asks looked at: PublishRefused when it is another one by now.
    Where it does not ``publishes``, agents go on reading what was held, and what the rows say waits in the draft.
    """
    with transaction.atomic():
        catalog = Catalog.objects.lock()
        draft = draft_of_resumption(publishing.read_inputs(), operation)
        publishing.refuse_unseen(draft, seen)
        _hold(None, operation)
        if publishes:
            return publishing.publish_rows(catalog, draft, source=Revision.Source.ADMIN, actor=actor, note=note)
        publishing.keep_rows(catalog, draft)
        return None


def _hold(generation: int | None, operation: Operation | None) -> None:
    """A hold of everything takes the place of those of single operations, and ends with them."""
    if operation is not None:
        Operation.objects.filter(pk=operation.pk).update(held_generation=generation)
        return
    Catalog.objects.filter(pk=Catalog.ONLY).update(held_generation=generation)
    Operation.objects.exclude(held_generation=None).update(held_generation=None)


def _refuse_collisions(tools: list[PublishedTool], others: list[PublishedTool]) -> None:
    taken = {tool.name: tool.operation for tool in others}
    for tool in tools:
        if tool.name in taken:
            text = _(
                "The tool was named %(name)s then, which is the name of %(operation)s now. Rename that one first, or "
                "roll back the whole catalog."
            )
            raise PublishRefused(text % {"name": tool.name, "operation": taken[tool.name]})
