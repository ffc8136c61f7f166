"""curation.md, "Tool aliases": the old name of a renamed tool leads to it, for a while, and shadows nothing."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pytest_django import Settings

from sezzlee_mcp import usage
from sezzlee_mcp.aliases import today
from sezzlee_mcp.models import ArgumentCuration, Operation, Revision, ToolAlias, ToolUse, Variant
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.django.test_sync import document
from tests.factories import VisibilityPolicyFactory

ADMIN = Revision.Source.ADMIN
Agent = Callable[[str], McpClient]


@pytest.fixture
def fruit(db: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    sync(document("apples", "pears"))


def rename(key: str, name: str) -> Revision | None:
    Operation.objects.filter(key=key).update(name=name)
    return publish(source=ADMIN)


def aliases() -> dict[str, str]:
    """{old name: tool} of the current revision, which the rows have to agree with."""
    published = Revision.objects.latest().aliases
    rows = {row.name: {"tool": row.tool, "until": row.until.isoformat()} for row in ToolAlias.objects.all()}
    assert published == rows
    return {name: alias["tool"] for name, alias in published.items()}


@pytest.fixture
def renamed(shop: None) -> None:
    """The demo's orders_list and orders_create, called list_orders and place_order now."""
    Operation.objects.filter(operation_id="orders_create").update(name="place_order")
    rename("GET /api/orders/", "list_orders")


def test_old_name_loads_the_renamed_tool(renamed: None, agent: Agent) -> None:
    alice = agent("alice")

    assert alice.load("orders_list") == {**alice.load("list_orders"), "renamedFrom": "orders_list"}


def test_call_by_an_old_name_runs_and_says_the_new_one(renamed: None, agent: Agent) -> None:
    alice = agent("alice")

    answered = alice.invoke("orders_list")

    assert answered == {**alice.invoke("list_orders"), "name": "list_orders", "renamedFrom": "orders_list"}


def test_failure_by_an_old_name_says_the_new_one(renamed: None, agent: Agent) -> None:
    refused = agent("alice").invoke("orders_create", {"no": "such argument"})

    assert (refused["error"], refused["name"], refused["renamedFrom"]) == (
        "unknown_argument",
        "place_order",
        "orders_create",
    )


def test_version_of_the_old_tool_leads_to_the_new_one(shop: None, agent: Agent) -> None:
    version = agent("alice").load("orders_list")["version"]
    rename("GET /api/orders/", "list_orders")

    refused = agent("alice").invoke("orders_list", version=version)

    assert (refused["error"], refused["continuation"]["arguments"]) == ("tool_changed", {"name": "list_orders"})


def test_search_lists_the_new_name_alone(renamed: None, agent: Agent) -> None:
    names = [card["name"] for card in agent("alice").search("order", limit=50)["results"]]

    assert "list_orders" in names
    assert not {"orders_list", "orders_create"} & set(names)


def test_old_name_of_a_hidden_tool_answers_like_an_unknown_one(renamed: None, agent: Agent) -> None:
    policy = VisibilityPolicyFactory(rule="staff")
    policy.operations.add(Operation.objects.get(key="GET /api/orders/"))
    publish(source=ADMIN)

    hidden, unknown = agent("alice").load("orders_list"), agent("alice").load("orders_lost")

    assert json.dumps(hidden).replace("list", "lost") == json.dumps(unknown).replace("list", "lost")


def test_old_name_costs_a_load_no_query(renamed: None, agent: Agent, django_assert_num_queries: Any) -> None:
    alice = agent("alice")
    alice.load("orders_list")

    with django_assert_num_queries(2):  # the caller's token and the catalog's stamp
        alice.load("orders_list")


def test_calls_by_an_old_name_are_counted_apart(renamed: None, agent: Agent, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "USE_FLUSH_SECONDS": 3600}
    usage.forget()
    agent("alice").invoke("orders_list")
    agent("alice").invoke("orders_list")
    agent("alice").invoke("list_orders")

    usage.flush()

    assert list(ToolUse.objects.order_by("former_name").values_list("tool", "former_name", "calls")) == [
        ("list_orders", "", 3),
        ("list_orders", "orders_list", 2),
    ]
    assert dict(ToolAlias.objects.with_uses().values_list("name", "uses")) == {"orders_list": 2, "orders_create": 0}


def test_name_of_staff_leaves_an_alias_for_thirty_days(fruit: None) -> None:
    rename("GET /apples/", "cider_apples")

    assert aliases() == {"apples": "cider_apples"}
    assert ToolAlias.objects.get().until == today() + timedelta(days=30)


def test_name_in_the_code_leaves_one_too(fruit: None) -> None:
    marked = document("apples", "pears")
    marked["paths"]["/apples/"]["get"]["x-sezzlee"] = {"name": "cider_apples"}
    marked["paths"]["/apples/"]["get"]["parameters"] = [{"name": "q", "in": "query", "schema": {"type": "string"}}]

    sync(marked)

    assert aliases() == {"apples": "cider_apples"}


