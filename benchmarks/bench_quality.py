"""
Prints how well each built-in ranker finds what is needed: ``python -m benchmarks.bench_quality``.

The needs are in benchmarks/needs: a ranker is tuned on one half and judged by the other, and by those that were
written later, when it was done. They are searched for in the OpenAPI documents of a folder (DOCUMENTS, else
../shared/backends), with every operation exposed and nothing curated (docs/search-quality.md).
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
SETS = (*HALVES, "later")
LIMIT = 20  # what a search shows that does not say how much
_COLUMNS = ("cases", "recall@1", "recall@5", "recall@10", "mrr", "empty")


def backends(part: str) -> tuple[str, ...]:
    """The backends that a set of needs is about."""
    return tuple(sorted(path.stem for path in (NEEDS / part).glob("*.json")))


def cases(part: str, backend: str) -> tuple[Case, ...]:
    return read_cases((NEEDS / part / f"{backend}.json").read_bytes())


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
    missing = [str(path) for path in map(document_path, backends(HALVES[0])) if not path.is_file()]
    if missing:
        print(f"There is no {', no '.join(missing)}; set DOCUMENTS to a folder that has them.", file=sys.stderr)
        return 2
    print(f"{'search quality':<26}{'ranker':<12}" + "".join(f"{column:>11}" for column in _COLUMNS))
    for part in SETS:
        found = {backend: outcomes(backend, cases(part, backend)) for backend in backends(part)}
        for backend, by_ranker in found.items():
            for ranker, judged in by_ranker.items():
                _print(f"{part}, {backend}", ranker, judged)
        for ranker in RANKERS:
            _print(f"{part}, all", ranker, [each for by_ranker in found.values() for each in by_ranker[ranker]])
    return 0


def _print(title: str, ranker: str, judged: list[Outcome]) -> None:
    scores = Scores.of(judged).to_json()
    print(f"{title:<26}{ranker:<12}" + "".join(f"{scores[column]:>11}" for column in _COLUMNS))


if __name__ == "__main__":
    sys.exit(main())
