"""Signing in: where the metadata is, what a challenge says, and which tokens open the endpoint."""

import base64
import json
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.checks import Warning
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.test.utils import override_script_prefix
from django.urls import include, path
from pytest_django import Settings
from rest_framework.authentication import BaseAuthentication, TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from sezzlee_mcp import conf
from sezzlee_mcp.checks import check_urls
from tests.django.test_endpoint import bearer, post

HERE = "tests.django.test_signin"
RESOURCE = "http://testserver/mcp"
METADATA = "http://testserver/.well-known/oauth-protected-resource/mcp"
LOGIN = "https://login.example"


class ClaimsAuthentication(BaseAuthentication):
    """Bearer tokens that are the Base64 of their claims, as a host's JWT library would read them."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or token == "unknown":
            return None
        if token == "expired":
            raise AuthenticationFailed('The token "expired" yesterday.')
        user = get_user_model().objects.get(username="alice")
        return user, self.read(token)

    def read(self, token: str) -> Any:
        return json.loads(base64.b64decode(token))

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="shop"'


class TextAuthentication(ClaimsAuthentication):
    """Leaves the token as it is, so that nothing can be read of it."""

    def read(self, token: str) -> Any:
        return token


class NothingAuthentication(ClaimsAuthentication):
    def read(self, token: str) -> Any:
        return None


class PayloadAuthentication(ClaimsAuthentication):
    """Gives a token object that holds its claims, as Simple JWT's do."""

    def read(self, token: str) -> Any:
        return type("AccessToken", (), {"payload": super().read(token)})()


class HierarchyAuthentication(ClaimsAuthentication):
    """Gives a token that knows which scopes imply others."""

    def read(self, token: str) -> Any:
        claims = super().read(token)
        return type(
            "AccessToken",
            (),
            {"resource": claims["aud"], "allow_scopes": lambda self, scopes: claims["scope"] == "admin"},
        )()


class BearerToken(TokenAuthentication):
    keyword = "Bearer"


