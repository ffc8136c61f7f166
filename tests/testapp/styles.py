"""Parameters in every style and place; the view of each reads its one parameter as a server that knows the style."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote

from django.urls import include, path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tests.testapp.round_trip import Keeping, raw

Reader = Callable[[str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """A parameter in its place, and how its text there is read back."""

    place: str
    schema: dict[str, Any]
    reader: Reader
    facts: dict[str, Any]
    converter: str = "str"

    @property
    def parameter(self) -> dict[str, Any]:
        content_type = self.facts.get("content")
        typed = (
            {"schema": self.schema} if content_type is None else {"content": {content_type: {"schema": self.schema}}}
        )
        said = {name: fact for name, fact in self.facts.items() if name != "content"}
        return {"name": "value", "in": self.place, "required": self.place == "path", **typed, **said}


TEXT, WHOLE, FRACTION, FLAG = ({"type": name} for name in ("string", "integer", "number", "boolean"))
TEXTS, WHOLES = {"type": "array", "items": TEXT}, {"type": "array", "items": WHOLE}
GROUP = {
    "type": "object",
    "properties": {"min": FRACTION, "flag": FLAG, "a b": TEXT, "ü&[=": TEXT, "many": TEXTS, "wholes": WHOLES},
}
JSON, PLAIN, FORM = "application/json", "text/plain", "application/x-www-form-urlencoded"


def split(delimiter: str, *, prefix: str = "", each: Reader = str) -> Reader:
    def reader(text: str) -> list[Any]:
        assert text.startswith(prefix)
        return [each(element) for element in text.removeprefix(prefix).split(delimiter)]

    return reader


def after(prefix: str) -> Reader:
    def reader(text: str) -> str:
        assert text.startswith(prefix)
        return text.removeprefix(prefix)

    return reader


def decoded(delimiter: str | None = None, each: Reader = str) -> Reader:
    """Reads the raw text of one pair: split before it is decoded."""
    if delimiter is None:
        return lambda text: each(unquote(text))
    return lambda text: [each(unquote(element)) for element in text.split(delimiter)]


def values_of(query: str) -> list[str]:
    """The raw texts of the pairs named ``value``."""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return [text for name, _, text in pairs if name == "value"]


def one(reader: Reader) -> Reader:
    def of_query(query: str) -> Any:
        (text,) = values_of(query)
        return reader(text)

    return of_query


def each(reader: Reader) -> Reader:
    return lambda query: [reader(text) for text in values_of(query)]


def group(query: str) -> dict[str, Any]:
    """The members of a deepObject."""
    return typed({key.removeprefix("value[")[:-1]: texts for key, texts in pairs_of(query).items()})


def pairs_of(query: str) -> dict[str, list[str]]:
    return parse_qs(query, keep_blank_values=True, strict_parsing=bool(query))


def typed(members: dict[str, list[str]]) -> dict[str, Any]:
    readers: dict[str, Reader] = {"min": float, "flag": json.loads, "wholes": int}
    lists = {name: [readers.get(name, str)(text) for text in texts] for name, texts in members.items()}
    return {name: found if name in {"many", "wholes"} else found[0] for name, found in lists.items()}


def style(place: str, schema: dict[str, Any], reader: Reader, converter: str = "str", **facts: Any) -> Style:
    return Style(place=place, schema=schema, reader=reader, facts=facts, converter=converter)


SPACES: dict[str, Any] = {"style": "spaceDelimited"}
PIPES: dict[str, Any] = {"style": "pipeDelimited"}
DEEP: dict[str, Any] = {"style": "deepObject", "explode": True}

STYLES = {
    "path_simple": style("path", TEXT, str),
    "path_whole": style("path", WHOLE, int),
    "path_fraction": style("path", FRACTION, float),
    "path_flag": style("path", FLAG, json.loads),
    "path_texts": style("path", TEXTS, split(",")),
    "path_texts_exploded": style("path", TEXTS, split(","), explode=True),
    "path_wholes": style("path", WHOLES, split(",", each=int)),
    "path_label": style("path", TEXT, after("."), style="label"),
    "path_label_texts": style("path", TEXTS, split(",", prefix="."), style="label"),
    "path_label_texts_exploded": style("path", TEXTS, split(".", prefix="."), style="label", explode=True),
    "path_matrix": style("path", TEXT, after(";value="), style="matrix"),
    "path_matrix_texts": style("path", TEXTS, split(",", prefix=";value="), style="matrix"),
    "path_matrix_exploded": style("path", TEXTS, split(";value=", prefix=";value="), style="matrix", explode=True),
    "path_json": style("path", {}, json.loads, content=JSON),
    "path_plain": style("path", TEXT, str, content=PLAIN),
    "path_slashes": style("path", TEXT, str, "path"),
    "query_form": style("query", TEXT, one(decoded())),
    "query_whole": style("query", WHOLE, one(decoded(each=int))),
    "query_fraction": style("query", FRACTION, one(decoded(each=float))),
    "query_flag": style("query", FLAG, one(decoded(each=json.loads))),
    "query_reserved": style("query", TEXT, one(decoded()), allowReserved=True),
    "query_texts": style("query", TEXTS, each(decoded())),
    "query_texts_reserved": style("query", TEXTS, each(decoded()), allowReserved=True),
    "query_commas": style("query", TEXTS, one(decoded(",")), explode=False),
    "query_commas_reserved": style("query", TEXTS, one(decoded(",")), explode=False, allowReserved=True),
    "query_wholes": style("query", WHOLES, one(decoded(",", int)), explode=False),
    "query_spaces": style("query", TEXTS, one(decoded("%20")), explode=False, **SPACES),
    "query_spaces_exploded": style("query", TEXTS, each(decoded()), explode=True, **SPACES),
    "query_pipes": style("query", TEXTS, one(decoded("|")), explode=False, **PIPES),
    "query_pipes_exploded": style("query", TEXTS, each(decoded()), explode=True, **PIPES),
    "query_pipes_reserved": style("query", TEXTS, one(decoded("|")), explode=False, allowReserved=True, **PIPES),
    "query_deep": style("query", GROUP, group, **DEEP),
    "query_deep_reserved": style("query", GROUP, group, allowReserved=True, **DEEP),
    "query_json": style("query", {}, one(decoded(each=json.loads)), content=JSON),
    "query_plain": style("query", TEXT, one(decoded()), content=PLAIN),
    "querystring_json": style("querystring", {}, decoded(each=json.loads), content=JSON),
    "querystring_form": style("querystring", GROUP, lambda query: typed(pairs_of(query)), content=FORM),
    "header_simple": style("header", TEXT, str),
    "header_whole": style("header", WHOLE, int),
    "header_flag": style("header", FLAG, json.loads),
    "header_texts": style("header", TEXTS, split(",")),
    "header_texts_exploded": style("header", TEXTS, split(","), explode=True),
    "header_form": style("header", TEXTS, split(","), style="form"),
    "header_json": style("header", {}, json.loads, content=JSON),
    "header_plain": style("header", TEXT, str, content=PLAIN),
    "cookie_form": style("cookie", TEXT, decoded()),
    "cookie_whole": style("cookie", WHOLE, int),
    "cookie_texts": style("cookie", TEXTS, decoded(","), explode=False),
    "cookie_raw": style("cookie", TEXT, str, style="cookie"),
    "cookie_raw_texts": style("cookie", TEXTS, split(","), style="cookie", explode=False),
    "cookie_json": style("cookie", {}, decoded(each=json.loads), content=JSON),
    "cookie_plain": style("cookie", TEXT, decoded(), content=PLAIN),
}


def text_at(place: str, request: Request, captured: dict[str, str]) -> str:
    """The text of the place as WSGI gives it: a path decoded, a query raw, headers and cookies as they came."""
    match place:
        case "path":
            return captured["value"]
        case "header":
            return request.headers["value"]
        case "cookie":
            return request.COOKIES["value"]
    return str(request.META["QUERY_STRING"])


def style_view(name: str, style: Style) -> Any:
    operation = raw(name, parameters=[style.parameter])

    class View(Keeping):
        @extend_schema(operation=operation)
        def get(self, request: Request, **captured: str) -> Response:
            return self.keep(style.reader(text_at(style.place, request, captured)))

    variable = f"<{style.converter}:value>/" if style.place == "path" else ""
    return path(f"{name}/{variable}", View.as_view())


api = [style_view(name, style) for name, style in STYLES.items()]

urlpatterns = [path("", include("sezzlee_mcp.urls")), path("api/", include(api))]
