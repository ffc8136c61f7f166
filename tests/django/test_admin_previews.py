"""What a preview shows of an edit before anything is saved, and that what it shows is what a save then publishes."""

import re
from typing import Any

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp.admin.previews import CONTEXT_LINES, Pair, Side, pairs
from sezzlee_mcp.models import (
    ArgumentCuration,
    Catalog,
    Operation,
    Revision,
    SelectionRule,
    Tag,
    ToolAlias,
    Variant,
    VisibilityPolicy,
)
from sezzlee_mcp.publishing import draft_with, publish, read_inputs
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import change_page, operation, page, said, save, tools, typed
from tests.factories import StaffFactory, SuperuserFactory, TagFactory

APPLES, PEARS = "GET /apples/", "GET /pears/"
PREVIEW = {"_preview": "Preview"}


def described(name: str, **more: Any) -> dict[str, Any]:
    parameter = {"name": "colour", "in": "query", "schema": {"type": "string"}}
    answers = {"responses": {"200": {"description": "Yes."}}}
    return {"get": {"operationId": name, "description": f"All {name}.", "parameters": [parameter], **answers, **more}}


FRUIT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {f"/{name}/": described(name) for name in ("apples", "pears")},
}


@pytest.fixture(autouse=True)
def fruit(db: None, settings: Settings, client: Client) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    sync(FRUIT)
    client.force_login(SuperuserFactory(username="ada"))


