"""invoke.md, "Dispatch": the host's own stack does for an agent's call what it does for a request over HTTP."""

from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from io import BytesIO
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import login, logout
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.core.signals import got_request_exception, request_finished, request_started
from django.db import connections, transaction
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import clear_url_caches, include, path
from django.utils import timezone, translation
from django.utils.decorators import async_only_middleware, sync_only_middleware
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pytest_django import Settings
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, TokenAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.decorators import api_view, authentication_classes, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from sezzlee_mcp import dispatch
from sezzlee_mcp.dispatch import is_sezzlee_request
from sezzlee_mcp.handler import _InnerHandler
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.django.idleness import wait_until_idle

HERE = "tests.django.test_host_stack"

GetResponse = Callable[[HttpRequest], HttpResponseBase]
GetResponseAsync = Callable[[HttpRequest], Awaitable[HttpResponseBase]]

passed: list[str] = []
closed: list[str] = []
committed: list[str] = []

# -- views of the host --

# Of a request's environment, what speaks of one body, and differs between a GET of a test client and a call.
_OF_ONE_REQUEST = {"HTTP_ACCEPT", "CONTENT_LENGTH", "CONTENT_TYPE"}


def as_async(callback: Any) -> Any:
    """The DRF view behind a coroutine function, as the packages do it that make DRF asynchronous."""

    @wraps(callback)
    async def view(request: HttpRequest, **captured: Any) -> HttpResponseBase:
        await request.auser()
        answer: HttpResponseBase = await sync_to_async(callback)(request, **captured)
        return answer

    return view


def operation(name: str, method: str = "GET", authenticators: Any = ()) -> Callable[[Any], Any]:
    def decorate(view: Any) -> Any:
        view.__name__ = name
        guarded = authentication_classes(authenticators)(permission_classes([AllowAny])(view))
        return extend_schema(operation_id=name, request=None, responses=OpenApiTypes.OBJECT)(
            api_view([method])(guarded)
        )

    return decorate


def tell(request: Request) -> Response:
    """All that a view can learn of the request and its surroundings, but for the headers of its body."""
    found = request._request
    return Response(
        {
            "meta": {
                key: value
                for key, value in found.META.items()
                if isinstance(value, str) and key not in _OF_ONE_REQUEST and not key.startswith("HTTP_MCP_")
            },
            "target": [found.method, found.build_absolute_uri(), found.body.decode()],
            "secure": found.is_secure(),
            "cookies": found.COOKIES,
            "user": str(found.user),
            "language": translation.get_language(),
            "zone": timezone.get_current_timezone_name(),
            "tenant": getattr(found, "tenant", None),
            "request_id": getattr(found, "request_id", None),
        }
    )


def crash(request: Request) -> Response:
    raise ValueError("the secret reason")


@operation("write", "POST")
def write(request: Request, ending: str) -> Response:
    Group.objects.create(name=f"{'agent' if is_sezzlee_request(request) else 'browser'} {ending}")
    transaction.on_commit(lambda: committed.append(ending))
    if ending == "crash":
        raise ValueError("the secret reason")
    if ending == "absent":
        raise Http404
    if ending == "invalid":
        raise ValidationError({"name": ["Not this one."]})
    return Response({}, status=400 if ending == "refused" else 200)


class Document(BytesIO):
    def close(self) -> None:
        closed.append("file")
        super().close()


@operation("paper")
def paper(request: Request, size: int) -> FileResponse:
    return FileResponse(Document(b"x" * size), filename="paper.bin")


class Custom(BaseAuthentication):
    """Reads credentials that only the endpoint can read."""

    def authenticate(self, request: Request) -> tuple[User, str] | None:
        name = request.headers.get("X-Custom")
        return (User.objects.get(username=name), f"the token of {name}") if name else None

    def authenticate_header(self, request: Request) -> str:
        return "Custom"


@operation("who", authenticators=[SessionAuthentication, TokenAuthentication])
def who(request: Request) -> Response:
    return Response({"user": str(request.user), "auth": str(request.auth)})


@operation("change", "POST", [SessionAuthentication])
def change(request: Request) -> Response:
    return Response({"user": str(request.user)})


