"""operations.md, "Getting the document": one bad view costs one operation."""

from typing import Any

import pytest
from django.urls import include, path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema
from pytest_django import Settings
from rest_framework import permissions, viewsets
from rest_framework.decorators import action
from rest_framework.renderers import TemplateHTMLRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.schemas.openapi import AutoSchema as DrfAutoSchema
from rest_framework.views import APIView

from sezzlee_mcp.models import Operation
from sezzlee_mcp.openapi.descriptors import AuthFacts
from sezzlee_mcp.sync import discover


class Fine(APIView):
    """A view like any other."""

    permission_classes = [permissions.IsAuthenticated]

    @extend_schema(responses={204: None})
    def get(self, request: Request) -> Response:
        return Response(status=204)


class RaisingSchema(AutoSchema):
    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        super().get_operation(*args, **kwargs)
        raise RuntimeError("half built")


class Raising(Fine):
    schema = RaisingSchema()


class ForeignSchema(APIView):
    """A view with a schema class of DRF's own."""

    schema = DrfAutoSchema(operation_id_base="Part")

    def get(self, request: Request) -> Response:
        return Response()


class NoMethods(Fine):
    @property
    def allowed_methods(self) -> list[str]:
        raise RuntimeError("no methods")


class PageForPeople(Fine):
    renderer_classes = [TemplateHTMLRenderer]


class Machines(viewsets.ViewSet):
    """Machines."""

    permission_classes = [permissions.IsAdminUser]

    @extend_schema(responses={204: None})
    def list(self, request: Request) -> Response:
        return Response(status=204)

    @extend_schema(request=None, responses={204: None})
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        return Response(status=204)


router = SimpleRouter()
router.register("machines", Machines, basename="machine")

urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/fine/", Fine.as_view()),
    path("api/raising/", Raising.as_view()),
    path("api/foreign/", ForeignSchema.as_view()),
    path("api/nothing/", NoMethods.as_view()),
    path("api/page/", PageForPeople.as_view()),
    path("api/hidden/", extend_schema(exclude=True)(type("Hidden", (Fine,), {})).as_view()),
    path("api/", include(router.urls)),
]


@pytest.fixture(autouse=True)
def these_urls(db: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = __name__


def test_bad_views_cost_their_own_operations_alone() -> None:
    found = discover()

    assert sorted(descriptor.key for descriptor in found.descriptors) == [
        "GET /api/fine/",
        "GET /api/foreign/",
        "GET /api/machines/",
        "POST /api/machines/{id}/stop/",
    ]


def test_what_was_lost_is_named_with_its_reason() -> None:
    lost = [found for found in discover().diagnostics if found.code == "schema_generation_failed"]

    assert {found.message.split(" could not describe ")[1].split(" (")[0].rsplit(".")[-1] for found in lost} >= {
        "Raising",
        "NoMethods",
    }
    assert any("half built" in found.message for found in lost)
    assert {found.operation for found in lost} == {"GET /api/raising/", ""}  # no key without a method


def test_schema_class_that_was_replaced_is_reported() -> None:
    (found,) = (found for found in discover().diagnostics if found.code == "schema_class_replaced")

    assert found.message.startswith(
        f"{__name__}.ForeignSchema has the schema class rest_framework.schemas.openapi.Auto"
    )


def test_excluded_view_is_reported_and_pages_are_no_operations() -> None:
    keys = [found.operation for found in discover().diagnostics if found.code == "endpoint_not_documented"]

    assert keys == ["GET /api/hidden/"]


def test_view_behind_the_operation_is_recorded() -> None:
    descriptors = {descriptor.key: descriptor for descriptor in discover().descriptors}

    stop = descriptors["POST /api/machines/{id}/stop/"].endpoint
    assert stop is not None
    assert (stop.view, stop.action, stop.is_extra_action) == (f"{__name__}.Machines", "stop", True)
    assert stop.auth == AuthFacts(anonymous="no", policies=("staff",))
    listing = descriptors["GET /api/machines/"].endpoint
    assert listing is not None and not listing.is_extra_action
    assert descriptors["GET /api/fine/"].auth == AuthFacts(anonymous="no")


def test_nothing_is_written_while_the_document_is_read() -> None:
    discover()

    assert not Operation.objects.exists()
