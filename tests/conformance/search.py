"""Fixtures of kind search: tools and a query -> names in order."""

from collections.abc import Iterator
from typing import Any

from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import Audience, Index, find, weigh

_NO_LIMIT = 1_000


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given = fixture["input"]
    index = Index.build({tool["name"]: weigh(_document(tool)) for tool in given["tools"]})
    found = find(
        index,
        Audience.of(index, frozenset(index.names)),
        given["query"],
        tags=given.get("tags") or (),
        limit=given.get("limit", _NO_LIMIT),
    )
    return {"names": list(found.names)}, fixture["expected"]


def _document(tool: dict[str, Any]) -> SearchDocument:
    return SearchDocument(
        name=tool["name"],
        description=tool.get("description", ""),
        search_terms=tuple(tool.get("searchTerms", ())),
        tags=tuple(tool.get("tags", ())),
        route=tool["route"],
        alternate_routes=tuple(tool.get("alternateRoutes", ())),
        parameters=tuple(_parameters(tool)),
    )


def _parameters(tool: dict[str, Any]) -> Iterator[str]:
    """Each root property's key and description; of the grouped ones (deepObject) also every ``group.member``."""
    for name, schema in tool.get("inputSchema", {}).get("properties", {}).items():
        yield name
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        if name in tool.get("groupedParameters", ()):
            yield from (f"{name}.{member}" for member in schema.get("properties", {}))
