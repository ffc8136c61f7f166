"""protocol.md, section 3: each rung from 6 on, and which of two failures answers."""

import pytest

from sezzlee_mcp.protocol import Limits, handle, internal_error
from tests.protocol.exchanges import (
    CAPABILITIES,
    CLIENT_INFO,
    JSON_HEADERS,
    LOG_LEVEL,
    MODERN,
    VERSION,
    MemoryHost,
    ask,
    content,
    legacy,
    meta,
    modern,
    outcome,
    post,
)

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize(
    "content_type", [None, "", "text/plain", "application/jsonp", "application/x-www-form-urlencoded", "json"]
)
def test_other_content_type_answers_415(content_type):
    headers = {} if content_type is None else {"content-type": content_type}

    assert outcome(ask(post(PING, headers=headers))) == (415, -32600, "absent")


@pytest.mark.parametrize("content_type", ["application/json", "APPLICATION/JSON", " application/json ; charset=utf-8"])
def test_json_content_type_is_read_whatever_its_case_and_parameters(content_type):
    assert outcome(ask(post(PING, headers={"content-type": content_type}))) == (200, None, 1)


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (None, 200),
        ("", 200),
        ("*/*", 200),
        ("application/*", 200),
        ("application/json", 200),
        ("Application/JSON;q=0.1", 200),
        ("application/json;q=0.001", 200),
        ("text/event-stream, application/json", 200),
        ("text/html, */*;q=0.1", 200),
        ("*/*;q=0, application/json", 200),
        ("text/event-stream", 406),
        ("text/html, text/*", 406),
        ("application/json;q=0", 406),
        ("application/json; q=0.000, */*", 406),
        ("application/*;q=0, */*", 406),
        ("*/*;q=0", 406),
        ("nonsense", 406),
    ],
)
def test_only_an_accept_that_refuses_json_answers_406(accept, status):
    headers = {"content-type": "application/json", **({} if accept is None else {"accept": accept})}

    assert ask(post(PING, headers=headers)).status == status


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"{'jsonrpc': '2.0'}",
        b'{"jsonrpc": "2.0"} {}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
        '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
        b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":%s}}' % (b"9" * 301),
        b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % (b"9" * 5000),
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\\udfff":1}}',
        b"[" * 100_000,
        b"[" * 101 + b"]" * 101,
        b'{"a":' * 101 + b"1" + b"}" * 101,
    ],
    ids=lambda body: repr(body[:70]),
)
def test_what_is_not_strict_json_answers_parse_error(body):
    assert outcome(ask(post(body))) == (400, -32700, "absent")


def test_host_may_read_fewer_levels():
    host = MemoryHost(limits=Limits(levels=10))
    reply = ask(post(b"[" * 11 + b"]" * 11), host)

    assert outcome(ask(post(PING), host)) == (200, None, 1)
    assert content(reply)["error"] == {
        "code": -32700,
        "message": "Parse error: the body is not the JSON of one message: it is nested more than 10 levels deep.",
    }


def test_parse_error_says_why_and_repeats_nothing_of_the_body():
    reply = ask(post(b'{"secret": hunter2}'))

    assert content(reply) == {
        "jsonrpc": "2.0",
        "error": {
            "code": -32700,
            "message": "Parse error: the body is not the JSON of one message: "
            "Expecting value: line 1 column 12 (char 11).",
        },
    }


