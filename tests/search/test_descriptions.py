"""What is wrong with a description, told from the other ones of its catalog."""

import pytest

from sezzlee_mcp.search.descriptions import Described, Fault, abbreviations, faults

FINE = "Lists the orders of a shop that are still open."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (FINE, ()),
        ("", (Fault.MISSING,)),
        ("  \n", (Fault.MISSING,)),
        ("GET /{id}/", (Fault.MISSING,)),
        ("x" * 19, (Fault.SHORT,)),
        (f"  {'x' * 19}  ", (Fault.SHORT,)),
        ("x" * 20, ()),
        ("x" * 160, ()),
        ("x" * 161, (Fault.CLIPPED,)),
    ],
)
def test_a_description_is_missing_short_or_too_long_for_its_card(text, found):
    assert faults([Described(operation="GET /{id}/", text=text)]) == [found]


def test_descriptions_that_fold_alike_repeat_each_other():
    texts = [FINE, FINE.upper().replace(" ", "\n "), "Lists the orders of another shop."]
    tools = [
        Described(operation=f"GET /{letter}/orders/", text=text) for letter, text in zip("abc", texts, strict=True)
    ]
    assert faults(tools) == [(Fault.REPEATED,), (Fault.REPEATED,), ()]


def test_two_missing_descriptions_are_no_repetition():
    assert faults([Described(operation="GET /a/", text=""), Described(operation="GET /b/", text="")]) == [
        (Fault.MISSING,),
        (Fault.MISSING,),
    ]


def test_the_faults_of_one_come_worst_first():
    long = Described(operation="GET /a/orders/", text=f"{FINE} " * 4, is_leaking=True)
    short = [Described(operation=f"GET /{letter}/orders/", text="Orders.", is_leaking=True) for letter in "bc"]
    assert faults([long, *short]) == [
        (Fault.LEAKING, Fault.CLIPPED),
        (Fault.SHORT, Fault.REPEATED, Fault.LEAKING),
        (Fault.SHORT, Fault.REPEATED, Fault.LEAKING),
    ]


@pytest.mark.parametrize(
    ("operations", "is_sibling"),
    [
        (["GET /orders/", "POST /orders/"], True),
        (["GET /orders/", "GET /orders/{id}/"], True),
        (["GET /orders/{id}/", "DELETE /orders/{id}/"], True),
        (["GET /orders/", "GET /orders/open/"], False),
        (["GET /orders/", "GET /shop/orders/"], False),
    ],
)
def test_equal_texts_of_one_resource_are_siblings(operations, is_sibling):
    fault = Fault.SIBLING if is_sibling else Fault.REPEATED
    text = "Whatever there is to do with orders."
    assert faults([Described(operation=each, text=text) for each in operations]) == [(fault,), (fault,)]


@pytest.mark.parametrize(
    ("operation", "text", "is_fault"),
    [
        ("POST /orders/", "List all the open orders.", True),
        ("DELETE /orders/{id}/", "A list of the open orders.", True),
        ("PATCH /orders/{id}/", "Retrieves the list of orders.", True),
        ("GET /orders/", "List all the open orders.", False),
        ("POST /orders/", "Listed orders are put in the catalog.", False),
        ("DELETE /orders/", "Delete a list of orders at once.", False),
        ("POST /orders/", "Get an order for these products.", False),
    ],
)
def test_text_that_speaks_of_a_list_misleads_about_a_write(operation, text, is_fault):
    assert (Fault.LISTING in faults([Described(operation=operation, text=text)])[0]) is is_fault


@pytest.mark.parametrize(
    ("operation", "text", "is_fault"),
    [
        ("GET /shop/orders/", "Everything that was ever bought.", True),
        ("GET /shop/orders/", "Everything that was ever ordered.", False),
        ("GET /categories/{id}/", "One category of products.", False),
        ("GET /rack-types/", "Each type of a rack that can be used.", False),
        ("GET /racktypes/", "Each of the rack types in use.", False),
        ("GET /available-ips/", "The IP addresses that are free.", False),
        ("GET /categories/{id}/products/", "Whatever is sold under one category.", False),
        ("GET /shop/categories/{id}/", "What a shop has of one kind.", True),
        ("GET /info/", "Whose system this is.", False),
        ("GET /orders/export/", "All orders as a spreadsheet.", False),
        ("GET /orders/{id}/cancel/", "Calls the order off.", False),
        ("GET /{tenant}/", "Who rents what from whom.", False),
    ],
)
def test_text_says_what_its_resource_is_called(operation, text, is_fault):
    """The resources are those that a variable follows in some route of the catalog."""
    others = [
        Described(operation=f"GET {route}", text="")
        for route in ("/orders/{id}/", "/shop/orders/{id}/", "/categories/{id}/products/{product}/", "/shop/{id}/")
    ]
    assert (Fault.UNNAMED in faults([Described(operation=operation, text=text), *others])[0]) is is_fault


@pytest.mark.parametrize(
    ("name", "text", "is_fault"),
    [
        ("products_sold_out", "Lists products that are sold out.", False),
        ("sold_out", "Lists whatever is sold out.", False),
        ("list_running", "Lists whatever there is.", True),
        ("get_all", "Gets all that there is, at once.", True),
        ("", "Lists products that are sold out.", True),
    ],
)
def test_the_name_of_a_variant_says_what_it_is_about_beside_the_route(name, text, is_fault):
    tool = Described(operation="GET /reports/stock/", text=text, own_name=name)
    assert (Fault.UNNAMED in faults([tool])[0]) is is_fault


@pytest.mark.parametrize(
    ("operation", "text", "found"),
    [
        ("GET /dci/sites/", "All sites that there are.", ("dci",)),
        ("GET /dci/sites/", "All sites of the DCI module.", ()),
        ("GET /crm/sites/", "All sites that there are.", ("crm",)),  # another text says CRM, and nobody spells it out
        ("GET /dcim/sites/", "All sites that there are.", ("dcim",)),  # many texts would say it if it were a word
        ("GET /dci/sites/{id}/crm/", "All sites that there are.", ("crm", "dci")),
        ("GET /shop/sites/", "All sites that there are.", ()),
        ("GET /inn/sites/", "All sites that there are.", ()),  # which another text says
        ("GET /api/sites/pdf/", "All sites that there are, on paper.", ()),
        ("GET /infrastructure/sites/", "All sites that there are.", ()),
        ("GET /dci/sites/", "", ()),  # a description is missing first
    ],
)
def test_abbreviation_is_a_short_word_that_no_text_says(operation, text, found):
    others = [Described(operation="GET /towns/", text="Each inn of the CRM, by name.")]
    others += [Described(operation=f"GET /dcim/{number}/", text="Something else.") for number in range(10)]
    tool = Described(operation=operation, text=text)

    assert abbreviations([tool, *others]) == [found, (), *[("dcim",)] * 10]
    assert faults([tool])[0] == ((Fault.MISSING,) if not text else ())
    assert abbreviations([Described(operation=operation, text=text, has_terms=True), *others])[0] == ()
