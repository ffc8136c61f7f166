"""
An operation answers a call through invoke_tool as it answers the same request over plain HTTP.

The cases are schemathesis', from the demo's own document: values, and the HTTP request that it writes of them. The
values become the tool's arguments; both requests meet the same shop, as the same user.

What the document admits is sent both ways, all of it. What it does not admit may be no argument at all, or be refused
before anything is sent; then there is nothing to compare, and it is counted.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.settings import patched_settings

from sezzlee_mcp import snapshots
from sezzlee_mcp.catalog.curation import FillKind
from sezzlee_mcp.catalog.tools import Template
from sezzlee_mcp.testing import McpClient
from tests.django.conftest import TOKENS
from tests.django.generated import Case, generate

CASES_PER_TOOL = 12
USERS = ["alice", "admin", "carol", "bob"]
# Two rows made one after the other differ in these.
OWN = {"id", "created_at"}
# Values of the shop, by parameter or field: random ones alone would find nothing.
KNOWN: dict[str, dict[str, Any]] = {
    "ordering": {"enum": ["name", "-price", "created_at", "?"]},
    "product": {"enum": ["MUG-RED", "KET-STL", ""]},
    "search": {"enum": ["lamp", "a", "", "ü&=+"]},
    "sku": {"enum": ["MUG-RED", "CHR-OAK", "no such"]},
}
COUNTS = {"enum": ["MUG-RED 5\nCHR-OAK 7\n", "MUG-RED five", "no such 1", "\r\n", "ü\0"]}
ROWS = {"minimum": 0, "maximum": 9}
COMPARED = {"2xx", "4xx"}
NOT_SENT = {"inexpressible", "invalid_path_type", "invalid_type", "null_not_allowed", "unknown_argument"}


def test_call_is_answered_as_over_http(shop: None) -> None:
    templates = {name: snapshots.template_of(entry) for name, entry in snapshots.current().entries.items()}
    document = demo_document()
    cases = generate({name: narrowed(document, name, one) for name, one in templates.items()}, CASES_PER_TOOL)
    outcomes: Counter[tuple[bool, str]] = Counter()

    for name, template in templates.items():
        for index, case in enumerate(cases[name]):
            outcomes[case.is_valid, compare(name, template, case, USERS[index % len(USERS)])] += 1

    assert all(cases.values())
    assert {outcome for is_valid, outcome in outcomes if is_valid} == COMPARED
    assert {outcome for is_valid, outcome in outcomes if not is_valid} <= COMPARED | NOT_SENT
    # When this was written: 955 cases, of which 658 were compared, 475 of them valid; 149 calls succeeded.
    compared = sum(count for (_, outcome), count in outcomes.items() if outcome in COMPARED)
    assert compared > outcomes.total() / 2


def compare(tool: str, template: Template, case: Case, username: str) -> str:
    """Calls both ways and compares; gives the class of the status, or why the case was not sent."""
    headers = {"Authorization": f"Token {TOKENS[username]}"}
    try:
        arguments = arguments_of(template, case)
    except Inexpressible:
        return "inexpressible"
    with undone():
        envelope = McpClient(headers=headers).invoke(tool, arguments)
    if "status" not in envelope:
        return str(envelope["error"])
    with undone():
        sent = case.request
        answer = Client(headers=headers).generic(sent.method, sent.target, sent.body, sent.content_type)

    called = (tool, username, arguments)
    assert (*called, envelope["status"]) == (*called, answer.status_code)
    if answer.status_code < 400:
        assert (*called, without_own(envelope.get("body"))) == (*called, without_own(body_of(answer)))
        return "2xx"
    missing = set(reasons_in(answer.json())) - set(reasons_told(envelope))
    assert (*called, missing) == (*called, set())
    return "4xx"


class Inexpressible(Exception):
    """The values of a case have no place among the arguments of a tool."""


def arguments_of(template: Template, case: Case) -> dict[str, Any]:
    """The values of a case under the names by which an agent sends them; hidden ones are the tool's own."""
    arguments = {**case.path, **queried(template, case.query)}
    for name, constant in constants_of(template).items():
        if arguments.pop(name, None) != constant:  # what a tool sends of itself, no case sends otherwise
            raise Inexpressible
    if template.body is None or not case.media_type:
        return arguments
    body = sent_body(case)
    if template.body.argument is not None:
        return {**arguments, template.body.argument: as_argument(template.body.argument, body)}
    if not isinstance(body, dict) or not arguments.keys().isdisjoint(body):
        raise Inexpressible
    return arguments | {name: as_argument(name, value) for name, value in body.items()}


def sent_body(case: Case) -> Any:
    """The value of the body; of JSON as it was written, which some wrong ones are not."""
    if case.media_type != "application/json":
        return case.body
    try:
        return json.loads(case.request.body)
    except ValueError:
        raise Inexpressible from None


