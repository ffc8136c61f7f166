"""
Prints how well each built-in ranker finds what is needed: ``python -m benchmarks.bench_quality``.

The needs are in benchmarks/needs, in two halves: a ranker is tuned on the one and judged by the other. They are
searched for in the OpenAPI documents of a folder (DOCUMENTS, else ../shared/backends), with every operation exposed and
nothing curated (docs/search-quality.md).
"""
# ruff: noqa: T201 - what a benchmark prints is its result

import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from benchmarks import catalogs
from sezzlee_mcp.search import RANKERS, Case, Index, Language, Outcome, Scores, judge, read_cases, weigh

NEEDS = Path(__file__).with_name("needs")
HALVES = ("tuning", "held_out")
BACKENDS = tuple(sorted(path.stem for path in (NEEDS / HALVES[0]).glob("*.json")))
LIMIT = 20  # what a search shows that does not say how much
_COLUMNS = ("cases", "recall@1", "recall@5", "recall@10", "mrr", "empty")


def cases(half: str, backend: str) -> tuple[Case, ...]:
    return read_cases((NEEDS / half / f"{backend}.json").read_bytes())


def document_path(backend: str) -> Path:
    return catalogs.FOLDER / f"{backend}.json"


def outcomes(backend: str, kept: tuple[Case, ...]) -> Mapping[str, list[Outcome]]:
    """What every ranker finds for these cases in the backend's catalog, by the ranker's name."""
    tools = list(catalogs.compiled(catalogs.read(document_path(backend)).candidate))
    index = Index.build({tool.name: weigh(tool.document) for tool in tools})
    named = {tool.operation: tool.name for tool in tools}
    right = [{named[key] for key in case.expected if key in named} for case in kept]
    everything = index.documents.keys()
    rankers = {name: ranker_of(index, Language()) for name, ranker_of in RANKERS.items()}
    return {
        name: [
            judge([*islice(ranker.order(case.query, everything).among(everything), LIMIT)], names)
            for case, names in zip(kept, right, strict=True)
        ]
        for name, ranker in rankers.items()
    }


def main() -> int:
    missing = [str(path) for path in map(document_path, BACKENDS) if not path.is_file()]
    if missing:
        print(f"There is no {', no '.join(missing)}; set DOCUMENTS to a folder that has them.", file=sys.stderr)
        return 2
    print(f"{'search quality':<24}{'ranker':<12}" + "".join(f"{column:>11}" for column in _COLUMNS))
    for half in HALVES:
        found = [outcomes(backend, cases(half, backend)) for backend in BACKENDS]
        for backend, by_ranker in zip(BACKENDS, found, strict=True):
            for ranker, judged in by_ranker.items():
                _print(f"{half}, {backend}", ranker, judged)
        for ranker in RANKERS:
            _print(f"{half}, all", ranker, [outcome for by_ranker in found for outcome in by_ranker[ranker]])
    return 0


def _print(title: str, ranker: str, judged: list[Outcome]) -> None:
    scores = Scores.of(judged).to_json()
    print(f"{title:<24}{ranker:<12}" + "".join(f"{scores[column]:>11}" for column in _COLUMNS))


if __name__ == "__main__":
    sys.exit(main())
