"""One operation as several tools, and families."""

from dataclasses import replace
from typing import Any

import pytest

from sezzlee_mcp.catalog import ArgumentRecord, Candidate, Curation, Exposed, Fill, FillKind, Variant, compile_catalog
from sezzlee_mcp.openapi.descriptors import Body, Descriptor
from tests.catalog.making import EVERYTHING, codes, json_body, operation, parameter, staffed

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
LIST = operation("GET", "/orders/", "orders_list", parameters=(parameter("state"), parameter("page", INTEGER)))
DISPATCH = operation(
    "POST",
    "/call/{method}/",
    "call",
    parameters=(parameter("method", location="path"),),
    body=json_body({"type": "object", "additionalProperties": True}),
)
MEMBER_BODY = {"type": "object", "properties": {"days": INTEGER}, "required": ["days"]}


def hidden(name: str, value: Any) -> ArgumentRecord:
    return ArgumentRecord(name=name, fill=Fill(kind=FillKind.CONSTANT, value=value))


def variant(name: str, *records: ArgumentRecord, **facts: Any) -> Variant:
    return Variant(name=name, **{"description": f"What {name} does.", "arguments": records, **facts})


def compiled(descriptor: Descriptor, *variants: Variant, base: Curation = EVERYTHING, **choices: Any) -> Candidate:
    return compile_catalog([descriptor], staffed(descriptor.key, base, variants=variants, **choices))


def found(candidate: Candidate) -> list[str]:
    return [code for _, code in codes(candidate.diagnostics)]


