"""The playground: what staff are shown is what the agent gets, and nothing that it sends arrives anywhere."""

import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import include, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from pytest_django import Settings
from rest_framework import parsers, permissions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from sezzlee_mcp import snapshots
from sezzlee_mcp.models import SearchCase
from sezzlee_mcp.search import Case
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.django.admin_pages import page, save
from tests.django.test_providers import hosted
from tests.factories import StaffFactory, SuperuserFactory
from tests.testapp.urls import urlpatterns as testapp_urls

__all__ = ["hosted"]

HERE = "tests.django.test_admin_playground"
SEARCH, TOOL = "try_search", "try_tool"
recorded: list[dict[str, Any]] = []


class Recorder(APIView):
    permission_classes = [permissions.AllowAny]

    def record(self, request: Request) -> Response:
        recorded.append(
            {
                "method": request.method,
                "path": request.path,
                "query": request.META["QUERY_STRING"],
                "headers": {name: value for name, value in request.headers.items() if value},
                "body": request._request.body,
            }
        )
        return Response({})


class Parcels(Recorder):
    """Change a parcel."""

    @extend_schema(
        operation_id="parcel",
        parameters=[
            OpenApiParameter("pk", str, OpenApiParameter.PATH),
            OpenApiParameter("q", str, many=True),
            OpenApiParameter("X-Shop", str, OpenApiParameter.HEADER),
            OpenApiParameter("theme", str, OpenApiParameter.COOKIE),
        ],
        request=inline_serializer("Parcel", {"label": serializers.CharField(), "weight": serializers.FloatField()}),
        responses=OpenApiTypes.OBJECT,
    )
    def patch(self, request: Request, pk: str) -> Response:
        return self.record(request)


class Papers(Recorder):
    """Store a paper."""

    parser_classes = [parsers.MultiPartParser]

    @extend_schema(
        operation_id="paper",
        request=inline_serializer("Paper", {"title": serializers.CharField(), "scan": serializers.FileField()}),
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request) -> Response:
        return self.record(request)


urlpatterns = [
    *testapp_urls,
    path("api/", include([path("parcels/<str:pk>/", Parcels.as_view()), path("papers/", Papers.as_view())])),
]


@pytest.fixture
def staff(client: Client) -> None:
    client.force_login(SuperuserFactory(username="ada"))


