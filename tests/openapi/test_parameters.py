from typing import Any

import pytest

from sezzlee_mcp.openapi import Lowered, Parameter, lower
from tests.openapi.making import OK, codes, document, lower_parameters, only, with_operation

GET = "/paths/~1items~1/get"


def parameter(name: str = "q", location: str = "query", **members: Any) -> dict[str, Any]:
    return {"name": name, "in": location, "schema": {"type": "string"}, **members}


def names(lowered: Lowered) -> list[str]:
    return [item.name for item in only(lowered).parameters]


@pytest.mark.parametrize(
    ("location", "members", "style", "explode"),
    [
        ("path", {}, "simple", False),
        ("path", {"style": "label"}, "label", False),
        ("path", {"style": "matrix", "explode": True}, "matrix", True),
        ("query", {}, "form", True),
        ("query", {"explode": False}, "form", False),
        ("query", {"style": "form", "explode": None}, "form", True),
        ("query", {"style": "spaceDelimited"}, "spaceDelimited", False),
        ("query", {"style": "pipeDelimited", "explode": True}, "pipeDelimited", True),
        ("query", {"style": "deepObject"}, "deepObject", False),
        ("query", {"style": "deepObject", "explode": True}, "deepObject", True),
        ("header", {}, "simple", False),
        ("header", {"style": "form"}, "form", True),
        ("cookie", {}, "form", True),
        ("cookie", {"explode": False}, "form", False),
        ("cookie", {"style": "cookie"}, "cookie", True),
    ],
)
def test_style_and_explode_are_always_explicit(location: str, members: Any, style: str, explode: bool) -> None:
    made = only(lower_parameters(parameter("it", location, **members), path="/items/{it}/"))

    assert made.parameters[0] == Parameter(
        name="it",
        location=location,
        required=location == "path",
        schema={"type": "string"},
        style=style,
        explode=explode,
    )


@pytest.mark.parametrize(
    ("location", "style"),
    [
        ("path", "form"),
        ("path", "deepObject"),
        ("cookie", "simple"),
        ("cookie", "deepObject"),
        ("query", "simple"),
        ("query", "matrix"),
        ("header", "spaceDelimited"),
        ("header", "Simple"),
        ("query", 3),
        ("query", ["form"]),
    ],
)
def test_style_without_a_written_form_costs_the_operation(location: str, style: Any) -> None:
    lowered = lower_parameters(parameter("it", location, style=style), path="/items/{it}/")

    assert lowered.descriptors == ()
    assert ("unsupported_parameter_style", "/paths/~1items~1{it}~1/get/parameters/0") in codes(lowered)


def test_everything_a_parameter_says_is_carried() -> None:
    made = only(
        lower_parameters(
            parameter(required=True, allowReserved=True, description="Which.", deprecated=True),
            parameter("X-Trace", "header", allowReserved=True, description=""),
            parameter("any", schema=None),
        )
    )

    assert made.parameters == (
        Parameter(
            name="q",
            location="query",
            required=True,
            schema={"type": "string", "deprecated": True},
            style="form",
            explode=True,
            allow_reserved=True,
            description="Which.",
        ),
        Parameter(
            name="X-Trace", location="header", required=False, schema={"type": "string"}, style="simple", explode=False
        ),
        Parameter(name="any", location="query", required=False, schema={}, style="form", explode=True),
    )


@pytest.mark.parametrize("required", [False, None, "yes", 1])
def test_path_parameter_is_required_whatever_it_says_and_others_only_by_true(required: Any) -> None:
    made = only(
        lower_parameters(parameter("id", "path", required=required), parameter(required=required), path="/items/{id}/")
    )

    assert [item.required for item in made.parameters] == [True, False]


def test_operation_wins_over_its_path_item_by_name_and_location() -> None:
    shared = [parameter("id", "path"), parameter("page"), parameter("X-A", "header")]
    own = [parameter("page", schema={"type": "integer"}), parameter("id", "query"), parameter("x-a", "header")]
    item = {"parameters": shared, "get": {"parameters": own, "responses": OK}, "put": {"responses": OK}}

    got, put = lower(document({"/items/{id}/": item})).descriptors

    assert [(p.name, p.location, p.schema["type"]) for p in got.parameters] == [
        ("id", "path", "string"),
        ("page", "query", "integer"),
        ("x-a", "header", "string"),
        ("id", "query", "string"),
    ]
    assert [p.name for p in put.parameters] == ["id", "page", "X-A"]


