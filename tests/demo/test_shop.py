"""The host's own API over plain HTTP: what an agent meets must be what any client meets."""

import re

import pytest

from project.shop.models import AuditEntry, Customer, Note, Order, Product

ANYONE = {None: 200, "alice": 200, "bob": 200, "carol": 200, "admin": 200}
LOGGED_IN = ANYONE | {None: 401}
PERMITTED_TO_VIEW = LOGGED_IN | {"bob": 403}
CLERKS = {None: 401, "alice": 200, "bob": 403, "carol": 403, "admin": 200}
STAFF = {None: 401, "alice": 403, "bob": 403, "carol": 200, "admin": 200}

READS = {
    "/api/ping/": ANYONE,
    "/api/products/": ANYONE,
    "/api/products/1/": ANYONE,
    "/api/me/": LOGGED_IN,
    "/api/notes/": LOGGED_IN,
    "/api/customers/": PERMITTED_TO_VIEW,
    "/api/orders/": PERMITTED_TO_VIEW,
    "/api/orders/1/invoice/": PERMITTED_TO_VIEW,
    "/api/reports/sales/": CLERKS,
    "/api/reports/stock/": CLERKS,
    "/api/documents/": CLERKS,
    "/api/documents/1/content/": CLERKS,
    "/api/audit/": STAFF,
}


@pytest.mark.parametrize(
    ("path", "username", "status"),
    [(path, username, status) for path, answers in READS.items() for username, status in answers.items()],
)
def test_reading_is_answered_by_permission(as_user, path, username, status):
    assert as_user(username).get(path).status_code == status


ORDER = {"customer": 1, "items": [{"product": 1, "quantity": 2}, {"product": 4, "quantity": 1}]}
WRITES = [
    ("post", "/api/orders/", ORDER, {None: 401, "alice": 201, "bob": 403, "carol": 403, "admin": 201}),
    ("delete", "/api/orders/1/", None, {None: 401, "alice": 204, "bob": 403, "carol": 403, "admin": 204}),
    ("post", "/api/orders/3/cancel/", {}, CLERKS),
    ("post", "/api/products/1/stock/", {"n": 1}, CLERKS),
    ("patch", "/api/products/prices/", [{"sku": "MUG-RED", "price": "9.20"}], STAFF | {"alice": 403}),
    ("post", "/api/notes/", {"customer": 1, "text": "Calls back."}, {None: 401, "alice": 201, "bob": 201}),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "username", "status"),
    [(*call, username, status) for *call, answers in WRITES for username, status in answers.items()],
)
def test_writing_is_answered_by_permission(as_user, method, path, body, username, status):
    assert getattr(as_user(username), method)(path, body).status_code == status


def test_created_order_takes_its_prices_from_the_products(as_user):
    answer = as_user("alice").post("/api/orders/", ORDER | {"comment": "Ring twice."}).json()

    answer.pop("created_at")
    assert answer == {
        "id": Order.objects.latest("pk").pk,
        "customer": 1,
        "customer_name": "Mira Lindqvist",
        "status": None,
        "comment": "Ring twice.",
        "items": [
            {"product": 1, "quantity": 2, "unit_price": "129.00"},
            {"product": 4, "quantity": 1, "unit_price": "8.90"},
        ],
        "total": "266.90",
        "placed_by": "alice",
    }


@pytest.mark.parametrize(
    ("order", "errors"),
    [
        ({"customer": 1, "items": []}, {"items": {"non_field_errors": ["This list may not be empty."]}}),
        ({"items": [{"product": 1, "quantity": 1}]}, {"customer": ["This field is required."]}),
        (
            {"customer": 1, "items": [{"product": 1, "quantity": 1}, {"product": 2, "quantity": 6}]},
            {"items": {"1": {"quantity": ["Only 5 of DSK-STD are in stock."]}}},
        ),
        (
            {"customer": 1, "items": [{"product": 9, "quantity": 1}]},  # 9 is not sold any more
            {"items": {"0": {"product": ['Invalid pk "9" - object does not exist.']}}},
        ),
        (
            {"customer": 1, "status": "lost", "items": [{"product": 1, "quantity": 1}]},
            {"status": ['"lost" is not a valid choice.']},
        ),
    ],
    ids=["no item", "customer missing", "beyond the stock", "inactive product", "unknown status"],
)
def test_wrong_order_is_refused_field_by_field(as_user, order, errors):
    answer = as_user("alice").post("/api/orders/", order)

    told = {field: by_row(problems) if field == "items" else problems for field, problems in answer.json().items()}
    assert (answer.status_code, told) == (400, errors)


