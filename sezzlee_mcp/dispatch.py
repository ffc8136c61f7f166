"""ComposedRequest -> the host's own stack -> the answer that the caller would get over HTTP, under a deadline."""

import logging
from contextvars import copy_context
from dataclasses import replace

from django.db import connections
from django.http import HttpRequest
from django.urls import set_urlconf
from django.utils import timezone, translation

from sezzlee_mcp import conf, handler, providers
from sezzlee_mcp.callers import Caller
from sezzlee_mcp.catalog.tools import Template
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.inner_request import Outgoing, call_of, inner_request, localized_path, pinned_identity
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.compose import ComposedRequest
from sezzlee_mcp.invoke.outcomes import BackendResponse
from sezzlee_mcp.lending import Loan, kept_open
from sezzlee_mcp.workers import Deadline, NotStarted, TooLate, Workers

logger = logging.getLogger("sezzlee_mcp")

_workers = Workers("sezzlee-call", lambda: conf.current().call_threads)


def is_sezzlee_request(request: HttpRequest) -> bool:
    """Whether an agent's call made this request; for a host's middleware and views."""
    return call_of(request) is not None


def dispatch(
    composed: ComposedRequest, template: Template, caller: Caller, *, tool: str, limit_bytes: int
) -> BackendResponse:
    """
    The backend's answer to the composed request of a ``tool``, sent with the credentials of the caller's request.

    CallError ``not_invocable`` when no route of the project serves the operation, ``invalid_path_type`` when an
    argument would lead the path elsewhere; the view has not run then. ``file_unresolved`` for a file that the host
    does not give. ``invoke_timeout`` once the deadline is over, which counts from here; the agent then waits no
    longer, whatever the view does. An exception that escapes the host's pipeline is a 500 without a body, logged.
    """
    seconds = conf.current().deadline_seconds if template.deadline_seconds is None else template.deadline_seconds
    call = outgoing(composed, template, caller, tool=tool, limit_bytes=limit_bytes)
    call = replace(call, deadline=Deadline.after(seconds) if seconds else None)
    try:
        return _answer(call, caller)
    except NotStarted:
        raise messages.invoke_not_started(seconds) from None
    except TooLate:
        raise messages.invoke_timeout(seconds) from None
    finally:
        _forget_session(caller.request)


def outgoing(composed: ComposedRequest, template: Template, caller: Caller, *, tool: str, limit_bytes: int) -> Outgoing:
    """What ``dispatch`` sends, before its deadline begins; CallError ``not_invocable`` when no route serves it."""
    if template.resolver_route is None:
        raise messages.not_invocable(tool)
    return Outgoing(
        composed=composed,
        path=localized_path(composed, template),
        template=template,
        tool=tool,
        outer=caller.request,
        is_safe_from_forgery=caller.is_safe_from_forgery,
        pinned=pinned_identity(caller),
        limit_bytes=limit_bytes,
    )


def _answer(call: Outgoing, caller: Caller) -> BackendResponse:
    held = connections.all(initialized_only=True)
    if call.deadline is None or any(connection.in_atomic_block for connection in held):  # as in most tests
        with kept_open(held):
            return copy_context().run(_exchange, call, caller)
    return _answer_in_time(call, caller, call.deadline)


def _answer_in_time(call: Outgoing, caller: Caller, deadline: Deadline) -> BackendResponse:
    loan = Loan()

    def exchange() -> BackendResponse:
        with loan.used():
            return _exchange(call, caller)

    try:
        return _workers.run(exchange, deadline)
    except NotStarted:
        loan.cancel()
        raise
    finally:
        loan.settle()


def _exchange(call: Outgoing, caller: Caller) -> BackendResponse:
    """In a context of its own, so that nothing that the inner request sets stays."""
    _enter_afresh()
    composed = providers.with_files(call.composed, tool=call.tool, user=caller.user, deadline=call.deadline)
    if call.deadline is not None and call.deadline.is_over:
        raise NotStarted
    call = replace(call, composed=composed)
    try:
        return handler.answer(inner_request(call), call)
    except (CallError, TooLate):
        raise
    except Exception:  # what a server would answer 500: Django lets pass what is raised in mid-stream
        logger.exception("%s %s failed.", composed.method, call.template.route)
        return BackendResponse(status=500)


def _enter_afresh() -> None:
    """What a server's thread finds before any middleware ran, whatever the outer request has set."""
    translation.deactivate()
    timezone.deactivate()
    set_urlconf(None)


def _forget_session(outer: HttpRequest) -> None:
    """The inner request may have written the session: the outer one must not save its older copy over it."""
    session = getattr(outer, "session", None)
    if session is not None:
        vars(session).pop("_session_cache", None)
