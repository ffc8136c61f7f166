"""One view with an argument in every place of a request, and what stands beside it; a URLconf of its own."""

from typing import Any

from django.urls import include, path
from drf_spectacular.utils import extend_schema
from rest_framework import permissions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

# What a document may say is a header that clients send, though a proxy, the connection or MCP sets it.
RESERVED = [
    *("Accept", "Authorization", "Content-Type", "Content-Length", "CONTENT_TYPE", "Content_Length", "Accept-Encoding"),
    *("Host", "Origin", "Referer", "Forwarded", "X-Forwarded-For", "X_Forwarded_For", "X-Forwarded-Host", "Via"),
    *("X-Forwarded-Proto", "X-Real-IP", "Remote-User", "REMOTE_USER", "X-Remote-User", "X-HTTP-Method-Override"),
    *("Connection", "Transfer-Encoding", "Upgrade", "Expect", "TE", "Mcp-Method", "Mcp-Session-Id", "Sec-Fetch-Site"),
]
TEXT = {"type": "string"}


def header(name: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "schema": TEXT}


OPERATION = {
    "operationId": "places",
    "parameters": [
        {"name": "id", "in": "path", "required": True, "schema": TEXT},
        {"name": "q", "in": "query", "schema": TEXT},
        {"name": "crumb", "in": "cookie", "schema": TEXT},
        header("X-Tenant"),
        header("If-Match"),
        *map(header, RESERVED),
    ],
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}},
    },
    "responses": {"200": {"description": "What was read."}},
}


class PlacesView(APIView):
    permission_classes = [permissions.AllowAny]

    @extend_schema(operation=OPERATION)
    def post(self, request: Request, id: str) -> Response:
        return Response({"id": id, "q": request.query_params.get("q"), "data": request.data})


class SecretView(APIView):
    permission_classes = [permissions.AllowAny]

    @extend_schema(exclude=True)
    def post(self, request: Request, **places: str) -> Response:
        return Response({"secret": True})


api = [
    path("places/<str:id>/", PlacesView.as_view()),
    path("places/<str:id>/secret/", SecretView.as_view()),
    path("places/", SecretView.as_view()),
]

urlpatterns = [path("", include("sezzlee_mcp.urls")), path("api/", include(api))]
