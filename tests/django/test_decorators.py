"""Markers in the code of views: they survive their neighbours, and a sync reads and checks them."""

from typing import Any

import pytest
from django.urls import clear_url_caches, include, path
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from pytest_django import Settings
from rest_framework import permissions, viewsets
from rest_framework.decorators import action, api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from sezzlee_mcp import decorators
from sezzlee_mcp.catalog import ArgumentRecord, Fill, FillKind, Variant
from sezzlee_mcp.checks import check_markers
from sezzlee_mcp.decorators import mcp_ignore, mcp_tool
from sezzlee_mcp.models import Diagnostic, ToolContent
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient

OPEN = [permissions.AllowAny]
DRF_SCHEMA = "rest_framework.schemas.openapi.AutoSchema"
ANY = {200: {"type": "object"}}


@mcp_tool(tags=["papers"], search_terms=["document"], annotations={"openWorldHint": False})
class Papers(viewsets.ViewSet):
    permission_classes = OPEN

    @extend_schema(operation_id="papers", responses=ANY)
    def list(self, request: Request) -> Response:
        return Response({})

    @mcp_tool(name="read_paper", tags=["reading"])
    @extend_schema(operation_id="above", summary="Read one.", responses=ANY)
    def retrieve(self, request: Request, pk: int) -> Response:
        return Response({"pk": pk})

    @extend_schema(operation_id="below", summary="Burn one.", responses=ANY, extensions={"x-other": {"kept": True}})
    @mcp_tool(name="burn_paper", description="Burn a paper. It is gone.", annotations={"idempotentHint": False})
    def destroy(self, request: Request, pk: int) -> Response:
        return Response({})

    @mcp_ignore
    @extend_schema(operation_id="shred", request=None, responses=ANY)
    @action(detail=False, methods=["post"])
    def shred(self, request: Request) -> Response:
        return Response({})

    @mcp_tool(name="copy_paper", expose=None)
    @extend_schema(operation_id="copy", request=None, responses=ANY)
    @action(detail=True, methods=["post"])
    def copy(self, request: Request, pk: int) -> Response:
        return Response({})


@mcp_ignore
class Secrets(APIView):
    permission_classes = OPEN

    @extend_schema(operation_id="secret", responses=ANY)
    def get(self, request: Request) -> Response:
        return Response({})

    @extend_schema(operation_id="told", request=None, responses=ANY, extensions={"x-sezzlee": {"expose": True}})
    def post(self, request: Request) -> Response:
        return Response({})

    @mcp_tool
    @extend_schema(operation_id="open_secret", request=None, responses=ANY)
    def put(self, request: Request) -> Response:
        return Response({})


@extend_schema(tags=["outer"])
@mcp_ignore
class Hidden(APIView):
    permission_classes = OPEN

    @extend_schema(operation_id="hidden", responses=ANY)
    def get(self, request: Request) -> Response:
        return Response({})


@mcp_tool(name="say", methods=["post"])
@mcp_tool(expose=False, methods=["GET"])
@extend_schema(operation_id="speech", request=None, responses=ANY)
@api_view(["GET", "POST"])
@permission_classes(OPEN)
def speech(request: Request) -> Response:
    return Response({})


@extend_schema(
    operation_id="find", parameters=[OpenApiParameter("q", str), OpenApiParameter("mode", str)], responses=ANY
)
@mcp_tool(
    arguments=[ArgumentRecord(name="q", agent_name="words", description="What to look for.")],
    variants=[
        Variant(
            name=f"find_{mode}",
            description=f"Find {mode}.",
            arguments=(ArgumentRecord(name="mode", fill=Fill(kind=FillKind.CONSTANT, value=mode)),),
        )
        for mode in ("new", "old")
    ],
)
@api_view(["GET"])
@permission_classes(OPEN)
def find(request: Request) -> Response:
    return Response(dict(request.query_params.items()))


@mcp_tool(name=5, tags="papers", arguments=[{"nome": "q"}], annotations={"safe": True})  # type: ignore[arg-type]
@extend_schema(operation_id="wrong", responses=ANY)
@api_view(["GET"])
@permission_classes(OPEN)
def wrong(request: Request) -> Response:
    return Response({})


@extend_schema_view(get=[mcp_tool(name="from_outside"), extend_schema(operation_id="outside", responses=ANY)])
class Derived(Secrets):
    http_method_names = ["get"]


router = SimpleRouter()
router.register("papers", Papers, basename="paper")
urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/", include(router.urls)),
    path("api/secrets/", Secrets.as_view()),
    path("api/hidden/", Hidden.as_view()),
    path("api/speech/", speech),
    path("api/find/", find),
    path("api/wrong/", wrong),
    path("api/derived/", Derived.as_view()),
]


