"""Canonical JSON, digests and JSON pointers: one spelling for everything that is compared or hashed."""

import hashlib
import json
import re
from typing import Any

# Made once: json.dumps makes an encoder for each call.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_UNORDERED = frozenset({"enum", "required", "type"})
_MEMORY_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def canonical_json(value: Any) -> bytes:
    """Sorted keys, no blanks, UTF-8: equal values give equal bytes in every process."""
    return _encode(value).encode()


def settled(value: Any) -> Any:
    """
    A copy of ``value`` without what differs between two processes.

    Lists that carry no order (``enum``, ``required`` and ``type``) are sorted and memory
    addresses are removed from texts: drf-spectacular takes both as it finds them (tools.md, "version").
    """
    if isinstance(value, dict):
        return {key: _settled_member(key, member) for key, member in value.items()}
    if isinstance(value, list):
        return [settled(item) for item in value]
    if isinstance(value, str):
        return _MEMORY_ADDRESS.sub("", value) if " at 0x" in value else value
    return value


def _settled_member(key: str, member: Any) -> Any:
    if key in _UNORDERED and isinstance(member, list):
        return sorted((settled(item) for item in member), key=canonical_json)
    return settled(member)


def digest(value: Any) -> str:
    """The SHA-256 of the settled value's canonical JSON, as 64 hex digits."""
    return hashlib.sha256(canonical_json(settled(value))).hexdigest()


def pointer(*tokens: str | int) -> str:
    """The RFC 6901 pointer that leads through ``tokens``; no tokens give the whole document, ``""``."""
    return "".join(f"/{str(token).replace('~', '~0').replace('/', '~1')}" for token in tokens)
