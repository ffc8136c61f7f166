"""The demo with every operation exposed, under a strict Content-Security-Policy; each answer says its queries."""

from collections import Counter
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse

from project.settings import *  # noqa: F403
from project.settings import MIDDLEWARE as DEMO_MIDDLEWARE

SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
MIDDLEWARE = ["tests.processes.pages.strict_settings.strict", *DEMO_MIDDLEWARE]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
TRANSACTIONS = ("BEGIN", "SAVEPOINT", "RELEASE", "ROLLBACK")  # they ask nothing


def strict(get_response: Any) -> Any:
    def middleware(request: HttpRequest) -> HttpResponse:
        asked: Counter[str] = Counter()

        def count(execute: Any, sql: str, *rest: Any) -> Any:
            asked[sql] += not sql.startswith(TRANSACTIONS)
            return execute(sql, *rest)

        with connection.execute_wrapper(count):
            response: HttpResponse = get_response(request)
        response["Content-Security-Policy"] = POLICY
        response["X-Queries"] = str(asked.total())
        response["X-Repeated"] = str(max(asked.values(), default=0))
        return response

    return middleware
