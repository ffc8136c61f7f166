"""Two processes on one database: what staff save in one is what agents read in the other."""

import http.client
import json
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

from tests.processes.conftest import ROOT, SERVERS, Server, start
from tests.processes.staff import describe_products_stk_adj


def ask(server: Server, method: str, params: dict[str, Any]) -> dict[str, Any]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    headers = {"Content-Type": "application/json", "Authorization": "Token alice-demo-token"}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    connection.request("POST", "/mcp", json.dumps(message), headers)
    reply = json.loads(connection.getresponse().read())
    connection.close()
    result: dict[str, Any] = reply["result"]
    return result


def card(server: Server, name: str) -> dict[str, Any]:
    result = ask(server, "tools/call", {"name": "search_tools", "arguments": {"query": "", "limit": 50}})
    cards = json.loads(result["content"][0]["text"])["results"]
    return next(card for card in cards if card["name"] == name)


def generation(server: Server) -> int:
    tools = ask(server, "tools/list", {})["tools"]
    return int(tools[0]["_meta"]["sezzlee/catalogGeneration"])


def test_description_edited_in_one_process_is_what_the_other_searches(servers: dict[str, Server]) -> None:
    edited, other = servers["gunicorn"], servers["uvicorn"]
    before = {name: generation(server) for name, server in servers.items()}

    describe_products_stk_adj(edited, "Books stock in or out of a product, with the reason.")

    for server in (edited, other):
        assert card(server, "products_stk_adj")["description"] == "Books stock in or out of a product, with the reason."
    assert {name: generation(server) for name, server in servers.items()} == {
        name: number + 1 for name, number in before.items()
    }


def pinned(server: Server, version: str | None) -> dict[str, Any]:
    arguments = {"name": "products_list", "arguments": {}, **({} if version is None else {"version": version})}
    result = ask(server, "tools/call", {"name": "invoke_tool", "arguments": arguments})
    envelope: dict[str, Any] = json.loads(result["content"][0]["text"])
    return envelope


def test_while_a_release_is_rolled_out_only_its_own_processes_answer_for_its_catalog(
    environment: dict[str, str],
) -> None:
    replicas = {release: start(SERVERS["uvicorn"], {**environment, "RELEASE": release}) for release in ("old", "new")}
    try:
        for synced, other in (("old", "new"), ("new", "old")):
            synchronize(environment, synced)
            loaded = ask(replicas[other], "tools/call", {"name": "load_tool", "arguments": {"name": "products_list"}})
            version = json.loads(loaded["content"][0]["text"])["version"]

            assert pinned(replicas[synced], version)["status"] == 200
            assert pinned(replicas[other], version)["error"] == "tool_changed"
            assert pinned(replicas[other], None)["status"] == 200
    finally:
        for server in replicas.values():
            server.process.terminate()
        for server in replicas.values():
            server.process.wait(timeout=20)


def synchronize(environment: dict[str, str], release: str) -> None:
    command = [sys.executable, "manage.py", "sezzlee_sync", "-v0"]
    subprocess.run(command, cwd=ROOT, env={**environment, "RELEASE": release}, check=True)  # noqa: S603
