"""results.md: what a backend's own way to say an error becomes, and what a host can add to its reading."""

import logging
from collections.abc import Callable
from typing import Any

import pydantic
import pytest
from django.http import HttpResponse, HttpResponseNotModified, HttpResponseRedirect, JsonResponse
from django.urls import include, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pytest_django import Settings
from rest_framework import exceptions, serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from sezzlee_mcp.errors import CallError, FieldProblem
from sezzlee_mcp.invoke import BackendResponse, CallFacts, Problem, map_response, messages
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient

HERE = "tests.django.test_results"


class Line(serializers.Serializer[object]):
    sku = serializers.CharField(max_length=3)
    quantity = serializers.IntegerField(max_value=9)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["sku"] == "off":
            raise serializers.ValidationError("Not sold any more.")
        return attrs


class OrderSerializer(serializers.Serializer[object]):
    customer = serializers.CharField()
    lines = Line(many=True)
    tenant = serializers.CharField(required=False, max_length=1)
    codes = serializers.ListField(child=serializers.IntegerField(), required=False)


class OrderView(APIView):
    """Place an order."""

    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="order",
        request=OrderSerializer,
        responses=OpenApiTypes.OBJECT,
        extensions={
            "x-sezzlee": {
                "arguments": [
                    {"name": "customer", "as": "buyer"},
                    {"name": "tenant", "hidden": {"kind": "constant", "value": "t"}},
                ]
            }
        },
    )
    def post(self, request: Request) -> Response:
        data = {**request.data, **({"tenant": "too long"} if request.data["customer"] == "hidden" else {})}
        serializer = OrderSerializer(data=data)
        serializer.is_valid(raise_exception=True)
        return Response({})


class LinesView(APIView):
    """Store lines."""

    permission_classes = [AllowAny]

    @extend_schema(operation_id="lines", request=Line(many=True), responses=OpenApiTypes.OBJECT)
    def post(self, request: Request) -> Response:
        Line(data=request.data, many=True).is_valid(raise_exception=True)
        return Response({})


class Payload(pydantic.BaseModel):
    sku: str
    quantities: list[int]


def as_ninja_does() -> HttpResponse:
    try:
        Payload.model_validate({"quantities": [1, "x"]})
    except pydantic.ValidationError as error:
        listed = error.errors(include_url=False, include_input=False)
        located = [{**one, "loc": ["body", "payload", *one["loc"]]} for one in listed]
        return JsonResponse({"detail": located}, status=422)
    raise AssertionError


def raises(error: Exception) -> Callable[[], HttpResponse]:
    def answer() -> HttpResponse:
        raise error

    return answer


ANSWERS: dict[str, Callable[[], HttpResponse]] = {
    "ninja": as_ninja_does,
    "conflict": lambda: JsonResponse({"reason": "stock", "missing": ["sku"]}, status=409),
    "parse": raises(exceptions.ParseError()),
    "missing": raises(exceptions.NotFound()),
    "throttled": raises(exceptions.Throttled(wait=30)),
    "token": raises(exceptions.AuthenticationFailed("the secret reason")),
    "busy": lambda: HttpResponse(status=503, headers={"Retry-After": "7", "X-Request-Id": "r-1"}),
    "login": lambda: HttpResponseRedirect("../../login/?next=/"),
    "unmodified": HttpResponseNotModified,
    "early": lambda: HttpResponse(b"x", status=103),
    "created": lambda: HttpResponse(b"x", status=204),
    "latin": lambda: HttpResponse("gr\xfcn".encode("latin-1"), content_type="text/plain; charset=iso-8859-1"),
    "mislabelled": lambda: HttpResponse("gr\xfcn".encode("latin-1"), content_type="text/plain; charset=utf-8"),
    "twice": lambda: HttpResponse(b'{"a": 1, "a": 2}', content_type="application/json"),
    "nan": lambda: HttpResponse(b'{"a": NaN}', content_type="application/json"),
    "deep": lambda: HttpResponse(b"[" * 100_000, content_type="application/json"),
    "accepted": lambda: JsonResponse({"job": 7}, status=202),
}


@extend_schema(operation_id="answer", responses=OpenApiTypes.OBJECT, parameters=[OpenApiParameter("sku", str)])
@api_view(["GET", "HEAD"])
@permission_classes([AllowAny])
def answer(request: Request, kind: str) -> HttpResponse:
    """Answer in one way."""
    return ANSWERS[kind]()


urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/orders/", OrderView.as_view()),
    path("api/lines/", LinesView.as_view()),
    path("api/answers/<str:kind>/", answer),
]


@pytest.fixture
def agent(db: None, settings: Settings) -> McpClient:
    settings.ROOT_URLCONF = HERE
    settings.LOGIN_URL = "/api/login/"
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    sync()
    return McpClient()