def previewed(response: HttpResponse) -> str:
    """The preview of a page, as text; empty where there is none."""
    section = re.search(r'<section class="sezzlee-preview".*?</section>', response.content.decode(), re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", section[0]).split()) if section else ""


def stored() -> list[Any]:
    models = (Operation, ArgumentCuration, Variant, SelectionRule, Tag, VisibilityPolicy, Revision, Catalog)
    return [list(model.objects.order_by("pk").values()) for model in models]


def added(prefix: str, form: dict[str, str]) -> dict[str, Any]:
    return {f"{prefix}-TOTAL_FORMS": 1, **{f"{prefix}-0-{name}": value for name, value in form.items()}}


def test_an_edit_is_shown_beside_what_is_published_and_saves_nothing(client: Client) -> None:
    before = stored()
    hidden = added("arguments", {"name": "colour", "hidden": "omit"})
    response = save(client, change_page(APPLES), description="Every <apple>.", **hidden, **PREVIEW)

    shown = previewed(response)
    assert shown.startswith(
        "Nothing is saved yet Saving changes 1 tool for agents: 1 breaking 1 behavioural apples 1 breaking 1 "
        "behavioural What changes breaking /inputSchema/properties/colour The input colour is gone. "
        "Concerns an agent that learned the old catalog, on the new server "
        "behavioural /description description was &quot;All apples.&quot; and is &quot;Every &lt;apple&gt;.&quot;. "
        "Concerns an agent that learned the old catalog, on the new server; "
        "an agent that learned the new catalog, on the old server "
        "apples Published now"
    )
    assert stored() == before


def test_a_preview_keeps_everything_typed(client: Client) -> None:
    tag = TagFactory(name="Round")
    form = {"name": "colour", "agent_name": "shade"}
    said_of_it = {"description": "Every apple.", "note": "Why.", "tags": [tag.pk], "search_terms": "cox\r\nboskop"}
    response = save(client, change_page(APPLES), **said_of_it, **added("arguments", form), **PREVIEW)

    shown, (inline, _) = response.context["adminform"].form, response.context["inline_admin_formsets"]
    assert {name: shown[name].value() for name in said_of_it} == {**said_of_it, "tags": [str(tag.pk)]}
    assert {name: inline.formset.forms[0][name].value() for name in form} == form
    assert "errornote" not in response.content.decode()


def side(pair: Pair, which: str) -> tuple[str, list[str]]:
    """The card of one side, and what of its loaded shape is marked."""
    found: Side = getattr(pair, which)
    return "\n".join(each.text for each in found.card), [each.text for each in found.loaded if each.differs]


def test_lines_that_differ_are_marked_and_those_far_from_them_folded() -> None:
    apples = operation(APPLES)
    apples.description = "Every apple."
    draft = draft_with({APPLES: apples.to_curation()})

    (pair,) = pairs(draft, APPLES)

    (before, gone), (after, come) = side(pair, "published"), side(pair, "saved")
    assert ('"All apples."' in before, '"Every apple."' in after) == (True, True)
    assert (gone[0], come[0]) == ('  "description": "All apples.",', '  "description": "Every apple.",')
    assert (len(gone), len(come)) == (2, 2)  # the version follows from the rest
    assert pair.saved is not None
    folded = [each for each in pair.saved.loaded if each.is_folded]
    assert [each.lines > CONTEXT_LINES for each in folded] == [True]
    written = "\n".join(each.text for each in pair.saved.loaded)
    assert (written.count("\n") + 1, pair.saved.tokens) == (
        sum(each.lines for each in pair.saved.loaded),
        -(-pair.saved.size_bytes // 4),
    )


def test_sizes_are_those_that_are_published(client: Client) -> None:
    response = save(client, change_page(APPLES), description="Every apple.", **PREVIEW)
    before = {tool.name: tool.loaded_bytes for tool in read_inputs().known.values()}["apples"]
    save(client, change_page(APPLES), description="Every apple.")
    after = {tool.name: tool.loaded_bytes for tool in read_inputs().known.values()}["apples"]

    tokens = [-(-size // 4) for size in (before, after)]
    assert re.findall(r"(\d+) bytes, about (\d+) tokens", previewed(response)) == [
        (str(before), str(tokens[0])),
        (str(after), str(tokens[1])),
    ]
    assert f"{after} bytes, about {tokens[1]} tokens" in client.get(change_page(APPLES)).content.decode()


def test_a_renamed_tool_stands_beside_its_former_name(client: Client) -> None:
    shown = previewed(save(client, change_page(APPLES), name="find_apples", **PREVIEW))

    assert "The tool is called find_apples now, and apples still leads to it." in shown
    assert "find_apples now apples Published now" in shown


def test_a_tool_that_goes_or_comes_stands_beside_nothing(client: Client) -> None:
    gone = previewed(save(client, change_page(APPLES), exposure="exclude", **PREVIEW))
    Operation.objects.filter(key=PEARS).update(exposure="exclude")
    publish(source="admin")
    come = previewed(save(client, change_page(PEARS), exposure="include", **PREVIEW))

    assert gone.endswith("After saving No tool.")
    assert "Published now No tool. After saving" in come
    assert "breaking The tool is gone, and its name leads to no other." in gone
    assert "additive The tool is new." in come


def test_an_edit_that_agents_do_not_read_says_so(client: Client) -> None:
    assert "Saving changes nothing that agents read." in previewed(save(client, change_page(APPLES), **PREVIEW))


def test_what_would_be_refused_is_refused_and_not_previewed(client: Client) -> None:
    response = save(client, change_page(APPLES), name="pears", **PREVIEW)

    assert list(response.context["adminform"].form.errors) == ["name"]
    assert previewed(response) == ""


def test_a_row_inside_the_page_that_would_be_refused_is_not_previewed(client: Client) -> None:
    hidden = added("arguments", {"name": "colour", "hidden": "constant", "constant": "[1]"})
    response = save(client, change_page(APPLES), **hidden, **PREVIEW)

    assert (bool(response.context["errors"]), previewed(response)) == (True, "")


def test_a_variants_page_previews_that_variant(client: Client) -> None:
    red, _green = (
        Variant.objects.create(operation=operation(APPLES), name=f"{each}_apples", description=f"The {each} ones.")
        for each in ("red", "green")
    )
    publish(source="admin")
    shown = previewed(save(client, page("variant", "change", red.pk), name="crimson_apples", **PREVIEW))

    assert "crimson_apples now red_apples Published now" in shown
    assert "green" not in shown


RULES: dict[str, tuple[str, dict[str, Any], str]] = {
    "an argument rule": ("argumentrule", {"argument": "colour", "hidden": "omit"}, "2 tools for agents: 2 breaking"),
    "a selection rule": ("selectionrule", {"route": "/pears/", "decision": "exclude"}, "1 tool for agents: 1 breaking"),
    "a policy": ("visibilitypolicy", {"name": "Ours", "rule": "staff", "routes": "**"}, "2 tools for agents: 2 behav"),
    "a tag": ("tag", {"name": "Round"}, "nothing that agents read"),
}


@pytest.mark.parametrize("kind", RULES)
def test_pages_about_many_tools_count_and_list_what_changes(client: Client, kind: str) -> None:
    model, changes, expected = RULES[kind]
    before = stored()
    response = save(client, page(model, "add"), **changes, **PREVIEW)

    assert (response.status_code, stored()) == (200, before)
    assert f"Saving changes {expected}" in previewed(response)


@pytest.mark.parametrize("kind", RULES)
def test_what_a_page_compiles_is_what_its_rows_come_to(client: Client, kind: str) -> None:
    """The second publish finds the inputs of every tool as the form had them, so nothing is compiled anew."""
    model, changes, _expected = RULES[kind]
    VisibilityPolicy.objects.create(name="Zebra", rule="authenticated", routes=["**"])
    save(client, page(model, "add"), **changes)
    known = read_inputs().known

    assert publish(source="admin") is None
    assert read_inputs().known == known


def test_a_renamed_tag_changes_the_tools_that_carry_it(client: Client) -> None:
    tag, other = TagFactory(name="Round"), TagFactory(name="Sweet")
    Operation.objects.update(overrides_tags=True)
    operation(APPLES).tags.add(tag, other)
    publish(source="admin")

    shown = previewed(save(client, page("tag", "change", tag.pk), name="Tasty", **PREVIEW))
    response = save(client, page("tag", "change", tag.pk), name="Tasty")
    known = read_inputs().known

    assert "Saving changes 1 tool for agents: 1 behavioural apples" in shown
    assert said(response)[0] == "Generation 3: 1 tool changed."
    assert (publish(source="admin"), read_inputs().known) == (None, known)


def test_an_alias_that_ends_earlier_changes_no_tool(client: Client) -> None:
    save(client, change_page(APPLES), name="find_apples")
    alias = ToolAlias.objects.get()

    shown = previewed(save(client, page("toolalias", "change", alias.pk), until="2099-01-01", **PREVIEW))

    assert "Saving changes nothing that agents read." in shown
    assert ToolAlias.objects.get().until == alias.until


def test_of_many_tools_and_changes_the_first_are_listed(client: Client) -> None:
    parameters = [{"name": f"a{number}", "in": "query", "schema": {"type": "string"}} for number in range(12)]
    sync(
        {**FRUIT, "paths": {f"/{n}/": described(f"fruit{n:02}", parameters=parameters) for n in range(22)}}, force=True
    )

    shown = previewed(save(client, page("argumentrule", "add"), argument="a*", hidden="omit", **PREVIEW))

    assert "Saving changes 22 tools for agents: 264 breaking fruit00 12 breaking" in shown
    assert shown.count("2 more changes are not listed.") == 20
    assert shown.endswith("And 2 more tools.")


def test_a_preview_locks_nothing(client: Client) -> None:
    edit = Catalog.objects.edit()
    save(client, change_page(APPLES), description="Every apple.", **PREVIEW)

    assert Catalog.objects.edit() == edit


def test_only_who_may_save_may_preview(client: Client) -> None:
    url = change_page(APPLES)
    shown = [b'name="_preview"' in client.get(url).content]
    client.force_login(StaffFactory(permissions=["view_operation"]))
    shown.append(b'name="_preview"' in client.get(url).content)

    assert shown == [True, False]
    assert client.post(url, PREVIEW).status_code == 403


def test_previews_ask_as_many_queries_in_a_large_catalog(client: Client) -> None:
    tag = TagFactory(name="Round")
    pages = {
        change_page(APPLES): {"description": "Every apple."},
        **{page(model, "add"): changes for model, changes, _expected in RULES.values()},
    }

    def queries() -> dict[str, int]:
        for each in Operation.objects.exclude(key=APPLES):
            each.tags.add(tag)
            Variant.objects.get_or_create(operation=each, name=f"{each.published_name}_one", description="One.")
        publish(source="admin")
        found = {}
        for url, changes in pages.items():
            form = typed(client, url, **changes, **PREVIEW)
            with CaptureQueriesContext(connection) as captured:
                assert client.post(url, form).status_code == 200
            found[url] = len(captured)
        return found

    few = queries()
    sync({**FRUIT, "paths": {**FRUIT["paths"], **{f"/{n}/": described(f"fruit{n}") for n in range(60)}}}, force=True)

    assert queries() == few
    assert max(few.values()) <= 30
    assert len(tools()) == 62


def test_a_tool_that_stays_as_it_is_is_named_and_not_shown_twice(client: Client) -> None:
    for number in range(2):
        Variant.objects.create(operation=operation(APPLES), name=f"sort_{number}", description=f"Sort {number}.")
    publish(source="admin")

    said = previewed(save(client, change_page(APPLES), **{"variants-0-description": "The first."}, **PREVIEW))

    assert "sort_0 Published now" in said
    assert said.endswith("sort_1 Agents read of it what they read now.")


def test_pages_and_previews_ask_as_many_queries_for_any_number_of_rows_inside(client: Client) -> None:
    names = [f"p{number}" for number in range(10)]
    parameters = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in names]
    sync({**FRUIT, "paths": {**FRUIT["paths"], "/apples/": described("apples", parameters=parameters)}})

    def queries(arguments: int, variants: int) -> dict[str, int]:
        apples = operation(APPLES)
        apples.variants.all().delete()
        apples.arguments.all().delete()
        for number in range(variants):
            one = Variant.objects.create(operation=apples, name=f"apples_{number}", description=f"Sort {number}.")
            ArgumentCuration.objects.bulk_create(
                ArgumentCuration(variant=one, name=name, hidden="omit") for name in names[:arguments]
            )
        ArgumentCuration.objects.bulk_create(
            ArgumentCuration(operation=apples, name=name, agent_name=f"{name}_{name}") for name in names[:arguments]
        )
        publish(source="admin")
        found = {}
        for what, url in (("operation", change_page(APPLES)), ("variant", page("variant", "change", one.pk))):
            form = typed(client, url, **{"description": "Every apple.", "arguments-0-description": "A pip."}, **PREVIEW)
            ContentType.objects.clear_cache()  # as in a process that has shown no such page before
            with CaptureQueriesContext(connection) as captured:
                client.get(url)
            found[f"page of {what}"] = len(captured)
            with CaptureQueriesContext(connection) as captured:
                assert "Nothing is saved yet" in previewed(client.post(url, form))
            found[f"preview of {what}"] = len(captured)
        return found

    many = queries(arguments=10, variants=5)

    assert queries(arguments=1, variants=1) == many
    assert max(many.values()) <= 25
