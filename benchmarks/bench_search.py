"""
Prints what searching a large catalog costs: ``python -m benchmarks.bench_search`` from the root of the repository.

The catalog is 3,000 operations, drawn from all OpenAPI documents of a folder (DOCUMENTS, else ../shared/backends
beside the repository). Goals: 1 ms for a search at the median, 50 ms for a refresh (docs/architecture.md).
"""
# ruff: noqa: T201 - what a benchmark prints is its result

import json
import os
import random
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from sezzlee_mcp.catalog.compile import compile_catalog
from sezzlee_mcp.catalog.curation import Curation
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.openapi.lower import lower
from sezzlee_mcp.search import Audience, DocumentTokens, Index, find, weigh

TOOLS = 3_000
QUERIES = 1_000
LIMIT = 20
MEGABYTE = 1_000_000


def main() -> int:
    folder = Path(os.environ.get("DOCUMENTS") or Path(__file__).resolve().parents[2] / "shared" / "backends")
    if not folder.is_dir():
        print(f"There are no documents at {folder}; set DOCUMENTS to a folder of OpenAPI documents.", file=sys.stderr)
        return 2
    chance = random.Random(2)  # noqa: S311 - every run has the same catalog and the same queries
    found = sorted(_documents(folder))
    documents = dict(chance.sample(found, min(TOOLS, len(found))))
    queries = [_query(chance, chance.choice(list(documents.values()))) for _ in range(QUERIES)]
    _report(documents, queries)
    return 0


def _documents(folder: Path) -> Iterator[tuple[str, SearchDocument]]:
    """Each tool's document under a name that is unique among all files."""
    for path in sorted(folder.glob("*.json")):
        lowered = lower(json.loads(path.read_text(encoding="utf-8")))
        for tool in compile_catalog(lowered.descriptors, Curation(exposed_by_default=True)).tools:
            yield f"{path.stem}/{tool.name}", tool.document


def _query(chance: random.Random, document: SearchDocument) -> str:
    """One to four words that some agent might type to find this tool."""
    words = f"{document.name.replace('_', ' ')} {document.description}".split()
    return " ".join(chance.sample(words, min(len(words), chance.randint(1, 4))))


def _report(documents: dict[str, SearchDocument], queries: list[str]) -> None:
    started = perf_counter()
    weighed = {name: weigh(document) for name, document in documents.items()}
    weighed_after = perf_counter()
    index = Index.build(weighed)
    built_after = perf_counter()
    audience = Audience.of(index, frozenset(index.names))
    cuts = quantiles((_seconds(index, audience, query) for query in queries), n=20)
    print(f"{len(documents)} tools, {len(index.vocabulary)} words, {len(index.numbers)} postings")
    print(f"weigh all: {weighed_after - started:.3f} s, build: {built_after - weighed_after:.3f} s")
    print(f"held: {_held_bytes(documents) / MEGABYTE:.1f} MB")
    print(f"{len(queries)} searches: p50 {cuts[9] * 1000:.2f} ms, p95 {cuts[18] * 1000:.2f} ms")


def _seconds(index: Index, audience: Audience, query: str) -> float:
    started = perf_counter()
    find(index, audience, query, limit=LIMIT)
    return perf_counter() - started


def _held_bytes(documents: dict[str, SearchDocument]) -> int:
    """The memory of the weighed documents and their index, built once more under tracing."""
    tracemalloc.start()
    weighed: dict[str, DocumentTokens] = {name: weigh(document) for name, document in documents.items()}
    held = (weighed, Index.build(weighed))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del held  # alive until it was measured
    return size


if __name__ == "__main__":
    sys.exit(main())
