"""Arguments, variants and rules in the admin: what a page saves, what it refuses and where, and what it previews."""

import re
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import snapshots
from sezzlee_mcp.models import ArgumentCuration, ArgumentRule, Catalog, Variant
from sezzlee_mcp.publishing import publish, read_inputs
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import change_page, errors, operation, page, rows, said, save, tools, typed
from tests.factories import StaffFactory, SuperuserFactory

APPLES, PEARS = "GET /apples/", "GET /pears/"
ACCEPTED = {"responses": {"200": {"description": "Yes."}}}


def parameter(name: str, **facts: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": {"type": "string"}, **facts}


FRUIT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        f"/{name}/": {
            "get": {
                "operationId": name,
                "description": f"All {name}.",
                "parameters": [
                    parameter("colour", description="Of the skin."),
                    parameter("kind", required=True),
                    parameter("size__in"),
                ],
                **ACCEPTED,
            }
        }
        for name in ("apples", "pears")
    },
}


@pytest.fixture(autouse=True)
def fruit(db: None, settings: Settings, client: Client) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True, "PROVIDERS": {"tenant": "builtins.str"}}
    sync(FRUIT)
    client.force_login(SuperuserFactory(username="ada"))


def added(prefix: str, *forms: dict[str, Any], initial: int = 0) -> dict[str, Any]:
    """What a browser sends for rows that were added below those a page has."""
    values = {f"{prefix}-{initial + n}-{name}": value for n, form in enumerate(forms) for name, value in form.items()}
    return {f"{prefix}-TOTAL_FORMS": initial + len(forms), **values}


def properties(tool: str) -> dict[str, Any]:
    (shape,) = snapshots.loaded_shapes([snapshots.current().entries[tool]])
    found: dict[str, Any] = shape["inputSchema"]["properties"]
    return found


def inner_errors(response: HttpResponse, prefix: str) -> list[dict[str, list[str]]]:
    """The errors beside the fields of each row inside a page."""
    inlines = response.context["inline_admin_formsets"]
    return [dict(found) for one in inlines if one.formset.prefix == prefix for found in one.formset.errors]


def text(response: HttpResponse) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def test_arguments_are_curated_on_the_operations_page(client: Client) -> None:
    renamed = {"name": "colour", "agent_name": "shade", "deprecated_aliases": "tint\r\nhue"}
    hidden = {"name": "kind", "hidden": "constant", "constant": '"fresh"'}
    response = save(client, change_page(APPLES), **added("arguments", renamed, hidden))

    assert said(response)[0] == "Generation 2: 1 tool changed."
    assert list(properties("apples")) == ["shade", "tint", "hue", "size__in"]


def test_a_page_saves_the_catalog_that_it_compiled(client: Client) -> None:
    save(client, change_page(APPLES), **added("arguments", {"name": "size__in", "hidden": "omit"}, {"name": "colour"}))

    assert {tool.name for tool in read_inputs().known.values()} == {"apples", "pears"}
    inputs = read_inputs()
    assert publish(source="admin") is None
    assert read_inputs().known == inputs.known  # equal input digests, so the rows compile to nothing new


def test_a_row_can_be_changed_and_taken_away(client: Client) -> None:
    row = ArgumentCuration.objects.create(operation=operation(APPLES), name="colour", agent_name="shade")
    publish(source="admin")
    save(client, change_page(APPLES), **{"arguments-0-agent_name": "tone"})
    assert list(properties("apples")) == ["tone", "kind", "size__in"]

    save(client, change_page(APPLES), **{"arguments-0-DELETE": "on"})

    assert (list(properties("apples")), ArgumentCuration.objects.filter(pk=row.pk).exists()) == (
        ["colour", "kind", "size__in"],
        False,
    )


def test_a_constant_that_is_null_is_shown_and_stays(client: Client) -> None:
    ArgumentCuration.objects.create(operation=operation(PEARS), name="colour", hidden="constant", constant=None)
    ArgumentCuration.objects.create(operation=operation(PEARS), name="kind", description="A kind.")

    shown = typed(client, change_page(PEARS))

    assert (shown["arguments-0-constant"], shown["arguments-1-constant"]) == ("null", "")


