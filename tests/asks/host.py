"""One small host with a view for each complaint; every answer tells what reached the view."""

from io import BytesIO
from threading import Event
from typing import Any

from django.contrib.auth.models import Group
from django.http import FileResponse
from django.urls import include, path
from drf_spectacular.helpers import lazy_serializer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers, viewsets
from rest_framework.decorators import api_view, parser_classes, permission_classes, throttle_classes
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.permissions import AllowAny, DjangoModelPermissions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.throttling import SimpleRateThrottle

from sezzlee_mcp.catalog import ArgumentRecord, Fill, FillKind
from sezzlee_mcp.decorators import mcp_tool

OPEN = [AllowAny]
ANY = OpenApiTypes.OBJECT


class GroupSerializer(serializers.ModelSerializer[Group]):
    class Meta:
        model = Group
        fields = ("id", "name")


class GroupListView(generics.ListAPIView[Group]):
    """A plain list view."""

    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    permission_classes = OPEN


class GuardedGroups(viewsets.ModelViewSet[Group]):
    """Groups behind DRF's own model permissions."""

    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    permission_classes = [DjangoModelPermissions]


class PlainViewSet(viewsets.ViewSet):
    """No model, no queryset, no serializer."""

    permission_classes = OPEN

    @extend_schema(operation_id="plain", responses=ANY)
    def list(self, request: Request) -> Response:
        return Response({"view": "plain"})


class NodeSerializer(serializers.Serializer[Any]):
    """A node of a tree, whose children are nodes."""

    name = serializers.CharField()
    children = serializers.SerializerMethodField()

    @extend_schema_field(lazy_serializer("tests.asks.host.NodeSerializer")(many=True))
    def get_children(self, node: Any) -> list[Any]:
        return []


@extend_schema(operation_id="tree", responses=NodeSerializer)
@api_view(["GET"])
@permission_classes(OPEN)
def tree(request: Request) -> Response:
    """The root of a tree."""
    return Response({"name": "root", "children": [{"name": "leaf", "children": []}]})


class KindsSerializer(serializers.Serializer[Any]):
    """One field of each kind that other servers lose."""

    nullable_choice = serializers.ChoiceField(choices=["a", "b"], allow_null=True)
    price = serializers.DecimalField(max_digits=8, decimal_places=2)
    group = serializers.PrimaryKeyRelatedField(queryset=Group.objects.all())
    nested = GroupSerializer()
    optional = serializers.CharField(required=False)
    note = serializers.CharField(required=False, allow_null=True)


@extend_schema(operation_id="kinds_create", request=KindsSerializer, responses=KindsSerializer)
@api_view(["POST"])
@permission_classes(OPEN)
def kinds(request: Request) -> Response:
    """Take one of each kind."""
    return Response(request.data)


@extend_schema(operation_id="form_create", request=GroupSerializer, responses=ANY)
@api_view(["POST"])
@permission_classes(OPEN)
@parser_classes([FormParser])
def form(request: Request) -> Response:
    """Take a form and nothing else."""
    return Response({"type": request.content_type, "data": request.data})


@extend_schema(operation_id="rows_create", request=GroupSerializer(many=True), responses=ANY)
@api_view(["POST"])
@permission_classes(OPEN)
def rows(request: Request) -> Response:
    """Take a list of rows."""
    return Response({"data": request.data})


