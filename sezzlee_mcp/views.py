"""McpView: bytes and headers to the protocol, its reply to a response; nothing else."""

import logging
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import DisallowedHost
from django.db.transaction import non_atomic_requests
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.request import UnreadablePostError
from django.http.response import HttpResponseBase
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from sezzlee_mcp import conf, listeners
from sezzlee_mcp.callers import Caller, CallerRefused, identify
from sezzlee_mcp.calls import CallHost
from sezzlee_mcp.protocol.exchange import Inbound, Reply, early_refusal, refusal, too_large
from sezzlee_mcp.protocol.jsonrpc import Code
from sezzlee_mcp.protocol.server import ServerInfo, handle, internal_error
from sezzlee_mcp.protocol.subscriptions import STREAM_HEADERS, Subscription

logger = logging.getLogger("sezzlee_mcp")


@method_decorator([csrf_exempt, login_not_required, non_atomic_requests], name="dispatch")
class McpView(View):
    """
    The MCP endpoint.

    A plain view: an APIView would rename the host's operations, answer 406 for an event stream and count
    throttles twice. It checks Origin itself, which Django does not on an exempt view.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        inbound = Inbound(
            method=request.method or "", headers={name.lower(): value for name, value in request.headers.items()}
        )
        try:
            answer = _reply(inbound, request)
            return _to_response(answer) if isinstance(answer, Reply) else _to_streaming_response(answer, request)
        except Exception:  # an edge: whatever else is a bug, logged and answered without its internals
            logger.exception("The MCP endpoint failed.")
            return _to_response(internal_error(inbound))


def _reply(inbound: Inbound, request: HttpRequest) -> Reply | listeners.Stream:
    try:
        host = request.get_host()
    except DisallowedHost:  # CommonMiddleware says so first, where the host has it
        return refusal(400, Code.INVALID_REQUEST, "This Host is not served.")
    refused = early_refusal(
        inbound,
        host=f"{request.scheme}://{host}",
        allowed_origins=(*settings.CSRF_TRUSTED_ORIGINS, *conf.current().allowed_origins),
    )
    if refused is not None:
        return refused
    try:
        caller = identify(request)
    except CallerRefused as refused_caller:
        return refusal(
            refused_caller.status, Code.INVALID_REQUEST, refused_caller.message, dict(refused_caller.headers)
        )
    limit_bytes = conf.current().body_limit_bytes
    try:
        body = request.read(limit_bytes + 1)
    except UnreadablePostError:
        return refusal(400, Code.INVALID_REQUEST, "The body could not be read to its end.")
    if len(body) > limit_bytes:
        return too_large(limit_bytes)
    return _answer(replace(inbound, body=body), caller)


def _answer(inbound: Inbound, caller: Caller) -> Reply | listeners.Stream:
    try:
        answer = handle(inbound, CallHost(caller), _server_info(caller.request))
        if isinstance(answer, Subscription):
            return listeners.open_stream(answer, caller.credential) or answer.refused()
        return answer
    except Exception:  # an edge: here the request's id is known, so the client can match the answer
        logger.exception("The MCP endpoint failed.")
        return internal_error(inbound)


def _server_info(request: HttpRequest) -> ServerInfo:
    own = ServerInfo(listens=listeners.can_listen(request))
    extra = conf.current().instructions
    return replace(own, instructions=f"{own.instructions}\n\n{extra}") if extra else own


def _to_response(reply: Reply) -> HttpResponse:
    response = HttpResponse(reply.body or b"", status=reply.status, headers=dict(reply.headers))
    if reply.body is None:
        del response["Content-Type"]
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def _to_streaming_response(stream: listeners.Stream, request: HttpRequest) -> StreamingHttpResponse:
    # Middleware that compresses would hold frames back, or send them in a form that clients do not read as a stream.
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    return StreamingHttpResponse(stream, headers=STREAM_HEADERS)
