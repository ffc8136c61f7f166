"""Input and output schema of a tool (tools.md, "inputSchema" and "outputSchema")."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.catalog.arguments import Argument, separated
from sezzlee_mcp.catalog.bodies import BodyPlan
from sezzlee_mcp.catalog.shapes import types_of, used_definitions
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import Response

_PREFERRED_STATUSES = ("200", "201", "202", "204")


def input_schema(
    arguments: Iterable[Argument], plan: BodyPlan | None, *, operation: str
) -> dict[str, Any] | Diagnostic:
    """The flat object of all arguments that an agent sends, or what keeps them from being one."""
    arguments = tuple(arguments)
    visible = [argument for argument in arguments if not argument.is_hidden]
    root = plan.root if plan else {}
    bags: list[Mapping[str, Any]] = [argument.definitions for argument in visible if argument.owns_definitions]
    bags.append(_root_definitions(root, arguments))
    conflict = _conflict(bags)
    if conflict is not None:
        return diagnose("schema_def_conflict", operation=operation, name=conflict)
    return {
        "type": "object",
        "properties": {name: schema for argument in visible for name, schema in _properties(argument)},
        "required": [_agent_name(argument) for argument in visible if _is_required(argument)],
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
    result, definitions = separated(primary.schema)
    return {"type": "object", "properties": {"result": result}, "required": ["result"], **_merged([definitions])}


def _primary(responses: Iterable[Response]) -> Response | None:
    """200, 201, 202 or 204, else the lowest other success, else the range 2XX."""
    by_status = {response.status.upper(): response for response in responses if is_success(response)}
    others = sorted(status for status in by_status if status != "2XX")
    chosen = next((status for status in (*_PREFERRED_STATUSES, *others, "2XX") if status in by_status), None)
    return None if chosen is None else by_status[chosen]


def is_success(response: Response) -> bool:
    return response.status.startswith("2")


def _agent_name(argument: Argument) -> str:
    return argument.exposed.names[0] if argument.exposed else argument.name


def _is_required(argument: Argument) -> bool:
    """Never while an older name counts too: a call then sends one of the two (curation.md)."""
    return argument.required and not (argument.exposed and argument.exposed.aliases)


def _properties(argument: Argument) -> Iterator[tuple[str, Any]]:
    name = _agent_name(argument)
    yield name, argument.schema
    for alias in argument.exposed.aliases if argument.exposed else ():
        asked = argument.schema if isinstance(argument.schema, dict) else {}
        yield alias, {**asked, "description": f"The former name of {name}; send {name} instead.", "deprecated": True}


def _root_definitions(root: dict[str, Any], arguments: tuple[Argument, ...]) -> dict[str, Any]:
    """The body's definitions, without those that only its hidden fields lead to."""
    definitions: dict[str, Any] = root.get("$defs", {})
    fields = [argument for argument in arguments if not argument.owns_definitions]
    if not any(argument.is_hidden for argument in fields):
        return definitions
    kept = [argument.schema for argument in fields if not argument.is_hidden]
    return used_definitions([*kept, root.get("additionalProperties")], definitions)


def _conflict(bags: Iterable[Mapping[str, Any]]) -> str | None:
    """The first definition that two bags spell differently; the order of keys is nothing."""
    first: dict[str, Any] = {}
    for bag in bags:
        for name, schema in bag.items():
            known = first.setdefault(name, schema)
            if known is not schema and canonical_json(known) != canonical_json(schema):
                return name
    return None


def _merged(bags: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    definitions = {name: schema for bag in bags for name, schema in bag.items()}
    return {"$defs": dict(sorted(definitions.items()))} if definitions else {}
