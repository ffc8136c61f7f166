import base64

import pytest

from sezzlee_mcp.catalog.tools import BodyTemplate, Member, Template
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke import ComposeContext, FileContent, attach, compose
from sezzlee_mcp.invoke.files import FILE_LIMIT_BYTES, INLINE_LIMIT_BYTES, unresolved
from tests.invoke.making import MULTIPART, form, post, read_parts, refusal

REFS = ("text", "base64", "ref")
UPLOAD = form(MULTIPART, Member(name="photo", type="file"))
OCTETS = "application/octet-stream"
TEXT = "text/plain; charset=utf-8"


def of_type(media_type):
    return form(MULTIPART, Member(name="photo", type="file", media_type=media_type))


@pytest.mark.parametrize(
    ("declared", "file", "read"),
    [
        (None, {"text": ""}, ("photo", TEXT, b"")),
        (None, {"text": "a\r\nü\0"}, ("photo", TEXT, "a\r\nü\0".encode())),
        (None, {"base64": ""}, ("photo", OCTETS, b"")),
        (None, {"base64": "/+8="}, ("photo", OCTETS, b"\xff\xef")),
        ("image/*", {"base64": "AA=="}, ("photo", OCTETS, b"\0")),
        ("image/png", {"base64": "AA=="}, ("photo", "image/png", b"\0")),
        (OCTETS, {"text": "a"}, ("photo", TEXT, b"a")),
        ("image/png", {"base64": "AA==", "mediaType": "image/gif"}, ("photo", "image/gif", b"\0")),
        (None, {"text": "a", "name": "a b;c.txt"}, ("a b;c.txt", TEXT, b"a")),
        (None, {"text": "a", "name": "rechnung_ü😀.txt"}, ("rechnung_ü😀.txt", TEXT, b"a")),
        (None, {"text": "a", "name": "tab\t\x7f%41'"}, ("tab\t\x7f%41'", TEXT, b"a")),
        (None, {"text": "a", "mediaType": 'text/csv; header="a;b"'}, ("photo", 'text/csv; header="a;b"', b"a")),
    ],
)
def test_file_is_read_back_with_its_name_type_and_bytes(declared, file, read):
    assert read_parts(compose(of_type(declared), {"photo": file})) == [("photo", *read)]


def test_name_beyond_ascii_is_given_twice():
    body = compose(UPLOAD, {"photo": {"text": "a", "name": "ü.txt"}}).body
    assert b'name="photo"; filename="_.txt"; filename*=UTF-8\'\'%C3%BC.txt\r\n' in body


@pytest.mark.parametrize("field", ['a"b', "a/b", "a\r\nX: 1", ""])
def test_field_name_that_is_no_file_name_is_not_one(field):
    request = compose(form(MULTIPART, Member(name=field, type="file")), {field: {"text": "a"}})
    assert b'filename="file"\r\nContent-Type: text/plain' in request.body
    assert request.body.count(b"\r\n") == 6


@pytest.mark.parametrize(
    "value",
    [
        "text",
        ["a"],
        7,
        {},
        {"name": "a"},
        {"text": "a", "base64": "AA=="},
        {"text": None},
        {"text": 5},
        {"text": "\ud800"},
        {"text": "a", "size": 1},
        {"ref": "r"},
        {"text": "a", "ref": "r"},
        {"base64": "AA"},
        {"base64": "AA=\n"},
        {"base64": "AAAA\n"},
        {"base64": "AA AA==="},
        {"base64": "A==="},
        {"base64": "===="},
        {"base64": "AA==AA=="},
        {"base64": "-_8="},
        {"base64": "ÀÀÀÀ"},
        {"text": "a", "name": ""},
        {"text": "a", "name": None},
        {"text": "a", "name": 'a"b'},
        {"text": "a", "name": "a\rb"},
        {"text": "a", "name": "a\nb"},
        {"text": "a", "name": "a\0b"},
        {"text": "a", "name": "../b"},
        {"text": "a", "name": "a\\b"},
        {"text": "a", "name": "\udfff"},
        {"text": "a", "mediaType": ""},
        {"text": "a", "mediaType": "text"},
        {"text": "a", "mediaType": "text/"},
        {"text": "a", "mediaType": "text/plain\r\nX-Injected: 1"},
        {"text": "a", "mediaType": "text/plain\n"},
        {"text": "a", "mediaType": "text/plain; x"},
        {"text": "a", "mediaType": "text/plän"},
        {"text": "a", "mediaType": 1},
    ],
)
def test_value_that_is_no_file_is_refused(value):
    error = refusal(UPLOAD, {"photo": value})
    assert error.code == "invalid_file_argument"
    assert error.message.startswith("Argument 'photo' must be a file, but ")
    assert error.message.endswith("exactly one of text and base64, and optionally name and mediaType.")


@pytest.mark.parametrize(
    ("value", "code", "name"),
    [
        (None, "null_not_allowed", "files"),
        ([None], "null_not_allowed", "files[0]"),
        ({"text": "a"}, "invalid_type", "files"),
        ([{"text": "a"}, "b"], "invalid_file_argument", "files[1]"),
    ],
)
def test_list_of_files_names_the_one_that_does_not_fit(value, code, name):
    error = refusal(form(MULTIPART, Member(name="files", type="file", is_array=True)), {"files": value})
    assert (error.code, f"'{name}'" in error.message) == (code, True)


def test_message_holds_nothing_of_the_file():
    secret = "U2VjcmV0"
    error = refusal(UPLOAD, {"photo": {"base64": secret + "-"}})
    assert secret not in error.message


