"""visibility.md, "Permission check tier": code that cannot be read is asked, and does nothing else."""

from collections.abc import Callable
from datetime import date
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.db import IntegrityError, connection, transaction
from django.http import Http404
from pytest_django import Settings
from rest_framework.authtoken.models import Token
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.request import Request

from sezzlee_mcp.dispatch import is_sezzlee_request
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.factories import UserFactory
from tests.testapp.guarded import Own

Rule = Callable[[Request, Any], bool]
Decide = Callable[[Rule], None]
ALL = {
    "plain",
    "picky",
    "write",
    "function",
    "ints",
    "uuids",
    "days",
    "words",
    "shops_retrieve",
    "things_list",
    "things_retrieve",
    "things_count",
}
VARIABLE = {"ints", "uuids", "days", "words", "things_retrieve"}


@pytest.fixture(autouse=True)
def guarded(db: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.testapp.guarded"
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    sync()


@pytest.fixture
def decide(monkeypatch: pytest.MonkeyPatch) -> Decide:
    return lambda rule: monkeypatch.setattr(Own, "rule", staticmethod(rule))


def refuse(request: Request, view: Any) -> bool:
    return False


def raising(error: Exception) -> Rule:
    def rule(request: Request, view: Any) -> bool:
        raise error

    return rule


def seen(client: McpClient, **arguments: Any) -> dict[str, bool]:
    """{name: whether it is uncertain} of what a search shows."""
    return {card["name"]: "authUncertain" in card for card in client.search(limit=50, **arguments)["results"]}


def agent_of(user: User) -> McpClient:
    return McpClient(headers={"Authorization": f"Token {Token.objects.get_or_create(user=user)[0].key}"})


def test_whom_the_view_lets_pass_sees_the_tool_for_certain(decide: Decide) -> None:
    decide(lambda request, view: True)

    assert seen(McpClient()) == dict.fromkeys(ALL, False)
    assert "authUncertain" not in McpClient().load("plain")


def test_whom_the_view_refuses_does_not_see_a_tool_without_variables(decide: Decide) -> None:
    decide(refuse)

    assert seen(McpClient()) == dict.fromkeys(VARIABLE, True)
    assert McpClient().load("plain")["error"] == "unknown_tool"
    assert McpClient().load("ints")["authUncertain"] is True


@pytest.mark.parametrize("error", [NotAuthenticated(), PermissionDenied(), DjangoPermissionDenied()])
def test_a_refusal_that_is_raised_is_a_refusal(decide: Decide, error: Exception) -> None:
    decide(raising(error))

    assert seen(McpClient()) == dict.fromkeys(VARIABLE, True)


def test_each_caller_is_asked_about(decide: Decide) -> None:
    decide(lambda request, view: request.user.username == "ann")

    assert (len(seen(agent_of(UserFactory(username="ann")))), seen(agent_of(UserFactory(username="bob")))) == (
        len(ALL),
        dict.fromkeys({*VARIABLE, "picky"}, True),
    )


def test_a_view_is_asked_about_whom_the_endpoint_found_where_identity_says_so(
    decide: Decide, settings: Settings
) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "IDENTITY": "user"}
    decide(lambda request, view: request.user.username == "ann")

    assert seen(agent_of(UserFactory(username="ann"))) == dict.fromkeys(ALL, False)


def test_the_total_stays_what_is_declared(decide: Decide) -> None:
    decide(refuse)

    assert McpClient().search(limit=50)["total"] == len(ALL)


def test_the_tools_that_take_the_place_of_hidden_ones_are_shown(decide: Decide) -> None:
    decide(lambda request, view: "ints" in request.path)

    found = McpClient().search(limit=2)["results"]

    assert len(found) == 2
    assert "ints" in [card["name"] for card in McpClient().search("ints", limit=1)["results"]]


def test_a_hidden_tool_and_one_that_does_not_exist_answer_byte_for_byte_alike(decide: Decide) -> None:
    decide(lambda request, view: True)
    assert McpClient().load("plain")["name"] == "plain"
    decide(refuse)
    hidden = McpClient().load("plain")
    decide(lambda request, view: True)
    sync({"openapi": "3.0.3", "paths": {}}, force=True)

    assert McpClient().load("plain") == hidden


def test_the_view_is_built_as_its_router_would(decide: Decide, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "PLACEHOLDERS": {"word": "given"}}
    asked: dict[str, Any] = {}

    def note(request: Request, view: Any) -> bool:
        facts = (
            request.method,
            view.kwargs,
            getattr(view, "action", None),
            request.resolver_match.kwargs == view.kwargs,
        )
        asked[request.path] = facts
        assert (view.request, request.data, dict(request.query_params)) == (request, {}, {})
        assert is_sezzlee_request(request._request)
        return True

    decide(note)
    McpClient().search(limit=50)

    assert asked == {
        "/plain/": ("GET", {}, None, True),
        "/picky/": ("GET", {}, None, True),
        "/write/": ("POST", {}, None, True),
        "/function/": ("GET", {}, None, True),
        "/ints/1/": ("GET", {"pk": 1}, None, True),
        "/uuids/00000000-0000-0000-0000-000000000000/": ("GET", {"key": UUID(int=0)}, None, True),
        "/days/2000-01-01/": ("GET", {"day": str(date(2000, 1, 1))}, None, True),
        "/words/given/": ("GET", {"word": "given"}, None, True),
        "/shops/main/": ("GET", {"shop": "main"}, None, True),
        "/things/": ("GET", {}, "list", True),
        "/things/probe/": ("GET", {"pk": "probe"}, "retrieve", True),
        "/things/count/": ("GET", {}, "count", True),
    }


