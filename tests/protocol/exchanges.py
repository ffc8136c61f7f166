"""A host in memory and the requests that the protocol's tests send to it."""

import json
from dataclasses import dataclass, field
from typing import Any

from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke.envelope import ToolResult
from sezzlee_mcp.protocol import CallTrace, Inbound, InvokeCall, Limits, LoadCall, Reply, SearchCall, ServerInfo, handle

MODERN = "2026-07-28"
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"

INFO = ServerInfo(name="depot", title="Depot", version="7.1", instructions="Ask for crates.")
SERVER_META = {"io.modelcontextprotocol/serverInfo": {"name": "depot", "title": "Depot", "version": "7.1"}}
JSON_HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@dataclass
class MemoryHost:
    """Answers every call with ``answer`` and remembers the calls; raises ``failure`` instead when there is one."""

    answer: ToolResult = field(default_factory=lambda: ToolResult(text='{"total":0}'))
    failure: Exception | None = None
    calls: list[SearchCall | LoadCall | InvokeCall] = field(default_factory=list)
    traces: list[CallTrace] = field(default_factory=list)
    limits: Limits = field(default_factory=Limits)

    def generation(self) -> int:
        if self.failure:
            raise self.failure
        return 12

    def search(self, call: SearchCall) -> ToolResult:
        return self._answer(call)

    def load(self, call: LoadCall) -> ToolResult:
        return self._answer(call)

    def invoke(self, call: InvokeCall) -> ToolResult:
        return self._answer(call)

    def refuse(self, error: CallError) -> ToolResult:
        return ToolResult(text=json.dumps({"error": error.code, "message": error.message}), code=error.code)

    def trace(self, trace: CallTrace) -> None:
        self.traces.append(trace)

    def _answer(self, call: SearchCall | LoadCall | InvokeCall) -> ToolResult:
        self.calls.append(call)
        if self.failure:
            raise self.failure
        return self.answer


def meta(**members: Any) -> dict[str, Any]:
    return {VERSION: MODERN, CAPABILITIES: {}, **members}


def modern(method: str, /, *, headers: dict[str, str] | None = None, **params: Any) -> Inbound:
    """A correct modern request with id "m-1"; ``headers`` are added, an empty value takes one away."""
    named = {"mcp-name": params["name"]} if method == "tools/call" and isinstance(params.get("name"), str) else {}
    sent = {**JSON_HEADERS, "mcp-protocol-version": MODERN, "mcp-method": method, **named, **(headers or {})}
    message = {"jsonrpc": "2.0", "id": "m-1", "method": method, "params": {"_meta": meta(), **params}}
    return post(message, headers={name: value for name, value in sent.items() if value})


def legacy(method: str, /, *, version: str | None = "2025-06-18", **params: Any) -> Inbound:
    """A 2025-era request with id 4."""
    message = {"jsonrpc": "2.0", "id": 4, "method": method, **({"params": params} if params else {})}
    return post(message, headers={**JSON_HEADERS, **({} if version is None else {"mcp-protocol-version": version})})


def post(message: Any, *, headers: dict[str, str] | None = None) -> Inbound:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return Inbound(method="POST", headers=JSON_HEADERS if headers is None else headers, body=body)


def ask(inbound: Inbound, host: MemoryHost | None = None) -> Reply:
    return handle(inbound, host or MemoryHost(), INFO)


def content(reply: Reply) -> Any:
    """The reply's JSON; ``parse_constant`` makes a NaN in it fail."""
    assert reply.body is not None
    assert reply.headers["Content-Type"] == "application/json"
    return json.loads(reply.body.decode())


def outcome(reply: Reply) -> tuple[int, int | None, Any]:
    """Status, error code and id of a reply; "absent" when it has no id member."""
    if reply.body is None:
        return reply.status, None, "absent"
    message = content(reply)
    return reply.status, message.get("error", {}).get("code"), message.get("id", "absent")