@pytest.fixture
def recorder(testapp: None, staff: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = HERE
    sync()
    recorded.clear()


def found(client: Client, **asked: Any) -> dict[str, Any]:
    """By ranker, the names that the page shows in their order, or the error."""
    context = client.get(page("operation", SEARCH), asked).context
    return {one["ranker"]: one["error"] or [row["place"].name for row in one["places"]] for one in context["listings"]}


def composed(client: Client, tool: str, arguments: Any) -> dict[str, Any]:
    response = client.post(f"{page('operation', TOOL)}?name={tool}", {"arguments": json.dumps(arguments)})
    refusal = response.context.get("refusal")
    return {"sent": response.context.get("sent"), "refusal": refusal and json.loads(refusal)}


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words += data.split()


def text_of(response: HttpResponse) -> str:
    """What stands in the main part of a page."""
    parser = _Text()
    parser.feed(response.content.decode().partition('<div id="content-main">')[2].partition("</main>")[0])
    return " ".join(parser.words)


# -- search --


@pytest.mark.parametrize("user", ["alice", "bob", "carol", "admin"])
def test_a_search_finds_what_the_users_agent_finds(
    agent: Callable[[str], McpClient], staff: None, client: Client, user: str
) -> None:
    for query, tags in (("order", []), ("document", ["documents"]), ("audit", [])):
        answer = agent(user).search(query, tags=tags, limit=50)
        names = [card["name"] for card in answer["results"]]

        asked = {"query": query, "tags": "\n".join(tags), "limit": 50, "agent": "user", "user": user}
        response = client.get(page("operation", SEARCH), asked)

        (listing,) = [one for one in response.context["listings"] if one["is_in_force"]]
        assert [row["place"].name for row in listing["places"]] == names
        assert response.context["total"] == f"An agent of {user} can find {answer['total']} tools."


def test_an_anonymous_agents_search_finds_what_that_finds(
    shop: None, anonymous_endpoint: None, staff: None, client: Client
) -> None:
    names = [card["name"] for card in McpClient().search("product", limit=50)["results"]]

    assert found(client, query="product", limit=50, agent="anonymous")["contract"] == names


def test_a_search_of_the_whole_catalog_finds_what_no_user_need_see(shop: None, staff: None, client: Client) -> None:
    assert "audit_list" not in found(client, query="audit", agent="user", user="bob")["contract"]
    assert found(client, query="audit")["contract"][0] == "audit_list"


@pytest.mark.parametrize(
    ("agent", "said"),
    [("", "The whole catalog has"), ("anonymous", "An anonymous agent can find")],
)
def test_a_users_name_alone_chooses_no_agent(testapp: None, staff: None, client: Client, agent: str, said: str) -> None:
    response = client.get(page("operation", SEARCH), {"query": "numbers", "agent": agent, "user": "ada"})

    assert said in text_of(response)


def test_a_score_is_explained_word_by_word(testapp: None, staff: None, client: Client) -> None:
    text = text_of(client.get(page("operation", SEARCH), {"query": "numbers zebra", "agent": "", "limit": 1}))

    assert "contract (what agents are answered by)" in text
    assert "word tools with it idf found in gain number 1" in text
    assert "name: number 1 × 3.0 description: number 1 × 1.5 tags: number 1 × 1.0 route: number 1 × 1.0" in text
    assert "nothing of this tool 0.000" in text


def test_a_query_without_a_word_lists_tools_and_scores_none(testapp: None, staff: None, client: Client) -> None:
    response = client.get(page("operation", SEARCH), {"query": "", "agent": "", "limit": 2})

    (listing, *_) = response.context["listings"]
    assert [(row["place"].name, row["gains"]) for row in listing["places"]] == [
        (name, []) for name in sorted(snapshots.current().entries)[:2]
    ]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"query": "order", "sought": "customers_list"}, "customers_list has place"),
        ({"query": "zebra", "sought": "orders_list"}, "orders_list is not found."),
        ({"query": "audit", "sought": "audit_list", "agent": "user", "user": "bob"}, "The agent does not see"),
    ],
)
def test_a_tool_that_is_sought_is_told_of_wherever_it_is(
    shop: None, staff: None, client: Client, asked: dict[str, str], says: str
) -> None:
    response = client.get(page("operation", SEARCH), {"limit": 1, "agent": "", **asked})

    assert says in text_of(response)
    assert response.context["listings"][0]["sought"]["gains"]


def test_a_tool_that_there_is_not_is_refused_beside_its_field(shop: None, staff: None, client: Client) -> None:
    response = client.get(page("operation", SEARCH), {"sought": "zebra", "agent": "user", "user": "eve"})

    assert response.context["form"].errors == {
        "sought": ["No tool is called that."],
        "user": ["There is no such user."],
    }
    assert "listings" not in response.context


def test_a_ranker_of_the_hosts_stands_first_and_fails_alone(
    shop: None, staff: None, client: Client, settings: Settings
) -> None:
    alone = found(client, query="audit")
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RANKER": "tests.django.test_evaluation.broken"}
    broken = found(client, query="audit")
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RANKER": "tests.django.test_evaluation.backwards"}
    backwards = found(client, query="audit", limit=2)

    assert list(broken.items())[0] == ("tests.django.test_evaluation.broken", "ConnectionError: no model answers")
    assert list(broken.items())[1:] == list(alone.items())
    assert backwards["tests.django.test_evaluation.backwards"] == sorted(snapshots.current().entries)[:-3:-1]


