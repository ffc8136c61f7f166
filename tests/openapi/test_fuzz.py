"""Whatever a document says: lower answers, and what it publishes is valid, complete and can be written."""

import json
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.openapi import Descriptor, Lowered, lower
from tests.openapi.walking import dangling

ITEM = {"$ref": "#/components/schemas/Item"}
SEED = {
    "openapi": "3.0.3",
    "security": [{"key": []}],
    "paths": {
        "/items/{id}/": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "get": {
                "operationId": "items_retrieve",
                "tags": ["items"],
                "x-sezzlee": {"searchTerms": ["stock"]},
                "parameters": [
                    {"name": "q", "in": "query", "style": "form", "explode": False, "schema": {"type": "array"}},
                    {"name": "sid", "in": "cookie", "schema": {"type": "string"}},
                    {"name": "lang", "in": "cookie", "schema": {"type": "string"}},
                    {"name": "all", "in": "header", "content": {"text/plain": {"schema": {"type": "string"}}}},
                ],
                "responses": {
                    "200": {
                        "description": "ok",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}},
                        "links": {"a": {}},
                    },
                    "404": {"$ref": "#/components/responses/Missing"},
                },
            },
            "put": {
                "x-sezzlee-endpoint": {
                    "path": "/api/items/{id}/",
                    "route": "api/items/<int:pk>/",
                    "view": "v",
                    "action": "update",
                    "isExtraAction": False,
                    "auth": {"anonymous": "no", "policies": ["a"], "imperative": False},
                },
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {"allOf": [{"$ref": "#/components/schemas/Item"}, {"title": "T"}]}
                        },
                        "multipart/form-data": {"schema": {"$ref": "#/components/schemas/Item"}},
                    },
                },
                "responses": {"200": {"description": "ok", "content": {"text/csv": {"schema": {"type": "string"}}}}},
            },
        }
    },
    "components": {
        "parameters": {"Id": {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}},
        "responses": {"Missing": {"description": "no", "content": {"*/*": {"schema": {"type": "object"}}}}},
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        "schemas": {
            "Item": {
                "type": "object",
                "required": ["id", "kind"],
                "properties": {
                    "id": {"type": "integer", "readOnly": True, "minimum": 0, "exclusiveMinimum": True},
                    "kind": {
                        "nullable": True,
                        "oneOf": [{"$ref": "#/components/schemas/Kind"}, {"$ref": "#/components/schemas/Blank"}],
                    },
                    "parent": {"allOf": [{"$ref": "#/components/schemas/Item"}], "nullable": True},
                    "secret": {"type": "string", "writeOnly": True, "format": "binary", "pattern": "^a"},
                    "link": {"oneOf": [{"type": "string", "format": "uri"}, {"type": "string", "maxLength": 0}]},
                },
                "additionalProperties": {"type": "number", "default": 1, "example": 2},
            },
            "Kind": {"type": "string", "enum": ["a", "b"], "x-id": 1},
            "Blank": {"enum": ["", None]},
        },
    },
}
NOTATIONS = st.sampled_from(["bracket", "drf"])
MEDIA_TYPES = st.sampled_from(
    ["application/json", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "image/png", "*/*"]
)
VERSIONS = st.sampled_from(["3.0.3", "3.1.0", "3.2.0"])
KEYWORDS = """$ref type enum properties items required allOf anyOf oneOf not const nullable readOnly writeOnly format
pattern minimum exclusiveMinimum example examples default additionalProperties patternProperties $defs
discriminator propertyName mapping contentMediaType"""
MEMBERS = """content schema parameters requestBody responses name in style explode application/json 200 x-sezzlee links
tags encoding contentType headers multipart/form-data text/plain */*"""
TEXTS = """#/components/schemas/Item #/components/schemas/Kind #/components/schemas/Blank #/paths #/nowhere other.json #
#/components/parameters/Id string object null binary query path ( ^a$ deepObject"""
KEYS = st.sampled_from(f"{KEYWORDS} {MEMBERS}".split()) | st.text(max_size=4)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(TEXTS.split())
    | st.text(alphabet=st.characters(exclude_categories=()), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, member in members for place in places(member, (*path, key)))]


PLACES = places(SEED)[1:]


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    document: Any = deepcopy(SEED)
    document["openapi"] = draw(VERSIONS)
    for _ in range(draw(st.integers(1, 4))):
        _mutate(document, draw(st.sampled_from(PLACES)), draw(st.sampled_from(["set", "add", "remove"])), draw)
    return document


def _mutate(document: Any, path: tuple[Any, ...], action: str, draw: st.DrawFn) -> None:
    owner = document
    for key in path[:-1]:
        if not (isinstance(owner, dict) and key in owner or isinstance(owner, list) and key in range(len(owner))):
            return
        owner = owner[key]
    if isinstance(owner, dict) and action == "add":
        owner[draw(KEYS)] = draw(JSON)
    elif isinstance(owner, dict) and action == "remove":
        owner.pop(path[-1], None)
    elif isinstance(owner, dict) or (isinstance(owner, list) and path[-1] in range(len(owner))):
        owner[path[-1]] = draw(JSON)


def check(lowered: Lowered) -> None:
    keys = [descriptor.key for descriptor in lowered.descriptors]
    assert len(set(keys)) == len(keys)
    canonical_json([[item.code, item.pointer, item.message, item.operation] for item in lowered.diagnostics])
    for descriptor in lowered.descriptors:
        assert Descriptor.from_json(json.loads(canonical_json(descriptor.to_json()))) == descriptor
        for schema in slots(descriptor):
            Draft202012Validator.check_schema(schema)
            assert dangling(schema) == set()


def slots(descriptor: Descriptor) -> list[dict[str, Any]]:
    return [
        *(parameter.schema for parameter in descriptor.parameters),
        *(response.schema for response in descriptor.responses if response.schema is not None),
        *([descriptor.body.schema] if descriptor.body else []),
    ]


@settings(max_examples=300)
@given(document=mutated(), notation=NOTATIONS)
def test_mutated_document_is_lowered(document: Any, notation: str) -> None:
    check(lower(document, body_required="always", notation=notation))


@settings(max_examples=150)
@given(document=JSON)
def test_any_json_is_taken(document: Any) -> None:
    check(lower(document))


@settings(max_examples=300)
@given(schema=JSON, encoding=JSON, version=VERSIONS, notation=NOTATIONS, media_types=st.lists(MEDIA_TYPES, max_size=3))
def test_any_schema_is_taken(schema: Any, encoding: Any, version: str, notation: str, media_types: list[str]) -> None:
    content = {"application/json": {"schema": schema}}
    fields = {"schema": {"type": "object", "properties": {"a": schema, "b": {"$ref": "#/components/schemas/Any"}}}}
    operation = {
        "parameters": [
            {"name": "q", "in": "query", "schema": schema},
            {"name": "c", "in": "cookie", "content": {"text/plain": {"schema": schema}}},
        ],
        "requestBody": {"content": dict.fromkeys(media_types, {**fields, "encoding": {"a": encoding}})},
        "responses": {"200": {"description": "ok", "content": content}},
    }
    whole = {"requestBody": {"content": dict.fromkeys(media_types, {"schema": schema, "encoding": encoding})}}
    schemas = {**SEED["components"]["schemas"], "Any": schema}
    paths = {"/a/": {"put": operation, "post": whole}}
    check(lower({"openapi": version, "paths": paths, "components": {"schemas": schemas}}, notation=notation))
