"""Where an agent signs in, and what the token that it comes back with has to say (protocol.md, section 9)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_not_required
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views import View

from sezzlee_mcp import conf
from sezzlee_mcp.protocol.challenges import TokenError, bearer_challenge, is_bearer, is_malformed

WELL_KNOWN = "/.well-known/oauth-protected-resource"


@dataclass(slots=True, kw_only=True)
class TokenRefused(Exception):
    """The request's token does not open this endpoint."""

    error: TokenError
    message: str


def is_offered() -> bool:
    """Whether the host names an authorization server."""
    return bool(conf.current().authorization_servers)


def brings_token(request: HttpRequest) -> bool:
    return is_bearer(_authorization(request))


def require_readable(request: HttpRequest) -> None:
    """Nothing, or TokenRefused before anybody reads the token: from the query it would stand in every log."""
    if "access_token" in request.GET:
        raise TokenRefused(
            error=TokenError.INVALID_REQUEST, message="A token is taken from the Authorization header only."
        )
    if is_offered() and is_malformed(_authorization(request)):
        raise TokenRefused(
            error=TokenError.INVALID_REQUEST, message="Authorization must be 'Bearer' and one token, sent once."
        )


def require_grant(request: HttpRequest, auth: Any) -> None:
    """
    Nothing, or TokenRefused when the token was issued for somebody else, or for less than this endpoint asks.

    ``auth`` is what the authenticator made of the credential. A session, a password, or a row of the host's own
    that has no such member, as DRF's Token, stands for all that its user may do and passes. Of any other token
    nothing is assumed: what it does not say, it does not grant.
    """
    settings = conf.current()
    if is_offered():
        if auth is None and brings_token(request):
            raise TokenRefused(
                error=TokenError.INVALID_TOKEN, message="The access token is unknown, or has expired. Sign in again."
            )
        audiences = _texts(auth, "aud", "resource")
        if audiences is not None and _identifier(request) not in {text.rstrip("/") for text in audiences}:
            raise TokenRefused(
                error=TokenError.INVALID_TOKEN,
                message="The access token was not issued for this endpoint. Sign in with its address as the resource.",
            )
    if not _allows(auth, settings.required_scopes):
        needed = ", ".join(settings.required_scopes)
        raise TokenRefused(
            error=TokenError.INSUFFICIENT_SCOPE, message=f"The access token lacks a scope; needed are: {needed}."
        )


def _allows(auth: Any, required: list[str]) -> bool:
    if not required:
        return True
    allow_scopes: Callable[[list[str]], bool] | None = getattr(auth, "allow_scopes", None)
    if callable(allow_scopes):  # django-oauth-toolkit's tokens answer it; a host's may know scopes that imply others
        return bool(allow_scopes(required))
    scopes = scopes_of(auth)
    return scopes is None or scopes.issuperset(required)


def scopes_of(auth: Any) -> frozenset[str] | None:
    """What a token was granted; None for what has no scopes, such as a session."""
    return _texts(auth, "scope", "scopes", "scp")


def _texts(auth: Any, *names: str) -> frozenset[str] | None:
    """
    The first of these members that a token has, as a set: a text of words, or a collection of texts.

    Claims are read from a mapping, or from the ``payload`` of a token object, else the members are attributes.
    None for what can have no such member; nothing for a token of which none can be read.
    """
    claims = getattr(auth, "payload", auth)
    for name in names:
        if isinstance(claims, Mapping) and name in claims:
            return _as_texts(claims[name])
        if hasattr(claims, name):
            return _as_texts(getattr(claims, name))
    return None if auth is None or isinstance(auth, Model) else frozenset()


def _as_texts(value: Any) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset(value.split())
    return frozenset(text for text in value if isinstance(text, str)) if isinstance(value, Iterable) else frozenset()


def challenge(request: HttpRequest, challenges: Iterable[str], error: TokenError | None, description: str) -> str:
    """What ``WWW-Authenticate`` says at the endpoint, merged with the challenges of the host's authenticators."""
    return bearer_challenge(
        resource_metadata=_metadata_url(request) if is_offered() else None,
        scopes=conf.current().required_scopes,
        error=error,
        description=description,
        challenges=challenges,
    )


def _authorization(request: HttpRequest) -> str:
    return request.headers.get("Authorization", "").strip(" \t")


def _identifier(request: HttpRequest) -> str:
    """The resource as audiences are compared with it: without a slash at its end."""
    return (conf.current().resource or request.build_absolute_uri(endpoint_path())).rstrip("/")


def endpoint_path() -> str:
    """The path of the resource, as clients know it."""
    pinned = conf.current().resource
    return urlsplit(pinned).path if pinned else reverse("sezzlee_mcp:endpoint")


def _metadata_url(request: HttpRequest) -> str:
    """
    Where the metadata is: at the well-known address of a pinned resource, else where this project serves it.

    Below a prefix the second is not the well-known address; clients that read the challenge find it all the same.
    """
    if pinned := conf.current().resource:
        parts = urlsplit(pinned)
        return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path}"
    return request.build_absolute_uri(reverse("sezzlee_mcp:resource_metadata", kwargs={"path": request.path}))


def is_resource_path(path: str) -> bool:
    """Whether what follows the well-known address names the endpoint; nothing does, as the root form."""
    return is_offered() and path.rstrip("/") in ("", endpoint_path().rstrip("/"))


@method_decorator(login_not_required, name="dispatch")
class ResourceMetadataView(View):
    """The metadata of the protected resource (RFC 9728), for clients in browsers too."""

    http_method_names = ["get", "head", "options"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = super().dispatch(request, *args, **kwargs)
        response["Access-Control-Allow-Origin"] = "*"
        return response

    def get(self, request: HttpRequest, path: str) -> HttpResponse:
        settings = conf.current()
        document: dict[str, Any] = {
            "resource": settings.resource or request.build_absolute_uri(path or endpoint_path()),
            "authorization_servers": settings.authorization_servers,
            "bearer_methods_supported": ["header"],
        }
        if settings.required_scopes:
            document["scopes_supported"] = settings.required_scopes
        return JsonResponse(document, headers={"Cache-Control": "public, max-age=300"})

    def options(self, request: HttpRequest, path: str) -> HttpResponse:
        allowed = {"Access-Control-Allow-Methods": "GET, HEAD, OPTIONS", "Access-Control-Allow-Headers": "*"}
        return HttpResponse(status=204, headers={"Allow": "GET, HEAD, OPTIONS", **allowed})