BAD_ORDER = {"buyer": "", "lines": [{"sku": "a", "quantity": 1}, {"sku": "long", "quantity": 10}, {"sku": "b"}]}
BAD_ORDER_FIELDS = [
    {"name": "buyer", "message": "This field may not be blank."},
    {"name": "lines[1].sku", "message": "Ensure this field has no more than 3 characters."},
    {"name": "lines[1].quantity", "message": "Ensure this value is less than or equal to 9."},
    {"name": "lines[2].quantity", "message": "This field is required."},
]


# -- the ways in which DRF projects say what is wrong --


def test_errors_of_nested_serializers_are_named_by_their_place(agent: McpClient) -> None:
    assert agent.invoke("order", BAD_ORDER) == {
        "error": "validation_failed",
        "message": messages.STANDARD["validation_failed"],
        "retryable": False,
        "status": 400,
        "fields": BAD_ORDER_FIELDS,
        "continuation": messages.REVISE.to_json(),
    }


def test_error_of_an_element_is_named_by_its_index(agent: McpClient) -> None:
    order = {"buyer": "a", "lines": [{"sku": "off", "quantity": 1}], "codes": [1, "x"]}

    assert agent.invoke("order", order)["fields"] == [
        {"name": "lines[0]", "message": "Not sold any more."},
        {"name": "codes[1]", "message": "A valid integer is required."},
    ]


def test_rows_of_a_list_are_named_by_their_index(agent: McpClient) -> None:
    rows = [{"sku": "a", "quantity": 1}, {"sku": "off", "quantity": 1}, {"sku": "b", "quantity": 10}]

    assert agent.invoke("lines", {"body": rows})["fields"] == [
        {"name": "[1]", "message": "Not sold any more."},
        {"name": "[2].quantity", "message": "Ensure this value is less than or equal to 9."},
    ]


def test_error_of_a_hidden_argument_keeps_its_words_alone(agent: McpClient) -> None:
    order = {"buyer": "hidden", "lines": []}

    assert agent.invoke("order", order)["fields"] == [{"message": "Ensure this field has no more than 1 characters."}]


def test_pydantics_errors_are_named_from_the_payload_on(agent: McpClient) -> None:
    envelope = agent.invoke("answer", {"kind": "ninja"})

    assert (envelope["error"], envelope["fields"]) == (
        "validation_failed",
        [
            {"name": "sku", "message": "Field required"},
            {
                "name": "payload.quantities[1]",
                "message": "Input should be a valid integer, unable to parse string as an integer",
            },
        ],
    )


@pytest.mark.parametrize("key", ["non_field_errors", "errors", "detail", "error", "everything"])
def test_errors_of_the_whole_object_have_no_name_whatever_their_key(
    agent: McpClient, settings: Settings, key: str
) -> None:
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "NON_FIELD_ERRORS_KEY": key}
    order = {"buyer": "", "lines": [{"sku": "off", "quantity": 1}]}

    assert agent.invoke("order", order)["fields"] == [
        {"name": "buyer", "message": "This field may not be blank."},
        {"name": "lines[0]", "message": "Not sold any more."},
    ]
    assert agent.invoke("order", {"buyer": "a", "lines": {}})["fields"] == [
        {"name": "lines", "message": 'Expected a list of items but got type "dict".'}
    ]


def enveloped(error: Exception, context: Any) -> Response | None:
    """The handler that many projects have: one wrapper around whatever DRF says."""
    response = exception_handler(error, context)
    if response is not None:
        response.data = {"success": False, "status_code": response.status_code, "errors": response.data}
    return response


def detailed(error: Exception, context: Any) -> Response | None:
    response = exception_handler(error, context)
    if response is not None and isinstance(error, exceptions.APIException):
        response.data = error.get_full_details()
    return response


HANDLERS = [f"{HERE}.enveloped", f"{HERE}.detailed", "drf_standardized_errors.handler.exception_handler"]


@pytest.mark.parametrize("handler", HANDLERS)
def test_field_errors_are_read_through_an_exception_handler_of_the_hosts(
    agent: McpClient, settings: Settings, handler: str
) -> None:
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "EXCEPTION_HANDLER": handler}

    assert agent.invoke("order", BAD_ORDER)["fields"] == BAD_ORDER_FIELDS


