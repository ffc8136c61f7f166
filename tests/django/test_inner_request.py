"""invoke.md, "Dispatch": what the inner request takes over, and what the outer one gets back."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import get_script_prefix, get_urlconf, set_script_prefix, set_urlconf
from django.utils import timezone, translation
from pytest_django import Settings

from sezzlee_mcp.dispatch import is_sezzlee_request
from sezzlee_mcp.testing import McpClient

GetResponse = Callable[[HttpRequest], HttpResponseBase]

HERE = "tests.django.test_inner_request"


def surroundings() -> tuple[Any, ...]:
    return translation.get_language(), timezone.get_current_timezone_name(), get_urlconf(), get_script_prefix()


def traveller(get_response: GetResponse) -> GetResponse:
    """Moves an inner request elsewhere, and notes where the outer one is before and after."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if is_sezzlee_request(request):
            translation.activate("fr")
            timezone.activate("Asia/Tokyo")
            set_urlconf("tests.testapp.urls")
            set_script_prefix("/elsewhere/")
            return get_response(request)
        seen.append(surroundings())
        response = get_response(request)
        seen.append(surroundings())
        return response

    return middleware


seen: list[tuple[Any, ...]] = []


@pytest.mark.parametrize("zone", ["Europe/Lisbon", None])
def test_outer_request_gets_its_surroundings_back(testapp: None, settings: Settings, zone: str | None) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{HERE}.traveller"]
    seen.clear()
    with timezone.override(zone):
        body = McpClient(headers={"Accept-Language": "de"}).invoke("echo")["body"]

    assert (body["language"], body["zone"]) == ("fr", "Asia/Tokyo")
    before, after = seen
    assert before == after == ("de", zone or "UTC", "tests.testapp.urls", "/")


@pytest.mark.parametrize("name", ["SCRIPT_URL", "REDIRECT_URL"])
def test_address_that_a_server_rewrote_is_the_outer_requests_alone(testapp: None, name: str) -> None:
    client = Client(SCRIPT_NAME="", **{name: "/mcp"})

    assert McpClient(client).invoke("echo")["body"]["path"] == "/api/echo/"
