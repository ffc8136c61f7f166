import json
from dataclasses import replace

import pytest

from sezzlee_mcp.catalog.tools import Template
from sezzlee_mcp.errors import CallError, Continuation, FieldProblem
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.fields import Naming
from sezzlee_mcp.invoke.outcomes import BackendResponse, CallFacts, map_response
from sezzlee_mcp.invoke.pages import PagedCall
from sezzlee_mcp.invoke.recognizers import Problem
from tests.invoke.making import slot

FACTS = CallFacts(naming=Naming(published=("quantity",)), has_identity=True, limit_bytes=100)
JSON = {"content-type": "application/json"}


def answer(status, body=None, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is None:
        return BackendResponse(status=status, headers=named)
    return BackendResponse(status=status, headers={**JSON, **named}, body=json.dumps(body).encode())


def refusal(response, facts=FACTS):
    with pytest.raises(CallError) as raised:
        map_response(response, facts)
    return raised.value


@pytest.mark.parametrize(
    ("response", "success"),
    [
        (answer(204), {"status": 204}),
        (answer(200, {"id": 1}), {"status": 200, "body": {"id": 1}}),
        (answer(200, []), {"status": 200, "body": []}),
        (BackendResponse(status=200, headers=JSON, body=b"null"), {"status": 200, "body": None}),
        (answer(201, {"id": 1}, location="/orders/1/"), {"status": 201, "body": {"id": 1}}),
        (answer(302, location="/orders/1/"), {"status": 302, "location": "/orders/1/"}),
        (answer(304), {"status": 304}),
        *((answer(status, {"id": 1}), {"status": status}) for status in (100, 103, 204, 205, 304)),
        (BackendResponse(status=200, headers=JSON), {"status": 200}),
        (BackendResponse(status=200), {"status": 200}),
        (
            BackendResponse(status=200, headers={"content-type": "text/csv; charset=utf-8"}, body="a,ü".encode()),
            {"status": 200, "body": "a,ü", "contentType": "text/csv; charset=utf-8"},
        ),
        (
            BackendResponse(status=200, headers={"content-type": "text/html"}, body=b"<p>"),
            {"status": 200, "body": "<p>", "contentType": "text/html"},
        ),
        (
            BackendResponse(
                status=200,
                headers={
                    "content-type": "application/pdf",
                    "content-disposition": 'attachment; filename="invoice-5.pdf"',
                },
                body=b"%PDF",
            ),
            {
                "status": 200,
                "body": {"base64": "JVBERg=="},
                "contentType": "application/pdf",
                "filename": "invoice-5.pdf",
            },
        ),
        (BackendResponse(status=200, body=b"\xff"), {"status": 200, "body": {"base64": "/w=="}}),
        (
            BackendResponse(status=200, headers=JSON, body=b"{broken"),
            {"status": 200, "body": "{broken", "contentType": "application/json"},
        ),
    ],
)
def test_answer_below_400_is_a_success(response, success):
    assert map_response(response, FACTS) == success


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, "bad_request", False),
        (401, "unauthenticated", False),
        (402, "bad_request", False),
        (403, "forbidden", False),
        (404, "not_found", False),
        (405, "bad_request", False),
        (406, "bad_request", False),
        (408, "backend_unavailable", True),
        (409, "conflict", False),
        (410, "not_found", False),
        (412, "conflict", False),
        (415, "bad_request", False),
        (418, "bad_request", False),
        (422, "bad_request", False),
        (428, "conflict", False),
        (429, "rate_limited", True),
        (499, "bad_request", False),
        (500, "backend_error", False),
        (501, "backend_error", False),
        (502, "backend_unavailable", True),
        (503, "backend_unavailable", True),
        (504, "backend_unavailable", True),
        (507, "backend_error", False),
        (599, "backend_error", False),
    ],
)
def test_status_gives_the_code(status, code, retryable):
    error = refusal(answer(status))
    assert (error.code, error.status, error.retryable) == (code, status, retryable)
    assert error.message == messages.standard(code, status=status)


