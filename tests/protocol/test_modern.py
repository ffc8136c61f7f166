"""protocol.md, section 6: whole replies of the modern era."""

import pytest

from sezzlee_mcp import __version__
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke.envelope import ToolResult
from sezzlee_mcp.protocol import InvokeCall, LoadCall, SearchCall, handle
from sezzlee_mcp.protocol.metatools import INSTRUCTIONS, definitions
from tests.protocol.exchanges import SERVER_META, MemoryHost, ask, content, modern


def test_discover_describes_the_server():
    reply = ask(modern("server/discover"))

    assert (reply.status, reply.headers) == (200, {"Content-Type": "application/json"})
    assert content(reply) == {
        "jsonrpc": "2.0",
        "id": "m-1",
        "result": {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "instructions": "Ask for crates.",
            "ttlMs": 60_000,
            "cacheScope": "private",
            "_meta": SERVER_META,
        },
    }


def test_discover_names_this_package_unless_told_otherwise():
    result = content(handle(modern("server/discover"), MemoryHost()))["result"]

    assert result["instructions"] == INSTRUCTIONS
    assert result["_meta"] == {
        "io.modelcontextprotocol/serverInfo": {
            "name": "sezzlee_mcp",
            "title": "API operations",
            "version": __version__,
        }
    }


def test_tools_list_gives_the_meta_tools_of_the_current_generation():
    assert content(ask(modern("tools/list"))) == {
        "jsonrpc": "2.0",
        "id": "m-1",
        "result": {
            "resultType": "complete",
            "tools": definitions(12),
            "ttlMs": 60_000,
            "cacheScope": "private",
            "_meta": SERVER_META,
        },
    }


def test_tools_list_gives_the_same_bytes_twice():
    assert ask(modern("tools/list")) == ask(modern("tools/list"))


@pytest.mark.parametrize(
    ("name", "arguments", "call"),
    [
        ("search_tools", {"query": "crate"}, SearchCall(query="crate")),
        ("load_tool", {"name": "get_crate"}, LoadCall(name="get_crate")),
        (
            "invoke_tool",
            {"name": "get_crate", "arguments": {"id": 1}},
            InvokeCall(name="get_crate", arguments={"id": 1}),
        ),
    ],
)
def test_tool_call_reaches_the_host_and_its_text_the_client(name, arguments, call):
    host = MemoryHost(answer=ToolResult(text='{"größe":"40 €"}'))

    reply = ask(modern("tools/call", name=name, arguments=arguments), host)

    assert host.calls == [call]
    assert reply.status == 200
    assert content(reply) == {
        "jsonrpc": "2.0",
        "id": "m-1",
        "result": {
            "resultType": "complete",
            "content": [{"type": "text", "text": '{"größe":"40 €"}'}],
            "_meta": SERVER_META,
        },
    }


def test_failed_tool_call_is_a_result_with_is_error():
    host = MemoryHost(answer=ToolResult(text='{"error":"not_found"}', code="not_found"))

    reply = ask(modern("tools/call", name="load_tool", arguments={"name": "x"}), host)

    assert reply.status == 200
    assert content(reply)["result"] == {
        "resultType": "complete",
        "content": [{"type": "text", "text": '{"error":"not_found"}'}],
        "isError": True,
        "_meta": SERVER_META,
    }


@pytest.mark.parametrize(
    ("host", "arguments", "text"),
    [
        (
            MemoryHost(),
            {},
            '{"error": "unknown_argument", "message": "load_tool takes the argument \'name\', a string: '
            "an operation's name from search_tools; it is missing.\"}",
        ),
        (
            MemoryHost(failure=CallError(code="unknown_tool", message="No operation named 'x'.")),
            {"name": "x"},
            '{"error": "unknown_tool", "message": "No operation named \'x\'."}',
        ),
    ],
    ids=["by the binding", "by the host"],
)
def test_call_error_becomes_the_envelope_that_the_host_makes_of_it(host, arguments, text):
    reply = ask(modern("tools/call", name="load_tool", arguments=arguments), host)

    assert reply.status == 200
    assert content(reply)["result"] == {
        "resultType": "complete",
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "_meta": SERVER_META,
    }


def test_absent_arguments_of_a_tool_call_are_empty_ones():
    host = MemoryHost()

    ask(modern("tools/call", name="search_tools"), host)

    assert host.calls == [SearchCall()]


def test_retry_members_of_a_tool_call_are_ignored():
    host = MemoryHost()

    reply = ask(modern("tools/call", name="search_tools", inputResponses={"a": 1}, requestState="s"), host)

    assert (reply.status, host.calls) == (200, [SearchCall()])


def test_half_a_surrogate_pair_in_a_result_does_not_break_the_reply():
    host = MemoryHost(answer=ToolResult(text="a\ud83db"))

    result = content(ask(modern("tools/call", name="search_tools"), host))["result"]

    assert result["content"] == [{"type": "text", "text": "a?b"}]


@pytest.mark.parametrize("session", ["mcp-session-id", "last-event-id", "mcp-param-query"])
def test_headers_of_sessions_and_parameters_are_ignored(session):
    assert ask(modern("tools/list", headers={session: "s-1"})) == ask(modern("tools/list"))
