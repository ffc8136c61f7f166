"""The demo with few and short streams, behind middleware of every kind."""

import os

from django.http import HttpRequest
from django.utils.decorators import async_only_middleware, sync_only_middleware

from project.settings import *  # noqa: F403
from project.settings import MIDDLEWARE as DEMO_MIDDLEWARE
from project.settings import SEZZLEE_MCP as DEMO_SEZZLEE_MCP

SEZZLEE_MCP = {
    **DEMO_SEZZLEE_MCP,
    "LISTEN_STREAMS": 2,
    "LISTEN_AGE_SECONDS": float(os.environ.get("LISTEN_AGE_SECONDS", "3600")),
}
MIDDLEWARE = [
    "django.middleware.gzip.GZipMiddleware",
    "tests.processes.bounded_settings.async_only",
    "tests.processes.bounded_settings.sync_only",
    "tests.processes.bounded_settings.async_only",
    *DEMO_MIDDLEWARE,
]


@sync_only_middleware
def sync_only(get_response):
    def middleware(request: HttpRequest):
        return get_response(request)

    return middleware


@async_only_middleware
def async_only(get_response):
    async def middleware(request: HttpRequest):
        return await get_response(request)

    return middleware
