"""McpView: bytes and headers to the protocol, its reply to an HttpResponse; nothing else."""

import logging
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import DisallowedHost
from django.db.transaction import non_atomic_requests
from django.http import HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from sezzlee_mcp import conf
from sezzlee_mcp.callers import CallerRefused, identify
from sezzlee_mcp.calls import CallHost
from sezzlee_mcp.protocol.exchange import Inbound, Reply, early_refusal, refusal, too_large
from sezzlee_mcp.protocol.jsonrpc import Code
from sezzlee_mcp.protocol.server import ServerInfo, handle, internal_error

logger = logging.getLogger("sezzlee_mcp")


@method_decorator([csrf_exempt, login_not_required, non_atomic_requests], name="dispatch")
class McpView(View):
    """
    The MCP endpoint.

    A plain view: an APIView would rename the host's operations, answer 406 for an event stream and count
    throttles twice. It checks Origin itself, which Django does not on an exempt view.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        inbound = Inbound(
            method=request.method or "", headers={name.lower(): value for name, value in request.headers.items()}
        )
        try:
            return _to_response(_reply(inbound, request))
        except Exception:  # an edge: whatever else is a bug, logged and answered without its internals
            logger.exception("The MCP endpoint failed.")
            return _to_response(internal_error(inbound))


def _reply(inbound: Inbound, request: HttpRequest) -> Reply:
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
    return _answer(replace(inbound, body=body), CallHost(caller))


def _answer(inbound: Inbound, host: CallHost) -> Reply:
    try:
        return handle(inbound, host, _server_info())
    except Exception:  # an edge: here the request's id is known, so the client can match the answer
        logger.exception("The MCP endpoint failed.")
        return internal_error(inbound)


def _server_info() -> ServerInfo:
    own = ServerInfo()
    extra = conf.current().instructions
    return replace(own, instructions=f"{own.instructions}\n\n{extra}") if extra else own


def _to_response(reply: Reply) -> HttpResponse:
    response = HttpResponse(reply.body or b"", status=reply.status, headers=dict(reply.headers))
    if reply.body is None:
        del response["Content-Type"]
    response["Cache-Control"] = "no-store"
    return response
