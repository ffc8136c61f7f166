"""results.md: what DRF's paginators call the next page is a call that an agent can make as it stands."""

from typing import Any

import pytest
from django.conf.urls.i18n import i18n_patterns
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import include, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pytest_django import Settings
from rest_framework import generics, pagination, serializers, versioning
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient


class GroupSerializer(serializers.ModelSerializer[Group]):
    class Meta:
        model = Group
        fields = ["name"]


class Groups(generics.ListAPIView[Group]):
    permission_classes = [AllowAny]
    queryset = Group.objects.order_by("name")
    serializer_class = GroupSerializer


class ByNumber(pagination.PageNumberPagination):
    page_size = 2
    page_size_query_param = "size"


class ByOffset(pagination.LimitOffsetPagination):
    default_limit = 2


class ByCursor(pagination.CursorPagination):
    page_size = 2
    ordering = "name"


class ByLinks(ByNumber):
    def get_paginated_response(self, data: Any) -> Response:
        return Response({"links": {"next": self.get_next_link()}, "results": data})


class ByAnotherHost(ByNumber):
    def get_next_link(self) -> str | None:
        link = super().get_next_link()
        return link and link.replace("testserver", "mirror.example.com")


class ByPath(versioning.URLPathVersioning):
    default_version = "v1"


class RenamedGroups(Groups):
    pagination_class = ByNumber

    @extend_schema(
        operation_id="renamed",
        extensions={
            "x-sezzlee": {
                "arguments": [
                    {"name": "page", "as": "sheet"},
                    {"name": "size", "hidden": {"kind": "constant", "value": 1}},
                ]
            }
        },
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)


class GroupsOf(Groups):
    """The path says whose; the query is not all that a page depends on."""

    pagination_class = ByNumber

    @extend_schema(operation_id="groups_of", parameters=[OpenApiParameter("X-Shop", str, OpenApiParameter.HEADER)])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)


class SearchedGroups(generics.GenericAPIView[Group]):
    """A page that is asked for with a body."""

    permission_classes = [AllowAny]
    queryset = Group.objects.order_by("name")
    serializer_class = GroupSerializer
    pagination_class = ByNumber

    @extend_schema(
        operation_id="searched",
        parameters=[OpenApiParameter("page", int)],
        request=GroupSerializer,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request) -> Response:
        found = self.get_queryset().filter(name__startswith=request.data["name"])
        return self.get_paginated_response([group.name for group in self.paginate_queryset(found) or ()])


def listed(
    name: str, paginator: type[pagination.BasePagination] = ByNumber, route: str | None = None, **more: Any
) -> Any:
    view = type(name, (Groups,), {"pagination_class": paginator, **more})
    return path(route or f"{name}/", extend_schema(operation_id=name, methods=["GET"])(view).as_view())


pages = [
    listed("by_number"),
    listed("by_offset", ByOffset),
    listed("by_cursor", ByCursor),
    listed("by_links", ByLinks),
    listed("by_another_host", ByAnotherHost),
    path("renamed/", RenamedGroups.as_view()),
    path("of/<str:owner>/", GroupsOf.as_view()),
    path("searched/", SearchedGroups.as_view()),
    listed("versioned", route="<str:version>/groups/", versioning_class=ByPath),
]
urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/", include(pages)),
    *i18n_patterns(listed("local")),
]


@pytest.fixture
def agent(db: None, settings: Settings) -> McpClient:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "django.middleware.locale.LocaleMiddleware"]
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    Group.objects.bulk_create(Group(name=f"g{index}") for index in range(5))
    sync()
    return McpClient()


def walked(agent: McpClient, tool: str, arguments: dict[str, Any]) -> list[list[str]]:
    """The names on each page, from the first one to that which has no next."""
    found, call = [], {"name": tool, "arguments": arguments}
    for _ in range(10):
        envelope = agent.call("invoke_tool", call)
        found.append([row if isinstance(row, str) else row["name"] for row in envelope["body"]["results"]])
        if "continuation" not in envelope:
            return found
        assert (envelope["continuation"]["kind"], envelope["continuation"]["tool"]) == ("call_tool", "invoke_tool")
        call = envelope["continuation"]["arguments"]
    raise AssertionError(f"{tool} has no last page")


TWO_BY_TWO = [["g0", "g1"], ["g2", "g3"], ["g4"]]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("by_number", {}),
        ("by_number", {"size": 2}),
        ("by_offset", {}),
        ("by_offset", {"limit": 2, "offset": 0}),
        ("by_cursor", {}),
        ("by_links", {}),
        ("groups_of", {"owner": "ann ä?#%", "X-Shop": "north"}),
        ("searched", {"name": "g"}),
    ],
)
def test_continuation_leads_from_page_to_page_to_the_end(
    agent: McpClient, tool: str, arguments: dict[str, Any]
) -> None:
    assert walked(agent, tool, arguments) == TWO_BY_TWO


def test_next_call_holds_what_the_call_held_and_its_version(agent: McpClient) -> None:
    version = agent.load("groups_of")["version"]

    envelope = agent.invoke("groups_of", {"owner": "ann", "X-Shop": "north"}, version=version)

    assert envelope["continuation"] == {
        "kind": "call_tool",
        "tool": "invoke_tool",
        "arguments": {
            "name": "groups_of",
            "arguments": {"owner": "ann", "X-Shop": "north", "page": 2},
            "version": version,
        },
        "instruction": "This is one page of several. Make this call for the next one, if it is needed.",
    }


def test_next_call_uses_the_agents_names_and_leaves_hidden_ones_out(agent: McpClient) -> None:
    assert walked(agent, "renamed", {"sheet": 2}) == [["g1"], ["g2"], ["g3"], ["g4"]]


def test_next_page_on_another_host_is_not_promised(agent: McpClient) -> None:
    assert walked(agent, "by_another_host", {}) == [["g0", "g1"]]


def test_page_is_left_by_its_version_and_language_and_below_its_prefix(agent: McpClient) -> None:
    below = McpClient(Client(SCRIPT_NAME="/shop"), headers={"Accept-Language": "de"})

    assert walked(below, "versioned", {}) == TWO_BY_TWO
    assert walked(below, "local", {}) == TWO_BY_TWO
