import hashlib
import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.canonical import canonical_json, digest
from sezzlee_mcp.catalog import (
    Candidate,
    Curation,
    Name,
    OperationCuration,
    PrefixMode,
    SearchDocument,
    SelectionRule,
    Source,
    Template,
    Tool,
    compile_catalog,
)
from sezzlee_mcp.catalog.compile import COMPILER
from sezzlee_mcp.openapi.descriptors import AuthFacts, Descriptor, Endpoint, Outline, Response
from tests.catalog.making import EVERYTHING, codes, json_body, operation, parameter, staffed

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
RETRIEVE = operation(
    "GET",
    "/orders/{id}/",
    "orders_retrieve",
    container="orders",
    summary="One order",
    description="Fetches one order.",
    tags=("orders",),
    search_terms=("purchase",),
    parameters=(
        parameter("id", INTEGER, "path", description="The order's number."),
        parameter(
            "filter",
            {"type": "object", "properties": {"status": {"type": "string", "description": "deeper"}}},
            style="deepObject",
        ),
    ),
    responses=(Response(status="200", schema={"type": "object"}, media_types=("application/json",)),),
    endpoint=Endpoint(
        path="/orders/{id}/",
        route="orders/<int:pk>/",
        view="shop.Orders",
        auth=AuthFacts(anonymous="no", policies=("perm:shop.view_order",)),
    ),
)
CREATE = operation(
    "POST",
    "/orders/",
    "orders_create",
    body=json_body({"type": "object", "properties": {"item": {"type": "string", "description": "What to send."}}}),
)
IMPORT = operation("POST", "/orders/import/", "orders_import", body=json_body({"type": "array", "items": INTEGER}))
BROKEN = operation("GET", "/x/{id}/", "broken", parameters=(parameter("id", location="path"), parameter("id")))


def only(candidate: Candidate) -> Tool:
    (tool,) = candidate.tools
    return tool


def known(candidate: Candidate) -> dict[str, Tool]:
    return {tool.input_digest: tool for tool in candidate.tools}


