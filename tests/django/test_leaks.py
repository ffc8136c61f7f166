"""results.md, "Leak filter", against the real thing: errors as they come out of a database, messages as they ship."""

import gettext
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import django
import django_filters
import pytest
import rest_framework
from django.contrib.auth.models import Group, User
from django.core.exceptions import SuspiciousOperation
from django.core.files.storage import FileSystemStorage
from django.db import connection, transaction
from django.http import HttpResponse
from django.urls import include, path, reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pytest_django import Settings
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.leaks import may_be_forwarded, tells_internals
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient


def sql(text: str) -> Callable[[], Any]:
    def run() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(text)

    return run


def twice() -> None:
    with transaction.atomic():
        Group.objects.create(name="twice")
        Group.objects.create(name="twice")


class Wrong(serializers.ModelSerializer[User]):
    class Meta:
        model = User
        fields = ["nope"]


FAULTS: dict[str, Callable[[], Any]] = {
    "unique": twice,
    "null": sql("INSERT INTO auth_group (name) VALUES (NULL)"),
    "table": sql("SELECT * FROM shop_ordr"),
    "column": sql("SELECT nope FROM auth_group"),
    "syntax": sql("SELEC 1"),
    "keyword": lambda: User.objects.filter(nope=1).exists(),
    "lookup": lambda: User.objects.filter(date_joined__nope=1).exists(),
    "attribute": lambda: User.objects.first().nope,  # type: ignore[union-attr]
    "file": lambda: FileSystemStorage("/srv/shop").open("invoice.pdf"),
    "climbing": lambda: FileSystemStorage("/srv/shop").path("../../etc/passwd"),
    "route": lambda: reverse("no-such-route"),
    "serializer": lambda: Wrong().fields,
    "invalid": lambda: serializers.IntegerField().run_validation("x"),
    "object": lambda: (_ for _ in ()).throw(ValueError(object())),
}


@extend_schema(operation_id="careless", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@permission_classes([AllowAny])
def careless(request: Request, fault: str) -> Response:
    """A view that shows whatever goes wrong."""
    try:
        return Response(FAULTS[fault]())
    except Exception as error:  # noqa: BLE001 - that is what is careless
        return Response({"detail": str(error), "errors": {"field": [repr(error)]}}, status=400)


@extend_schema(operation_id="suspicious", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@permission_classes([AllowAny])
def suspicious(request: Request) -> HttpResponse:
    """What Django answers with its debug page, and the status 400."""
    raise SuspiciousOperation("marker")


urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/careless/<str:fault>/", careless),
    path("api/suspicious/", suspicious),
]


@pytest.fixture
def agent(db: None, settings: Settings) -> McpClient:
    settings.ROOT_URLCONF = __name__
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    sync()
    return McpClient()


@pytest.mark.parametrize("fault", FAULTS)
def test_text_of_a_real_error_is_withheld(agent: McpClient, fault: str) -> None:
    assert agent.invoke("careless", {"fault": fault})["fields"] == [
        {"name": "field", "message": messages.WITHHELD_FIELD}
    ]


@pytest.mark.parametrize("fault", FAULTS)
def test_real_error_is_known_by_its_text_alone(db: None, fault: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011, B017 - each is of another kind
        FAULTS[fault]()

    assert tells_internals(str(raised.value))


@pytest.mark.parametrize("debug", [False, True])
def test_debug_page_is_not_shown(agent: McpClient, settings: Settings, debug: bool) -> None:
    settings.DEBUG = debug

    assert agent.invoke("suspicious") == {
        "error": "bad_request",
        "message": messages.standard("bad_request", status=400),
        "retryable": False,
        "status": 400,
    }


def shipped(language: str) -> Iterator[str]:
    """Every message of Django, DRF and django-filter in one language."""
    for package in (django, rest_framework, django_filters):
        for catalog in Path(package.__file__ or "").parent.rglob(f"locale/{language}/LC_MESSAGES/django.mo"):
            with catalog.open("rb") as stream:
                translated = gettext.GNUTranslations(stream)._catalog  # type: ignore[attr-defined]
            yield from (text for key, text in translated.items() if key)


@pytest.mark.parametrize("language", ["de", "en", "es", "fr", "ja", "ru", "tr", "zh_Hans"])
def test_messages_that_frameworks_ship_pass(language: str) -> None:
    texts = set(shipped(language))

    assert len(texts) > (100 if language == "en" else 500)
    assert [text for text in texts if not may_be_forwarded(text)] == []
