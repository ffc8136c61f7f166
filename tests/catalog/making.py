"""Small descriptors and curations for the tests of the catalog."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sezzlee_mcp.catalog import Curation, OperationCuration
from sezzlee_mcp.diagnostics import Diagnostic
from sezzlee_mcp.openapi.descriptors import Body, Descriptor, Endpoint, Parameter

EVERYTHING = Curation(exposed_by_default=True)


def operation(
    method: str = "GET", route: str = "/orders/", operation_id: str | None = None, **facts: Any
) -> Descriptor:
    endpoint = Endpoint(path=route, route=route.lstrip("/"), view="shop.views.View")
    return Descriptor(method=method, route=route, operation_id=operation_id, **{"endpoint": endpoint, **facts})


def parameter(name: str, schema: dict[str, Any] | None = None, location: str = "query", **facts: Any) -> Parameter:
    style = "form" if location == "query" else "simple"
    written = {"style": style, "explode": style == "form", "required": location == "path", **facts}
    return Parameter(name=name, location=location, schema={"type": "string"} if schema is None else schema, **written)


def json_body(schema: dict[str, Any], *, required: bool = True) -> Body:
    return Body(schema=schema, required=required, content_type="application/json")


def staffed(key: str, curation: Curation = EVERYTHING, **choices: Any) -> Curation:
    """``curation`` with staff's choices for one more operation."""
    return replace(curation, operations={**curation.operations, key: OperationCuration(**choices)})


def codes(diagnostics: Iterable[Diagnostic]) -> list[tuple[str, str]]:
    """(operation, code), sorted."""
    return sorted((found.operation, found.code) for found in diagnostics)