@pytest.mark.parametrize(
    "params",
    [
        b'{"x":%s}' % (b"9" * 300),
        b'{"x":"\\ud83d\\ude00"}',
        b'{"x":"\\\\ud800"}',
        b'{"x":' + b"[" * 98 + b"]" * 98 + b"}",
    ],
    ids=["long integer", "surrogate pair", "escaped backslash", "100 levels"],
)
def test_what_is_barely_json_is_read(params):
    assert outcome(ask(post(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":%s}' % params))) == (200, None, 1)


def test_last_of_two_equal_keys_counts():
    assert outcome(ask(post(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'))) == (200, None, 2)


@pytest.mark.parametrize(
    ("message", "echoed"),
    [
        ([], "absent"),
        ([PING], "absent"),
        ([PING, PING], "absent"),
        (None, "absent"),
        (True, "absent"),
        (7, "absent"),
        ("ping", "absent"),
        ({}, "absent"),
        ({"id": 5}, 5),
        ({"jsonrpc": "2.0", "id": 5}, 5),
        ({"id": 5, "method": "ping"}, 5),
        ({"jsonrpc": "1.0", "id": "a", "method": "ping"}, "a"),
        ({"jsonrpc": 2.0, "id": "a", "method": "ping"}, "a"),
        ({"jsonrpc": "2.0", "id": 5, "method": None}, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": 3}, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": None, "result": {}}, 5),
        ({"jsonrpc": "2.0", "id": 0, "method": "ping", "params": None}, 0),
        ({"jsonrpc": "2.0", "id": "", "method": "ping", "params": []}, ""),
        ({"jsonrpc": "2.0", "id": 5, "method": "ping", "params": "x"}, 5),
        ({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []}, "absent"),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, "absent"),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, "absent"),
        ({"jsonrpc": "2.0", "id": 1.0, "method": "ping"}, "absent"),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, "absent"),
        ({"jsonrpc": "2.0", "id": [1], "method": "ping"}, "absent"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("version", [None, "2025-11-25", MODERN])
def test_what_is_not_one_message_answers_invalid_request(message, echoed, version):
    headers = {**JSON_HEADERS, **({} if version is None else {"mcp-protocol-version": version})}

    assert outcome(ask(post(message, headers=headers))) == (400, -32600, echoed)


def test_invalid_request_names_the_kind_that_arrived():
    messages = [
        content(ask(post(document)))["error"]["message"]
        for document in ([PING], {**PING, "id": None}, {**PING, "params": [1]}, {**PING, "id": 1.5})
    ]

    assert messages == [
        "Invalid request: the body must be one JSON-RPC object, not an array.",
        "Invalid request: id must be a string or an integer, not null.",
        "Invalid request: params must be an object, not an array.",
        "Invalid request: id must be a string or an integer, not a number.",
    ]


@pytest.mark.parametrize(
    "response", [{"result": {}}, {"error": {"code": 1}}, {"id": None, "error": {}}, {"id": 3, "result": 1}]
)
@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (None, (202, None, "absent")),
        ("2025-03-26", (202, None, "absent")),
        (MODERN, (400, -32600, "absent")),
        ("2031-01-01", (400, -32600, "absent")),
    ],
)
def test_posted_response_is_ignored_in_the_legacy_era_and_refused_in_the_modern(response, version, expected):
    headers = {**JSON_HEADERS, **({} if version is None else {"mcp-protocol-version": version})}

    assert outcome(ask(post({"jsonrpc": "2.0", **response}, headers=headers))) == expected


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "tools/call", "x"])
@pytest.mark.parametrize("version", [None, "2025-11-25", "2025-06-18", "2025-03-26", MODERN, f" {MODERN}\t"])
def test_notification_is_accepted_and_dropped(method, version):
    headers = {**JSON_HEADERS, **({} if version is None else {"mcp-protocol-version": version})}
    host = MemoryHost()

    reply = ask(post({"jsonrpc": "2.0", "method": method, "params": {"name": "load_tool"}}, headers=headers), host)

    assert (reply.status, reply.headers, reply.body, host.calls) == (202, {}, None, [])


@pytest.mark.parametrize("version", ["2031-01-01", "2024-11-05", "garbage", ""])
def test_notification_of_an_unknown_version_names_those_that_are_served(version):
    headers = {**JSON_HEADERS, "mcp-protocol-version": version}

    reply = ask(post({"jsonrpc": "2.0", "method": "notifications/cancelled"}, headers=headers))

    assert reply.status == 400
    assert content(reply) == {
        "jsonrpc": "2.0",
        "error": {
            "code": -32022,
            "message": "Unsupported protocol version.",
            "data": {"supported": ["2026-07-28"], "requested": version},
        },
    }


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        (None, f"_meta must be an object with {VERSION} and {CAPABILITIES}"),
        ([], f"_meta must be an object with {VERSION} and {CAPABILITIES}"),
        ({}, f"_meta must hold {VERSION}, a string"),
        (meta(**{VERSION: 20260728}), f"_meta must hold {VERSION}, a string"),
        (meta(**{VERSION: None}), f"_meta must hold {VERSION}, a string"),
        ({VERSION: MODERN}, f"_meta must hold {CAPABILITIES}, an object"),
        (meta(**{CAPABILITIES: []}), f"_meta must hold {CAPABILITIES}, an object"),
        (meta(**{CLIENT_INFO: None}), f"{CLIENT_INFO} must be an object with name and version, both strings"),
        (meta(**{CLIENT_INFO: {"name": "x"}}), f"{CLIENT_INFO} must be an object with name and version, both strings"),
        (
            meta(**{CLIENT_INFO: {"name": "x", "version": 1}}),
            f"{CLIENT_INFO} must be an object with name and version, both strings",
        ),
        (
            meta(**{LOG_LEVEL: "verbose"}),
            f"{LOG_LEVEL} must be one of alert, critical, debug, emergency, error, info, notice, warning",
        ),
        (
            meta(**{LOG_LEVEL: ["info"]}),
            f"{LOG_LEVEL} must be one of alert, critical, debug, emergency, error, info, notice, warning",
        ),
    ],
)
def test_incomplete_meta_answers_invalid_params(claims, reason):
    reply = ask(modern("tools/list", _meta=claims))

    assert reply.status == 400
    assert content(reply) == {
        "jsonrpc": "2.0",
        "id": "m-1",
        "error": {"code": -32602, "message": f"Invalid params: {reason}."},
    }


