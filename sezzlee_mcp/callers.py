"""Request -> caller: who the host's own DRF classes say it is, and what they let this caller do."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from types import MappingProxyType
from typing import Any, cast

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import DataError
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string
from rest_framework import exceptions
from rest_framework.authentication import CSRFCheck
from rest_framework.views import APIView

from sezzlee_mcp import conf
from sezzlee_mcp.catalog.visibility import Answer, Decision, Identity, decide
from sezzlee_mcp.invoke.leaks import may_be_forwarded
from sezzlee_mcp.openapi.descriptors import AuthFacts

logger = logging.getLogger("sezzlee_mcp")


@dataclass(slots=True, kw_only=True)
class CallerRefused(Exception):
    """The endpoint does not serve this caller; ``headers`` carry the challenge or the time to wait."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


class _Gate(APIView):
    """
    The endpoint as DRF's classes see it; never routed.

    McpView is a plain view, since an APIView would rename the host's operations, refuse event streams and
    answer an anonymous caller 403.
    """

    _ignore_model_permissions = True  # the endpoint has no model, as DRF's own API root has none
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
    """One request's caller. Each policy is asked once; what a policy cannot say is unknown."""

    def __init__(self, request: HttpRequest, user: Any) -> None:
        self.request = request
        self.user = user
        self._decisions: dict[AuthFacts, Decision] = {}
        self._answers: dict[str, Answer] = {}

    @property
    def identity(self) -> Identity:
        is_known = bool(self.user and self.user.is_authenticated)
        return Identity.PRESENT if is_known else Identity.ABSENT

    @property
    def has_identity(self) -> bool:
        return self.identity is Identity.PRESENT

    def decide(self, auth: AuthFacts) -> Decision:
        """Whether this caller sees a tool with these facts (visibility.md, "Decision")."""
        if auth not in self._decisions:
            policies = {name: self._answer(name) for name in auth.policies} if self.has_identity else {}
            self._decisions[auth] = decide(auth, identity=self.identity, policies=policies)
        return self._decisions[auth]

    def _answer(self, policy: str) -> Answer:
        if policy not in self._answers:
            try:
                self._answers[policy] = self._ask(policy)
            except Exception:  # a user model or a backend of the host's that cannot say it
                logger.exception("The policy %s could not be asked.", policy)
                self._answers[policy] = Answer.UNKNOWN
        return self._answers[policy]

    def _ask(self, policy: str) -> Answer:
        kind, _, codename = policy.partition(":")
        match kind:
            case "staff":
                return Answer.ALLOW if self.user.is_staff else Answer.DENY
            case "perm":
                return Answer.ALLOW if self.user.has_perm(codename) else Answer.DENY
        return Answer.UNKNOWN

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

    CallerRefused 401 with a challenge when identity is required and absent or wrong, 403, 429, 400 for a body
    that claims to be a form and is none, or whatever status a class of the host's answers.
    """
    gate = _Gate()
    session_user = getattr(request, "user", None)  # DRF puts whom it finds in its place
    drf_request = gate.initialize_request(request)
    gate.request, gate.headers = drf_request, {}
    try:
        _authenticate(gate, drf_request)
        caller = Caller(request, drf_request.user)
        if _is_session_caller(session_user, drf_request) and not caller.is_safe_from_forgery:
            raise exceptions.PermissionDenied(
                "CSRF verification failed; send X-CSRFToken, or a token of your own instead of the session."
            )
        gate.check_permissions(drf_request)
        gate.check_throttles(drf_request)
    except (exceptions.NotAuthenticated, exceptions.AuthenticationFailed) as error:
        raise _unauthenticated(gate, drf_request, error) from None
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
        raise _unauthenticated(gate, drf_request, exceptions.NotAuthenticated()) from None
    except Http404:
        raise CallerRefused(status=404, message="There is no such endpoint for this request.") from None
    except exceptions.APIException as error:
        raise CallerRefused(status=error.status_code, message=_text_of(error)) from None
    return caller


def _authenticate(gate: _Gate, request: Any) -> None:
    try:
        gate.perform_authentication(request)
    except exceptions.PermissionDenied as error:  # a session without its CSRF token: signing in again would not help
        raise CallerRefused(status=403, message=_text_of(error)) from None
    except (ValueError, DataError):  # a credential that the database cannot even look up, such as one with a NUL
        raise exceptions.AuthenticationFailed from None


def _text_of(error: Exception) -> str:
    """What a host's refusal says, if it may be shown; JWT libraries put it in a dict."""
    detail = getattr(error, "detail", str(error))
    text = detail.get("detail", "") if isinstance(detail, dict) else detail
    return str(text) if isinstance(text, str) and may_be_forwarded(text) else "The request was refused."


def _is_session_caller(session_user: Any, request: Any) -> bool:
    """Whether Django's session, not a credential of this request, said who the caller is."""
    return bool(session_user and session_user.is_authenticated and session_user == request.user and not request.auth)


def _unauthenticated(gate: _Gate, request: Any, error: exceptions.APIException) -> CallerRefused:
    """401 with the host's first challenge; DRF alone answers 403 when its first authenticator has none."""
    challenges = (authenticator.authenticate_header(request) for authenticator in request.authenticators)
    challenge = next((text for text in challenges if text), "Bearer")
    return CallerRefused(status=401, message=_text_of(error), headers={"WWW-Authenticate": cast(str, challenge)})


def _passes_csrf(request: HttpRequest) -> bool:
    check = CSRFCheck(_no_response)
    check.process_request(request)
    return check.process_view(request, _no_response, (), {}) is None


def _no_response(request: HttpRequest) -> HttpResponseBase:
    raise NotImplementedError  # the check asks for a view and never calls it