def test_parameter_declared_twice_in_one_list_is_reported_and_the_last_one_used() -> None:
    lowered = lower_parameters(parameter(), parameter(schema={"type": "integer"}))

    assert only(lowered).parameters[0].schema == {"type": "integer"}
    assert codes(lowered) == [("duplicate_parameter", f"{GET}/parameters/1")]


@pytest.mark.parametrize(
    "name",
    [
        *("Accept", "content-type", "AUTHORIZATION", "Content_Type", "Content-Length", "Accept-Encoding"),
        *("Host", "Origin", "Referer", "Forwarded", "X-Forwarded-For", "x_forwarded_proto", "X-Real-IP", "Via"),
        *("Remote-User", "X_Remote_User", "X-Auth-Request-Email", "X-Original-URL", "X-HTTP-Method-Override"),
        *("Connection", "Transfer-Encoding", "Upgrade", "Expect", "Proxy", "Mcp-Session-Id", "Sec-Fetch-Site"),
    ],
)
def test_reserved_header_is_no_argument(name: str) -> None:
    lowered = lower_parameters(parameter(name, "header", required=True), parameter(name))

    assert [(item.name, item.location) for item in only(lowered).parameters] == [(name, "query")]
    assert codes(lowered) == [("reserved_header_parameter_ignored", f"{GET}/parameters/0")]


@pytest.mark.parametrize(
    "name",
    [
        *("If-Match", "If-None-Match", "Range", "Content-Range", "Content-Disposition", "Content-Language", "Prefer"),
        *(
            "Idempotency-Key",
            "X-Tenant",
            "X-Request-ID",
            "Accept-Language",
            "Accept-Version",
            "User-Agent",
            "traceparent",
        ),
        *("X_Tenant", "Client.Session~Id"),
    ],
)
def test_header_of_the_api_is_an_argument(name: str) -> None:
    lowered = lower_parameters(parameter(name, "header"))

    assert (names(lowered), codes(lowered)) == ([name], [])


@pytest.mark.parametrize("name", ["", "X Tenant", "X-Größe", "X-A: 1\r\nX-B", "X-A\0"])
def test_header_that_no_request_can_hold_costs_the_operation(name: str) -> None:
    lowered = lower_parameters(parameter(name, "header"))

    assert (lowered.descriptors, codes(lowered)) == ((), [("invalid_header_name", f"{GET}/parameters/0")])


def test_names_that_are_one_header_to_a_wsgi_application_are_one_parameter() -> None:
    lowered = lower_parameters(parameter("X-Tenant", "header"), parameter("x_tenant", "header"))

    assert (names(lowered), codes(lowered)) == (["x_tenant"], [("duplicate_parameter", f"{GET}/parameters/1")])


SCHEMES = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "ticket": {"type": "apiKey", "in": "query", "name": "ticket"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "visit"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "broken": {"type": "apiKey"},
    "alias": {"$ref": "#/components/securitySchemes/key"},
    "lost": {"$ref": "#/nowhere"},
}


@pytest.mark.parametrize(
    ("security", "credentials"),
    [
        ({}, []),
        ({"security": []}, []),
        ({"security": [{"key": []}]}, ["x-api-key"]),
        ({"security": [{"alias": []}, {}]}, ["x-api-key"]),
        ({"security": [{"key": [], "ticket": []}]}, ["x-api-key", "ticket"]),
        ({"security": [{"bearer": []}, {"broken": []}, {"lost": []}, {"ghost": []}, "key"]}, []),
        ({"security": "key"}, []),
    ],
    ids=str,
)
def test_carrier_of_a_scheme_is_never_an_argument(security: Any, credentials: list[str]) -> None:
    carriers = {"x-api-key": parameter("x_api-key", "header"), "ticket": parameter("ticket")}
    operation = {"parameters": list(carriers.values()), "responses": OK, **security}

    lowered = lower(with_operation(operation, components={"securitySchemes": SCHEMES}))

    expected = {
        (f"{GET}/parameters/{index}", "credential_parameter_ignored" if name in credentials else refused)
        for index, name in enumerate(carriers)
        for refused in ["identity_carrier_parameter"]
    }
    assert {(item.pointer, item.code) for item in lowered.diagnostics} == expected
    assert [names(lowered)] == [[]] if len(credentials) == 2 else lowered.descriptors == ()


