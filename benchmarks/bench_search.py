"""
Prints what searching a large catalog costs: ``python -m benchmarks.bench_search`` from the root of the repository.

One catalog is joined from all OpenAPI documents of a folder (DOCUMENTS, else ../shared/backends beside the repository);
one is 3,000 of its tools, drawn by chance and the same in each run; one is 20,000 made-up tools that share a small
vocabulary. A ranker begins as a process does, having seen no word. Goals at the median: 1 ms for a search of 3,000
tools, 5 ms for one of 20,000 (docs/performance.md). On a machine with other work, CPU time is the better measure.
"""
# ruff: noqa: T201 - what a benchmark prints is its result

import random
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from functools import partial
from statistics import quantiles
from time import perf_counter, thread_time
from typing import Any, TypeVar

from benchmarks import catalogs
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.search import RANKERS, Audience, BuiltInRanker, Index, Language, narrow, weigh

T = TypeVar("T")

PART = 3_000
MADE_UP = 20_000
QUERIES = 1_000
TRACED = 200  # queries; tracing makes them ten times slower
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
    joined = _joined()
    _report("a part of joined", part(joined), chance)
    _report("joined", joined, chance)
    _report("made up", made_up(), chance)
    return 0


def part(tools: Mapping[str, T]) -> dict[str, T]:
    """``PART`` of some tools, or all when they are fewer; by chance, and always the same of the same."""
    names = random.Random(1).sample(sorted(tools), min(PART, len(tools)))  # noqa: S311
    return {name: tools[name] for name in names}


def _joined() -> dict[str, SearchDocument]:
    """Each tool's document under a name that is unique among all files."""
    reads = (catalogs.read(path) for path in catalogs.paths())
    return {f"{read.name}/{tool.name}": tool.document for read in reads for tool in catalogs.compiled(read.candidate)}


def made_up() -> dict[str, SearchDocument]:
    chance = random.Random(3)  # noqa: S311
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
        method=chance.choice(("GET", "POST", "PATCH", "PUT", "DELETE")),
    )


def _query(chance: random.Random, document: SearchDocument) -> str:
    """One to five words that some agent might type to find this tool."""
    words = f"{document.name.replace('_', ' ')} {document.description}".split()
    return " ".join(chance.sample(words, min(len(words), chance.randint(1, 5))))


def _report(title: str, documents: dict[str, SearchDocument], chance: random.Random) -> None:
    texts = list(documents.values())
    queries = [_query(chance, chance.choice(texts)) for _ in range(QUERIES)]
    name = next(iter(documents))
    print(f"search, {title}: {len(documents)} tools")
    weighed = _timed("weigh all", lambda: {name: weigh(document) for name, document in documents.items()})
    index = _timed("index them", lambda: Index.build(weighed))
    edited = {**weighed, name: weigh(documents[name])}
    _timed("index them after an edit of one", lambda: index.updated(edited))
    audience = Audience.of(index, index.documents.keys())
    for name, ranker_of in RANKERS.items():
        ranker = _timed(f"make {name}", partial(ranker_of, index, Language()))
        _report_times([_times(partial(_search, index, ranker, audience, query)) for query in queries])
    print(f"  held, after {TRACED} searches: {_held_bytes(documents, queries) / MEGABYTE:.1f} MB")


def _search(index: Index, ranker: BuiltInRanker, audience: Audience, query: str) -> None:
    narrow(index, audience, partial(ranker.order, query), limit=LIMIT)


def _timed(title: str, act: Callable[[], Any]) -> Any:
    wall, cpu = perf_counter(), thread_time()
    result = act()
    print(f"  {title}: {(perf_counter() - wall) * 1000:.0f} ms, of them CPU {(thread_time() - cpu) * 1000:.0f} ms")
    return result


def _times(act: Callable[[], Any]) -> tuple[float, float]:
    """Seconds that passed, and that the CPU took."""
    wall, cpu = perf_counter(), thread_time()
    act()
    return perf_counter() - wall, thread_time() - cpu


def _report_times(times: list[tuple[float, float]]) -> None:
    for title, seconds in zip(("passed", "CPU"), zip(*times, strict=True), strict=True):
        cuts = quantiles(seconds, n=20)
        print(f"  {len(times)} searches, {title}: p50 {cuts[9] * 1000:.2f} ms, p95 {cuts[18] * 1000:.2f} ms")


def _held_bytes(documents: dict[str, SearchDocument], queries: list[str]) -> int:
    """The memory of the weighed documents, their index and what a ranker keeps, built once more under tracing."""
    tracemalloc.start()
    index = Index.build({name: weigh(document) for name, document in documents.items()})
    ranker, audience = RANKERS["fielded"](index, Language()), Audience.of(index, index.documents.keys())
    for query in queries[:TRACED]:
        _search(index, ranker, audience, query)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size


if __name__ == "__main__":
    sys.exit(main())
