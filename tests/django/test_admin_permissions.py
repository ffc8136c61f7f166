"""Who may do what in the admin: each page and each action, by each permission alone, with and without it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import Settings

from sezzlee_mcp.publishing import publish
from tests.django import admin_requests
from tests.django.admin_pages import page
from tests.django.admin_requests import ACTIONS, APP, PAGES, address, logged_in, permits, post, ways
from tests.factories import StaffFactory, SuperuserFactory, UserFactory

REVISIONS = f"{APP}.Revision"


@pytest.fixture(autouse=True)
def orchard(db: None, settings: Settings) -> None:
    admin_requests.orchard(settings)


@pytest.fixture
def ada() -> Client:
    """Who may do everything."""
    return logged_in(SuperuserFactory(username="ada"))


class Staff:
    """One member of the staff, with the permissions that are given last."""

    def __init__(self) -> None:
        self.user = StaffFactory()
        self.client = logged_in(self.user)
        self._ids = dict(Permission.objects.filter(content_type__app_label=APP).values_list("codename", "pk"))
        self.everything = frozenset(self._ids)

    def may(self, permissions: frozenset[str]) -> None:
        self.user.user_permissions.set([self._ids[name] for name in permissions])

    def cases(self, *whos: str) -> list[frozenset[str]]:
        """
        No permission, each that is needed alone, what is just enough, all but each, all but those, and all.

        What the others do not open together none of them opens alone.
        """
        enough = [way for who in whos for way in ways(who)]
        needed = frozenset().union(*enough)
        alone, without = [frozenset({name}) for name in needed], [self.everything - {name} for name in needed]
        cases = [frozenset(), *alone, *enough, *without, self.everything - needed, self.everything]
        return list(dict.fromkeys(cases))


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def stored() -> dict[str, list[Any]]:
    """All that the app stores, and the admin's history."""
    models = [*apps.get_app_config(APP).get_models(include_auto_created=True), LogEntry]
    return {model._meta.label: sorted(model._default_manager.values_list(), key=repr) for model in models}


def test_every_page_and_every_action_is_in_the_table(rf: RequestFactory) -> None:
    request = rf.get("/")
    request.user = SuperuserFactory()

    assert (set(PAGES), set(ACTIONS)) == (admin_requests.pages(), admin_requests.actions(request))


def test_every_permission_opens_something() -> None:
    needed = [way for each in PAGES.values() for who in (each.opens, each.posts) for way in ways(who)]

    assert Staff().everything - frozenset().union(*needed) == {"search_as_user"}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_open_to_who_may_and_to_nobody_else(ada: Client, name: str) -> None:
    asked, staff = PAGES[name], Staff()
    if asked.work:
        asked.work.given()
    url = address(name)
    typed = asked.work.typed(ada, url) if asked.work else {}
    shown, done = (302 if leads else 200 for leads in (asked.leads_away, asked.leads_away or asked.work))
    publishing = "roll_back_catalog" if name == "revision_roll_back" else "publish_catalog"
    before = stored()

    for permissions in staff.cases(asked.opens, asked.posts):
        staff.may(permissions)
        expected = (
            shown if permits(asked.opens, permissions) else 403,
            done if permits(asked.posts, permissions) else 403,
        )
        with undone():
            got = (staff.client.get(url).status_code, post(staff.client, url, typed).status_code)
            assert (sorted(permissions), *got) == (sorted(permissions), *expected)
            after = stored()
        assert (after != before) == (expected[1] != 403 and asked.work is not None)
        assert after[REVISIONS] == before[REVISIONS] or publishing in permissions


def test_every_page_sends_others_than_staff_to_log_in() -> None:
    visitors = (Client(), logged_in(UserFactory()), logged_in(UserFactory(is_staff=True, is_active=False)))
    urls = [address(name) for name in PAGES]
    before = stored()

    answers = [(each.get(url), each.post(url, {"post": "yes"})) for url in urls for each in visitors]

    assert {response.status_code for both in answers for response in both} == {302}
    to_log_in = [redirect_to_login(url, reverse("admin:login")).url for url in urls for _visitor in visitors]
    assert [{response["Location"] for response in both} for both in answers] == [{url} for url in to_log_in]
    assert stored() == before


