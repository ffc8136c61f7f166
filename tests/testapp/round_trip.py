"""Views that keep what they read of a request, one per body family; a URLconf of their own."""

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
from sezzlee_mcp.invoke import FileContent

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
ARRAY = {"type": "array", "items": {"type": "string"}}
ANYTHING = {"type": "object", "additionalProperties": True}
FIELD_NAMES = ["text", "a b", "größe", "x&y=z;+%41", "a.b", "a[b]", "it's", "__proto__", "Content-Type", "a\tb"]
FIELDS: dict[str, Any] = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in FIELD_NAMES},
        "many": ARRAY,
        "whole": {"type": "integer"},
        "fraction": {"type": "number"},
        "flag": {"type": "boolean"},
    },
}
BYTES = {"type": "string", "format": "binary"}
FILES = {"file": BYTES, "files": {"type": "array", "items": BYTES}}
WITH_FILE = {**FIELDS, "properties": {**FIELDS["properties"], **FILES}}
# A bracket or a dot in the name of a member is how a form writes a member's member.
MEMBERS = {name: schema for name, schema in FIELDS["properties"].items() if not {".", "["}.intersection(name)}
GROUPED = {
    "type": "object",
    "properties": {"group": {"type": "object", "properties": MEMBERS}, "one": {"type": "string"}},
}

# What the views read, the latest last.
read: list[Any] = []


# The files that a reference leads to.
stored: dict[str, FileContent] = {}


def stored_file(ref: str, **facts: Any) -> FileContent:
    return stored[ref]


class AnyJsonParser(parsers.JSONParser):
    media_type = "application/*"


class TextJsonParser(parsers.JSONParser):
    media_type = "text/json"


class BytesParser(BaseParser):
    media_type = "*/*"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        return media_type, stream.read()


class Keeping(APIView):
    permission_classes = [permissions.AllowAny]

    def keep(self, found: Any) -> Response:
        read.append(found)
        return Response({"kept": True})


def raw(
    name: str, *, parameters: Any = (), body: dict[str, Any] | None = None, required: bool = True
) -> dict[str, Any]:
    content = {media_type: {"schema": schema} for media_type, schema in (body or {}).items()}
    return {
        "operationId": name,
        "parameters": list(parameters),
        **({"requestBody": {"required": required, "content": content}} if content else {}),
        "responses": {"200": {"description": "It was read."}},
    }


def body_view(name: str, parsers: list[type[BaseParser]], body: dict[str, Any], *, required: bool = True) -> Any:
    class View(Keeping):
        parser_classes = parsers

        @extend_schema(operation=raw(name, body=body, required=required))
        def post(self, request: Request) -> Response:
            return self.keep(with_content(request.data) if request.FILES else request.data)

    return path(f"{name}/", View.as_view())


def with_content(data: Any) -> dict[str, list[Any]]:
    """A form by key, its files as they can be read only while the request lasts."""
    lists = data.lists() if hasattr(data, "lists") else ((key, [value]) for key, value in data.items())
    return {key: [content_of(value) for value in values] for key, values in lists}


def content_of(value: Any) -> Any:
    return (value.name, value.content_type, value.read()) if isinstance(value, UploadedFile) else value


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
    body_view("json_open", [parsers.JSONParser], {JSON: ANYTHING}),
    body_view("json_any", [parsers.JSONParser], {JSON: {}}),
    body_view("json_of_a_vendor", [AnyJsonParser], {"application/vnd.shop+json": {}}),
    body_view("json_as_text", [TextJsonParser], {"text/json": {}}),
    body_view("urlencoded", [parsers.FormParser], {FORM: FIELDS}),
    body_view("urlencoded_whole", [parsers.FormParser], {FORM: FIELDS}, required=False),
    body_view("grouped_urlencoded", [parsers.FormParser], {FORM: GROUPED}),
    body_view("grouped_multipart", [parsers.MultiPartParser], {MULTIPART: GROUPED}),
    body_view("multipart", [parsers.MultiPartParser], {MULTIPART: WITH_FILE}),
    body_view("multipart_whole", [parsers.MultiPartParser], {MULTIPART: WITH_FILE}, required=False),
    body_view("either", [parsers.JSONParser, parsers.MultiPartParser], {JSON: WITH_FILE, MULTIPART: WITH_FILE}),
    body_view("text", [PlainTextParser], {"text/plain": {"type": "string"}}),
    body_view("octets", [BytesParser], {"application/octet-stream": BYTES}),
    body_view("image", [BytesParser], {"image/png": BYTES}),
    body_view("anything", [BytesParser], {"*/*": BYTES}),
    body_view("named_upload", [parsers.FileUploadParser], {"*/*": {"type": "object", "properties": {"file": BYTES}}}),
    nested_view("nested_json", parsers.JSONParser),
    nested_view("nested_urlencoded", parsers.FormParser),
    nested_view("nested_multipart", parsers.MultiPartParser),
    path("query/", QueryView.as_view()),
    path("headers/", HeaderView.as_view()),
]

urlpatterns = [path("", include("sezzlee_mcp.urls")), path("api/", include(api))]
