"""Whether a tool's view would let a caller pass: its own permission check, and nothing more (visibility.md)."""

import logging
from enum import StrEnum
from functools import partial
from inspect import isawaitable
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

from django.core.exceptions import PermissionDenied
from django.core.handlers.wsgi import WSGIRequest
from django.http import Http404, HttpRequest
from django.urls import ResolverMatch, resolve
from rest_framework import exceptions

from sezzlee_mcp import conf
from sezzlee_mcp.callers import Caller
from sezzlee_mcp.catalog.tools import Template
from sezzlee_mcp.inner_request import pin, pinned_identity
from sezzlee_mcp.invoke.placeholders import placeholder_path
from sezzlee_mcp.rollbacks import undone
from sezzlee_mcp.routing import routes_of, view_path

logger = logging.getLogger("sezzlee_mcp")


class Check(StrEnum):
    """What came of a check."""

    PASSED = "passed"
    REFUSED = "refused"
    UNKNOWN = "unknown"  # a refusal that may be about a placeholder, or another answer of DRF's to this caller
    FAILED = "failed"  # the host's code broke; the log says how


# What of the outer request speaks of its own address and body, or of whom DRF found for the endpoint.
_OUTER_ONLY = frozenset({"GET", "headers", "accepted_types", "_post", "_files", "_body", "user", "auth", "scope"})


def check(template: Template, caller: Caller) -> Check:
    """
    Ask the view: authentication and permissions of DRF, never its handler, its throttles or ``get_object``.

    The view is built as its router would, with the caller's own request under the operation's method and a path whose
    variables are placeholders. What the host's code does meanwhile is undone.
    """
    path, has_placeholder = placeholder_path(template, conf.current().placeholders)
    try:
        undone(partial(_ask, template, caller, path), caller.request)
    except (exceptions.NotAuthenticated, exceptions.PermissionDenied, PermissionDenied):
        return Check.UNKNOWN if has_placeholder else Check.REFUSED
    except (exceptions.APIException, Http404):
        return Check.UNKNOWN
    except Exception:  # an edge: the host's code may raise anything
        logger.exception("The permission check of %s %s failed.", template.method, template.route)
        return Check.FAILED
    return Check.PASSED


def _ask(template: Template, caller: Caller, path: str) -> None:
    request = _request(template, caller, path)
    match = resolve(request.path_info, getattr(request, "urlconf", None))
    if view_path(match.func) != template.view:
        raise Http404  # the placeholders lead to another view
    request.resolver_match = match
    view = _view(match, request)
    _settled(view.perform_authentication(view.request))
    _settled(view.check_permissions(view.request))


def _request(template: Template, caller: Caller, path: str) -> WSGIRequest:
    """The caller's own request with another target, an empty body, and what the host's middleware put there."""
    outer = caller.request
    route = next(
        (one for one in routes_of(getattr(outer, "urlconf", None)) if one.route == template.resolver_route), None
    )
    prefix = route.language_prefix if route else ""
    request = WSGIRequest(
        {
            **outer.META,
            "REQUEST_METHOD": template.method,
            "SCRIPT_NAME": outer.META.get("SCRIPT_NAME", ""),
            "PATH_INFO": unquote_to_bytes(f"/{prefix}{path.removeprefix('/')}").decode("latin-1"),
            "QUERY_STRING": "",
            "CONTENT_LENGTH": "0",
            "CONTENT_TYPE": "",
            "wsgi.url_scheme": outer.scheme,
            "wsgi.input": BytesIO(),
        }
    )
    own = vars(request)
    own.update({name: value for name, value in vars(outer).items() if name not in own and name not in _OUTER_ONLY})
    if caller.session_user is not None:
        request.user = caller.session_user
    if pinned := pinned_identity(caller):
        pin(request, pinned)
    request._dont_enforce_csrf_checks = caller.is_safe_from_forgery  # type: ignore[attr-defined]
    request._sezzlee_call = template  # type: ignore[attr-defined]  # to the host this is an agent's request
    return request


def _view(match: ResolverMatch, request: HttpRequest) -> Any:
    """The view behind a route, as far as ``as_view()`` and ``dispatch()`` have made it when permissions are checked."""
    callback: Any = match.func
    view = callback.cls(**callback.initkwargs)
    if actions := getattr(callback, "actions", None):
        view.action_map = {"head": actions["get"], **actions} if "get" in actions else actions
        for verb, action in view.action_map.items():
            setattr(view, verb, getattr(view, action))
        view.request, view.args, view.kwargs = request, match.args, match.kwargs
    else:
        view.setup(request, *match.args, **match.kwargs)
    view.headers, view.format_kwarg = view.default_response_headers, None
    view.request = view.initialize_request(request, *match.args, **match.kwargs)
    return view


def _settled(answer: Any) -> None:
    if isawaitable(answer):
        getattr(answer, "close", lambda: None)()
        raise TypeError("an asynchronous check cannot be asked")
