"""The behaviour hints of a tool (tools.md, "annotations")."""

from collections.abc import Mapping

from sezzlee_mcp.openapi.descriptors import Outline

_READS = {"readOnlyHint": True, "idempotentHint": True}
_HINTS: Mapping[str, Mapping[str, bool]] = {
    "GET": _READS,
    "HEAD": _READS,
    "OPTIONS": _READS,
    "QUERY": _READS,
    "POST": {"destructiveHint": False},
    "PUT": {"destructiveHint": True, "idempotentHint": True},
    "PATCH": {"destructiveHint": True},
    "DELETE": {"destructiveHint": True, "idempotentHint": True},
}


def method_hints(outline: Outline) -> dict[str, bool]:
    """The hints that follow from the method alone; hints that do not apply are absent."""
    is_extra_action = outline.endpoint is not None and outline.endpoint.is_extra_action
    if outline.method == "POST" and is_extra_action:
        return {}  # POST /orders/{id}/cancel/ may well destroy: "false" would invite approval without a look
    return dict(_HINTS.get(outline.method, {}))
