"""docs/security.md, "Threats": bytes that no client sends, to gunicorn and to uvicorn."""

import gzip
import http.client
import json
import re
import socket
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.processes.conftest import SERVERS, Server
from tests.processes.listening import MODERN, VERSION
from tests.processes.test_listen import threads
from tests.processes.test_replicas import generation

TOKEN = "Authorization: Token alice-demo-token"
JSON = "Content-Type: application/json"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, servers: dict[str, Server]) -> Server:
    return servers[request.param]


@pytest.fixture
def name(server: Server, servers: dict[str, Server]) -> str:
    return next(name for name, known in servers.items() if known is server)


def head(server: Server, *lines: str, host: str = "{own}", target: str = "/mcp", method: str = "POST") -> bytes:
    """The head of a request; ``{own}`` and ``{port}`` are the server's."""
    address = urlsplit(server.url)
    text = "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host}", *lines, "", ""])
    return text.replace("{own}", address.netloc).replace("{port}", str(address.port)).encode()


def request(server: Server, *lines: str, body: bytes = PING, **line: str) -> bytes:
    return head(server, *lines, f"Content-Length: {len(body)}", **line) + body


def exchange(server: Server, sent: bytes) -> bytes:
    """All that comes back until the server closes the connection."""
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(sent)
        received = b""
        while more := connection.recv(65536):
            received += more
        return received


def statuses(received: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]


def post(server: Server, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    sent = {"Content-Type": "application/json", "Authorization": "Token alice-demo-token", **headers}
    connection.request("POST", "/mcp", body, sent)
    response = connection.getresponse()
    status, answer = response.status, json.loads(response.read())
    connection.close()
    return status, answer


# -- bodies --


def ping_with(params: str) -> bytes:
    return PING[:-1] + f',"params":{params}}}'.encode()


def ping_beyond_limit() -> bytes:
    """By one byte: a server that leaves more unread closes the connection, and its answer may be lost with it."""
    rest = 4_194_305 - len(ping_with('{"a":""}'))
    return ping_with('{"a":"' + "x" * rest + '"}')


def refused_as_json(reason: str) -> tuple[int, str]:
    return 400, f"Parse error: the body is not the JSON of one message: {reason}."


NOT_UTF_8 = refused_as_json("it is not UTF-8")
TOO_LARGE = (413, "The body is larger than 4194304 bytes.")
BOMBS = {
    "deep lists": (
        ping_with('{"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
        refused_as_json("it is nested more than 100 levels deep"),
    ),
    "deep objects without an end": (b'{"a":' * 500_000, refused_as_json("it is nested more than 100 levels deep")),
    "a huge integer": (
        ping_with('{"a":' + "9" * 1_000_000 + "}"),
        refused_as_json("an integer has more than 300 digits"),
    ),
    "a huge exponent": (ping_with('{"a":1e999999}'), refused_as_json("a number is beyond the range of a double")),
    "half of a surrogate pair": (
        ping_with('{"a":"\\ud800"}'),
        refused_as_json("a text holds half of a surrogate pair"),
    ),
    "UTF-16": (PING.decode().encode("utf-16"), NOT_UTF_8),
    "a string beyond the limit": (ping_beyond_limit(), TOO_LARGE),
    "a compressed message": (gzip.compress(PING), NOT_UTF_8),
    "a compressed bomb": (gzip.compress(b"0" * 100_000_000, compresslevel=1), NOT_UTF_8),
    "nothing": (b"", refused_as_json("it is empty, as every body without a Content-Length is to a WSGI server")),
}


@pytest.mark.parametrize(("body", "refused"), BOMBS.values(), ids=BOMBS)
def test_bomb_is_refused_and_says_why(server: Server, body: bytes, refused: tuple[int, str]) -> None:
    encoding = {"Content-Encoding": "gzip"} if body.startswith(b"\x1f\x8b") else {}

    status, answer = post(server, body, **encoding)

    assert (status, answer["error"]["message"], "id" in answer) == (*refused, False)


def test_as_many_values_as_a_body_holds_are_read(server: Server) -> None:
    body = ping_with('{"a":[' + ",".join(["[]"] * 1_000_000) + "]}")

    assert post(server, body) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})


def test_last_of_equal_keys_is_the_one_that_is_checked_and_called(server: Server) -> None:
    inner = '{"name":"me","name":"audit_list","arguments":{},"arguments":{"page":1}}'
    body = (
        '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/call",'
        f'"params":{{"name":"load_tool","name":"invoke_tool","arguments":{inner}}}}}'
    )

    status, answer = post(server, body.encode())

    assert (status, answer["id"]) == (200, 2)
    assert json.loads(answer["result"]["content"][0]["text"])["error"] == "forbidden"  # audit_list, as alice


def test_chunked_body_is_read_where_the_server_passes_it_on(server: Server, name: str) -> None:
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(PING), PING)

    received = exchange(server, head(server, TOKEN, JSON, "Transfer-Encoding: chunked", "Connection: close") + chunks)

    assert statuses(received) == [{"gunicorn": 400, "uvicorn": 200}[name]]
    assert (b"without a Content-Length" in received) is (name == "gunicorn")


# -- bodies that never end --


def test_bodies_that_never_end_hold_no_thread_under_asgi(servers: dict[str, Server]) -> None:
    server = servers["uvicorn"]
    address = urlsplit(server.url)
    generation(server)
    before = threads(server)
    with ExitStack() as stack:
        for line in [TOKEN, "X-Nobody: 1"] * 50:
            slow = stack.enter_context(socket.create_connection((address.hostname, address.port), timeout=60))
            slow.sendall(head(server, line, JSON, "Content-Length: 100") + b"{")

        assert generation(server) >= 1
        assert threads(server) <= before + 1