CONSTANT = {"name": "colour", "hidden": "constant"}
REFUSED: dict[str, tuple[dict[str, Any], dict[str, list[str]]]] = {
    "a required argument without a value": (
        {"name": "kind", "hidden": "omit"},
        {"hidden": ["The argument kind is required, so it cannot be hidden without a value."]},
    ),
    "a constant of another type": (
        {**CONSTANT, "constant": "[1]"},
        {
            "constant": [
                'The constant of the hidden argument colour does not fit: the operation takes {"type":"string"}.'
            ]
        },
    ),
    "a constant that was forgotten": (CONSTANT, {"constant": ["Type the value that is sent."]}),
    "a constant that is null": (
        {**CONSTANT, "constant": "null"},
        {"constant": ["The constant of the hidden argument colour does not fit: no query of a request can carry it."]},
    ),
    "a constant that is no JSON": ({**CONSTANT, "constant": "fresh"}, {"constant": ["Enter a valid JSON."]}),
    "a constant that JSON cannot hold": (
        {**CONSTANT, "constant": "NaN"},
        {"constant": ["No JSON text can hold this value."]},
    ),
    "a constant that a database cannot hold": (
        {**CONSTANT, "constant": '["\\u0000"]'},
        {"constant": ["It holds a NUL character, which no database stores."]},
    ),
    "a constant that is not sent": (
        {"name": "colour", "constant": "1"},
        {"constant": ["Nothing is hidden that would send a constant."]},
    ),
    "a provider that nobody asks": (
        {"name": "colour", "provider": "tenant"},
        {"provider": ["No provider is asked for it."]},
    ),
    "a provider that is unknown": (
        {"name": "colour", "hidden": "deferred", "provider": "nobody"},
        {"provider": ["The hidden argument colour asks the provider nobody, which is not registered."]},
    ),
    "no provider": ({"name": "colour", "hidden": "deferred"}, {"provider": ["Name the provider that is asked."]}),
    "the name of another argument": (
        {"name": "colour", "agent_name": "kind"},
        {"agent_name": ["Two arguments would be named kind."]},
    ),
    "a name that no agent can send": (
        {"name": "colour", "agent_name": "2 be"},
        {
            "agent_name": [
                "What is said of argument colour cannot hold: an agent cannot send '2 be'; a name is letters, digits "
                "and underscores and begins with no digit."
            ]
        },
    ),
    "an argument that is not there": (
        {"name": "weight"},
        {"name": ["Select a valid choice. weight is not one of the available choices."]},
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_cost_a_tool_is_refused_beside_its_field(client: Client, case: str) -> None:
    form, refusal = REFUSED[case]
    response = save(client, change_page(APPLES), description="Kept.", **added("arguments", form))

    assert inner_errors(response, "arguments") == [refusal]
    assert response.context["adminform"].form["description"].value() == "Kept."
    assert (ArgumentCuration.objects.count(), Catalog.objects.generation()) == (0, 1)


def test_a_row_about_an_argument_that_left_is_kept_and_named(client: Client) -> None:
    ArgumentCuration.objects.create(operation=operation(APPLES), name="weight", description="In grams.")

    response = save(client, change_page(APPLES), description="Apples.")

    assert inner_errors(response, "arguments") == [
        {
            "name": [
                "Curation names the argument weight, which the operation does not have. Names are told apart by case."
            ]
        }
    ]
    assert "weight (no longer there)" in response.content.decode()


def test_taking_away_the_row_that_costs_the_tool_mends_it(client: Client) -> None:
    ArgumentCuration.objects.create(operation=operation(APPLES), name="weight", description="In grams.")

    save(client, change_page(APPLES), description="Apples.", **{"arguments-0-DELETE": "on"})

    assert (ArgumentCuration.objects.count(), operation(APPLES).description) == (0, "Apples.")


def test_an_operation_is_split_on_its_page(client: Client) -> None:
    red, green = ({"name": f"{each}_apples", "description": f"The {each} ones."} for each in ("red", "green"))
    response = save(client, change_page(APPLES), **added("variants", red, green))

    assert said(response)[0] == "Generation 2: 2 tools added, 1 tool removed."
    assert tools() == ["green_apples", "pears", "red_apples"]


def test_a_family_is_made_with_its_members_at_once(client: Client) -> None:
    members = (
        {"name": f"{kind}_apples", "description": f"For {kind}.", "key": f'"{kind}"'} for kind in ("pie", "juice")
    )
    save(client, change_page(APPLES), family_parameter="kind", **added("variants", *members))

    assert tools() == ["juice_apples", "pears", "pie_apples"]
    assert list(properties("pie_apples")) == ["colour", "size__in"]


@pytest.mark.parametrize(
    ("family", "keys", "refusals"),
    [
        ("kind", ("", '"pie"'), [{"key": ["The family member a does not hide kind with a constant of its own."]}, {}]),
        ("kind", ('"pie"', '"pie"'), [{}, {"key": ["The family members a, b send the same value of kind."]}]),
    ],
)
def test_member_without_a_key_of_its_own_is_refused_beside_it(
    client: Client, family: str, keys: tuple[str, str], refusals: list[dict[str, list[str]]]
) -> None:
    members = [{"name": name, "description": "One.", "key": key} for name, key in zip("ab", keys, strict=True)]
    response = save(client, change_page(APPLES), family_parameter=family, **added("variants", *members))

    assert inner_errors(response, "variants") == refusals


def test_a_family_parameter_that_is_none_is_refused(client: Client) -> None:
    response = save(client, change_page(APPLES), family_parameter="weight")

    assert errors(response) == {
        "family_parameter": ["The family's parameter weight is no parameter of the operation that holds one value."]
    }


def test_a_variant_with_the_name_of_a_tool_is_refused_beside_it(client: Client) -> None:
    response = save(client, change_page(APPLES), **added("variants", {"name": "pears", "description": "No."}))

    ((refusal,),) = [found.values() for found in inner_errors(response, "variants")]
    assert "The name pears is also that of GET /pears/." in refusal[0]


@pytest.fixture
def red() -> Variant:
    """One of two variants of the apples, both published."""
    red, _green = (
        Variant.objects.create(operation=operation(APPLES), name=f"{each}_apples", description=f"The {each} ones.")
        for each in ("red", "green")
    )
    publish(source="admin")
    return red


def test_a_variant_has_a_page_with_its_own_arguments(client: Client, red: Variant) -> None:
    hidden = {"name": "colour", "hidden": "constant", "constant": '"red"'}
    url = page("variant", "change", red.pk)
    response = save(client, url, description="Red ones.", read_only_hint="false", **added("arguments", hidden))

    assert said(response)[0] == "Generation 3: 1 tool changed."
    (shape,) = snapshots.loaded_shapes([snapshots.current().entries["red_apples"]])
    assert (shape["description"], shape["annotations"]["readOnlyHint"]) == ("Red ones.", False)
    assert (list(properties("red_apples")), list(properties("green_apples"))) == (
        ["kind", "size__in"],
        ["colour", "kind", "size__in"],
    )


def test_what_would_cost_a_variant_is_refused_on_its_page(client: Client, red: Variant) -> None:
    response = save(client, page("variant", "change", red.pk), **added("arguments", {"name": "kind", "hidden": "omit"}))

    assert inner_errors(response, "arguments") == [
        {"hidden": ["Variant red_apples: The argument kind is required, so it cannot be hidden without a value."]}
    ]


def test_a_body_outside_of_a_family_is_refused_beside_it(client: Client, red: Variant) -> None:
    response = save(client, page("variant", "change", red.pk), body='{"type": "object"}')

    assert [error for error in errors(response)["body"] if "only a member of a family" in error]


def test_a_body_that_is_no_schema_is_refused(client: Client, red: Variant) -> None:
    response = save(client, page("variant", "change", red.pk), body="[]")

    assert errors(response) == {"body": ["A schema is a JSON object."]}


def test_a_variants_page_is_for_those_who_may_change_its_operation(client: Client, red: Variant) -> None:
    url = page("variant", "change", red.pk)
    answers = []
    for permissions in ([], ["view_operation"], ["change_operation"]):
        client.force_login(StaffFactory(permissions=permissions))
        answers.append((client.get(url).status_code, b"_save" in client.get(url).content))

    assert answers == [(403, False), (200, False), (200, True)]


def test_staff_without_the_right_to_change_see_the_curation(client: Client) -> None:
    ArgumentCuration.objects.create(operation=operation(APPLES), name="colour", agent_name="shade")
    client.force_login(StaffFactory(permissions=["view_operation"]))

    shown = text(client.get(change_page(APPLES)))

    assert "colour query as shade staff as in the document" in shown


def test_the_table_of_arguments_says_who_said_what(client: Client) -> None:
    ArgumentCuration.objects.create(operation=operation(APPLES), name="colour", hidden="omit")
    ArgumentRule.objects.create(argument="size*", prefix="q_")
    ArgumentRule.objects.create(argument="col*", description="A colour.")

    shown = text(client.get(change_page(APPLES)))

    assert (
        "colour query hidden, sends nothing staff “A colour.” kind query, required as in the document document" in shown
    )
    assert "size__in query as q_size__in rule" in shown


def test_a_rule_is_previewed_before_it_is_saved(client: Client) -> None:
    response = save(client, page("argumentrule", "add"), argument="*__in", hidden="omit", _preview="Preview")

    assert "Nothing is saved yet The rule touches 2 operations. It touches 2 arguments. It saves" in text(response)
    assert "Tool Arguments apples size__in pears size__in Saving changes 2 tools for agents:" in text(response)
    assert "Compare route and argument" not in text(response)
    assert response.context["adminform"].form["argument"].value() == "*__in"
    assert (ArgumentRule.objects.count(), Catalog.objects.generation()) == (0, 1)


@pytest.mark.parametrize(
    "rule", [{"argument": "shape"}, {"argument": "colour", "route": "/plums/"}, {"argument": "kind"}]
)
def test_a_rule_that_touches_nothing_says_where_to_look(client: Client, rule: dict[str, str]) -> None:
    previewed = text(save(client, page("argumentrule", "add"), **rule, hidden="omit", _preview="Preview"))

    assert "The rule touches 0 operations. It touches 0 arguments. It saves 0 bytes of what agents load." in previewed
    assert "Compare route and argument with what stands on the page of an operation" in previewed


def test_what_a_preview_says_is_saved_is_saved(client: Client) -> None:
    url, rule = page("argumentrule", "add"), {"argument": "*__in", "hidden": "omit"}
    previewed = text(save(client, url, **rule, _preview="Preview"))
    before = sum(tool.loaded_bytes for tool in read_inputs().known.values())

    response = save(client, url, **rule)

    assert said(response)[0] == "Generation 2: 2 tools changed."
    saved = before - sum(tool.loaded_bytes for tool in read_inputs().known.values())
    assert f"It saves {saved} bytes of what agents load." in previewed
    assert list(properties("pears")) == ["colour", "kind"]


def test_a_changed_rule_is_previewed_beside_the_catalog_without_it(client: Client) -> None:
    rule = ArgumentRule.objects.create(argument="*__in", hidden="omit")
    publish(source="admin")

    previewed = text(save(client, page("argumentrule", "change", rule.pk), route="/apples/", _preview="Preview"))

    assert "Tool Arguments apples size__in Saving changes 1 tool for agents: 1 behavioural pears" in previewed


def test_a_rule_saves_the_catalog_that_it_compiled(client: Client) -> None:
    for argument in ("b*", "*__in", "colour"):
        save(client, page("argumentrule", "add"), argument=argument, description="Said by a rule.")
    inputs = read_inputs()

    assert publish(source="admin") is None
    assert read_inputs().known == inputs.known
    assert [tool.input_digest in inputs.known for tool in inputs.known.values()] == [True, True]


@pytest.mark.parametrize(
    ("said_of_it", "refusal"),
    [
        ({}, {"__all__": ["A rule says one thing: it hides, describes or prefixes."]}),
        ({"hidden": "omit", "prefix": "q_"}, {"__all__": ["A rule says one thing: it hides, describes or prefixes."]}),
        ({"hidden": "constant"}, {"constant": ["Type the value that is sent."]}),
    ],
)
def test_a_rule_that_says_not_one_thing_is_refused(
    client: Client, said_of_it: dict[str, Any], refusal: dict[str, list[str]]
) -> None:
    assert errors(save(client, page("argumentrule", "add"), argument="*", **said_of_it)) == refusal


def test_a_rule_that_would_cost_tools_is_refused(client: Client) -> None:
    response = save(client, page("argumentrule", "add"), argument="k*", hidden="constant", constant="1")

    message = 'The constant of the hidden argument kind does not fit: the operation takes {"type":"string"}.'
    assert errors(response) == {"__all__": [f"GET /apples/: {message}", f"GET /pears/: {message}"]}


def test_a_second_rule_for_the_same_arguments_is_refused(client: Client) -> None:
    ArgumentRule.objects.create(argument="colour", description="A colour.")

    response = save(client, page("argumentrule", "add"), argument="colour", hidden="omit")

    assert errors(response) == {"__all__": ["There is already a rule for the same arguments."]}


def test_rules_are_listed_with_what_they_say(client: Client) -> None:
    ArgumentRule.objects.create(argument="*__in", hidden="omit", note="Too many.")
    ArgumentRule.objects.create(argument="colour", route="/apples/", location="query", prefix="a_")

    assert rows(client.get(page("argumentrule", "changelist"))) == [
        ["*__in", "-", "-", "hidden: nothing is sent", "Too many."],
        ["colour", "/apples/", "query", "a_…", "-"],
    ]


def queries(client: Client, url: str) -> int:
    client.get(url)  # content types are asked for once in a process
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def test_pages_ask_no_query_per_row(client: Client, red: Variant) -> None:
    rule = ArgumentRule.objects.create(argument="a0", hidden="omit")
    for owner in ({"operation": operation(APPLES)}, {"variant": red}):
        ArgumentCuration.objects.create(name="colour", description="A colour.", **owner)
    pages = [
        change_page(APPLES),
        page("operation", "changelist"),
        page("variant", "change", red.pk),
        page("variant", "changelist"),
        page("argumentrule", "change", rule.pk),
        page("argumentrule", "changelist"),
    ]
    few = {url: queries(client, url) for url in pages}

    for number in range(20):
        ArgumentRule.objects.create(argument=f"b{number}", hidden="omit")
        for key in (APPLES, PEARS):
            variant = Variant.objects.create(operation=operation(key), name=f"more_{number}", description="More.")
            for owner in ({"operation": operation(key)}, {"variant": variant}):
                ArgumentCuration.objects.create(name=f"more_{number}", description="More.", **owner)
        ArgumentCuration.objects.create(name=f"more_{number}", description="More.", variant=red)

    assert {url: queries(client, url) for url in pages} == few
    assert max(few.values()) <= 30


@pytest.fixture
def sealed_apples() -> None:
    """Apples whose marker seals their name and the record of one argument."""
    path = {**FRUIT["paths"]["/apples/"]["get"]}
    path["x-sezzlee"] = {"seal": True, "name": "apples", "arguments": [{"name": "colour", "as": "shade"}]}
    sync({**FRUIT, "paths": {**FRUIT["paths"], "/apples/": {"get": path}}})


def test_what_the_code_seals_cannot_be_changed(client: Client, sealed_apples: None) -> None:
    response = save(client, change_page(APPLES), name="other", description="Mine.")
    shown = client.get(change_page(APPLES))

    assert (operation(APPLES).name, operation(APPLES).description) == ("", "Mine.")
    assert said(response)[0] == "Generation 3: 1 tool changed."
    assert "Sealed by the code or the settings, so it cannot be changed here." in shown.content.decode()
    assert "colour" not in [
        name for name, _label in shown.context["inline_admin_formsets"][0].formset.empty_form.fields["name"].choices
    ]


def test_what_the_settings_seal_can_be_seen_and_not_changed(client: Client, settings: Settings) -> None:
    ArgumentCuration.objects.create(operation=operation(APPLES), name="colour", agent_name="shade")
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "SEALED": ["arguments", "variants", "title"]}

    shown = client.get(change_page(APPLES))
    inlines = {each.formset.prefix: each for each in shown.context["inline_admin_formsets"]}

    assert shown.context["adminform"].form.fields["title"].disabled
    assert [each.has_add_permission or each.has_change_permission for each in inlines.values()] == [False, False]


def test_what_another_hid_since_the_page_was_shown_stays_hidden(client: Client) -> None:
    shown = typed(client, change_page(APPLES))
    hidden = {"name": "kind", "hidden": "constant", "constant": '"fresh"'}
    save(client, change_page(APPLES), **added("arguments", hidden))

    client.post(change_page(APPLES), {**shown, "description": "Every apple."})

    assert list(properties("apples")) == ["colour", "size__in"]
    assert publish(source="command") is None


def test_what_another_split_since_the_page_was_shown_stays_split(client: Client) -> None:
    shown = typed(client, change_page(APPLES))
    save(client, change_page(APPLES), **added("variants", {"name": "ripe_apples", "description": "Ripe ones."}))

    client.post(change_page(APPLES), {**shown, "title": "Fruit"})

    assert tools() == ["pears", "ripe_apples"]
    assert publish(source="command") is None
