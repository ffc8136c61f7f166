import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.search.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ()),
        (" \t\n_-./{}", ()),
        ("list open orders", ("list", "open", "order")),
        ("/api/orders/{order_id}/", ("api", "order", "order", "id")),
        ("don't", ("don",)),  # "t" is too short
        ("a b cd", ("cd",)),
        ("😀order😀note", ("order", "note")),
        ("日本語、注文", ("日本語", "注文")),
        ("注", ()),
        ("v2 4", ("v2",)),
        ("٣٤", ("٣٤",)),  # digits of any script
        ("m²x", ()),  # a superscript is a number, not a digit
        ("chapterⅧend", ("chapter", "end")),
        ("ﷺ\ud800ab", ("ab",)),
        ("x\u200by\u200bzz", ("zz",)),
    ],
)
def test_whatever_is_no_letter_mark_or_digit_separates(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("customerId", ("customer", "id")),
        ("getQRDetails", ("get", "qr", "detail")),
        ("HTMLPage", ("html", "page")),
        ("HTML", ("html",)),
        ("GetPortalPresence", ("get", "portal", "presence")),
        ("aBc", ("bc",)),
        ("ABc", ("bc",)),
        ("userIDs", ("user", "ds")),
        ("item2Name", ("item2name",)),  # a digit is no small letter
        ("HTTP2Server", ("http2server",)),
        ("fooBAR9baz", ("foo", "bar9baz")),
        ("caféMenu", ("cafe", "menu")),
        ("cafe\u0301Menu", ("cafe", "menu")),  # the accent is part of the small letter
        ("ÜberÄnderung", ("uber", "anderung")),
        ("наименованиеТовара", ("наименование", "товара")),
        ("aǅx", ("aǆx",)),  # a title-case letter is neither capital nor small
        ("文字Order", ("文字order",)),
    ],
)
def test_a_hump_starts_a_word(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Crème brûlée", ("creme", "brulee")),
        ("İSTANBUL", ("istanbul",)),
        ("ışık", ("ısık",)),  # dotless i stays itself
        ("STRASSE straße", ("strasse", "straße")),
        ("ΟΔΟΣ οδος οδοσ", ("οδοσ", "οδοσ", "οδοσ")),
        ("한국어", ("한국어",)),
        ("हिन्दी", ("हिनदी",)),  # the virama is Mn, the vowel signs are Mc
        ("ab\u0301\u0302cd", ("abcd",)),
        ("\u0301\u0302\u0303", ()),  # nothing is left of marks alone
        ("e\u0301", ()),
        ("𝐀𝐁", ("𝐀𝐁",)),  # mathematical capitals have no small form
        ("ＯＲＤＥＲ", ("ｏｒｄｅｒ",)),
    ],
)
def test_tokens_are_folded_whole(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("orders", ("order",)),
        ("NOTES", ("note",)),
        ("apis", ("api",)),
        ("ids", ("ids",)),  # three characters are too short to lose one
        ("bus", ("bus",)),
        ("address", ("addres",)),
        ("categories", ("categorie",)),
        ("ss", ("ss",)),
        ("cafés", ("cafe",)),
    ],
)
def test_a_long_token_loses_one_final_s(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.parametrize("text", ["éTable", "Ünlü İsim", "caféMenu", "ÀÉ", "ώρΑ", "가나다"])
def test_composed_and_decomposed_spellings_give_equal_tokens(text):
    decomposed = unicodedata.normalize("NFD", text)

    assert decomposed != text
    assert tokenize(decomposed) == tokenize(text)


@given(st.text())
def test_every_token_is_long_enough_and_of_word_characters(text):
    for token in tokenize(text):
        assert len(token) >= 2
        assert {unicodedata.category(char)[0] for char in token} <= {"L", "M", "N"}
