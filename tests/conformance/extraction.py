"""
Fixtures of kind metadata-extraction: one descriptor -> its tool, or the code that drops it.

The fixtures of argument curation, variants, families, forms, files, cookies and content parameters, and those
that check what lowering already refuses, fail until their step: a descriptor here cannot say what they say.
"""

from typing import Any

from sezzlee_mcp.catalog.compile import compile_catalog
from sezzlee_mcp.catalog.curation import Curation
from sezzlee_mcp.catalog.tools import Tool
from sezzlee_mcp.diagnostics import Severity
from sezzlee_mcp.openapi.descriptors import AuthFacts, Body, Descriptor, Endpoint, Parameter, Response

_STYLES = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    descriptor = _descriptor(fixture["input"])
    candidate = compile_catalog([descriptor], Curation(exposed_by_default=True))
    if candidate.tools:
        return _extracted(candidate.tools[0]), fixture["expected"]
    refused = [found.code for found in candidate.diagnostics if found.severity is Severity.DROPPED]
    return {"error": refused[0]}, fixture["expected"]


def _extracted(tool: Tool) -> dict[str, Any]:
    shape = {key: value for key, value in tool.loaded.items() if key != "version"}
    return {**shape, "auth": tool.auth.to_json()}


def _descriptor(given: dict[str, Any]) -> Descriptor:
    return Descriptor(
        method=given["method"],
        route=given["route"],
        operation_id=given.get("operationId"),
        container=given.get("container"),
        description=given.get("description"),
        deprecated=given.get("deprecated", False),
        parameters=tuple(_parameter(parameter) for parameter in given.get("parameters", ())),
        body=_body(given["requestBody"]) if "requestBody" in given else None,
        responses=tuple(_response(status, said) for status, said in given.get("responses", {}).items()),
        tags=tuple(given.get("tags", ())),
        search_terms=tuple(given.get("searchTerms", ())),
        extension={"annotations": given.get("annotations")},
        endpoint=Endpoint(path=given["route"], route=given["route"], view="", auth=AuthFacts.from_json(given["auth"])),
    )


def _parameter(given: dict[str, Any]) -> Parameter:
    style = given.get("style", _STYLES.get(given["in"], "form"))
    return Parameter(
        name=given["name"],
        location=given["in"],
        required=given["required"],
        schema=given["schema"],
        style=style,
        explode=given.get("explode", style == "form"),
        allow_reserved=given.get("allowReserved", False),
        description=given.get("description"),
    )


def _body(given: dict[str, Any]) -> Body:
    return Body(
        schema=given["schema"],
        required=given.get("required", True),
        content_type=given.get("contentType", "application/json"),
    )


def _response(status: str, given: dict[str, Any]) -> Response:
    return Response(status=status, schema=given.get("schema"), description=given.get("description"))
