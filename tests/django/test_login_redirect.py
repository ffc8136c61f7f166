"""results.md: a redirect to the login page is no answer; a host without such a page is served all the same."""

import pytest
from django.http import HttpResponseRedirect
from django.urls import include, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pytest_django import Settings
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient


@extend_schema(operation_id="members", responses=OpenApiTypes.OBJECT)
@api_view(["GET"])
@permission_classes([AllowAny])
def members(request: Request) -> HttpResponseRedirect:
    """What only members see."""
    return HttpResponseRedirect("/login/?next=/api/members/")


urlpatterns = [path("", include("sezzlee_mcp.urls")), path("api/members/", members)]


@pytest.fixture(autouse=True)
def these_urls(db: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = __name__
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    sync()


def test_redirect_to_the_login_page_is_a_call_without_identity(settings: Settings) -> None:
    settings.LOGIN_URL = "/login/"

    assert McpClient().invoke("members")["error"] == "unauthenticated"


def test_redirect_is_an_answer_where_no_login_page_is_served(settings: Settings) -> None:
    settings.LOGIN_URL = "no-such-page"

    assert McpClient().invoke("members") == {"status": 302, "location": "/login/?next=/api/members/"}
