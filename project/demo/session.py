"""An agent's session with the demo shop over real HTTP: it searches, loads, invokes, fails, and mends what failed."""

import json
import re
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from project.demo.accounts import ACCOUNTS

PROTOCOL_VERSION = "2026-07-28"
SHOWN_CHARS = 360

Write = Callable[[str], object]
Excerpt = Callable[[dict[str, Any]], Any]


class SessionFailed(Exception):
    """A step answered something else than it should; the message says what."""


@dataclass(kw_only=True)
class Agent:
    endpoint: str
    token: str
    write: Write
    ids: count = field(default_factory=lambda: count(1))

    def list_tools(self) -> list[dict[str, Any]]:
        self.write("   > tools/list\n")
        tools = self._request("tools/list", {})["tools"]
        self.write(f"   < {shortened([tool['name'] for tool in tools])}\n")
        return tools

    def call(
        self, tool: str, arguments: dict[str, Any], *, fails: bool = False, excerpt: Excerpt = lambda envelope: envelope
    ) -> dict[str, Any]:
        """The envelope of a tool call, which must be a failure exactly when ``fails`` is true; ``excerpt`` is shown."""
        self.write(f"   > tools/call {tool} {shortened(arguments)}\n")
        result = self._request("tools/call", {"name": tool, "arguments": arguments}, tool)
        envelope = json.loads(result["content"][0]["text"])
        is_error = bool(result.get("isError"))
        shown = excerpt(envelope) if is_error == fails else envelope
        self.write(f"   < {'isError ' if is_error else ''}{shortened(shown)}\n")
        expect(is_error == fails, f"{tool} should have {'failed' if fails else 'succeeded'}")
        return envelope

    def invoke(self, tool: str, arguments: dict[str, Any], **options: Any) -> dict[str, Any]:
        return self.call("invoke_tool", {"name": tool, "arguments": arguments}, **options)

    def _request(self, method: str, params: dict[str, Any], name: str | None = None) -> dict[str, Any]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
            "io.modelcontextprotocol/clientInfo": {"name": "demo-session", "version": "1.0.0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": {**params, "_meta": meta}}
        status, answer = self._post(message, {"Mcp-Method": method} | ({"Mcp-Name": name} if name else {}))
        expect(status == 200, f"{method} was answered with HTTP {status}: {answer[:SHOWN_CHARS]}")
        reply = json.loads(answer)
        expect("result" in reply, f"{method} was answered with an error: {shortened(reply)}")
        return reply["result"]

    def _post(self, message: dict[str, Any], headers: dict[str, str]) -> tuple[int, str]:
        address = urlsplit(self.endpoint)
        connection = HTTPConnection(address.hostname or "", address.port, timeout=30)
        try:
            connection.request("POST", address.path, json.dumps(message), self._headers() | headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def _headers(self) -> dict[str, str]:
        return {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Token {self.token}",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": PROTOCOL_VERSION,
        }


def play(endpoint: str, token: str, write: Write) -> None:
    """Play the session and print it; SessionFailed at the first step that goes otherwise."""
    agent = Agent(endpoint=endpoint, token=token, write=write)
    write(f"POST {endpoint}, MCP {PROTOCOL_VERSION}, Authorization: Token {token}\n")

    write("\n1. What does this server offer? Three tools, however large the shop's API is.\n")
    names = {tool["name"] for tool in agent.list_tools()}
    expect(names == {"search_tools", "load_tool", "invoke_tool"}, "tools/list should name the three meta-tools")

    write("\n2. Which operations have to do with ordering?\n")
    found = agent.call("search_tools", {"query": "create order", "limit": 3}, excerpt=cards_found)
    cards = [card["name"] for card in found["results"]]
    expect("orders_create" in cards, "the search should find orders_create")

    write("\n3. What does orders_create take?\n")
    loaded = agent.call("load_tool", {"name": "orders_create"}, excerpt=arguments_taken)
    expect({"customer", "items"} <= set(loaded["inputSchema"]["required"]), "customer and items should be required")

    write("\n4. A call that succeeds: which desks are there?\n")
    desks = agent.invoke("products_list", {"search": "desk"})["body"]["results"]
    expect(len(desks) == 1, "there should be one desk")

    write("\n5. A call that fails: more desks than there are.\n")
    order = {"customer": 1, "items": [{"product": desks[0]["id"], "quantity": 500}], "comment": "For the new office."}
    refusal = agent.invoke("orders_create", order, fails=True, excerpt=problems_named)
    order["items"][0]["quantity"] = quantity_in_stock(refusal)

    write("\n6. The same call, mended as the error says.\n")
    created = agent.invoke("orders_create", order)
    expect(created["status"] == 201, "the order should have been created")

    write("\n7. The demo leaves no desk reserved: the order is cancelled.\n")
    cancelled = agent.invoke("orders_cancel_create", {"id": created["body"]["id"], "reason": "Only a demo."})
    expect(cancelled["body"]["status"] == "cancelled", "the order should have been cancelled")

    write("\n8. A file goes along with a call, comes back as it was, and is deleted again.\n")
    terms = "Deliver to the café's back door.\n"
    document = {"customer": 1, "title": "Delivery terms", "file": {"text": terms, "name": "terms.txt"}}
    filed = agent.invoke("documents_create", document)
    expect(filed["body"]["size"] == len(terms.encode()), "the document should have all bytes of the file")
    kept = agent.invoke("documents_content_retrieve", {"id": filed["body"]["id"]})
    expect(kept["body"] == {"base64": b64encode(terms.encode()).decode()}, "the file should come back unchanged")
    agent.invoke("documents_destroy", {"id": filed["body"]["id"]})


def cards_found(answer: dict[str, Any]) -> Any:
    return {"total": answer["total"], "results": [card["name"] for card in answer["results"]]}


def arguments_taken(loaded: dict[str, Any]) -> Any:
    schema = loaded["inputSchema"]
    return {"arguments": list(schema["properties"]), "required": schema["required"], "version": loaded["version"]}


def problems_named(refusal: dict[str, Any]) -> Any:
    return {"error": refusal["error"], "message": refusal["message"], "fields": refusal.get("fields", [])}


def quantity_in_stock(refusal: dict[str, Any]) -> int:
    """The quantity that the error offers for the argument it names."""
    expect(refusal["error"] == "validation_failed", "the refusal should be a failed validation")
    messages = {problem.get("name"): problem["message"] for problem in refusal.get("fields", [])}
    offer = re.search(r"\d+", messages.get("items[0].quantity", ""))
    expect(offer is not None, "the refusal should name items[0].quantity and what is in stock")
    return int(offer[0])


def expect(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise SessionFailed(f"{otherwise[0].upper()}{otherwise[1:]}.")


def shortened(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} ... ({len(text):,} characters)"


if __name__ == "__main__":
    endpoint = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000/mcp"
    try:
        play(endpoint, ACCOUNTS[0].token, sys.stdout.write)
    except (SessionFailed, OSError) as error:
        sys.exit(f"The session failed. {error}")
