import pytest

from sezzlee_mcp.errors import FieldProblem
from sezzlee_mcp.invoke.content import Content, Kind
from sezzlee_mcp.invoke.fields import Naming
from sezzlee_mcp.invoke.recognizers import FIELDS_LISTED, Problem, read_problem, renamed

NAMING = Naming(published=("customer", "items", "unitPrice"))


def read(value, naming=NAMING):
    return read_problem(Content(kind=Kind.JSON, value=value, media_type="application/json"), naming)


def fields(*pairs):
    return Problem(fields=tuple(FieldProblem(name=name, message=message) for name, message in pairs))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        # {"errors": {field: ...}}
        ({"errors": {"Customer": ["a", "b"]}, "status": 400}, fields(("customer", "a"), ("customer", "b"))),
        ({"errors": {"customer": "a"}}, fields(("customer", "a"))),
        ({"errors": {"$.items": ["a"], "$": ["b"], "": ["c"]}}, fields(("items", "a"), (None, "b"), (None, "c"))),
        # DRF
        ({"customer": ["Required."]}, fields(("customer", "Required."))),
        ({"CUSTOMER": ["a"], "unitprice": ["b"]}, fields(("customer", "a"), ("unitPrice", "b"))),
        ({"other": ["a"]}, fields(("other", "a"))),
        ({"non_field_errors": ["a"], "customer": ["b"]}, fields((None, "a"), ("customer", "b"))),
        ({"__all__": ["a"]}, fields((None, "a"))),
        (
            {"items": [{}, {"quantity": ["a"]}, {"non_field_errors": ["b"]}]},
            fields(("items[1].quantity", "a"), ("items[2]", "b")),
        ),
        ({"customer": {"address": {"zip": ["a"]}}}, fields(("customer.address.zip", "a"))),
        ({"items": {"3": ["a"], "10": ["b"]}}, fields(("items[3]", "a"), ("items[10]", "b"))),
        ({"items": {"sku": {"0": ["a"]}}}, fields(("items.sku[0]", "a"))),
        ({"customer": [{"message": "a", "code": "required"}]}, fields(("customer", "a"))),
        ({"customer": "a"}, fields(("customer", "a"))),
        ({"customer": "a", "items": [{"sku": ["b"]}]}, fields(("customer", "a"), ("items[0].sku", "b"))),
        (["a", "b"], fields((None, "a"), (None, "b"))),
        ([{}, {"name": ["a"]}, {"non_field_errors": ["b"]}], fields(("[1].name", "a"), ("[2]", "b"))),
        ({"1": {"name": ["a"]}, "12": {"non_field_errors": ["b"]}}, fields(("[1].name", "a"), ("[12]", "b"))),
        ({"$.items[0].sku": ["a"], "Items[1]": ["b"]}, fields(("items[0].sku", "a"), ("items[1]", "b"))),
        ({"other[0].sku": ["a"]}, fields(("other[0].sku", "a"))),
        # wrappers
        ({"errors": {"detail": "a", "code": "b"}, "success": False}, Problem(message="a")),
        ({"error": {"customer": ["a"]}}, fields(("customer", "a"))),
        ({"message": {"items": [{}, {"sku": ["a"]}]}, "ok": False}, fields(("items[1].sku", "a"))),
        ({"errors": ["a"], "customer": ["b"]}, fields(("errors", "a"), ("customer", "b"))),
        ({"detail": ["a"], "customer": ["b"]}, fields(("detail", "a"), ("customer", "b"))),
        # detail
        ({"detail": "a"}, Problem(message="a")),
        ({"detail": "a", "code": "not_found"}, Problem(message="a")),
        ({"detail": ["a", "b"]}, fields((None, "a"), (None, "b"))),
        ({"detail": {"customer": ["a"]}}, fields(("customer", "a"))),
        ({"detail": {"message": "a", "code": "b"}}, Problem(message="a")),
        ({"detail": {"reason": "a", "since": 7}}, Problem(message="a")),
        ({"message": "a", "code": "b"}, Problem(message="a")),
        # drf-standardized-errors
        (
            {
                "type": "validation_error",
                "errors": [
                    {"code": "required", "detail": "a", "attr": "items.2.quantity"},
                    {"code": "invalid", "detail": "b", "attr": "non_field_errors"},
                    {"code": "error", "detail": "c", "attr": None},
                ],
            },
            fields(("items[2].quantity", "a"), (None, "b"), (None, "c")),
        ),
        (
            {"type": "client_error", "errors": [{"code": "not_found", "detail": "a", "attr": None}]},
            Problem(message="a"),
        ),
        # JSON:API
        (
            {"errors": [{"detail": "a", "status": "400", "source": {"pointer": "/items/attributes/sku"}}]},
            fields(("items.attributes.sku", "a")),
        ),
        ({"errors": [{"detail": "a", "source": {"parameter": "Customer"}}]}, fields(("customer", "a"))),
        ({"errors": [{"detail": "a", "source": None}]}, fields((None, "a"))),
        # RFC 9457
        (
            {"title": "Invalid", "status": 400, "errors": [{"detail": "a", "pointer": "#/items/0/sku"}]},
            fields(("items[0].sku", "a")),
        ),
        ({"title": "Invalid", "invalid-params": [{"name": "customer", "reason": "a"}]}, fields(("customer", "a"))),
        ({"title": "Not fit", "status": 400, "detail": "a"}, Problem(message="a")),
        ({"title": "Not fit", "status": 400}, Problem(message="Not fit")),
        # django-ninja, pydantic
        (
            {"detail": [{"type": "missing", "loc": ["body", "payload", "items", 0, "sku"], "msg": "a"}]},
            fields(("items[0].sku", "a")),
        ),
        ({"detail": [{"loc": ["query", "limit"], "msg": "a", "type": "int"}]}, fields(("limit", "a"))),
        ({"detail": [{"loc": ["body"], "msg": "a"}, {"loc": ["query"], "msg": "b"}]}, fields((None, "a"), (None, "b"))),
        ({"errors": [{"attr": "body", "detail": "a"}]}, fields(("body", "a"))),
        ([{"loc": ["customer"], "msg": "a", "type": "missing"}], fields(("customer", "a"))),
        # message envelopes
        ({"message": "a", "error": "Bad Request", "statusCode": 400}, Problem(message="a")),
        ({"error_description": "a", "error": "invalid_grant"}, Problem(message="a")),
        ({"Message": " a "}, Problem(message="a")),
        ({"reason": "a"}, Problem(message="a")),
        ({"message": "", "error": "a"}, Problem(message="a")),
        (
            {"message": ["Customer is empty", "other"], "statusCode": 400},
            fields(("customer", "Customer is empty"), (None, "other")),
        ),
        ({"error": {"code": "stock", "message": "a"}}, Problem(message="a")),
        ({"error": {"code": "stock", "message": "a"}, "ok": False}, Problem(message="a")),
        ("a", Problem(message="a")),
        # nothing that says something
        ("  ", Problem()),
        ({}, Problem()),
        ([], Problem()),
        (None, Problem()),
        (7, Problem()),
        ([7], Problem()),
        ({"id": 7, "status": "paid"}, Problem()),
        ({"customer": [7]}, Problem()),
        ({"customer": []}, Problem()),
        ({"message": 7, "detail": None}, Problem()),
    ],
)
def test_body_is_read_by_the_first_shape_that_it_has(body, problem):
    assert read(body) == problem


