"""manage.py sezzlee_eval"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sezzlee_mcp import snapshots
from sezzlee_mcp.evaluation import PLACES, Evaluation, Run, remarkable_cases
from sezzlee_mcp.management.given_files import MISUSE
from sezzlee_mcp.models import Revision, SearchCase
from sezzlee_mcp.search import Case, CasesUnreadable, Scores, read_cases
from sezzlee_mcp.snapshots import Snapshot


class Command(BaseCommand):
    help = "Run search cases under every ranker, and say how often the right tool is found."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", nargs="?", metavar="FILE", help="The cases, in JSON; those of the admin without it."
        )
        parser.add_argument("--user", default="", metavar="NAME", help="Whose searches the cases without a user are.")
        parser.add_argument("--against", type=int, metavar="GENERATION", help="Run them in this generation as well.")
        parser.add_argument("--keep", action="store_true", help="Make the file's cases those of the admin as well.")
        parser.add_argument("--format", choices=["text", "json"], default="text", help="How the report is written.")

    def handle(
        self,
        *,
        file: str | None,
        user: str,
        against: int | None,
        keep: bool,
        format: str,
        verbosity: int,
        **options: Any,
    ) -> None:
        given = _cases_of(file) if file else _kept_cases(keep)
        cases = [case if case.user else replace(case, user=user) for case in given]
        evaluation = Evaluation(cases, _snapshots(against))
        if evaluation.unknown:
            said = (f"{cases[number].query!r}: {' '.join(why.values())}" for number, why in evaluation.unknown.items())
            raise CommandError("\n".join(said), returncode=MISUSE)
        if keep:
            SearchCase.objects.keep(given)
        runs, out_of_sight = evaluation.runs(), evaluation.out_of_sight()
        if verbosity >= 1 and format == "json":
            self.stdout.write(json.dumps(_report(cases, runs, out_of_sight), indent=2, ensure_ascii=False))
        elif verbosity >= 1:
            self.stdout.write("\n".join(_lines(cases, runs, out_of_sight)))
        if failed := [f"The ranker {run.ranker} failed: {run.error}" for run in runs if run.error]:
            raise CommandError("\n".join(failed))


def _kept_cases(keep: bool) -> tuple[Case, ...]:
    if keep:
        raise CommandError("--keep needs a FILE.", returncode=MISUSE)
    if not (cases := SearchCase.objects.cases()):
        raise CommandError("There are no search cases in the admin; give a FILE.", returncode=MISUSE)
    return cases


def _cases_of(file: str) -> tuple[Case, ...]:
    try:
        return read_cases(Path(file).read_bytes())
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.", returncode=MISUSE) from None
    except CasesUnreadable as unreadable:
        raise CommandError(f"{file} holds no search cases.\n{unreadable}", returncode=MISUSE) from None


def _snapshots(against: int | None) -> list[Snapshot]:
    current = snapshots.current()
    if not current.generation:
        raise CommandError("Nothing is published yet. Run sezzlee_sync.", returncode=MISUSE)
    if against is None or against == current.generation:
        return [current]
    try:
        return [current, snapshots.of_generation(against)]
    except LookupError:
        kept = f"{Revision.objects.earliest('generation').generation} to {current.generation} are"
        raise CommandError(f"Generation {against} is not kept; {kept}.", returncode=MISUSE) from None


def _report(cases: Sequence[Case], runs: Sequence[Run], out_of_sight: Collection[int]) -> dict[str, Any]:
    """``places`` of a case are in the order of ``runs``."""
    return {
        "runs": [
            {"ranker": run.ranker, "generation": run.generation, "error": run.error}
            if run.error
            else {"ranker": run.ranker, "generation": run.generation, **run.scores.to_json()}
            for run in runs
        ],
        "cases": [
            {
                **case.to_json(),
                "places": [run.place(number) for run in runs],
                "outOfSight": number in out_of_sight,
            }
            for number, case in enumerate(cases)
        ],
    }


def _lines(cases: Sequence[Case], runs: Sequence[Run], out_of_sight: Collection[int]) -> Iterator[str]:
    yield f"{len(cases)} cases"
    yield ""
    yield _row("run", "ranker", "generation", ("recall@1", "recall@5", "recall@10", "mrr", "empty"))
    for number, run in enumerate(runs, start=1):
        yield _row(str(number), run.ranker, str(run.generation), ["failed"] if run.error else _cells(run.scores))
    if remarkable := remarkable_cases(runs):
        yield ""
        yield f"The place of the first right tool by run, where it is not the same or not among the first {PLACES}:"
        yield "".join(f"{number:>5}" for number in range(1, len(runs) + 1))
    for number in remarkable:
        places = "".join(f"{run.place(number) or '-':>5}" for run in runs)
        yield f"{places}  {_said(cases[number])}"
    if out_of_sight:
        yield ""
        yield "No ranker can find what these expect: it is no tool, lacks the tags, or is hidden from the user."
        yield from (f"  {_said(cases[number])}" for number in out_of_sight)


def _said(case: Case) -> str:
    by_whom = f" ({case.user})" if case.user else ""
    return f"{case.query}{by_whom}: {case.need}"


def _cells(scores: Scores) -> list[str]:
    shares = (scores.recall_at_1, scores.recall_at_5, scores.recall_at_10, scores.mrr)
    return [*(f"{share:.3f}" for share in shares), str(scores.empty)]


def _row(number: str, ranker: str, generation: str, cells: Sequence[str]) -> str:
    return f"{number:<5}{ranker:<24}{generation:>10}" + "".join(f"{cell:>11}" for cell in cells)
