"""Canonical JSON, digests and JSON pointers: one spelling for everything that is compared or hashed."""

import hashlib
import json
import re
from collections.abc import Callable
from json.encoder import encode_basestring as _quoted
from typing import Any

# Made once: json.dumps makes an encoder for each call.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_encode_in_order = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_UNORDERED = frozenset({"enum", "required", "type"})
_WORDS = {None: "null", True: "true", False: "false"}
_DEFINITIONS = "$defs"
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # as JSON writes it, and not the text of an escape
_MEMORY_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def canonical_json(value: Any) -> bytes:
    """Sorted keys, no blanks, UTF-8: equal values give equal bytes in every process."""
    return _encode(value).encode()


def digest(value: Any) -> str:
    """What a new ``Writer`` gives as the digest of the value."""
    return Writer().digest(value)


def holds_nul(written: str) -> bool:
    """Whether a text in this JSON holds a NUL character, which PostgreSQL does not store."""
    return "\\u0000" in written and _NUL.search(written) is not None  # the first alone is a hundred times faster


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Writer:
    """
    Writes JSON whose schemas share definitions: a member of ``$defs`` is written once, however many hold it.

    It knows a definition again by its identity, and keeps it alive for that. So a writer is for one run, in which
    nothing that it wrote is changed; a new one writes the same.
    """

    def __init__(self) -> None:
        self._settled = _Definitions(self.settled)
        self._ordered = _Definitions(_encode_in_order)

    def settled(self, value: Any) -> str:
        """
        The canonical JSON of ``value`` without what differs between two processes.

        Lists that carry no order (``enum``, ``required`` and ``type``) are sorted and memory
        addresses are removed from texts: drf-spectacular takes both as it finds them (tools.md, "version").
        """
        if isinstance(value, str):
            return _quoted(_MEMORY_ADDRESS.sub("", value) if " at 0x" in value else value)
        if isinstance(value, dict):
            return _object([f"{_quoted(key)}:{self._settled_member(key, value[key])}" for key in sorted(value)])
        if isinstance(value, list):
            return _array([self.settled(item) for item in value])
        return _scalar(value)

    def _settled_member(self, key: str, member: Any) -> str:
        if key == _DEFINITIONS and isinstance(member, dict):
            return _object([f"{_quoted(name)}:{self._settled.written(member[name])}" for name in sorted(member)])
        if key in _UNORDERED and isinstance(member, list):
            return _array(sorted([self.settled(item) for item in member]))
        return self.settled(member)

    def digest(self, value: Any) -> str:
        """The SHA-256 of the settled value, as 64 hex digits."""
        return sha256(self.settled(value))

    def in_order(self, value: Any) -> str:
        """The JSON of ``value`` as it stands, its keys in their own order."""
        if isinstance(value, dict):
            return _object([f"{_quoted(key)}:{self._member_in_order(key, member)}" for key, member in value.items()])
        if isinstance(value, list):
            return _array([self.in_order(item) for item in value])
        return _scalar(value)

    def _member_in_order(self, key: str, member: Any) -> str:
        if key == _DEFINITIONS and isinstance(member, dict):
            return _object([f"{_quoted(name)}:{self._ordered.written(schema)}" for name, schema in member.items()])
        # A schema's definitions stand beside its properties, not in them, and those are most of what there is.
        return _encode_in_order(member) if key == "properties" else self.in_order(member)


class _Definitions:
    """The texts of definitions by their identity."""

    def __init__(self, write: Callable[[Any], str]) -> None:
        self._write = write
        self._texts: dict[int, tuple[Any, str]] = {}  # each with its definition, so that no other gets its identity

    def written(self, definition: Any) -> str:
        known = self._texts.get(id(definition))
        if known is None:
            known = self._texts[id(definition)] = (definition, self._write(definition))
        return known[1]


def _scalar(value: Any) -> str:
    return _WORDS[value] if value is None or isinstance(value, bool) else _encode(value)


def _object(members: list[str]) -> str:
    return "{" + ",".join(members) + "}"


def _array(items: list[str]) -> str:
    return "[" + ",".join(items) + "]"


def stable(value: Any) -> Any:
    """
    The value as every process has it: keys sorted, and without what ``Writer.settled`` leaves out.

    The members of ``properties`` keep their order, since agents read it.
    """
    if isinstance(value, str):
        return _MEMORY_ADDRESS.sub("", value) if " at 0x" in value else value
    if isinstance(value, dict):
        return {key: _stable_member(key, value[key]) for key in sorted(value)}
    return [stable(item) for item in value] if isinstance(value, list) else value


def _stable_member(key: str, member: Any) -> Any:
    if key == "properties" and isinstance(member, dict):
        return {name: stable(schema) for name, schema in member.items()}
    if key in _UNORDERED and isinstance(member, list):
        return sorted([stable(item) for item in member], key=canonical_json)
    return stable(member)


def pointer(*tokens: str | int) -> str:
    """The RFC 6901 pointer that leads through ``tokens``; no tokens give the whole document, ``""``."""
    return "".join(f"/{str(token).replace('~', '~0').replace('/', '~1')}" for token in tokens)
