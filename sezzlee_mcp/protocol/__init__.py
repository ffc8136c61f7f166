"""Bytes and headers -> JSON-RPC -> reply (protocol.md). Pure: imports neither Django nor DRF."""

from sezzlee_mcp.protocol.binding import InvokeCall, LoadCall, SearchCall
from sezzlee_mcp.protocol.exchange import Inbound, Reply, early_refusal, refusal, too_large
from sezzlee_mcp.protocol.headers import origin_allowed
from sezzlee_mcp.protocol.server import Host, ServerInfo, handle, internal_error

__all__ = [
    "Host",
    "Inbound",
    "InvokeCall",
    "LoadCall",
    "Reply",
    "SearchCall",
    "ServerInfo",
    "early_refusal",
    "handle",
    "internal_error",
    "origin_allowed",
    "refusal",
    "too_large",
]