@pytest.mark.parametrize("status", [400, 422])
def test_field_errors_make_a_validation_failure(status):
    assert refusal(answer(status, {"Quantity": ["Too many."]})) == CallError(
        code="validation_failed",
        message=messages.STANDARD["validation_failed"],
        status=status,
        fields=(FieldProblem(name="quantity", message="Too many."),),
        continuation=messages.REVISE,
    )


def test_field_errors_of_a_conflict_come_with_it():
    error = refusal(answer(409, {"quantity": ["Sold out."]}))
    assert (error.code, error.fields) == ("conflict", (FieldProblem(name="quantity", message="Sold out."),))


@pytest.mark.parametrize("status", [400, 403, 404, 405, 409, 415, 429])
def test_message_of_a_4xx_is_forwarded(status):
    assert refusal(answer(status, {"detail": "Only before noon."})).message == "Only before noon."


@pytest.mark.parametrize("status", [401, 500, 501, 502, 503, 504, 599])
@pytest.mark.parametrize("body", [{"detail": "marker"}, {"quantity": ["marker"]}, "marker", ["marker"]])
def test_body_of_a_401_and_of_a_5xx_is_not_read(status, body):
    assert refusal(answer(status, body)) == refusal(answer(status))


def test_403_to_nobody_asks_for_a_login_and_shows_nothing():
    facts = CallFacts(naming=Naming(), has_identity=False, limit_bytes=100)
    assert refusal(answer(403, {"detail": "marker"}), facts) == CallError(
        code="unauthenticated",
        message=messages.standard("unauthenticated", status=403),
        status=403,
        continuation=messages.SIGN_IN,
    )


@pytest.mark.parametrize(
    ("location", "login_url"),
    [
        ("/accounts/login/?next=/orders/", "/accounts/login/"),
        ("/accounts/login/", "/accounts/login/"),
        ("/accounts/login/#top", "/accounts/login/?a=b"),
        ("http://testserver/accounts/login/?next=/", "/accounts/login/"),
        ("//testserver/accounts/login/", "/accounts/login/"),
        ("https://sso.example.com/in?next=x", "https://sso.example.com/in"),
        ("../../accounts/login/?next=x", "/accounts/login/"),
    ],
)
def test_redirect_to_the_login_page_is_no_success(location, login_url):
    facts = CallFacts(naming=Naming(), has_identity=True, limit_bytes=100, login_url=login_url)
    response = replace(answer(302, location=location), address="http://testserver/api/orders/")
    error = refusal(response, facts)
    assert (error.code, error.status) == ("unauthenticated", 302)


@pytest.mark.parametrize(
    ("location", "login_url"),
    [
        ("/accounts/login/help/", "/accounts/login/"),
        ("/orders/?next=/accounts/login/", "/accounts/login/"),
        ("https://other.example.com/in", "https://sso.example.com/in"),
        ("/accounts/login/", None),
        ("http://[", "/accounts/login/"),
    ],
)
def test_redirect_elsewhere_is_shown(location, login_url):
    facts = CallFacts(naming=Naming(), has_identity=True, limit_bytes=100, login_url=login_url)
    assert map_response(answer(302, location=location), facts) == {"status": 302, "location": location}


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("30", 30), (" 0 ", 0), ("1.5", None), ("-1", None), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("9" * 5000, None)],
)
def test_rate_limit_says_how_long_to_wait(header, seconds):
    error = refusal(answer(429, retry_after=header))
    assert (error.retry_after_seconds, error.continuation) == (
        seconds,
        Continuation(kind="retry", instruction="Repeat the same call later.", after_seconds=seconds),
    )


def test_wait_of_an_unavailable_backend_is_told_to_who_retries():
    error = refusal(answer(503, retry_after="7"))
    assert (error.retry_after_seconds, error.continuation) == (
        None,
        Continuation(kind="retry", instruction="Repeat the same call later.", after_seconds=7),
    )


def test_page_with_a_next_one_says_the_call_that_asks_for_it():
    template = Template(method="GET", route="/x/", slots=(slot("page", type="integer"),))
    call = PagedCall(tool="xs_list", arguments={}, template=template, query="")
    response = replace(answer(200, {"next": "?page=2"}), address="http://testserver/x/")
    assert map_response(response, replace(FACTS, call=call)) == {
        "status": 200,
        "body": {"next": "?page=2"},
        "continuation": messages.next_page("xs_list", {"page": 2}, None).to_json(),
    }


