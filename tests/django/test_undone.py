"""Host code that is asked ahead of a call, a permission class or a policy's function, leaves nothing behind."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
from django.contrib import messages
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone, translation
from pytest_django import Settings

from sezzlee_mcp.models import VisibilityPolicy
from sezzlee_mcp.rollbacks import undone
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.factories import UserFactory
from tests.testapp.guarded import Own

Deed = Callable[[Any], None]


class ByPolicy:
    deed: Deed = staticmethod(lambda request: None)


def policy(request: HttpRequest) -> bool:
    ByPolicy.deed(request)
    return True


@pytest.fixture
def browser(db: None, settings: Settings) -> Client:
    """A browser that is logged in, with something in its session."""
    settings.ROOT_URLCONF = "tests.testapp.guarded"
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    client = Client()
    client.force_login(UserFactory())
    session = client.session
    session["basket"] = ["apple"]
    session.save()
    return client


@pytest.fixture(params=["permission class", "policy"])
def does(request: pytest.FixtureRequest, browser: Client, monkeypatch: pytest.MonkeyPatch) -> Callable[[Deed], None]:
    """Has the host's code do something when it is asked about the tool ``plain``."""

    def deed_of(deed: Deed) -> None:
        if request.param == "policy":
            VisibilityPolicy.objects.create(
                name="asks", rule=VisibilityPolicy.Rule.CALLABLE, subject=f"{__name__}.policy", routes=["**"]
            )
            monkeypatch.setattr(ByPolicy, "deed", staticmethod(deed))
        else:
            monkeypatch.setattr(Own, "rule", staticmethod(lambda asked, view: deed(asked) is None))
        sync()

    return deed_of


def write(request: Any) -> None:
    request.session["asked"] = True
    request.session["basket"].append("pear")


def log_out(request: Any) -> None:
    request.session.flush()


@pytest.mark.parametrize("deed", [write, log_out])
def test_no_middleware_saves_what_was_done_to_the_session(
    does: Callable[[Deed], None], browser: Client, deed: Deed
) -> None:
    does(deed)
    before = dict(browser.session)

    assert McpClient(browser).load("plain")["name"] == "plain"
    assert dict(browser.session) == before
    assert before["basket"] == ["apple"]


def test_nothing_that_was_told_waits_for_the_next_page(does: Callable[[Deed], None], browser: Client) -> None:
    # A view hands its permission classes a request of DRF's, which keeps Django's own behind it.
    does(lambda request: messages.info(getattr(request, "_request", request), "Asked."))
    agent = McpClient(browser)

    assert agent.load("plain")["name"] == "plain"
    assert "messages" not in browser.cookies
    assert "_messages" not in browser.session


def test_language_and_time_zone_end_with_the_question(does: Callable[[Deed], None], browser: Client) -> None:
    def settle(request: Any) -> None:
        translation.activate("de")
        timezone.activate("Asia/Tokyo")

    does(settle)
    McpClient(browser).load("plain")

    assert (translation.get_language(), timezone.get_current_timezone_name()) == ("en", "UTC")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_in_a_transaction", [False, True])
def test_a_connection_that_is_first_needed_by_the_question_is_rolled_back_too(is_in_a_transaction: bool) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite in memory has one connection; PostgreSQL runs this")

    def add() -> None:
        if is_in_a_transaction:
            with transaction.atomic():
                Group.objects.create(name="seen")
        else:
            Group.objects.create(name="seen")

    states = []

    def ask() -> None:
        try:
            undone(add, HttpRequest())
            states.append((Group.objects.count(), connection.in_atomic_block, connection.get_autocommit()))
        finally:
            connection.close()

    thread = Thread(target=ask)
    thread.start()
    thread.join()

    assert states == [(0, False, True)]
