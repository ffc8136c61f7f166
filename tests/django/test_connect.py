"""sezzlee_connect: what it prints can be pasted, in the form that each client documents."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from sezzlee_mcp.clients import CLIENTS

URL = "http://127.0.0.1:8000/mcp"


def connect(client: str, **options: Any) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("sezzlee_connect", client=client, stdout=out, stderr=err, **{"url": URL, **options})
    return out.getvalue(), err.getvalue()


@pytest.fixture
def offered(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "AUTHORIZATION_SERVERS": ["https://login.example"]}


def server(**given: Any) -> dict[str, Any]:
    return {"mcpServers": {"demo-shop": given}}


HEADER = "Authorization"
ASKED = {"type": "promptString", "id": "demo-shop-token", "description": "Token for demo-shop", "password": True}


@pytest.mark.parametrize(
    ("client", "configuration"),
    [
        ("claude-code", server(type="http", url=URL, headers={HEADER: "Token ${MCP_TOKEN}"})),
        (
            "claude-desktop",
            server(
                command="npx",
                args=["-y", "mcp-remote", URL, "--allow-http", "--header", "Authorization:${AUTHORIZATION}"],
                env={"AUTHORIZATION": "Token MCP_TOKEN"},
            ),
        ),
        ("cursor", server(url=URL, headers={HEADER: "Token ${env:MCP_TOKEN}"})),
        (
            "vscode",
            {
                "inputs": [ASKED],
                "servers": {
                    "demo-shop": {"type": "http", "url": URL, "headers": {HEADER: "Token ${input:demo-shop-token}"}}
                },
            },
        ),
    ],
)
def test_client_is_told_where_its_token_goes(client: str, configuration: dict[str, Any]) -> None:
    assert json.loads(connect(client)[0]) == configuration


@pytest.mark.parametrize(
    ("client", "configuration"),
    [
        ("claude-code", server(type="http", url=URL)),
        ("claude-desktop", server(command="npx", args=["-y", "mcp-remote", URL, "--allow-http"])),
        ("cursor", server(url=URL)),
        ("vscode", {"servers": {"demo-shop": {"type": "http", "url": URL}}}),
    ],
)
def test_client_that_signs_its_user_in_needs_the_address_alone(
    offered: None, client: str, configuration: dict[str, Any]
) -> None:
    out, err = connect(client)

    assert json.loads(out) == configuration
    assert err.endswith("The client signs its user in.\n")


def test_inspector_is_a_line_for_a_shell(settings: Settings) -> None:
    line = f"npx @modelcontextprotocol/inspector --transport http --server-url {URL}"

    assert connect("inspector")[0] == f'{line} --header "Authorization: Token $MCP_TOKEN"\n'

    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "AUTHORIZATION_SERVERS": ["https://login.example"]}
    assert connect("inspector")[0] == f"{line}\n"


@pytest.mark.parametrize("client", ["python", "typescript"])
def test_program_takes_a_bearer_token_where_users_sign_in(offered: None, client: str) -> None:
    out, err = connect(client)

    assert "Bearer" in out and "MCP_TOKEN" in out
    assert "MCP_TOKEN" in err


@pytest.mark.parametrize(
    ("authenticator", "scheme"),
    [
        ("project.shop.authentication.BearerAuthentication", "Bearer"),
        ("rest_framework.authentication.BasicAuthentication", "Basic"),
        ("rest_framework.authentication.SessionAuthentication", "Bearer"),
    ],
)
def test_scheme_is_that_of_the_endpoints_first_challenge(settings: Settings, authenticator: str, scheme: str) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "AUTHENTICATION_CLASSES": [authenticator]}

    assert json.loads(connect("cursor")[0])["mcpServers"]["demo-shop"]["headers"] == {
        HEADER: f"{scheme} ${{env:MCP_TOKEN}}"
    }


def test_name_and_pinned_address_are_taken_over(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RESOURCE": "https://shop.example/mcp"}

    out, err = connect("cursor", url=None, name="böse \"shop'", verbosity=0)

    assert json.loads(out)["mcpServers"]["böse \"shop'"]["url"] == "https://shop.example/mcp"
    assert err == ""


@pytest.mark.parametrize("client", ["python", "typescript"])
def test_name_and_address_cannot_leave_their_place_in_a_program(client: str) -> None:
    out, _ = connect(client, url='https://shop.example/"mcp', name='"); evil("')

    assert '"https://shop.example/\\"mcp"' in out
    assert 'evil("")' not in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"client": "curser"}, r"There is no client 'curser' here; known are claude-code, .*Did you mean 'cursor'\?"),
        ({"client": "x"}, rf"There is no client 'x' here; known are {', '.join(CLIENTS)}\.$"),
        ({"client": "cursor", "url": None}, r"Say where .*--url https://example\.com/mcp"),
        ({"client": "cursor", "url": "127.0.0.1:8000/mcp"}, r"--url is '127\.0\.0\.1:8000/mcp', not an address"),
    ],
)
def test_mistake_is_told_with_the_way_out(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandError, match=message) as refused:
        connect(**options)

    assert refused.value.returncode == 2
