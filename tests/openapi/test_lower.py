"""The entry: versions, methods, what an operation says about itself, and whatever else a document may be."""

import json
from typing import Any

import pytest

from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.diagnostics import Severity
from sezzlee_mcp.openapi import AuthFacts, Descriptor, Endpoint, Lowered, Response, lower
from tests.openapi.making import OK, codes, document, only, with_operation

GET = "/paths/~1items~1/get"


@pytest.mark.parametrize("version", ["3.0.0", "3.0.3", "3.0", "3.1.0", "3.1.1", "3.2.0"])
def test_versions_3_0_to_3_2_are_read(version: str) -> None:
    assert only(lower(with_operation({"responses": OK}, version=version))).key == "GET /items/"


@pytest.mark.parametrize("version", ["4.0.0", "3.3.0", "3.10.0", "2.0", "3", "", "30.1", 3.0, None, [], "v3.0.0"])
def test_other_versions_are_fatal(version: Any) -> None:
    lowered = lower(with_operation({"responses": OK}, version=version))

    assert lowered.descriptors == ()
    assert codes(lowered) == [("openapi_version_unsupported", "/openapi")]
    assert lowered.diagnostics[0].severity is Severity.FATAL


def test_swagger_is_named_where_it_stands() -> None:
    lowered = lower({"swagger": "2.0", "paths": {}})

    assert codes(lowered) == [("openapi_version_unsupported", "/swagger")]
    assert "2.0" in lowered.diagnostics[0].message


@pytest.mark.parametrize("value", [None, True, 3, "openapi: 3.0.3", [], [{}]], ids=str)
def test_what_is_no_object_is_no_document(value: Any) -> None:
    assert codes(lower(value)) == [("document_invalid", "")]


@pytest.mark.parametrize("paths", [None, [], "x"], ids=str)
def test_paths_that_are_no_object_are_fatal(paths: Any) -> None:
    assert codes(lower(document(paths))) == [("document_invalid", "/paths")]


@pytest.mark.parametrize("members", [{"paths": {}}, {}], ids=str)
def test_document_without_operations_is_one(members: Any) -> None:
    assert lower({"openapi": "3.1.0", **members}) == Lowered(descriptors=(), diagnostics=())


def test_operation_is_carried_whole() -> None:
    marker = {"expose": True, "name": "list_items", "searchTerms": ["stock", " "], "own": [1]}
    operation = {
        "operationId": "items_list",
        "summary": "Items",
        "description": "Lists items.",
        "deprecated": True,
        "tags": ["shop", "items"],
        "x-sezzlee": marker,
        "x-other": 1,
        "responses": OK,
    }

    assert lower(with_operation(operation)) == Lowered(
        descriptors=(
            Descriptor(
                method="GET",
                route="/items/",
                operation_id="items_list",
                container="shop",
                summary="Items",
                description="Lists items.",
                deprecated=True,
                responses=(Response(status="200", description="ok"),),
                tags=("shop", "items"),
                search_terms=("stock",),
                extension=marker,
            ),
        ),
        diagnostics=(),
    )


def test_descriptor_survives_json() -> None:
    made = only(lower(with_operation({"tags": ["a"], "responses": OK}, method="post")))

    assert Descriptor.from_json(json.loads(canonical_json(made.to_json()))) == made


def test_methods_keep_the_order_of_the_document() -> None:
    item = {
        "summary": "Items",
        "patch": {},
        "head": {},
        "options": {},
        "delete": {},
        "put": {},
        "servers": [],
        "get": {},
        "x-note": {},
    }

    lowered = lower(document({"/b/": item, "/a/": {"post": {}}, "x-paths": {"get": {}}}))

    assert [made.key for made in lowered.descriptors] == [
        "PATCH /b/",
        "HEAD /b/",
        "OPTIONS /b/",
        "DELETE /b/",
        "PUT /b/",
        "GET /b/",
        "POST /a/",
    ]
    assert codes(lowered) == []


def test_trace_is_not_called() -> None:
    lowered = lower(document({"/items/": {"trace": {"responses": OK}, "get": {"responses": OK}}}))

    assert only(lowered).key == "GET /items/"
    assert [(item.code, item.pointer, item.operation) for item in lowered.diagnostics] == [
        ("unsupported_method", "/paths/~1items~1/trace", "TRACE /items/")
    ]


