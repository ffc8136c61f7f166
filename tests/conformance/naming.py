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
    descriptors, curation = named_from(fixture)
    return answer(name_operations(descriptors, curation), descriptors), fixture["expected"]


def named_from(fixture: dict[str, Any]) -> tuple[list[Descriptor], Curation]:
    """The operations of a fixture, whose names the code declares, and what the settings say."""
    given = fixture["input"]
    curation = Curation(
        prefix_mode=_MODES[given.get("prefixMode", "always")],
        prefixes=given.get("hostPrefixes", {}),
    )
    return [_descriptor(endpoint) for endpoint in given["endpoints"]], curation


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


def answer(naming: Naming, descriptors: list[Descriptor]) -> dict[str, Any]:
    """The names in the order of the operations, or the code of the first refusal."""
    refused = [found.code for found in naming.diagnostics if found.severity is Severity.DROPPED]
    if refused:
        return {"error": refused[0]}
    return {"names": [name for one in descriptors for name in _names(naming, one.key)]}


def _names(naming: Naming, key: str) -> tuple[str, ...]:
    return (naming.names[key].value,) if key in naming.names else naming.variants.get(key, ())
