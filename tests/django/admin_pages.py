"""A small library as staff see it: its document, its pages, and how their forms are filled in."""

import re
from typing import Any

from django.contrib.messages import get_messages
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from sezzlee_mcp.models import Operation, Revision

_YES = {"responses": {"200": {"description": "Yes."}}}
_LIST_BODY = {"required": True, "content": {"application/json": {"schema": {"type": "array", "items": {}}}}}

# "clash" can be no tool: its body is a list, which needs the argument that its parameter has taken.
LIBRARY: dict[str, Any] = {
    "openapi": "3.0.3",
    "paths": {
        "/authors/": {
            "get": {"operationId": "authors_list", "tags": ["People"], "description": "All authors.", **_YES}
        },
        "/books/": {
            "get": {
                "operationId": "books_list",
                "tags": ["Books"],
                "summary": "List books",
                "description": "All books.",
                **_YES,
            },
            "post": {
                "operationId": "books_create",
                "tags": ["Books"],
                "x-sezzlee": {"description": "Add a book.", "tags": ["Books", "New"], "searchTerms": ["novel"]},
                **_YES,
            },
        },
        "/clash/": {
            "post": {
                "operationId": "clash",
                "parameters": [{"name": "body", "in": "query", "schema": {"type": "string"}}],
                "requestBody": _LIST_BODY,
                **_YES,
            }
        },
    },
}
# The books are exposed by a rule; nobody said anything about the rest.
RULES = {"RULES": [{"route": "/books/", "decision": "include"}]}


def operation(key: str) -> Operation:
    return Operation.objects.get(key=key)


def page(model: str, kind: str, *args: Any) -> str:
    return reverse(f"admin:sezzlee_mcp_{model}_{kind}", args=args)


def change_page(key: str) -> str:
    return page("operation", "change", operation(key).pk)


def typed(client: Client, url: str, **changes: Any) -> dict[str, Any]:
    """What a browser would send for the form of a page once ``changes`` are typed into it; None empties a field."""
    shown = client.get(url).context
    form = shown["adminform"].form
    formsets = [inline.formset for inline in shown["inline_admin_formsets"]]
    inner = [each for formset in formsets for each in (formset.management_form, *formset.initial_forms)]
    values = {each.add_prefix(name): each[name].value() for each in (form, *inner) for name in each.fields}
    values |= {"_seen": getattr(form, "seen", None)} | changes
    return {name: value for name, value in values.items() if value is not None and value is not False}


def save(client: Client, url: str, **changes: Any) -> HttpResponse:
    return client.post(url, typed(client, url, **changes))


def delete(client: Client, url: str, *chosen: Any) -> HttpResponse:
    """What comes of deleting the row of a page, or the ``chosen`` ones of a list, once what that shows is confirmed."""
    asked = {"action": "delete_selected", "_selected_action": chosen} if chosen else {}
    shown = client.post(url, asked) if chosen else client.get(url)
    return client.post(url, {**asked, "post": "yes", "_seen": shown.context["seen"]})


def begin(client: Client, action: str, *keys: str) -> HttpResponse:
    """What comes of an action on operations of the list."""
    chosen = [operation(key).pk for key in keys]
    return client.post(page("operation", "changelist"), {"action": action, "_selected_action": chosen})


def act(client: Client, action: str, *keys: str) -> HttpResponse:
    """The same, and what it shows is saved."""
    shown = begin(client, action, *keys).context
    typed = {"operations": shown["form"]["operations"].value(), "seen": shown["form"].digest}
    return client.post(page("operation", shown["address"]), typed)


def tools() -> list[str]:
    """The names of the current revision's tools."""
    return sorted(Revision.objects.latest().tools)


def said(response: HttpResponse) -> list[str]:
    """The messages of a response, without their links."""
    return [re.sub(r"<[^>]*>", "", str(message)) for message in get_messages(response.wsgi_request)]


def errors(response: HttpResponse) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)


def rows(response: HttpResponse) -> list[list[str]]:
    """The cells of a list, as text."""
    body = response.content.decode().partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [re.findall(r"<t[hd] class=\"field.*?>(.*?)</t[hd]>", row, re.DOTALL) for row in body.split("</tr>")]
    return [[_text(cell) for cell in row] for row in cells if row]


def _text(cell: str) -> str:
    icon = re.search(r'alt="(\w+)"', cell)
    return icon[1] if icon else re.sub(r"<[^>]*>", "", cell).strip()