def test_variants_are_published_instead_of_the_operation() -> None:
    candidate = compiled(
        LIST,
        variant("open_orders", hidden("state", "open")),
        variant("all_orders", annotations={"openWorldHint": False}),
    )
    assert [(tool.name, tool.operation, tool.template.argument_names) for tool in candidate.tools] == [
        ("all_orders", LIST.key, ("state", "page")),
        ("open_orders", LIST.key, ("page",)),
    ]
    assert candidate.tools[0].loaded["description"] == "What all_orders does."
    assert candidate.tools[0].loaded["annotations"] == {
        "readOnlyHint": True,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    assert (candidate.names, candidate.selected, found(candidate)) == ({}, (LIST.key,), [])


def test_record_of_a_variant_replaces_the_operations_whole() -> None:
    renamed = (ArgumentRecord(name="state", agent_name="phase", description="Said."), hidden("page", 1))
    candidate = compiled(
        LIST,
        variant("bare", ArgumentRecord(name="page")),
        variant("other", ArgumentRecord(name="state")),
        arguments=renamed,
    )
    properties = {tool.name: tool.loaded["inputSchema"]["properties"] for tool in candidate.tools}
    assert properties == {
        "bare": {"phase": {"type": "string", "description": "Said."}, "page": INTEGER},
        "other": {"state": STRING},
    }


def test_variants_that_nothing_tells_apart_are_said() -> None:
    same = [variant(name, hidden("state", name), description="Orders.") for name in ("a", "b")]
    candidate = compiled(LIST, *same)
    assert (len(candidate.tools), found(candidate)) == (2, ["variant_indistinguishable"])


@pytest.mark.parametrize(
    ("names", "code", "kept"),
    [
        (("orders_all", "Bad"), "invalid_name", ["orders_all"]),
        (("orders_all", "other"), "name_collision", ["orders_all", "other"]),
    ],
)
def test_name_of_a_variant_is_absolute_but_not_exempt(names: tuple[str, ...], code: str, kept: list[str]) -> None:
    descriptors = [LIST, operation("GET", "/other/", "other")]
    curation = staffed(LIST.key, EVERYTHING, variants=tuple(variant(name) for name in names))
    published = replace(curation, published_names={"GET /other/": "other"})
    candidate = compile_catalog(descriptors, published)
    assert sorted(tool.name for tool in candidate.tools) == sorted({*kept, "other"})
    assert code in found(candidate)
    assert candidate.by_name["other"].operation == "GET /other/"


def test_two_variants_of_one_name_are_none() -> None:
    base = replace(EVERYTHING, published_names={LIST.key: "a"})
    candidate = compiled(LIST, variant("a"), variant("a", hidden("page", 1)), base=base)
    assert (candidate.tools, found(candidate)) == ((), ["name_collision"])


def test_compiled_variants_are_taken_over() -> None:
    first = compiled(LIST, variant("a", hidden("page", 1)), variant("b"))
    known = {tool.input_digest: tool for tool in first.tools}
    curation = staffed(LIST.key, variants=(variant("a", hidden("page", 2)), variant("b")))
    second = compile_catalog([LIST], curation, known=known)
    assert len(known) == 2
    assert second.by_name["b"] is first.by_name["b"]
    assert second.by_name["a"].input_digest not in known


def test_members_of_a_family_have_their_own_bodies() -> None:
    candidate = compiled(
        DISPATCH,
        variant("late", hidden("method", "m1"), body=MEMBER_BODY, annotations={"readOnlyHint": True}),
        variant("open_one", hidden("method", "m2"), body=MEMBER_BODY, body_required=False),
        family_parameter="method",
    )
    late, open_one = candidate.tools
    assert late.loaded["inputSchema"] == {**MEMBER_BODY, "additionalProperties": False}
    assert late.loaded["annotations"] == {"destructiveHint": False, "readOnlyHint": True}
    assert late.template.slots[0].exposed == Exposed(
        name=None, fill=Fill(kind=FillKind.CONSTANT, value="m1"), required=True
    )
    assert late.template.route == DISPATCH.route
    assert open_one.loaded["inputSchema"]["properties"] == {"body": MEMBER_BODY}
    assert found(candidate) == ["optional_body_argument"]


@pytest.mark.parametrize(
    ("family", "variants", "code"),
    [
        ("gone", [variant("a", hidden("method", "1"))], "family_parameter_unresolved"),
        ("method", [], "family_without_members"),
        ("method", [variant("a"), variant("b", hidden("method", "1"))], "family_key_unfilled"),
        (
            "method",
            [variant("a", hidden("method", "1")), variant("b", hidden("method", "1"))],
            "family_key_duplicate",
        ),
        ("method", [variant("a", hidden("method", 1))], "invalid_fill_constant"),
        (None, [variant("a", hidden("method", "1"), body=MEMBER_BODY)], "variant_body_without_family"),
        (
            "method",
            [variant("a", hidden("method", "1"), body={"properties": {"x": {"$ref": "https://example.test/x"}}})],
            "variant_body_invalid",
        ),
        (
            "method",
            [variant("a", hidden("method", "1"), body={"properties": {"x": {"$ref": "#/$defs/X"}}})],
            "variant_body_invalid",
        ),
    ],
)
def test_broken_family_publishes_nothing(family: str | None, variants: list[Variant], code: str) -> None:
    candidate = compiled(DISPATCH, *variants, family_parameter=family)
    assert (candidate.tools, found(candidate)) == ((), [code])


def test_member_body_must_be_one_that_the_form_carries() -> None:
    form = Body(schema={"type": "object", "properties": {}}, required=True, content_type="multipart/form-data")
    nested = {"type": "object", "properties": {"rows": {"type": "array", "items": MEMBER_BODY}}}
    dispatch = replace(DISPATCH, body=form)
    member = variant("a", hidden("method", "1"), body=nested)
    assert found(compiled(dispatch, member, family_parameter="method")) == ["variant_body_invalid"]
    drf = replace(dispatch, body=replace(form, notation="drf"))
    assert found(compiled(drf, member, family_parameter="method")) == []


@pytest.mark.parametrize(
    ("said", "keyword"),
    [
        ({"type": "objec"}, "type"),
        ({"properties": []}, "properties"),
        ({"required": 5}, "required"),
        ({"$defs": []}, "$defs"),
        ({"properties": {"a": {"type": "strin"}}}, "type"),
        ({"properties": {"a": {"anyOf": 3}}}, "anyOf"),
        ({"properties": {"a": {"items": {"enum": 5}}}}, "enum"),
        ({"properties": {"a": 5}}, "properties"),
    ],
)
def test_member_body_that_is_no_schema_costs_its_member_alone(said: dict[str, Any], keyword: str) -> None:
    broken = variant("broken", hidden("kind", "x"), hidden("a", 1), body={"type": "object", **said})
    sound = variant("sound", hidden("kind", "y"), body={"type": "object", "properties": {"a": {}}})

    made = compiled(operation("POST", parameters=(parameter("kind"),)), broken, sound, family_parameter="kind")

    assert [tool.name for tool in made.tools] == ["sound"]
    assert [one.message for one in made.diagnostics if one.code == "variant_body_invalid"] == [
        "Variant broken: The body of this family member cannot be used: JSON Schema does not allow what it says under "
        f"{keyword}."
    ]


def test_members_must_resolve_their_own_records_only() -> None:
    body = json_body({"type": "object", "properties": {"note": STRING}})
    dispatch = replace(DISPATCH, body=body)
    member = variant("a", hidden("method", "1"), body=MEMBER_BODY)
    renamed = (ArgumentRecord(name="note", agent_name="remark"),)
    assert found(compiled(dispatch, member, family_parameter="method", arguments=renamed)) == []
    own = replace(member, arguments=(*member.arguments, *renamed))
    assert found(compiled(dispatch, own, family_parameter="method")) == ["curation_unresolved"]


def test_variants_of_the_code_hold_until_staff_have_some() -> None:
    marked = replace(LIST, extension={"variants": [{"name": "marked", "description": "Marked."}]})
    assert [tool.name for tool in compile_catalog([marked], EVERYTHING).tools] == ["marked"]
    assert [tool.name for tool in compiled(marked, variant("staffed")).tools] == ["staffed"]


def test_curation_of_a_folded_route_is_said_to_be_unused() -> None:
    long = replace(LIST, route="/old/orders/")
    curation = staffed(long.key, arguments=(hidden("page", 1),))
    candidate = compile_catalog([LIST, long], curation)
    assert codes(candidate.diagnostics) == [(long.key, "curation_unused_on_kept_route"), (LIST.key, "route_folded")]
    assert candidate.tools[0].template.argument_names == ("state", "page")


def test_finding_about_one_variant_names_it_and_one_about_the_operation_stands_once() -> None:
    tagged = replace(LIST, tags=("orders", "Orders"))
    candidate = compiled(tagged, variant("a", hidden("gone", 1)), variant("b"), variant("c", hidden("page", 1)))
    assert [(one.code, one.message.partition(":")[0]) for one in candidate.diagnostics] == [
        ("curation_unresolved", "Variant a"),
        ("duplicate_tag", "The tags orders, Orders are one tag once case and accents are folded."),
    ]
    assert [tool.name for tool in candidate.tools] == ["b", "c"]
