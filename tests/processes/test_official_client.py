"""The official clients against the demo: Python's in each of its modes, and both of them listening."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.processes.conftest import SERVERS, Server, start
from tests.processes.staff import describe_products_stk_adj
from tests.processes.typescript import NODE, PACKAGES, needs_node

TOKEN = "Token alice-demo-token"


@asynccontextmanager
async def connected(url: str, mode: str) -> AsyncIterator[Client]:
    async with (
        create_mcp_http_client(headers={"Authorization": TOKEN}) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode, cache=None) as client,
    ):
        yield client


async def session(url: str, mode: str) -> tuple[list[str], list[dict[str, Any]]]:
    """The names of the tools, and the envelopes of one call of each."""
    async with connected(url, mode) as client:
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


@pytest.fixture
def uvicorn(environment: dict[str, str]) -> Iterator[Server]:
    server = start(SERVERS["uvicorn"], environment)
    yield server
    server.process.terminate()
    server.process.wait(timeout=20)


def test_python_client_hears_of_a_publish_and_that_the_server_stops(
    uvicorn: Server, servers: dict[str, Server]
) -> None:
    async def listen() -> tuple[bool, list[str]]:
        async with connected(uvicorn.url, "auto") as client, client.listen(tools_list_changed=True) as subscription:
            heard = []
            await asyncio.to_thread(describe_products_stk_adj, servers["gunicorn"], "Heard from Python.")
            async for event in subscription:  # SubscriptionLost, should the stream break off without its result
                heard.append(type(event).__name__)
                uvicorn.process.terminate()
            return subscription.honored.tools_list_changed, heard

    assert asyncio.run(listen()) == (True, ["ToolsListChanged"])


@needs_node
def test_typescript_client_hears_of_a_publish_and_that_the_server_stops(
    uvicorn: Server, servers: dict[str, Server], tmp_path: Path
) -> None:
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    program = shutil.copy(Path(__file__).parent / "typescript" / "listen.mjs", tmp_path)
    environment = {**os.environ, "MCP_AUTHORIZATION": TOKEN}
    command = [NODE, program, f"{uvicorn.url}/mcp"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as client:  # noqa: S603
        assert client.stdout is not None
        said = [client.stdout.readline()]
        describe_products_stk_adj(servers["gunicorn"], "Heard from TypeScript.")
        said.append(client.stdout.readline())
        uvicorn.process.terminate()
        said.append(client.stdout.readline())

    assert said == ['listening {"toolsListChanged":true}\n', "changed\n", "closed graceful\n"]