def test_the_check_has_the_callers_own_headers_cookies_and_host(decide: Decide) -> None:
    asked = []

    def note(request: Request, view: Any) -> bool:
        asked.append((request.headers["X-Tenant"], request.get_host(), request.META["REMOTE_ADDR"]))
        return True

    decide(note)
    McpClient(headers={"X-Tenant": "red", "Host": "localhost"}).load("plain")

    assert asked == [("red", "localhost", "127.0.0.1")]


def test_a_credential_that_the_view_does_not_take_leaves_its_tool_undecided(decide: Decide) -> None:
    ann = agent_of(UserFactory())

    assert ann.load("picky")["authUncertain"] is True
    assert "authUncertain" not in McpClient().load("picky")


@pytest.mark.parametrize("error", [RuntimeError("the secret reason"), IntegrityError(), KeyError("pk")])
def test_a_view_that_breaks_is_not_tried_again_until_the_next_generation(
    decide: Decide, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    tries = []

    def fail(request: Request, view: Any) -> bool:
        tries.append(request.path)
        raise error

    decide(fail)
    first, ann = McpClient(), agent_of(UserFactory())

    loaded = first.load("plain")
    assert loaded["authUncertain"] is True
    assert "secret" not in str(loaded)
    assert ann.load("plain")["authUncertain"] is True
    assert tries == ["/plain/"]
    assert "The permission check of GET /plain/ failed." in caplog.messages

    sync({"openapi": "3.0.3", "paths": {}}, force=True)
    sync()
    assert first.load("plain")["authUncertain"] is True
    assert tries == ["/plain/", "/plain/"]


def test_an_object_that_is_not_there_says_nothing_of_the_view(decide: Decide) -> None:
    answers = [Http404(), True]

    def once_missing(request: Request, view: Any) -> bool:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)

    decide(once_missing)

    assert McpClient().load("ints")["authUncertain"] is True
    assert "authUncertain" not in McpClient().load("ints")


def test_what_a_permission_class_writes_is_undone(decide: Decide) -> None:
    def write(request: Request, view: Any) -> bool:
        Group.objects.create(name=f"saw {request.path}")
        transaction.on_commit(lambda: pytest.fail("nothing was committed"))
        return True

    decide(write)

    assert "authUncertain" not in McpClient().load("plain")
    assert Group.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_what_a_permission_class_writes_is_undone_outside_of_a_transaction(decide: Decide) -> None:
    def write(request: Request, view: Any) -> bool:
        Group.objects.create(name="seen")
        return True

    decide(write)

    assert "authUncertain" not in McpClient().load("plain")
    assert (Group.objects.count(), connection.in_atomic_block) == (0, False)


def test_a_query_that_fails_harms_no_later_one(decide: Decide) -> None:
    def break_transaction(request: Request, view: Any) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT nothing FROM nowhere")
        return True

    decide(break_transaction)

    assert McpClient().load("plain")["authUncertain"] is True
    assert User.objects.count() == 0


def test_an_asynchronous_check_is_not_taken_for_a_pass(decide: Decide, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.testapp.guarded import Guarded

    async def check_permissions(self: Any, request: Request) -> None:
        raise PermissionDenied

    monkeypatch.setattr(Guarded, "check_permissions", check_permissions)

    assert McpClient().load("plain")["authUncertain"] is True


def test_checks_can_be_switched_off(decide: Decide, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "PERMISSION_CHECKS": False}
    decide(raising(AssertionError("nobody asks")))

    assert seen(McpClient()) == dict.fromkeys(ALL, True)


def test_hidden_undecided_tools_are_shown_once_the_view_lets_the_caller_pass(
    decide: Decide, settings: Settings
) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "UNDECIDED": "hide"}
    decide(lambda request, view: request.path in ("/plain/", "/ints/1/"))

    assert seen(McpClient()) == {"plain": False, "ints": False}
    assert McpClient().load("words")["error"] == "unknown_tool"


def test_invoke_asks_the_backend_and_no_check(decide: Decide) -> None:
    asked = []

    def note(request: Request, view: Any) -> bool:
        asked.append(request.path)
        return False

    decide(note)

    assert McpClient().invoke("plain")["error"] in ("forbidden", "unauthenticated")
    assert asked == ["/plain/"]


def test_a_search_asks_no_more_views_than_it_can_show(decide: Decide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sezzlee_mcp.sight.CHECKS", 2)
    asked = []

    def note(request: Request, view: Any) -> bool:
        asked.append(request.path)
        return False

    decide(note)
    found = seen(McpClient())

    assert len(asked) == 2
    assert set(found.values()) == {True}


def test_a_search_reads_what_its_checks_take_at_once(
    decide: Decide, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    client = McpClient()
    client.search()
    with django_assert_max_num_queries(40):  # one for all templates; two savepoints for each of twelve views
        McpClient().search(limit=50)