@pytest.mark.parametrize(
    ("sizes", "limit", "is_refused"),
    [([3], 3, False), ([3], 2, True), ([3, 3], 6, False), ([3, 3], 5, True), ([1], 1, False), ([0], 0, False)],
)
def test_inline_limit_counts_the_decoded_base64_of_the_whole_call(sizes, limit, is_refused):
    template = form(MULTIPART, Member(name="files", type="file", is_array=True))
    files = [{"base64": base64.b64encode(b"x" * size).decode()} for size in sizes] + [{"text": "not counted"}]
    if is_refused:
        error = refusal(template, {"files": files}, inline_limit_bytes=limit)
        assert (error.code, str(limit) in error.message, str(sum(sizes)) in error.message) == (
            "file_too_large", True, True
        )  # fmt: skip
    else:
        assert compose(template, {"files": files}, ComposeContext(inline_limit_bytes=limit)).body


def test_inline_limit_is_one_mebibyte():
    assert INLINE_LIMIT_BYTES == 1024 * 1024
    over = base64.b64encode(b"\0" * (INLINE_LIMIT_BYTES + 1)).decode()
    assert refusal(UPLOAD, {"photo": {"base64": over}}).code == "file_too_large"


BINARY = post(argument="file", content_type="application/pdf", form=(Member(name="file", type="file"),), sources=REFS)


def test_binary_body_is_the_files_bytes_in_the_declared_type():
    request = compose(BINARY, {"file": {"base64": "JVBERg==", "name": "ü.pdf", "mediaType": "text/html"}})
    assert (request.content_type, request.body) == ("application/pdf", b"%PDF")
    assert request.headers == (("Content-Disposition", "attachment; filename=\"_.pdf\"; filename*=UTF-8''%C3%BC.pdf"),)


@pytest.mark.parametrize(
    ("file", "content_type"),
    [({"text": "a"}, TEXT), ({"base64": "AA=="}, OCTETS), ({"text": "a", "mediaType": "text/csv"}, "text/csv")],
)
def test_raw_upload_of_any_type_takes_the_files_own(file, content_type):
    request = compose(post(argument="file", content_type="*/*"), {"file": file})
    assert request.content_type == content_type


def test_binary_body_left_out_sends_none():
    request = compose(BINARY, {})
    assert (request.content_type, request.body, request.headers) == (None, None, ())


def test_reference_waits_for_its_content():
    members = (Member(name="title", type="string"), Member(name="files", type="file", is_array=True))
    arguments = {"title": "t", "files": [{"text": "a"}, {"ref": "r1"}, {"ref": "r2", "name": "n", "mediaType": "a/b"}]}

    waiting = compose(form(MULTIPART, *members, sources=REFS), arguments)
    sent = attach(waiting, (FileContent(data=b"1", name="one", media_type="x/y"), FileContent(data=b"2", name="two")))

    assert (waiting.body, [file.content for file in waiting.references]) == (None, ["r1", "r2"])
    assert [file.argument for file in waiting.references] == ["files[1]", "files[2]"]
    assert (sent.parts, sent.references) == ((), ())
    assert read_parts(sent) == [
        ("title", None, None, b"t"),
        ("files", "files", TEXT, b"a"),
        ("files", "one", "x/y", b"1"),
        ("files", "n", "a/b", b"2"),
    ]


@pytest.mark.parametrize(
    ("name", "media_type"), [('a"\r\nX: 1', "x/y\r\nX: 1"), ("../a", "any"), ("", ""), (None, None)]
)
def test_resolver_cannot_break_the_headers_either(name, media_type):
    waiting = compose(form(MULTIPART, Member(name="photo", type="file"), sources=REFS), {"photo": {"ref": "r"}})
    sent = attach(waiting, (FileContent(data=b"1", name=name, media_type=media_type),))
    assert read_parts(sent) == [("photo", "photo", OCTETS, b"1")]


def test_reference_can_be_a_binary_body():
    sent = attach(compose(BINARY, {"file": {"ref": "r"}}), (FileContent(data=b"1", name="a.pdf"),))
    assert (sent.content_type, sent.body) == ("application/pdf", b"1")
    assert sent.headers == (("Content-Disposition", 'attachment; filename="a.pdf"'),)


def test_resolved_file_over_its_limit_is_not_sent():
    waiting = compose(BINARY, {"file": {"ref": "r"}})
    with pytest.raises(CallError) as raised:
        attach(waiting, (FileContent(data=b"12"),), limit_bytes=1)
    assert raised.value.code == "file_too_large"
    assert attach(waiting, (FileContent(data=b"1"),), limit_bytes=1).body == b"1"
    assert FILE_LIMIT_BYTES == 16 * 1024 * 1024


def test_only_an_unavailable_reference_is_worth_a_retry():
    (file,) = compose(BINARY, {"file": {"ref": "secret-ref"}}).references
    errors = [unresolved(file), unresolved(file, is_unavailable=True)]
    assert [(error.code, error.retryable) for error in errors] == [
        ("file_unresolved", False),
        ("file_unresolved", True),
    ]
    assert not any("secret-ref" in error.message for error in errors)


def test_ref_is_offered_where_a_resolver_is_set():
    template = Template(
        method="POST", route="/", file_sources=REFS, body=BodyTemplate(content_type="image/png", argument="file")
    )
    assert "text, base64 and ref" in refusal(template, {"file": {}}).message
    assert "ref" in refusal(template, {"file": {"base64": "AAAA"}}, inline_limit_bytes=1).message