def test_operation_becomes_a_tool() -> None:
    candidate = compile_catalog([RETRIEVE], EVERYTHING)
    tool = only(candidate)
    loaded = {
        "name": "orders_retrieve",
        "description": "Fetches one order.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "integer", "description": "The order's number."},
                "filter": {
                    "type": "object",
                    "properties": {"status": {"type": "string", "description": "deeper"}},
                },
            },
            "required": ["id"],
            "additionalProperties": False,
        },
        "outputSchema": {"type": "object"},
        "annotations": {"title": "One order", "readOnlyHint": True, "idempotentHint": True},
    }
    canonical = json.dumps(loaded, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert tool.loaded == {**loaded, "version": hashlib.sha256(canonical).hexdigest()[:16]}
    assert tool.loaded_bytes == len(canonical_json(tool.loaded))
    assert tool.document == SearchDocument(
        name="orders_retrieve",
        description="Fetches one order.",
        search_terms=("purchase",),
        tags=("orders",),
        route="/orders/{id}/",
        parameters=("id", "The order's number.", "filter", "filter.status"),
        method="GET",
    )
    assert tool.template.argument_names == ("id", "filter")
    assert tool.auth == AuthFacts(anonymous="no", policies=("perm:shop.view_order",))
    assert (tool.operation, tool.template.budget_bytes) == (RETRIEVE.key, None)
    assert candidate == Candidate(
        tools=(tool,),
        selected=(RETRIEVE.key,),
        names={RETRIEVE.key: Name(value="orders_retrieve", source=Source.DOCUMENT)},
        diagnostics=(),
    )


def test_nothing_agents_read_comes_from_the_auth_facts_or_the_search_terms() -> None:
    text = json.dumps(only(compile_catalog([RETRIEVE], EVERYTHING)).loaded)
    assert "perm:" not in text
    assert "purchase" not in text


def test_staff_choices_reach_the_tool() -> None:
    curation = staffed(
        RETRIEVE.key,
        name="get_order",
        description="Gets an order.",
        title="Order",
        annotations={"openWorldHint": False, "idempotentHint": False},
        tags=("Desk", "desk"),
        search_terms=(),
        budget_bytes=1000,
        deadline_seconds=2.5,
    )
    tool = only(compile_catalog([RETRIEVE], curation))
    assert (tool.name, tool.loaded["name"], tool.document.name) == ("get_order",) * 3
    assert tool.loaded["description"] == tool.document.description == "Gets an order."
    assert tool.loaded["annotations"] == {
        "title": "Order",
        "readOnlyHint": True,
        "idempotentHint": False,
        "openWorldHint": False,
    }
    assert (tool.document.tags, tool.document.search_terms) == (("Desk",), ())
    assert (tool.template.budget_bytes, tool.template.deadline_seconds) == (1000, 2.5)


def test_deprecated_operation_gives_a_deprecated_tool() -> None:
    assert only(compile_catalog([replace(RETRIEVE, deprecated=True)], EVERYTHING)).loaded["deprecated"] is True
    assert "deprecated" not in only(compile_catalog([RETRIEVE], EVERYTHING)).loaded


def test_without_a_success_schema_there_is_no_output_schema() -> None:
    assert "outputSchema" not in only(compile_catalog([CREATE], EVERYTHING)).loaded


def test_only_exposed_operations_are_compiled_and_named() -> None:
    rules = (SelectionRule(include=True, route="/orders/"),)
    twin = operation("PUT", "/hidden/", "orders_create")
    candidate = compile_catalog([RETRIEVE, CREATE, twin], Curation(rules=rules))
    assert candidate.selected == (CREATE.key,)
    assert [tool.name for tool in candidate.tools] == ["orders_create"]


def test_tools_are_sorted_by_name_and_found_by_it() -> None:
    candidate = compile_catalog([RETRIEVE, IMPORT, CREATE], EVERYTHING)
    assert [tool.name for tool in candidate.tools] == ["orders_create", "orders_import", "orders_retrieve"]
    assert {name: tool.operation for name, tool in candidate.by_name.items()} == {
        "orders_create": CREATE.key,
        "orders_import": IMPORT.key,
        "orders_retrieve": RETRIEVE.key,
    }


def test_operation_that_cannot_be_a_tool_costs_no_other() -> None:
    alone = compile_catalog([RETRIEVE], EVERYTHING)
    clash = operation("PUT", "/clash/", "same"), operation("DELETE", "/clash/", "same")
    candidate = compile_catalog([BROKEN, *clash, RETRIEVE], staffed(clash[0].key, name="Bad Name"))
    assert candidate.by_name["orders_retrieve"] == only(alone)
    assert codes(candidate.diagnostics) == [(BROKEN.key, "argument_collision"), (clash[0].key, "invalid_name")]
    assert candidate.names.keys() == {RETRIEVE.key, clash[1].key}


def test_selected_operations_include_those_without_a_tool() -> None:
    assert compile_catalog([RETRIEVE, BROKEN], EVERYTHING).selected == (RETRIEVE.key, BROKEN.key)


def test_folded_routes_are_searched_and_reported() -> None:
    short, long = (operation("POST", route, "logout", container="auth") for route in ("/logout", "/auth/logout"))
    candidate = compile_catalog([long, short], EVERYTHING)
    assert only(candidate).document.alternate_routes == ("/auth/logout",)
    assert only(candidate).template.route == "/logout"
    assert candidate.selected == (long.key, short.key)
    assert codes(candidate.diagnostics) == [(short.key, "route_folded")]


@pytest.mark.parametrize("own", [None, 10, 1_000_000])
@pytest.mark.parametrize("common", [10, 1_000_000])
def test_tool_over_its_budget_is_kept_and_reported(own: int | None, common: int) -> None:
    curation = staffed(RETRIEVE.key, replace(EVERYTHING, budget_bytes=common), budget_bytes=own)
    candidate = compile_catalog([RETRIEVE], curation)
    size = len(canonical_json(only(candidate).loaded))
    limit = common if own is None else own
    message = (
        f"The loaded tool is {size} bytes, over the budget of {limit}; load_tool refuses it until it is shortened."
    )
    assert [found.message for found in candidate.diagnostics] == ([message] if limit == 10 else [])


def test_budget_is_the_largest_size_that_is_let_through() -> None:
    size = len(canonical_json(only(compile_catalog([RETRIEVE], EVERYTHING)).loaded))
    assert compile_catalog([RETRIEVE], replace(EVERYTHING, budget_bytes=size)).diagnostics == ()
    assert codes(compile_catalog([RETRIEVE], replace(EVERYTHING, budget_bytes=size - 1)).diagnostics) == [
        (RETRIEVE.key, "tool_over_budget")
    ]


def test_operation_without_a_view_is_a_tool_that_says_so() -> None:
    candidate = compile_catalog([replace(RETRIEVE, endpoint=None)], EVERYTHING)
    assert only(candidate).template.resolver_route is None
    assert only(candidate).auth == AuthFacts()
    assert codes(candidate.diagnostics) == [(RETRIEVE.key, "not_invocable")]


def test_findings_about_the_exposure_of_hidden_operations_are_kept() -> None:
    hidden = operation(route="/a/", extension={"expose": "yes", "tags": ["a", "A"]})
    rules = (SelectionRule(include=True, route="/**"), SelectionRule(include=False, route="/*/"))
    candidate = compile_catalog([hidden], Curation(rules=rules))
    assert candidate.selected == ()
    assert codes(candidate.diagnostics) == [("GET /a/", "ambiguous_selection"), ("GET /a/", "extension_invalid")]


def test_equal_inputs_are_taken_over_with_their_findings() -> None:
    curation = staffed(IMPORT.key, replace(EVERYTHING, budget_bytes=10), tags=("a", "A"))
    first = compile_catalog([RETRIEVE, IMPORT, BROKEN], curation)
    second = compile_catalog([RETRIEVE, IMPORT, BROKEN], curation, known=known(first))
    assert second == first
    assert all(new is old for new, old in zip(second.tools, first.tools, strict=True))
    assert {code for _, code in codes(second.diagnostics)} == {
        "argument_collision",
        "duplicate_tag",
        "synthetic_body_argument",
        "tool_over_budget",
    }


def test_only_descriptors_of_unknown_tools_are_read() -> None:
    descriptors = {one.key: one for one in (RETRIEVE, IMPORT, BROKEN)}
    outlines = [Outline.from_json(one.to_json()) for one in descriptors.values()]
    digests = {key: digest(one.to_json()) for key, one in descriptors.items()}
    asked: set[str] = set()

    def read(keys: Collection[str]) -> list[Descriptor]:
        asked.update(keys)
        return [descriptors[key] for key in keys]

    curation = staffed(RETRIEVE.key, description="Other.")
    first = compile_catalog(descriptors.values(), EVERYTHING)
    second = compile_catalog(outlines, curation, known=known(first), digests=digests, read=read)

    assert second == compile_catalog(descriptors.values(), curation)
    assert asked == {RETRIEVE.key, BROKEN.key}  # what was refused before is no tool that could be taken over


def test_new_compiler_compiles_everything_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = compile_catalog([RETRIEVE, IMPORT], EVERYTHING)
    monkeypatch.setattr("sezzlee_mcp.catalog.compile.COMPILER", COMPILER + 1)
    second = compile_catalog([RETRIEVE, IMPORT], EVERYTHING, known=known(first))

    assert {tool.input_digest for tool in second.tools}.isdisjoint(known(first))
    assert [tool.content_digest for tool in second.tools] == [tool.content_digest for tool in first.tools]


def test_common_budget_is_no_input_of_a_tool() -> None:
    first = compile_catalog([RETRIEVE], EVERYTHING)
    second = compile_catalog([RETRIEVE], replace(EVERYTHING, budget_bytes=10), known=known(first))
    assert second.tools[0] is first.tools[0]
    assert codes(second.diagnostics) == [(RETRIEVE.key, "tool_over_budget")]


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Other."},
        {"summary": None},
        {"deprecated": True},
        {"tags": ("other",)},
        {"search_terms": ()},
        {"parameters": ()},
        {"responses": ()},
        {"extension": {"annotations": {"openWorldHint": True}}},
        {"endpoint": None},
        {"body": json_body({"type": "array"})},
    ],
    ids=lambda change: next(iter(change)),
)
def test_changed_descriptor_is_compiled_again(change: dict[str, Any]) -> None:
    first = compile_catalog([RETRIEVE], EVERYTHING)
    changed = [replace(RETRIEVE, **change)]
    assert compile_catalog(changed, EVERYTHING, known=known(first)) == compile_catalog(changed, EVERYTHING)
    assert only(compile_catalog(changed, EVERYTHING)) != only(first)