def test_nothing_is_done_without_the_csrf_token() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(SuperuserFactory())
    urls = [address(name) for name in PAGES]
    before = stored()

    assert {client.post(url, {"post": "yes"}).status_code for url in urls} == {403}
    assert stored() == before


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_done_for_who_may_and_for_nobody_else(ada: Client, name: str) -> None:
    model, _, action = name.partition(".")
    staff = Staff()
    chosen = {"action": action, "_selected_action": [admin_requests.first(model).pk]}
    sent = {**chosen, **admin_requests.deletion(ada.post(page(model, "changelist"), chosen))}
    before = stored()

    for permissions in staff.cases(ACTIONS[name]):
        staff.may(permissions)
        with undone():
            response = staff.client.post(page(model, "changelist"), sent)
            after = stored()
        is_shown = response.context is not None and "address" in response.context  # of an edit, before it is saved
        done = after != before if action == "delete_selected" else is_shown
        assert (sorted(permissions), done) == (sorted(permissions), permits(ACTIONS[name], permissions))
        assert after == before or action == "delete_selected"


def test_the_index_leads_only_to_pages_that_are_open() -> None:
    staff = Staff()
    shut = {}
    for name in sorted(staff.everything):
        staff.may(frozenset({name}))
        links = re.findall(rf'href="(/admin/{APP}/[^"]*)"', staff.client.get("/admin/").content.decode())
        statuses = {url: staff.client.get(url).status_code for url in links}
        shut |= {(name, url): status for url, status in statuses.items() if status != 200}

    assert shut == {}


def test_operations_are_completed_for_who_may_see_them() -> None:
    staff = Staff()
    field = {"app_label": APP, "model_name": "visibilitypolicy", "field_name": "operations", "term": "apples"}
    answers = {}
    for name in sorted(staff.everything):
        staff.may(frozenset({name}))
        answers[name] = staff.client.get(reverse("admin:autocomplete"), field).status_code

    assert {name for name, status in answers.items() if status != 403} == {"view_operation", "change_operation"}


def test_a_permission_shows_rows_of_its_own_and_no_other_ones() -> None:
    """The survey aside, which is of everything but words; and what a finding says of a policy."""
    texts = {"operation": "description", "variant": "description", "tag": "description", "diagnostic": "message"}
    texts |= {"selectionrule": "note", "argumentrule": "note", "revision": "note", "searchcase": "need"}
    texts |= {"visibilitypolicy": "name", "toolalias": "name", "vainword": "word", "tooluse": "outcome"}
    rows = {model: apps.get_model(APP, model)._default_manager for model in texts}
    for model in ("operation", "variant", "visibilitypolicy"):
        rows[model].update(**{texts[model]: f"{model}-row"})
    publish(source="admin")
    for model in texts.keys() - {"diagnostic"}:
        rows[model].update(**{texts[model]: f"{model}-row"})
    rows["diagnostic"].filter(stage="document").update(message="diagnostic-row")
    staff, shown = Staff(), {}

    for name in sorted(name for name in staff.everything if name.startswith("view_")):
        staff.may(frozenset({name}))
        urls = [address(each) for each, asked in PAGES.items() if frozenset({name}) in ways(asked.opens)]
        read = "".join(staff.client.get(url).content.decode() for url in urls)
        shown[name] = {model for model in texts if f"{model}-row" in read}

    assert shown == {
        **{f"view_{model}": {model} for model in texts if model != "variant"},
        "view_operation": {"operation", "variant"},
        "view_diagnostic": {"diagnostic", "visibilitypolicy"},
        "view_catalog": {"operation", "variant", "revision"},
    }
