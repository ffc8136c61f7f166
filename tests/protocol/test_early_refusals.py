"""protocol.md, section 3, rungs 2, 3 and 5: what is refused before anyone reads the body."""

import pytest

from sezzlee_mcp.protocol import Inbound, early_refusal, origin_allowed, refusal, too_large
from tests.protocol.exchanges import content

HOST = "https://api.depot.example"
ALLOWED = ("https://console.depot.example", "https://*.partner.example", "http://localhost:6274", "app://inspector")


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "https://api.depot.example",
        "https://api.depot.example:443",
        "HTTPS://API.depot.example",
        " https://api.depot.example\t",
        "https://console.depot.example",
        "https://eu.partner.example",
        "https://a.b.partner.example",
        "http://localhost:6274",
        "app://inspector",
    ],
)
def test_known_origin_passes(origin):
    assert origin_allowed(origin, host=HOST, allowed=ALLOWED)


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "*",
        "https://evil.example",
        "http://api.depot.example",
        "https://api.depot.example:8443",
        "https://api.depot.example.evil.example",
        "https://api.depot.example@evil.example",
        "https://api.depot.example/path",
        "https://api.depot.example, https://api.depot.example",
        "https://api.depot.example,https://api.depot.example",
        "https://partner.example",
        "https://evilpartner.example",
        "http://eu.partner.example",
        "https://eu.partner.example:8443",
        "http://localhost",
        "http://localhost:62740",
        "api.depot.example",
        "https://",
        "https://[",
        "https://api.depot.example:99999999",
    ],
)
def test_other_origin_is_refused(origin):
    assert not origin_allowed(origin, host=HOST, allowed=ALLOWED)


def test_malformed_allowed_entry_admits_nobody():
    assert not origin_allowed("null", host="", allowed=("null", "*", ""))


@pytest.mark.parametrize("host", ["http://127.0.0.1:8000", "http://[::1]:8000", "http://127.0.0.1"])
def test_own_address_is_an_allowed_origin(host):
    assert origin_allowed(host, host=host, allowed=())


def test_foreign_origin_answers_403_without_an_id():
    inbound = Inbound(method="POST", headers={"origin": "https://evil.example"})

    reply = early_refusal(inbound, host=HOST, allowed_origins=ALLOWED)

    assert reply is not None and reply.status == 403
    assert content(reply) == {
        "jsonrpc": "2.0",
        "error": {"code": -32600, "message": "Requests from this Origin are not served."},
    }


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "post"])
def test_other_methods_answer_405_with_allow(method):
    reply = early_refusal(Inbound(method=method, headers={}), host=HOST, allowed_origins=())

    assert reply is not None and reply.status == 405
    assert reply.headers == {"Content-Type": "application/json", "Allow": "POST"}
    assert content(reply) == {"jsonrpc": "2.0", "error": {"code": -32600, "message": "This endpoint takes POST only."}}


def test_origin_is_checked_before_the_method():
    reply = early_refusal(Inbound(method="GET", headers={"origin": "null"}), host=HOST, allowed_origins=())

    assert reply is not None and reply.status == 403


def test_post_without_origin_goes_on():
    assert early_refusal(Inbound(method="POST", headers={}), host=HOST, allowed_origins=()) is None


def test_too_large_names_the_limit():
    reply = too_large(4_194_304)

    assert reply.status == 413
    assert content(reply)["error"] == {"code": -32600, "message": "The body is larger than 4194304 bytes."}


def test_refusal_carries_the_headers_it_is_given():
    reply = refusal(401, -32600, "Sign in.", {"WWW-Authenticate": "Bearer"})

    assert reply.status == 401
    assert reply.headers == {"Content-Type": "application/json", "WWW-Authenticate": "Bearer"}
    assert content(reply) == {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Sign in."}}
