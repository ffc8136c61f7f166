from collections.abc import Callable, Iterator

import pytest
from django.core.management import call_command
from django.test import override_settings
from pytest_django import Settings

from project.demo.accounts import ACCOUNTS
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient

TOKENS = {account.username: account.token for account in ACCOUNTS}


@pytest.fixture
def testapp(db: None, settings: Settings) -> None:
    """The small views of ``tests.testapp``, all exposed, open to everyone, synced."""
    settings.ROOT_URLCONF = "tests.testapp.urls"
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    sync()


@pytest.fixture
def shop(db: None) -> None:
    """The demo shop with its users and data, synced."""
    call_command("loaddata", "users", "shop", verbosity=0)
    sync()


@pytest.fixture
def agent(shop: None) -> Callable[[str], McpClient]:
    """The agent of one of the demo's users."""
    return lambda username: McpClient(headers={"Authorization": f"Token {TOKENS[username]}"})


@pytest.fixture
def anonymous_endpoint(settings: Settings) -> Iterator[None]:
    opened = {**settings.SEZZLEE_MCP, "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}
    with override_settings(SEZZLEE_MCP=opened):
        yield
