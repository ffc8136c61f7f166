"""Bytes and headers -> JSON-RPC -> reply (protocol.md). Pure: imports neither Django nor DRF."""

from sezzlee_mcp.protocol.binding import InvokeCall, LoadCall, SearchCall
from sezzlee_mcp.protocol.exchange import Inbound, Reply, early_refusal, refusal, too_large
from sezzlee_mcp.protocol.headers import origin_allowed
from sezzlee_mcp.protocol.limits import Limits
from sezzlee_mcp.protocol.server import Host, ServerInfo, handle, internal_error
from sezzlee_mcp.protocol.subscriptions import KEEP_ALIVE, STREAM_HEADERS, Subscription
from sezzlee_mcp.protocol.traces import CallTrace

__all__ = [
    "KEEP_ALIVE",
    "STREAM_HEADERS",
    "CallTrace",
    "Host",
    "Inbound",
    "InvokeCall",
    "Limits",
    "LoadCall",
    "Reply",
    "SearchCall",
    "ServerInfo",
    "Subscription",
    "early_refusal",
    "handle",
    "internal_error",
    "origin_allowed",
    "refusal",
    "too_large",
]
