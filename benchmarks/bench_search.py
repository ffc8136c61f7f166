"""
Prints what searching a large catalog costs: ``python -m benchmarks.bench_search`` from the root of the repository.

One catalog is joined from all OpenAPI documents of a folder (DOCUMENTS, else ../shared/backends beside the
repository), the other one is 20,000 made-up tools that share a small vocabulary. Goal: 1 ms for a search of 3,000
tools at the median (docs/performance.md).
"""
# ruff: noqa: T201 - what a benchmark prints is its result

import random
import sys
import tracemalloc
from statistics import quantiles
from time import perf_counter

from benchmarks import catalogs
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import Audience, DocumentTokens, Index, find, weigh

MADE_UP = 20_000
QUERIES = 1_000
LIMIT = 20
MEGABYTE = 1_000_000

_WORDS = (
    *("account", "address", "audit", "batch", "contract", "cost", "customer", "device", "event", "export", "file"),
    *("group", "import", "invoice", "item", "label", "ledger", "limit", "list", "lock", "machine", "note", "order"),
    *("part", "payment", "plan", "price", "quota", "region", "report", "role"),
)
_VERBS = ["archive", "create", "destroy", "list", "partial_update", "retrieve", "send", "update"]


def main() -> int:
    chance = random.Random(2)  # noqa: S311 - every run has the same catalog and the same queries
    if not catalogs.paths():
        print(catalogs.NO_DOCUMENTS, file=sys.stderr)
        return 2
    _report("joined", _joined(), chance)
    _report("made up", _made_up(chance), chance)
    return 0


def _joined() -> dict[str, SearchDocument]:
    """Each tool's document under a name that is unique among all files."""
    reads = (catalogs.read(path) for path in catalogs.paths())
    return {f"{read.name}/{tool.name}": tool.document for read in reads for tool in catalogs.compiled(read.candidate)}


def _made_up(chance: random.Random) -> dict[str, SearchDocument]:
    made = (_made_up_document(number, chance) for number in range(MADE_UP))
    return {document.name: document for document in made}


def _made_up_document(number: int, chance: random.Random) -> SearchDocument:
    words = chance.sample(_WORDS, 6)
    verb = chance.choice(_VERBS)
    return SearchDocument(
        name=f"{words[0]}_{words[1]}_{verb}_{number}",
        description=f"Takes one {words[0]} of a {words[1]} with its {words[2]} and {words[3]}.",
        tags=(words[0],),
        route=f"/{words[0]}s/{{id}}/{words[1]}s/",
        parameters=tuple(words[2:]),
    )


def _query(chance: random.Random, document: SearchDocument) -> str:
    """One to four words that some agent might type to find this tool."""
    words = f"{document.name.replace('_', ' ')} {document.description}".split()
    return " ".join(chance.sample(words, min(len(words), chance.randint(1, 4))))


def _report(title: str, documents: dict[str, SearchDocument], chance: random.Random) -> None:
    texts = list(documents.values())
    queries = [_query(chance, chance.choice(texts)) for _ in range(QUERIES)]
    started = perf_counter()
    weighed = {name: weigh(document) for name, document in documents.items()}
    weighed_after = perf_counter()
    index = Index.build(weighed)
    built_after = perf_counter()
    audience = Audience.of(index, frozenset(index.names))
    cuts = quantiles((_seconds(index, audience, query) for query in queries), n=20)
    print(f"search, {title}: {len(documents)} tools, {len(index.vocabulary)} words, {len(index.numbers)} postings")
    print(f"  weigh all: {weighed_after - started:.3f} s, build: {built_after - weighed_after:.3f} s")
    print(f"  held: {_held_bytes(documents) / MEGABYTE:.1f} MB")
    print(f"  {len(queries)} searches: p50 {cuts[9] * 1000:.2f} ms, p95 {cuts[18] * 1000:.2f} ms")


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
