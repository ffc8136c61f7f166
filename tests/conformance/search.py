"""Fixtures of kind search: tools and a query -> names in order."""

from functools import partial
from typing import Any

from sezzlee_mcp.catalog.compile import _searched_parameters
from sezzlee_mcp.catalog.tools import Member, SearchDocument, Slot, Template
from sezzlee_mcp.search import Audience, Index, narrow, weigh
from sezzlee_mcp.search.bm25 import contract

NO_LIMIT = 1_000


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given = fixture["input"]
    index = index_of(given["tools"])
    found = narrow(
        index,
        Audience.of(index, index.documents.keys()),
        partial(contract(index).order, given["query"]),
        tags=given.get("tags") or (),
        limit=given.get("limit", NO_LIMIT),
    )
    return {"names": list(found.names)}, fixture["expected"]


def index_of(tools: list[dict[str, Any]]) -> Index:
    return Index.build({tool["name"]: weigh(_document(tool)) for tool in tools})


def _document(tool: dict[str, Any]) -> SearchDocument:
    return SearchDocument(
        name=tool["name"],
        description=tool.get("description", ""),
        search_terms=tuple(tool.get("searchTerms", ())),
        tags=tuple(tool.get("tags", ())),
        route=tool["route"],
        alternate_routes=tuple(tool.get("alternateRoutes", ())),
        parameters=tuple(_searched_parameters(_properties(tool.get("inputSchema")), _template(tool))),
    )


def _properties(schema: Any) -> dict[str, Any]:
    """The root properties of any JSON: fixtures may hold a schema that nobody checked."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def _template(tool: dict[str, Any]) -> Template:
    """A template whose deepObject parameters are the tool's grouped ones."""
    properties = _properties(tool.get("inputSchema"))
    grouped = (name for name in tool.get("groupedParameters", ()) if name in properties)
    slots = (
        Slot(
            name=name,
            location="query",
            type="object",
            style="deepObject",
            explode=True,
            members=tuple(Member(name=member, type="string") for member in _properties(properties[name])),
        )
        for name in grouped
    )
    return Template(method="GET", route=tool["route"], slots=tuple(slots))
