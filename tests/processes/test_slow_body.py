"""A client that sends half a body and waits: its own connection is all that it holds."""

import socket
from urllib.parse import urlsplit

import pytest

from tests.processes.conftest import SERVERS, Server
from tests.processes.test_replicas import generation


@pytest.mark.parametrize("name", SERVERS)
def test_body_that_stops_half_way_holds_up_no_other_caller(servers: dict[str, Server], name: str) -> None:
    server = servers[name]
    address = urlsplit(server.url)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Token alice-demo-token\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    slow = [socket.create_connection((address.hostname, address.port), timeout=60) for _ in range(4)]
    try:
        for connection in slow:
            connection.sendall(head.encode())

        assert generation(server) >= 1
    finally:
        for connection in slow:
            connection.close()
    assert generation(server) >= 1
