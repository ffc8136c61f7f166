"""Forms, files, text and filters of the shop, over plain HTTP and as the tools that agents see."""

from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from project.shop.models import AuditEntry, Document, Note, Product
from project.shop.serializers import LARGEST_FILE_BYTES
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient

FORM = "application/x-www-form-urlencoded"
SCAN = b"%PDF-1.4 \xff\x00"
FILED = {"customer": 1, "title": "Terms", "is_signed": False}


@pytest.fixture
def alice(shop) -> McpClient:
    sync()
    return McpClient(headers={"Authorization": "Token alice-demo-token"})


# -- over plain HTTP --


def test_document_comes_back_as_a_file_that_no_browser_opens(as_user):
    scan = SimpleUploadedFile("scan.html", SCAN, content_type="text/html")
    filed = as_user("alice").post("/api/documents/", FILED | {"file": scan}, format="multipart")

    answer = as_user("alice").get(f"/api/documents/{filed.json()['id']}/content/")

    assert (filed.status_code, filed.json()["file_name"], filed.json()["size"]) == (201, "scan.html", len(SCAN))
    assert (answer.content, answer["Content-Type"]) == (SCAN, "application/octet-stream")
    assert answer["Content-Disposition"].startswith("attachment;")


def test_paper_without_a_scan_has_no_file(as_user):
    answer = as_user("alice").get("/api/documents/2/content/")

    assert (answer.status_code, answer.json()) == (404, {"detail": "This document is on paper only."})


@pytest.mark.parametrize(("size", "status"), [(0, 201), (LARGEST_FILE_BYTES, 201), (LARGEST_FILE_BYTES + 1, 400)])
def test_file_over_the_limit_is_refused(as_user, size, status):
    scan = SimpleUploadedFile("scan.bin", b"x" * size)

    answer = as_user("alice").post("/api/documents/", FILED | {"file": scan}, format="multipart")

    assert answer.status_code == status


def test_wish_for_a_call_is_a_form_alone(as_user):
    wish = {"customer": 1, "time": "morning", "topics": ["invoice", "delivery"], "is_urgent": True}

    as_form = as_user("bob").generic("POST", "/api/callbacks/", urlencode(wish, doseq=True), FORM)
    as_json = as_user("bob").post("/api/callbacks/", wish)

    assert as_form.json()["text"] == "Urgent: Call in the morning about delivery, invoice."
    assert as_form.status_code == 201
    assert as_json.status_code == 415


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (" \n", "The text has no line."),
        ("MUG-RED 4\nMUG-RED", "Line 2 is not a SKU and a number of pieces."),
        ("MUG-RED -4", "Line 1 is not a SKU and a number of pieces."),
        ("MUG-RED 100000", "Line 1 is not a SKU and a number of pieces."),
        ("NONE 4", "Line 1 names NONE, which is no product."),
    ],
)
def test_wrong_stock_count_changes_nothing(as_user, text, detail):
    before = list(Product.objects.values_list("pk", "stock"))

    answer = as_user("alice").post("/api/products/count/", text, content_type="text/plain")

    assert (answer.status_code, answer.json()) == (400, {"detail": detail})
    assert list(Product.objects.values_list("pk", "stock")) == before


def test_text_that_is_none_is_refused(as_user):
    answer = as_user("alice").generic("POST", "/api/products/count/", b"\xff", "text/plain; charset=utf-8")

    assert (answer.status_code, answer.json()) == (400, {"detail": "The text cannot be read as utf-8."})


def test_unknown_event_is_refused(as_user):
    answer = as_user("alice").post("/api/orders/1/events/party/", {})

    assert (answer.status_code, answer.json()) == (400, {"kind": "It is one of return, complaint."})


# -- as tools --


def test_agent_files_a_document_with_and_without_a_file(alice):
    paper = alice.invoke("documents_create", {"customer": 1, "title": "Paper"})
    scan = alice.invoke(
        "documents_create", {"customer": 1, "title": "Scan", "file": {"text": "Grüße", "name": "größe.txt"}}
    )

    assert [(each["status"], each["body"]["file_name"], each["body"]["size"]) for each in (paper, scan)] == [
        (201, "", 0),
        (201, "größe.txt", 7),
    ]
    assert Document.objects.get(title="Scan").content_type == "text/plain"


def test_agent_asks_for_a_call_in_a_form(alice):
    envelope = alice.invoke("callbacks_create", {"customer": 1, "time": "afternoon", "topics": ["product", "invoice"]})

    assert (envelope["status"], envelope["body"]["text"]) == (201, "Call in the afternoon about invoice, product.")


def test_agent_enters_a_stock_count_as_text(alice):
    envelope = alice.invoke("products_count", {"body": "MUG-RED 41\r\n\nDSK-STD 0\n"})

    assert [(row["sku"], row["stock"]) for row in envelope["body"]] == [("MUG-RED", 41), ("DSK-STD", 0)]
    assert AuditEntry.objects.first().detail == "DSK-STD: counted 0"


@pytest.mark.parametrize(
    ("tool", "price", "skus"),
    [
        ("products_sold_out", None, ["KET-STL"]),
        ("products_sold_out", {"max": 1}, []),
        ("products_running_low", None, ["CHR-OLD", "LMP-ARC", "DSK-STD"]),
        ("products_running_low", {"min": 30, "max": 100}, ["LMP-ARC"]),
    ],
)
def test_each_variant_fills_the_state_and_takes_a_price_range(alice, tool, price, skus):
    envelope = alice.invoke(tool, {} if price is None else {"price": price})

    assert [row["sku"] for row in envelope["body"]] == skus
    assert list(alice.load(tool)["inputSchema"]["properties"]) == ["price"]


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        (
            "orders_return",
            {"product": "MUG-RED", "quantity": 2, "reason": "chipped"},
            "Order 1: 2 of MUG-RED come back: chipped",
        ),
        ("orders_complaint", {"text": "Late.", "wants_refund": True}, "Order 1: complaint: Late. (wants a refund)"),
    ],
)
def test_each_member_of_the_family_has_its_own_body(alice, tool, arguments, text):
    envelope = alice.invoke(tool, {"id": 1, **arguments})

    assert (envelope["status"], envelope["body"]["text"]) == (201, text)
    assert set(alice.load(tool)["inputSchema"]["properties"]) >= {"id", *arguments}
    assert Note.objects.filter(text=text, author__username="alice").exists()


@pytest.mark.parametrize("hidden", ["reports_stock", "orders_events_create"])
def test_operation_with_variants_is_no_tool_itself(alice, hidden):
    assert alice.invoke(hidden)["error"] == "unknown_tool"
