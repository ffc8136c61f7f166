"""Signing in to the demo with OAuth: the official clients go the whole way, and a test plays the browser."""

import asyncio
import base64
import hashlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.processes.conftest import ROOT, SERVERS
from tests.processes.staff import Form
from tests.processes.typescript import NODE, NODE_CLIENTS, needs_node

REDIRECT = "http://127.0.0.1:1/callback"  # nobody listens there: the browser is asked where it was sent
ME = ("invoke_tool", {"name": "me"})


@pytest.fixture(scope="module", params=SERVERS)
def site(request: pytest.FixtureRequest, environment: dict[str, str]) -> Iterator[str]:
    """The demo with its authorization server, under gunicorn and uvicorn."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        signing = {**environment, "OAUTH": "1", "OAUTH_ISSUER": address}
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=signing, check=True)  # noqa: S603
        words = [word.format(fd=listener.fileno()) for word in SERVERS[request.param]]
        server = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", *words], cwd=ROOT, env=signing, pass_fds=[listener.fileno()]
        )
    yield address
    server.terminate()
    server.wait(timeout=20)


def agree(page: str, username: str = "alice") -> str:
    """What the user does in a browser: logs in, agrees; and where the browser is then sent."""
    with httpx2.Client(follow_redirects=True, timeout=60) as browser:
        login = browser.get(page)
        consent = submit(browser, login, username=username, password=f"{username}-demo")
        assert "Work in the shop in your name" in consent.text or "See who you are" in consent.text
        browser.follow_redirects = False
        return submit(browser, consent, allow="Authorize").headers["Location"]


def submit(browser: httpx2.Client, page: httpx2.Response, **entered: str) -> httpx2.Response:
    answer = browser.post(page.url, data={**Form(page.text).fields, **entered}, headers={"Referer": str(page.url)})
    assert answer.status_code in (200, 302), answer.text
    return answer


# -- the official clients --


@dataclass
class Storage:
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Person:
    """Who sits before the Python client."""

    returned: list[str] = field(default_factory=list)

    async def open(self, page: str) -> None:
        self.returned.append(await asyncio.to_thread(agree, page))

    async def come_back(self) -> AuthorizationCodeResult:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.returned[-1]).query).items()}
        return AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query["iss"])


async def python_session(site: str, mode: str) -> tuple[dict[str, Any], str | None, int]:
    """The envelope of one call, the scope that was granted, and how often the user was asked."""
    storage, person = Storage(), Person()
    metadata = OAuthClientMetadata(
        client_name="A Python client", redirect_uris=[REDIRECT], token_endpoint_auth_method="none"
    )
    auth = OAuthClientProvider(
        f"{site}/mcp", metadata, storage, redirect_handler=person.open, callback_handler=person.come_back
    )
    async with (
        create_mcp_http_client(auth=auth) as http,
        Client(streamable_http_client(f"{site}/mcp", http_client=http), mode=mode, cache=None) as client,
    ):
        result = await client.call_tool(*ME)
        return json.loads(result.content[0].text), storage.tokens.scope, len(person.returned)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy", "auto"])
def test_official_python_client_signs_its_user_in(site: str, mode: str) -> None:
    envelope, scope, asked = asyncio.run(python_session(site, mode))

    assert (envelope["status"], envelope["body"]["username"]) == (200, "alice")
    assert (scope, asked) == ("shop", 1)


@needs_node
@pytest.mark.parametrize("era", ["modern", "legacy", "auto"])
def test_official_typescript_client_signs_its_user_in(site: str, era: str) -> None:
    script = ROOT / "tests/processes/typescript/sign_in.mjs"
    tool, arguments = ME
    process = subprocess.Popen(  # noqa: S603
        [NODE, script, f"{site}/mcp", REDIRECT, era, tool, json.dumps(arguments)],
        env={**os.environ, "NODE_CLIENTS": str(NODE_CLIENTS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    page = json.loads(process.stdout.readline())["authorize"]
    told, _ = process.communicate(f"{agree(page)}\n", timeout=60)
    answer = json.loads(told)

    assert process.returncode == 0
    assert (answer["envelope"]["status"], answer["envelope"]["body"]["username"]) == (200, "alice")
    assert answer["scope"] == "shop"


# -- what a client is told, and which tokens it can do nothing with --


def test_metadata_leads_from_the_endpoint_to_the_authorization_server(site: str) -> None:
    refused = post(site)
    resource = httpx2.get(f"{site}/.well-known/oauth-protected-resource/mcp").json()
    server = httpx2.get(f"{resource['authorization_servers'][0]}/.well-known/oauth-authorization-server").json()

    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"] == (
        f'Bearer resource_metadata="{site}/.well-known/oauth-protected-resource/mcp", scope="shop", realm="api", '
        'Token, Basic realm="api"'
    )
    assert resource == {
        "resource": f"{site}/mcp",
        "authorization_servers": [site],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["shop"],
    }
    assert (server["issuer"], server["code_challenge_methods_supported"]) == (site, ["S256"])
    assert server["registration_endpoint"] == f"{site}/oauth/register/"


def post(site: str, token: str | None = None) -> httpx2.Response:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx2.post(f"{site}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers)


def signed_in(site: str, *, resource: str | None, scope: str = "shop") -> tuple[str, str]:
    """An access token, got without a client's help, and the client that it was issued to."""
    registered = httpx2.post(
        f"{site}/oauth/register/", json={"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}
    ).json()
    named = {} if resource is None else {"resource": resource}
    known = {"client_id": registered["client_id"], "redirect_uri": REDIRECT, **named}
    verifier = "v" * 64
    proof = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    asked = {"response_type": "code", "scope": scope, "code_challenge": proof, "code_challenge_method": "S256"}
    (code,) = parse_qs(urlsplit(agree(f"{site}/oauth/authorize/?{urlencode(known | asked)}")).query)["code"]
    granted = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
    return httpx2.post(f"{site}/oauth/token/", data=known | granted).json()["access_token"], registered["client_id"]


def test_token_opens_the_endpoint_until_it_is_revoked_and_never_the_api(site: str) -> None:
    token, client_id = signed_in(site, resource=f"{site}/mcp")

    assert post(site, token).status_code == 200
    assert httpx2.get(f"{site}/api/me/", headers={"Authorization": f"Bearer {token}"}).status_code == 401

    httpx2.post(f"{site}/oauth/revoke/", data={"token": token, "client_id": client_id}).raise_for_status()
    refused = post(site, token)
    assert (refused.status_code, "invalid_token" in refused.headers["WWW-Authenticate"]) == (401, True)


@pytest.mark.parametrize("resource", ["https://other.example/mcp", "{site}/other", "{site}", None])
def test_token_for_another_audience_is_refused(site: str, resource: str | None) -> None:
    token, _ = signed_in(site, resource=resource and resource.format(site=site))

    refused = post(site, token)

    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith('Bearer error="invalid_token", resource_metadata="')


def test_token_without_the_scope_is_told_which_one_to_ask_for(site: str) -> None:
    token, _ = signed_in(site, resource=f"{site}/mcp", scope="profile")

    refused = post(site, token)

    assert refused.status_code == 403
    assert refused.headers["WWW-Authenticate"].startswith('Bearer error="insufficient_scope", resource_metadata="')
    assert 'scope="shop"' in refused.headers["WWW-Authenticate"]


@pytest.mark.parametrize("scheme", ["Bearer", "Token"])
def test_token_of_djangos_rest_framework_opens_the_endpoint_beside_them(site: str, scheme: str) -> None:
    headers = {"Authorization": f"{scheme} alice-demo-token"}

    answer = httpx2.post(f"{site}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers)

    assert answer.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}
