"""
Every exception of the package, by who reads it.

SezzleeError
├── CallError        an agent: becomes an envelope with isError (results.md)
├── ProtocolError    an MCP client: becomes a JSON-RPC error (protocol.md, "Error codes")
├── PublishRefused   staff: an edit or a sync that would lose something (publishing.md)
├── FileUnreadable   staff: a file that is not what a command has to read
└── CurationRefused  staff: a file of curation that cannot be loaded
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


class SezzleeError(Exception):
    """The base of them all; never raised itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProblem:
    """One argument's problem; ``name`` is the agent's name for it, or None when it belongs to none."""

    name: str | None
    message: str

    def to_json(self) -> dict[str, Any]:
        named = {} if self.name is None else {"name": self.name}
        return {**named, "message": self.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """
    What the agent should do next, in a form that a program can follow (results.md, "Continuation").

    ``kind`` is call_tool, revise_arguments, retry, ask_user or give_up.
    """

    kind: str
    instruction: str
    tool: str | None = None
    arguments: Mapping[str, Any] | None = None
    after_seconds: int | None = None

    def to_json(self) -> dict[str, Any]:
        members = {
            "kind": self.kind,
            "tool": self.tool,
            "arguments": None if self.arguments is None else dict(self.arguments),
            "afterSeconds": self.after_seconds,
            "instruction": self.instruction,
        }
        return {key: value for key, value in members.items() if value is not None}


@dataclass(slots=True, kw_only=True)
class CallError(SezzleeError):
    """A meta-tool call that failed; its members are those of the failure envelope (results.md)."""

    code: str
    message: str
    retryable: bool = False
    status: int | None = None
    fields: tuple[FieldProblem, ...] = ()
    retry_after_seconds: int | None = None
    reference: str | None = None
    payload: Mapping[str, Any] | None = None
    continuation: Continuation | None = None

    def __post_init__(self) -> None:
        Exception.__init__(self, self.message)


@dataclass(slots=True, kw_only=True)
class ProtocolError(SezzleeError):
    """A request that the wire refuses; ``http_status`` is the modern era's (protocol.md, section 7)."""

    code: int
    message: str
    http_status: int
    data: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Exception.__init__(self, self.message)


class PublishRefused(SezzleeError):
    """A publish that was stopped before it wrote anything; the message says what it would have lost, or overwritten."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class FileUnreadable(SezzleeError):
    """A file that no export wrote; each of ``problems`` is a sentence that says what stands in it instead."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class CurationRefused(SezzleeError):
    """
    A file of curation that cannot hold here, of which nothing was written.

    Each of ``problems`` is a sentence, behind a JSON pointer into the file where it has a place there.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))
