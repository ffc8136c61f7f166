from collections.abc import Callable

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from project.demo.accounts import ACCOUNTS


@pytest.fixture
def shop(db: None) -> None:
    call_command("loaddata", "users", "shop", verbosity=0)


@pytest.fixture
def as_user(shop: None) -> Callable[[str | None], APIClient]:
    tokens = {account.username: account.token for account in ACCOUNTS}

    def client(username: str | None) -> APIClient:
        carrier = {} if username is None else {"HTTP_AUTHORIZATION": f"Token {tokens[username]}"}
        return APIClient(**carrier)

    return client