def token(**claims: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {base64.b64encode(json.dumps(claims).encode()).decode()}"}


def configure(settings: Settings, *authenticators: str, **given: Any) -> None:
    settings.SEZZLEE_MCP = {
        **settings.SEZZLEE_MCP,
        "AUTHENTICATION_CLASSES": [f"{HERE}.{name}" for name in authenticators],
        "AUTHORIZATION_SERVERS": [LOGIN],
        **given,
    }


@pytest.fixture
def offered(shop: None, settings: Settings) -> None:
    """An endpoint that takes the tokens of one authorization server, and asks for two scopes."""
    configure(settings, "ClaimsAuthentication", REQUIRED_SCOPES=["tools:read", "tools:call"])


GRANTED = {"aud": RESOURCE, "scope": "tools:read tools:call"}
CHALLENGE = f'resource_metadata="{METADATA}", scope="tools:read tools:call", realm="shop"'


# -- the metadata --


@pytest.mark.parametrize(
    ("address", "resource"),
    [(METADATA, RESOURCE), (f"{METADATA}/", f"{RESOURCE}/"), (METADATA.removesuffix("/mcp"), RESOURCE)],
)
def test_metadata_is_at_each_address_that_clients_try(
    offered: None, client: Client, address: str, resource: str
) -> None:
    response = client.get(address)

    assert response.json() == {
        "resource": resource,
        "authorization_servers": [LOGIN],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["tools:read", "tools:call"],
    }
    assert response.status_code == 200
    assert {name: response[name] for name in ("Content-Type", "Access-Control-Allow-Origin", "Cache-Control")} == {
        "Content-Type": "application/json",
        "Access-Control-Allow-Origin": "*",
        "Cache-Control": "public, max-age=300",
    }


def test_metadata_is_there_for_pages_of_other_origins(offered: None, client: Client) -> None:
    response = client.options(METADATA, headers={"Access-Control-Request-Headers": "mcp-protocol-version"})

    assert (response.status_code, response.content) == (204, b"")
    assert response["Access-Control-Allow-Origin"] == response["Access-Control-Allow-Headers"] == "*"
    assert client.post(METADATA).status_code == 405


def test_metadata_of_an_endpoint_without_scopes_names_none(shop: None, client: Client, settings: Settings) -> None:
    configure(settings, "ClaimsAuthentication")

    assert "scopes_supported" not in client.get(METADATA).json()


@pytest.mark.parametrize("address", [METADATA, METADATA.removesuffix("/mcp")])
def test_no_metadata_where_nobody_can_sign_in(db: None, client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("suffix", ["/api", "/mcp/x", "/mcpx", "x", "//mcp"])
def test_no_metadata_of_other_resources(offered: None, client: Client, suffix: str) -> None:
    assert client.get(METADATA.removesuffix("/mcp") + suffix).status_code == 404


def test_metadata_needs_no_login(offered: None, client: Client, settings: Settings) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "django.contrib.auth.middleware.LoginRequiredMiddleware"]

    assert client.get(METADATA).status_code == 200


def test_pinned_resource_is_what_metadata_challenges_and_audiences_name(
    offered: None, client: Client, settings: Settings
) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RESOURCE": "https://shop.example/agents/mcp"}
    address = "https://shop.example/.well-known/oauth-protected-resource/agents/mcp"

    assert client.get("/.well-known/oauth-protected-resource/agents/mcp").json()["resource"] == (
        "https://shop.example/agents/mcp"
    )
    assert client.get(METADATA).status_code == 404
    assert f'resource_metadata="{address}"' in post(client)["WWW-Authenticate"]
    assert post(client, **token(**GRANTED)).status_code == 401
    assert post(client, **token(**GRANTED | {"aud": "https://shop.example/agents/mcp"})).status_code == 200


def test_resource_is_the_address_behind_a_proxy(offered: None, client: Client, settings: Settings) -> None:
    settings.USE_X_FORWARDED_HOST = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.ALLOWED_HOSTS = ["shop.example"]
    proxied = {"X-Forwarded-Host": "shop.example", "X-Forwarded-Proto": "https"}

    assert client.get("/.well-known/oauth-protected-resource/mcp", headers=proxied).json()["resource"] == (
        "https://shop.example/mcp"
    )
    assert post(client, **token(**GRANTED), **proxied).status_code == 401
    assert post(client, **token(**GRANTED | {"aud": "https://shop.example/mcp"}), **proxied).status_code == 200


def test_project_below_a_prefix_of_the_server_names_addresses_that_it_serves(offered: None) -> None:
    client = Client(SCRIPT_NAME="/shop")
    address = "/.well-known/oauth-protected-resource/shop/mcp"

    with override_script_prefix("/shop/"):  # as a server does, and the test client does not
        refused = client.post("/mcp", "{}", content_type="application/json")
        found = client.get(address).json()

    assert f'resource_metadata="http://testserver/shop{address}"' in refused["WWW-Authenticate"]
    assert found["resource"] == "http://testserver/shop/mcp"


# -- an endpoint below a prefix of the URLconf --


def own_metadata(request: HttpRequest, path: str) -> HttpResponse:
    return HttpResponse(f"the project's own {path}")


below = [
    path("agents/", include("sezzlee_mcp.urls")),
    path(".well-known/oauth-protected-resource/<path:path>", own_metadata),
]
urlpatterns = [path("", include("sezzlee_mcp.well_known_urls")), *below]
MISSING = Warning(
    "The metadata for signing in is not at its well-known address.",
    hint='Add path("", include("sezzlee_mcp.well_known_urls")) to the root URLconf.',
    id="sezzlee_mcp.W002",
)


class Below:
    """A URLconf without the second include."""

    urlpatterns = [path("agents/", include("sezzlee_mcp.urls"))]


@pytest.mark.urls(HERE)
def test_well_known_urls_serve_the_endpoint_below_and_leave_others_to_the_project(
    offered: None, client: Client
) -> None:
    found = client.get("/.well-known/oauth-protected-resource/agents/mcp").json()

    assert found["resource"] == "http://testserver/agents/mcp"
    assert client.get("/.well-known/oauth-protected-resource/api").content == b"the project's own api"
    assert check_urls(None) == []


def test_metadata_below_is_found_by_the_challenge_and_the_check_says_what_is_missing(
    offered: None, client: Client, settings: Settings
) -> None:
    settings.ROOT_URLCONF = Below
    address = "http://testserver/agents/.well-known/oauth-protected-resource/agents/mcp"

    refused = client.post("/agents/mcp", "{}", content_type="application/json")

    assert f'resource_metadata="{address}"' in refused["WWW-Authenticate"]
    assert client.get(address).json()["resource"] == "http://testserver/agents/mcp"
    assert check_urls(None) == [MISSING]


def test_check_asks_nothing_where_nobody_can_sign_in(settings: Settings) -> None:
    settings.ROOT_URLCONF = Below

    assert check_urls(None) == []


def test_any_host_needs_a_pinned_resource(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    settings.SEZZLEE_MCP = {"AUTHORIZATION_SERVERS": [LOGIN]}

    with pytest.raises(ImproperlyConfigured, match=r"'\*' in ALLOWED_HOSTS.*RESOURCE.*sezzlee_mcp\.E034"):
        conf.current()

    settings.SEZZLEE_MCP = {"AUTHORIZATION_SERVERS": [LOGIN], "RESOURCE": "https://shop.example/mcp"}
    assert conf.current().authorization_servers == [LOGIN]


# -- challenges --


def test_caller_without_a_token_learns_where_to_sign_in(offered: None, client: Client) -> None:
    response = post(client)

    assert (response.status_code, response["WWW-Authenticate"]) == (401, f"Bearer {CHALLENGE}")
    assert response.json()["error"]["message"] == "Authentication credentials were not provided."


def test_challenge_of_the_endpoint_with_a_slash_names_its_own_metadata(offered: None, client: Client) -> None:
    response = client.post("/mcp/", "{}", content_type="application/json")

    assert f'resource_metadata="{METADATA}/"' in response["WWW-Authenticate"]


@pytest.mark.parametrize("permission", ["IsAuthenticated", "AllowAny"])
def test_unknown_token_is_invalid_and_never_anonymous(
    offered: None, client: Client, settings: Settings, permission: str
) -> None:
    settings.SEZZLEE_MCP |= {"PERMISSION_CLASSES": [f"rest_framework.permissions.{permission}"]}

    response = post(client, Authorization="Bearer unknown")

    message = "The access token is unknown, or has expired. Sign in again."
    assert (response.status_code, response.json()["error"]["message"]) == (401, message)
    assert response["WWW-Authenticate"] == f'Bearer error="invalid_token", {CHALLENGE}, error_description="{message}"'


def test_host_says_why_its_token_is_refused(offered: None, client: Client) -> None:
    response = post(client, Authorization="Bearer expired")

    assert response.status_code == 401
    assert response["WWW-Authenticate"] == (
        f'Bearer error="invalid_token", {CHALLENGE}, error_description="The token \'expired\' yesterday."'
    )


def test_wrong_password_is_no_error_of_a_token(shop: None, client: Client, settings: Settings) -> None:
    configure(settings, "ClaimsAuthentication")
    settings.SEZZLEE_MCP["AUTHENTICATION_CLASSES"].append("rest_framework.authentication.BasicAuthentication")
    password = base64.b64encode(b"alice:wrong").decode()

    response = post(client, Authorization=f"Basic {password}")

    assert (response.status_code, response["WWW-Authenticate"]) == (
        401,
        f'Bearer resource_metadata="{METADATA}", realm="shop", Basic realm="api"',
    )


@pytest.mark.parametrize("authorization", ["Bearer", "Bearer a b", "Bearer a,Bearer b"])
def test_malformed_authorization_is_400(offered: None, client: Client, authorization: str) -> None:
    response = post(client, Authorization=authorization)

    assert response.status_code == 400
    assert response["WWW-Authenticate"].startswith('Bearer error="invalid_request", ')


@pytest.mark.parametrize("headers", [{}, token(**GRANTED)], ids=["alone", "beside another"])
def test_token_in_the_query_is_refused(offered: None, client: Client, headers: dict[str, str]) -> None:
    held = token(**GRANTED)["Authorization"].removeprefix("Bearer ")

    response = client.post(
        "/mcp", "{}", content_type="application/json", query_params={"access_token": held}, headers=headers
    )

    assert (response.status_code, response.json()["error"]["message"]) == (
        400,
        "A token is taken from the Authorization header only.",
    )


def test_token_in_the_query_is_refused_where_nobody_can_sign_in(shop: None, client: Client) -> None:
    response = client.post("/mcp?access_token=x", "{}", content_type="application/json", headers=bearer("alice"))

    assert response.status_code == 400


# -- tokens --


@pytest.mark.parametrize(
    "claims",
    [
        GRANTED,
        GRANTED | {"aud": ["https://api.example", f"{RESOURCE}/"]},
        GRANTED | {"scope": ["tools:call", "tools:read", "more"]},
        {"aud": RESOURCE, "scp": "tools:read tools:call"},
        {"resource": [RESOURCE], "scopes": {"tools:read": "reading", "tools:call": "calling"}},
    ],
    ids=str,
)
@pytest.mark.parametrize("authenticator", ["ClaimsAuthentication", "PayloadAuthentication"])
def test_token_that_was_issued_for_this_endpoint_opens_it(
    offered: None, client: Client, settings: Settings, authenticator: str, claims: dict[str, Any]
) -> None:
    settings.SEZZLEE_MCP |= {"AUTHENTICATION_CLASSES": [f"{HERE}.{authenticator}"]}

    assert post(client, **token(**claims)).status_code == 200


@pytest.mark.parametrize(
    "audience",
    [None, [], "", "http://testserver", "http://testserver/mcp/x", "https://testserver/mcp", ["http://other/mcp"], 7],
    ids=repr,
)
def test_token_for_another_audience_is_refused(offered: None, client: Client, audience: Any) -> None:
    response = post(client, **token(**GRANTED | {"aud": audience}))

    message = "The access token was not issued for this endpoint. Sign in with its address as the resource."
    assert (response.status_code, response.json()["error"]["message"]) == (401, message)
    assert response["WWW-Authenticate"] == f'Bearer error="invalid_token", {CHALLENGE}, error_description="{message}"'


@pytest.mark.parametrize("scope", [None, "", "tools:read", "tools:readtools:call", ["tools:read"], 7], ids=repr)
def test_token_with_too_little_scope_is_told_all_that_is_needed(offered: None, client: Client, scope: Any) -> None:
    response = post(client, **token(**GRANTED | {"scope": scope}))

    message = "The access token lacks a scope; needed are: tools:read, tools:call."
    assert (response.status_code, response.json()["error"]["message"]) == (403, message)
    assert response["WWW-Authenticate"] == (
        f'Bearer error="insufficient_scope", {CHALLENGE}, error_description="{message}"'
    )


@pytest.mark.parametrize("authenticator", ["TextAuthentication", "NothingAuthentication"])
def test_token_of_which_nothing_can_be_read_grants_nothing(
    offered: None, client: Client, settings: Settings, authenticator: str
) -> None:
    settings.SEZZLEE_MCP |= {"AUTHENTICATION_CLASSES": [f"{HERE}.{authenticator}"]}

    assert post(client, **token(**GRANTED)).status_code == 401


@pytest.mark.parametrize(("scope", "status"), [("admin", 200), ("tools:read tools:call", 403)])
def test_token_that_knows_a_hierarchy_of_scopes_is_asked(
    offered: None, client: Client, settings: Settings, scope: str, status: int
) -> None:
    settings.SEZZLEE_MCP |= {"AUTHENTICATION_CLASSES": [f"{HERE}.HierarchyAuthentication"]}

    assert post(client, **token(aud=[RESOURCE], scope=scope)).status_code == status


def test_token_row_of_the_project_has_no_scopes_and_no_audience_and_passes(
    offered: None, client: Client, settings: Settings
) -> None:
    settings.SEZZLEE_MCP |= {"AUTHENTICATION_CLASSES": [f"{HERE}.BearerToken"]}

    assert post(client, Authorization="Bearer alice-demo-token").status_code == 200
    assert post(client, Authorization="Bearer wrong").status_code == 401


class RowAuthentication(BearerToken):
    """Gives a row that has scopes, of a kind or with a value that cannot be read."""

    def authenticate_credentials(self, key: str) -> tuple[Any, Any]:
        user, row = super().authenticate_credentials("alice-demo-token")
        row.scopes = {"none": None, "manager": user.groups, "number": 7}[key]
        return user, row


@pytest.mark.parametrize("scopes", ["none", "manager", "number"])
def test_row_whose_scopes_cannot_be_read_has_none(
    offered: None, client: Client, settings: Settings, scopes: str
) -> None:
    settings.SEZZLEE_MCP |= {"AUTHENTICATION_CLASSES": [f"{HERE}.RowAuthentication"]}

    assert post(client, Authorization=f"Bearer {scopes}").status_code == 403


def test_session_has_no_scopes_and_passes(offered: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP |= {"AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"]}
    browser = Client()
    browser.force_login(get_user_model().objects.get(username="alice"))

    assert post(browser).status_code == 200
    assert post(browser, Authorization="Bearer unknown").status_code == 401


def test_scopes_are_required_without_an_authorization_server_too(
    shop: None, client: Client, settings: Settings
) -> None:
    configure(settings, "ClaimsAuthentication", AUTHORIZATION_SERVERS=[], REQUIRED_SCOPES=["tools:read"])

    response = post(client, **token(scope="tools:write"))

    assert (response.status_code, response["WWW-Authenticate"]) == (
        403,
        'Bearer error="insufficient_scope", scope="tools:read", realm="shop", '
        'error_description="The access token lacks a scope; needed are: tools:read."',
    )
    assert post(client, **token(scope="tools:read")).status_code == 200


class FormTokenAuthentication(ClaimsAuthentication):
    """Looks for a token in the form of the body first, as RFC 6750 allows."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        assert request.POST.get("access_token") is None
        return super().authenticate(request)


def test_authenticator_that_looks_into_the_body_does_not_use_it_up(
    offered: None, client: Client, settings: Settings
) -> None:
    settings.SEZZLEE_MCP |= {"AUTHENTICATION_CLASSES": [f"{HERE}.FormTokenAuthentication"]}

    assert post(client, **token(**GRANTED)).json()["result"]["tools"]
    sent = {"access_token": "x"}
    assert client.post("/mcp", sent, headers=token(**GRANTED)).status_code == 415
