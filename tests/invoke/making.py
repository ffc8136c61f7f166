"""Short forms of the templates that the tests of composition read."""

from email import message_from_bytes
from email.message import Message
from email.utils import collapse_rfc2231_value

import pytest

from sezzlee_mcp.catalog.curation import Fill, FillKind
from sezzlee_mcp.catalog.tools import BodyTemplate, Exposed, Slot, Template
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke import ComposeContext, compose

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


def post(*slots, route="/x/", method="POST", sources=("text", "base64"), **body):
    return Template(
        method=method,
        route=route,
        slots=slots,
        body=BodyTemplate(**{"content_type": "application/json"} | body) if body else None,
        file_sources=sources,
    )


def form(content_type, *members, method="POST", sources=("text", "base64"), **body):
    names = () if "argument" in body else tuple(member.name for member in members)
    return post(
        method=method, sources=sources, **{"content_type": content_type, "properties": names, "form": members} | body
    )


def slot(name, location="query", type="string", **options):
    return Slot(
        name=name,
        location=location,
        type=type,
        **{"style": "simple" if location in {"path", "header"} else "form", "explode": False} | options,
    )


def constant(value):
    return Exposed(name=None, fill=Fill(kind=FillKind.CONSTANT, value=value))


def deferred(source, *, required=False):
    return Exposed(name=None, fill=Fill(kind=FillKind.DEFERRED, source=source), required=required)


OMITTED = Exposed(name=None, fill=Fill(kind=FillKind.OMIT))


def refusal(template, arguments, **context):
    with pytest.raises(CallError) as raised:
        compose(template, arguments, ComposeContext(**context))
    return raised.value


def read_parts(request):
    """``(name, filename, media type, bytes)`` of each part, as the standard library's mail parser reads them."""
    message = message_from_bytes(f"Content-Type: {request.content_type}\r\n\r\n".encode() + request.body)
    payload = message.get_payload()
    parts = payload if isinstance(payload, list) else []
    return [(*_names(part), part["Content-Type"], part.get_payload(decode=True)) for part in parts]


def _names(part):
    raw = dict(part.raw_items())["Content-Disposition"].encode("ascii", "surrogateescape").decode()
    header = Message()
    header["Content-Disposition"] = raw
    (kind, _), *parameters = header.get_params([], "Content-Disposition")
    assert kind == "form-data"
    read = {key: collapse_rfc2231_value(value) for key, value in parameters}  # the encoded spelling comes last
    return read["name"], read.get("filename")
