"""visibility.md, "Cache": what one caller may see is asked once a minute, and is nobody else's answer."""

from collections.abc import Iterator
from threading import Barrier, Thread
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from pytest_django import Settings
from rest_framework.authentication import TokenAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.request import Request

from sezzlee_mcp.caller_cache import invalidate_all, invalidate_user
from sezzlee_mcp.models import Operation, VisibilityPolicy
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.factories import UserFactory
from tests.testapp.guarded import Own


class Asked(list[Any]):
    """Who the permission class of the view ``plain`` was asked about; it lets pass whoever may add groups."""

    def __call__(self, request: Request, view: Any) -> bool:
        if "plain" in request.path:
            self.append((str(request.user), request.get_host()))
        return bool(request.user.has_perm("auth.add_group"))


@pytest.fixture
def asked(db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    settings.ROOT_URLCONF = "tests.testapp.guarded"
    settings.ALLOWED_HOSTS = ["*"]
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        "USE_FLUSH_SECONDS": 0,
    }
    sync()
    rule = Asked()
    monkeypatch.setattr(Own, "rule", staticmethod(rule))
    yield rule
    invalidate_all()


def agent(user: User | None = None, **headers: str) -> McpClient:
    token = {} if user is None else {"Authorization": f"Token {Token.objects.get_or_create(user=user)[0].key}"}
    return McpClient(headers={**token, **headers})


def sees(client: McpClient) -> bool:
    return "error" not in client.load("plain")


def allow(user: User) -> None:
    user.user_permissions.add(Permission.objects.get(codename="add_group"))


def test_a_caller_is_asked_about_once(asked: Asked) -> None:
    user = UserFactory()
    client = agent(user)

    assert [sees(client) for _ in range(3)] == [False, False, False]
    assert asked == [(str(user), "testserver")]


def test_no_caller_gets_the_answer_of_another(asked: Asked) -> None:
    may, may_not = UserFactory(), UserFactory()
    allow(may)
    clients = [agent(may), agent(may_not), agent()]

    assert [[sees(client) for client in clients] for _ in range(2)] == [[True, False, False]] * 2
    assert [name for name, _ in asked] == [str(may), str(may_not), "AnonymousUser", "AnonymousUser"]


def test_anonymous_callers_are_told_apart_by_what_their_view_knows_them_by(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Own, "rule", staticmethod(lambda request, view: request.headers.get("X-Api-Key") == "good"))
    clients = [agent(**{"X-Api-Key": "good"}), agent(**{"X-Api-Key": "bad"}), agent()]

    assert [[sees(client) for client in clients] for _ in range(2)] == [[True, False, False]] * 2


def test_a_request_of_an_anonymous_caller_asks_each_view_once(asked: Asked) -> None:
    found = agent().search(limit=50)

    assert found["results"]
    assert asked == [("AnonymousUser", "testserver")]


def test_one_user_under_two_hosts_is_two_callers(asked: Asked) -> None:
    user = UserFactory()
    clients = [agent(user), agent(user, Host="other.example")]

    for client in (*clients, *clients):
        sees(client)

    assert asked == [(str(user), "testserver"), (str(user), "other.example")]


def test_a_token_and_a_session_of_one_user_are_two_callers(asked: Asked) -> None:
    user = UserFactory()
    browser = Client()
    browser.force_login(user)
    clients = [agent(user), McpClient(browser)]

    for client in (*clients, *clients):
        sees(client)

    assert len(asked) == 2


class ScopedToken(TokenAuthentication):
    """Gives the caller's row of the project with the scopes that a header names, under a member that it names too."""

    def authenticate(self, request: Request) -> Any:
        found = super().authenticate(request)
        if found is None:
            return None
        member, _, scopes = request.headers["X-Grant"].partition("=")
        user, token = found
        setattr(token, member, scopes if member == "scope" else scopes.split())
        if "X-Unsaved" in request.headers:
            token.pk = None
        return user, token


@pytest.mark.parametrize("member", ["scope", "scopes"])
def test_tokens_of_one_user_with_other_scopes_are_two_callers(asked: Asked, settings: Settings, member: str) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "AUTHENTICATION_CLASSES": [f"{__name__}.ScopedToken"]}
    user = UserFactory()
    clients = [agent(user, **{"X-Grant": f"{member}={scopes}"}) for scopes in ("read", "read write", "write read")]

    for client in (*clients, *clients):
        sees(client)

    assert len(asked) == 2


