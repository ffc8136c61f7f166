"""Visibility policies: rows of staff's, published, and asked about each caller (visibility.md)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from sezzlee_mcp import publishing
from sezzlee_mcp.models import Catalog, Operation, VisibilityPolicy
from sezzlee_mcp.testing import McpClient
from tests.django.admin_pages import delete, errors, page, rows, said, save
from tests.factories import SuperuserFactory, VisibilityPolicyFactory

Agent = Callable[[str], McpClient]
PING = {"routes": ["/api/ping/"]}


def publish_policy(rule: str, subject: str = "", **targets: Any) -> VisibilityPolicy:
    policy = VisibilityPolicyFactory(rule=rule, subject=subject, **(targets or PING))
    publishing.publish(source="command")
    return policy


def who_sees_ping(agent: Agent) -> set[str]:
    return {name for name in ("alice", "bob", "carol", "admin") if "error" not in agent(name).load("ping")}


@pytest.mark.parametrize(
    ("rule", "subject", "seers"),
    [
        ("authenticated", "", {"alice", "bob", "carol", "admin"}),
        ("staff", "", {"carol", "admin"}),
        ("superuser", "", {"admin"}),
        ("group", "editors", {"bob"}),
        ("perm", "shop.change_order", {"alice", "admin"}),
        ("call", "tests.testapp.policies.has_short_name", {"bob"}),
    ],
)
def test_a_policy_hides_a_tool_from_all_whom_its_rule_does_not_fit(
    agent: Agent, rule: str, subject: str, seers: set[str]
) -> None:
    User.objects.get(username="bob").groups.add(Group.objects.create(name="editors"))
    publish_policy(rule, subject)

    assert who_sees_ping(agent) == seers


def test_a_policy_takes_nobody_anything_but_the_sight_of_a_tool(agent: Agent) -> None:
    publish_policy("superuser")

    assert agent("bob").load("ping")["error"] == "unknown_tool"
    assert agent("bob").invoke("ping")["status"] == 200


def test_a_policy_cannot_show_what_the_view_refuses(agent: Agent) -> None:
    publish_policy("authenticated", routes=["/api/audit/"])

    assert agent("bob").load("audit_list")["error"] == "unknown_tool"


def test_a_policy_hides_a_tool_from_anonymous_callers(shop: None, anonymous_endpoint: None) -> None:
    assert McpClient().load("ping")["name"] == "ping"

    publish_policy("authenticated")

    assert McpClient().load("ping")["error"] == "unknown_tool"


@pytest.mark.parametrize("function", ["fails", "answers_text", "was_renamed"])
def test_a_function_that_gives_no_answer_leaves_the_tool_undecided(
    agent: Agent, caplog: pytest.LogCaptureFixture, function: str
) -> None:
    publish_policy("call", f"tests.testapp.policies.{function}")

    loaded = agent("bob").load("ping")

    assert (loaded["name"], loaded["authUncertain"]) == ("ping", True)
    assert "secret" not in str(loaded)
    assert f"The policy call:tests.testapp.policies.{function} could not be asked." in caplog.messages


def test_a_function_that_does_not_know_leaves_the_tool_undecided(agent: Agent) -> None:
    User.objects.filter(username="bob").update(username="maybe-bob")
    publish_policy("call", "tests.testapp.policies.has_short_name")

    assert agent("bob").load("ping")["authUncertain"] is True


def test_policies_of_a_tool_must_all_hold(agent: Agent) -> None:
    publish_policy("staff")
    publish_policy("call", "tests.testapp.policies.has_short_name")

    assert who_sees_ping(agent) == set()


def test_a_published_policy_is_a_new_generation_and_a_saved_one_alone_is_not(agent: Agent) -> None:
    VisibilityPolicyFactory(rule="superuser", **PING)
    assert (Catalog.objects.generation(), who_sees_ping(agent)) == (1, {"alice", "bob", "carol", "admin"})

    publishing.publish(source="command")

    assert (Catalog.objects.generation(), who_sees_ping(agent)) == (2, {"admin"})


def test_an_operation_is_a_target(agent: Agent) -> None:
    policy = VisibilityPolicyFactory(rule="superuser")
    policy.operations.add(Operation.objects.get(key="GET /api/ping/"))
    publishing.publish(source="command")

    assert who_sees_ping(agent) == {"admin"}


# -- the pages of staff --


@pytest.fixture
def staff(shop: None, client: Client) -> Client:
    client.force_login(SuperuserFactory())
    return client


def typed_policy(**changes: Any) -> dict[str, Any]:
    return {"name": "Office", "rule": "staff", "subject": "", "tags": "", "routes": "/api/ping/"} | changes


def test_a_saved_policy_is_published(staff: Client, agent: Agent) -> None:
    response = save(staff, page("visibilitypolicy", "add"), **typed_policy())

    assert said(response)[0] == "Generation 2: 1 tool changed."
    assert who_sees_ping(agent) == {"carol", "admin"}


def test_a_deleted_policy_hides_nothing(staff: Client, agent: Agent) -> None:
    policy = publish_policy("superuser")

    delete(staff, page("visibilitypolicy", "delete", policy.pk))

    assert who_sees_ping(agent) == {"alice", "bob", "carol", "admin"}


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"rule": "group"}, {"subject": ["There is no group of this name."]}),
        ({"rule": "group", "subject": "nobody"}, {"subject": ["There is no group of this name."]}),
        (
            {"rule": "perm", "subject": "shop.fly_order"},
            {"subject": ["There is no such permission; write it as app.codename."]},
        ),
        (
            {"rule": "perm", "subject": "view_order"},
            {"subject": ["There is no such permission; write it as app.codename."]},
        ),
        (
            {"rule": "call", "subject": "tests.testapp.policies.was_renamed"},
            {
                "subject": [
                    'It cannot be imported: Module "tests.testapp.policies" does not define a "was_renamed" '
                    "attribute/class"
                ]
            },
        ),
        ({"rule": "call", "subject": "tests.testapp.policies.NO_FUNCTION"}, {"subject": ["This is no function."]}),
        ({"subject": "editors"}, {"subject": ["This rule is about nothing; leave the subject empty."]}),
        (
            {"routes": " "},
            {
                "__all__": [
                    "Say which tools it concerns: by operations, tags or routes. The route ** matches every tool."
                ]
            },
        ),
    ],
)
def test_a_policy_that_means_nothing_is_refused_beside_its_field(
    staff: Client, changes: dict[str, Any], refused: dict[str, list[str]]
) -> None:
    response = save(staff, page("visibilitypolicy", "add"), **typed_policy(**changes))

    assert errors(response) == refused
    assert (VisibilityPolicy.objects.count(), Catalog.objects.generation()) == (0, 1)


def test_policies_are_listed_with_what_they_concern(staff: Client) -> None:
    policy = VisibilityPolicyFactory(name="Office", rule="group", subject="editors", tags=["orders"], routes=["/a/*"])
    policy.operations.add(*Operation.objects.all()[:2])

    assert rows(staff.get(page("visibilitypolicy", "changelist"))) == [
        ["Office", "is in the group", "editors", "2 operations, orders, /a/*"]
    ]
