import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.folding import fold


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Order Notes", "order notes"),
        ("Café", "cafe"),
        ("Cafe\u0301", "cafe"),
        ("İstanbul", "istanbul"),
        ("ISPARTA", "isparta"),
        ("ıs", "ıs"),
        ("Straße", "straße"),
        ("ΟΔΟΣ", "οδοσ"),
        ("οδός", "οδοσ"),
        ("ﬁ", "ﬁ"),
        ("각", "각"),
        ("  A ", "  a "),
        ("\u0301", ""),
        ("", ""),
    ],
)
def test_fold(text: str, expected: str) -> None:
    assert fold(text) == unicodedata.normalize("NFC", expected)


@given(st.text())
def test_folding_is_blind_to_composition(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))
