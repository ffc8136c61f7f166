"""visibility.md: search and load show what a caller may use; invoke never asks."""

import json
from collections.abc import Callable

import pytest
from pytest_django import Settings

from sezzlee_mcp.testing import McpClient

Agent = Callable[[str], McpClient]


def names(client: McpClient) -> set[str]:
    return {card["name"] for card in client.search(limit=50)["results"]}


def test_each_user_sees_another_total(agent: Agent) -> None:
    totals = {username: agent(username).search()["total"] for username in ("alice", "bob", "carol", "admin")}

    assert len(set(totals.values())) == 4
    assert totals["admin"] > totals["alice"] > totals["bob"]


def test_staff_only_operation_is_shown_to_staff_alone(agent: Agent) -> None:
    assert {username: "audit_list" in names(agent(username)) for username in ("alice", "bob", "carol")} == {
        "alice": False,
        "bob": False,
        "carol": True,
    }


def test_hidden_tool_answers_like_an_unknown_one(agent: Agent) -> None:
    bob = agent("bob")

    hidden, unknown = json.dumps(bob.load("audit_list")), json.dumps(bob.load("audit_lisp"))

    assert hidden.replace("audit_list", "NAME").replace("audit list", "WORDS") == unknown.replace(
        "audit_lisp", "NAME"
    ).replace("audit lisp", "WORDS")


def test_search_tells_nothing_of_a_hidden_tool(agent: Agent) -> None:
    hidden, unknown = agent("bob").search("audit", tags=["audit"]), agent("bob").search("zebra", tags=["zebra"])

    assert hidden == unknown
    assert "audit" not in hidden["tags"]
    assert agent("carol").search("audit", tags=["audit"])["results"] != []


def test_words_of_a_hidden_tool_correct_nothing_and_are_not_suggested(agent: Agent, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RANKER": "fielded"}
    bob, carol = agent("bob").search("aduits"), agent("carol").search("aduits")

    assert ("corrected" in bob, bob["results"], bob["suggestions"]["words"]) == (False, [], [])
    assert (carol["corrected"], "suggestions" in carol) == ({"aduits": "audit"}, False)
    assert "audit_list" in {card["name"] for card in carol["results"]}


def test_an_empty_answer_suggests_words_of_the_caller_alone(agent: Agent) -> None:
    found = {username: agent(username).search("aduits")["suggestions"]["words"] for username in ("bob", "carol")}

    assert found == {"bob": [], "carol": ["audit"]}


def test_invoke_asks_the_backend_not_visibility(agent: Agent) -> None:
    assert agent("bob").invoke("audit_list")["error"] == "forbidden"
    assert agent("carol").invoke("audit_list")["status"] == 200


@pytest.fixture
def no_checks(settings: Settings) -> None:
    """What permission classes of the project's own would say stays unknown."""
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "PERMISSION_CHECKS": False}


def test_undecided_tool_says_so(agent: Agent, no_checks: None) -> None:
    uncertain = [card["name"] for card in agent("alice").search(limit=50)["results"] if "authUncertain" in card]

    assert uncertain
    assert agent("alice").load(uncertain[0])["authUncertain"] is True


def test_undecided_tools_can_be_hidden(agent: Agent, no_checks: None, settings: Settings) -> None:
    shown = agent("alice").search()["total"]
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "UNDECIDED": "hide"}

    cards = agent("alice").search(limit=50)

    assert cards["total"] < shown
    assert not [card for card in cards["results"] if "authUncertain" in card]


def test_anonymous_caller_sees_what_anyone_may_use(shop: None, anonymous_endpoint: None) -> None:
    assert names(McpClient()) >= {"ping"}
    assert McpClient().invoke("me")["error"] == "unauthenticated"
