"""An agent for hosts' own tests: it speaks MCP to the project's endpoint through Django's test client."""

import json
from itertools import count
from typing import Any

from django.test import Client
from django.urls import reverse

from sezzlee_mcp.caller_cache import invalidate_all
from sezzlee_mcp.protocol.eras import MODERN_VERSIONS

_META = "io.modelcontextprotocol"


class McpClient:
    """
    The three meta-tools as methods; each gives the envelope, the JSON inside the result's text block.

    ``client`` is a Django test client, logged in or with credentials as the test wants; ``headers`` go
    with every request (``McpClient(headers={"Authorization": "Token ..."})``). AssertionError when the
    endpoint answers anything but a tool result.
    """

    def __init__(self, client: Client | None = None, *, headers: dict[str, str] | None = None) -> None:
        invalidate_all()  # a test that ended took its users' rights back, and no signal said so
        self._client = client or Client()
        self._headers = headers or {}
        self._ids = count(1)

    def list_tools(self) -> list[dict[str, Any]]:
        tools: list[dict[str, Any]] = self._request("tools/list", {})["tools"]
        return tools

    def search(self, query: str = "", **arguments: Any) -> dict[str, Any]:
        return self.call("search_tools", {"query": query, **arguments})

    def load(self, name: str) -> dict[str, Any]:
        return self.call("load_tool", {"name": name})

    def invoke(self, name: str, arguments: Any = None, *, version: str | None = None) -> dict[str, Any]:
        pinned = {} if version is None else {"version": version}
        return self.call("invoke_tool", {"name": name, "arguments": arguments, **pinned})

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = self._request("tools/call", {"name": tool, "arguments": arguments})
        envelope: dict[str, Any] = json.loads(result["content"][0]["text"])
        return envelope

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        version = MODERN_VERSIONS[-1]
        meta = {f"{_META}/protocolVersion": version, f"{_META}/clientCapabilities": {}}
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": {**params, "_meta": meta}}
        named = {"Mcp-Name": params["name"]} if "name" in params else {}
        response = self._client.post(
            reverse("sezzlee_mcp:endpoint"),
            json.dumps(message),
            content_type="application/json",
            headers={"MCP-Protocol-Version": version, "Mcp-Method": method, **named, **self._headers},
        )
        if response.status_code != 200:
            raise AssertionError(f"{method} was answered {response.status_code}: {response.content.decode()}")
        result: dict[str, Any] = response.json()["result"]
        return result
