"""invoke.md, "Dispatch": an async stream is iterated up to the budget."""

from collections.abc import AsyncIterator

import pytest
from django.http import StreamingHttpResponse
from django.urls import include, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pytest_django import Settings
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient


async def chunks(count: int) -> AsyncIterator[bytes]:
    for number in range(count):
        yield b"%03d" % (number % 1000) + b"x" * 997


@extend_schema(operation_id="stream", responses={(200, "text/plain"): OpenApiTypes.STR})
@api_view(["GET"])
@permission_classes([AllowAny])
def stream(request: Request, thousands: int) -> StreamingHttpResponse:
    """A text of so many thousand characters."""
    return StreamingHttpResponse(chunks(thousands), content_type="text/plain")


urlpatterns = [
    path("", include("sezzlee_mcp.urls")),
    path("api/stream/<int:thousands>/", stream),
]


@pytest.fixture(autouse=True)
def these_urls(db: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = __name__
    settings.LOGIN_URL = "/login/"
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    sync()


def test_async_stream_comes_whole() -> None:
    body = McpClient().invoke("stream", {"thousands": 3})["body"]

    assert body == "".join(f"{number:03d}" + "x" * 997 for number in range(3))


def test_async_stream_is_read_up_to_the_budget() -> None:
    envelope = McpClient().invoke("stream", {"thousands": 10**9})

    assert (envelope["error"], envelope["payload"]["limit"]) == ("response_too_large", 262_144)
