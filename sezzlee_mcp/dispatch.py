"""ComposedRequest -> the host's own stack -> the response that the caller would get over HTTP."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from typing import Any
from urllib.parse import unquote_to_bytes

from asgiref.sync import async_to_sync
from django.conf import settings
from django.conf.urls.i18n import is_language_prefix_patterns_used
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.core.signals import request_started
from django.db import connections
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, get_script_prefix, get_urlconf, set_script_prefix, set_urlconf
from django.urls.exceptions import Resolver404
from django.utils import timezone, translation
from rest_framework.settings import api_settings

from sezzlee_mcp.catalog.tools import Template
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.compose import ComposedRequest
from sezzlee_mcp.invoke.outcomes import BackendResponse
from sezzlee_mcp.routing import find_route, view_path

logger = logging.getLogger("sezzlee_mcp")

# Headers that speak of the outer request alone: its body, its conditions, its connection, its protocol.
_DROPPED = frozenset(
    {
        "CONTENT_LENGTH",
        "CONTENT_TYPE",
        "HTTP_ACCEPT",
        "HTTP_ACCEPT_ENCODING",
        "HTTP_CONNECTION",
        "HTTP_CONTENT_ENCODING",
        "HTTP_EXPECT",
        "HTTP_KEEP_ALIVE",
        "HTTP_ORIGIN",
        "HTTP_PROXY_AUTHENTICATE",
        "HTTP_PROXY_AUTHORIZATION",
        "HTTP_RANGE",
        "HTTP_REFERER",
        "HTTP_TE",
        "HTTP_TRAILER",
        "HTTP_TRANSFER_ENCODING",
        "HTTP_UPGRADE",
        "RAW_URI",
        "REDIRECT_URL",
        "REQUEST_URI",
        "SCRIPT_URL",
    }
)
_DROPPED_PREFIXES = ("HTTP_IF_", "HTTP_MCP_")


def is_sezzlee_request(request: HttpRequest) -> bool:
    """Whether an agent's call made this request; for a host's middleware and views."""
    return getattr(request, "_sezzlee_call", None) is not None


def dispatch(
    composed: ComposedRequest,
    template: Template,
    outer: HttpRequest,
    *,
    tool: str,
    limit_bytes: int,
    is_safe_from_forgery: bool,
) -> BackendResponse:
    """
    The backend's answer to the composed request of a ``tool``, sent with the credentials of the ``outer`` one.

    CallError ``not_invocable`` when no route of the project serves the operation, ``invalid_path_type`` when an
    argument would lead the path elsewhere; the view has not run then. An exception that escapes the host's
    pipeline is a 500 without a body, logged.
    """
    if template.resolver_route is None:
        raise messages.not_invocable(tool)
    with _surroundings_kept(), _connections_kept():
        request = _inner_request(composed, template, outer)
        request._dont_enforce_csrf_checks = is_safe_from_forgery  # type: ignore[attr-defined]
        request._sezzlee_call = _Call(composed=composed, template=template, tool=tool)  # type: ignore[attr-defined]
        try:
            return _answer(request, limit_bytes)
        except CallError:
            raise
        except Exception:  # what a server would answer 500: Django lets pass what is raised in mid-stream
            logger.exception("%s %s failed.", composed.method, template.route)
            return BackendResponse(status=500)
        finally:
            _forget_session(outer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    composed: ComposedRequest
    template: Template
    tool: str


def _answer(request: WSGIRequest, limit_bytes: int) -> BackendResponse:
    response = _handler.respond(request)
    try:
        return _read(response, limit_bytes)
    finally:
        response.close()


def _forget_session(outer: HttpRequest) -> None:
    """The inner request may have written the session: the outer one must not save its older copy over it."""
    session = getattr(outer, "session", None)
    if session is not None:
        vars(session).pop("_session_cache", None)


class _InnerHandler(BaseHandler):
    """The host's middleware and URLconf behind a resolver that an argument cannot lead astray."""

    def __init__(self) -> None:
        super().__init__()
        self._loading = Lock()
        self._is_loaded = False

    def respond(self, request: WSGIRequest) -> HttpResponseBase:
        with self._loading:
            if not self._is_loaded:
                self.load_middleware()
                self._is_loaded = True
        request_started.send(sender=type(self), environ=request.environ)
        response: HttpResponseBase = self.get_response(request)
        if refusal := getattr(request, "_sezzlee_refusal", None):
            response.close()
            raise refusal
        return response

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        call: _Call = request._sezzlee_call  # type: ignore[attr-defined]
        try:
            match: ResolverMatch = super().resolve_request(request)
        except Resolver404:
            _refuse(request, _misrouted(call))
            raise
        if refusal := _astray(match, request, call):
            _refuse(request, refusal)
            raise Resolver404({"path": request.path_info})
        return match


_handler = _InnerHandler()


def forget_middleware() -> None:
    """Load the host's middleware anew at the next call; for tests that override it."""
    global _handler
    _handler = _InnerHandler()


def _refuse(request: HttpRequest, refusal: CallError) -> None:
    # Raised after the middleware is done: within it, Django would turn the error into a response of its own.
    request._sezzlee_refusal = refusal  # type: ignore[attr-defined]


