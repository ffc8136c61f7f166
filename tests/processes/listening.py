"""A client that listens, without an SDK: what arrives is read as it stands on the wire."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from tests.processes.conftest import Server

VERSION = "io.modelcontextprotocol/protocolVersion"
MODERN = "2026-07-28"
CHANGED = "notifications/tools/list_changed"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


def post(
    server: Server, method: str, *, user: str = "alice", **params: Any
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    """A modern request of one of the demo's users, with the head of its response."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    meta = {VERSION: MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    message = {"jsonrpc": "2.0", "id": "watch", "method": method, "params": {"_meta": meta, **params}}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Accept-Encoding": "gzip, deflate",
        "Authorization": f"Token {user}-demo-token",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": method,
        **({"Mcp-Name": params["name"]} if "name" in params else {}),
    }
    connection.request("POST", "/mcp", json.dumps(message), headers)
    return connection, connection.getresponse()


def ask(server: Server, method: str, **params: Any) -> tuple[int, dict[str, Any]]:
    """Status and message of a reply that is JSON."""
    connection, response = post(server, method, **params)
    status, message = response.status, json.loads(response.read())
    connection.close()
    return status, message


class Listener:
    """An open stream, acknowledged."""

    def __init__(self, server: Server, user: str = "alice") -> None:
        asked = {"toolsListChanged": True}
        self._connection, self.response = post(server, "subscriptions/listen", user=user, notifications=asked)
        assert self.response.status == 200, self.response.read()
        first = self.next()
        assert first is not None
        assert first["method"] == ACKNOWLEDGED

    def next(self) -> dict[str, Any] | None:
        """The next message, which may take its time; None when the stream has ended."""
        while line := self.response.readline():
            if line.startswith(b"data: "):
                message: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
                return message
        return None

    def close(self) -> None:
        self._connection.close()