@extend_schema(
    operation_id="thing_update",
    parameters=[OpenApiParameter("id", int, "path")],
    request={"application/json": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    responses=ANY,
)
@api_view(["PUT"])
@permission_classes(OPEN)
def thing(request: Request, id: int) -> Response:
    """Change a thing whose address and body both know an id."""
    return Response({"path": id, "body": request.data})


@extend_schema(
    operation_id="clash",
    parameters=[OpenApiParameter("body", str)],
    request=GroupSerializer(many=True),
    responses=ANY,
)
@api_view(["POST"])
@permission_classes(OPEN)
def clash(request: Request) -> Response:
    """Take a body whole beside a parameter of that name."""
    return Response({})


@extend_schema(
    operation_id="filter",
    parameters=[
        OpenApiParameter("where", {"type": "object", "properties": {"city": {"type": "string"}}}, style="deepObject"),
        OpenApiParameter("ids", {"type": "array", "items": {"type": "integer"}}, style="form", explode=False),
        OpenApiParameter("q", str, description="What to look for."),
    ],
    responses=ANY,
)
@api_view(["GET"])
@permission_classes(OPEN)
def filter_(request: Request) -> Response:
    """List what fits."""
    return Response({"query": request.META["QUERY_STRING"]})


@extend_schema(operation_id="carriers", responses=ANY)
@api_view(["GET"])
@permission_classes(OPEN)
def carriers(request: Request) -> Response:
    """What of the caller arrives."""
    names = ("HTTP_AUTHORIZATION", "HTTP_X_API_KEY", "HTTP_X_TENANT", "REMOTE_ADDR")
    return Response({**{name: request.META.get(name) for name in names}, "path": request.path})


@extend_schema(operation_id="tenant", responses=ANY)
@api_view(["GET"])
@permission_classes(OPEN)
def tenant(request: Request) -> Response:
    """What the host's middleware told the view."""
    return Response({"tenant": request._request.tenant})  # type: ignore[attr-defined]


class PerAddress(SimpleRateThrottle):
    rate = "2/min"
    scope = "per_address"

    def get_cache_key(self, request: Request, view: Any) -> str:
        return f"asks-{self.get_ident(request)}"


@extend_schema(operation_id="throttled", responses=ANY)
@api_view(["GET"])
@permission_classes(OPEN)
@throttle_classes([PerAddress])
def throttled(request: Request) -> Response:
    """Twice a minute for each address."""
    return Response({})


@extend_schema(operation_id="group_half_create", request=GroupSerializer, responses=ANY)
@api_view(["POST"])
@permission_classes(OPEN)
def half(request: Request) -> Response:
    """Write a group, then refuse it."""
    Group.objects.create(name=request.data["name"])
    raise ValidationError({"name": ["Not this one."]})


@extend_schema(operation_id="contradiction", responses=GroupSerializer)
@api_view(["GET"])
@permission_classes(OPEN)
def contradiction(request: Request) -> Response:
    """An answer that is not what its schema says."""
    return Response(["not", "a", "group"])


@extend_schema(operation_id="paper", responses={(200, "application/pdf"): OpenApiTypes.BINARY})
@api_view(["GET"])
@permission_classes(OPEN)
def paper(request: Request) -> FileResponse:
    """A PDF."""
    return FileResponse(BytesIO(b"%PDF-1.7\xff\xfe"), filename="paper.pdf", content_type="application/pdf")


class UploadSerializer(serializers.Serializer[Any]):
    title = serializers.CharField()
    file = serializers.FileField()


@extend_schema(operation_id="upload", request=UploadSerializer, responses=ANY)
@api_view(["POST"])
@permission_classes(OPEN)
@parser_classes([JSONParser, FormParser, MultiPartParser])
def upload(request: Request) -> Response:
    """Take a file, with the parsers that DRF has by default."""
    file = request.data["file"]
    return Response({"title": request.data["title"], "name": file.name, "text": file.read().decode()})


@mcp_tool(
    description="Count the boxes; tenant_code says whose.",
    arguments=[ArgumentRecord(name="tenant_code", fill=Fill(kind=FillKind.CONSTANT, value="north"))],
)
@extend_schema(operation_id="boxes", parameters=[OpenApiParameter("tenant_code", str, required=True)], responses=ANY)
@api_view(["GET"])
@permission_classes(OPEN)
def boxes(request: Request) -> Response:
    """Count the boxes of a tenant."""
    return Response(request.query_params.dict())


@extend_schema(operation_id="many", responses=ANY, parameters=[OpenApiParameter("limit", int, description="Rows.")])
@api_view(["GET"])
@permission_classes(OPEN)
def many(request: Request) -> Response:
    """Twenty thousand rows."""
    return Response([{"id": number, "name": f"row {number}"} for number in range(20_000)])


released = Event()


@extend_schema(operation_id="patient", responses=ANY)
@api_view(["GET"])
@permission_classes(OPEN)
def patient(request: Request) -> Response:
    """Say how long there is time."""
    return Response({"seconds": request.sezzlee_deadline.remaining_seconds})


@extend_schema(operation_id="hang", responses=ANY)
@api_view(["GET"])
@permission_classes(OPEN)
def hang(request: Request) -> Response:
    """Answer once a test lets it."""
    released.wait(30)
    return Response({})


router = SimpleRouter()
router.register("guarded-groups", GuardedGroups)
router.register("plain", PlainViewSet, basename="plain")
urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/", include(router.urls)),
    path("api/groups/", GroupListView.as_view()),
    path("api/tree/", tree),
    path("api/kinds/", kinds),
    path("api/form/", form),
    path("api/rows/", rows),
    path("api/things/<int:id>/", thing),
    path("api/clash/", clash),
    path("api/boxes/", boxes),
    path("api/filter/", filter_),
    path("api/carriers/", carriers),
    path("api/tenant/", tenant),
    path("api/throttled/", throttled),
    path("api/half/", half),
    path("api/contradiction/", contradiction),
    path("api/paper/", paper),
    path("api/upload/", upload),
    path("api/many/", many),
    path("api/patient/", patient),
    path("api/hang/", hang),
]


def tenant_middleware(get_response: Any) -> Any:
    def middleware(request: Any) -> Any:
        request.tenant = request.headers.get("X-Tenant")
        return get_response(request)

    return middleware
