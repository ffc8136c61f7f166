"""The request that an agent's call sends inside the process: the agent's own one, with another target."""

from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.conf.urls.i18n import is_language_prefix_patterns_used
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.utils import translation

from sezzlee_mcp import conf
from sezzlee_mcp.callers import Caller
from sezzlee_mcp.catalog.tools import Template
from sezzlee_mcp.invoke.compose import ComposedRequest
from sezzlee_mcp.openapi.headers import folded
from sezzlee_mcp.workers import Deadline

# Headers that speak of the outer request alone: its body, its conditions, its connection, its protocol.
_DROPPED = frozenset(
    {
        "CONTENT_LENGTH",
        "CONTENT_TYPE",
        "HTTP_ACCEPT",
        "HTTP_ACCEPT_ENCODING",
        "HTTP_CONNECTION",
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
_DROPPED_PREFIXES = ("HTTP_CONTENT_", "HTTP_IF_", "HTTP_MCP_")
# Headers that any client's library sends of itself: an argument may say better, and no project trusts them.
_REPLACEABLE = frozenset({"HTTP_ACCEPT_LANGUAGE", "HTTP_USER_AGENT"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedIdentity:
    """Whom the endpoint's authenticators found, where views shall find nobody else (IDENTITY)."""

    user: Any
    auth: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """
    One call on its way to the backend, with all that it takes over from the ``outer`` request.

    ``path`` is that of the composed request, below the language prefix that the outer request has. ``deadline`` is
    None when nobody stops waiting.
    """

    composed: ComposedRequest
    path: str
    template: Template
    tool: str
    outer: HttpRequest
    is_safe_from_forgery: bool
    pinned: PinnedIdentity | None
    limit_bytes: int
    deadline: Deadline | None = None


def inner_request(call: Outgoing) -> WSGIRequest:
    """The outer request with another target: credentials, address, host, proxy and tenant headers stay."""
    request = WSGIRequest(_environ(call))
    request._dont_enforce_csrf_checks = call.is_safe_from_forgery  # type: ignore[attr-defined]
    request._sezzlee_call = call  # type: ignore[attr-defined]
    request.sezzlee_deadline = call.deadline  # type: ignore[attr-defined]
    if call.pinned is not None:
        pin(request, call.pinned)
    return request


def pinned_identity(caller: Caller) -> PinnedIdentity | None:
    """Whom views shall find for this caller; None where their own authenticators say it."""
    if conf.current().identity == "carriers" or not caller.has_identity:
        return None
    return PinnedIdentity(user=caller.user, auth=caller.credential)


def pin(request: WSGIRequest, pinned: PinnedIdentity) -> None:
    """Django's and DRF's own contracts: what AuthenticationMiddleware keeps, and what forces an authentication."""

    async def auser() -> Any:
        return pinned.user

    request.user = request._cached_user = request._acached_user = pinned.user  # type: ignore[attr-defined]
    request.auser = auser
    request._force_auth_user = pinned.user  # type: ignore[attr-defined]
    request._force_auth_token = pinned.auth  # type: ignore[attr-defined]


def call_of(request: HttpRequest) -> Outgoing | None:
    """The agent's call that made this request; None for any other request."""
    call: Outgoing | None = getattr(request, "_sezzlee_call", None)
    return call


def carried_headers(outer: HttpRequest) -> frozenset[str]:
    """
    The folded names of the headers that reach the backend with the caller's own request.

    A proxy may have written them, or read them on their way here; an argument gets past it.
    """
    kept = (key for key in _carried(outer) if key.startswith("HTTP_") and key not in _REPLACEABLE)
    return frozenset(folded(key.removeprefix("HTTP_")) for key in kept)


def localized_path(composed: ComposedRequest, template: Template) -> str:
    """The path below the language prefix of the request that is being handled, where the route has one."""
    return f"/{_language_prefix(template)}{composed.path.removeprefix('/')}"


def _environ(call: Outgoing) -> dict[str, Any]:
    composed, outer = call.composed, call.outer
    environ = _carried(outer)
    environ |= {
        "REQUEST_METHOD": composed.method,
        "SCRIPT_NAME": outer.META.get("SCRIPT_NAME", ""),
        "PATH_INFO": unquote_to_bytes(call.path).decode("latin-1"),
        "QUERY_STRING": composed.query,
        "HTTP_ACCEPT": ", ".join((*call.template.accept, "*/*")),
        "wsgi.url_scheme": outer.scheme,
        "wsgi.input": BytesIO(composed.body or b""),
    }
    environ |= {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in composed.headers}
    if composed.body is not None:
        environ |= {"CONTENT_LENGTH": str(len(composed.body)), "CONTENT_TYPE": composed.content_type or ""}
    return environ


def _carried(outer: HttpRequest) -> dict[str, Any]:
    """What of the outer request's environment holds for the inner one."""
    return {
        key: value for key, value in outer.META.items() if key not in _DROPPED and not key.startswith(_DROPPED_PREFIXES)
    }


def _language_prefix(template: Template) -> str:
    """The start of a localized route's address in the language of the outer request; no other route has one."""
    if not template.is_localized:
        return ""
    _, default_has_prefix = is_language_prefix_patterns_used(settings.ROOT_URLCONF)
    language = translation.get_language() or settings.LANGUAGE_CODE
    return "" if language == settings.LANGUAGE_CODE and not default_has_prefix else f"{language}/"