@pytest.mark.parametrize(
    "choices",
    [
        {"name": "get_order"},
        {"description": "Other."},
        {"title": ""},
        {"annotations": {"openWorldHint": True}},
        {"tags": ()},
        {"search_terms": ("deal",)},
        {"budget_bytes": 999_999},
    ],
    ids=lambda choices: next(iter(choices)),
)
def test_changed_curation_is_compiled_again(choices: dict[str, Any]) -> None:
    first = compile_catalog([RETRIEVE], EVERYTHING)
    curation = staffed(RETRIEVE.key, **choices)
    assert compile_catalog([RETRIEVE], curation, known=known(first)) == compile_catalog([RETRIEVE], curation)
    assert only(compile_catalog([RETRIEVE], curation)).content_digest != only(first).content_digest


def test_new_folded_route_is_compiled_again() -> None:
    first = compile_catalog([RETRIEVE], EVERYTHING)
    both = [RETRIEVE, replace(RETRIEVE, route="/old/orders/{id}/")]
    assert only(compile_catalog(both, EVERYTHING, known=known(first))).document.alternate_routes == (
        "/old/orders/{id}/",
    )


def test_what_has_no_order_changes_no_input_digest() -> None:
    one, other = (
        replace(RETRIEVE, parameters=(parameter("s", {"type": ["string", "null"], "enum": enum}),), description=text)
        for enum, text in ((["a", "b"], "<f at 0x7f01>"), (["b", "a"], "<f at 0x7f02>"))
    )
    first = compile_catalog([one], EVERYTHING)
    assert compile_catalog([other], EVERYTHING, known=known(first)).tools[0] is first.tools[0]
    assert only(compile_catalog([other], EVERYTHING)).version == only(first).version