def test_an_agent_that_the_endpoint_refuses_finds_nothing(shop: None, staff: None, client: Client) -> None:
    for name, asked in ((SEARCH, {"query": "audit"}), (TOOL, {"name": "products_list"})):
        refused = client.get(page("operation", name), {**asked, "agent": "anonymous"})
        let_in = client.get(page("operation", name), {**asked, "agent": "user", "user": "bob"})

        assert "The endpoint’s permission classes refuse an anonymous caller, whatever the tool." in text_of(refused)
        assert {"listings", "loaded"}.isdisjoint(refused.context.keys())
        assert "refuse an" not in text_of(let_in)


def test_a_search_is_within_thirty_queries(shop: None, staff: None, client: Client) -> None:
    with CaptureQueriesContext(connection) as asked:
        found(client, query="order", limit=50, agent="user", user="alice", sought="audit_list")

    # A view that is asked about a user is asked in a savepoint, which is rolled back.
    assert len([query for query in asked.captured_queries if "SAVEPOINT" not in query["sql"]]) <= 30


# -- keeping a search as a case --


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"query": "audit"}, Case(need="Who?", query="audit", expected=("GET /api/audit/",))),
        (
            {"query": "audit", "agent": "user", "user": "carol", "tags": "audit"},
            Case(need="Who?", query="audit", user="carol", tags=("audit",), expected=("GET /api/audit/",)),
        ),
    ],
)
def test_a_search_is_kept_as_a_case(shop: None, staff: None, client: Client, asked: dict[str, str], kept: Case) -> None:
    response = client.get(page("operation", SEARCH), {"agent": "", **asked})
    row = response.context["listings"][0]["places"][0]

    save(client, row["keep_url"], need="Who?")

    assert SearchCase.objects.cases() == (kept,)
    assert response.context["run_url"] == page("searchcase", "run")


def test_a_search_that_a_case_cannot_name_is_not_kept(
    shop: None, anonymous_endpoint: None, staff: None, client: Client
) -> None:
    context = client.get(page("operation", SEARCH), {"query": "product", "agent": "anonymous"}).context

    assert {row["keep_url"] for row in context["listings"][0]["places"]} == {""}


# -- load --


@pytest.mark.parametrize(("user", "tool"), [("carol", "audit_list"), ("bob", "audit_list"), ("bob", "zebra")])
def test_a_tool_is_loaded_as_the_users_agent_loads_it(
    agent: Callable[[str], McpClient], staff: None, client: Client, user: str, tool: str
) -> None:
    response = client.get(page("operation", TOOL), {"name": tool, "agent": "user", "user": user})

    assert json.loads(response.context["loaded"]) == agent(user).load(tool)


def test_a_tool_of_the_whole_catalog_is_loaded_though_nobody_is_there(shop: None, staff: None, client: Client) -> None:
    loaded = json.loads(client.get(page("operation", TOOL), {"name": "audit_list"}).context["loaded"])
    unknown = json.loads(client.get(page("operation", TOOL), {"name": "zebra"}).context["loaded"])

    assert (loaded["name"], unknown["error"]) == ("audit_list", "unknown_tool")


# -- compose --


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("parcel", {"id": "a b", "label": "häagen"}),
        ("parcel", {"id": "ü&?", "q": ["a", "b&c"], "X-Shop": "north", "weight": 1.5}),
        ("paper", {"title": "A", "scan": {"text": "häagen", "name": "ö.txt"}}),
    ],
)
def test_the_request_is_the_one_that_a_call_sends(
    recorder: None, client: Client, tool: str, arguments: dict[str, Any]
) -> None:
    shown = composed(client, tool, arguments)
    assert (shown["refusal"], recorded) == (None, [])

    McpClient(headers={"X-Request-Id": "7"}).invoke(tool, arguments)

    (sent,) = recorded
    head, _, body = shown["sent"].partition("\n\n")
    first, *headers = head.split("\n")
    method, target = first.split(" ")
    path, _, query = target.partition("?")
    assert {
        "method": method,
        "path": unquote(path),
        "query": query,
        "headers": dict(header.split(": ", 1) for header in headers) | {"X-Request-Id": "7"},
        "body": body.encode(),
    } == {**sent, "body": sent["body"].strip()}