def _astray(match: ResolverMatch, request: HttpRequest, call: _Call) -> CallError | None:
    """Why the match is not the recorded operation with the values as they were sent; None when it is."""
    composed, template = call.composed, call.template
    found = find_route(getattr(request, "urlconf", None), match.func, request.path_info)
    if found is None or found[0].route != template.resolver_route or view_path(match.func) != template.view:
        return _misrouted(call)
    if template.route.startswith("{"):  # the value is a path of its own; the route it leads to was checked
        return None
    caught = _without_version(found[1], match, composed)
    sent = [text for _, text in composed.path_values]
    for (name, text), value in zip(composed.path_values, caught, strict=False):
        if text != value:
            return messages.misrouted_path_value(name)
    return None if len(sent) == len(caught) else _misrouted(call)


def _without_version(caught: tuple[str, ...], match: ResolverMatch, composed: ComposedRequest) -> tuple[str, ...]:
    """What the variables caught, less the API version, which the recorded path holds as text."""
    version = match.kwargs.get(api_settings.VERSION_PARAM)
    if str(version) not in caught or len(caught) == len(composed.path_values):
        return caught
    place = caught.index(str(version))
    return (*caught[:place], *caught[place + 1 :])


def _misrouted(call: _Call) -> CallError:
    if call.composed.path_values:
        return messages.misrouted_path_value(", ".join(name for name in dict(call.composed.path_values) if name))
    return messages.not_invocable(call.tool)


def _inner_request(composed: ComposedRequest, template: Template, outer: HttpRequest) -> WSGIRequest:
    """The outer request with another target: credentials, address, host, proxy and tenant headers stay."""
    environ = {
        key: value for key, value in outer.META.items() if key not in _DROPPED and not key.startswith(_DROPPED_PREFIXES)
    }
    path = f"/{_language_prefix(template)}{composed.path.removeprefix('/')}"
    environ |= {
        "REQUEST_METHOD": composed.method,
        "SCRIPT_NAME": outer.META.get("SCRIPT_NAME", ""),
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": composed.query,
        "HTTP_ACCEPT": ", ".join((*template.accept, "*/*")),
        "wsgi.url_scheme": outer.scheme,
        "wsgi.input": BytesIO(composed.body or b""),
    }
    environ |= {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in composed.headers}
    if composed.body is not None:
        environ |= {"CONTENT_LENGTH": str(len(composed.body)), "CONTENT_TYPE": composed.content_type or ""}
    return WSGIRequest(environ)


def _language_prefix(template: Template) -> str:
    """The start of a localized route's address in the language of the outer request; no other route has one."""
    if not template.is_localized:
        return ""
    _, default_has_prefix = is_language_prefix_patterns_used(settings.ROOT_URLCONF)
    language = translation.get_language() or settings.LANGUAGE_CODE
    return "" if language == settings.LANGUAGE_CODE and not default_has_prefix else f"{language}/"


def _read(response: HttpResponseBase, limit_bytes: int) -> BackendResponse:
    body, is_cut = _read_body(response, limit_bytes)
    return BackendResponse(
        status=response.status_code,
        headers={name.lower(): value for name, value in response.items()},
        body=body,
        is_cut=is_cut,
    )


def _read_body(response: HttpResponseBase, limit_bytes: int) -> tuple[bytes, bool]:
    """The body; of a streaming response no more than the budget and one chunk is ever held."""
    if not response.streaming:
        assert isinstance(response, HttpResponse)  # noqa: S101  (narrows the type; Django has no third kind)
        return response.content, False
    assert isinstance(response, StreamingHttpResponse)  # noqa: S101  (as above)
    read = async_to_sync(_read_async) if response.is_async else _read_sync
    body = b"".join(read(response, limit_bytes))
    return body, len(body) > limit_bytes


def _read_sync(response: StreamingHttpResponse, limit_bytes: int) -> list[bytes]:
    chunks, size = [], 0
    for chunk in response:
        chunks.append(chunk)
        size += len(chunk)
        if size > limit_bytes:
            break
    return chunks


async def _read_async(response: StreamingHttpResponse, limit_bytes: int) -> list[bytes]:
    """As ``_read_sync``, in one event loop: a loop that ends closes the generators that began in it."""
    chunks, size = [], 0
    async for chunk in response:
        chunks.append(chunk)
        size += len(chunk)
        if size > limit_bytes:
            break
    return chunks


@contextmanager
def _surroundings_kept() -> Iterator[None]:
    """The inner request may set language, time zone, URLconf and script prefix; the outer one gets its own back."""
    language, urlconf, prefix = translation.get_language(), get_urlconf(), get_script_prefix()
    zone = getattr(timezone._active, "value", None)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        _restore_language(language)
        _restore_zone(zone)
        set_urlconf(urlconf)
        set_script_prefix(prefix)


@contextmanager
def _connections_kept() -> Iterator[None]:
    """
    The database connections belong to the outer request, so the end of the inner one does not close them.

    Django closes at ``request_finished`` whatever is older than CONN_MAX_AGE, and what is in a transaction at
    once. Connection objects are the thread's own, so no other request is touched.
    """
    kept = connections.all(initialized_only=True)
    for connection in kept:
        connection.close_if_unusable_or_obsolete = _leave_open  # type: ignore[method-assign]
    try:
        yield
    finally:
        for connection in kept:
            vars(connection).pop("close_if_unusable_or_obsolete", None)


def _leave_open() -> None:
    pass


def _restore_language(language: str | None) -> None:
    if language:
        translation.activate(language)
    else:
        translation.deactivate_all()


def _restore_zone(zone: Any) -> None:
    if zone:
        timezone.activate(zone)
    else:
        timezone.deactivate()
