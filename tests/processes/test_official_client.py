"""The official Python client, in each of its modes, against the demo under WSGI and ASGI."""

import asyncio
import json
from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.processes.conftest import SERVERS, Server

TOKEN = "Token alice-demo-token"


async def session(url: str, mode: str) -> tuple[list[str], list[dict[str, Any]]]:
    """The names of the tools, and the envelopes of one call of each."""
    async with (
        create_mcp_http_client(headers={"Authorization": TOKEN}) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode, cache=None) as client,
    ):
        names = [tool.name for tool in (await client.list_tools()).tools]
        envelopes = []
        for tool, arguments in (
            ("search_tools", {"query": "invoice order", "limit": 1}),
            ("load_tool", {"name": "orders_invoice_retrieve"}),
            ("invoke_tool", {"name": "products_list", "arguments": {"search": "desk"}}),
            ("invoke_tool", {"name": "products_list", "arguments": {"serach": "desk"}}),
        ):
            result = await client.call_tool(tool, arguments)
            envelopes.append(json.loads(result.content[0].text))
        return names, envelopes


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy", "auto"])
@pytest.mark.parametrize("server", SERVERS)
def test_official_client_searches_loads_and_invokes(servers: dict[str, Server], server: str, mode: str) -> None:
    names, (found, loaded, invoked, refused) = asyncio.run(session(servers[server].url, mode))

    assert names == ["load_tool", "search_tools", "invoke_tool"]
    assert [card["name"] for card in found["results"]] == ["orders_invoice_retrieve"]
    assert loaded["inputSchema"]["required"] == ["id"]
    assert (invoked["status"], invoked["body"]["count"]) == (200, 1)
    assert (refused["error"], "Did you mean 'search'?" in refused["message"]) == ("unknown_argument", True)