def test_recognizers_of_the_host_are_asked_in_their_order_with_the_parsed_body():
    asked = []

    def silent(response, body):
        asked.append((response.status, body))

    def loud(response, body):
        return Problem(message="Loud.", fields=(FieldProblem(name="QUANTITY", message="x"),))

    facts = replace(FACTS, recognizers=(silent, loud, silent))
    error = refusal(answer(400, {"a": [1]}), facts)

    assert (error.code, error.message, error.fields) == (
        "validation_failed",
        "Loud.",
        (FieldProblem(name="quantity", message="x"),),
    )
    assert asked == [(400, {"a": [1]})]


@pytest.mark.parametrize(
    ("response", "body"),
    [
        (BackendResponse(status=404, headers={"content-type": "text/html"}, body=b"<p>"), "<p>"),
        (BackendResponse(status=404, headers={"content-type": "image/png"}, body=b"x"), None),
        (BackendResponse(status=404, headers=JSON, body=b'{"a', is_cut=True), None),
        (BackendResponse(status=404), None),
    ],
)
def test_recognizer_gets_a_text_or_none_of_other_bodies(response, body):
    asked = []
    refusal(response, replace(FACTS, recognizers=(lambda response, body: asked.append(body),)))
    assert asked == [body]


@pytest.mark.parametrize("status", [200, 302, 401, 500, 503])
def test_recognizer_is_not_asked_about_what_is_never_read(status):
    facts = replace(FACTS, recognizers=(lambda response, body: Problem(message="marker"),))
    response = answer(status, {"detail": "x"})
    if status < 400:
        assert "marker" not in str(map_response(response, facts))
    else:
        assert refusal(response, facts) == refusal(response)


@pytest.mark.parametrize(
    ("headers", "reference"),
    [
        ({"x_request_id": "r1", "x_correlation_id": "c1"}, "r1"),
        ({"x_correlation_id": "c1", "request_id": "r2"}, "c1"),
        ({"request_id": "r2", "x_trace_id": "t1"}, "r2"),
        ({"x_trace_id": "t1"}, "t1"),
        ({"x_request_id": "not an identifier", "x_trace_id": "t1"}, "t1"),
        ({"x_request_id": "x" * 101}, None),
        ({"x_request_id": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig"}, None),
        ({}, None),
    ],
)
def test_failure_carries_the_reference_of_the_backends_log(headers, reference):
    error = refusal(answer(500, {"traceId": "body-1"}, **headers))
    assert (error.reference, error.message) == (
        reference,
        messages.standard("backend_error", status=500, reference=reference),
    )


@pytest.mark.parametrize(
    ("trace_id", "reference"), [("00-4bf9-01", "00-4bf9-01"), ("a b", None), (7, None), (None, None)]
)
def test_problem_document_carries_a_reference_too(trace_id, reference):
    body = {"traceId": trace_id, "detail": "marker"}
    assert refusal(answer(500, body, content_type="application/problem+json")).reference == reference


def test_answer_that_was_cut_off_is_refused_with_its_shape():
    narrowing = (FieldProblem(name="limit", message="How many."),)
    facts = CallFacts(naming=Naming(), has_identity=True, limit_bytes=100, narrowing=narrowing)
    response = BackendResponse(status=200, headers=JSON, body=b' [{"marker": 1}, ' + b" " * 84, is_cut=True)
    assert refusal(response, facts) == messages.response_too_large(101, 100, {"kind": "array"}, narrowing, is_cut=True)


@pytest.mark.parametrize(("status", "code"), [(400, "bad_request"), (404, "not_found"), (500, "backend_error")])
def test_error_that_was_cut_off_is_still_that_error(status, code):
    response = BackendResponse(
        status=status, headers={"content-type": "application/problem+json"}, body=b'{"detail":"marker"}', is_cut=True
    )
    assert (refusal(response).code, refusal(response).message) == (code, messages.standard(code, status=status))