def test_name_that_the_tool_publishes_is_a_field_and_no_wrapper():
    naming = Naming(published=("errors", "detail"))
    assert read({"errors": {"a": ["x"]}}, naming) == fields(("errors.a", "x"))
    assert read({"errors": ["x"]}, naming) == fields(("errors", "x"))
    assert read({"detail": ["x"]}, naming) == fields(("detail", "x"))
    assert read({"detail": "Not found."}, naming) == Problem(message="Not found.")


@pytest.mark.parametrize("key", ["errors", "detail", "error", "message", "reason"])
def test_key_for_the_whole_object_is_no_wrapper_when_the_host_named_it_so(key):
    naming = Naming(published=("a",), non_field_errors_key=key)
    assert read({key: ["x"], "a": ["y"]}, naming) == fields((None, "x"), ("a", "y"))
    assert read({key: ["x", "z"]}, naming) == fields((None, "x"), (None, "z"))
    assert read([{}, {key: ["x"]}], naming) == fields(("[1]", "x"))


def test_names_are_read_as_the_backends_also_where_two_are_exchanged():
    naming = Naming(published=("b", "a"), renamed={"a": "b", "b": "a"})
    assert read({"a": ["x"], "b": ["y"]}, naming) == fields(("b", "x"), ("a", "y"))