@pytest.mark.parametrize("name", ["Cookie", "cookie", "Proxy-Authorization"])
def test_header_that_says_who_the_caller_is_costs_the_operation(name: str) -> None:
    lowered = lower_parameters(parameter(name, "header"))

    assert (lowered.descriptors, codes(lowered)) == ((), [("identity_carrier_parameter", f"{GET}/parameters/0")])


def test_security_of_the_document_holds_where_the_operation_names_none() -> None:
    operation = {"parameters": [parameter("ticket")], "responses": OK}

    lowered = lower(with_operation(operation, components={"securitySchemes": SCHEMES}, security=[{"ticket": []}]))

    assert names(lowered) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("visit", ["identity_cookie_parameter"]),
        ("sessionid", ["identity_cookie_parameter", "identity_cookie_uncovered"]),
        ("JSESSIONID", ["identity_cookie_parameter", "identity_cookie_uncovered"]),
        ("csrftoken", ["identity_cookie_parameter", "identity_cookie_uncovered"]),
        ("my-jwt", ["identity_cookie_parameter", "identity_cookie_uncovered"]),
    ],
)
def test_cookie_that_carries_identity_is_no_argument(name: str, expected: list[str]) -> None:
    operation = {"parameters": [parameter(name, "cookie", required=True)], "responses": OK}

    lowered = lower(with_operation(operation, components={"securitySchemes": SCHEMES}))

    assert names(lowered) == []
    assert codes(lowered) == [(code, f"{GET}/parameters/0") for code in expected]


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("location", ["body", "Query", ""])
def test_location_that_is_not_written_costs_the_operation(location: str, required: bool) -> None:
    lowered = lower_parameters(parameter("lang", location, required=required))

    assert lowered.descriptors == ()
    assert codes(lowered) == [("unsupported_parameter_location", f"{GET}/parameters/0")]


