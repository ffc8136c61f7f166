"""Catalogs of any size in the database, without what it takes to compile and publish them."""

from collections.abc import Mapping
from dataclasses import replace

from sezzlee_mcp.canonical import digest
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.models import Catalog, Revision, ToolContent


def publish(tools: Mapping[str, str]) -> None:
    """Make a revision of these names and digests, whose contents are stored, the current one."""
    generation = Catalog.objects.generation() + 1
    Revision.objects.create(generation=generation, source="command", counts={}, changes={}, tools=tools)
    Catalog.objects.update(generation=generation, contents_digest=digest(dict(tools)))


def current_tools() -> dict[str, str]:
    tools: dict[str, str] = Revision.objects.values_list("tools", flat=True).get(
        generation=Catalog.objects.generation()
    )
    return tools


def store(documents: Mapping[str, SearchDocument]) -> dict[str, str]:
    """Contents with these search documents, their other columns those of a tool that is stored; names and digests."""
    like = ToolContent.objects.all()[0]
    digests = {name: digest(document.to_json()) for name, document in documents.items()}
    ToolContent.objects.bulk_create(_content(like, documents[name], digests[name]) for name in documents)
    return digests


def edit(name: str) -> None:
    """Publish the current tools with another description of one, which it never had before."""
    tools = current_tools()
    old = ToolContent.objects.get(pk=tools[name])
    document = replace(
        SearchDocument.from_json(old.document), description=f"Edited in generation {Catalog.objects.generation()}."
    )
    new = _content(old, document, digest(document.to_json()))
    new.save(force_insert=True)
    publish({**tools, name: new.digest})


def _content(like: ToolContent, document: SearchDocument, content_digest: str) -> ToolContent:
    own = {
        "digest": content_digest,
        "name": document.name,
        "input_digest": content_digest,
        "document": document.to_json(),
    }
    columns = {field.attname: getattr(like, field.attname) for field in ToolContent._meta.concrete_fields}
    return ToolContent(**{**columns, **own})
