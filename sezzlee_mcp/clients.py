"""What to paste into an MCP client so that it finds the endpoint, in the form that each client reads."""

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

TOKEN_VARIABLE = "MCP_TOKEN"  # noqa: S105  (the name of an environment variable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The endpoint; ``scheme`` is that of the credential it takes, None where the client signs its user in."""

    name: str
    url: str
    scheme: str | None

    def headers(self, token: str) -> dict[str, dict[str, str]]:
        """The member ``headers`` of a configuration, with what the client replaces by the token; or none."""
        return {"headers": {"Authorization": f"{self.scheme} {token}"}} if self.scheme else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientKind:
    """A client: where its configuration goes, and what that is."""

    place: str
    write: Callable[[Target], str]


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _claude_code(target: Target) -> str:
    server = {"type": "http", "url": target.url, **target.headers(f"${{{TOKEN_VARIABLE}}}")}
    return _json({"mcpServers": {target.name: server}})


def _claude_desktop(target: Target) -> str:
    """It starts local programs only, so a bridge speaks HTTP for it; a blank in an argument is lost on Windows."""
    arguments = ["-y", "mcp-remote", target.url]
    if target.url.startswith("http:"):
        arguments.append("--allow-http")
    credential = {}
    if target.scheme:
        arguments += ["--header", "Authorization:${AUTHORIZATION}"]
        credential = {"env": {"AUTHORIZATION": f"{target.scheme} {TOKEN_VARIABLE}"}}
    return _json({"mcpServers": {target.name: {"command": "npx", "args": arguments, **credential}}})


def _cursor(target: Target) -> str:
    return _json({"mcpServers": {target.name: {"url": target.url, **target.headers(f"${{env:{TOKEN_VARIABLE}}}")}}})


def _vscode(target: Target) -> str:
    secret = f"{target.name}-token"
    asked = {"type": "promptString", "id": secret, "description": f"Token for {target.name}", "password": True}
    server = {"type": "http", "url": target.url, **target.headers(f"${{input:{secret}}}")}
    return _json({**({"inputs": [asked]} if target.scheme else {}), "servers": {target.name: server}})


def _inspector(target: Target) -> str:
    words = ["npx", "@modelcontextprotocol/inspector", "--transport", "http", "--server-url", shlex.quote(target.url)]
    if target.scheme:
        words += ["--header", f'"Authorization: {target.scheme} ${TOKEN_VARIABLE}"']
    return " ".join(words)


_PYTHON = """\
import asyncio
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main():
    headers = {"Authorization": "%(scheme)s " + os.environ["%(variable)s"]}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(%(url)s, http_client=http)) as client,
    ):
        print(await client.call_tool("search_tools", {"query": ""}))


asyncio.run(main())"""

_TYPESCRIPT = """\
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const transport = new StreamableHTTPClientTransport(new URL(%(url)s), {
  requestInit: { headers: { Authorization: `%(scheme)s ${process.env.%(variable)s}` } },
});
const client = new Client({ name: %(name)s, version: "1.0.0" });
await client.connect(transport);
console.log(await client.callTool({ name: "search_tools", arguments: { query: "" } }));
await client.close();"""


def _program(text: str) -> Callable[[Target], str]:
    """A program is given its token in any case: no user of it sits before a browser."""

    def write(target: Target) -> str:
        return text % {
            "name": json.dumps(target.name),
            "url": json.dumps(target.url),
            "scheme": target.scheme or "Bearer",
            "variable": TOKEN_VARIABLE,
        }

    return write


CLIENTS: Mapping[str, ClientKind] = {
    "claude-code": ClientKind(place=".mcp.json in the project's folder", write=_claude_code),
    "claude-desktop": ClientKind(place="claude_desktop_config.json", write=_claude_desktop),
    "cursor": ClientKind(place=".cursor/mcp.json in the project's folder, or ~/.cursor/mcp.json", write=_cursor),
    "inspector": ClientKind(place="a shell", write=_inspector),
    "python": ClientKind(place="a program with the packages mcp and httpx2", write=_program(_PYTHON)),
    "typescript": ClientKind(
        place="a program with the package @modelcontextprotocol/client", write=_program(_TYPESCRIPT)
    ),
    "vscode": ClientKind(place=".vscode/mcp.json in the project's folder", write=_vscode),
}