ARRAY = {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize("said", [{}, {"explode": True}, {"style": "cookie"}], ids=str)
@pytest.mark.parametrize("schema", [ARRAY, {"type": ["array", "null"]}], ids=str)
def test_cookie_array_that_explodes_costs_the_operation(said: Any, schema: Any) -> None:
    lowered = lower_parameters(parameter("tags", "cookie", schema=schema, **said), version="3.1.0")

    assert (lowered.descriptors, codes(lowered)) == ((), [("unsupported_parameter_style", f"{GET}/parameters/0")])


def test_cookie_array_that_does_not_explode_is_written() -> None:
    [made] = only(lower_parameters(parameter("tags", "cookie", schema=ARRAY, explode=False))).parameters

    assert (made.style, made.explode, made.schema) == ("form", False, ARRAY)


@pytest.mark.parametrize("name", ["la ng", "a;b", "a=b", "é", "", "a,b", "(a)", "a\n"])
def test_cookie_name_that_is_no_token_costs_the_operation(name: str) -> None:
    lowered = lower_parameters(parameter(name, "cookie"))

    assert (lowered.descriptors, codes(lowered)) == ((), [("invalid_cookie_name", f"{GET}/parameters/0")])


def content(media_type: str, schema: Any, location: str = "query", name: str = "q") -> dict[str, Any]:
    return {"name": name, "in": location, "content": {media_type: {"schema": schema}}}


FILTER = {"type": "object", "properties": {"status": {"type": "string"}}}


@pytest.mark.parametrize(
    ("location", "declared", "schema", "style", "content_type"),
    [
        ("query", "application/json", FILTER, "form", "application/json"),
        ("path", "application/vnd.api+json", FILTER, "simple", "application/vnd.api+json"),
        ("header", "Text/JSON; charset=utf-8", FILTER, "simple", "text/json"),
        ("cookie", "application/json", {"type": "array"}, "form", "application/json"),
        ("query", "text/plain", {"type": "string"}, "form", "text/plain"),
        ("query", "text/plain", {}, "form", "text/plain"),
        ("querystring", "application/json", FILTER, "form", "application/json"),
        ("querystring", "application/x-www-form-urlencoded", FILTER, "form", "application/x-www-form-urlencoded"),
    ],
)
def test_parameter_described_by_content_carries_its_media_type(
    location: str, declared: str, schema: Any, style: str, content_type: str
) -> None:
    made = only(lower_parameters(content(declared, schema, location, "it"), path="/items/{it}/"))

    assert made.parameters[0] == Parameter(
        name="it",
        location=location,
        required=location == "path",
        schema=schema,
        style=style,
        explode=False,
        content_type=content_type,
    )


@pytest.mark.parametrize(
    "declared",
    [
        {"name": "q", "in": "query", "content": {}},
        {"name": "q", "in": "query", "content": []},
        {"name": "q", "in": "query", "content": "x"},
        {"name": "q", "in": "query", "content": {"application/json": {}, "text/plain": {}}},
        content("application/xml", {}),
        {**content("application/json", FILTER), "style": "form"},
        content("text/plain", FILTER),
        content("text/plain", {"type": ["string", "null"]}),
        content("application/x-www-form-urlencoded", FILTER),
        content("text/plain", {"type": "string"}, "querystring"),
        content("application/x-www-form-urlencoded", {"type": "object"}, "querystring"),
        content("application/x-www-form-urlencoded", {**FILTER, "additionalProperties": True}, "querystring"),
        {**content("application/json", {}, "querystring"), "content": None, "schema": FILTER},
    ],
    ids=str,
)
def test_content_that_is_not_written_costs_the_operation(declared: Any) -> None:
    lowered = lower_parameters(declared)

    assert lowered.descriptors == ()
    assert codes(lowered) == [("unsupported_parameter_content", f"{GET}/parameters/0/content")]


def test_querystring_is_the_whole_query_and_only_one_is() -> None:
    whole = content("application/json", {}, "querystring", "a")

    lowered = lower_parameters(whole, parameter(), {**whole, "name": "b"}, parameter("X-A", "header"))

    assert lowered.descriptors == ()
    assert codes(lowered) == [
        ("querystring_with_query", f"{GET}/parameters/0"),
        ("multiple_querystring", f"{GET}/parameters/2"),
        ("querystring_with_query", f"{GET}/parameters/2"),
    ]


def test_querystring_beside_a_query_parameter_that_is_the_credential_is_the_whole_query() -> None:
    operation = {
        "parameters": [content("application/json", {}, "querystring", "a"), parameter("ticket")],
        "security": [{"ticket": []}],
        "responses": OK,
    }

    assert names(lower(with_operation(operation, components={"securitySchemes": SCHEMES}))) == ["a"]


@pytest.mark.parametrize(
    ("path", "declared", "expected", "found"),
    [
        ("/a/{id}/", ["id"], ["id"], []),
        ("/a/{id}/", [], ["id"], ["undeclared_path_parameter"]),
        ("/a/{project}-{number}/", ["number"], ["number", "project"], ["undeclared_path_parameter"]),
        ("/a/{lang}.json", ["lang"], ["lang"], []),
        ("{href}sync/", ["href"], ["href"], []),
        ("/a/{path}/b/{path}/{name}", ["path", "name"], ["path", "name"], ["path_parameter_repeated"]),
        ("/a/{p}/{p}/", [], ["p"], ["path_parameter_repeated", "undeclared_path_parameter"]),
        ("/a/", ["id"], [], ["path_parameter_not_in_route"]),
        ("/a/{uid}/", ["id"], ["uid"], ["path_parameter_not_in_route", "undeclared_path_parameter"]),
        ("/a/{}/{x", [], [], []),
        ("/a/{{x}}/", ["x"], ["x"], []),
    ],
)
def test_route_and_declarations_are_reconciled(
    path: str, declared: list[str], expected: list[str], found: list[str]
) -> None:
    lowered = lower_parameters(*(parameter(name, "path") for name in declared), path=path)

    assert names(lowered) == expected
    assert [item.code for item in lowered.diagnostics] == found


def test_undeclared_variable_is_a_required_text() -> None:
    assert only(lower_parameters(path="/a/{id}/")).parameters == (
        Parameter(name="id", location="path", required=True, schema={"type": "string"}, style="simple", explode=False),
    )


@pytest.mark.parametrize(
    ("parameters", "at"),
    [
        ({"q": {}}, "/parameters"),
        ([parameter(), None], "/parameters/1"),
        (["q"], "/parameters/0"),
        ([{"in": "query"}], "/parameters/0"),
        ([{"name": "q", "in": 3}], "/parameters/0"),
        ([parameter(explode="yes")], "/parameters/0/explode"),
    ],
    ids=str,
)
def test_malformed_parameters_cost_the_operation(parameters: Any, at: str) -> None:
    lowered = lower(with_operation({"parameters": parameters, "responses": OK}))

    assert lowered.descriptors == ()
    assert codes(lowered) == [("operation_invalid", GET + at)]
