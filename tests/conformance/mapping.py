"""
Fixtures of kind argument-mapping: a template and arguments -> the request, or the code of the refusal.

A form and the file of a multipart or binary body are compared as they are read back from the bytes; only a file that
waits for a resolver is compared as the call left it. The Cookie header of a call without a cookie argument is the
caller's own, which the shell leaves as it is.
"""

import json
from base64 import b64encode
from email import message_from_bytes
from email.message import Message
from email.utils import collapse_rfc2231_value
from typing import Any

from sezzlee_mcp.catalog.curation import Fill, FillKind
from sezzlee_mcp.catalog.tools import BodyTemplate, Exposed, Member, Slot, Template
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke import ComposeContext, ComposedRequest, compose
from sezzlee_mcp.invoke.files import INLINE_LIMIT_BYTES, FileArgument

_STYLES = {"path": "simple", "query": "form", "header": "simple", "cookie": "form", "querystring": "form"}


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given, expected = fixture["input"], fixture["expected"]
    context = ComposeContext(
        deferred=given.get("deferred", {}),
        carried_cookies=given.get("carrierCookies", ""),
        inline_limit_bytes=given.get("maxInlineFileBytes", INLINE_LIMIT_BYTES),
    )
    try:
        request = compose(_template(given["template"]), given["arguments"], context)
    except CallError as error:
        return {"error": error.code}, expected
    sources = [value for value in given["arguments"].values() for value in (value if _is_list(value) else [value])]
    actual = _request(request, context, with_type="contentType" in given["template"])
    return _in_the_sources_words(actual, sources), expected


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _template(given: dict[str, Any]) -> Template:
    return Template(
        method=given["method"],
        route=given["route"],
        slots=tuple(_slot(parameter) for parameter in given.get("parameters", [])),
        body=_body(given),
        file_sources=tuple(given.get("fileSources", ("text", "base64"))),
    )


def _slot(given: dict[str, Any]) -> Slot:
    is_group = given["type"] == "object" and given["in"] == "query"
    style = given.get("style", "deepObject" if is_group else _STYLES[given["in"]])
    return Slot(
        name=given["name"],
        location=given["in"],
        type=given["type"],
        is_array=given.get("array", False),
        required=given["in"] == "path",
        style=style,
        explode=given.get("explode", style in {"form", "deepObject"} and given["in"] != "cookie"),
        allow_reserved=given.get("allowReserved", False),
        members=_members(given.get("members", [])),
        notation=given.get("notation", "bracket"),
        content_type=given.get("contentType"),
        exposed=_exposed(given, given["name"]),
    )


def _members(given: list[dict[str, Any]]) -> tuple[Member, ...]:
    return tuple(
        Member(
            name=member["name"],
            type=member["type"],
            is_array=member.get("array", False),
            members=_members(member.get("members", [])),
            media_type=member.get("mediaType"),
        )
        for member in given
    )


def _exposed(given: dict[str, Any], name: str) -> Exposed | None:
    if fill := given.get("fill"):
        kind = FillKind(fill["kind"])
        return Exposed(name=None, fill=Fill(kind=kind, value=fill.get("value"), source=fill.get("source")))
    return Exposed(name=given["as"]) if given.get("as", name) != name else None


def _body(given: dict[str, Any]) -> BodyTemplate | None:
    form = given.get("form", {})
    shared: dict[str, Any] = {
        "content_type": given.get("contentType", "application/json"),
        "form": _members(form.get("fields", [])),
        "notation": form.get("notation", "bracket"),
    }
    if "bodyRoot" in given:
        root = given["bodyRoot"]
        exposed = _exposed({"fill": given.get("rootFill")}, root)
        return BodyTemplate(argument=root, exposed={} if exposed is None else {root: exposed}, **shared)
    if "body" not in given:
        return None
    body = given["body"]
    records = ((record["name"], _exposed(record, record["name"])) for record in body.get("curation", []))
    return BodyTemplate(
        properties=tuple(body["properties"]),
        is_open=body.get("additionalProperties", False),
        exposed={name: exposed for name, exposed in records if exposed is not None},
        **shared,
    )


