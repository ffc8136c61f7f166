"""Challenges: one line, Bearer first, quoted; what hosts say is merged and cannot say more than it should."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.protocol.challenges import TokenError, bearer_challenge, is_bearer, is_malformed

METADATA = "https://h.example/.well-known/oauth-protected-resource/mcp"
OURS = f'resource_metadata="{METADATA}", scope="tools:read"'


def challenge(*challenges: str, **given: Any) -> str:
    return bearer_challenge(
        **{"resource_metadata": METADATA, "scopes": ["tools:read"], "challenges": challenges, **given}
    )


def test_without_a_token_no_error_is_told() -> None:
    assert challenge(description="Authentication credentials were not provided.") == f"Bearer {OURS}"


@pytest.mark.parametrize(("error", "status"), [*zip(TokenError, (400, 401, 403), strict=True)])
def test_error_stands_first_and_its_description_last(error: TokenError, status: int) -> None:
    assert challenge(error=error, description="No.") == f'Bearer error="{error}", {OURS}, error_description="No."'
    assert error.http_status == status


def test_scopes_are_told_together_and_left_out_when_there_are_none() -> None:
    assert bearer_challenge(resource_metadata=None, scopes=["a", "b"]) == 'Bearer scope="a b"'
    assert bearer_challenge(resource_metadata=None, scopes=[]) == "Bearer"


@pytest.mark.parametrize(
    ("said", "merged"),
    [
        (["Token"], f"Bearer {OURS}, Token"),
        (['Basic realm="api"', "Token", "Token"], f'Bearer {OURS}, Basic realm="api", Token'),
        (['Bearer realm="api"'], f'Bearer {OURS}, realm="api"'),
        (["Basic realm=api", "bearer realm=api"], f'Bearer {OURS}, realm="api", Basic realm="api"'),
        (['Bearer realm="first"', 'Bearer realm="second"'], f'Bearer {OURS}, realm="first"'),
        (['Bearer resource_metadata="https://evil.example/", scope="all"'], f"Bearer {OURS}"),
        (['Bearer error="invalid_token",error_description="Old."'], f"Bearer {OURS}"),
        (['Bearer realm="a", Basic realm="b"'], f"Bearer {OURS}"),
        (['Bearer realm="he said "no""'], f"Bearer {OURS}"),
        (["Negotiate YII="], f"Bearer {OURS}"),
        ([""], f"Bearer {OURS}"),
    ],
    ids=str,
)
def test_challenges_of_the_host_are_merged(said: list[str], merged: str) -> None:
    assert challenge(*said) == merged


def test_host_describes_the_error_of_its_own_token() -> None:
    said = 'Bearer realm="api",error="invalid_token",error_description="The access token has expired."'

    assert challenge(said, error=TokenError.INVALID_TOKEN, description="No.") == (
        f'Bearer error="invalid_token", {OURS}, realm="api", error_description="The access token has expired."'
    )


def test_scope_of_the_host_is_told_where_the_endpoint_asks_for_none() -> None:
    assert bearer_challenge(resource_metadata=None, scopes=[], challenges=["Bearer scope=read"]) == (
        'Bearer scope="read"'
    )


def test_text_of_the_host_cannot_leave_its_quotation() -> None:
    said = 'Bearer realm="a\\", scope=\\"admin\\r\\nSet-Cookie: x\r\n\x00é"'

    assert challenge(said) == f"Bearer {OURS}, realm=\"a', scope='adminrnSet-Cookie: x \""


@given(realm=st.text(max_size=40), description=st.text(max_size=40))
def test_any_text_makes_one_readable_line(realm: str, description: str) -> None:
    line = challenge(f'Bearer realm="{realm}"', error=TokenError.INVALID_TOKEN, description=description)

    assert re.fullmatch(r"[\x20-\x7e]+", line)
    assert re.fullmatch(r'Bearer \w+="[^"\\]+"(, \w+="[^"\\]+")*', line)
    assert line.startswith(f'Bearer error="invalid_token", {OURS}')


@pytest.mark.parametrize(
    ("header", "malformed"),
    [
        ("Bearer abc", False),
        ("bearer   a.b-c_~+/==", False),
        ("Bearer", True),
        ("Bearer a b", True),
        ("Bearer a,Bearer b", True),
        ("Bearer a, Bearer b", True),
        ("Bearer\ta", True),
        ("Bearer é", True),
        ("Token", False),
        ("Bearerabc", False),
        ("", False),
    ],
)
def test_bearer_brings_exactly_one_token(header: str, malformed: bool) -> None:
    assert is_malformed(header) is malformed
    assert is_bearer(header) is (header.lower().split()[:1] == ["bearer"])
