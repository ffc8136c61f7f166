"""Every field that staff can edit in the admin is in the file of curation, or on the list of those that are not."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.test import RequestFactory
from pytest_django import Settings

from sezzlee_mcp import curation_files, curation_loads
from sezzlee_mcp.catalog.curation_files import read_curation
from sezzlee_mcp.models import ArgumentCuration, ArgumentRule, Operation, SelectionRule, Tag, Variant, VisibilityPolicy
from sezzlee_mcp.models.hints import HINTS
from sezzlee_mcp.sync import sync
from tests.django.test_admin_curation import APPLES, FRUIT, PEARS
from tests.django.test_curation_command import FULL
from tests.factories import SuperuserFactory

DOCS = Path(__file__).resolve().parents[2] / "docs"

PIES = "POST /pies/"
OF_PIES = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("colour", "kind")]
DOCUMENT = copy.deepcopy(FRUIT)
DOCUMENT["paths"]["/pies/"] = {
    "post": {
        "operationId": "pies",
        "description": "Bakes a pie.",
        "parameters": OF_PIES,
        "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
        "responses": {"200": {"description": "Yes."}},
    }
}
SWEET = {"name": "sweet_pies", "description": "Bakes a sweet pie.", "key": "sweet"}
VIEW_TAGS = "sezzlee_mcp.view_tag"  # a permission, and a group of that name: the one or the other by the rule
POLICY = {**FULL["visibilityPolicies"]["Fruiterers"], "rule": "group", "subject": VIEW_TAGS}
OF_THE_PIES = {"familyParameter": "kind", "variants": [SWEET]}
SAID = {
    **FULL,
    "operations": {**FULL["operations"], PIES: OF_THE_PIES},
    "visibilityPolicies": {"Fruiterers": POLICY},
}

# (model, field) -> which row, of those that SAID comes to, and what somebody types there.
EDITS: dict[tuple[type[Model], str], tuple[dict[str, Any], Any]] = {
    (Operation, "exposure"): ({"key": PEARS}, "exclude"),
    (Operation, "name"): ({"key": PEARS}, "find_pears"),
    (Operation, "title"): ({"key": PEARS}, "Pears"),
    (Operation, "description"): ({"key": PEARS}, "All pears."),
    (Operation, "overrides_tags"): ({"key": PEARS}, False),
    (Operation, "tags"): ({"key": PEARS}, [Tag]),
    (Operation, "overrides_search_terms"): ({"key": PEARS}, False),
    (Operation, "search_terms"): ({"key": PEARS}, ["poire"]),
    **{(Operation, field): ({"key": PEARS}, True) for field in HINTS},
    (Operation, "deadline_seconds"): ({"key": PEARS}, 2.5),
    (Operation, "budget_bytes"): ({"key": PEARS}, 5000),
    (Operation, "family_parameter"): ({"key": PIES}, "colour"),
    (ArgumentCuration, "name"): ({"operation__key": APPLES, "name": "size__in"}, "kind"),
    (ArgumentCuration, "agent_name"): ({"operation__key": APPLES, "name": "colour"}, "tone"),
    (ArgumentCuration, "description"): ({"operation__key": APPLES, "name": "colour"}, "Of the flesh."),
    (ArgumentCuration, "hidden"): ({"operation__key": APPLES, "name": "size__in"}, ""),
    (ArgumentCuration, "constant"): ({"variant__name": "cooking_apples", "name": "colour"}, "red"),
    (ArgumentCuration, "provider"): ({"variant__name": "cooking_apples", "name": "size__in"}, "other"),
    (ArgumentCuration, "deprecated_aliases"): ({"operation__key": APPLES, "name": "colour"}, ["tint"]),
    (ArgumentCuration, "aliases_until"): ({"operation__key": APPLES, "name": "colour"}, "2030-12-31"),
    (Variant, "name"): ({"name": "eating_apples"}, "dessert_apples"),
    (Variant, "description"): ({"name": "eating_apples"}, "For dessert."),
    (Variant, "key"): ({"name": "eating_apples"}, "dessert"),
    (Variant, "body"): ({"name": "sweet_pies"}, {"type": "object", "properties": {"b": {}, "a": {}}}),
    (Variant, "body_required"): ({"name": "eating_apples"}, False),
    **{(Variant, field): ({"name": "eating_apples"}, True) for field in HINTS},
    (ArgumentRule, "route"): ({"argument": "colour"}, "/pears/"),
    (ArgumentRule, "argument"): ({"argument": "colour"}, "c?lour"),
    (ArgumentRule, "location"): ({"argument": "colour"}, "header"),
    (ArgumentRule, "hidden"): ({"argument": "c*"}, "omit"),
    (ArgumentRule, "constant"): ({"argument": "c*"}, {"b": 1, "a": [None]}),
    (ArgumentRule, "description"): ({"argument": "*__in"}, "Many, with commas."),
    (ArgumentRule, "prefix"): ({"argument": "colour"}, "p_"),
    (ArgumentRule, "note"): ({"argument": "colour"}, "By request."),
    (SelectionRule, "route"): ({"decision": "include"}, "/apples/"),
    (SelectionRule, "method"): ({"decision": "include"}, ""),
    (SelectionRule, "decision"): ({"decision": "include"}, "exclude"),
    (SelectionRule, "note"): ({"decision": "include"}, "At last."),
    (Tag, "name"): ({"name": "Été"}, "Hiver"),
    (Tag, "description"): ({"name": "Été"}, "What ripens early."),
    (VisibilityPolicy, "name"): ({}, "Grocers"),
    (VisibilityPolicy, "rule"): ({}, "perm"),
    (VisibilityPolicy, "subject"): ({}, "Grocers"),
    (VisibilityPolicy, "operations"): ({}, [Operation]),
    (VisibilityPolicy, "tags"): ({}, ["Vegetables"]),
    (VisibilityPolicy, "routes"): ({}, ["/figs/"]),
}
# Which fields are not in the file, each by what docs/commands.md says of it.
ELSEWHERE = {
    ("operation", "note"): "notes of saves",
    ("toolalias", "until"): "old names of renamed tools",
    **{("searchcase", field): "search cases" for field in ("need", "query", "user", "tags", "expected")},
}


def editable(request: Any) -> Iterator[tuple[str, str]]:
    """What the pages of the admin let staff type, those of rows inside other pages included."""
    for model, model_admin in admin.site._registry.items():
        if model._meta.app_label != "sezzlee_mcp" or not model_admin.has_change_permission(request):
            continue
        yield from (
            (model._meta.model_name or "", name) for name in model_admin.get_form(request, change=True).base_fields
        )
        for inline in model_admin.get_inline_instances(request):
            formset: Any = inline.get_formset(request)
            yield from ((inline.model._meta.model_name or "", name) for name in formset.form.base_fields)


@pytest.fixture
def fruit(db: None, settings: Settings) -> None:
    providers = {"tenant": "builtins.str", "other": "builtins.str"}
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True, "PROVIDERS": providers}
    Group.objects.create(name=VIEW_TAGS)
    Group.objects.create(name="Grocers")
    sync(DOCUMENT)
    curation_loads.load(read_curation(json.dumps(SAID)))


def test_every_field_that_staff_can_edit_is_in_the_file_or_listed_as_elsewhere(db: None, rf: RequestFactory) -> None:
    request = rf.get("/")
    request.user = SuperuserFactory()

    in_the_file = {(model._meta.model_name or "", field) for model, field in EDITS}

    assert set(editable(request)) == in_the_file | ELSEWHERE.keys()


def test_what_is_not_in_the_file_is_documented() -> None:
    paragraphs = (DOCS / "commands.md").read_text("utf-8").split("\n\n")
    (said,) = [" ".join(each.split()) for each in paragraphs if each.startswith("Not in the file: ")]
    assert [kind for kind in sorted(set(ELSEWHERE.values())) if kind not in said] == []


@pytest.mark.parametrize(("model", "field"), EDITS, ids=lambda each: each if isinstance(each, str) else each.__name__)
def test_an_edit_of_any_field_changes_the_file_and_is_carried_by_it(fruit: None, model: Any, field: str) -> None:
    which, value = EDITS[model, field]
    before = curation_files.export()
    row = model.objects.get(**which)
    if isinstance(value, list) and value and isinstance(value[0], type):
        getattr(row, field).set(value[0].objects.all())
    else:
        setattr(row, field, value)
        row.save()

    edited = curation_files.export()

    assert edited != before
    curation_loads.load(read_curation(before))
    assert curation_files.export() == before
    curation_loads.load(read_curation(edited))
    assert curation_files.export() == edited
