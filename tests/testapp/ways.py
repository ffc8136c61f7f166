"""Views that are lost on their way to the document, each in its own way, beside one that is not."""

from typing import Any

from django.urls import include, path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class RaisingSchema(AutoSchema):
    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no such field")


class Fine(APIView):
    @extend_schema(operation_id="fine", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        return Response({})


class Raising(Fine):
    schema = RaisingSchema()


class Excluded(Fine):
    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        return Response({})


class Streaming(Fine):
    @extend_schema(operation_id="streaming", responses={(200, "text/event-stream"): OpenApiTypes.STR})
    def get(self, request: Request) -> Response:
        return Response("")


urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("fine/", Fine.as_view()),
    path("raising/", Raising.as_view()),
    path("excluded/", Excluded.as_view()),
    path("streaming/", Streaming.as_view()),
]
