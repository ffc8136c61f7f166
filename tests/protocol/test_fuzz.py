"""Whatever arrives, ``handle`` answers with JSON-RPC or nothing, never with an exception."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from sezzlee_mcp.protocol import Inbound, internal_error
from tests.protocol.exchanges import CAPABILITIES, JSON_HEADERS, MODERN, VERSION, MemoryHost, ask

STATUSES = {200, 202, 400, 404, 406, 415}
CODES = {-32700, -32600, -32601, -32602, -32020, -32022}
HEADER_NAMES = ["content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "origin"]
METHODS = ["initialize", "ping", "server/discover", "tools/list", "tools/call", "subscriptions/listen", "x"]
TOOLS = ["load_tool", "search_tools", "invoke_tool", "get_crate"]
ARGUMENTS = ["name", "arguments", "version", "query", "limit", "detail", "tags", "id"]
VERSIONS = [MODERN, "2025-11-25", "2025-03-26", "2031-01-01"]

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20)
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


def mostly(known):
    """One of ``known``, and now and then any JSON value."""
    return st.sampled_from(known) | st.sampled_from(known) | documents


headers = st.dictionaries(
    st.sampled_from(HEADER_NAMES), st.sampled_from([*METHODS, *TOOLS, *VERSIONS, "=?base64?"]) | st.text(max_size=40)
)
near_messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": mostly(["2.0"]),
        "id": mostly([1, "a"]),
        "method": mostly(METHODS),
        "params": st.fixed_dictionaries(
            {},
            optional={
                "_meta": mostly([{VERSION: MODERN, CAPABILITIES: {}}]),
                "name": mostly(TOOLS),
                "arguments": st.dictionaries(st.sampled_from(ARGUMENTS), documents) | documents,
                "cursor": documents,
                "protocolVersion": mostly(VERSIONS),
            },
        )
        | documents,
        "result": documents,
    },
)


def assert_documented(reply, statuses):
    assert reply.status in statuses
    if reply.body is None:
        assert (reply.status, reply.headers) == (202, {})
        return
    message = json.loads(reply.body.decode())
    assert message["jsonrpc"] == "2.0"
    assert set(message) - {"id"} in ({"jsonrpc", "result"}, {"jsonrpc", "error"})
    assert isinstance(message.get("id", ""), str | int)
    assert ("error" not in message) or message["error"]["code"] in CODES | {-32603}


@given(body=st.binary(max_size=200), headers=headers)
def test_any_bytes_with_any_headers_are_answered(body, headers):
    assert_documented(ask(Inbound(method="POST", headers=headers, body=body)), STATUSES)


@given(document=documents | near_messages, headers=headers)
@settings(max_examples=300)
def test_any_json_is_answered(document, headers):
    body = json.dumps(document).encode()

    inbound = Inbound(method="POST", headers={**JSON_HEADERS, **headers}, body=body)

    assert_documented(ask(inbound), STATUSES)
    assert_documented(internal_error(inbound), {200, 500})


@given(
    identifier=st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    name=st.sampled_from(TOOLS[:3]),
    arguments=st.dictionaries(st.sampled_from(ARGUMENTS) | st.text(max_size=5), documents, max_size=4),
)
@settings(max_examples=200)
def test_any_arguments_of_a_meta_tool_are_answered_in_a_result(identifier, name, arguments):
    params = {"name": name, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}).encode()

    reply = ask(Inbound(method="POST", headers=JSON_HEADERS, body=body), MemoryHost())

    if reply.status == 200:
        message = json.loads(reply.body)
        assert (message["id"], set(message["result"]) - {"isError"}) == (identifier, {"content"})
    else:  # floats beyond JSON and half surrogate pairs
        assert json.loads(reply.body)["error"]["code"] == -32700
