"""Which protocol era serves a request, and what a modern one must carry (protocol.md, sections 2 and 5)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from sezzlee_mcp.errors import ProtocolError
from sezzlee_mcp.protocol.headers import VERSION_CLAIM
from sezzlee_mcp.protocol.jsonrpc import Code, Request, invalid_params

LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
MODERN_VERSIONS = ("2026-07-28",)

_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
_LOG_LEVELS = frozenset({"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"})


class Era(StrEnum):
    LEGACY = "legacy"  # 2025-11-25 and older: initialize, errors on HTTP 200
    MODERN = "modern"  # 2026-07-28: every request carries its version and capabilities


def era_of(request: Request, version: str | None) -> Era:
    """The era of a request whose version header says ``version``; the claim in its body comes first."""
    meta = request.params.get("_meta")
    is_claimed = isinstance(meta, dict) and VERSION_CLAIM in meta
    return Era.LEGACY if not is_claimed and is_legacy(version) else Era.MODERN


def is_legacy(version: str | None) -> bool:
    """Whether a version header, or its absence, is that of a 2025-era client."""
    return version is None or version in LEGACY_VERSIONS


def negotiated_version(params: Mapping[str, Any]) -> str:
    """The version that ``initialize`` answers: the one asked for when it is a legacy one, the newest of those else."""
    asked = params.get("protocolVersion")
    if not isinstance(asked, str):
        raise invalid_params("protocolVersion must be a string")
    return asked if asked in LEGACY_VERSIONS else LEGACY_VERSIONS[0]


def require_meta(params: Mapping[str, Any]) -> None:
    """Nothing, when ``params._meta`` says what every modern request must say; ProtocolError -32602 otherwise."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        raise invalid_params(f"_meta must be an object with {VERSION_CLAIM} and {_CAPABILITIES}")
    if not isinstance(meta.get(VERSION_CLAIM), str):
        raise invalid_params(f"_meta must hold {VERSION_CLAIM}, a string")
    if not isinstance(meta.get(_CAPABILITIES), dict):
        raise invalid_params(f"_meta must hold {_CAPABILITIES}, an object")
    if _CLIENT_INFO in meta and not _is_client_info(meta[_CLIENT_INFO]):
        raise invalid_params(f"{_CLIENT_INFO} must be an object with name and version, both strings")
    if _LOG_LEVEL in meta and not _is_log_level(meta[_LOG_LEVEL]):
        raise invalid_params(f"{_LOG_LEVEL} must be one of {', '.join(sorted(_LOG_LEVELS))}")


def _is_client_info(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("name", "version"))


def _is_log_level(value: Any) -> bool:
    return isinstance(value, str) and value in _LOG_LEVELS


def require_modern(version: str) -> None:
    """Nothing, when ``version`` is served in the modern era; ProtocolError -32022, which names those, otherwise."""
    if version not in MODERN_VERSIONS:
        raise ProtocolError(
            code=Code.UNSUPPORTED_PROTOCOL_VERSION,
            message="Unsupported protocol version.",
            http_status=400,
            data={"supported": list(MODERN_VERSIONS), "requested": version},
        )
