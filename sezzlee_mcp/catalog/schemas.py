"""Input and output schema of a tool (tools.md, "inputSchema" and "outputSchema")."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import Body, Descriptor, Parameter, Response

BODY_ARGUMENT = "body"

_SHAPE = frozenset({"type", "properties", "required", "additionalProperties", "$defs"})
_ANNOTATIONS = frozenset(
    {"description", "title", "$schema", "$comment", "example", "examples"}
    | {"default", "deprecated", "readOnly", "writeOnly"}
)
_PREFERRED_STATUSES = ("200", "201", "202", "204")


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyPlan:
    """How a body becomes arguments: its fields (``argument`` is None) or one argument that holds it whole, and why."""

    body: Body
    argument: str | None = None
    diagnostic: Diagnostic | None = None

    @property
    def root(self) -> dict[str, Any]:
        """The part of the body's schema that is the root of the arguments too: all of it, or nothing."""
        return self.body.schema if self.argument is None else {}


def plan_body(descriptor: Descriptor) -> BodyPlan | None:
    """The first reason that keeps the body whole, if any; decided on the wire names. None: there is no body."""
    body = descriptor.body
    if body is None:
        return None
    if "type" in body.schema and "object" not in types_of(body.schema):
        return _whole(body, "synthetic_body_argument", descriptor.key)
    reason = _obstacle(body.schema)
    if reason is not None:
        return _whole(body, "unflattenable_body_root", descriptor.key, reason=reason)
    if not body.required:
        return _whole(body, "optional_body_argument", descriptor.key)
    shared = [parameter.name for parameter in descriptor.parameters if parameter.name in _fields(body.schema)]
    if shared:
        return _whole(body, "body_field_collision", descriptor.key, names=", ".join(dict.fromkeys(shared)))
    return BodyPlan(body=body)


def input_schema(descriptor: Descriptor, plan: BodyPlan | None) -> dict[str, Any] | Diagnostic:
    """The flat object of all arguments, or what keeps them from being one."""
    arguments = [*map(_parameter_argument, descriptor.parameters), *_body_arguments(plan)]
    taken = _repeated(argument.name for argument in arguments)
    if taken is not None:
        return diagnose("argument_collision", operation=descriptor.key, name=taken)
    root = plan.root if plan else {}
    bags = [*(argument.definitions for argument in arguments), root.get("$defs", {})]
    conflict = _conflict(bags)
    if conflict is not None:
        return diagnose("schema_def_conflict", operation=descriptor.key, name=conflict)
    return {
        "type": "object",
        "properties": {argument.name: argument.schema for argument in arguments},
        "required": [argument.name for argument in arguments if argument.required],
        "additionalProperties": root.get("additionalProperties", False),
        **_merged(bags),
    }


def output_schema(responses: Iterable[Response]) -> dict[str, Any] | None:
    """The schema of the primary success answer, in an object; None when none is documented."""
    primary = _primary(responses)
    if primary is None or primary.status == "204" or primary.schema is None:
        return None
    if types_of(primary.schema) == ["object"]:
        return primary.schema
    result, definitions = _without_definitions(primary.schema)
    return {"type": "object", "properties": {"result": result}, "required": ["result"], **_merged([definitions])}


def _primary(responses: Iterable[Response]) -> Response | None:
    """200, 201, 202 or 204, else the lowest other success, else the range 2XX."""
    by_status = {response.status.upper(): response for response in responses if is_success(response)}
    others = sorted(status for status in by_status if status != "2XX")
    chosen = next((status for status in (*_PREFERRED_STATUSES, *others, "2XX") if status in by_status), None)
    return None if chosen is None else by_status[chosen]


def is_success(response: Response) -> bool:
    return response.status.startswith("2")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Argument:
    """One root property; ``definitions`` are the ``$defs`` that it brings."""

    name: str
    schema: dict[str, Any]
    required: bool
    definitions: dict[str, Any]


def _argument(name: str, schema: dict[str, Any], *, required: bool) -> _Argument:
    own, definitions = _without_definitions(schema)
    return _Argument(name=name, schema=own, required=required, definitions=definitions)


def _parameter_argument(parameter: Parameter) -> _Argument:
    schema = parameter.schema
    if parameter.description is not None and "description" not in schema:
        schema = {**schema, "description": parameter.description}
    return _argument(parameter.name, schema, required=parameter.required)


def _body_arguments(plan: BodyPlan | None) -> Iterator[_Argument]:
    if plan is None:
        return
    if plan.argument is not None:
        yield _argument(plan.argument, plan.body.schema, required=plan.body.required)
        return
    required = plan.root.get("required", [])
    for name, schema in _fields(plan.root).items():
        yield _Argument(name=name, schema=schema, required=name in required, definitions={})


def _without_definitions(schema: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema and its ``$defs`` apart; one with an ``$id`` resolves its references itself and keeps them."""
    if "$defs" not in schema or "$id" in schema:
        return schema, {}
    return {key: value for key, value in schema.items() if key != "$defs"}, schema["$defs"]


def _whole(body: Body, code: str, operation: str, **facts: str) -> BodyPlan:
    return BodyPlan(body=body, argument=BODY_ARGUMENT, diagnostic=diagnose(code, operation=operation, **facts))


def _fields(schema: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = schema.get("properties", {})
    return fields


def types_of(schema: dict[str, Any]) -> list[str]:
    """The types that a schema names, null aside."""
    said = schema.get("type", [])
    return [name for name in (said if isinstance(said, list) else [said]) if name != "null"]


def _obstacle(schema: dict[str, Any]) -> str | None:
    """What keeps the fields of an object from becoming arguments."""
    if schema.get("type", "object") != "object":
        return "it may be more than an object"
    foreign = sorted(key for key in schema if key not in _SHAPE | _ANNOTATIONS and not key.startswith("x-"))
    if foreign:
        return f"its root has {', '.join(foreign)}"
    if "properties" not in schema and schema.get("additionalProperties", False) is False:
        return "it declares no fields"
    return None


def _repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _conflict(bags: Iterable[dict[str, Any]]) -> str | None:
    """The first definition that two bags spell differently; the order of keys is nothing."""
    first: dict[str, Any] = {}
    for bag in bags:
        for name, schema in bag.items():
            if name in first and canonical_json(first[name]) != canonical_json(schema):
                return name
            first[name] = schema
    return None


def _merged(bags: Iterable[dict[str, Any]]) -> dict[str, Any]:
    definitions = {name: schema for bag in bags for name, schema in bag.items()}
    return {"$defs": dict(sorted(definitions.items()))} if definitions else {}
