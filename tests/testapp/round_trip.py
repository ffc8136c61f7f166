"""Views that keep what they read of a request, one per body family and per style; a URLconf of their own."""

from typing import IO, Any
from urllib.parse import unquote

from django.core.files.uploadedfile import UploadedFile
from django.urls import include, path
from drf_spectacular.utils import extend_schema
from rest_framework import parsers, permissions, serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from project.shop.parsers import PlainTextParser

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
ARRAY = {"type": "array", "items": {"type": "string"}}
ANYTHING = {"type": "object", "additionalProperties": True}
FIELD_NAMES = ["text", "a b", "größe", "x&y=z;+%41", "a.b", "a[b]", "it's", "__proto__", "Content-Type", "a\tb"]
FIELDS = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in FIELD_NAMES},
        "many": ARRAY,
        "whole": {"type": "integer"},
        "fraction": {"type": "number"},
        "flag": {"type": "boolean"},
    },
}
WITH_FILE = {**FIELDS, "properties": {**FIELDS["properties"], "file": {"type": "string", "format": "binary"}}}

# What the views read, the latest last.
read: list[Any] = []


class BytesParser(BaseParser):
    media_type = "application/octet-stream"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> bytes:
        return stream.read()


class Keeping(APIView):
    permission_classes = [permissions.AllowAny]

    def keep(self, found: Any) -> Response:
        read.append(found)
        return Response({"kept": True})


def raw(name: str, *, parameters: Any = (), body: dict[str, Any] | None = None) -> dict[str, Any]:
    content = {media_type: {"schema": schema} for media_type, schema in (body or {}).items()}
    return {
        "operationId": name,
        "parameters": list(parameters),
        **({"requestBody": {"required": True, "content": content}} if content else {}),
        "responses": {"200": {"description": "It was read."}},
    }


def body_view(name: str, parser: type[BaseParser], media_type: str, schema: dict[str, Any]) -> Any:
    class View(Keeping):
        parser_classes = [parser]

        @extend_schema(operation=raw(name, body={media_type: schema}))
        def post(self, request: Request) -> Response:
            return self.keep(with_content(request.data) if request.FILES else request.data)

    return path(f"{name}/", View.as_view())


def with_content(data: Any) -> dict[str, Any]:
    """A form by key, its files as they can be read only while the request lasts."""
    return {
        key: (value.name, value.content_type, value.read()) if isinstance(value, UploadedFile) else value
        for key, value in data.items()
    }


class _Row(serializers.Serializer[object]):
    label = serializers.CharField(allow_blank=True, trim_whitespace=False)
    amount = serializers.IntegerField()
    marks = serializers.ListField(child=serializers.CharField(allow_blank=True, trim_whitespace=False))


class _Inner(serializers.Serializer[object]):
    note = serializers.CharField(allow_blank=True, trim_whitespace=False)
    ratio = serializers.FloatField()


class NestedSerializer(serializers.Serializer[object]):
    rows = _Row(many=True)
    inner = _Inner()
    numbers = serializers.ListField(child=serializers.IntegerField())
    flag = serializers.BooleanField()


def nested_view(name: str, parser: type[BaseParser]) -> Any:
    class View(Keeping):
        parser_classes = [parser]

        @extend_schema(operation_id=name, request=NestedSerializer, responses=None)
        def post(self, request: Request) -> Response:
            serializer = NestedSerializer(data=request.data)
            serializer.is_valid(raise_exception=True)
            return self.keep(serializer.validated_data)

    return path(f"{name}/", View.as_view())


def parameter(name: str, where: str, schema: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return {"name": name, "in": where, "schema": schema, "required": where == "path", **facts}


QUERY = [
    parameter("one", "query", {"type": "string"}),
    parameter("reserved", "query", {"type": "string"}, allowReserved=True),
    parameter("a b&ü", "query", {"type": "string"}),
    parameter("exploded", "query", ARRAY),
    parameter("commas", "query", ARRAY, style="form", explode=False),
    parameter("spaces", "query", ARRAY, style="spaceDelimited", explode=False),
    parameter("pipes", "query", ARRAY, style="pipeDelimited", explode=False),
    parameter(
        "deep",
        "query",
        {"type": "object", "properties": {"min": {"type": "number"}, "a b": {"type": "string"}, "many": ARRAY}},
        style="deepObject",
        explode=True,
    ),
    {"name": "json", "in": "query", "content": {"application/json": {"schema": {}}}},
]


class QueryView(Keeping):
    @extend_schema(operation=raw("query", parameters=QUERY))
    def get(self, request: Request) -> Response:
        return self.keep((dict(request.query_params.lists()), delimited(request.META["QUERY_STRING"])))


def delimited(query: str) -> dict[str, list[str]]:
    """The arrays of a query that are one pair: split at the raw delimiter, then decoded."""
    delimiters = {"commas": ",", "spaces": "%20", "pipes": "|"}
    pairs = (pair.partition("=") for pair in query.split("&"))
    return {key: [unquote(text) for text in text.split(delimiters[key])] for key, _, text in pairs if key in delimiters}


def path_view(style: str) -> Any:
    operation = raw(f"path_{style}", parameters=[parameter("value", "path", {"type": "string"}, style=style)])

    class View(Keeping):
        @extend_schema(operation=operation)
        def get(self, request: Request, value: str) -> Response:
            return self.keep(value)

    return path(f"{style}/<str:value>/", View.as_view())


HEADERS = [
    parameter("X-Text", "header", {"type": "string"}),
    parameter("X-Many", "header", ARRAY),
    {"name": "X-Json", "in": "header", "content": {"application/json": {"schema": {}}}},
    parameter("crumb", "cookie", {"type": "string"}),
    parameter("whole", "cookie", {"type": "integer"}),
]


class HeaderView(Keeping):
    @extend_schema(operation=raw("headers", parameters=HEADERS))
    def get(self, request: Request) -> Response:
        sent = {name: request.headers[name] for name in ("X-Text", "X-Many", "X-Json") if name in request.headers}
        return self.keep((sent, {name: unquote(text) for name, text in request.COOKIES.items()}))


api = [
    body_view("json_open", parsers.JSONParser, "application/json", ANYTHING),
    body_view("json_any", parsers.JSONParser, "application/json", {}),
    body_view("urlencoded", parsers.FormParser, FORM, FIELDS),
    body_view("multipart", parsers.MultiPartParser, MULTIPART, WITH_FILE),
    body_view("text", PlainTextParser, "text/plain", {"type": "string"}),
    body_view("octets", BytesParser, "application/octet-stream", {"type": "string", "format": "binary"}),
    nested_view("nested_json", parsers.JSONParser),
    nested_view("nested_urlencoded", parsers.FormParser),
    nested_view("nested_multipart", parsers.MultiPartParser),
    path("query/", QueryView.as_view()),
    path_view("simple"),
    path_view("label"),
    path_view("matrix"),
    path("headers/", HeaderView.as_view()),
]

urlpatterns = [path("", include("sezzlee_mcp.urls")), path("api/", include(api))]
