"""A sync that staff ask for: it runs behind the request, one at a time, and no process that dies leaves it running."""

import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.db.models.signals import pre_save
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from django.utils import timezone
from pytest_django import Settings
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from sezzlee_mcp.admin import waiting
from sezzlee_mcp.models import Operation, RequestedSync, Revision
from sezzlee_mcp.requested_sync import THREAD
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import LIBRARY, page, said
from tests.factories import StaffFactory, SuperuserFactory

RUNS = "A sync runs since"


class Books(APIView):
    def get(self, request: Request) -> Response:
        return Response([])


urlpatterns = [path("admin/", admin.site.urls), path("books/", Books.as_view())]


@pytest.fixture(autouse=True)
def small_project(transactional_db: None, settings: Settings, client: Client) -> None:
    settings.ROOT_URLCONF = __name__
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    client.force_login(SuperuserFactory(username="ada"))


def ask(client: Client, **typed: str) -> HttpResponse:
    """Press "Sync now", and wait for what it began."""
    response = client.post(page("catalog", "sync"), typed)
    for thread in threading.enumerate():
        if thread.name.startswith(THREAD):
            thread.join()
    return response


def text(client: Client) -> str:
    return client.get(page("catalog", "sync")).content.decode()


def history() -> list[tuple[str, str]]:
    """Who asked for each sync, and what is told of it; the oldest first."""
    entries = LogEntry.objects.filter(content_type__model="catalog").order_by("pk")
    return [(str(entry.user), entry.get_change_message()) for entry in entries]


def fall_silent() -> None:
    RequestedSync.objects.update(alive_at=timezone.now() - timedelta(minutes=2))


def test_a_sync_publishes_in_the_name_of_whoever_asked(client: Client) -> None:
    response = ask(client)
    assert response.headers["Location"] == page("catalog", "sync")
    revision = Revision.objects.latest()
    assert (revision.source, str(revision.actor), revision.counts["tools"]) == ("sync", "ada", 1)
    assert "Generation 1: 1 tool added." in text(client)
    assert history() == [("ada", "Started a sync. Generation 1: 1 tool added.")]
    (history_page,) = re.findall(r'href="([^"]*/history/)"', text(client))
    assert "Started a sync. Generation 1: 1 tool added." in client.get(history_page).content.decode()
    assert list(waiting.saves()) == []  # it was in the history before it published


def test_a_second_sync_is_told_that_one_runs(client: Client) -> None:
    RequestedSync.objects.claim(get_user_model().objects.get())  # as another process would
    response = ask(client)
    assert said(response) == ["A sync runs already, so none was started."]
    assert (Operation.objects.count(), RequestedSync.objects.current().number) == (0, 1)


def test_the_page_of_a_running_sync_says_how_far_it_is_and_loads_itself_anew(client: Client) -> None:
    number = RequestedSync.objects.claim(get_user_model().objects.get())
    assert number is not None
    RequestedSync.objects.beat(number, done=3, total=70)
    response = client.get(page("catalog", "sync"))
    shown = response.content.decode()
    assert (RUNS in shown, "3 of 70 endpoints are read." in shown, "Sync now" in shown) == (True, True, False)
    assert response.headers["Refresh"] == "3"


def test_a_process_that_died_leaves_no_running_sync(client: Client) -> None:
    RequestedSync.objects.claim(get_user_model().objects.get())
    fall_silent()
    shown = text(client)
    assert (RUNS in shown, "its process seems to have ended" in shown, "Sync now" in shown) == (False, True, True)
    ask(client)
    assert "Generation 1: 1 tool added." in text(client)


def test_one_that_was_taken_for_dead_writes_nothing_over_the_next(client: Client) -> None:
    user = get_user_model().objects.get()
    old = RequestedSync.objects.claim(user)
    assert old is not None
    fall_silent()
    new = RequestedSync.objects.claim(user)
    RequestedSync.objects.beat(old, done=1, total=1)
    RequestedSync.objects.end(old, RequestedSync.Outcome.FAILED)
    current = RequestedSync.objects.current()
    assert (current.number, current.is_running, current.total) == (new, True, 0)


def test_a_refusal_is_told_and_can_be_overruled(client: Client) -> None:
    more = LIBRARY["paths"]["/authors/"]["get"]
    many = {f"/more/{number}/": {"get": {**more, "operationId": f"more_{number}"}} for number in range(12)}
    sync({**LIBRARY, "paths": many})
    ask(client)
    assert "This sync would remove 12 of 12 published tools." in text(client)
    assert Revision.objects.latest().generation == 1
    ask(client, force="on")
    assert "Generation 2: 1 tool added, 12 tools removed." in text(client)
    refused, forced = [said for _user, said in history()]
    assert refused.startswith("Started a sync. This sync would remove 12 of 12 published tools.")
    assert forced == (
        "Started a sync, also when more than half of the tools would go. Generation 2: 1 tool added, 12 tools removed."
    )


@pytest.mark.parametrize("kind", [OSError, SystemExit])
def test_a_failure_is_told_without_its_reason(
    client: Client, caplog: pytest.LogCaptureFixture, kind: type[BaseException]
) -> None:
    def break_down(**kwargs: Any) -> None:
        raise kind("A receiver of the host broke.")

    pre_save.connect(break_down, sender=Revision)
    try:
        ask(client)
    finally:
        pre_save.disconnect(break_down, sender=Revision)
    assert "It failed, and nothing was changed. The log of the server says why." in text(client)
    assert ("A receiver of the host broke." in caplog.text, Revision.objects.exists()) == (True, False)
    failed = "Started a sync. It failed, and nothing was changed. The log of the server says why."
    assert history() == [("ada", failed)]


def test_a_sync_of_who_may_not_publish_waits_in_the_draft(client: Client) -> None:
    client.force_login(StaffFactory(username="bob", permissions=["view_catalog", "sync_catalog"]))

    ask(client)

    assert (Revision.objects.exists(), Operation.objects.count()) == (False, 1)
    kept = "Started a sync. In the draft, which nobody published by that: 1 tool added."
    assert history() == [("bob", kept)]


def test_asking_needs_its_own_permission(client: Client) -> None:
    client.force_login(StaffFactory(permissions=["view_catalog"]))
    assert (ask(client).status_code, "Sync now" in text(client)) == (403, False)
    client.force_login(StaffFactory(permissions=["view_catalog", "sync_catalog"]))
    assert (ask(client).status_code, "Sync now" in text(client)) == (302, True)