@pytest.mark.parametrize(
    ("change", "is_read"),
    [
        ({"description": "Other."}, True),
        ({"responses": ()}, True),
        ({"deprecated": True}, True),
        ({"search_terms": ("deal",)}, False),
        ({"tags": ("other",)}, False),
        ({"endpoint": None}, False),
    ],
)
def test_version_changes_exactly_with_what_agents_read(change: dict[str, Any], is_read: bool) -> None:
    before = only(compile_catalog([RETRIEVE], EVERYTHING))
    after = only(compile_catalog([replace(RETRIEVE, **change)], EVERYTHING))
    assert (after.version != before.version) is is_read
    assert after.content_digest != before.content_digest


def test_tool_survives_its_own_json() -> None:
    tool = only(compile_catalog([RETRIEVE], EVERYTHING))
    assert Template.from_json(json.loads(json.dumps(tool.template.to_json()))) == tool.template
    assert SearchDocument.from_json(json.loads(json.dumps(tool.document.to_json()))) == tool.document


_SCHEMAS = st.sampled_from([STRING, {"type": "array", "items": INTEGER}, {"$ref": "#/$defs/A", "$defs": {"A": STRING}}])
_DESCRIPTORS = st.builds(
    operation,
    st.sampled_from(["GET", "POST", "DELETE"]),
    st.sampled_from(["/a/", "/b/{id}/", "/c/"]),
    st.none() | st.sampled_from(["list", "create", "x"]),
    container=st.none() | st.just("orders"),
    summary=st.none() | st.just("Sum"),
    tags=st.lists(st.sampled_from(["a", "A", "", "b"]), max_size=3).map(tuple),
    parameters=st.lists(st.builds(parameter, st.sampled_from("pq"), _SCHEMAS), max_size=2).map(tuple),
    body=st.none() | st.builds(json_body, _SCHEMAS, required=st.booleans()),
    extension=st.none() | st.just({"expose": 3}) | st.just({"expose": False}),
)
_CATALOGS = st.lists(_DESCRIPTORS, unique_by=lambda one: one.key, max_size=6)
_CURATIONS = st.builds(
    Curation,
    operations=st.dictionaries(
        st.sampled_from(["GET /a/", "POST /c/"]),
        st.builds(
            OperationCuration, exposed=st.none() | st.booleans(), name=st.none() | st.sampled_from(["list", "-"])
        ),
    ),
    exposed_by_default=st.booleans(),
    prefix_mode=st.sampled_from(PrefixMode),
)


@given(_CATALOGS.flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))), _CURATIONS)
def test_order_of_descriptors_means_nothing(
    orders: tuple[list[Descriptor], list[Descriptor]], curation: Curation
) -> None:
    assert compile_catalog(orders[0], curation) == compile_catalog(orders[1], curation)


@given(_CATALOGS, _CURATIONS, _CURATIONS)
def test_known_tools_never_change_the_result(descriptors: list[Descriptor], before: Curation, after: Curation) -> None:
    earlier = known(compile_catalog(descriptors, before))
    assert compile_catalog(descriptors, after, known=earlier) == compile_catalog(descriptors, after)


@given(_CATALOGS, _CURATIONS)
def test_each_selected_operation_is_a_tool_or_explained(descriptors: list[Descriptor], curation: Curation) -> None:
    candidate = compile_catalog(descriptors, curation)
    tools = {tool.operation for tool in candidate.tools}
    folded = {f"{operation.partition(' ')[0]} {route}" for operation, route in _folded(candidate)}
    dropped = {found.operation for found in candidate.diagnostics if found.severity == "dropped"}
    assert tools.isdisjoint(dropped)
    assert set(candidate.selected) - tools - dropped <= folded
    assert candidate.names.keys() == tools


def _folded(candidate: Candidate) -> list[tuple[str, str]]:
    said = [found for found in candidate.diagnostics if found.code == "route_folded"]
    return [
        (found.operation, route)
        for found in said
        for route in found.message.removeprefix("The same operation also answers on ").partition(";")[0].split(", ")
    ]
