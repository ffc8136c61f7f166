"""What a host can get wrong, said before the first request; no check asks the database."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.apps.config import AppConfig
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, router
from django.urls import NoReverseMatch, Resolver404, get_resolver, resolve, reverse

from sezzlee_mcp import conf, decorators, signin
from sezzlee_mcp.models import Catalog


@register("sezzlee_mcp")
def check_settings(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    return [
        Error(problem.message, hint=problem.hint, id=f"sezzlee_mcp.{problem.id}")
        for problem in conf.problems(conf.raw())
    ]


@register(Tags.urls)
def check_urls(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    return [*_missing_endpoint(), *_missing_metadata()]


@register(Tags.urls)
def check_markers(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    get_resolver().url_patterns  # noqa: B018  (this imports the views)
    return [
        Error(f"The marker of {name} has no effect.", hint="Put it above @action.", id="sezzlee_mcp.E028")
        for name in decorators.lost()
    ]


@register("sezzlee_mcp")
def check_database(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """A publish locks, reads back what was saved, and writes all or nothing; a replica knows nothing of that yet."""
    routed = sorted({router.db_for_read(Catalog), router.db_for_write(Catalog)} - {DEFAULT_DB_ALIAS})
    if not routed:
        return []
    return [
        Warning(
            f"The app's tables are routed to {' and '.join(map(repr, routed))}: what staff save may not be published.",
            hint=f"Let DATABASE_ROUTERS read and write the app sezzlee_mcp in {DEFAULT_DB_ALIAS!r}.",
            id="sezzlee_mcp.W003",
        )
    ]


def _missing_endpoint() -> Iterator[CheckMessage]:
    try:
        reverse("sezzlee_mcp:endpoint")
    except NoReverseMatch:
        yield Warning(
            "No URL of this project leads to the MCP endpoint.",
            hint='Add path("", include("sezzlee_mcp.urls")) to the root URLconf.',
            id="sezzlee_mcp.W001",
        )


def _missing_metadata() -> Iterator[CheckMessage]:
    if list(conf.problems(conf.raw())) or not signin.is_offered():
        return
    try:
        resolve(f"{signin.WELL_KNOWN}{signin.endpoint_path()}")
    except NoReverseMatch:
        return  # W001 says so
    except Resolver404:
        yield Warning(
            "The metadata for signing in is not at its well-known address.",
            hint='Add path("", include("sezzlee_mcp.well_known_urls")) to the root URLconf.',
            id="sezzlee_mcp.W002",
        )
