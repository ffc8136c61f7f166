"""The OpenAPI documents that the benchmarks read, and the catalogs that are made of them."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from sezzlee_mcp.catalog.compile import Candidate, compile_catalog
from sezzlee_mcp.catalog.curation import Curation
from sezzlee_mcp.catalog.tools import Tool
from sezzlee_mcp.openapi import Lowered
from sezzlee_mcp.openapi.lower import lower

FOLDER = Path(os.environ.get("DOCUMENTS") or Path(__file__).resolve().parents[2] / "shared" / "backends")
NO_DOCUMENTS = f"There are no documents at {FOLDER}; set DOCUMENTS to a folder of OpenAPI documents."
EVERYTHING = Curation(exposed_by_default=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A document and what became of it, with all operations exposed."""

    name: str
    operations: int
    lowered: Lowered
    candidate: Candidate
    seconds: float


def paths() -> list[Path]:
    return sorted(FOLDER.glob("*.json"))


def document_at(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read(path: Path) -> Read:
    document = document_at(path)
    started = perf_counter()
    lowered = lower(document)
    candidate = compile_catalog(lowered.descriptors, EVERYTHING)
    return Read(
        name=path.stem,
        operations=operations(document),
        lowered=lowered,
        candidate=candidate,
        seconds=perf_counter() - started,
    )


def operations(document: dict[str, Any]) -> int:
    """How many methods the document's paths have."""
    methods = {"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}
    return sum(method in methods for item in document["paths"].values() for method in item)


def joined(documents: Iterable[Path] | None = None) -> dict[str, Any]:
    """One document of all those, or of all that there are, each file's paths and components under its own name."""
    joined: dict[str, Any] = {
        "openapi": "3.0.3",
        "info": {"title": "All", "version": "1"},
        "paths": {},
        "components": {},
    }
    for path in paths() if documents is None else documents:
        _join(joined, document_at(path), path.stem.replace("-", "_"))
    return joined


def _join(joined: dict[str, Any], document: dict[str, Any], name: str) -> None:
    document = json.loads(_renamed_references(json.dumps(document), document, name))
    joined["paths"].update({f"/{name}{route}": _named(item, name) for route, item in document["paths"].items()})
    for kind, components in document.get("components", {}).items():
        own = {f"{name}.{key}": component for key, component in components.items()}
        joined["components"].setdefault(kind, {}).update(own)


def _renamed_references(text: str, document: dict[str, Any], name: str) -> str:
    for kind in document.get("components", {}):
        text = text.replace(f'"#/components/{kind}/', f'"#/components/{kind}/{name}.')
    return text


def _named(item: dict[str, Any], name: str) -> dict[str, Any]:
    return {
        key: {**value, "operationId": f"{name}_{value['operationId']}"}
        if isinstance(value, dict) and "operationId" in value
        else value
        for key, value in item.items()
    }


def ring(operations: int, components: int) -> dict[str, Any]:
    """A document whose components each refer to the next and the last to the first: every operation reaches all."""
    schemas = {
        f"Part{number}": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": f"Name of part {number}."},
                "next": {"$ref": f"#/components/schemas/Part{(number + 1) % components}"},
            },
        }
        for number in range(components)
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": "Ring", "version": "1"},
        "paths": {f"/part{number}/": {"post": _ring_operation(number, components)} for number in range(operations)},
        "components": {"schemas": schemas},
    }


def _ring_operation(number: int, components: int) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/Part{number % components}"}}}
    return {
        "operationId": f"part{number}_create",
        "description": f"Creates part {number}.",
        "requestBody": {"content": content},
        "responses": {"201": {"description": "Created.", "content": content}},
    }


def tool_schemas(candidate: Candidate) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each published schema once, with the name of its tool: equal ones are one."""
    seen: set[str] = set()
    for tool in candidate.tools:
        for key in ("inputSchema", "outputSchema"):
            schema = tool.loaded.get(key)
            text = json.dumps(schema)
            if schema is not None and text not in seen:
                seen.add(text)
                yield f"{tool.name}.{key}", schema


def compiled(candidate: Candidate) -> Iterator[Tool]:
    """The tools of a candidate that knew none before."""
    yield from (tool for tool in candidate.tools if isinstance(tool, Tool))