def _request(request: ComposedRequest, context: ComposeContext, *, with_type: bool) -> dict[str, Any]:
    actual: dict[str, Any] = {"pathAndQuery": request.path + (f"?{request.query}" if request.query else "")}
    headers = {"cookie" if name == "Cookie" else name: value for name, value in request.headers}
    if context.carried_cookies:
        headers.setdefault("cookie", context.carried_cookies)
    disposition = headers.pop("Content-Disposition", None)
    if headers:
        actual["headers"] = headers
    if request.content_type is None:
        return actual
    if with_type:
        actual["contentType"] = request.content_type.partition(";")[0]
    return {**actual, **_sent_body(request, disposition)}


def _sent_body(request: ComposedRequest, disposition: str | None) -> dict[str, Any]:
    assert request.content_type is not None
    bare = request.content_type.partition(";")[0]
    if request.parts:
        return {"bodyParts": [_waiting(part.name, part.value) for part in request.parts]}
    assert request.body is not None
    if bare.endswith(("/json", "+json")):
        return {"bodyJson": json.loads(request.body)}
    if bare == "application/x-www-form-urlencoded":
        return {"bodyForm": request.body.decode()}
    if bare == "multipart/form-data":
        return {"bodyParts": [_read_part(part) for part in _parts(request.content_type, request.body)]}
    if disposition is None:
        return {"bodyText": request.body.decode()}
    return {"bodyFile": _file(request.body, _parameter(disposition, "filename"), bare)}


def _waiting(name: str, value: str | FileArgument) -> dict[str, Any]:
    if isinstance(value, str):
        return {"name": name, "value": value}
    sent = {value.source: value.content, "filename": value.name, "mediaType": value.media_type}
    return {"name": name, "file": {key: member for key, member in sent.items() if member is not None}}


def _parts(content_type: str, body: bytes) -> list[Message]:
    message = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    return [part for part in message.get_payload() if isinstance(part, Message)] if message.is_multipart() else []


def _read_part(part: Message) -> dict[str, Any]:
    raw = next(value for name, value in part.raw_items() if name.lower() == "content-disposition")
    disposition = raw.encode("ascii", "surrogateescape").decode()
    name, filename = _parameter(disposition, "name"), _parameter(disposition, "filename")
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    if filename is None:
        return {"name": name, "value": content.decode()}
    return {"name": name, "file": _file(content, filename, part["Content-Type"])}


def _parameter(disposition: str, name: str) -> str | None:
    header = Message()
    header["Content-Disposition"] = disposition
    values = [value for key, value in header.get_params([], "Content-Disposition") if key == name]
    return collapse_rfc2231_value(values[-1]) if values else None  # of two spellings the encoded one comes last


def _file(content: bytes, filename: str | None, media_type: str | None) -> dict[str, Any]:
    return {"content": content, "filename": filename, "mediaType": media_type}


def _in_the_sources_words(actual: Any, sources: list[Any]) -> Any:
    """The files that were read back, each as the source that the call spelled it in."""
    if isinstance(actual, list):
        return [_in_the_sources_words(item, sources) for item in actual]
    if not isinstance(actual, dict):
        return actual
    if isinstance(actual.get("content"), bytes):
        named = {key: value for key, value in actual.items() if key != "content"}
        return {**_source(actual["content"], sources), **named}
    return {key: _in_the_sources_words(value, sources) for key, value in actual.items()}


def _source(content: bytes, sources: list[Any]) -> dict[str, Any]:
    text = content.decode("utf-8", "replace")
    if any(isinstance(source, dict) and source.get("text") == text for source in sources):
        return {"text": text}
    return {"base64": b64encode(content).decode(), "byteLength": len(content)}
