"""
Fixtures of kind naming: endpoints -> names in their order, or the code of the first refusal.

A collision is fatal there and drops operations here, so any refusal is the fixture's error.
"""

from typing import Any

from sezzlee_mcp.catalog.curation import Curation, PrefixMode
from sezzlee_mcp.catalog.names import Naming, name_operations
from sezzlee_mcp.diagnostics import Severity
from sezzlee_mcp.openapi.descriptors import Descriptor

_MODES = {"always": PrefixMode.ALWAYS, "onCollision": PrefixMode.ON_COLLISION, "never": PrefixMode.NEVER}


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given = fixture["input"]
    descriptors = [_descriptor(endpoint) for endpoint in given["endpoints"]]
    curation = Curation(
        prefix_mode=_MODES[given.get("prefixMode", "always")],
        prefixes=given.get("hostPrefixes", {}),
    )
    return _answer(name_operations(descriptors, curation), descriptors), fixture["expected"]


def _descriptor(endpoint: dict[str, Any]) -> Descriptor:
    declared = {
        "name": endpoint.get("toolName"),
        "prefix": endpoint.get("containerPrefix"),
        "variants": endpoint.get("variants"),
    }
    return Descriptor(
        method=endpoint["method"],
        route=endpoint["route"],
        operation_id=endpoint.get("operationId"),
        container=endpoint.get("container"),
        extension=declared,
    )


def _answer(naming: Naming, descriptors: list[Descriptor]) -> dict[str, Any]:
    refused = [found.code for found in naming.diagnostics if found.severity is Severity.DROPPED]
    if refused:
        return {"error": refused[0]}
    return {"names": [name for one in descriptors for name in _names(naming, one.key)]}


def _names(naming: Naming, key: str) -> tuple[str, ...]:
    return (naming.names[key].value,) if key in naming.names else naming.variants.get(key, ())
