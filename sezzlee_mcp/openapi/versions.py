"""Which OpenAPI a document is written in, and whether anything of it can be read at all."""

import re
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.canonical import canonical_json, pointer
from sezzlee_mcp.openapi.findings import Findings, kind

_READ_VERSION = re.compile(r"(3\.[012])(\.|$)")
# Whoever reads or writes deeper JSON recursively may exhaust the stack; real documents nest to about 30 levels.
MAX_JSON_LEVELS = 128
_PRUNED_LEVELS = 3  # the document, its paths (or components), one path (or kind of component): operations, components
_LEFT_OUT = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What differs between the versions for those who read the rest of a document."""

    ignores_ref_siblings: bool  # until 3.1 a Reference Object had no members but $ref
    has_query_method: bool  # 3.2 brought query and additionalOperations


def dialect_of(document: Any, findings: Findings) -> Dialect | None:
    """The document's dialect, or None with a fatal finding."""
    if not isinstance(document, dict):
        findings.add("document_invalid", "", reason=f"it is {kind(document)}")
        return None
    member = "swagger" if "swagger" in document and "openapi" not in document else "openapi"
    version = document.get(member)
    read = _READ_VERSION.match(version) if member == "openapi" and isinstance(version, str) else None
    if read is None:
        findings.add("openapi_version_unsupported", pointer(member), version="none" if version is None else version)
        return None
    if not isinstance(document.get("paths", {}), dict):
        findings.add("document_invalid", "/paths", reason=f"paths is {kind(document['paths'])}")
        return None
    return Dialect(ignores_ref_siblings=read[1] == "3.0", has_query_method=read[1] == "3.2")


def writable_part(document: Any, findings: Findings) -> Any:
    """
    The document without the operations and components that cannot be written as JSON text again.

    A document that was parsed from text can hold such things all the same: half a surrogate pair, NaN,
    a thousand nested lists.
    """
    part = _pruned(document, "", _PRUNED_LEVELS, findings)
    return None if part is _LEFT_OUT else part


def _pruned(value: Any, at: str, levels: int, findings: Findings) -> Any:
    reason = _unwritable(value)
    if reason is None:
        return value
    if levels == 0 or not isinstance(value, dict):
        findings.add("part_unwritable", at, reason=reason)
        return _LEFT_OUT
    members = {}
    for key, member in value.items():
        if _unwritable(key):
            findings.add("part_unwritable", at, reason="a name in it is no text")
        elif (kept := _pruned(member, at + pointer(key), levels - 1, findings)) is not _LEFT_OUT:
            members[key] = kept
    return members


def _unwritable(value: Any) -> str | None:
    if _is_deeper(value, MAX_JSON_LEVELS):
        return f"it is nested more than {MAX_JSON_LEVELS} levels deep"
    try:
        canonical_json(value)
    except UnicodeEncodeError:
        return "it holds half of a surrogate pair, which is no text"
    except ValueError:
        return "it holds a number that JSON cannot write"
    return None


def _is_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        level = [member for container in level for member in _nested(container)]
        if not level:
            return False
    return True


def _nested(value: Any) -> list[Any]:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [member for member in members if isinstance(member, dict | list)]
