"""results.md: a page whose next one is at the same address says which call asks for it."""

from typing import Any

import pytest

from sezzlee_mcp.catalog.tools import Exposed, Template
from sezzlee_mcp.invoke import compose
from sezzlee_mcp.invoke.pages import PagedCall, next_arguments
from tests.invoke.making import constant, slot

ADDRESS = "https://shop.example.com/api/orders/7/lines/?page=1"
SLOTS = (
    slot("id", "path", "integer", required=True),
    slot("page", type="integer"),
    slot("limit", type="integer"),
    slot("offset", type="integer"),
    slot("cursor", type="string"),
    slot("search", type="string"),
    slot("open", type="boolean"),
    slot("tags", type="string", is_array=True, explode=True),
    slot("ids", type="integer", is_array=True),
    slot("after", type="any", is_array=True, explode=True),
    slot("box", type="object"),
    slot("weight", type="number"),
    slot("page[number]", type="integer"),
    slot("p", type="integer", exposed=Exposed(name="pageNumber", aliases=("pageNo",))),
    slot("tenant", type="integer", exposed=constant(4)),
)
TEMPLATE = Template(method="GET", route="/api/orders/{id}/lines/", slots=SLOTS)


def following(body: Any, arguments: dict[str, Any], address: str | None = ADDRESS) -> dict[str, Any] | None:
    sent = {"id": 7, **arguments}
    call = PagedCall(tool="lines", arguments=sent, template=TEMPLATE, query=compose(TEMPLATE, sent).query)
    found = next_arguments(body, address, call)
    return None if found is None else {name: value for name, value in found.items() if name != "id" or value != 7}


def linked(query: str) -> dict[str, Any]:
    return {"next": f"https://shop.example.com/api/orders/7/lines/?{query}", "results": []}


@pytest.mark.parametrize(
    ("query", "arguments", "next_page"),
    [
        ("page=2&tenant=4", {}, {"page": 2}),
        ("page=3&search=a+b%26c&tenant=4", {"page": 2, "search": "a b&c"}, {"page": 3, "search": "a b&c"}),
        ("limit=5&offset=5&tenant=4", {"limit": 5}, {"limit": 5, "offset": 5}),
        ("cursor=cD0yMDI2LTAx%3D&tenant=4", {"cursor": "x"}, {"cursor": "cD0yMDI2LTAx="}),
        ("page%5Bnumber%5D=2", {}, {"page[number]": 2}),
        ("open=false&weight=-3", {"open": True}, {"open": False, "weight": -3}),
        ("tags=a&tags=b&page=2", {"tags": ["a", "b"]}, {"tags": ["a", "b"], "page": 2}),
        ("ids=1%2C2&page=2", {"ids": [1, 2]}, {"ids": [1, 2], "page": 2}),
        ("after=1&after=b", {}, {"after": ["1", "b"]}),
        ("page=2", {"search": "kept"}, {"search": "kept", "page": 2}),
        ("page=2&search=", {"search": ""}, {"search": "", "page": 2}),
        ("p=2", {"pageNumber": 1}, {"pageNumber": 2}),
        ("p=2", {"pageNo": 1}, {"pageNumber": 2}),
        ("p=2", {}, {"pageNumber": 2}),
    ],
)
def test_address_of_the_next_page_becomes_the_arguments_of_its_call(query, arguments, next_page):
    assert following(linked(query), arguments) == next_page


@pytest.mark.parametrize(
    "query",
    [
        "page=1&tenant=4",  # the page that this is, without end
        "",
        "page=2&tenant=5",  # hidden: no call can set it
        "page=2&format=json",  # no argument
        "page=two",
        "page=2.5",
        "page=02",
        "page=1&page=2",
        "open=maybe",
        "weight=0.5",
        "ids=1,3",  # may be one text with a comma
        "box=x",
        "cursor=%ff",
    ],
)
def test_page_that_no_call_leads_to_is_not_promised(query):
    assert following(linked(query), {"page": 1}) is None


@pytest.mark.parametrize(
    "link",
    [
        "https://shop.example.com/api/orders/7/lines/?page=2",
        "https://SHOP.example.com/api/orders/7/lines/?page=2#top",
        "http://shop.example.com/api/orders/7/lines/?page=2",
        "https://shop.example.com/api/orders/%37/lines/?page=2",
        "//shop.example.com/api/orders/7/lines/?page=2",
        "/api/orders/7/lines/?page=2",
        "?page=2",
    ],
)
def test_address_may_be_written_in_any_way_that_leads_back(link):
    assert following({"next": link}, {}) == {"page": 2}
    assert following({"links": {"next": link}}, {}) == {"page": 2}


@pytest.mark.parametrize(
    "link",
    [
        "https://other.example.com/api/orders/7/lines/?page=2",
        "https://shop.example.com:8443/api/orders/7/lines/?page=2",
        "https://ann@shop.example.com/api/orders/7/lines/?page=2",
        "https://shop.example.com/api/orders/8/lines/?page=2",
        "https://shop.example.com/api/orders/?page=2",
        "https://shop.example.com/shop/api/orders/7/lines/?page=2",
        "ftp://shop.example.com/api/orders/7/lines/?page=2",
        "javascript:alert(1)",
        "https://[",
        "",
        None,
        7,
        {"href": "?page=2"},
    ],
)
def test_address_that_leads_elsewhere_is_no_next_page(link):
    assert following({"next": link}, {}) is None
    assert following({"links": {"next": link}}, {}) is None


@pytest.mark.parametrize("body", [None, [], ["?page=2"], "?page=2", {}, {"links": None}, {"links": ["?page=2"]}])
def test_body_without_a_link_is_no_page(body):
    assert following(body, {}) is None


def test_link_of_an_answer_without_an_address_is_not_read():
    assert following({"next": "?page=2"}, {}, address=None) is None