@pytest.mark.parametrize("handler", [*HANDLERS, "rest_framework.views.exception_handler"])
@pytest.mark.parametrize(
    ("kind", "code", "message"),
    [
        ("parse", "bad_request", "Malformed request."),
        ("missing", "not_found", "Not found."),
        ("throttled", "rate_limited", "Request was throttled. Expected available in 30 seconds."),
    ],
)
def test_message_is_read_through_an_exception_handler_of_the_hosts(
    agent: McpClient, settings: Settings, handler: str, kind: str, code: str, message: str
) -> None:
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "EXCEPTION_HANDLER": handler}

    envelope = agent.invoke("answer", {"kind": kind})

    assert (envelope["error"], envelope["message"], envelope.get("fields")) == (code, message, None)


def test_wait_of_a_throttle_is_told_in_seconds(agent: McpClient) -> None:
    envelope = agent.invoke("answer", {"kind": "throttled"})

    assert (envelope["retryAfterSeconds"], envelope["continuation"]["afterSeconds"]) == (30, 30)


def test_wait_of_a_busy_backend_is_told_to_who_retries(agent: McpClient) -> None:
    assert agent.invoke("answer", {"kind": "busy"}) == {
        "error": "backend_unavailable",
        "message": messages.standard("backend_unavailable", status=503, reference="r-1"),
        "retryable": True,
        "status": 503,
        "reference": "r-1",
        "continuation": {"kind": "retry", "afterSeconds": 7, "instruction": "Repeat the same call later."},
    }


# -- answers of other kinds --


@pytest.mark.parametrize(
    ("kind", "envelope"),
    [
        ("unmodified", {"status": 304}),
        ("early", {"status": 103}),
        ("created", {"status": 204}),
        ("latin", {"status": 200, "body": "grün", "contentType": "text/plain; charset=iso-8859-1"}),
        ("mislabelled", {"status": 200, "body": {"base64": "Z3L8bg=="}, "contentType": "text/plain; charset=utf-8"}),
        ("twice", {"status": 200, "body": {"a": 2}}),
        ("nan", {"status": 200, "body": '{"a": NaN}', "contentType": "application/json"}),
    ],
)
def test_answer_is_told_as_a_client_would_read_it(agent: McpClient, kind: str, envelope: dict[str, Any]) -> None:
    assert agent.invoke("answer", {"kind": kind}) == envelope


def test_json_that_nobody_can_read_is_text(agent: McpClient) -> None:
    envelope = agent.invoke("answer", {"kind": "deep"})

    assert (envelope["body"], envelope["contentType"]) == ("[" * 100_000, "application/json")


def test_relative_redirect_to_the_login_page_is_a_call_without_identity(agent: McpClient) -> None:
    assert agent.invoke("answer", {"kind": "login"})["error"] == "unauthenticated"


# -- what the host adds --


def of_shop(response: BackendResponse, body: Any) -> Problem | None:
    if response.status != 409:
        return None
    return Problem(
        message=f"Out of {body['reason']}.", fields=(FieldProblem(name=body["missing"][0], message="Gone."),)
    )


def of_orders(response: BackendResponse, body: Any) -> Problem | None:
    if "customer" not in str(body):
        return None
    return Problem(
        fields=(
            FieldProblem(name="customer.names[2]", message="See /srv/shop/orders.py."),
            FieldProblem(name="tenant", message="Not yours."),
            FieldProblem(name=None, message="Neither."),
        )
    )


def open_minded(response: BackendResponse, body: Any) -> Problem | None:
    return Problem(message="psycopg.errors.UniqueViolation")


def broken(response: BackendResponse, body: Any) -> Problem | None:
    raise KeyError("the secret key")


def wordy(response: BackendResponse, body: Any) -> Any:
    return "just a text"


@pytest.fixture
def recognized_by(agent: McpClient, settings: Settings) -> Callable[..., McpClient]:
    def recognized_by(*functions: Callable[..., Any]) -> McpClient:
        names = [f"{HERE}.{function.__name__}" for function in functions]
        settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RECOGNIZERS": names}
        return agent

    return recognized_by


def test_recognizer_of_the_host_is_asked_first(recognized_by: Callable[..., McpClient]) -> None:
    envelope = recognized_by(of_orders, of_shop).invoke("answer", {"kind": "conflict"})

    assert (envelope["error"], envelope["message"], envelope["fields"]) == (
        "conflict",
        "Out of stock.",
        [{"name": "sku", "message": "Gone."}],
    )


def test_what_no_recognizer_of_the_host_knows_is_read_as_ever(recognized_by: Callable[..., McpClient]) -> None:
    assert recognized_by(of_shop).invoke("order", BAD_ORDER)["fields"] == BAD_ORDER_FIELDS


def test_words_of_a_recognizer_are_filtered_and_its_names_are_the_agents(
    recognized_by: Callable[..., McpClient],
) -> None:
    envelope = recognized_by(of_orders).invoke("order", BAD_ORDER)

    assert (envelope["error"], envelope["message"], envelope["fields"]) == (
        "validation_failed",
        messages.STANDARD["validation_failed"],
        [
            {"name": "buyer.names[2]", "message": messages.WITHHELD_FIELD},
            {"message": "Not yours."},
            {"message": "Neither."},
        ],
    )