def test_query_and_additional_operations_come_with_3_2() -> None:
    item = {"query": {}, "additionalOperations": {"COPY": {}, "get": {}}, "get": {}}

    old, new = (lower(document({"/items/": item}, version=version)) for version in ("3.1.0", "3.2.0"))

    assert [made.key for made in old.descriptors] == ["GET /items/"]
    assert [made.key for made in new.descriptors] == ["QUERY /items/", "GET /items/"]
    assert codes(new) == [
        ("unsupported_method", "/paths/~1items~1/additionalOperations/COPY"),
        ("duplicate_operation", "/paths/~1items~1/additionalOperations/get"),
    ]


@pytest.mark.parametrize("operation", [None, [], "x", 3, True], ids=str)
def test_operation_that_is_no_object_costs_itself(operation: Any) -> None:
    lowered = lower(document({"/items/": {"get": operation, "put": {}}}))

    assert only(lowered).key == "PUT /items/"
    assert codes(lowered) == [("operation_invalid", GET)]


def test_path_that_is_no_object_costs_itself() -> None:
    lowered = lower(document({"/a/": None, "/b/": [], "/items/": {"get": {}}}))

    assert only(lowered).key == "GET /items/"
    assert codes(lowered) == [("operation_invalid", "/paths/~1a~1"), ("operation_invalid", "/paths/~1b~1")]


def test_webhooks_are_no_operations() -> None:
    lowered = lower({"openapi": "3.1.0", "webhooks": {"made": {"post": {}}}})

    assert codes(lowered) == [("webhooks_ignored", "/webhooks")]


@pytest.mark.parametrize("operation_id", ["123-list", "", "  ", "42", "---", "été"[:1], 7, [], "a" * 257])
def test_operation_id_that_gives_no_name_is_left_out(operation_id: Any) -> None:
    lowered = lower(with_operation({"operationId": operation_id, "responses": OK}))

    assert only(lowered).operation_id is None
    assert codes(lowered) == [("operation_id_unusable", f"{GET}/operationId")]


@pytest.mark.parametrize("operation_id", ["List an Organization's Parts", "_list", "docs.json_get", "A", "a" * 256])
def test_other_operation_ids_stay_as_they_are(operation_id: str) -> None:
    assert only(lower(with_operation({"operationId": operation_id}))).operation_id == operation_id


@pytest.mark.parametrize(
    ("members", "at"),
    [
        ({"x-sezzlee-search-terms": "stock"}, "/x-sezzlee-search-terms"),
        ({"x-sezzlee-search-terms": ["stock", 3]}, "/x-sezzlee-search-terms"),
        ({"x-sezzlee": {"searchTerms": {"a": 1}}, "x-sezzlee-search-terms": ["b"]}, "/x-sezzlee/searchTerms"),
    ],
    ids=str,
)
def test_malformed_search_terms_are_ignored_whole(members: Any, at: str) -> None:
    lowered = lower(with_operation(members))

    assert only(lowered).search_terms == ()
    assert codes(lowered) == [("search_terms_invalid", GET + at)]


def test_search_terms_may_stand_under_a_key_of_their_own() -> None:
    assert only(lower(with_operation({"x-sezzlee-search-terms": ["sipariş", " ", "a b"]}))).search_terms == (
        "sipariş",
        "a b",
    )


@pytest.mark.parametrize("tags", ["shop", ["shop", None], {"shop": 1}], ids=str)
def test_malformed_tags_are_ignored_whole(tags: Any) -> None:
    lowered = lower(with_operation({"tags": tags}))

    assert (only(lowered).tags, only(lowered).container) == ((), None)
    assert codes(lowered) == [("tags_invalid", f"{GET}/tags")]


def test_malformed_extension_is_ignored() -> None:
    lowered = lower(with_operation({"x-sezzlee": ["expose"]}))

    assert only(lowered).extension is None
    assert codes(lowered) == [("extension_invalid", f"{GET}/x-sezzlee")]


ENDPOINT = Endpoint(
    path="/api/items/{id}/",
    route="api/items/<int:pk>/",
    view="shop.views.ItemViewSet",
    action="retrieve",
    is_extra_action=True,
    auth=AuthFacts(anonymous="no", policies=("shop.view_item",), imperative=True),
)


