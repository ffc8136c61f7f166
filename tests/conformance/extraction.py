"""
Fixtures of kind metadata-extraction: one descriptor -> its tools, or the code that drops it.

A descriptor there may say what lowering refuses here, so it goes through lowering as a document first. ``carriers`` are
its security schemes; the auth facts of a Django host have no such member. An argument's texts that we write
ourselves, those of a file, are compared by presence.
"""

from typing import Any

from sezzlee_mcp.catalog.compile import compile_catalog
from sezzlee_mcp.catalog.curation import ArgumentRecord, Curation, Fill, FillKind, OperationCuration, Variant
from sezzlee_mcp.catalog.tools import Tool
from sezzlee_mcp.diagnostics import Diagnostic, Severity
from sezzlee_mcp.openapi import AuthFacts, Body, Descriptor, Endpoint, Parameter, Response, lower

_STYLES = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
_CARRIED = "credential_parameter_ignored"  # a parameter that a security scheme of the document claims


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given, expected = fixture["input"], _comparable(fixture["expected"])
    if refused := _lowering_refusals(given):
        return {"error": refused[0]}, expected
    candidate = compile_catalog(*compiled_from(fixture))
    if refused := _dropped(candidate.diagnostics):
        return {"error": refused[0]}, expected
    tools = {tool.name: _comparable(_extracted(tool)) for tool in candidate.tools}
    if "variants" not in given:
        return next(iter(tools.values())), expected
    return {"tools": [tools[variant["name"]] for variant in given["variants"]]}, expected


def compiled_from(fixture: dict[str, Any]) -> tuple[list[Descriptor], Curation]:
    """The descriptor of a fixture and what is said of it, as a compile reads them."""
    given = fixture["input"]
    descriptor = _descriptor(given)
    curation = Curation(
        exposed_by_default=True,
        operations={descriptor.key: _curation(given)},
        fill_sources=frozenset(_fill_sources(given)),
        resolves_files="files" in fixture or "files" in given,
    )
    return [descriptor], curation


def _dropped(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [found.code for found in diagnostics if found.severity is Severity.DROPPED]


def _extracted(tool: Tool) -> dict[str, Any]:
    shape = {key: value for key, value in tool.loaded.items() if key != "version"}
    return {**shape, "auth": tool.auth.to_json()}


def _comparable(value: Any) -> Any:
    """The texts of a file argument as mere presence, and no carriers."""
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {key: _comparable(member) for key, member in value.items() if key != "carriers"}
    properties = members.get("properties")
    if isinstance(properties, dict) and {"text", "base64", "mediaType"} <= properties.keys():
        members["properties"] = {
            name: {**one, "description": bool(one["description"])} for name, one in properties.items()
        }
    return members


def _lowering_refusals(given: dict[str, Any]) -> list[str]:
    """What lowering drops the same operation for; references mean nothing, for they are those of a descriptor."""
    document = {"openapi": "3.1.0", "info": {"title": "", "version": ""}, **_security(given)}
    item = {given["method"].lower(): _operation(given)}
    document["paths"] = {given["route"]: item}
    found = lower(document).diagnostics
    dropped = [code for code in _dropped(found) if code not in {"unresolved_ref", "unsupported_method"}]
    carried = ["identity_carrier_parameter" for one in found if one.code == _CARRIED]
    return [*dropped, *carried]


def _security(given: dict[str, Any]) -> dict[str, Any]:
    carriers = given["auth"].get("carriers", [])
    schemes = {f"carrier{index}": {"type": "apiKey", **carrier} for index, carrier in enumerate(carriers)}
    return {"components": {"securitySchemes": schemes}, "security": [{name: [] for name in schemes}]}


def _operation(given: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {"parameters": [_declared(one) for one in given.get("parameters", ())]}
    if "requestBody" in given:
        body = given["requestBody"]
        content = {body.get("contentType", "application/json"): {"schema": body["schema"]}}
        operation["requestBody"] = {"required": body.get("required", True), "content": content}
    return operation


def _declared(given: dict[str, Any]) -> dict[str, Any]:
    facts = {key: value for key, value in given.items() if key not in {"schema", "contentType"}}
    if "contentType" in given:
        return {**facts, "content": {given["contentType"]: {"schema": given["schema"]}}}
    return {**facts, "schema": given["schema"]}


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
        content_type=given.get("contentType"),
        description=given.get("description"),
    )


def _body(given: dict[str, Any]) -> Body:
    return Body(
        schema=given["schema"],
        required=given.get("required", True),
        content_type=given.get("contentType", "application/json"),
        notation=given.get("objectNotation", "bracket"),
    )


def _response(status: str, given: dict[str, Any]) -> Response:
    return Response(status=status, schema=given.get("schema"), description=given.get("description"))


def _curation(given: dict[str, Any]) -> OperationCuration:
    return OperationCuration(
        arguments=_records(given),
        variants=tuple(_variant(variant) for variant in given.get("variants", ())),
        family_parameter=given.get("family", {}).get("parameter"),
    )


def _variant(given: dict[str, Any]) -> Variant:
    body = given.get("requestBody", {})
    return Variant(
        name=given["name"],
        description=given["description"],
        arguments=_records(given),
        body=body.get("schema"),
        body_required=body.get("required", True),
        annotations=given.get("annotations", {}),
    )


def _records(given: dict[str, Any]) -> tuple[ArgumentRecord, ...]:
    return tuple(
        ArgumentRecord(
            name=record["name"],
            agent_name=record.get("as"),
            description=record.get("description"),
            fill=_fill(record["hidden"]) if "hidden" in record else None,
        )
        for record in given.get("arguments", ())
    )


def _fill(given: dict[str, Any]) -> Fill:
    return Fill(kind=FillKind(given["kind"]), value=given.get("value"), source=given.get("source"))


def _fill_sources(given: dict[str, Any]) -> list[str]:
    """The providers that the fixture names: there, all of them are registered."""
    records = [record for one in (given, *given.get("variants", ())) for record in one.get("arguments", ())]
    return [record["hidden"]["source"] for record in records if "source" in record.get("hidden", {})]
