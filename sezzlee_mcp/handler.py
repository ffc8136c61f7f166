"""The host's own stack, asked in the process: middleware, URLconf, view, and as much of the answer as is wanted."""

from contextlib import aclosing
from threading import Lock

from asgiref.sync import async_to_sync
from django.core.exceptions import DisallowedHost
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest, get_script_name
from django.core.signals import request_started
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, resolve, set_script_prefix
from django.urls.exceptions import Resolver404
from rest_framework.settings import api_settings

from sezzlee_mcp.errors import CallError
from sezzlee_mcp.inner_request import Outgoing, call_of
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.compose import ComposedRequest
from sezzlee_mcp.invoke.outcomes import BackendResponse
from sezzlee_mcp.routing import find_route, view_path
from sezzlee_mcp.workers import TooLate


def answer(request: WSGIRequest, call: Outgoing) -> BackendResponse:
    """The host's answer to the request of a call, which is closed whatever becomes of it."""
    response = _handler.respond(request)
    try:
        return _read(response, request, call)
    finally:
        response.close()


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
        set_script_prefix(get_script_name(request.environ))
        request_started.send(sender=type(self), environ=request.environ)
        response: HttpResponseBase = self.get_response(request)
        response._handler_class = type(self)  # type: ignore[attr-defined]  # the sender of request_finished
        if refusal := getattr(request, "_sezzlee_refusal", None):
            response.close()
            raise refusal
        return response

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        call = call_of(request)
        assert call is not None  # noqa: S101  (narrows the type; this handler gets no other request)
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


def misrouting(request: WSGIRequest, call: Outgoing) -> CallError | None:
    """Why the project's routes would not lead the request to its operation, before any middleware; None if they do."""
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return _misrouted(call)
    return _astray(match, request, call)


def forget_middleware() -> None:
    """Load the host's middleware anew at the next call; for tests that override it."""
    global _handler
    _handler = _InnerHandler()


def _refuse(request: HttpRequest, refusal: CallError) -> None:
    # Raised after the middleware is done: within it, Django would turn the error into a response of its own.
    request._sezzlee_refusal = refusal  # type: ignore[attr-defined]


def _astray(match: ResolverMatch, request: HttpRequest, call: Outgoing) -> CallError | None:
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


def _misrouted(call: Outgoing) -> CallError:
    if call.composed.path_values:
        return messages.misrouted_path_value(", ".join(name for name in dict(call.composed.path_values) if name))
    return messages.not_invocable(call.tool)


def _read(response: HttpResponseBase, request: HttpRequest, call: Outgoing) -> BackendResponse:
    """What a client would get: the body of an answer to HEAD, which Django leaves to the server, is none."""
    body = b"" if request.method == "HEAD" else _body(response, call)
    return BackendResponse(
        status=response.status_code,
        headers={name.lower(): value for name, value in response.items()},
        body=body,
        is_cut=response.streaming and len(body) > call.limit_bytes,
        address=_address(request),
    )


def _address(request: HttpRequest) -> str | None:
    try:
        return request.build_absolute_uri()
    except DisallowedHost:
        return None


def _body(response: HttpResponseBase, call: Outgoing) -> bytes:
    """The body; of a streaming response no more than the budget and one chunk is ever held."""
    if not response.streaming:
        assert isinstance(response, HttpResponse)  # noqa: S101  (narrows the type; Django has no third kind)
        return response.content
    assert isinstance(response, StreamingHttpResponse)  # noqa: S101  (as above)
    start = _Start(call)
    if response.is_async:
        async_to_sync(_read_async)(response, start)
    else:
        for chunk in response:
            if start.is_enough_with(chunk):
                break
    return start.body


async def _read_async(response: StreamingHttpResponse, start: "_Start") -> None:
    """In one event loop: a loop that ends closes the generators that began in it."""
    async with aclosing(aiter(response)) as chunks:  # type: ignore[type-var]
        async for chunk in chunks:
            if start.is_enough_with(chunk):
                break


class _Start:
    """The start of a stream, until it is over the budget; TooLate once nobody waits for the rest."""

    def __init__(self, call: Outgoing) -> None:
        self._call = call
        self._chunks: list[bytes] = []
        self._size = 0

    @property
    def body(self) -> bytes:
        return b"".join(self._chunks)

    def is_enough_with(self, chunk: bytes) -> bool:
        if self._call.deadline is not None and self._call.deadline.is_over:
            raise TooLate
        self._chunks.append(chunk)
        self._size += len(chunk)
        return self._size > self._call.limit_bytes
