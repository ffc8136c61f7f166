"""A form where the CSRF check would look for its token: refused as the endpoint refuses, in JSON, unread."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from tests.django.test_endpoint import ENDPOINT


def refusal_of(response: Any) -> tuple[int, str, int]:
    return response.status_code, response["Content-Type"], response.json()["error"]["code"]


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"no boundary"),
        ("application/x-www-form-urlencoded", b"a" * 3_000_000),
        ("application/x-www-form-urlencoded", b"&".join([b"a=1"] * 2000)),
    ],
    ids=["no_boundary", "too_large", "too_many_fields"],
)
def test_form_is_never_read_for_a_csrf_token(shop: None, content_type: str, body: bytes) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(get_user_model().objects.get(username="alice"))
    browser.get("/admin/login/")

    response = browser.post(ENDPOINT, body, content_type=content_type)

    assert refusal_of(response) == (403, "application/json", -32600)
    assert response.json()["error"]["message"] == "CSRF Failed: CSRF token missing."
