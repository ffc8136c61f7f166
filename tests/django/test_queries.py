"""How many queries each meta-tool costs; a kept snapshot, and no query per tool, are what holds them down."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sezzlee_mcp.models import Operation
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.testing import McpClient
from tests.django.conftest import TOKENS

TOKEN, STAMP = 1, 1  # the token's look-up, which is the host's, and the catalog's stamp


@pytest.fixture
def admin(agent: Callable[[str], McpClient]) -> McpClient:
    """An agent that has asked before: schemas, template and what the views let it do are in memory."""
    admin = agent("admin")
    admin.search("order", detail="schema", limit=50)
    admin.invoke("orders_list")
    return admin


def test_listing_the_tools_costs_the_callers_token_and_the_stamp(
    admin: McpClient, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(TOKEN + STAMP):
        admin.list_tools()


@pytest.mark.parametrize("arguments", [{}, {"limit": 50}, {"detail": "schema"}], ids=str)
def test_a_search_costs_no_more_than_that(
    admin: McpClient, django_assert_num_queries: Any, arguments: dict[str, Any]
) -> None:
    with django_assert_num_queries(TOKEN + STAMP):
        admin.search("order", **arguments)


def test_a_load_costs_no_more_than_that(admin: McpClient, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(TOKEN + STAMP):
        admin.load("orders_list")


def test_a_first_load_also_reads_the_shape_and_the_template_that_holds_the_budget(
    admin: McpClient, django_assert_num_queries: Any
) -> None:
    Operation.objects.filter(published_name="products_list").update(description="Read by no test before this one.")
    publish(source="command")
    admin.search("product")

    with django_assert_num_queries(TOKEN + STAMP + 2):
        admin.load("products_list")


def test_a_call_costs_what_the_same_request_costs_over_http(
    admin: McpClient, client: Client, django_assert_num_queries: Any
) -> None:
    with CaptureQueriesContext(connection) as plain:
        client.get("/api/orders/", headers={"Authorization": f"Token {TOKENS['admin']}"})

    with django_assert_num_queries(len(plain) + TOKEN + STAMP):
        admin.invoke("orders_list")
