from itertools import chain

from sezzlee_mcp.search import Synonyms
from sezzlee_mcp.search.synonyms import ENGLISH
from sezzlee_mcp.search.tokens import tokenize


def test_each_word_of_a_group_stands_for_each_other():
    synonyms = Synonyms([["Bills", "invoice"], ["invoice", "Rechnung", "RECHNUNG"]])

    assert {word: synonyms.of(word) for word in ("bill", "invoice", "rechnung", "order")} == {
        "bill": ("invoice",),
        "invoice": ("bill", "rechnung"),
        "rechnung": ("invoice",),
        "order": (),
    }


def test_english_words_are_one_token_each_and_stand_in_one_group_each():
    words = list(chain.from_iterable(ENGLISH))

    assert [word for word in words if len(tokenize(word)) != 1] == []
    assert sorted(set(words)) == sorted(words)
    assert [group for group in ENGLISH if len(group) < 2] == []