def by_row(errors):
    """The errors of the faulty rows by index, as DRF answers them from 3.18 on; before, it was a list of all rows."""
    return {str(row): error for row, error in enumerate(errors) if error} if isinstance(errors, list) else errors


def test_changed_items_replace_the_old_ones(as_user):
    answer = as_user("alice").patch("/api/orders/1/", {"items": [{"product": 7, "quantity": 3}]}).json()

    assert answer["items"] == [{"product": 7, "quantity": 3, "unit_price": "6.50"}]
    assert (answer["total"], answer["status"]) == ("19.50", "shipped")


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("status=paid", [7, 2]),
        ("is_draft=true", [4]),
        ("customer=1&ordering=created_at", [1, 6]),
        ("search=lamp", [4]),
        ("created_after=2026-11-20T00:00:00Z", [7, 6]),
        ("page_size=2&page=2", [5, 4]),
    ],
)
def test_orders_are_filtered_sorted_and_paged(as_user, query, ids):
    results = as_user("alice").get(f"/api/orders/?{query}").json()["results"]

    assert [order["id"] for order in results] == ids


@pytest.mark.parametrize(
    ("query", "skus"),
    [
        ("category=furniture&min_price=100", ["CHR-OAK", "DSK-STD"]),
        ("in_stock=false", ["KET-STL"]),
        ("search=chair&is_active=true", ["CHR-OAK"]),
        ("max_price=7", ["NTB-A5D"]),
    ],
)
def test_products_are_filtered_for_everyone(as_user, query, skus):
    assert [product["sku"] for product in as_user(None).get(f"/api/products/?{query}").json()["results"]] == skus


def test_cancelled_order_is_on_record(as_user):
    answer = as_user("alice").post("/api/orders/4/cancel/", {"reason": "Changed their mind."})

    entry = AuditEntry.objects.latest("pk")
    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
    assert (entry.actor.username, entry.action, entry.detail) == (
        "alice",
        "order_cancelled",
        "Order 4: Changed their mind.",
    )


@pytest.mark.parametrize("final", [1, 5], ids=["shipped", "cancelled"])
def test_final_order_is_not_cancelled(as_user, final):
    answer = as_user("alice").post(f"/api/orders/{final}/cancel/")

    assert answer.status_code == 409
    assert answer.json() == {"detail": "A shipped or cancelled order cannot be cancelled."}
    assert AuditEntry.objects.count() == 2


def test_prices_change_together(as_user):
    changes = [{"sku": "MUG-RED", "price": "9.20"}, {"sku": "PAN-IRN", "price": "47.00"}]

    answer = as_user("carol").patch("/api/products/prices/", changes)

    assert [(row["sku"], row["price"]) for row in answer.json()] == [("MUG-RED", "9.20"), ("PAN-IRN", "47.00")]
    assert AuditEntry.objects.first().detail == "PAN-IRN: 45.00 to 47.00"


def test_one_wrong_price_changes_none(as_user):
    changes = [{"sku": "MUG-RED", "price": "9.20"}, {"sku": "NONE", "price": "0.00"}]

    answer = as_user("carol").patch("/api/products/prices/", changes)

    assert answer.status_code == 400
    assert by_row(answer.json()) == {
        "1": {
            "sku": ["Object with sku=NONE does not exist."],
            "price": ["Ensure this value is greater than or equal to 0.01."],
        }
    }
    assert str(Product.objects.get(sku="MUG-RED").price) == "8.90"


def test_stock_never_falls_below_zero(as_user):
    alice = as_user("alice")

    taken = alice.post("/api/products/2/stock/", {"n": -5, "r": "broken"})
    refused = alice.post("/api/products/2/stock/", {"n": -1})

    assert (taken.status_code, taken.json()["stock"]) == (200, 0)
    assert (refused.status_code, refused.json()) == (400, {"n": "Only 0 of DSK-STD are in stock."})
    assert AuditEntry.objects.first().detail == "DSK-STD: -5 broken"


