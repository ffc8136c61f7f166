"""visibility.md: staff's policies are facts of the tools that they concern, and can only hide more."""

from dataclasses import replace
from typing import Any

import pytest

from sezzlee_mcp.catalog import Curation, VisibilityPolicy, compile_catalog
from sezzlee_mcp.catalog.visibility import PolicyKind, asked_by, policy_name, read_policy
from sezzlee_mcp.openapi.descriptors import AuthFacts, Descriptor
from tests.catalog.making import EVERYTHING, operation, staffed

STAFF = asked_by(PolicyKind.STAFF)
ORDERS = operation(operation_id="orders_list", tags=("Bestellungen",))
PEOPLE = operation("GET", "/people/", "people_list")
CLOSED = AuthFacts(anonymous="no", policies=("perm:shop.view_order",))


def secured(descriptor: Descriptor, auth: AuthFacts) -> Descriptor:
    assert descriptor.endpoint is not None
    return replace(descriptor, endpoint=replace(descriptor.endpoint, auth=auth))


def asking(*policies: VisibilityPolicy, curation: Curation = EVERYTHING) -> Curation:
    return replace(curation, policies=policies)


def facts(curation: Curation, *descriptors: Descriptor) -> dict[str, AuthFacts]:
    return {tool.name: tool.auth for tool in compile_catalog(descriptors, curation).tools}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "target",
    [
        {"operations": frozenset({"GET /orders/"})},
        {"tags": ("other", "BESTELLUNGEN")},
        {"routes": ("/none/", "/ord*/")},
    ],
)
def test_a_policy_holds_for_the_tools_of_each_target(target: dict[str, Any]) -> None:
    policy = VisibilityPolicy(name="office", auth=STAFF, **target)
    found = facts(asking(policy), secured(ORDERS, CLOSED), secured(PEOPLE, CLOSED))
    assert found == {
        "orders_list": AuthFacts(anonymous="no", policies=("perm:shop.view_order", "staff")),
        "people_list": CLOSED,
    }


@pytest.mark.parametrize(
    ("view", "asked", "expected"),
    [
        (AuthFacts(anonymous="yes"), asked_by(None), AuthFacts(anonymous="no")),
        (AuthFacts(anonymous="yes"), STAFF, STAFF),
        (
            AuthFacts(anonymous="unknown", imperative=True),
            asked_by(PolicyKind.GROUP, "editors"),
            AuthFacts(anonymous="no", policies=("group:editors",), imperative=True),
        ),
        (
            AuthFacts(anonymous="yes"),
            asked_by(PolicyKind.CALLABLE, "shop.is_open"),
            AuthFacts(anonymous="yes", policies=("call:shop.is_open",)),
        ),
        (STAFF, STAFF, STAFF),
    ],
)
def test_what_a_policy_asks_is_added_to_what_the_view_asks(
    view: AuthFacts, asked: AuthFacts, expected: AuthFacts
) -> None:
    policy = VisibilityPolicy(name="one", auth=asked, routes=("**",))
    assert facts(asking(policy), secured(ORDERS, view)) == {"orders_list": expected}


def test_policies_of_one_tool_must_all_hold_and_are_said_by_name() -> None:
    both = [
        VisibilityPolicy(name=name, auth=asked_by(PolicyKind.GROUP, name), routes=("**",)) for name in ("red", "blue")
    ]
    (auth,) = facts(asking(*both), secured(ORDERS, AuthFacts(anonymous="yes"))).values()
    assert auth == AuthFacts(anonymous="no", policies=("group:blue", "group:red"))


def test_tags_are_those_that_the_tool_carries_not_those_of_the_document() -> None:
    policy = VisibilityPolicy(name="one", auth=STAFF, tags=("bestellungen",))
    renamed = asking(policy, curation=staffed("GET /orders/", tags=("orders",)))
    assert facts(renamed, secured(ORDERS, CLOSED)) == {"orders_list": CLOSED}


def test_a_policy_on_a_folded_route_holds_for_the_tool_that_stands_for_it() -> None:
    short = operation("GET", "/orders/", "orders_list", container="orders")
    long = operation("GET", "/old/orders/", "orders_list", container="orders")
    policy = VisibilityPolicy(name="one", auth=STAFF, operations=frozenset({"GET /old/orders/"}))
    assert facts(asking(policy), secured(short, CLOSED), secured(long, CLOSED)) == {
        "orders_list": AuthFacts(anonymous="no", policies=("perm:shop.view_order", "staff"))
    }


def test_a_changed_policy_changes_the_content_and_not_the_version() -> None:
    (before,) = compile_catalog([ORDERS], EVERYTHING).tools
    policy = VisibilityPolicy(name="one", auth=STAFF, routes=("**",))
    (after,) = compile_catalog([ORDERS], asking(policy), known={before.input_digest: before}).tools
    assert after.content_digest != before.content_digest
    assert after.loaded == before.loaded


def test_the_name_of_a_policy_changes_no_tool() -> None:
    named = [asking(VisibilityPolicy(name=name, auth=STAFF, routes=("**",))) for name in ("one", "two")]
    first, second = (compile_catalog([ORDERS], curation).tools[0] for curation in named)
    assert (first.content_digest, first.input_digest) == (second.content_digest, second.input_digest)


def test_a_policy_that_concerns_no_tool_is_reported() -> None:
    idle = VisibilityPolicy(name="office", auth=STAFF, routes=("/orderz/",))
    found = compile_catalog([ORDERS], asking(idle)).diagnostics
    assert [(one.code, one.message) for one in found] == [
        ("policy_unused", "The visibility policy office concerns no tool, so it hides nothing.")
    ]


@pytest.mark.parametrize("name", ["staff", "superuser", "group:a:b c", "perm:shop.view_order", "call:shop.is_open"])
def test_policy_names_can_be_read_back(name: str) -> None:
    assert policy_name(*read_policy(name)) == name


@pytest.mark.parametrize("name", ["", "admins", "group", "group:", "staff:yes", "authenticated"])
def test_other_names_are_no_policies(name: str) -> None:
    with pytest.raises(ValueError):
        read_policy(name)
