"""Views behind a permission class of the host's own; a test says what it answers and sees what it was asked."""

from collections.abc import Callable
from typing import Any

from django.urls import include, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.authentication import BaseAuthentication
from rest_framework.decorators import action, api_view, permission_classes
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView


class Own(BasePermission):
    """Whatever a test puts here decides."""

    rule: Callable[[Request, Any], bool] = staticmethod(lambda request, view: True)

    def has_permission(self, request: Request, view: Any) -> bool:
        return Own.rule(request, view)


class Never(BaseThrottle):
    def allow_request(self, request: Request, view: Any) -> bool:
        raise AssertionError("a check counts no throttle")


class Picky(BaseAuthentication):
    """Takes no other credential than its own."""

    def authenticate(self, request: Request) -> None:
        if "Authorization" in request.headers:
            raise AuthenticationFailed("Not this one.")


class Guarded(APIView):
    permission_classes = [Own]
    throttle_classes = [Never]

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, **kwargs: Any) -> Response:
        return Response({})


class Writing(APIView):
    permission_classes = [Own]

    @extend_schema(operation_id="write", request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request) -> Response:
        return Response({})


def parameter(name: str, kind: OpenApiTypes) -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.PATH)


@extend_schema(operation_id="function", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@permission_classes([Own])
def function_view(request: Request) -> Response:
    return Response({})


class Things(viewsets.ViewSet):
    permission_classes = [Own]

    @extend_schema(operation_id="things_list", responses=OpenApiTypes.OBJECT)
    def list(self, request: Request) -> Response:
        return Response({})

    @extend_schema(operation_id="things_retrieve", responses=OpenApiTypes.OBJECT)
    def retrieve(self, request: Request, pk: str) -> Response:
        return Response({})

    @extend_schema(operation_id="things_count", responses=OpenApiTypes.OBJECT)
    @action(detail=False)
    def count(self, request: Request) -> Response:
        return Response({})


def guarded(operation_id: str, *parameters: OpenApiParameter, **attributes: Any) -> Any:
    view = type(operation_id.title(), (Guarded,), attributes)
    return extend_schema(operation_id=operation_id, parameters=list(parameters))(view).as_view()


router = SimpleRouter()
router.register("things", Things, basename="thing")

HIDDEN = {"x-sezzlee": {"arguments": [{"name": "shop", "hidden": {"kind": "constant", "value": "main"}}]}}

urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("plain/", guarded("plain")),
    path("picky/", guarded("picky", authentication_classes=[Picky])),
    path("write/", Writing.as_view()),
    path("function/", function_view),
    path("ints/<int:pk>/", guarded("ints")),
    path("uuids/<uuid:key>/", guarded("uuids")),
    path("days/<str:day>/", guarded("days", parameter("day", OpenApiTypes.DATE))),
    path("words/<slug:word>/", guarded("words")),
    path("shops/<slug:shop>/", extend_schema(extensions=HIDDEN)(type("Shops", (Guarded,), {})).as_view()),
    path("", include(router.urls)),
]
