"""
Runs the public conformance corpus: ``python -m tests.conformance.corpus [-v]`` from the root of the repository.

Every fixture is ``{kind, description, input, expected}``. Each kind has a module here whose ``run(fixture)`` gives
the actual and the expected value. Exit status 0 says that every kind of ``RUNNERS`` is complete but for the
fixtures that are pending and that no other kind is there, 1 that it is not, 2 that there is no corpus.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.conformance import ingestion

ROOT = Path(__file__).resolve().parents[2]

RUNNERS = {
    "search": "search",
    "ranked-search": "ranked_search",
    "card": "card",
    "detail": "detail",
    "visibility": "visibility",
    "naming": "naming",
    "metadata-extraction": "extraction",
    "openapi-ingestion": "ingestion",
    "argument-mapping": "mapping",
    "error-mapping": "errors",
}


def pending(fixture: Mapping[str, Any]) -> str | None:
    """
    Why a fixture need not pass yet; None when it has to.

    Told by what the fixture holds, not by its file's name, which another folder chooses for itself.
    """
    return ingestion.not_built(fixture) if fixture["kind"] == "openapi-ingestion" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    kind: str
    name: str
    fixture: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """
    ``problem`` is None for a fixture that passed, else the diff or the exception.

    ``pending`` says why it need not pass yet.
    """

    name: str
    problem: str | None
    pending: str | None = None


def folder() -> Path:
    return Path(os.environ.get("SEZZLEE_CORPUS") or ROOT.parent / "shared" / "corpus")


def cases(corpus: Path) -> dict[str, list[Case]]:
    """The fixtures below the folder by their own ``kind``; where a file lies has no meaning."""
    by_kind: dict[str, list[Case]] = {}
    for path in sorted(corpus.rglob("*.json")):
        fixture = json.loads(path.read_text(encoding="utf-8"))
        case = Case(kind=str(fixture.get("kind")), name=path.stem, fixture=fixture)
        by_kind.setdefault(case.kind, []).append(case)
    return by_kind


def check(case: Case) -> Result:
    """The result of one fixture; an exception is a failure like any other."""
    try:
        actual, expected = import_module(f"{__package__}.{RUNNERS[case.kind]}").run(case.fixture)
        problem = difference(actual, expected)
    except Exception as error:  # noqa: BLE001 - the run goes on; the fixture has failed
        problem = f"{type(error).__name__}: {error}"
    return Result(name=case.name, problem=problem, pending=pending(case.fixture))


def difference(actual: Any, expected: Any) -> str | None:
    """None for equal JSON values, else their diff; true is not 1, and the order of an object's members is nothing."""
    wanted, got = _lines(expected), _lines(actual)
    return None if wanted == got else "\n".join(unified_diff(wanted, got, "expected", "actual", lineterm=""))


def _lines(value: Any) -> list[str]:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).splitlines()


@dataclass(frozen=True, slots=True, kw_only=True)
class KindReport:
    """The results of one kind; ``results`` is None for a kind that nobody knows."""

    kind: str
    total: int
    results: tuple[Result, ...] | None

    @property
    def passed(self) -> int:
        return sum(result.problem is None for result in self.results or ())

    @property
    def is_complete(self) -> bool:
        """Whether each fixture passed that has to."""
        return bool(self.results) and all(not result.problem or result.pending for result in self.results or ())

    def lines(self, *, verbose: bool) -> Iterator[str]:
        yield f"{self.kind}: {self.passed}/{self.total}{self._remark()}"
        for result in self.results or ():
            yield from self._result_lines(result, verbose=verbose)

    def _remark(self) -> str:
        if self.results is None:
            return " (unknown kind)"
        return "" if self.results else " (no fixture)"

    def _result_lines(self, result: Result, *, verbose: bool) -> Iterator[str]:
        if result.problem is None:
            return
        yield f"  {result.name}: pending, {result.pending}" if result.pending else f"  {result.name}"
        if verbose and not result.pending:
            yield from (f"    {line}" for line in result.problem.splitlines())


def reports(by_kind: Mapping[str, list[Case]]) -> Iterator[KindReport]:
    """One report for each kind of the corpus, then one for each kind that nobody knows."""
    for kind in (*RUNNERS, *sorted(set(by_kind) - set(RUNNERS))):
        found = by_kind.get(kind, [])
        yield KindReport(kind=kind, total=len(found), results=tuple(map(check, found)) if kind in RUNNERS else None)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run the public conformance corpus.")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what each failing fixture got wrong")
    options = parser.parse_args(arguments)
    corpus = folder()
    if not corpus.is_dir():
        print(f"There is no corpus at {corpus}; set SEZZLEE_CORPUS to its folder.", file=sys.stderr)  # noqa: T201
        return 2
    made = list(reports(cases(corpus)))
    for report in made:
        print("\n".join(report.lines(verbose=options.verbose)))  # noqa: T201 - this is the command's output
    return 0 if all(report.is_complete for report in made) else 1


if __name__ == "__main__":
    sys.exit(main())
