"""What hosts do to requests, sessions and users, and what an agent's call makes of it."""

import base64
import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.http import Http404, StreamingHttpResponse
from django.test import Client
from django.urls import include, path
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pytest_django import Settings
from rest_framework import exceptions, permissions
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import SimpleRateThrottle

from sezzlee_mcp.callers import Caller
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.catalog.visibility import Decision
from sezzlee_mcp.models import Diagnostic, Operation
from sezzlee_mcp.openapi.descriptors import AuthFacts
from sezzlee_mcp.search import weigh
from sezzlee_mcp.sight import Sight
from sezzlee_mcp.snapshots import EMPTY, Entry
from sezzlee_mcp.sync import discover, sync
from sezzlee_mcp.testing import McpClient
from tests.django.test_endpoint import bearer, post
from tests.django.test_sync import document

HERE = "tests.django.test_hosts"


@extend_schema(operation_id="add_to_cart", request=None, responses=OpenApiTypes.OBJECT)
@api_view(["POST"])
@permission_classes([permissions.AllowAny])
def add_to_cart(request: Request) -> Response:
    """Put one more into the cart."""
    request.session["cart"] = request.session.get("cart", 0) + 1
    return Response({"cart": request.session["cart"]})


@extend_schema(operation_id="long_text", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@permission_classes([permissions.AllowAny])
def long_text(request: Request, word_id: str) -> Response:
    """A text that is worth compressing."""
    return Response({"text": word_id * 1000})


def breaking() -> Iterator[bytes]:
    yield b"a start"
    raise RuntimeError("the secret reason")


@extend_schema(operation_id="broken_stream", responses={(200, "text/plain"): OpenApiTypes.STR})
@api_view(["GET"])
@permission_classes([permissions.AllowAny])
def broken_stream(request: Request) -> StreamingHttpResponse:
    """A stream that ends early."""
    return StreamingHttpResponse(breaking(), content_type="text/plain")


urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/cart/", add_to_cart),
    path("api/texts/<str:word_id>/", long_text),
    path("api/broken/", broken_stream),
]


@pytest.fixture
def host(db: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = HERE
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    sync()


def test_camelized_names_lose_no_operation(host: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectacular_settings, "CAMELIZE_NAMES", True)  # it reads its settings once
    Operation.objects.all().delete()  # under the old keys, for which the names would be kept
    sync()

    assert [descriptor.key for descriptor in discover().descriptors] == [
        "GET /api/broken/",
        "POST /api/cart/",
        "GET /api/texts/{wordId}/",
    ]
    assert McpClient().invoke("long_text", {"wordId": "a"})["body"] == {"text": "a" * 1000}


def test_compression_is_a_matter_of_the_outer_connection(host: None, settings: Settings) -> None:
    settings.MIDDLEWARE = ["django.middleware.gzip.GZipMiddleware", *settings.MIDDLEWARE]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "invoke_tool", "arguments": {}}}
    message["params"]["arguments"] = {"name": "long_text", "arguments": {"word_id": "b"}}

    response = Client().post("/mcp", json.dumps(message), "application/json", headers={"Accept-Encoding": "gzip"})

    assert response["Content-Encoding"] == "gzip"
    reply = json.loads(gzip.decompress(response.content))
    assert json.loads(reply["result"]["content"][0]["text"])["body"] == {"text": "b" * 1000}


@pytest.mark.parametrize("saves_every_request", [False, True])
def test_session_that_the_operation_writes_is_kept(host: None, settings: Settings, saves_every_request: bool) -> None:
    settings.SESSION_SAVE_EVERY_REQUEST = saves_every_request
    client = Client()
    client.force_login(get_user_model().objects.create_user("alice"))
    agent = McpClient(client)

    carts = [agent.invoke("add_to_cart")["body"]["cart"] for _ in range(3)]

    assert carts == [1, 2, 3]
    assert SessionStore(client.cookies["sessionid"].value)["cart"] == 3


def test_stream_that_breaks_is_a_backend_error(host: None) -> None:
    envelope = McpClient().invoke("broken_stream")

    assert (envelope["error"], envelope["status"]) == ("backend_error", 500)
    assert "secret" not in str(envelope)


class UserWithoutPermissions:
    is_authenticated = True


class BrokenBackendUser(UserWithoutPermissions):
    def has_perm(self, codename: str) -> bool:
        raise RuntimeError("the directory is down")


