"""Request -> caller: who the host's own DRF classes say it is, and what they let this caller do."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from math import ceil
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.core.handlers.wsgi import WSGIRequest
from django.db import DataError
from django.http import Http404, HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string
from rest_framework import exceptions
from rest_framework.authentication import CSRFCheck
from rest_framework.parsers import BaseParser
from rest_framework.views import APIView

from sezzlee_mcp import conf, signin
from sezzlee_mcp.catalog.visibility import Identity
from sezzlee_mcp.invoke.leaks import may_be_forwarded
from sezzlee_mcp.protocol.challenges import TokenError

logger = logging.getLogger("sezzlee_mcp")


@dataclass(slots=True, kw_only=True)
class CallerRefused(Exception):
    """The endpoint does not serve this caller; ``headers`` carry the challenge or the time to wait."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


class _BodyUnread(BaseParser):
    """
    No form, whatever the body is.

    Authenticators may look for a token in a form, as django-oauth-toolkit does. The body is the protocol's to read,
    up to its limit, and can be read once.
    """

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> QueryDict:
        return QueryDict()


class _Gate(APIView):
    """
    The endpoint as DRF's classes see it; never routed.

    McpView is a plain view, since an APIView would rename the host's operations, refuse event streams and
    answer an anonymous caller 403.
    """

    _ignore_model_permissions = True  # the endpoint has no model, as DRF's own API root has none
    parser_classes = [_BodyUnread]
    throttle_scope = "sezzlee_mcp"
    action = None  # what permission classes of viewsets look at
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = MappingProxyType({})

    def get_authenticators(self) -> list[Any]:
        return _instances(conf.current().authentication_classes, self.authentication_classes)

    def get_permissions(self) -> list[Any]:
        return _instances(conf.current().permission_classes, self.permission_classes)

    def get_throttles(self) -> list[Any]:
        return _instances(conf.current().throttle_classes, ())


def _instances(paths: list[str] | None, defaults: Iterable[Any]) -> list[Any]:
    classes = defaults if paths is None else [import_string(path) for path in paths]
    return [each() for each in classes]


class Caller:
    """
    One request's caller.

    ``user`` and ``credential`` (its ``request.auth``) are what DRF found, by the class that ``authenticator`` names;
    ``session_user`` is whom the host's middleware had found before.
    """

    def __init__(
        self,
        request: HttpRequest,
        user: Any,
        *,
        credential: Any = None,
        authenticator: str = "",
        session_user: Any = None,
    ) -> None:
        self.request = request
        self.user = user
        self.credential = credential
        self.authenticator = authenticator
        self.session_user = session_user

    @property
    def identity(self) -> Identity:
        is_known = bool(self.user and self.user.is_authenticated)
        return Identity.PRESENT if is_known else Identity.ABSENT

    @property
    def has_identity(self) -> bool:
        return self.identity is Identity.PRESENT

    @cached_property
    def is_safe_from_forgery(self) -> bool:
        """
        Whether no other site can have sent this request in the name of a logged-in browser.

        Without a session there is nothing to ride on; with one, Django's own CSRF check decides. Inner requests
        are marked as checked only when this holds, since their views may accept the session where this endpoint
        accepted a token.
        """
        session = getattr(self.request, "session", None)
        return session is None or session.session_key is None or _passes_csrf(self.request)


def identify(request: HttpRequest) -> Caller:
    """
    The caller, by the authenticators, permissions and throttles of the endpoint.

    CallerRefused 401 with a challenge when identity is required and absent or wrong, 403, 429, 400 for a token
    in the wrong place, or for a body that claims to be a form and is none, or whatever status a class of the
    host's answers.
    """
    gate = _Gate()
    session_user = getattr(request, "user", None)  # DRF puts whom it finds in its place
    drf_request = gate.initialize_request(request)
    gate.request, gate.headers = drf_request, {}
    try:
        signin.require_readable(request)
        _authenticate(gate, drf_request)
        signin.require_grant(request, drf_request.auth)
        caller = Caller(
            request,
            drf_request.user,
            credential=drf_request.auth,
            authenticator=_path_of(drf_request.successful_authenticator),
            session_user=session_user,
        )
        if _is_session_caller(session_user, drf_request) and not caller.is_safe_from_forgery:
            raise exceptions.PermissionDenied(
                "CSRF verification failed; send X-CSRFToken, or a token of your own instead of the session."
            )
        gate.check_permissions(drf_request)
        gate.check_throttles(drf_request)
    except signin.TokenRefused as refused:
        raise _token_refused(drf_request, refused) from None
    except (exceptions.NotAuthenticated, exceptions.AuthenticationFailed) as error:
        raise _unauthenticated(drf_request, error) from None
    except exceptions.Throttled as error:
        wait = {"Retry-After": str(max(1, ceil(error.wait)))} if error.wait else {}  # type: ignore[attr-defined]
        raise CallerRefused(status=429, message="Too many requests; wait and try again.", headers=wait) from None
    except (exceptions.ParseError, SuspiciousOperation):  # the CSRF check looks for its token in a form
        raise CallerRefused(
            status=400, message="The body is no form that can be read; send application/json."
        ) from None
    except (exceptions.PermissionDenied, PermissionDenied) as error:
        if drf_request.user and drf_request.user.is_authenticated:
            raise CallerRefused(status=403, message=f"Permission denied: {_text_of(error)}") from None
        raise _unauthenticated(drf_request, exceptions.NotAuthenticated()) from None
    except Http404:
        raise CallerRefused(status=404, message="There is no such endpoint for this request.") from None
    except exceptions.APIException as error:
        raise CallerRefused(status=error.status_code, message=_text_of(error)) from None
    return caller