def test_name_that_curation_took_away_is_in_no_path():
    naming = Naming(published=("rows",), renamed={"lines": "rows"}, hidden=frozenset({"tenant"}))
    body = {"lines[0].sku": ["a"], "$.tenant.id": ["b"], "Tenant[0]": ["c"], "lines": {"1": {"tenant": ["d"]}}}
    assert read(body, naming) == fields(("rows[0].sku", "a"), (None, "b"), (None, "c"), ("rows[1].tenant", "d"))


@pytest.mark.parametrize(
    ("name", "agents"),
    [
        ("lines[2].sku", "rows[2].sku"),
        ("lines.2.sku", "rows[2].sku"),
        ("/lines/2/sku", "rows[2].sku"),
        ("#/lines/2/sku", "rows[2].sku"),
        ("LINES", "rows"),
        ("[1].lines", "[1].lines"),
        ("other.sku", "other.sku"),
        ("tenant.name", None),
        ("non_field_errors", None),
        ("", None),
        (None, None),
    ],
)
def test_field_of_a_hosts_recognizer_is_renamed_for_the_agent(name, agents):
    naming = Naming(published=("rows",), renamed={"lines": "rows"}, hidden=frozenset({"tenant"}))
    problem = Problem(message="m", fields=(FieldProblem(name=name, message="x"),))
    assert renamed(problem, naming) == Problem(message="m", fields=(FieldProblem(name=agents, message="x"),))


def test_recognizer_of_a_host_may_list_as_many_fields_as_any_other():
    problem = Problem(fields=(FieldProblem(name="a", message="x"),) * (FIELDS_LISTED + 1))
    assert len(renamed(problem, NAMING).fields) == FIELDS_LISTED


def test_configured_key_stands_for_the_whole_object():
    naming = Naming(published=("a",), non_field_errors_key="everything")
    assert read({"everything": ["x"], "a": {"everything": ["y"]}}, naming) == fields((None, "x"), ("a", "y"))


def test_at_most_fifty_fields_are_read():
    many = FIELDS_LISTED + 1
    bodies = ({"items": ["x"] * many}, ["x"] * many, {"message": ["x"] * many, "status": 400}, {"errors": ["x"] * many})
    assert [len(read(body).fields) for body in bodies] == [FIELDS_LISTED] * 4


def test_errors_nested_without_end_are_no_errors():
    value = ["x"]
    for _ in range(500):
        value = {"a": value}
    assert read(value) == Problem()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (Content(kind=Kind.TEXT, value=" Too many. \n", media_type="text/plain"), Problem(message="Too many.")),
        (Content(kind=Kind.TEXT, value="Too many."), Problem(message="Too many.")),
        (Content(kind=Kind.TEXT, value="Too many.", media_type="text/html"), Problem()),
        (Content(kind=Kind.TEXT, value="\n<h1>Too many.</h1>", media_type="text/plain"), Problem()),
        (Content(kind=Kind.TEXT, value="{broken", media_type="application/json"), Problem()),
        (Content(kind=Kind.TEXT, value="a,b", media_type="text/csv"), Problem()),
        (Content(kind=Kind.BYTES, media_type="text/plain"), Problem()),
        (Content(kind=Kind.EMPTY), Problem()),
    ],
)
def test_of_other_bodies_only_plain_text_speaks(content, problem):
    assert read_problem(content, NAMING) == problem
