from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def tenant(get_response: GetResponse) -> GetResponse:
    """A header names the tenant."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        request.tenant = request.headers.get("X-Tenant")  # type: ignore[attr-defined]
        return get_response(request)

    return middleware


def tenant_urlconf(get_response: GetResponse) -> GetResponse:
    """The tenant ``other`` has a URLconf of its own."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.headers.get("X-Tenant") == "other":
            request.urlconf = "tests.testapp.tenant_urls"  # type: ignore[attr-defined]
        return get_response(request)

    return middleware