def users_named(names: Iterable[str]) -> dict[str, Any]:
    """The users that there are of these user names, by name."""
    model = get_user_model()
    found = model._default_manager.filter(**{f"{model.USERNAME_FIELD}__in": names})
    return {user.get_username(): user for user in found}


def as_user(user: Any) -> Caller:
    """
    The caller that a user would be who is logged in, for asking what they see; an anonymous user stays anonymous.

    No request of theirs is there. The one that stands for it comes from this machine, and no middleware has seen it.
    """
    request = WSGIRequest(
        {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": "/",
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "443",
            "HTTP_HOST": _own_host(),
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.url_scheme": "https",
            "wsgi.input": BytesIO(),
        }
    )
    request.user = user
    if user.is_authenticated:
        request._force_auth_user = user  # type: ignore[attr-defined]  # DRF asks no authenticator then
    return Caller(request, user, session_user=user)


def _own_host() -> str:
    """A host that this project answers to."""
    pinned = conf.current().resource
    named = (host.removeprefix(".") for host in settings.ALLOWED_HOSTS if host != "*")
    return urlsplit(pinned).netloc if pinned else next(named, "localhost")


def admits(caller: Caller) -> bool:
    """Whether the endpoint's permission classes let the caller in; raises whatever else they raise."""
    gate = _Gate()
    gate.request, gate.headers = gate.initialize_request(caller.request), {}
    try:
        gate.check_permissions(gate.request)
    except (exceptions.NotAuthenticated, exceptions.PermissionDenied, PermissionDenied):
        return False
    return True


def _authenticate(gate: _Gate, request: Any) -> None:
    try:
        gate.perform_authentication(request)
    except exceptions.PermissionDenied as error:  # a session without its CSRF token: signing in again would not help
        raise CallerRefused(status=403, message=_text_of(error)) from None
    except (ValueError, DataError):  # a credential that the database cannot even look up, such as one with a NUL
        raise exceptions.AuthenticationFailed from None


def _path_of(authenticator: Any) -> str:
    return f"{type(authenticator).__module__}.{type(authenticator).__qualname__}" if authenticator else ""


def _text_of(error: Exception) -> str:
    """What a host's refusal says, if it may be shown; JWT libraries put it in a dict."""
    detail = getattr(error, "detail", str(error))
    text = detail.get("detail", "") if isinstance(detail, dict) else detail
    return str(text) if isinstance(text, str) and may_be_forwarded(text) else "The request was refused."


def _is_session_caller(session_user: Any, request: Any) -> bool:
    """Whether Django's session, not a credential of this request, said who the caller is."""
    return bool(session_user and session_user.is_authenticated and session_user == request.user and not request.auth)


def _unauthenticated(request: Any, error: exceptions.APIException) -> CallerRefused:
    """401 with a challenge; DRF alone answers 403 when its first authenticator has none."""
    message = _text_of(error)
    if signin.is_offered():
        fault = TokenError.INVALID_TOKEN if signin.brings_token(request) else None
        challenge = signin.challenge(request, _challenges(request), fault, message)
    else:
        challenge = next(_challenges(request), "Bearer")
    return CallerRefused(status=401, message=message, headers={"WWW-Authenticate": challenge})


def _token_refused(request: Any, refused: signin.TokenRefused) -> CallerRefused:
    challenge = signin.challenge(request, _challenges(request), refused.error, refused.message)
    return CallerRefused(
        status=refused.error.http_status, message=refused.message, headers={"WWW-Authenticate": challenge}
    )


def credential_scheme() -> str:
    """The scheme of the credential that the endpoint asks for first, as in ``Authorization: Token ...``."""
    request = _Gate().initialize_request(HttpRequest())
    return next(_challenges(request), "Bearer").partition(" ")[0]


def _challenges(request: Any) -> Iterator[str]:
    """What the host's authenticators say to a caller who is unknown; some say nothing."""
    said = (authenticator.authenticate_header(request) for authenticator in request.authenticators)
    return (text for text in said if text)


def _passes_csrf(request: HttpRequest) -> bool:
    check = CSRFCheck(_no_response)
    check.process_request(request)
    return check.process_view(request, _no_response, (), {}) is None


def _no_response(request: HttpRequest) -> HttpResponseBase:
    raise NotImplementedError  # the check asks for a view and never calls it