def test_window_is_a_setting(fruit: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "TOOL_ALIAS_DAYS": 7}

    rename("GET /apples/", "cider_apples")

    assert ToolAlias.objects.get().until == today() + timedelta(days=7)


def test_window_of_no_days_leaves_no_alias(fruit: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "TOOL_ALIAS_DAYS": 0}

    rename("GET /apples/", "cider_apples")

    assert aliases() == {}


def test_old_names_follow_a_tool_that_is_renamed_again(fruit: None) -> None:
    rename("GET /apples/", "cider_apples")
    rename("GET /apples/", "sour_apples")

    assert aliases() == {"apples": "sour_apples", "cider_apples": "sour_apples"}


def test_withdrawn_name_is_an_alias_and_the_name_that_returns_is_none(fruit: None) -> None:
    rename("GET /apples/", "cider_apples")
    rename("GET /apples/", "")

    assert aliases() == {"cider_apples": "apples"}


def test_alias_gives_way_to_a_tool_of_its_name(fruit: None) -> None:
    rename("GET /apples/", "cider_apples")
    Operation.objects.filter(key="GET /apples/").update(published_name="")
    rename("GET /pears/", "apples")

    assert aliases() == {"pears": "apples"}


def test_tool_that_goes_leaves_no_alias(fruit: None) -> None:
    Operation.objects.filter(key="GET /apples/").update(exposure="exclude")
    publish(source=ADMIN)

    assert aliases() == {}


def test_alias_of_a_tool_that_is_hidden_for_a_while_waits_for_it(fruit: None) -> None:
    rename("GET /apples/", "cider_apples")
    for exposure, published in (("exclude", {}), ("inherit", {"apples"})):
        Operation.objects.filter(key="GET /apples/").update(exposure=exposure)
        publish(source=ADMIN)

        assert Revision.objects.latest().aliases.keys() == set(published)


def test_ended_alias_is_a_new_generation_without_it(fruit: None) -> None:
    rename("GET /apples/", "cider_apples")
    ToolAlias.objects.all().delete()

    revision = publish(source=ADMIN)

    assert revision is not None
    assert (revision.generation, revision.counts["changed"], aliases()) == (3, 0, {})


def test_alias_ends_by_itself_with_its_last_day(renamed: None, agent: Agent) -> None:
    alice = agent("alice")
    ToolAlias.objects.filter(name="orders_list").update(until=today())
    publish(source=ADMIN)
    assert alice.load("orders_list")["name"] == "list_orders"

    ToolAlias.objects.filter(name="orders_list").update(until=today() - timedelta(days=1))
    publish(source=ADMIN)

    assert alice.load("orders_list")["error"] == "unknown_tool"


def test_alias_that_ended_in_a_revision_is_not_answered_and_no_reason_to_publish(renamed: None, agent: Agent) -> None:
    revision = Revision.objects.latest()
    ended = (today() - timedelta(days=1)).isoformat()
    revision.aliases = {name: {**alias, "until": ended} for name, alias in revision.aliases.items()}
    revision.save()
    ToolAlias.objects.update(until=ended)

    assert agent("alice").load("orders_list")["error"] == "unknown_tool"
    assert publish(source=ADMIN) is None


def split(**constants: str) -> None:
    """Variants of the apples by name, each with the colour that it sends."""
    operation = Operation.objects.get(key="GET /apples/")
    operation.variants.all().delete()
    for name, colour in constants.items():
        variant = Variant.objects.create(operation=operation, name=name, description=f"Apples: {name}.")
        ArgumentCuration.objects.create(variant=variant, name="colour", hidden="constant", constant=colour)
    publish(source=ADMIN)


@pytest.fixture
def colours(fruit: None) -> None:
    parameters = [{"name": "colour", "in": "query", "schema": {"type": "string"}}]
    sync(document("apples", "pears", parameters=parameters))


def test_split_operation_has_no_alias_for_its_own_tool(colours: None) -> None:
    split(red_apples="red", green_apples="green")

    assert aliases() == {}


def test_renamed_variants_are_known_by_what_they_send(colours: None) -> None:
    split(red_apples="red", green_apples="green", blue_apples="blue")
    split(ruby_apples="red", lime_apples="green", blue_apples="blue")

    assert aliases() == {"red_apples": "ruby_apples", "green_apples": "lime_apples"}


def test_variant_in_the_place_of_another_is_no_renamed_one(colours: None) -> None:
    split(red_apples="red", green_apples="green")
    split(red_apples="red", yellow_apples="yellow")

    assert aliases() == {}


def test_sole_variant_is_not_the_operations_own_tool_renamed(colours: None) -> None:
    split(red_apples="red")
    Variant.objects.all().delete()
    publish(source=ADMIN)

    assert aliases() == {}
