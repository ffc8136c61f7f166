"""What one call of a meta-tool leaves for those who run the server: names and an outcome, never a value."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

from sezzlee_mcp.invoke.envelope import ToolResult
from sezzlee_mcp.protocol.binding import Call, InvokeCall
from sezzlee_mcp.protocol.jsonrpc import clip
from sezzlee_mcp.protocol.metatools import MetaTool

OK = "ok"
CRASHED = "internal_error"

_NAMES_AT_MOST = 50
_NAME_CHARS = 256  # no name of a tool or of an argument is longer
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTrace:
    """
    One call. ``tool`` is the operation's name as the agent wrote it, empty for a search; it may be no tool's name.

    ``arguments`` are names: of the operation when one was called, else of the meta-tool. ``outcome`` is "ok" or an
    error code, ``status`` the backend's when it answered. ``client`` is what the client says of itself, which nobody
    verified; ``traceparent`` is W3C's, empty when the client sent none or a malformed one.
    """

    meta_tool: str
    tool: str
    arguments: tuple[str, ...]
    outcome: str
    status: int | None
    size_bytes: int
    client: str
    traceparent: str

    @classmethod
    def of(
        cls,
        meta_tool: MetaTool,
        arguments: Mapping[str, Any],
        *,
        call: Call | None,
        result: ToolResult | None,
        meta: Mapping[str, Any],
    ) -> Self:
        """``call`` is None when the arguments made none, ``result`` when answering crashed."""
        named = call.arguments if isinstance(call, InvokeCall) else arguments
        tool = "" if meta_tool is MetaTool.SEARCH else arguments.get("name")
        return cls(
            meta_tool=meta_tool.value,
            tool=clip(tool, _NAME_CHARS) if isinstance(tool, str) else "",
            arguments=tuple(clip(name, _NAME_CHARS) for name in islice(named, _NAMES_AT_MOST)),
            outcome=(result.code or OK) if result else CRASHED,
            status=result.status if result else None,
            size_bytes=len(result.text.encode(errors="surrogatepass")) if result else 0,
            client=_client(meta.get(_CLIENT_INFO)),
            traceparent=_traceparent(meta.get("traceparent")),
        )


def _client(info: Any) -> str:
    if not isinstance(info, dict):
        return ""
    words = (info.get("name"), info.get("version"))
    return clip(" ".join(word for word in words if isinstance(word, str)), _NAME_CHARS)


def _traceparent(value: Any) -> str:
    return value if isinstance(value, str) and _TRACEPARENT.fullmatch(value) else ""
