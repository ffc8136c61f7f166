"""
What users of other servers reported and only several processes can show: numbers 31 and 39 of the list of asks.

A test's name begins with the servers and the numbers of their issues, as in ``tests/asks``.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import cycle
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.processes.conftest import SERVERS, Server, start
from tests.processes.listening import CHANGED, Listener, ask
from tests.processes.staff import Browser
from tests.processes.test_official_client import TOKEN


class Balancer(httpx2.AsyncHTTPTransport):
    """Sends each request to the next replica, as a balancer that keeps nobody to one does."""

    def __init__(self, *replicas: Server) -> None:
        super().__init__()
        self._replicas = cycle([httpx2.URL(replica.url) for replica in replicas])
        self.session_ids: list[str | None] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        replica = next(self._replicas)
        request.url = request.url.copy_with(host=replica.host, port=replica.port)
        response = await super().handle_async_request(request)
        self.session_ids.append(response.headers.get("Mcp-Session-Id"))
        return response


async def conversation(balancer: Balancer, mode: str) -> dict[str, Any]:
    async with (
        httpx2.AsyncClient(transport=balancer, headers={"Authorization": TOKEN}, timeout=60) as http,
        Client(streamable_http_client("http://localhost/mcp", http_client=http), mode=mode, cache=None) as client,
    ):
        assert [tool.name for tool in (await client.list_tools()).tools] == ["load_tool", "search_tools", "invoke_tool"]
        (card,) = (await call(client, "search_tools", query="list products", limit=1))["results"]
        loaded = await call(client, "load_tool", name=card["name"])
        return await call(client, "invoke_tool", name=card["name"], arguments={}, version=loaded["version"])


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    envelope: dict[str, Any] = json.loads((await client.call_tool(tool, arguments)).content[0].text)
    return envelope


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy", "auto"])
def test_fastmcp_1003_and_482_conversation_goes_on_with_whichever_replica_is_next(
    servers: dict[str, Server], mode: str
) -> None:
    balancer = Balancer(*servers.values())

    envelope = asyncio.run(conversation(balancer, mode))

    assert envelope["status"] == 200
    assert set(balancer.session_ids) == {None}
    assert len(balancer.session_ids) >= 4  # an even and an odd request for each replica


POLICIES = "/admin/sezzlee_mcp/visibilitypolicy/"


@contextmanager
def staff_alone_see_customers(server: Server) -> Iterator[None]:
    """A visibility policy, published in the admin and taken back there."""
    staff = Browser(server.url)
    staff.submit("/admin/login/?next=/admin/", username="admin", password="admin-demo")
    staff.submit(f"{POLICIES}add/", name="Staff see customers", rule="staff", routes="/api/customers/")
    try:
        yield
    finally:
        (policy,) = set(re.findall(rf'"({POLICIES}\d+/)change/', staff.get(POLICIES)))
        staff.submit(f"{policy}delete/", post="yes")


def sees_customers(server: Server, user: str) -> bool:
    search = {"query": "list customers", "limit": 50}
    _, answer = ask(server, "tools/call", user=user, name="search_tools", arguments=search)
    results = json.loads(answer["result"]["content"][0]["text"])["results"]
    return "customers_list" in {card["name"] for card in results}


def test_gitlab_mcp_651_and_go_sdk_666_clients_are_told_of_a_change_and_each_reads_a_list_of_its_own(
    environment: dict[str, str], servers: dict[str, Server]
) -> None:
    with ExitStack() as stack:
        listening = start(SERVERS["uvicorn"], environment)
        stack.callback(listening.process.wait, timeout=20)
        stack.callback(listening.process.terminate)
        users = ("alice", "admin")
        streams = [stack.enter_context(closing(Listener(listening, user))) for user in users]

        seen = [{user: sees_customers(listening, user) for user in users}]
        with staff_alone_see_customers(servers["gunicorn"]):
            told = [[stream.next()["method"] for stream in streams]]
            seen.append({user: sees_customers(listening, user) for user in users})
        told.append([stream.next()["method"] for stream in streams])
        seen.append({user: sees_customers(listening, user) for user in users})

    assert told == [[CHANGED] * 2] * 2
    assert seen == [{"alice": True, "admin": True}, {"alice": False, "admin": True}, {"alice": True, "admin": True}]
