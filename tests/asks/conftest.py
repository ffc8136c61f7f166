import pytest

from sezzlee_mcp.testing import McpClient
from tests.django.conftest import TOKENS, shop

__all__ = ["shop"]


@pytest.fixture
def admin(shop: None) -> McpClient:
    """The agent of the demo's superuser."""
    return McpClient(headers={"Authorization": f"Token {TOKENS['admin']}"})
