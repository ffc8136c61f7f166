import re
from pathlib import Path

import pytest

from sezzlee_mcp.invoke.leaks import _COMPILED, FORWARDED_CHARS, may_be_forwarded, tells_internals

HERE = Path(__file__).parent / "leaks"
# What str() and tracebacks say of errors that were made with these libraries, in a shop below /srv/shop; credentials
# are made up.
COLLECTED = ["python", "django", "drf", "sqlite", "postgresql", "mysql", "credentials"]


def texts(name):
    return (HERE / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n%%\n")


LEAKS = [
    # stack frames
    "Traceback (most recent call last):",
    'File "orders.py", line 12, in create',
    "at Shop.Orders.Create(Order order)",
    "at java.util.List.get(List.java:12)",
    "at Object.<anonymous> (server.js:10:5)",
    "failed in views.py:88",
    "Orders.cs:line 42",
    "lib/python3.11/site-packages/rest_framework",
    # exception types
    "NullReferenceException: oops",
    "Order.DoesNotExist",
    "raised OrderDoesNotExist",
    "django.db.utils.IntegrityError: oops",
    "shop.errors.StockError: none left",
    "IntegrityError",
    "KeyError: 'sku'",
    "psycopg.errors.UniqueViolation",
    "sqlite3.OperationalError: database is locked",
    # file paths
    r"C:\inetpub\shop\web.config",
    "D:/shop/settings.ini",
    r"cannot read \\fileserver\share\x",
    "/home/alice/.ssh",
    "open(/var/log/shop.log)",
    "'/etc/passwd'",
    "../../etc/passwd is not readable from /etc/passwd",
    "error:/srv/shop/x",
    "/root/.bashrc",
    "/opt/shop/bin",
    "/usr/lib/x",
    "/app/main",
    "/src/shop",
    "/tmp/upload1",  # noqa: S108 - a text, no file
    "file:///x",
    # database
    "SELECT id FROM orders",
    "select * from orders",
    "SELECT COUNT(*) FROM orders",
    "INSERT INTO orders VALUES (1)",
    "UPDATE orders SET paid = 1",
    "DELETE FROM orders WHERE id = 1",
    "ALTER TABLE orders ADD x",
    'duplicate key value violates unique constraint "sku"',
    'insert on table "x" violates foreign key constraint "y"',
    'new row violates check constraint "x"',
    "UNIQUE constraint failed: shop_order.sku",
    "NOT NULL constraint failed: shop_order.sku",
    'relation "shop_order" does not exist',
    "no such table: shop_order",
    'syntax error at or near "FROM"',
    "Duplicate entry 'x' for key 'sku'",
    'null value in column "sku"',
    "DETAIL:  Key (email)=(a@example.com) already exists.",
    "ORA-00942: table or view",
    "SQLSTATE[23000]",
    # connections
    "Server=db01;Database=Orders;User Id=sa;",
    "Password=hunter2",
    "host=db user=shop password = hunter2",
    "https://user:secret@db.example.com/x",
    "ftp://user@files.example.com",
    "postgres://db/orders",
    "redis://cache:6379/0",
    "API_KEY=abc",
    # credentials
    "Bearer abc",
    "Bearer abcdef",
    "Authorization: Bearer sk-live-1234567890",
    "authorization: bearer abc123def456",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig",
    "Token 9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
    "token: 9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
    # pages
    "<!DOCTYPE html><p>Not Found",
    "oops <html lang='en'>",
]
INNOCENT = [
    "",
    "An error occurred.",
    "Error: quantity must be positive",
    "An exception was made for this customer.",
    "Type error in row 3",
    "Value errors: 2",
    "See /orders/5/ for the order.",
    "https://shop.example.com/app/home/var/x",
    "Visit https://shop.example.com/usr/share",
    "The date 12/05/2024 is in the past.",
    "1:30 at noon",
    "Call us at noon (or later).",
    "Look at row 3 (the last)",
    "Ratio 3:4, and/or a:b",
    "c: the third choice",
    "No Order matches the given query.",
    "Order matching query does not exist.",
    'Invalid pk "5" - object does not exist.',
    "Select an item from the list.",
    "Please update your order and set a date.",
    "Delete from the cart first.",
    "This field must be unique.",
    "order with this sku already exists.",
    "The fields customer, sku must make a unique set.",
    "Enter a valid email address, like alice@example.com.",
    "https://social.example.com/@alice",
    "This password is too common.",
    "password: This field is required.",
    "A Bearer token is required.",
    "Use Bearer authentication",
    "Bearer and Basic are accepted, Bearer is better",
    "the bearer of this letter",
    "Invalid token.",
    "Token is invalid or expired",
    "The token must have 20 characters",
    "The JSON value could not be converted to System.Int32. Path: $.quantity | LineNumber: 0",
    "Expecting value: line 1 column 1 (char 0)",
    "JSON parse error - Expecting ',' delimiter: line 1 column 9 (char 8)",
    'Method "PUT" not allowed.',
    'Unsupported media type "text/csv" in request.',
    "Request was throttled. Expected available in 30 seconds.",
    "Ensure this value is <= 100 and >= 1.",
    "Bitte geben Sie eine gültige Zahl ein. Ошибка. 値が不正です。",
    "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].",
    "“1.5” is not a valid UUID.",
    "Home/var and /variable/names",
    "src=cart",
    "host name is required",
]


@pytest.mark.parametrize("text", LEAKS)
@pytest.mark.parametrize("around", ["{}", "Could not save the order ({}), sorry.", "first line\n{}\nlast line"])
def test_text_that_tells_of_the_inside_is_kept_back(text, around):
    assert not may_be_forwarded(around.format(text))


@pytest.mark.parametrize("name", COLLECTED)
def test_every_collected_leak_is_known_by_what_it_says(name):
    assert [text for text in texts(name) if not tells_internals(text)] == []


@pytest.mark.parametrize("text", texts("innocent"))
def test_collected_innocent_text_passes(text):
    assert may_be_forwarded(text)


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_text_passes(text):
    assert may_be_forwarded(text)


def test_forwarded_text_is_a_message_and_no_dump():
    assert may_be_forwarded("x" * FORWARDED_CHARS)
    assert not may_be_forwarded("x" * (FORWARDED_CHARS + 1))


def test_each_expression_looks_at_a_bounded_piece_of_the_text_from_any_place_on():
    """So the work grows with the text and not with its square; what is in brackets or escaped repeats nothing."""
    plain = {one.pattern: re.sub(r"\\.|\[(?:\\.|[^\]\\])+\]", "x", one.pattern) for one in _COMPILED}
    assert [pattern for pattern, text in plain.items() if re.search(r"[*+]|,\}", text)] == []


@pytest.mark.parametrize(
    "seed",
    [
        "a",
        "a.",
        "A",
        "A_",
        "at ",
        "at a.",
        "at a(",
        "at (",
        "(:1",
        'File "',
        "\\\\a",
        "\\",
        "/",
        "://",
        "://a",
        "SELECT ",
        "SELECT x FROM",
        "UPDATE ",
        "password =",
        "server=",
        "Key (",
        'column "',
        "Bearer ",
        "bearer a",
        "eyJ",
        "eyJ-",
        "token ",
        "token:",
        "<",
        " \t\n",
        "violates ",
        "Token ",
        "token a",
        "Basic a",
        "function a",
        "function a(",
        "table a_",
        "/a",
        "/Users/a",
        'near "',
        "Error 1 connecting to ",
        "Reverse for '",
        'must be a "',
        "name '",
        "CONSTRAINT `",
        "Access denied for user '",
        "LINE 1",
        "`.a",
        "(1",
    ],
)
def test_hostile_repetition_ends_with_an_answer(seed):
    text = (seed * 100_000)[:100_000]
    assert tells_internals(text + " /etc/passwd")
