"""Small views, one per rule of the dispatch; each says what reached it."""

from collections.abc import Iterator
from io import BytesIO

from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.utils import timezone, translation
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import permissions, serializers, status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ErrorDetail, NotAuthenticated, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from sezzlee_mcp.dispatch import is_sezzlee_request

OPEN = [permissions.AllowAny]


class Open(APIView):
    permission_classes = OPEN


class ItemView(Open):
    """One item."""

    @extend_schema(operation_id="item", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, pk: str) -> Response:
        return Response({"view": "item", "pk": pk})


class RegexItemView(Open):
    """One item, found by a regular expression."""

    @extend_schema(operation_id="regex_item", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, pk: str) -> Response:
        return Response({"view": "item", "pk": pk})


class ItemChildrenView(Open):
    """The children of one item."""

    @extend_schema(operation_id="item_children", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, pk: str) -> Response:
        return Response({"view": "children", "pk": pk})


class NumberView(Open):
    """One number."""

    @extend_schema(operation_id="number", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, pk: int) -> Response:
        return Response({"view": "number", "pk": pk})


class FileView(Open):
    """One file by its path."""

    @extend_schema(operation_id="file", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, name: str) -> Response:
        return Response({"view": "file", "name": name})


class SecretView(Open):
    """What no argument may reach."""

    @extend_schema(exclude=True)
    def get(self, request: Request, **kwargs: str) -> Response:
        return Response({"view": "secret", "kwargs": kwargs})


class EchoView(Open):
    """What arrived."""

    @extend_schema(
        operation_id="echo",
        parameters=[
            OpenApiParameter("q", str),
            OpenApiParameter("many", {"type": "array", "items": {"type": "string"}}),
            OpenApiParameter("X-Shop", str, OpenApiParameter.HEADER),
        ],
        request=OpenApiTypes.OBJECT,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request) -> Response:
        return Response(
            {
                "query": dict(request.query_params),
                "data": request.data,
                "shop": request.headers.get("X-Shop"),
                "path": request.path,
                "host": request.get_host(),
                "address": request.META["REMOTE_ADDR"],
                "secure": request.is_secure(),
                "accept": request.headers.get("Accept"),
                "content_type": request.content_type,
                "origin": request.headers.get("Origin"),
                "mcp": [name for name in request.headers if name.lower().startswith("mcp-")],
                "tenant": getattr(request, "tenant", None),
                "is_sezzlee": is_sezzlee_request(request),
                "language": translation.get_language(),
                "zone": timezone.get_current_timezone_name(),
            }
        )


class _Quantity(serializers.Serializer[object]):
    quantity = serializers.IntegerField(min_value=1)


class BoxSerializer(serializers.Serializer[object]):
    label = serializers.CharField()
    items = _Quantity(many=True)


class BoxView(Open):
    """Pack a box."""

    @extend_schema(operation_id="box", request=BoxSerializer, responses={201: BoxSerializer})
    def post(self, request: Request) -> Response:
        serializer = BoxSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data, status=status.HTTP_201_CREATED)


class UploadSerializer(serializers.Serializer[object]):
    title = serializers.CharField()
    attachment = serializers.FileField()


class UploadView(Open):
    """Store a file."""

    parser_classes = [MultiPartParser]

    @extend_schema(operation_id="upload", request=UploadSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request) -> Response:
        serializer = UploadSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        attachment = serializer.validated_data["attachment"]
        title = serializer.validated_data["title"]
        return Response({"title": title, "name": attachment.name, "content": attachment.read().decode()})


@extend_schema(
    operation_id="tenant_echo",
    parameters=[OpenApiParameter("tenant", str, required=True)],
    responses=OpenApiTypes.OBJECT,
    extensions={"x-sezzlee": {"arguments": [{"name": "tenant", "hidden": {"kind": "deferred", "source": "tenant"}}]}},
)
@api_view(["GET"])
@permission_classes(OPEN)
def tenant_echo(request: Request) -> Response:
    """The tenant that arrived."""
    return Response({"tenant": request.query_params["tenant"]})


FAILURES = {
    "crash": lambda: 1 / 0,
    "many": lambda: (_ for _ in ()).throw(ValidationError(["First reason.", "Second reason."])),
    "detail": lambda: (_ for _ in ()).throw(ValidationError({"detail": ErrorDetail("Not today.", code="closed")})),
    "anonymous": lambda: (_ for _ in ()).throw(NotAuthenticated("the secret reason")),
}


@extend_schema(operation_id="fail", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@permission_classes(OPEN)
def fail(request: Request, kind: str) -> Response:
    """Fail in one way."""
    return Response(FAILURES[kind]())


@extend_schema(operation_id="page", responses={(200, "text/html"): OpenApiTypes.STR})
@api_view(["GET"])
@permission_classes(OPEN)
def page_of_error(request: Request) -> HttpResponse:
    """An error page for people."""
    return HttpResponse("<html><body>secret trace</body></html>", status=400)


def chunks(size: int) -> Iterator[bytes]:
    for _ in range(size):
        yield b"x" * 1000


@extend_schema(operation_id="stream", responses={(200, "text/plain"): OpenApiTypes.STR})
@api_view(["GET"])
@permission_classes(OPEN)
def stream(request: Request, thousands: int) -> StreamingHttpResponse:
    """A text of so many thousand characters."""
    return StreamingHttpResponse(chunks(thousands), content_type="text/plain")


@extend_schema(operation_id="download", responses={(200, "application/pdf"): OpenApiTypes.BINARY})
@api_view(["GET"])
@permission_classes(OPEN)
def download(request: Request) -> FileResponse:
    """A file."""
    return FileResponse(BytesIO(b"%PDF-1.4 \xff\xfe"), as_attachment=True, filename="small.pdf")