@pytest.fixture
def marked(db: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = __name__
    settings.SEZZLEE_MCP = {"PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}
    sync()


def published() -> dict[str, ToolContent]:
    return {content.name: content for content in ToolContent.objects.all()}


def test_only_what_is_marked_is_a_tool(marked: None) -> None:
    assert sorted(published()) == [
        "burn_paper",
        "copy_paper",
        "find_new",
        "find_old",
        "from_outside",
        "open_secret",
        "papers",
        "read_paper",
        "say",
        "told",
        "wrong",
    ]


def test_ignored_operations_stay_so_where_everything_is_exposed(marked: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    before = set(published())
    sync()

    assert set(published()) == before


def test_member_of_a_method_beats_that_of_its_class(marked: None) -> None:
    documents = {name: content.document for name, content in published().items()}

    assert (documents["papers"]["tags"], documents["papers"]["searchTerms"]) == (["papers"], ["document"])
    assert (documents["read_paper"]["tags"], documents["read_paper"]["searchTerms"]) == (["reading"], ["document"])


def test_texts_of_extend_schema_and_of_the_marker_live_beside_each_other(marked: None) -> None:
    tools = published()

    assert tools["read_paper"].loaded["description"].startswith("Read one.")
    assert tools["burn_paper"].loaded["description"] == "Burn a paper. It is gone."
    assert tools["burn_paper"].loaded["annotations"]["idempotentHint"] is False


def test_variants_and_renamed_arguments_reach_the_backend(marked: None) -> None:
    envelope = McpClient().invoke("find_old", {"words": "tea"})

    assert envelope["body"] == {"q": "tea", "mode": "old"}


def test_wrong_values_are_reported_and_left_out(marked: None) -> None:
    messages = "\n".join(Diagnostic.objects.filter(code="extension_invalid").values_list("message", flat=True))

    assert Diagnostic.objects.filter(code="extension_invalid").count() == 5
    assert "name must be a text, not a number" in messages
    assert "tags must be a list of texts, not a text" in messages
    assert "annotations.safe is no hint" in messages
    assert "arguments[0].nome is no member of it" in messages


def test_document_for_people_carries_the_extension(marked: None) -> None:
    paths = SchemaGenerator(urlconf=__name__).get_schema(public=True)["paths"]

    burned: dict[str, Any] = paths["/api/papers/{id}/"]["delete"]
    assert (burned["operationId"], burned["x-other"]) == ("below", {"kept": True})
    assert burned["x-sezzlee"] == {
        "expose": True,
        "name": "burn_paper",
        "description": "Burn a paper. It is gone.",
        "tags": ["papers"],
        "searchTerms": ["document"],
        "annotations": {"idempotentHint": False},
    }
    assert paths["/api/hidden/"]["get"]["x-sezzlee"] == {"expose": False}


def test_marker_of_a_derived_view_leaves_its_base_alone(marked: None) -> None:
    paths = SchemaGenerator(urlconf=__name__).get_schema(public=True)["paths"]

    assert paths["/api/secrets/"]["get"]["x-sezzlee"] == {"expose": False}
    assert paths["/api/derived/"]["get"]["x-sezzlee"] == {"expose": True, "name": "from_outside"}


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("marker", ["class", "method", "function"])
def test_marker_holds_in_a_project_with_another_schema_class(
    db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch, marker: str, above: bool
) -> None:
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_SCHEMA_CLASS": DRF_SCHEMA}
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    settings.ROOT_URLCONF = __name__
    describe = extend_schema(summary="Described.")

    def both(view: Any) -> Any:
        return mcp_ignore(describe(view)) if above else describe(mcp_ignore(view))

    def plain(view: Any) -> Any:
        return view

    class Plain(APIView):
        permission_classes = OPEN

        @(both if marker == "method" else plain)
        def get(self, request: Request) -> Response:
            return Response({})

    @api_view(["GET"])
    def function(request: Request) -> Response:
        return Response({})

    view = {
        "class": lambda: both(Plain).as_view(),
        "method": Plain.as_view,
        "function": lambda: both(function),
    }[marker]()
    monkeypatch.setitem(globals(), "urlpatterns", [path("api/one/", view)])
    clear_url_caches()

    report = sync()

    assert (report.discovered, report.selected) == (1, 0)


def test_marker_below_action_is_an_error_of_the_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decorators, "_marked_methods", [*decorators._marked_methods])
    assert check_markers(None) == []

    class Upside(viewsets.ViewSet):
        @action(detail=False)
        @mcp_ignore
        def down(self, request: Request) -> Response:
            return Response({})

        @mcp_ignore
        @action(detail=False)
        def up(self, request: Request) -> Response:
            return Response({})

    (error,) = check_markers(None)
    assert error.id == "sezzlee_mcp.E028"
    assert f"{Upside.__qualname__}.down has no effect" in error.msg


def test_marker_below_api_view_is_refused_at_once() -> None:
    def function(request: Request) -> Response:
        return Response({})

    with pytest.raises(TypeError, match=r"function is no view yet: put its marker above @api_view"):
        mcp_tool(name="function")(function)