@operation("log_in", "POST")
def log_in(request: Request) -> Response:
    login(request._request, User.objects.get(username="bob"), backend="django.contrib.auth.backends.ModelBackend")
    return Response({"user": str(request._request.user)})


@operation("log_out", "POST")
def log_out(request: Request) -> Response:
    logout(request._request)
    return Response({"user": str(request._request.user)})


urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/tell/", operation("tell")(tell)),
    path("api/tell_async/", as_async(operation("tell_async")(tell))),
    path("api/crash/", operation("crash")(crash)),
    path("api/crash_async/", as_async(operation("crash_async")(crash))),
    path("api/write/<str:ending>/", write),
    path("api/paper/<int:size>/", paper),
    path("api/who/", who),
    path("api/change/", change),
    path("api/log_in/", log_in),
    path("api/log_out/", log_out),
]

# -- its middleware --


@sync_only_middleware
def only_sync(get_response: GetResponse) -> GetResponse:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        _pass(request, "sync")
        return get_response(request)

    return middleware


@async_only_middleware
def only_async(get_response: GetResponseAsync) -> GetResponseAsync:
    async def middleware(request: HttpRequest) -> HttpResponseBase:
        _pass(request, "async")
        return await get_response(request)

    return middleware


def _pass(request: HttpRequest, kind: str) -> None:
    if is_sezzlee_request(request):
        passed.append(kind)


def where(get_response: GetResponse) -> GetResponse:
    """Time zone, tenant and request id, as hosts read them from headers."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        request.tenant = request.headers.get("X-Tenant")  # type: ignore[attr-defined]
        request.request_id = request.headers.get("X-Request-ID")  # type: ignore[attr-defined]
        with timezone.override(request.headers.get("X-Zone")):
            response = get_response(request)
        response["X-Request-ID"] = request.request_id or "none"  # type: ignore[attr-defined]
        return response

    return middleware


class Catcher:
    """Answers what a view raised, as some hosts do for errors of their own."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse:
        return JsonResponse({"detail": "Caught."}, status=409)


def breaks_before(get_response: GetResponse) -> GetResponse:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith("/api/"):
            raise RuntimeError("the secret reason")
        return get_response(request)

    return middleware


def breaks_after(get_response: GetResponse) -> GetResponse:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.path.startswith("/api/"):
            raise RuntimeError("the secret reason")
        return response

    return middleware


def finds_nothing(get_response: GetResponse) -> GetResponse:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith("/api/"):
            raise Http404
        return get_response(request)

    return middleware


@pytest.fixture(autouse=True)
def host(db: None, settings: Settings) -> Iterator[None]:
    settings.ROOT_URLCONF = HERE
    clear_url_caches()
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        "USE_FLUSH_SECONDS": 0,
    }
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{HERE}.where"]
    for noted in (passed, closed, committed):
        noted.clear()
    sync()
    yield
    wait_until_idle(dispatch._workers)


def quiet() -> Client:
    return Client(raise_request_exception=False)


# -- views and middleware of either kind --

SURROUNDINGS = {
    "Accept-Language": "de",
    "X-Zone": "Asia/Tokyo",
    "X-Tenant": "north",
    "X-Request-ID": "r-17",
    "X-Forwarded-For": "203.0.113.9, 10.0.0.1",
    "User-Agent": "an agent",
    "Cookie": "theme=dark",
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("view", ["tell", "tell_async"])
@pytest.mark.parametrize("kinds", [[], ["sync", "async"], ["async", "sync"]])
def test_view_of_either_kind_behind_middleware_of_either_kind_sees_what_it_sees_over_http(
    settings: Settings, view: str, kinds: list[str]
) -> None:
    settings.MIDDLEWARE = [*(f"{HERE}.only_{kind}" for kind in kinds), *settings.MIDDLEWARE]
    browser = Client(headers=SURROUNDINGS, REMOTE_ADDR="203.0.113.7")

    over_http = browser.get(f"/api/{view}/").json()
    body = McpClient(browser).invoke(view)["body"]

    assert body == over_http
    assert passed == kinds
    assert (body["language"], body["zone"], body["tenant"], body["request_id"]) == ("de", "Asia/Tokyo", "north", "r-17")
    assert body["target"] == ["GET", f"http://testserver/api/{view}/", ""]


# -- transactions --


@pytest.fixture
def atomic_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("ending", "status"),
    [("ok", 200), ("refused", 400), ("invalid", 400), ("absent", 404), ("crash", 500)],
)
@pytest.mark.parametrize("atomic", [True, False])
def test_call_that_fails_leaves_what_the_same_request_leaves(
    monkeypatch: pytest.MonkeyPatch, atomic: bool, ending: str, status: int
) -> None:
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", atomic)
    is_kept = not atomic or ending in {
        "ok",
        "refused",
    }  # what is raised is rolled back, an answer of the view's own is not

    over_http = quiet().post(f"/api/write/{ending}/").status_code
    over_mcp = McpClient(quiet()).invoke("write", {"ending": ending})["status"]

    assert over_mcp == over_http == status
    kept = set(Group.objects.values_list("name", flat=True))
    assert kept == ({f"agent {ending}", f"browser {ending}"} if is_kept else set())
    assert committed == ([ending] * 2 if is_kept else [])


