"""One POST -> a reply or a stream, in both eras, over the port that the shell fills (protocol.md, 3, 6 and 8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sezzlee_mcp import __version__
from sezzlee_mcp.errors import CallError, ProtocolError
from sezzlee_mcp.invoke.arguments import kind_of
from sezzlee_mcp.invoke.envelope import ToolResult
from sezzlee_mcp.protocol.binding import Call, InvokeCall, LoadCall, SearchCall, bind
from sezzlee_mcp.protocol.eras import (
    MODERN_VERSIONS,
    Era,
    era_of,
    is_legacy,
    negotiated_version,
    require_meta,
    require_modern,
)
from sezzlee_mcp.protocol.exchange import ACCEPTED, Inbound, Reply, error_reply, result_reply
from sezzlee_mcp.protocol.headers import VERSION_HEADER, header_value, require_json_exchange, require_matching_headers
from sezzlee_mcp.protocol.jsonrpc import (
    Code,
    Notification,
    PostedResponse,
    Request,
    clip,
    invalid_params,
    invalid_request,
    method_not_found,
    parse_body,
    read_message,
    readable_id,
)
from sezzlee_mcp.protocol.limits import Limits
from sezzlee_mcp.protocol.metatools import INSTRUCTIONS, MetaTool, definitions
from sezzlee_mcp.protocol.subscriptions import Subscription, subscribe
from sezzlee_mcp.protocol.traces import CallTrace

# Publishing moves the generation stamp of the definitions and nothing else in them, so a minute of age is harmless.
_CACHING = {"ttlMs": 60_000, "cacheScope": "private"}
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"


class Host(Protocol):
    """
    What the shell does for one caller, at one generation, and how much it reads of what the caller sends.

    ``search``, ``load`` and ``invoke`` may raise CallError; ``refuse`` makes the result of it. Any other
    exception is a bug, which ``handle`` lets pass. ``trace`` is told of each call of a meta-tool, once it is answered.
    """

    @property
    def limits(self) -> Limits: ...

    def generation(self) -> int: ...

    def search(self, call: SearchCall) -> ToolResult: ...

    def load(self, call: LoadCall) -> ToolResult: ...

    def invoke(self, call: InvokeCall) -> ToolResult: ...

    def refuse(self, error: CallError) -> ToolResult: ...

    def trace(self, trace: CallTrace) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """What a client and its agent are told about this server; ``listens`` says that it can hold streams open."""

    name: str = "sezzlee_mcp"
    title: str = "API operations"
    version: str = __version__
    instructions: str = INSTRUCTIONS
    listens: bool = False

    def to_json(self) -> dict[str, str]:
        return {"name": self.name, "title": self.title, "version": self.version}


_OWN_INFO = ServerInfo()


def handle(inbound: Inbound, host: Host, info: ServerInfo = _OWN_INFO) -> Reply | Subscription:
    """
    The reply to a POST from a known caller (rungs 6 to 20), or the event stream that answers it.

    What the client did wrong is part of the reply. An exception is a crash of the host's: the caller
    logs it and answers ``internal_error``.
    """
    try:
        require_json_exchange(inbound.headers)
        document = parse_body(inbound.body, host.limits.levels)
    except ProtocolError as error:
        return error_reply(error)
    try:
        return _reply_to_document(document, inbound.headers, host, info)
    except ProtocolError as error:
        return error_reply(error, readable_id(document))


def _reply_to_document(document: Any, headers: Mapping[str, str], host: Host, info: ServerInfo) -> Reply | Subscription:
    message = read_message(document)
    version = header_value(headers, VERSION_HEADER)
    match message:
        case Notification():
            if version is not None and not is_legacy(version):
                require_modern(version)
            return ACCEPTED
        case PostedResponse():
            if not is_legacy(version):
                raise invalid_request("a response was sent, and this server asks for none")
            return ACCEPTED
        case Request():
            if era_of(message, version) is Era.LEGACY:
                return _legacy_reply(message, host, info)
            return _modern_reply(message, headers, host, info)


def _modern_reply(request: Request, headers: Mapping[str, str], host: Host, info: ServerInfo) -> Reply | Subscription:
    require_meta(request.params)
    require_matching_headers(request, headers)
    require_modern(header_value(headers, VERSION_HEADER) or "")
    meta = {_SERVER_INFO: info.to_json()}
    if request.method == "subscriptions/listen" and info.listens:
        return subscribe(request, headers, meta)
    result = _modern_result(request, host, info)
    return result_reply(request.id, {"resultType": "complete", **result, "_meta": meta})


def _modern_result(request: Request, host: Host, info: ServerInfo) -> dict[str, Any]:
    match request.method:
        case "server/discover":
            return {**_discover(info), **_CACHING}
        case "tools/list":
            return {**_list_tools(request.params, host), **_CACHING}
        case "tools/call":
            return _call_tool(request.params, host)
    raise method_not_found(request.method)


def _legacy_reply(request: Request, host: Host, info: ServerInfo) -> Reply:
    try:
        return result_reply(request.id, _legacy_result(request, host, info))
    except ProtocolError as error:
        return error_reply(error, request.id, status=200)  # 2025-era clients lose the message of any other status


def _legacy_result(request: Request, host: Host, info: ServerInfo) -> dict[str, Any]:
    match request.method:
        case "initialize":
            return _initialize(request.params, info)
        case "ping":
            return {}
        case "tools/list":
            return _list_tools(request.params, host)
        case "tools/call":
            return _call_tool(request.params, host)
    raise method_not_found(request.method)


def _discover(info: ServerInfo) -> dict[str, Any]:
    return {
        "supportedVersions": list(MODERN_VERSIONS),
        "capabilities": {"tools": {"listChanged": True} if info.listens else {}},
        "instructions": info.instructions,
    }


def _initialize(params: Mapping[str, Any], info: ServerInfo) -> dict[str, Any]:
    return {
        "protocolVersion": negotiated_version(params),
        "capabilities": {"tools": {}},  # a change could not be told: there is no stream that a client may open
        "serverInfo": info.to_json(),
        "instructions": info.instructions,
    }


def _list_tools(params: Mapping[str, Any], host: Host) -> dict[str, Any]:
    if params.get("cursor") is not None:
        raise invalid_params("cursor is unknown; the list of tools has one page, so leave it out")
    return {"tools": definitions(host.generation())}


def _call_tool(params: Mapping[str, Any], host: Host) -> dict[str, Any]:
    tool, arguments = _read_tool_call(params)
    call, result = None, None
    try:
        call = bind(tool, arguments, host.limits)
        result = _dispatch(call, host)
    except CallError as error:
        result = host.refuse(error)
    finally:
        meta = params.get("_meta")
        told = meta if isinstance(meta, dict) else {}
        host.trace(CallTrace.of(tool, arguments, call=call, result=result, meta=told))
    failed = {"isError": True} if result.is_error else {}
    return {"content": [{"type": "text", "text": result.text}], **failed}


def _read_tool_call(params: Mapping[str, Any]) -> tuple[MetaTool, Mapping[str, Any]]:
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str):
        raise invalid_params("name must be a string")
    if not isinstance(arguments, dict):
        raise invalid_params(f"arguments must be an object, not {kind_of(arguments)}")
    if name not in set(MetaTool):
        raise invalid_params(f"unknown tool: {clip(name)}; call tools/list for the names")
    return MetaTool(name), arguments


def _dispatch(call: Call, host: Host) -> ToolResult:
    match call:
        case SearchCall():
            return host.search(call)
        case LoadCall():
            return host.load(call)
        case InvokeCall():
            return host.invoke(call)


def internal_error(inbound: Inbound) -> Reply:
    """The reply to a request whose handling crashed: nothing of the crash, and its id when it was readable."""
    message = "Internal error: the server could not answer; it was logged."
    error = ProtocolError(code=Code.INTERNAL_ERROR, message=message, http_status=500)
    try:
        request = read_message(parse_body(inbound.body))
    except ProtocolError:
        return error_reply(error)
    if not isinstance(request, Request):
        return error_reply(error)
    era = era_of(request, header_value(inbound.headers, VERSION_HEADER))
    return error_reply(error, request.id, status=200 if era is Era.LEGACY else None)