def queried(template: Template, query: dict[str, Any]) -> dict[str, Any]:
    """The values of a query, which schemathesis has flattened and written as texts in part."""
    types = {slot.name: slot.type for slot in template.slots if slot.location == "query"}
    values: dict[str, Any] = {}
    for key, value in query.items():
        group, _, member = key.partition("[")
        if types.get(group) == "object" and member.endswith("]"):
            values.setdefault(group, {})[member[:-1]] = value
        else:
            values[key] = {"true": True, "false": False}.get(value, value) if types.get(key) == "boolean" else value
    return values


def as_argument(name: str, value: Any) -> Any:
    """Bytes are a file, whose name is that of its field."""
    return {"base64": base64.b64encode(value).decode(), "name": name} if isinstance(value, bytes) else value


def demo_document() -> dict[str, Any]:
    """What the demo publishes, with a component for what is sent: in a shared one a file is an address."""
    with patched_settings({"COMPONENT_SPLIT_REQUEST": True}):
        document = SchemaGenerator().get_schema(request=None, public=True)
    plain: dict[str, Any] = json.loads(OpenApiJsonRenderer().render(document))
    return plain


def narrowed(document: dict[str, Any], tool: str, template: Template) -> dict[str, Any]:
    """
    The document of one operation as the tool sends it.

    A hidden argument has its constant, a family's member its body; of the body's media types those remain that are
    written; JSON has no file, no object a field that nothing declares, and nobody a credential.
    """
    own = json.loads(json.dumps(document))
    method = template.method.lower()
    operation = own["paths"][template.route][method]
    own["paths"] = {template.route: {method: operation}}
    operation.pop("security", None)
    own["components"].pop("securitySchemes", None)
    constants = constants_of(template)
    for parameter in operation.get("parameters", ()):
        name = parameter["name"]
        if name in constants:
            parameter |= {"schema": {"enum": [constants[name]]}, "required": True}
        parameter["schema"] = closed({"properties": {name: parameter["schema"]}})["properties"][name]
    if template.body is not None:
        operation["requestBody"] = narrowed_body(own, operation, tool, template)
    return own


def narrowed_body(document: dict[str, Any], operation: dict[str, Any], tool: str, template: Template) -> dict[str, Any]:
    assert template.body is not None
    variants = {variant["name"]: variant for variant in operation.get("x-sezzlee", {}).get("variants", ())}
    content = {}
    for media_type in filter(None, [template.body.content_type, template.body.file_content_type]):
        schema = variants.get(tool, {}).get("body") or operation["requestBody"]["content"][media_type]["schema"]
        schemas = document["components"]["schemas"]
        content[media_type] = {"schema": closed(schema, schemas, has_files=media_type != "application/json")}
    if "text/plain" in content:
        content["text/plain"]["schema"] = COUNTS
    return {"required": True, "content": content}


def closed(schema: Any, schemas: Any = None, *, has_files: bool = True) -> Any:
    """The schema without references, where objects have their declared fields alone, with values of the shop."""
    if isinstance(schema, list):
        return [closed(each, schemas, has_files=has_files) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return closed(schemas[schema["$ref"].rpartition("/")[2]], schemas, has_files=has_files)
    if schema.get("type") == "integer":
        return {**ROWS, **schema}
    made = {key: closed(value, schemas, has_files=has_files) for key, value in schema.items()}
    if "properties" in made:
        made["properties"] = {
            name: KNOWN.get(name, each) if each.get("type") == "string" else each
            for name, each in made["properties"].items()
            if not each.get("readOnly") and (has_files or each.get("format") != "binary")
        }
        made |= {"additionalProperties": False}
    return made


def constants_of(template: Template) -> dict[str, Any]:
    """The values of the hidden arguments."""
    fills = {slot.name: slot.exposed.fill for slot in template.slots if slot.exposed is not None}
    return {name: fill.value for name, fill in fills.items() if fill is not None and fill.kind is FillKind.CONSTANT}


class undone(transaction.Atomic):
    """A transaction whose changes are taken back, so that both calls meet the same shop."""

    def __init__(self) -> None:
        super().__init__(using=None, savepoint=True, durable=False)

    def __exit__(self, *raised: Any) -> None:
        transaction.set_rollback(True)
        super().__exit__(*raised)


def body_of(answer: Any) -> Any:
    kind = answer.get("Content-Type", "")
    if kind.startswith("application/json"):
        return answer.json()
    if kind.startswith("text/"):
        return answer.content.decode()
    # An answer without a byte has no body in the envelope.
    return {"base64": base64.b64encode(answer.content).decode()} if answer.content else None


def without_own(body: Any) -> Any:
    return {key: value for key, value in body.items() if key not in OWN} if isinstance(body, dict) else body


def reasons_in(errors: Any) -> Iterator[str]:
    """Each text of DRF's errors, however deep."""
    if isinstance(errors, str):
        yield errors
    for each in errors.values() if isinstance(errors, dict) else errors if isinstance(errors, list) else ():
        yield from reasons_in(each)


def reasons_told(envelope: dict[str, Any]) -> Iterator[str]:
    yield envelope["message"]
    for problem in envelope.get("fields", []):
        yield problem["message"]