def test_token_that_no_row_holds_is_asked_about_every_time(asked: Asked, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "AUTHENTICATION_CLASSES": [f"{__name__}.ScopedToken"]}
    client = agent(UserFactory(), **{"X-Grant": "scopes=read", "X-Unsaved": "yes"})

    sees(client)
    sees(client)

    assert len(asked) == 2


def test_users_without_a_row_are_not_taken_for_each_other(asked: Asked, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {
        **settings.SEZZLEE_MCP,
        "AUTHENTICATION_CLASSES": ["tests.testapp.services.ServiceName"],
        "IDENTITY": "user",
    }
    clients = [agent(**{"X-Service": name}) for name in ("trusted", "other")]

    assert [[sees(client) for client in clients] for _ in range(2)] == [[True, False]] * 2


def test_answers_have_an_end(asked: Asked, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "CALLER_CACHE_SECONDS": 0}
    client = agent(UserFactory())

    sees(client)
    sees(client)

    assert len(asked) == 2


def test_the_least_recently_seen_caller_is_forgotten(asked: Asked, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "CACHED_CALLERS": 2}
    first, second, third = [agent(UserFactory()) for _ in range(3)]

    for client in (first, second, first, third):
        sees(client)
    assert len(asked) == 3

    sees(first)
    assert len(asked) == 3
    sees(second)
    assert len(asked) == 4


def test_a_new_generation_asks_again(asked: Asked) -> None:
    client = agent(UserFactory())
    sees(client)

    Operation.objects.filter(key="GET /function/").update(title="Another title")
    publish(source="command")
    sees(client)

    assert len(asked) == 2


def test_rights_that_change_count_at_once_in_the_process_that_changed_them(asked: Asked) -> None:
    user, group = UserFactory(), Group.objects.create(name="adders")
    group.permissions.add(Permission.objects.get(codename="add_group"))
    client = agent(user)
    assert not sees(client)

    user.groups.add(group)
    assert sees(client)
    group.permissions.clear()
    assert not sees(client)
    allow(user)
    assert sees(client)
    user.is_active = False
    user.save()
    user.is_active = True
    user.user_permissions.clear()
    user.save()
    assert not sees(client)


def test_rights_that_are_deleted_count_at_once_in_the_process_that_deleted_them(asked: Asked) -> None:
    user, group = UserFactory(), Group.objects.create(name="adders")
    permission = Permission.objects.get(codename="add_group")
    group.permissions.add(permission)
    user.groups.add(group)
    client = agent(user)
    assert sees(client)

    group.delete()
    assert not sees(client)
    allow(user)
    assert sees(client)
    permission.delete()
    assert not sees(client)


def test_a_group_that_is_renamed_counts_under_its_new_name(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Own, "rule", staticmethod(lambda request, view: True))
    VisibilityPolicy.objects.create(name="adders only", rule="group", subject="adders", routes=["/plain/"])
    publish(source="command")
    user, group = UserFactory(), Group.objects.create(name="adders")
    user.groups.add(group)
    client = agent(user)
    assert sees(client)

    group.name = "readers"
    group.save()
    assert not sees(client)


def test_the_host_can_have_a_caller_forgotten(asked: Asked) -> None:
    user, other = UserFactory(), UserFactory()
    clients = [agent(user), agent(other)]
    for client in clients:
        sees(client)

    invalidate_user(user)
    for client in clients:
        sees(client)
    assert [name for name, _ in asked] == [str(user), str(other), str(user)]

    invalidate_all()
    for client in clients:
        sees(client)
    assert len(asked) == 5


def test_invoke_asks_no_cache(asked: Asked) -> None:
    user = UserFactory()
    client = agent(user)
    assert not sees(client)

    User.user_permissions.through.objects.create(  # no signal says so, as from another process
        user=user, permission=Permission.objects.get(codename="add_group")
    )

    assert client.invoke("function")["status"] == 200
    assert not sees(client)


@pytest.mark.django_db(transaction=True)
def test_requests_of_one_caller_at_once_ask_once(asked: Asked) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite in memory has one connection; PostgreSQL runs this")
    user = UserFactory()
    client = agent(user)
    together = Barrier(4)

    def ask() -> None:
        together.wait(timeout=30)
        try:
            sees(client)
        finally:
            connection.close()

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(asked) == 1
