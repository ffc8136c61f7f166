"""An operation answers a call through invoke_tool as it answers the same request over plain HTTP."""

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.db import transaction
from django.http.response import HttpResponseBase
from hypothesis import HealthCheck, given
from hypothesis import settings as bounded
from hypothesis import strategies as st
from rest_framework.test import APIClient

from sezzlee_mcp.models import Operation
from sezzlee_mcp.openapi.descriptors import Descriptor
from sezzlee_mcp.testing import McpClient
from tests.django.conftest import TOKENS

READS = [
    "audit_list",
    "customers_list",
    "customers_retrieve",
    "documents_content_retrieve",
    "documents_list",
    "me",
    "notes_list",
    "notes_retrieve",
    "orders_invoice_retrieve",
    "orders_list",
    "orders_retrieve",
    "ping",
    "products_list",
    "products_retrieve",
    "reports_sales",
]
WRITES = [
    "customers_create",
    "customers_partial_update",
    "documents_create",
    "notes_create",
    "notes_partial_update",
    "orders_cancel_create",
    "orders_create",
    "orders_update",
    "products_create",
    "products_prices_update",
    "products_stk_adj",
]
# Two rows made one after the other differ in these.
OWN = {"id", "created_at"}
fuzzed = bounded(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["lamp", "a", "-name", "MUG-RED", "Lyon", "2026-11-10", "2026-13-40", "x@shop.example", "9.20", "0.00", "&=+%"]
)


def values_of(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of the schema's type, most of them wrong in some other way."""
    if "$ref" in schema:
        return values_of(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    if "anyOf" in schema or "oneOf" in schema:
        return st.one_of([values_of(each, definitions) for each in schema.get("anyOf") or schema["oneOf"]])
    types = schema.get("type", "string")
    known = st.sampled_from(schema["enum"]) if "enum" in schema else st.nothing()
    each = [types] if isinstance(types, str) else types
    return st.one_of(known, *(_of_type(name, schema, definitions) for name in each if name != "null" or len(each) == 1))


def _of_type(name: str, schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    if name == "object":
        return objects_of(schema, definitions)
    if name == "array":
        return st.lists(values_of(schema["items"], definitions), max_size=2)
    return {
        "string": TEXTS,
        "integer": st.integers(-1, 10),
        "number": st.integers(-1, 200) | st.floats(0, 200),
        "boolean": st.booleans(),
        "null": st.none(),
    }[name]


def objects_of(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with any of the properties: a required one may be missing, for the backend to say."""
    properties = {name: values_of(each, definitions) for name, each in schema.get("properties", {}).items()}
    return st.fixed_dictionaries({}, optional=properties)


def calls(schema: dict[str, Any], descriptor: Descriptor) -> st.SearchStrategy[dict[str, Any]]:
    properties = {name: values_of(each, schema.get("$defs", {})) for name, each in schema["properties"].items()}
    properties.pop("file", None)
    # A negative id has no route in this shop: a call says so before anything is sent, where HTTP has a bare 404.
    needed: dict[str, st.SearchStrategy[Any]] = {
        each.name: st.integers(0, 10) for each in descriptor.parameters if each.location == "path"
    }
    needed |= {"body": properties["body"]} if "body" in properties else {}
    optional = {name: values for name, values in properties.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=optional)


@pytest.mark.parametrize("name", [*READS, *WRITES])
def test_call_is_answered_as_over_http(shop: None, name: str) -> None:
    descriptor = Operation.objects.get(published_name=name).to_descriptor()
    schema = McpClient(headers=carrier("admin")).load(name)["inputSchema"]

    @fuzzed
    @given(st.sampled_from(["alice", "admin", "carol", "bob"]), calls(schema, descriptor))
    def check(username: str, arguments: dict[str, Any]) -> None:
        with undone():
            envelope = McpClient(headers=carrier(username)).invoke(name, arguments)
        with undone():
            answer = over_http(APIClient(headers=carrier(username)), descriptor, arguments)

        assert envelope["status"] == answer.status_code
        if answer.status_code < 400:
            assert without_own(envelope.get("body")) == without_own(body_of(answer))
        else:
            assert set(reasons_in(answer.json())) <= set(reasons_told(envelope))

    check()


def carrier(username: str) -> dict[str, str]:
    return {"Authorization": f"Token {TOKENS[username]}"}


class undone(transaction.Atomic):
    """A transaction whose changes are taken back, so that both calls meet the same shop."""

    def __init__(self) -> None:
        super().__init__(using=None, savepoint=True, durable=False)

    def __exit__(self, *raised: Any) -> None:
        transaction.set_rollback(True)
        super().__exit__(*raised)


def over_http(client: APIClient, descriptor: Descriptor, arguments: dict[str, Any]) -> HttpResponseBase:
    """The request as a client of the API writes it by hand."""
    left = dict(arguments)
    path = descriptor.route
    query: dict[str, Any] = {}
    for each in descriptor.parameters:
        if each.name not in left:
            continue
        value = left.pop(each.name)
        if each.location == "path":
            path = path.replace(f"{{{each.name}}}", quote(as_text(value), safe=""))
        else:
            query[each.name] = [as_text(item) for item in (value if isinstance(value, list) else [value])]
    body = json.dumps(left.get("body", left)) if descriptor.body else ""
    target = f"{path}?{urlencode(query, doseq=True)}"
    return client.generic(descriptor.method, target, body, "application/json" if descriptor.body else "")


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


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