def test_an_argument_that_is_a_cookie_is_shown_alone(recorder: None, client: Client) -> None:
    assert "\nCookie: theme=dark\n" in composed(client, "parcel", {"id": "1", "theme": "dark", "label": "A"})["sent"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("parcel", {}),
        ("parcel", {"id": "1", "zebra": 1}),
        ("parcel", {"id": "1", "q": 5, "label": ["x"]}),
        ("parcel", ["a list"]),
        ("number", {"id": "x"}),
        ("zebra", {}),
    ],
)
def test_a_refusal_is_what_the_agent_is_told(recorder: None, client: Client, tool: str, arguments: Any) -> None:
    shown = composed(client, tool, arguments)

    told = McpClient().call("invoke_tool", {"name": tool, "arguments": arguments})
    assert shown == {"sent": None, "refusal": told}


def test_a_request_that_would_lead_elsewhere_is_shown_with_its_refusal(recorder: None, client: Client) -> None:
    shown = composed(client, "item", {"id": "7/children"})

    assert shown["sent"].startswith("GET /api/items/7%2Fchildren/\n")
    assert shown["refusal"] == McpClient().invoke("item", {"id": "7/children"})


def test_text_that_is_no_json_is_refused_beside_its_field(recorder: None, client: Client) -> None:
    response = client.post(f"{page('operation', TOOL)}?name=parcel", {"arguments": "{"})

    (said,) = response.context["arguments"].errors["arguments"]
    assert said.startswith("This is no JSON: ")
    assert "sent" not in response.context


def joined(request: Any) -> str:
    Group.objects.create(name="joined")
    return str(request.user.get_username())


def test_a_provider_is_asked_about_the_staff_who_ask_and_leaves_nothing(
    hosted: None, staff: None, client: Client, settings: Settings
) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "PROVIDERS": {"tenant": f"{HERE}.joined"}}
    StaffFactory(username="bob")
    url = f"{page('operation', TOOL)}?name=tenant_echo&agent=user&user=bob"

    response = client.post(url, {"arguments": "{}"})

    assert response.context["sent"] == "GET /api/tenants/?tenant=ada\nAccept: application/json, */*"
    assert not Group.objects.exists()


def test_a_file_behind_a_reference_is_not_fetched(hosted: None, staff: None, client: Client) -> None:
    url = f"{page('operation', TOOL)}?name=upload"
    response = client.post(url, {"arguments": json.dumps({"title": "A", "attachment": {"ref": "mine"}})})

    assert response.context["files"] == ("mine",)
    assert response.context["sent"].startswith("POST /api/uploads/\n")
    assert "Its body is written once" in text_of(response)


# -- permissions --


def test_who_may_not_search_as_another_user_searches_as_themselves(shop: None, client: Client) -> None:
    asked = {"query": "list orders", "agent": "user", "user": "alice"}
    client.force_login(StaffFactory(permissions=["view_operation"]))
    own = found(client, **asked)
    loaded = client.get(page("operation", TOOL), {"name": "orders_list", **asked}).context["loaded"]
    client.force_login(StaffFactory(permissions=["view_operation", "search_as_user"]))

    assert "orders_list" not in own["contract"]
    assert json.loads(loaded)["error"] == "unknown_tool"
    assert "orders_list" in found(client, **asked)["contract"]


def test_links_lead_only_where_staff_may_go(shop: None, client: Client) -> None:
    client.force_login(StaffFactory(permissions=["view_operation"]))
    context = client.get(page("operation", SEARCH), {"query": "audit", "agent": ""}).context

    assert context["run_url"] == ""
    assert {row["keep_url"] for row in context["listings"][0]["places"]} == {""}


@pytest.mark.parametrize("name", [SEARCH, TOOL])
def test_a_page_leads_back_to_the_list(shop: None, staff: None, client: Client, name: str) -> None:
    text = client.get(page("operation", name)).content.decode()
    crumbs = text.partition('class="breadcrumbs"')[2].partition('id="main"')[0]

    assert f'<a href="{page("operation", "changelist")}">Operations</a>' in crumbs
    assert page("operation", SEARCH) in client.get(page("operation", "changelist")).content.decode()