@pytest.mark.parametrize(
    "claims",
    [
        meta(),
        meta(**{CLIENT_INFO: {"name": "x", "version": "1", "icons": 5}}),
        meta(**{LOG_LEVEL: "debug", "progressToken": 3, "traceparent": "00-1", "com.example/own": None}),
    ],
)
def test_complete_meta_is_served(claims):
    assert outcome(ask(modern("server/discover", _meta=claims))) == (200, None, "m-1")


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        (
            {"mcp-protocol-version": ""},
            f"MCP-Protocol-Version is missing; send it with the value of params._meta['{VERSION}']",
        ),
        (
            {"mcp-protocol-version": "2031-01-01"},
            f"MCP-Protocol-Version differs from params._meta['{VERSION}']; send the same value in both",
        ),
        (
            {"mcp-protocol-version": "2025-11-25"},
            f"MCP-Protocol-Version differs from params._meta['{VERSION}']; send the same value in both",
        ),
        (
            {"mcp-protocol-version": f"{MODERN},{MODERN}"},
            f"MCP-Protocol-Version differs from params._meta['{VERSION}']; send the same value in both",
        ),
        ({"mcp-method": ""}, "Mcp-Method is missing; send it with the value of method"),
        ({"mcp-method": "TOOLS/CALL"}, "Mcp-Method differs from method; send the same value in both"),
        ({"mcp-method": "tools/list"}, "Mcp-Method differs from method; send the same value in both"),
        ({"mcp-name": ""}, "Mcp-Name is missing; send it with the value of params.name"),
        ({"mcp-name": "Load_tool"}, "Mcp-Name differs from params.name; send the same value in both"),
        ({"mcp-name": "load_tool,load_tool"}, "Mcp-Name differs from params.name; send the same value in both"),
        ({"mcp-name": "=?base64?bG9hZF90b29sIQ==?="}, "Mcp-Name differs from params.name; send the same value in both"),
        ({"mcp-name": "=?base64?bG9hZF90b29s!?="}, "Mcp-Name is not the Base64 of UTF-8 text"),
    ],
)
def test_header_that_does_not_repeat_the_body_answers_header_mismatch(headers, message):
    reply = ask(modern("tools/call", name="load_tool", arguments={"name": "a"}, headers=headers))

    assert reply.status == 400
    assert content(reply) == {
        "jsonrpc": "2.0",
        "id": "m-1",
        "error": {"code": -32020, "message": f"Header mismatch: {message}."},
    }


@pytest.mark.parametrize("name", ["load_tool", "  load_tool\t", "=?base64?bG9hZF90b29s?=", " =?base64?bG9hZF90b29s?= "])
def test_header_may_be_padded_or_encoded(name):
    host = MemoryHost()

    reply = ask(modern("tools/call", name="load_tool", arguments={"name": "a"}, headers={"mcp-name": name}), host)

    assert (reply.status, len(host.calls)) == (200, 1)


def test_unknown_version_in_header_and_body_names_those_that_are_served():
    reply = ask(
        modern("tools/list", _meta=meta(**{VERSION: "2031-01-01"}), headers={"mcp-protocol-version": "2031-01-01"})
    )

    assert reply.status == 400
    assert content(reply) == {
        "jsonrpc": "2.0",
        "id": "m-1",
        "error": {
            "code": -32022,
            "message": "Unsupported protocol version.",
            "data": {"supported": ["2026-07-28"], "requested": "2031-01-01"},
        },
    }


@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "subscriptions/listen",
        "resources/list",
        "resources/subscribe",
        "prompts/list",
        "completion/complete",
        "tasks/get",
        "unknown/method",
        "Tools/list",
        "",
    ],
)
def test_method_that_is_not_served_answers_404(method):
    inbound = modern(method) if method else modern("x", headers={"mcp-method": "x"})

    assert outcome(ask(inbound)) == (404, -32601, "m-1")


