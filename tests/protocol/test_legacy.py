"""protocol.md, section 8: whole replies to 2025-era clients."""

import pytest

from sezzlee_mcp.invoke.envelope import ToolResult
from sezzlee_mcp.protocol import LoadCall
from sezzlee_mcp.protocol.metatools import definitions
from tests.protocol.exchanges import MemoryHost, ask, content, legacy, outcome, post

VERSIONS = [None, "2025-03-26", "2025-06-18", "2025-11-25"]
CLIENT = {"capabilities": {}, "clientInfo": {"name": "ledger", "version": "2"}}


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ],
)
def test_initialize_answers_the_version_asked_for_or_the_newest_legacy_one(asked, answered):
    reply = ask(legacy("initialize", version=None, protocolVersion=asked, **CLIENT))

    assert (reply.status, reply.headers) == (200, {"Content-Type": "application/json"})
    assert content(reply) == {
        "jsonrpc": "2.0",
        "id": 4,
        "result": {
            "protocolVersion": answered,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "depot", "title": "Depot", "version": "7.1"},
            "instructions": "Ask for crates.",
        },
    }


@pytest.mark.parametrize("params", [{}, {"protocolVersion": None}, {"protocolVersion": 20250618}])
def test_initialize_without_a_version_answers_invalid_params_in_band(params):
    reply = ask(legacy("initialize", **params))

    assert reply.status == 200
    assert content(reply) == {
        "jsonrpc": "2.0",
        "id": 4,
        "error": {"code": -32602, "message": "Invalid params: protocolVersion must be a string."},
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_ping_answers_an_empty_result(version):
    assert content(ask(legacy("ping", version=version))) == {"jsonrpc": "2.0", "id": 4, "result": {}}


@pytest.mark.parametrize("version", VERSIONS)
def test_tools_list_needs_no_initialize(version):
    reply = ask(legacy("tools/list", version=version))

    assert reply.status == 200
    assert content(reply) == {"jsonrpc": "2.0", "id": 4, "result": {"tools": definitions(12)}}


@pytest.mark.parametrize("version", VERSIONS)
def test_tool_call_carries_nothing_of_the_modern_era(version):
    host = MemoryHost(answer=ToolResult(text="{}", code="not_found"))

    reply = ask(legacy("tools/call", version=version, name="load_tool", arguments={"name": "a"}), host)

    assert host.calls == [LoadCall(name="a")]
    assert content(reply) == {
        "jsonrpc": "2.0",
        "id": 4,
        "result": {"content": [{"type": "text", "text": "{}"}], "isError": True},
    }


def test_successful_tool_call_has_no_is_error():
    reply = ask(legacy("tools/call", name="search_tools"), MemoryHost(answer=ToolResult(text="{}")))

    assert content(reply)["result"] == {"content": [{"type": "text", "text": "{}"}]}


@pytest.mark.parametrize(
    "method", ["server/discover", "subscriptions/listen", "logging/setLevel", "resources/list", "prompts/list", "x"]
)
def test_method_that_is_not_served_answers_in_band(method):
    reply = ask(legacy(method))

    assert reply.status == 200
    assert content(reply) == {
        "jsonrpc": "2.0",
        "id": 4,
        "error": {"code": -32601, "message": f"Method not found: {method}"},
    }


@pytest.mark.parametrize("identifier", [0, -1, 10**200, "", "ü-1", "0"])
def test_id_is_echoed_with_its_type(identifier):
    assert outcome(ask(post({"jsonrpc": "2.0", "id": identifier, "method": "ping"}))) == (200, None, identifier)