@pytest.mark.django_db(transaction=True)
def test_async_view_under_atomic_requests_breaks_as_over_http(atomic_requests: None) -> None:
    assert quiet().get("/api/tell_async/").status_code == 500
    assert McpClient(quiet()).invoke("tell_async")["error"] == "backend_error"


# -- the end of an answer --


@pytest.mark.parametrize(("size", "outcome"), [(3, 200), (10**6, "response_too_large")])
def test_file_is_closed_however_much_of_it_was_read(size: int, outcome: Any) -> None:
    envelope = McpClient().invoke("paper", {"size": size})

    assert envelope.get("status", envelope.get("error")) == outcome
    assert closed == ["file"]


@pytest.mark.parametrize("view", ["tell", "tell_async", "crash", "paper"])
def test_signals_of_a_request_are_sent_once_a_call(view: str) -> None:
    told: list[str] = []

    def started(sender: Any, **facts: Any) -> None:
        if sender is _InnerHandler:
            told.append("started")

    def finished(sender: Any, **facts: Any) -> None:
        if sender is _InnerHandler:
            told.append("finished")

    request_started.connect(started)
    request_finished.connect(finished)
    try:
        McpClient(quiet()).invoke(view, {"size": 1} if view == "paper" else None)
    finally:
        request_started.disconnect(started)
        request_finished.disconnect(finished)

    assert told == ["started", "finished"]


# -- what is raised --

BROKEN = {"error": "backend_error", "retryable": False, "status": 500}


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("view", ["crash", "crash_async"])
def test_view_that_raises_is_reported_to_the_host_and_not_to_the_agent(
    settings: Settings, view: str, debug: bool
) -> None:
    settings.DEBUG = debug
    raised: list[str] = []

    def note(sender: Any, request: HttpRequest, **facts: Any) -> None:
        raised.append(request.path)

    got_request_exception.connect(note)
    try:
        envelope = McpClient(quiet(), headers={"X-Request-ID": "r-17"}).invoke(view)
    finally:
        got_request_exception.disconnect(note)

    assert raised == [f"/api/{view}/"]
    assert envelope == {
        **BROKEN,
        "message": "The backend failed on this call (500). The details were withheld. Reference: r-17.",
        "reference": "r-17",
    }


@pytest.mark.parametrize("view", ["crash", "crash_async"])
def test_middleware_may_answer_what_a_view_raised(settings: Settings, view: str) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{HERE}.Catcher"]

    envelope = McpClient().invoke(view)

    assert (envelope["error"], envelope["status"], envelope["message"]) == ("conflict", 409, "Caught.")


@pytest.mark.parametrize(
    ("middleware", "status", "error"),
    [
        ("breaks_before", 500, "backend_error"),
        ("breaks_after", 500, "backend_error"),
        ("finds_nothing", 404, "not_found"),
    ],
)
@pytest.mark.parametrize("place", ["first", "last"])
def test_middleware_that_raises_is_answered_as_over_http(
    settings: Settings, middleware: str, status: int, error: str, place: str
) -> None:
    own, known = [f"{HERE}.{middleware}"], settings.MIDDLEWARE
    settings.MIDDLEWARE = [*own, *known] if place == "first" else [*known, *own]

    over_http = quiet().get("/api/tell/").status_code
    envelope = McpClient(quiet()).invoke("tell")

    assert over_http == status
    assert (envelope["error"], envelope["status"]) == (error, status)
    assert "secret" not in str(envelope)


