import json

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from project.demo.accounts import ACCOUNTS


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    endpoint = request.build_absolute_uri(reverse("sezzlee_mcp:endpoint"))
    clerk = ACCOUNTS[0]
    context = {
        "accounts": ACCOUNTS,
        "clerk": clerk,
        "endpoint": endpoint,
        "signs_in": settings.OAUTH,
        "configuration": client_configuration(endpoint, clerk.token),
        "addresses": [
            ("MCP endpoint", endpoint, "POST only: this is what a client connects to"),
            ("API", request.build_absolute_uri("/api/ping/"), "the shop's REST API, as it was before any agent came"),
            ("Swagger UI", request.build_absolute_uri(reverse("docs")), "every operation, to try by hand"),
            ("OpenAPI document", request.build_absolute_uri(reverse("schema")), "what the catalog is made from"),
            ("Admin", request.build_absolute_uri(reverse("admin:index")), "where staff curate what agents read"),
        ],
    }
    return render(request, "landing.html", context)


def client_configuration(endpoint: str, token: str) -> str:
    """The JSON that MCP clients take in their configuration file."""
    server = {"type": "http", "url": endpoint, "headers": {"Authorization": f"Token {token}"}}
    return json.dumps({"mcpServers": {"demo-shop": server}}, indent=2)
