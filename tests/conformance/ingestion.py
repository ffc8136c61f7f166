"""
Fixtures of kind openapi-ingestion: a document -> endpoints and diagnostics.

Not compared: base addresses (the host is the server), the credentials of an operation (``auth.carriers``: in process
the caller's own go along, operations.md) and messages. The corpus leaves out of a descriptor what is
the default there: an optional member that is empty, ``style`` and ``explode`` of anything but an array that has a
schema, a body that is required or JSON.
"""

import json
from typing import Any

from sezzlee_mcp.openapi import Body, Descriptor, Parameter, Response, lower


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    own = json.loads(json.dumps(fixture).replace("x-liaiso-", "x-sezzlee-"))
    given, expected = own["input"], own["expected"]
    lowered = lower(given["document"], body_required=given.get("options", {}).get("requestBodyRequired", "declared"))
    actual = {
        "endpoints": [{"key": item.key, "descriptor": _descriptor(item)} for item in lowered.descriptors],
        "diagnostics": [{"code": item.code, "at": item.pointer} for item in lowered.diagnostics],
    }
    return actual, {**expected, "endpoints": [_compared(endpoint) for endpoint in expected["endpoints"]]}


def not_built(fixture: dict[str, Any]) -> str | None:
    """Why a fixture of this kind need not pass, told by what it holds (operations.md, its start and "Parameters")."""
    given = fixture["input"]
    if "swagger" in given["document"]:
        return "Swagger 2.0 is not read"
    if "hoistPathPrefix" in given.get("options", {}):
        return "prefixes are not hoisted: the host is the server"
    if any(item["code"].startswith("server_") for item in fixture["expected"]["diagnostics"]):
        return "servers are not read: the host is the server"
    if any(
        _is_exploding_cookie(item) for endpoint in fixture["expected"]["endpoints"] for item in _parameters(endpoint)
    ):
        return "a cookie array that explodes is dropped here already, where its pointer is known"
    return None


def _parameters(endpoint: dict[str, Any]) -> list[dict[str, Any]]:
    return list(endpoint["descriptor"].get("parameters", ()))


def _is_exploding_cookie(parameter: dict[str, Any]) -> bool:
    return (parameter["in"], parameter["schema"].get("type"), parameter.get("explode")) == ("cookie", "array", True)


def _compared(endpoint: dict[str, Any]) -> dict[str, Any]:
    descriptor = endpoint["descriptor"]
    auth = {key: value for key, value in descriptor["auth"].items() if key != "carriers"}
    return {"key": endpoint["key"], "descriptor": {**descriptor, "auth": auth}}


def _descriptor(descriptor: Descriptor) -> dict[str, Any]:
    members = {
        "operationId": descriptor.operation_id,
        "container": descriptor.container,
        "method": descriptor.method,
        "route": descriptor.route,
        "description": descriptor.description,
        "deprecated": descriptor.deprecated,
        "parameters": [_parameter(item) for item in descriptor.parameters],
        "requestBody": descriptor.body and _body(descriptor.body),
        "responses": {item.status: _response(item) for item in descriptor.responses},
        "tags": list(descriptor.tags),
        "searchTerms": list(descriptor.search_terms),
        "auth": descriptor.auth.to_json(),
    }
    return {key: value for key, value in members.items() if value}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    written = {"style": parameter.style, "explode": parameter.explode}
    return {
        "name": parameter.name,
        "in": parameter.location,
        "required": parameter.required,
        "schema": parameter.schema,
        **(written if parameter.schema.get("type") == "array" and parameter.content_type is None else {}),
        **({} if parameter.content_type is None else {"contentType": parameter.content_type}),
        **({"allowReserved": True} if parameter.allow_reserved else {}),
        **({"description": parameter.description} if parameter.description else {}),
    }


def _body(body: Body) -> dict[str, Any]:
    return {
        "schema": body.schema,
        **({} if body.required else {"required": False}),
        **({} if body.content_type == "application/json" else {"contentType": body.content_type}),
    }


def _response(response: Response) -> dict[str, Any]:
    members = {"schema": response.schema, "description": response.description}
    return {key: value for key, value in members.items() if value is not None}
