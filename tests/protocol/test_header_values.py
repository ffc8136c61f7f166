"""protocol.md, section 4: the Base64 sentinel."""

import pytest

from sezzlee_mcp.protocol.headers import decode_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("load_tool", "load_tool"),
        ("", ""),
        ("=?base64?w6nDoMO8?=", "éàü"),
        ("=?base64??=", ""),
        ("=?base64?PT9iYXNlNjQ/eD89?=", "=?base64?x?="),
        ("=?base64?YQ==", "=?base64?YQ=="),
        ("YQ==?=", "YQ==?="),
        ("=?BASE64?YQ==?=", "=?BASE64?YQ==?="),
        ("=?Base64?YQ==?=", "=?Base64?YQ==?="),
        ("=?base64?=", "=?base64?="),
        ("x=?base64?YQ==?=", "x=?base64?YQ==?="),
    ],
)
def test_value_stands_for_itself_unless_a_sentinel_encloses_it(value, text):
    assert decode_value(value) == text


@pytest.mark.parametrize(
    "value",
    [
        "=?base64?YQ?=",
        "=?base64?YQ=?=",
        "=?base64?YR==?=",
        "=?base64?Y Q==?=",
        "=?base64?YQ==\n?=",
        "=?base64?YQ==YQ==?=",
        "=?base64?-_-_?=",
        "=?base64?é===?=",
        "=?base64?/w==?=",
        "=?base64?7aCA?=",
    ],
    ids=["unpadded", "short", "not canonical", "blank", "newline", "two", "url-safe", "not ascii", "ff", "surrogate"],
)
def test_malformed_sentinel_stands_for_nothing(value):
    assert decode_value(value) is None
