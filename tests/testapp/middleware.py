from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from sezzlee_mcp.dispatch import is_sezzlee_request
from sezzlee_mcp.routing import view_path

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A request as the view that it reached sees it; ``meta`` is its environment without target, cookies and length."""

    view: str
    meta: dict[str, str]
    cookies: dict[str, str]


_OF_ONE_CALL = {"CONTENT_LENGTH", "HTTP_COOKIE", "PATH_INFO", "QUERY_STRING"}


# The inner requests that reached a view, the latest last.
reached: list[Reached] = []


class recorder:
    """Keeps what of an agent's call reaches a view."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., HttpResponseBase], *arguments: object) -> None:
        if is_sezzlee_request(request):
            texts = {key: value for key, value in request.META.items() if isinstance(value, str)}
            meta = {key: value for key, value in texts.items() if key not in _OF_ONE_CALL}
            reached.append(Reached(view=view_path(view), meta=meta, cookies=dict(request.COOKIES)))
