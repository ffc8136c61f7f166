"""Whatever staff say comes to the same contract where the file of it is loaded, byte for byte."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from benchmarks import catalogs
from sezzlee_mcp import contracts, curation_files, curation_loads
from sezzlee_mcp.admin.argument_tables import wire_names
from sezzlee_mcp.catalog.curation_files import read_curation
from sezzlee_mcp.errors import CurationRefused
from sezzlee_mcp.models import ArgumentCuration, ArgumentRule, Operation, SelectionRule, Tag, Variant, VisibilityPolicy
from sezzlee_mcp.models.hints import HINTS
from sezzlee_mcp.publishing import compile_draft, new_losses, publish, read_inputs
from sezzlee_mcp.sync import sync

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(str.strip)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)
HINTED = st.dictionaries(st.sampled_from(sorted(HINTS)), st.booleans(), max_size=2)
MAYBE_TEXT = st.just("") | TEXTS
GLOBS = st.sampled_from(["", "**", "/api/*/", "/api/orders/**", "/nowhere/"])
Draw = Callable[[st.SearchStrategy[Any]], Any]


def contract() -> str:
    published = contracts.published()
    assert published is not None
    return published.to_text()


def some(draw: Draw, things: Sequence[Any], at_most: int) -> list[Any]:
    return draw(st.lists(st.sampled_from(things), unique=True, max_size=at_most)) if things else []


def curate_arguments(draw: Draw, names: Sequence[str], **owner: Any) -> None:
    for number, name in enumerate(some(draw, names, 3)):
        hidden = draw(st.sampled_from(["", "", "", "omit", "deferred", "constant"]))
        ArgumentCuration.objects.create(
            name=name,
            agent_name=draw(st.sampled_from(["", f"renamed_{number}"])),
            description=draw(MAYBE_TEXT),
            hidden=hidden,
            constant=draw(VALUES) if hidden == "constant" else None,
            provider="tenant" if hidden == "deferred" else "",
            deprecated_aliases=draw(st.sampled_from([[], [f"older_{number}", f"oldest_{number}"]])),
            aliases_until=draw(st.none() | st.dates()),
            **owner,
        )


def curate_operation(draw: Draw, row: Operation, tags: Sequence[Tag]) -> None:
    names = [name for name, _label in wire_names(row)]
    row.exposure = draw(st.sampled_from(Operation.Exposure.values))
    row.name = draw(st.sampled_from(["", f"tool_{row.pk}"]))
    row.title, row.description = draw(MAYBE_TEXT), draw(MAYBE_TEXT)
    row.overrides_tags, row.overrides_search_terms = draw(st.booleans()), draw(st.booleans())
    row.search_terms = draw(st.lists(TEXTS, max_size=3))
    row.deadline_seconds = draw(st.none() | st.floats(0, 3600))
    row.budget_bytes = draw(st.none() | st.integers(1024, 10**6))
    for field, hint in draw(HINTED).items():
        setattr(row, field, hint)
    curate_arguments(draw, names, operation=row)
    row.tags.set(some(draw, tags, 2))
    if draw(st.integers(0, 3)) == 0:
        row.family_parameter = draw(st.sampled_from(["", *names]))
        for number in range(draw(st.integers(0, 2))):
            variant = Variant.objects.create(
                operation=row,
                name=f"variant_{row.pk}_{number}",
                description=draw(TEXTS),
                key=draw(VALUES) if row.family_parameter else None,
                body=draw(st.sampled_from([None, None, {"type": "object", "properties": {"b": {}, "a": {}}}])),
                body_required=draw(st.booleans()),
                **draw(HINTED),
            )
            curate_arguments(draw, names, variant=variant)
    row.save()


def curate_rules(draw: Draw, operations: Sequence[Operation], tags: Sequence[Tag]) -> None:
    for route, decision in some(draw, [("/api/orders/**", "exclude"), ("/nowhere/", "include"), ("", "include")], 2):
        method = draw(st.sampled_from(["", "GET", "post"]))
        SelectionRule.objects.create(route=route, method=method, decision=decision, note=draw(MAYBE_TEXT))
    for argument in some(draw, ["*__in", "page*", "q", "nothing"], 2):
        said = draw(
            st.sampled_from(
                [{"hidden": "omit"}, {"description": "As ever."}, {"prefix": "p_"}]
                + [{"hidden": "constant", "constant": value} for value in (None, 1, {"b": 1, "a": []})]
            )
        )
        location = draw(st.sampled_from(["", "query", "body"]))
        ArgumentRule.objects.create(argument=argument, route=draw(GLOBS), location=location, **said)
    for name in draw(st.lists(TEXTS, unique=True, max_size=2)):
        policy = VisibilityPolicy.objects.create(
            name=name, rule="staff", routes=["/api/*/"], tags=draw(st.lists(TEXTS))
        )
        policy.operations.set(some(draw, operations, 3))


def curate(draw: Draw) -> list[str]:
    """Rows as staff could leave them; the keys of the operations that something is said of."""
    tags = [
        Tag.objects.create(name=name, description=draw(MAYBE_TEXT)) for name in some(draw, ["Été", "Sales", "x y"], 3)
    ]
    operations = list(Operation.objects.all())
    chosen = some(draw, operations, 4)
    for row in chosen:
        curate_operation(draw, row, tags)
    curate_rules(draw, operations, tags)
    return [row.key for row in chosen]


@pytest.fixture
def provided(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "PROVIDERS": {"tenant": "builtins.str"}}


@given(data=st.data())
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_staff_say_comes_to_the_same_elsewhere(provided: None, shop: None, data: st.DataObject) -> None:
    with transaction.atomic():
        keys = curate(data.draw)
        lost = bool(new_losses(compile_draft(read_inputs()), keys))
        publish(source="admin")
        file, here = curation_files.export(), contract()
        transaction.set_rollback(True)

    with transaction.atomic():  # the database as the sync left it
        try:
            curation_loads.load(read_curation(file))
        except CurationRefused:
            event("refused")
            assert lost
        else:
            event("loaded")
            assert (curation_files.export(), contract()) == (file, here)
        transaction.set_rollback(True)


@pytest.mark.skipif(not catalogs.paths(), reason=catalogs.NO_DOCUMENTS)
def test_what_staff_say_of_a_large_document_comes_to_the_same_elsewhere(db: None, settings: Settings) -> None:
    """An argument of every third operation is renamed, every fifth is described, every seventh is split in two."""
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    (path,) = (path for path in catalogs.paths() if path.stem == "defectdojo")
    sync(json.loads(path.read_text(encoding="utf-8")))
    rows = list(Operation.objects.order_by("key"))
    tag = Tag.objects.create(name="Été")
    with transaction.atomic():
        for number, row in enumerate(rows):
            names = [name for name, _label in wire_names(row)] if number % 3 == 0 else []
            if names:
                ArgumentCuration.objects.create(operation=row, name=names[0], agent_name="renamed", description="It.")
            if number % 5 == 0:
                row.description, row.overrides_tags = f"Number {number}.", True
                row.save()
                row.tags.add(tag)
            if number % 7 == 0:
                for part in ("one", "other"):
                    Variant.objects.create(operation=row, name=f"tool_{number}_{part}", description=f"The {part}.")
        ArgumentRule.objects.create(argument="*__in", location="query", hidden="omit")
        publish(source="admin")
        file, here = curation_files.export(), contract()
        transaction.set_rollback(True)

    report = curation_loads.load(read_curation(file))

    assert len(report.entries) > len(rows) / 3
    assert (curation_files.export(), contract()) == (file, here)
    assert curation_loads.load(read_curation(file)).entries == ()
