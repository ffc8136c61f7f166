import pytest

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import DocumentTokens, Index, weigh


def _index(**texts):
    return Index.build({name: weigh(SearchDocument(name=name, description=text)) for name, text in texts.items()})


def test_each_field_has_its_weight():
    document = SearchDocument(
        name="alpha",
        description="bravo",
        search_terms=("charlie", "delta"),
        tags=("Echo",),
        route="/foxtrot/{golf}/",
        alternate_routes=("/hotel/",),
        parameters=("india", "juliett kilo"),
    )

    weighed = weigh(document)

    assert dict(zip(weighed.tokens, weighed.weights, strict=True)) == {
        "alpha": 3.0,
        "bravo": 1.5,
        "charlie": 1.5,
        "delta": 1.5,
        "echo": 1.0,
        "foxtrot": 1.0,
        "golf": 1.0,
        "hotel": 1.0,
        "india": 1.0,
        "juliett": 1.0,
        "kilo": 1.0,
    }
    assert weighed.length == 14.5


def test_a_token_sums_the_weights_of_all_its_places():
    document = SearchDocument(
        name="list_orders", description="Lists orders.", tags=("Orders",), route="/orders/", parameters=("order", "id")
    )

    assert weigh(document) == DocumentTokens(
        tokens=("list", "order", "id"), weights=(4.5, 7.5, 1.0), length=13.0, tags=("orders",)
    )


def test_tags_are_folded_whole_and_kept_once():
    document = SearchDocument(name="x", description="", tags=("Order Items", "ORDER ITEMS", "İADE ", "ΟΔΟΣ", "a-b"))

    assert weigh(document).tags == ("a-b", "iade ", "order items", "οδοσ")


def test_a_tool_without_a_word_weighs_nothing():
    assert weigh(SearchDocument(name="x", description="?")) == DocumentTokens(tokens=(), weights=(), length=0, tags=())


def test_the_texts_of_a_field_are_not_joined():
    document = SearchDocument(name="x", description="", parameters=("ORDER", "id"))

    assert weigh(document).tokens == ("order", "id")


@pytest.mark.parametrize(
    ("token", "matching"),
    [
        ("order", {"aa": 3.0, "bb": 1.5, "cc": 1.5}),
        ("orderi", {"cc": 1.5}),
        ("ordered", {}),  # longer than any token that it starts like
        ("ord", {"aa": 3.0, "bb": 1.5, "cc": 1.5}),
        ("or", {}),  # two characters match their equal only
        ("id", {"bb": 1.5}),
        ("ide", {"cc": 1.5}),
        ("aaa", {}),
        ("aa", {"aa": 3.0}),
        ("zzz", {}),
        ("日本", {}),
        ("日本語", {"aa": 1.5}),
    ],
)
def test_three_characters_match_as_a_prefix_and_fewer_exactly(token, matching):
    index = _index(aa="order orders 日本語訳", bb="order id", cc="ordering identity")

    found = index.frequencies(token)

    assert {index.names[number]: weight for number, weight in found.items()} == matching


def test_the_frequency_of_a_prefix_is_the_sum_over_all_tokens_it_starts():
    index = _index(aa="order ordering orderly", bb="ordering")

    assert index.frequencies("order") == {0: 4.5, 1: 1.5}


def test_the_last_character_of_unicode_ends_no_prefix_early():
    index = _index(aa="order\U0001f12f orderz order\U00020000")

    assert index.frequencies("order") == {0: 4.5}


def test_the_order_of_the_documents_has_no_effect():
    weighed = {
        name: weigh(SearchDocument(name=name, description=f"{name} of all")) for name in ("zz", "aa", "Bb", "éé")
    }

    built = Index.build(weighed)

    assert built == Index.build(dict(reversed(weighed.items())))
    assert built.names == ("Bb", "aa", "zz", "éé")


def test_an_empty_catalog_has_an_index():
    index = Index.build({})

    assert index.names == ()
    assert index.frequencies("order") == {}


def test_a_catalog_without_a_word_has_an_index():
    index = Index.build({"x": weigh(SearchDocument(name="x", description=""))})

    assert index.frequencies("order") == {}