# -- who is asked: Host, Origin, credentials --


OWN_ORIGIN = "Origin: http://{own}"
HOSTS_AND_ORIGINS = {
    "own host": ([], {}, 200),
    "own origin": ([OWN_ORIGIN], {}, 200),
    "host of somebody else": ([], {"host": "evil.example"}, 400),
    "rebound host, with the port": ([], {"host": "evil.example:{port}"}, 400),
    "rebound host, with the origin that a browser sends": (
        ["Origin: http://evil.example:{port}"],
        {"host": "evil.example:{port}"},
        400,
    ),
    "host with a user": ([], {"host": "127.0.0.1@evil.example"}, 400),
    "host in a header that no proxy of ours writes": (["X-Forwarded-Host: evil.example"], {}, 200),
    "origin that equals such a header": (["X-Forwarded-Host: evil.example", "Origin: http://evil.example"], {}, 403),
    "origin of somebody else": (["Origin: http://evil.example"], {}, 403),
    "origin on another port": (["Origin: http://127.0.0.1:1"], {}, 403),
    "origin under another scheme": (["Origin: https://{own}"], {}, 403),
    "origin with our host before it": (["Origin: http://{own}.evil.example"], {}, 403),
    "origin null": (["Origin: null"], {}, 403),
    "origin without a value": (["Origin: "], {}, 403),
    "two origins": ([OWN_ORIGIN, "Origin: http://evil.example"], {}, 403),
    "preflight": (
        ["Origin: http://evil.example", "Access-Control-Request-Method: POST"],
        {"method": "OPTIONS"},
        403,
    ),
}


@pytest.mark.parametrize(("lines", "line", "status"), HOSTS_AND_ORIGINS.values(), ids=HOSTS_AND_ORIGINS)
def test_host_and_origin_decide_before_the_token(
    server: Server, lines: list[str], line: dict[str, str], status: int
) -> None:
    received = exchange(server, request(server, TOKEN, JSON, "Connection: close", *lines, **line))

    assert statuses(received) == [status]
    assert b"access-control" not in received.lower()


CREDENTIALS = {
    "token in the query": ([], {"target": "/mcp?access_token=alice-demo-token"}, 400),
    "token in the query, encoded, beside the header": ([TOKEN], {"target": "/mcp?access%5Ftoken=x"}, 400),
    "two headers": ([TOKEN, "Authorization: Token admin-demo-token"], {}, 401),
    "header under another name": (["Authorization_: Token admin-demo-token"], {}, 401),
    "user of a proxy": (["Remote-User: admin", "Remote_User: admin", "X-Remote-User: admin"], {}, 401),
}


@pytest.mark.parametrize(("lines", "line", "status"), CREDENTIALS.values(), ids=CREDENTIALS)
def test_credentials_count_in_one_header_alone(
    server: Server, lines: list[str], line: dict[str, str], status: int
) -> None:
    received = exchange(server, request(server, JSON, "Connection: close", *lines, **line))

    assert statuses(received) == [status]


# -- one request inside another --


def test_body_that_nobody_read_is_never_taken_for_a_request(server: Server) -> None:
    hidden = request(server, TOKEN, JSON)
    refused = request(server, "Origin: null", JSON, body=hidden)
    honest = request(server, TOKEN, JSON, "Connection: close")

    assert statuses(exchange(server, refused + honest)) == [403, 200]


HIDDEN = b"0\r\n\r\nPOST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
FRAMINGS = {
    "two lengths": ["Content-Length: 90", "Content-Length: 5"],
    "a length with a sign": ["Content-Length: +90"],
    "a negative length": ["Content-Length: -1"],
    "two lengths in one": ["Content-Length: 90, 5"],
    "an unknown coding": ["Transfer-Encoding: xchunked"],
    "a coding with a blank before its colon": ["Transfer-Encoding : chunked"],
}


@pytest.mark.parametrize("lines", FRAMINGS.values(), ids=FRAMINGS)
def test_request_that_could_end_in_two_places_is_refused_and_so_is_what_follows(
    server: Server, lines: list[str]
) -> None:
    (status,) = statuses(exchange(server, head(server, TOKEN, JSON, *lines) + HIDDEN))

    assert status in (400, 501)


def test_request_behind_a_length_and_chunks_has_no_credentials_of_the_one_before(server: Server, name: str) -> None:
    lengths = [f"Content-Length: {len(HIDDEN)}", "Transfer-Encoding: chunked"]

    received = exchange(server, head(server, TOKEN, JSON, *lengths) + HIDDEN)

    # uvicorn reads chunks first when it parses with h11, and goes on behind them
    assert statuses(received) == {"gunicorn": [400], "uvicorn": [400, 401]}[name]


META = {VERSION: MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
LISTING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}).encode()
ROUTING = {
    "as they should be": (["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"], None),
    "with underscores": (["MCP_Protocol_Version: 2026-07-28", "Mcp_Method: tools/list"], -32020),
    "twice": (["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list", "Mcp-Method: tools/list"], -32020),
    "for another method": (["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: ping"], -32020),
}


@pytest.mark.parametrize(("lines", "code"), ROUTING.values(), ids=ROUTING)
def test_headers_that_a_proxy_routes_by_say_what_the_body_says(
    server: Server, lines: list[str], code: int | None
) -> None:
    received = exchange(server, request(server, TOKEN, JSON, "Connection: close", *lines, body=LISTING))

    answer = json.loads(received.partition(b"\r\n\r\n")[2])
    assert answer.get("error", {}).get("code") == code
