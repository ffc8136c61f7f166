import pytest

from sezzlee_mcp.invoke import ComposeContext, compose
from tests.invoke.making import post, refusal, slot


def cookie(name="c", type="string", **options):
    return slot(name, "cookie", type, **options)


@pytest.mark.parametrize(
    ("declared", "value", "header"),
    [
        (cookie(), "a", "c=a"),
        (cookie(), "", "c="),
        (cookie(), "a; admin=1", "c=a%3B%20admin%3D1"),
        (cookie(), "a\r\nX: 1\0", "c=a%0D%0AX%3A%201%00"),
        (cookie(), "ü,😀", "c=%C3%BC%2C%F0%9F%98%80"),
        (cookie(type="number"), 1.50, "c=1.5"),
        (cookie(type="boolean"), True, "c=true"),
        (cookie(is_array=True), ["a,b", "c"], "c=a%2Cb,c"),
        (cookie(is_array=True, style="cookie"), ["a", "b"], "c=a,b"),
        (cookie(style="cookie"), "a.b-c%20", "c=a.b-c%20"),
        (cookie(type="json", content_type="application/json"), {"a": "ü"}, "c=%7B%22a%22%3A%22%5Cu00fc%22%7D"),
    ],
)
def test_cookie_is_written_in_its_style(declared, value, header):
    assert compose(post(declared), {"c": value}).headers == (("Cookie", header),)


def test_one_header_holds_the_carried_cookies_first_then_those_of_the_call():
    template = post(cookie("b"), cookie("a"))
    request = compose(template, {"a": "1", "b": "2"}, ComposeContext(carried_cookies="sid=x; lang=tr"))
    assert request.headers == (("Cookie", "sid=x; lang=tr; b=2; a=1"),)


@pytest.mark.parametrize("arguments", [{}, {"c": []}])
def test_call_without_a_cookie_leaves_the_carried_ones_alone(arguments):
    context = ComposeContext(carried_cookies="c=1")
    assert compose(post(cookie(is_array=True)), arguments, context).headers == ()


@pytest.mark.parametrize("carried", ["c=1", "a=2; c=", " c =x", "c", "a=b;c=3"])
def test_cookie_that_the_connection_sends_is_not_overwritten(carried):
    assert refusal(post(cookie()), {"c": "1"}, carried_cookies=carried).code == "cookie_carrier_collision"


@pytest.mark.parametrize("carried", ["C=1", "cc=1", "a=c", "a=x c=1"])
def test_other_carried_cookies_are_no_collision(carried):
    request = compose(post(cookie()), {"c": "1"}, ComposeContext(carried_cookies=carried))
    assert request.headers == (("Cookie", f"{carried}; c=1"),)


@pytest.mark.parametrize("value", ["a b", 'a"', "a,b", "a;b", "a\\b", "a\n", "\0", "ü", "\x7f", "a\t"])
def test_raw_cookie_holds_cookie_octets_only(value):
    assert refusal(post(cookie(style="cookie")), {"c": value}).code == "invalid_cookie_value"


@pytest.mark.parametrize(("value", "code"), [(None, "null_not_allowed"), (1, "invalid_type"), (["a"], "invalid_type")])
def test_cookie_value_passes_the_type_gate(value, code):
    assert refusal(post(cookie()), {"c": value}).code == code


@pytest.mark.parametrize(("name", "sent"), [("a+b$", "a+b$=1"), ("a b", "a%20b=1"), ("a;b=c", "a%3Bb%3Dc=1")])
def test_declared_name_stays_a_name(name, sent):
    assert compose(post(cookie(name)), {name: "1"}).headers == (("Cookie", sent),)