# -- sessions --


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice")


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("bob")


def test_session_caller_whose_token_against_forgery_was_checked_may_write(alice: User) -> None:
    browser = Client(enforce_csrf_checks=True, headers={"X-CSRFToken": "a" * 32})
    browser.cookies["csrftoken"] = "a" * 32
    browser.force_login(alice)

    assert McpClient(browser).invoke("change") == {"status": 200, "body": {"user": "alice"}}


def test_token_beside_a_session_lets_no_view_take_the_session_unchecked(alice: User, settings: Settings) -> None:
    """Another site can make a browser send its cookie, so the view asks for the CSRF token as over HTTP."""
    settings.SEZZLEE_MCP = {
        **settings.SEZZLEE_MCP,
        "AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
    }
    browser = Client(enforce_csrf_checks=True, headers={"Authorization": f"Token {Token.objects.create(user=alice)}"})
    browser.force_login(alice)

    assert browser.post("/api/change/").status_code == 403
    assert McpClient(browser).invoke("change")["error"] == "forbidden"


@pytest.mark.parametrize("saves_every_request", [False, True])
@pytest.mark.parametrize(("tool", "user"), [("log_in", "bob"), ("log_out", "AnonymousUser")])
def test_login_and_logout_inside_a_call_end_the_session_and_give_the_agent_none(
    alice: User, bob: User, settings: Settings, saves_every_request: bool, tool: str, user: str
) -> None:
    settings.SESSION_SAVE_EVERY_REQUEST = saves_every_request
    browser = Client()
    browser.force_login(alice)
    agent = McpClient(browser)
    before = browser.session.session_key

    assert agent.invoke(tool)["body"] == {"user": user}

    assert not Session.objects.filter(session_key=before).exists()
    assert agent.invoke("who")["body"] == {"user": "AnonymousUser", "auth": "None"}


def test_login_inside_a_call_without_a_session_gives_the_agent_none(bob: User) -> None:
    browser = Client()
    agent = McpClient(browser)

    assert agent.invoke("log_in")["body"] == {"user": "bob"}

    assert browser.cookies == {}
    assert agent.invoke("who")["body"]["user"] == "AnonymousUser"


# -- whom the views find --

ENDPOINTS_OWN = {"AUTHENTICATION_CLASSES": [f"{HERE}.Custom"]}


@pytest.mark.parametrize(
    ("identity", "headers", "found"),
    [
        ("user", {"X-Custom": "alice"}, {"user": "alice", "auth": "the token of alice"}),
        ("user", {}, {"user": "AnonymousUser", "auth": "None"}),
        ("carriers", {"X-Custom": "alice"}, {"user": "AnonymousUser", "auth": "None"}),
    ],
)
def test_views_find_whom_the_endpoint_found_where_identity_says_so(
    alice: User, settings: Settings, identity: str, headers: dict[str, str], found: dict[str, str]
) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, **ENDPOINTS_OWN, "IDENTITY": identity}
    agent = McpClient(headers=headers)

    assert agent.invoke("who")["body"] == found
    assert agent.invoke("tell")["body"]["user"] == agent.invoke("tell_async")["body"]["user"] == found["user"]


def test_pinned_identity_beats_the_session_and_is_never_that_of_the_next_caller(
    alice: User, bob: User, settings: Settings
) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, **ENDPOINTS_OWN, "IDENTITY": "user"}
    browser = Client()
    browser.force_login(bob)

    assert McpClient(browser, headers={"X-Custom": "alice"}).invoke("who")["body"]["user"] == "alice"
    assert McpClient(Client(), headers={"X-Custom": "bob"}).invoke("who")["body"]["user"] == "bob"
    assert McpClient(Client()).invoke("who")["body"]["user"] == "AnonymousUser"