def test_unknown_method_is_named_and_a_long_one_clipped():
    messages = [content(ask(modern(method)))["error"]["message"] for method in ("tasks/get", "y" * 500)]

    assert messages == ["Method not found: tasks/get", f"Method not found: {'y' * 80}…"]


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({}, "name must be a string"),
        ({"name": None}, "name must be a string"),
        ({"name": 3}, "name must be a string"),
        ({"name": "get_order"}, "unknown tool: get_order; call tools/list for the names"),
        ({"name": "Load_tool"}, "unknown tool: Load_tool; call tools/list for the names"),
        ({"name": ""}, "unknown tool: ; call tools/list for the names"),
        ({"name": "load_tool", "arguments": []}, "arguments must be an object, not an array"),
        ({"name": "load_tool", "arguments": "{}"}, "arguments must be an object, not a string"),
        ({"name": "load_tool", "arguments": None}, "arguments must be an object, not null"),
    ],
)
def test_wrong_params_of_a_tool_call_answer_invalid_params_in_both_eras(params, reason):
    error = {"code": -32602, "message": f"Invalid params: {reason}."}
    encoded = {"mcp-name": "=?base64??="} if params.get("name") == "" else {}

    replies = ask(modern("tools/call", headers=encoded, **params)), ask(legacy("tools/call", **params))

    assert [reply.status for reply in replies] == [400, 200]
    assert [content(reply) for reply in replies] == [
        {"jsonrpc": "2.0", "id": "m-1", "error": error},
        {"jsonrpc": "2.0", "id": 4, "error": error},
    ]


@pytest.mark.parametrize("cursor", ["", "page-2", 3])
def test_cursor_of_no_page_answers_invalid_params(cursor):
    assert outcome(ask(modern("tools/list", cursor=cursor))) == (400, -32602, "m-1")
    assert outcome(ask(legacy("tools/list", cursor=cursor))) == (200, -32602, 4)


@pytest.mark.parametrize(
    ("inbound", "expected"),
    [
        (post(b"{", headers={"content-type": "text/plain", "accept": "text/html"}), (415, -32600, "absent")),
        (post(b"{", headers={"content-type": "application/json", "accept": "text/html"}), (406, -32600, "absent")),
        (
            modern("x", _meta={}, headers={"mcp-protocol-version": ""}),
            (200, -32601, "m-1"),
        ),  # no claim, no header: legacy
        (modern("x", _meta={}), (400, -32602, "m-1")),
        (modern("x", _meta={VERSION: "2031-01-01"}, headers={"mcp-method": ""}), (400, -32602, "m-1")),
        (modern("x", headers={"mcp-protocol-version": "", "mcp-method": ""}), (400, -32020, "m-1")),
        (modern("x", _meta=meta(**{VERSION: "2031-01-01"})), (400, -32020, "m-1")),
        (
            modern(
                "x",
                _meta=meta(**{VERSION: "2031-01-01"}),
                headers={"mcp-protocol-version": "2031-01-01", "mcp-method": "y"},
            ),
            (400, -32020, "m-1"),
        ),
        (
            modern("x", _meta=meta(**{VERSION: "2031-01-01"}), headers={"mcp-protocol-version": "2031-01-01"}),
            (400, -32022, "m-1"),
        ),
        (modern("tools/call", name="nowhere", headers={"mcp-name": "load_tool"}), (400, -32020, "m-1")),
        (modern("tools/call", name=5, headers={"mcp-name": "load_tool"}), (400, -32602, "m-1")),
        (modern("tools/list", headers={"mcp-name": "ignored"}), (200, None, "m-1")),
    ],
)
def test_first_failure_on_the_ladder_answers(inbound, expected):
    assert outcome(ask(inbound)) == expected


def test_crash_of_the_host_passes_through_handle():
    with pytest.raises(ZeroDivisionError):
        handle(modern("tools/list"), MemoryHost(failure=ZeroDivisionError("secret")))


@pytest.mark.parametrize(
    ("inbound", "expected"),
    [
        (modern("tools/list"), (500, -32603, "m-1")),
        (legacy("tools/list"), (200, -32603, 4)),
        (post({"jsonrpc": "2.0", "method": "notifications/cancelled"}), (500, -32603, "absent")),
        (post([PING]), (500, -32603, "absent")),
        (post(b"\xff"), (500, -32603, "absent")),
    ],
)
def test_internal_error_echoes_the_id_and_nothing_of_the_crash(inbound, expected):
    reply = internal_error(inbound)

    assert outcome(reply) == expected
    assert content(reply)["error"] == {
        "code": -32603,
        "message": "Internal error: the server could not answer; it was logged.",
    }