def test_endpoint_gives_the_route_that_the_document_trimmed() -> None:
    operation = {
        "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}],
        "x-sezzlee-endpoint": ENDPOINT.to_json(),
    }

    lowered = lower(with_operation(operation, path="/items/{id}/"))

    made = only(lowered)
    assert (made.key, made.endpoint, made.auth) == ("GET /api/items/{id}/", ENDPOINT, ENDPOINT.auth)
    assert [parameter.schema for parameter in made.parameters] == [{"type": "integer"}]
    assert codes(lowered) == []


def test_diagnostics_of_a_trimmed_operation_carry_its_real_key() -> None:
    operation = {"x-sezzlee-endpoint": ENDPOINT.to_json(), "tags": 3}

    lowered = lower(with_operation(operation, path="/items/{id}/"))

    assert {item.operation for item in lowered.diagnostics} == {"GET /api/items/{id}/"}


@pytest.mark.parametrize(
    "value",
    [
        None,
        "x",
        {},
        {**ENDPOINT.to_json(), "path": 3},
        {**ENDPOINT.to_json(), "isExtraAction": 1},
        {**ENDPOINT.to_json(), "auth": {"anonymous": "no"}},
        {**ENDPOINT.to_json(), "auth": {"anonymous": "no", "policies": [1], "imperative": False}},
    ],
    ids=str,
)
def test_malformed_endpoint_is_none(value: Any) -> None:
    lowered = lower(with_operation({"x-sezzlee-endpoint": value}))

    assert (only(lowered).endpoint, only(lowered).key) == (None, "GET /items/")
    assert codes(lowered) == [("extension_invalid", f"{GET}/x-sezzlee-endpoint")]


def test_two_entries_for_one_endpoint_give_one_operation() -> None:
    operation = {"x-sezzlee-endpoint": ENDPOINT.to_json(), "parameters": [{"name": "id", "in": "path", "schema": {}}]}

    lowered = lower(document({"/a/{id}/": {"get": operation}, "/b/{id}/": {"get": operation}}))

    assert only(lowered).key == "GET /api/items/{id}/"
    assert codes(lowered) == [("duplicate_operation", "/paths/~1b~1{id}~1/get")]


def nested(levels: int, keyword: str = "not") -> Any:
    schema: Any = {}
    for _ in range(levels):
        schema = {keyword: schema}
    return schema


HALF = json.loads(r'"\ud800"')


@pytest.mark.parametrize(
    "value",
    [HALF, {HALF: 1}, float("nan"), float("inf"), 10**5_000, nested(5_000), nested(200)],
    ids=["surrogate", "name", "nan", "infinity", "huge", "deep", "deeper than a schema is"],
)
@pytest.mark.parametrize("place", ["operation", "component", "info"])
def test_value_that_is_no_json_text_costs_what_it_stands_in(value: Any, place: str) -> None:
    operation = {"responses": OK, **({"x-sezzlee": {"note": value}} if place == "operation" else {})}
    made = document(
        {"/items/": {"get": operation, "put": {"responses": OK}}},
        components={"schemas": {"Bad": {"enum": [value]} if place == "component" else {}}},
        **{"x-info": {"note": value} if place == "info" else {}},
    )

    lowered = lower(made)

    kept = ["PUT /items/"] if place == "operation" else ["GET /items/", "PUT /items/"]
    assert [descriptor.key for descriptor in lowered.descriptors] == kept
    assert {item.code for item in lowered.diagnostics} == {"part_unwritable"}
    for descriptor in lowered.descriptors:
        canonical_json(descriptor.to_json())
    for item in lowered.diagnostics:
        canonical_json([item.code, item.pointer, item.message, item.operation])


@pytest.mark.parametrize("keyword", ["not", "items", "additionalProperties"])
def test_schema_as_deep_as_a_document_may_be_is_lowered(keyword: str) -> None:
    operation = {"requestBody": {"content": {"application/json": {"schema": nested(118, keyword)}}}}

    lowered = lower(with_operation(operation, method="post"))

    assert codes(lowered) == []
    body = only(lowered).body
    assert body is not None and body.schema == nested(118, keyword)


def test_same_document_gives_the_same_result_and_stays_as_it_was() -> None:
    made = with_operation(
        {"parameters": [{"name": "q", "in": "query", "schema": {"type": "string", "nullable": True, "example": "a"}}]}
    )
    before = canonical_json(made)

    assert lower(made) == lower(made)
    assert canonical_json(made) == before
