import pytest

from sezzlee_mcp.invoke.content import Content, Kind, filename_of, read_content


@pytest.mark.parametrize(
    ("body", "content_type", "content"),
    [
        (b"", "application/json", Content(kind=Kind.EMPTY)),
        (b"", None, Content(kind=Kind.EMPTY)),
        (b"{}", "application/json", Content(kind=Kind.JSON, value={}, media_type="application/json")),
        (b"null", "text/json", Content(kind=Kind.JSON, media_type="text/json")),
        (b"[1]", "Application/HAL+JSON; q=1", Content(kind=Kind.JSON, value=[1], media_type="application/hal+json")),
        (b"\xef\xbb\xbf1", "application/json", Content(kind=Kind.JSON, value=1, media_type="application/json")),
        (
            '"ü"'.encode("utf-16"),
            "application/json; charset=utf-16",
            Content(kind=Kind.JSON, value="ü", media_type="application/json"),
        ),
        (b"7", None, Content(kind=Kind.JSON, value=7)),
        (b"7", " ", Content(kind=Kind.JSON, value=7)),
        (b"seven", None, Content(kind=Kind.TEXT, value="seven")),
        (b"\xff", None, Content(kind=Kind.BYTES)),
        (b"{", "application/json", Content(kind=Kind.TEXT, value="{", media_type="application/json")),
        (b"NaN", "application/json", Content(kind=Kind.TEXT, value="NaN", media_type="application/json")),
        (b"1e999", "application/json", Content(kind=Kind.TEXT, value="1e999", media_type="application/json")),
        (b"{}", "text/plain", Content(kind=Kind.TEXT, value="{}", media_type="text/plain")),
        (b"a,b", "text/csv; header=present", Content(kind=Kind.TEXT, value="a,b", media_type="text/csv")),
        (b"\xfc", "text/plain; charset=ISO-8859-1", Content(kind=Kind.TEXT, value="ü", media_type="text/plain")),
        (b"\xfc", 'text/plain; charset="latin-1"', Content(kind=Kind.TEXT, value="ü", media_type="text/plain")),
        (b"x", "text/plain; CHARSET*=%00''", Content(kind=Kind.TEXT, value="x", media_type="text/plain")),
        (b"\xfc", "text/plain", Content(kind=Kind.BYTES, media_type="text/plain")),
        (b"x", "text/plain; charset=nonsense", Content(kind=Kind.BYTES, media_type="text/plain")),
        (b"00", "text/plain; charset=hex", Content(kind=Kind.BYTES, media_type="text/plain")),
        (b"<a/>", "application/atom+xml", Content(kind=Kind.TEXT, value="<a/>", media_type="application/atom+xml")),
        (b"%PDF-1.4", "application/pdf", Content(kind=Kind.BYTES, media_type="application/pdf")),
        (b"{}", "application/octet-stream", Content(kind=Kind.BYTES, media_type="application/octet-stream")),
        (b"{}", ";", Content(kind=Kind.BYTES, media_type="")),
    ],
)
def test_content_is_read_by_its_type(body, content_type, content):
    assert read_content(body, content_type) == content


def test_json_nested_without_end_is_text():
    body = b"[" * 100_000
    assert read_content(body, "application/json").kind is Kind.TEXT


def test_number_of_too_many_digits_is_text():
    assert read_content(b"1" * 5_000, "application/json").kind is Kind.TEXT


@pytest.mark.parametrize(
    ("content_disposition", "name"),
    [
        (None, None),
        ("", None),
        ("attachment", None),
        ("attachment; filename=invoice.pdf", "invoice.pdf"),
        ('attachment; filename="order 5.pdf"', "order 5.pdf"),
        ("inline; filename=\"x.pdf\"; filename*=UTF-8''%C3%BCbersicht.pdf", "übersicht.pdf"),
        ("attachment; filename*=utf-8''a%20b.csv", "a b.csv"),
        ('attachment; filename=""', None),
        ("attachment; filename*=%00''x", None),
    ],
)
def test_filename_is_read_in_either_spelling(content_disposition, name):
    assert filename_of(content_disposition) == name
