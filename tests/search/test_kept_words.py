"""Which words of a search may be kept: those of a dictionary, nothing that says who somebody is or what they know."""

import pytest

from sezzlee_mcp.search.kept_words import kept_words


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("Refund an invoice!", {"refund", "invoice"}),
        ("REFUND, (invoices)", {"refund", "invoice"}),
        ("cancel the re-order of today’s delivery", {"cancel", "order", "today", "delivery"}),
        ("Rechnung für Empfängeradresse", {"rechnung", "fur", "empfangeradresse"}),
        ("cafe\N{COMBINING ACUTE ACCENT} हिन्दी", {"cafe", "हिनदी"}),
        ("What does this do with its refunds?", {"refund"}),
        ("", set()),
    ],
)
def test_words_are_kept_folded_as_search_compares_them(query: str, kept: set[str]) -> None:
    assert kept_words(query) == kept


@pytest.mark.parametrize(
    "value",
    [
        "4711",
        "INV2024",
        "ada@example.com",
        "https://example.com/ada",
        "555-0199",
        "d94f3f01-6a0d-4b7e-8c55-1f0c6a1d8a30",
        "sk_live_abcdef",
        "ghpAbCdEfGhIj",
        "getQRDetails",
        "order_id",
        "/etc/passwd",
        "eyJhbGciOi.eyJzdWIi",
        "hunter2",
        "x" * 31,
        "to",
        '"Ada Lovelace"',
        "“Ada Lovelace”",
        "„Ada Lovelace“",
        "«Ada Lovelace»",
        "`Ada Lovelace`",
        "'Ada Lovelace'",
        '"Ada Lovelace',
    ],
)
def test_what_may_say_who_somebody_is_or_what_they_know_is_left_out(value: str) -> None:
    assert kept_words(f"refund {value}") - {"http"} == {"refund"}


@pytest.mark.parametrize("query", ["password: correcthorse", "password=correcthorse", "password :correcthorse"])
def test_word_behind_a_colon_or_an_equals_sign_is_a_value(query: str) -> None:
    assert kept_words(query) == {"password"}
