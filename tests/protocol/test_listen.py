"""protocol.md, section 6.5: what answers subscriptions/listen, and the frames of its stream."""

import json
from dataclasses import replace

import pytest

from sezzlee_mcp.protocol import STREAM_HEADERS, Inbound, Reply, Subscription, handle
from tests.protocol.exchanges import INFO, SERVER_META, MemoryHost, ask, content, legacy, modern, outcome

LISTENING = replace(INFO, listens=True)
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def listen(inbound: Inbound) -> Reply | Subscription:
    return handle(inbound, MemoryHost(), LISTENING)


def messages(frames: bytes) -> list[dict]:
    """The messages of a stream that is nothing but message events."""
    *events, rest = frames.decode().split("\n\n")
    assert rest == ""
    assert all(event.startswith("event: message\ndata: ") and event.count("\n") == 1 for event in events)
    return [json.loads(event.partition("data: ")[2]) for event in events]


def test_listening_server_says_that_it_tells_of_changes():
    capabilities = content(listen(modern("server/discover")))["result"]["capabilities"]

    assert capabilities == {"tools": {"listChanged": True}}


def test_listening_server_promises_nothing_to_a_2025_era_client():
    capabilities = content(listen(legacy("initialize", version=None, protocolVersion="2025-11-25")))["result"][
        "capabilities"
    ]

    assert capabilities == {"tools": {}}


def test_subscription_to_the_list_of_tools_has_these_frames():
    subscription = listen(modern("subscriptions/listen", notifications={"toolsListChanged": True}))

    assert messages(subscription.acknowledged() + subscription.changed() + subscription.ended()) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": {"toolsListChanged": True}, "_meta": {SUBSCRIPTION: "m-1"}},
        },
        {
            "jsonrpc": "2.0",
            "method": "notifications/tools/list_changed",
            "params": {"_meta": {SUBSCRIPTION: "m-1"}},
        },
        {
            "jsonrpc": "2.0",
            "id": "m-1",
            "result": {"resultType": "complete", "_meta": {SUBSCRIPTION: "m-1", **SERVER_META}},
        },
    ]


def test_subscription_keeps_the_type_of_its_id():
    inbound = modern("subscriptions/listen", notifications={"toolsListChanged": True})
    numbered = replace(inbound, body=inbound.body.replace(b'"m-1"', b"7"))

    (acknowledged,) = messages(listen(numbered).acknowledged())

    assert acknowledged["params"]["_meta"] == {SUBSCRIPTION: 7}


def test_kinds_that_never_happen_here_are_left_out_of_the_acknowledgement():
    asked = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["a://b"], "other": 1}

    (acknowledged,) = messages(listen(modern("subscriptions/listen", notifications=asked)).acknowledged())

    assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}


@pytest.mark.parametrize(
    "asked", [{}, {"toolsListChanged": False}, {"promptsListChanged": True, "resourceSubscriptions": ["a://b"]}]
)
def test_stream_that_could_only_be_silent_is_acknowledged_and_ended_at_once(asked):
    reply = listen(modern("subscriptions/listen", notifications=asked))

    assert (reply.status, reply.headers) == (200, STREAM_HEADERS)
    assert messages(reply.body) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": {}, "_meta": {SUBSCRIPTION: "m-1"}},
        },
        {
            "jsonrpc": "2.0",
            "id": "m-1",
            "result": {"resultType": "complete", "_meta": {SUBSCRIPTION: "m-1", **SERVER_META}},
        },
    ]


@pytest.mark.parametrize("sent", [{}, {"notifications": None}, {"notifications": ["toolsListChanged"]}])
def test_notifications_that_are_no_object_are_refused_as_json(sent):
    assert outcome(listen(modern("subscriptions/listen", **sent))) == (400, -32602, "m-1")


@pytest.mark.parametrize("value", [None, "true", 1])
def test_wish_that_is_neither_true_nor_false_is_refused(value):
    reply = listen(modern("subscriptions/listen", notifications={"toolsListChanged": value}))

    assert outcome(reply) == (400, -32602, "m-1")
    assert content(reply)["error"]["message"] == "Invalid params: notifications.toolsListChanged must be true or false."


def test_client_that_takes_no_event_stream_is_refused():
    inbound = modern(
        "subscriptions/listen", headers={"accept": "application/json"}, notifications={"toolsListChanged": True}
    )

    assert outcome(listen(inbound)) == (406, -32600, "m-1")


def test_one_stream_too_many_is_an_internal_error_before_any_frame():
    subscription = listen(modern("subscriptions/listen", notifications={"toolsListChanged": True}))

    reply = subscription.refused()

    assert outcome(reply) == (500, -32603, "m-1")
    assert content(reply)["error"]["message"] == (
        "Subscription limit reached: this server holds no more event streams open. Ask again later."
    )


def test_server_that_cannot_hold_streams_does_not_know_the_method():
    assert outcome(ask(modern("subscriptions/listen", notifications={"toolsListChanged": True}))) == (
        404,
        -32601,
        "m-1",
    )


def test_2025_era_client_cannot_listen():
    reply = listen(legacy("subscriptions/listen", notifications={"toolsListChanged": True}))

    assert outcome(reply) == (200, -32601, 4)
