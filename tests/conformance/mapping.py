"""
Fixtures of kind argument-mapping: a template and arguments -> the request, or the code of the refusal.

Not built yet, and failed as such: curated arguments (fill, as), cookies, files, forms, ``content`` parameters,
``querystring`` parameters and the dot notation of grouped parameters.
"""

import json
from typing import Any

from sezzlee_mcp.catalog.tools import BodyTemplate, Member, Slot, Template
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke import ComposedRequest, compose

_STYLES = {"path": "simple", "query": "form", "header": "simple"}
_BUILT_TYPES = {"string", "integer", "number", "boolean", "object"}
_BUILT_INPUT = {"template", "arguments"}
_BUILT_TEMPLATE = {"method", "route", "parameters", "body", "bodyRoot", "contentType"}
_BUILT_PARAMETER = {"name", "in", "type", "array", "style", "explode", "members", "allowReserved"}
_BUILT_BODY = {"properties", "additionalProperties"}


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given, expected = fixture["input"], fixture["expected"]
    _require(given, _BUILT_INPUT)
    template = _template(given["template"])
    try:
        actual = _request(compose(template, given["arguments"]), with_type="contentType" in given["template"])
    except CallError as error:
        actual = {"error": error.code}
    return actual, expected


def _require(given: dict[str, Any], built: set[str]) -> None:
    if missing := sorted(set(given) - built):
        raise NotImplementedError(f"not built: {', '.join(missing)}")


def _template(given: dict[str, Any]) -> Template:
    _require(given, _BUILT_TEMPLATE)
    return Template(
        method=given["method"],
        route=given["route"],
        slots=tuple(_slot(parameter) for parameter in given.get("parameters", [])),
        body=_body(given),
    )


def _slot(given: dict[str, Any]) -> Slot:
    _require({key: value for key, value in given.items() if (key, value) != ("notation", "bracket")}, _BUILT_PARAMETER)
    if given["in"] not in _STYLES or given["type"] not in _BUILT_TYPES:
        raise NotImplementedError(f"not built: {given['type']} in {given['in']}")
    style = given.get("style", "deepObject" if given["type"] == "object" else _STYLES[given["in"]])
    return Slot(
        name=given["name"],
        location=given["in"],
        type=given["type"],
        is_array=given.get("array", False),
        required=given["in"] == "path",
        style=style,
        explode=given.get("explode", style in {"form", "deepObject"}),
        allow_reserved=given.get("allowReserved", False),
        members=tuple(Member.from_json(member) for member in given.get("members", [])),
    )


def _body(given: dict[str, Any]) -> BodyTemplate | None:
    content_type = given.get("contentType", "application/json")
    if "json" not in content_type:
        raise NotImplementedError(f"not built: {content_type}")
    if "bodyRoot" in given:
        return BodyTemplate(content_type=content_type, argument=given["bodyRoot"])
    if "body" not in given:
        return None
    _require(given["body"], _BUILT_BODY)
    return BodyTemplate(
        content_type=content_type,
        properties=tuple(given["body"]["properties"]),
        is_open=given["body"].get("additionalProperties", False),
    )


def _request(request: ComposedRequest, *, with_type: bool) -> dict[str, Any]:
    actual: dict[str, Any] = {"pathAndQuery": request.path + (f"?{request.query}" if request.query else "")}
    if request.headers:
        actual["headers"] = dict(request.headers)
    if request.body is not None:
        actual["bodyJson"] = json.loads(request.body)
        if with_type and request.content_type is not None:
            actual["contentType"] = request.content_type.partition(";")[0]
    return actual
