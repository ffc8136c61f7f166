"""What staff have made of a large catalog: rows of every kind, some generations, a hold and a draft that waits."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model
from django.db.models import Model
from django.utils.timezone import now

from sezzlee_mcp.catalog_rollback import roll_back
from sezzlee_mcp.models import (
    ArgumentCuration,
    ArgumentRule,
    Catalog,
    Diagnostic,
    Operation,
    Revision,
    SearchCase,
    SelectionRule,
    Tag,
    ToolAlias,
    ToolUse,
    VainWord,
    Variant,
    VisibilityPolicy,
)
from sezzlee_mcp.publishing import keep, publish

RICH, FAMILY, BARE = (f"GET /defectdojo/api/v2/{name}/" for name in ("findings", "tests", "engagements"))
MANY, FEW = 30, 6
HIDDEN = {"hidden": "constant", "constant": True}
LONG = "The findings of all engagements, the newest first, with their notes, their tags and their files. " * 6


def curate(file: str) -> None:
    """Curate, and write into a file, as JSON, the primary keys of the rows that have pages."""
    admin = get_user_model().objects.get(username="admin")
    rich, family = Operation.objects.get(key=RICH), Operation.objects.get(key=FAMILY)
    others = list(Operation.objects.present().filter(key__startswith="GET /netbox/").order_by("pk")[:MANY])
    _describe(rich, family)
    _write_rules(rich)
    _name(others, "former_{}")
    publish(source="admin", actor=admin, note="What staff say of it")
    _name(others, "renamed_{}")
    publish(source="admin", actor=admin, note="Better names")
    roll_back(1, operation=others[0], seen=Catalog.objects.generation(), actor=admin, note="A client needs it.")
    _use(others)
    _wait(get_user_model().objects.exclude(pk=admin.pk).earliest("pk"))
    Path(file).write_text(json.dumps(_rows(rich, family, others[0])), encoding="utf-8")


def _describe(rich: Operation, family: Operation) -> None:
    """One operation with much of everything, and one whose tools are a family."""
    rich.description, rich.title, rich.overrides_tags, rich.overrides_search_terms = LONG, "Findings", True, True
    rich.search_terms = [f"vulnerability {number}" for number in range(MANY)]
    rich.save()
    tags = [Tag(name=f"Tag {number}", folded=f"tag {number}", description=LONG) for number in range(MANY)]
    rich.tags.set(Tag.objects.bulk_create(tags))
    named = ("active", "component_name", "component_version", "created", "cvssv3", "cwe", "date", "file_path")
    said = [{"agent_name": f"my_{name}", "deprecated_aliases": [f"old_{name}"], "description": LONG} for name in named]
    ArgumentCuration.objects.bulk_create(
        ArgumentCuration(operation=rich, name=name, aliases_until=now(), **each)
        for name, each in zip(named, said, strict=True)
    )
    variants = Variant.objects.bulk_create(
        Variant(operation=rich, name=f"findings_{number}", description=LONG) for number in range(FEW)
    )
    ArgumentCuration.objects.bulk_create(
        ArgumentCuration(variant=variant, name=name, **HIDDEN)
        for variant in variants
        for name in ("active", "duplicate", "false_p")
    )
    family.family_parameter = "title"
    family.save()
    Variant.objects.bulk_create(
        Variant(operation=family, name=f"tests_of_{key}", key=key, description=LONG) for key in ("web", "mobile")
    )


def _write_rules(rich: Operation) -> None:
    """Rules that match nothing, and one of each kind that does."""
    routes = [f"/somewhere/{number}/**" for number in range(MANY)]
    SelectionRule.objects.bulk_create(
        SelectionRule(route=route, decision="exclude", note=LONG[:99]) for route in routes
    )
    ArgumentRule.objects.bulk_create(
        ArgumentRule(route=route, argument=f"o{number}", hidden="omit", note=LONG[:99])
        for number, route in enumerate(routes)
    )
    ArgumentRule.objects.create(route="/defectdojo/**", argument="prefetch", description="What to embed.")
    VisibilityPolicy.objects.bulk_create(
        VisibilityPolicy(name=f"Policy {number}", rule="staff", routes=[route]) for number, route in enumerate(routes)
    )
    policy = VisibilityPolicy.objects.create(name="A policy", rule="staff", tags=["Tag 1"])
    policy.operations.set([rich])


def _name(operations: list[Operation], name: str) -> None:
    for number, operation in enumerate(operations):
        operation.name = name.format(number)
    Operation.objects.bulk_update(operations, ["name"])


def _use(others: list[Operation]) -> None:
    """Calls, by old names too, searches in vain, and the measure of the search."""
    today = now().date()
    days = [today - timedelta(days=number) for number in range(MANY)]
    ToolUse.objects.bulk_create(
        ToolUse(day=day, tool=f"renamed_{number}", outcome="ok", former_name=name, calls=3, milliseconds=90)
        for day in days
        for number in range(len(others))
        for name in ("", f"former_{number}")
    )
    VainWord.objects.bulk_create(
        VainWord(day=day, word=f"quince{number}", unanswered=2, unfollowed=1) for day in days for number in range(MANY)
    )
    SearchCase.objects.bulk_create(
        SearchCase(
            need=f"Need {number}", query=f"list findings {number}", tags=["Tag 1"] * (number % 2), expected=[each]
        )
        for number in range(MANY)
        for each in (RICH if number % 2 else BARE,)
    )


def _wait(editor: Any) -> None:
    """Somebody who may not publish has saved some operations."""
    edited = list(Operation.objects.present().filter(key__startswith="GET /inventree/").order_by("pk")[:MANY])
    for operation in edited:
        operation.description = LONG
    Operation.objects.bulk_update(edited, ["description"])
    keep()
    changed = [{"changed": {"fields": ["Description"]}}]
    LogEntry.objects.log_actions(editor.pk, edited, CHANGE, changed)
    LogEntry.objects.log_actions(editor.pk, [Operation.objects.get(key=RICH)] * MANY, CHANGE, changed)


def _rows(rich: Operation, family: Operation, held: Operation) -> dict[str, Any]:
    found = [
        Operation.objects.get(key=BARE),
        family.variants.earliest("pk"),
        VisibilityPolicy.objects.get(tags=["Tag 1"]),
    ]
    names = dict(zip(("bare", "member", "policy"), (row.pk for row in found), strict=True))
    first: tuple[type[Model], ...] = (
        *(Tag, SelectionRule, ArgumentRule, SearchCase, ToolAlias, ToolUse, VainWord, Diagnostic),
    )
    return {
        **{model._meta.model_name: model._default_manager.earliest("pk").pk for model in first},
        **names,
        "catalog": Catalog.ONLY,
        "hiding": ArgumentRule.objects.exclude(hidden="").latest("pk").pk,
        "rich": rich.pk,
        "family": family.pk,
        "held": held.pk,
        "variant": rich.variants.earliest("pk").pk,
        "generation": Revision.objects.latest().pk,
    }