def test_message_of_a_recognizer_is_filtered(recognized_by: Callable[..., McpClient]) -> None:
    envelope = recognized_by(open_minded).invoke("answer", {"kind": "missing"})

    assert envelope["message"] == messages.standard("not_found", status=404)


def test_recognizer_is_not_asked_about_what_is_never_read(recognized_by: Callable[..., McpClient]) -> None:
    agent = recognized_by(of_shop, open_minded)

    assert agent.invoke("answer", {"kind": "busy"})["message"] == messages.standard(
        "backend_unavailable", status=503, reference="r-1"
    )
    assert agent.invoke("answer", {"kind": "accepted"}) == {"status": 202, "body": {"job": 7}}
    assert agent.invoke("answer", {"kind": "token"})["error"] == "unauthenticated"


@pytest.mark.parametrize("function", [broken, wordy])
def test_recognizer_that_fails_is_logged_and_passed_over(
    recognized_by: Callable[..., McpClient], caplog: pytest.LogCaptureFixture, function: Callable[..., Any]
) -> None:
    with caplog.at_level(logging.ERROR, logger="sezzlee_mcp"):
        envelope = recognized_by(function, of_shop).invoke("answer", {"kind": "conflict"})

    assert envelope["message"] == "Out of stock."
    assert [record.name for record in caplog.records] == ["sezzlee_mcp"]
    assert f"{HERE}.{function.__name__}" in caplog.text


def jobs(response: BackendResponse, facts: CallFacts) -> dict[str, Any]:
    if response.status == 202:
        return {"status": 202, "body": "The job has begun; ask for it in a minute."}
    if response.status == 409:
        raise CallError(
            code="out_of_stock",
            message="See /srv/shop/stock.py.",
            status=409,
            fields=(FieldProblem(name="sku", message="KeyError: 'sku'"),),
            payload={"seen": ["Traceback (most recent call last):"]},
        )
    return map_response(response, facts)


def odd(response: BackendResponse, facts: CallFacts) -> dict[str, Any]:
    return {"status": 202, "body": object()} if response.status == 202 else broken_mapper(response, facts)


def broken_mapper(response: BackendResponse, facts: CallFacts) -> dict[str, Any]:
    raise KeyError("the secret key")


def listing(response: BackendResponse, facts: CallFacts) -> Any:
    return [response.status]


def wide(response: BackendResponse, facts: CallFacts) -> dict[str, Any]:
    return {"status": 200, "body": "x" * 300_000}


@pytest.fixture
def mapped_by(agent: McpClient, settings: Settings) -> Callable[[Callable[..., Any]], McpClient]:
    def mapped_by(function: Callable[..., Any]) -> McpClient:
        settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RESULT_MAPPER": f"{HERE}.{function.__name__}"}
        return agent

    return mapped_by


def test_mapper_of_the_host_decides_what_an_answer_is(mapped_by: Callable[..., McpClient]) -> None:
    agent = mapped_by(jobs)

    assert agent.invoke("answer", {"kind": "accepted"}) == {
        "status": 202,
        "body": "The job has begun; ask for it in a minute.",
    }
    assert agent.invoke("order", BAD_ORDER)["fields"] == BAD_ORDER_FIELDS


def test_failure_of_a_mapper_is_filtered(mapped_by: Callable[..., McpClient]) -> None:
    assert mapped_by(jobs).invoke("answer", {"kind": "conflict"}) == {
        "error": "out_of_stock",
        "message": messages.standard("out_of_stock", status=409),
        "retryable": False,
        "status": 409,
        "fields": [{"name": "sku", "message": messages.WITHHELD_FIELD}],
    }


def test_success_of_a_mapper_is_held_to_the_budget(mapped_by: Callable[..., McpClient]) -> None:
    assert mapped_by(wide).invoke("answer", {"kind": "accepted"})["error"] == "response_too_large"


@pytest.mark.parametrize("function", [odd, broken_mapper, listing])
def test_mapper_that_fails_gives_nothing_of_the_answer(
    mapped_by: Callable[..., McpClient], caplog: pytest.LogCaptureFixture, function: Callable[..., Any]
) -> None:
    envelope = mapped_by(function).invoke("answer", {"kind": "accepted"})

    assert envelope == {
        "error": "internal_error",
        "message": messages.internal_error().message,
        "retryable": False,
    }
    assert [(record.name, record.getMessage()) for record in caplog.records] == [
        ("sezzlee_mcp", "invoke_tool answer failed.")
    ]
