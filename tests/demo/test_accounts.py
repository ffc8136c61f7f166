from base64 import b64encode

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from project.demo.accounts import ACCOUNTS
from project.shop.models import Order, Product


def test_fixtures_load_twice_and_mend_what_was_changed(shop):
    Product.objects.filter(pk=2).update(stock=0)

    call_command("loaddata", "users", "shop", verbosity=0)

    assert (User.objects.count(), Order.objects.count(), Product.objects.get(pk=2).stock) == (4, 7, 5)


def test_users_of_the_fixture_are_those_that_the_demo_tells(shop):
    tokens = dict(Token.objects.values_list("user__username", "key"))

    assert tokens == {account.username: account.token for account in ACCOUNTS}


@pytest.mark.parametrize("scheme", ["Token", "Bearer"])
def test_token_opens_shop_and_endpoint_under_either_name(shop, client, scheme):
    headers = {"Authorization": f"{scheme} alice-demo-token"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    assert client.get("/api/me/", headers=headers).json()["username"] == "alice"
    assert client.post("/mcp", message, "application/json", headers=headers).json()["result"] == {}
    wrong = client.post("/mcp", message, "application/json", headers={"Authorization": f"{scheme} wrong"})
    assert (wrong.status_code, wrong["WWW-Authenticate"]) == (401, "Token")


@pytest.mark.parametrize("account", ACCOUNTS, ids=lambda account: account.username)
def test_password_opens_the_shop_by_basic_and_by_session_login(shop, account):
    basic = APIClient()
    basic.credentials(HTTP_AUTHORIZATION=basic_header(account.username, account.password))
    session = APIClient()

    assert session.login(username=account.username, password=account.password)
    assert [client.get("/api/me/").json()["username"] for client in (basic, session)] == [account.username] * 2


def basic_header(username: str, password: str) -> str:
    return f"Basic {b64encode(f'{username}:{password}'.encode()).decode()}"
