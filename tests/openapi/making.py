"""Documents as small as a test needs, and what they lower to."""

from typing import Any

from sezzlee_mcp.openapi import Descriptor, Lowered, lower

OK = {"200": {"description": "ok"}}


def document(paths: Any, *, version: str = "3.0.3", **members: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {"title": "Shop", "version": "1"}, "paths": paths, **members}


def with_operation(operation: Any, *, path: str = "/items/", method: str = "get", **members: Any) -> dict[str, Any]:
    return document({path: {method: operation}}, **members)


def components(**schemas: Any) -> dict[str, Any]:
    return {"schemas": schemas}


def codes(lowered: Lowered) -> list[tuple[str, str]]:
    return [(item.code, item.pointer) for item in lowered.diagnostics]


def only(lowered: Lowered) -> Descriptor:
    [descriptor] = lowered.descriptors
    return descriptor


def lower_body(schema: Any, *, version: str = "3.0.3", required: Any = True, **schemas: Any) -> Lowered:
    body = {"required": required, "content": {"application/json": {"schema": schema}}}
    operation = {"requestBody": body, "responses": OK}
    return lower(with_operation(operation, method="post", version=version, components=components(**schemas)))


def body_schema(schema: Any, *, version: str = "3.0.3", **schemas: Any) -> Any:
    body = only(lower_body(schema, version=version, **schemas)).body
    assert body is not None
    return body.schema


def lower_response(schema: Any, *, version: str = "3.0.3", **schemas: Any) -> Lowered:
    responses = {"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}}
    return lower(with_operation({"responses": responses}, version=version, components=components(**schemas)))


def response_schema(schema: Any, *, version: str = "3.0.3", **schemas: Any) -> Any:
    return only(lower_response(schema, version=version, **schemas)).responses[0].schema


def lower_parameters(*parameters: Any, path: str = "/items/", **members: Any) -> Lowered:
    return lower(with_operation({"parameters": list(parameters), "responses": OK}, path=path, **members))