def test_a_search_has_an_end(as_user):
    answer = as_user("alice").get(f"/api/orders/?search={'a' * 201}")

    assert (answer.status_code, answer.json()) == (400, {"search": "At most 200 characters are searched for."})


@pytest.mark.parametrize("n", [10**30, -(10**30), 100_001])
def test_stock_is_adjusted_by_what_a_shelf_can_hold(as_user, n):
    assert as_user("alice").post("/api/products/2/stock/", {"n": n}).status_code == 400


def test_stock_never_grows_beyond_the_shelf(as_user):
    refused = as_user("alice").post("/api/products/2/stock/", {"n": 100_000})

    said = "Only 5 of DSK-STD are in stock, and no more than 100000 can be."
    assert (refused.status_code, refused.json()) == (400, {"n": said})


@pytest.mark.parametrize("method", ["patch", "delete"])
@pytest.mark.parametrize(("username", "is_permitted"), [("bob", True), ("alice", False), ("admin", False)])
def test_only_the_author_changes_a_note(as_user, method, username, is_permitted):
    answer = getattr(as_user(username), method)("/api/notes/2/", {"text": "Changed."})

    untouched = Note.objects.filter(pk=2, text__startswith="Prefers").exists()
    assert (answer.status_code < 300, untouched) == (is_permitted, not is_permitted)


@pytest.mark.parametrize("path", ["/api/customers/1/", "/api/products/1/"])
def test_what_orders_point_to_is_kept(as_user, path):
    answer = as_user("admin").delete(path)

    assert (answer.status_code, answer.json()) == (409, {"detail": "There are orders for it, so it cannot be deleted."})
    assert Customer.objects.count() == 6 and Product.objects.count() == 9


def test_sales_report_is_csv_without_drafts_and_cancelled_orders(as_user):
    answer = as_user("alice").get("/api/reports/sales/?start=2026-11-01&end=2026-11-20")

    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="sales.csv"'
    assert answer.content.decode().splitlines() == [
        "sku,name,pieces,revenue",
        "MUG-RED,Red mug,2,17.80",
        "NTB-A5D,Dotted notebook A5,50,325.00",
        "PAN-IRN,Cast-iron pan,1,45.00",
        'PEN-GEL,"Gel pen, pack of five",20,144.00',
    ]


@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ("start=yesterday", {"start": ["Date has wrong format. Use one of these formats instead: YYYY-MM-DD."]}),
        ("start=2026-02-02&end=2026-02-01", {"end": ["The last day lies before the first one."]}),
    ],
)
def test_wrong_report_is_refused_in_json(as_user, query, errors):
    answer = as_user("alice").get(f"/api/reports/sales/?{query}")

    assert (answer.status_code, answer["Content-Type"], answer.json()) == (400, "application/json", errors)


def test_invoice_is_a_pdf_whose_table_finds_its_objects(as_user):
    answer = as_user("alice").get("/api/orders/2/invoice/", HTTP_ACCEPT="application/pdf")

    pdf = answer.content
    assert answer["Content-Type"] == "application/pdf"
    assert answer["Content-Disposition"] == 'attachment; filename="invoice-2.pdf"'
    assert pdf.startswith(b"%PDF-1.4\n") and pdf.endswith(b"%%EOF\n")
    assert "(Café Zénith, Lyon) Tj".encode("cp1252") in pdf and b"(Total  EUR 446.00) Tj" in pdf
    table = int(re.search(rb"startxref\n(\d+)\n", pdf)[1])
    offsets = [int(offset) for offset in re.findall(rb"(\d{10}) 00000 n ", pdf)]
    assert pdf[table:].startswith(b"xref\n0 6\n")
    assert [pdf[offset:].split(b" ", 1)[0] for offset in offsets] == [b"1", b"2", b"3", b"4", b"5"]
    stream = re.search(rb"/Length (\d+) >>\nstream\n(.*)\nendstream", pdf, re.DOTALL)
    assert int(stream[1]) == len(stream[2])


def test_missing_invoice_is_refused_in_json(as_user):
    answer = as_user("alice").get("/api/orders/99/invoice/")

    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
    assert answer.json() == {"detail": "No Order matches the given query."}


def test_me_tells_what_the_user_may_do(as_user):
    assert as_user("bob").get("/api/me/").json() == {
        "username": "bob",
        "name": "Bob Baker",
        "email": "bob@shop.example",
        "is_staff": False,
        "permissions": [],
    }