@pytest.mark.parametrize("user", [UserWithoutPermissions(), BrokenBackendUser()])
@pytest.mark.parametrize("policy", ["staff", "perm:shop.add_order"])
def test_policy_that_cannot_be_asked_is_unknown(user: Any, policy: str, rf: Any) -> None:
    facts = AuthFacts(anonymous="no", policies=(policy,))
    tool = Entry(
        digest="d",
        name="t",
        version="v",
        card=b"{}",
        tokens=weigh(SearchDocument(name="t", description="")),
        auth=facts,
    )

    assert Sight(Caller(rf.post("/mcp"), user), EMPTY).decision(tool) is Decision.UNKNOWN


class NoSuchTenant(permissions.BasePermission):
    def has_permission(self, request: Any, view: Any) -> bool:
        raise Http404("the secret tenant")


class Maintenance(permissions.BasePermission):
    def has_permission(self, request: Any, view: Any) -> bool:
        error = exceptions.APIException("Back at noon.")
        error.status_code = 503
        raise error


class ReadsTheAction(permissions.BasePermission):
    def has_permission(self, request: Any, view: Any) -> bool:
        return view.action is None and view.kwargs == {}


class DictDetail(permissions.BasePermission):
    def has_permission(self, request: Any, view: Any) -> bool:
        raise exceptions.AuthenticationFailed({"detail": "Token is expired.", "code": "token_not_valid"})


@pytest.mark.parametrize(
    ("permission", "status", "message"),
    [
        (NoSuchTenant, 404, "There is no such endpoint for this request."),
        (Maintenance, 503, "Back at noon."),
        (DictDetail, 401, "Token is expired."),
        (ReadsTheAction, 200, None),
    ],
)
def test_class_of_the_host_answers_as_it_would(
    host: None, client: Client, settings: Settings, permission: type, status: int, message: str | None
) -> None:
    settings.SEZZLEE_MCP = {"PERMISSION_CLASSES": [f"{HERE}.{permission.__name__}"]}

    response = post(client)

    assert response.status_code == status
    assert response.json().get("error", {}).get("message") == message


def test_credential_that_the_database_cannot_look_up_is_401(shop: None, client: Client) -> None:
    credential = base64.b64encode(b"ali\0ce:word").decode()

    assert post(client, Authorization=f"Basic {credential}").status_code == 401


def test_session_cookie_beside_another_users_credential_asks_for_no_csrf_token(shop: None) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(get_user_model().objects.get(username="admin"))
    credential = base64.b64encode(b"alice:alice-demo").decode()

    assert post(browser, Authorization=f"Basic {credential}").status_code == 200


class OnceADay(SimpleRateThrottle):
    scope = "sezzlee_mcp"
    rate = "1/day"

    def get_cache_key(self, request: Any, view: Any) -> str:
        return f"test-{view.throttle_scope}-{request.user.pk}"


def test_endpoint_has_a_throttle_scope_of_its_own(shop: None, client: Client, settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "throttle"}}
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "THROTTLE_CLASSES": [f"{HERE}.OnceADay"]}

    assert [post(client, **bearer("alice")).status_code for _ in range(2)] == [200, 429]


def test_operation_that_no_row_can_hold_costs_no_other(db: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    hostile = document("apples", "pears", "figs", "p" * 600)
    hostile["paths"]["/pears/"]["get"]["description"] = "A NUL: \0"
    hostile["paths"]["/figs/"]["get"]["description"] = "No NUL: \\u0000"
    hostile["paths"]["/figs/"]["get"]["operationId"] = "f" * 300

    report = sync(hostile)

    assert sorted(Operation.objects.values_list("key", flat=True)) == ["GET /apples/", "GET /figs/"]
    assert report.discovered == 4
    assert Diagnostic.objects.filter(code="part_unwritable").count() == 2


def test_wrong_setting_is_said_by_the_checks(tmp_path: Any) -> None:
    module = tmp_path / "wrong_settings.py"
    module.write_text("from project.settings import *\nSEZZLEE_MCP = {'RULE': []}\n")

    ran = subprocess.run(  # noqa: S603
        [sys.executable, "manage.py", "check", "--settings", "wrong_settings"],
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 1
    assert "(sezzlee_mcp.E001) SEZZLEE_MCP has no key 'RULE'.\n\tHINT: Did you mean 'RULES'?" in ran.stderr
    assert "Traceback" not in ran.stderr
