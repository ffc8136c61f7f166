"""manage.py sezzlee_why"""

import json
from collections.abc import Iterator
from textwrap import fill, wrap
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.management.base import BaseCommand, CommandError, CommandParser

from sezzlee_mcp.callers import as_user, users_named
from sezzlee_mcp.explanations import Explanation, Outcome, Step, explain
from sezzlee_mcp.management.given_files import MISUSE

_WIDTH = 100
_INDENT = 21


class Command(BaseCommand):
    help = "Say where a tool is lost on its way from the OpenAPI document to an agent, and what to do."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "tool",
            nargs="+",
            metavar="TOOL",
            help="A tool's name, of now or before; an operation id; or METHOD /route.",
        )
        parser.add_argument(
            "--user", metavar="NAME", help="Whose agent asks, by username; without it, an anonymous one."
        )
        parser.add_argument("--format", choices=["text", "json"], default="text", help="How the answer is written.")

    def handle(self, *, tool: list[str], user: str | None, format: str, verbosity: int, **options: Any) -> None:
        explanation = explain(" ".join(tool), as_user(AnonymousUser() if user is None else self._user(user)))
        if verbosity >= 1:
            self._print(explanation, format)
        if explanation.lost_at is not None:
            raise CommandError(f"Lost at {explanation.lost_at}.")

    def _user(self, name: str) -> Any:
        users = users_named([name])
        if name not in users:
            raise CommandError(f"There is no user {name!r}.", returncode=MISUSE)
        return users[name]

    def _print(self, explanation: Explanation, format: str) -> None:
        if format == "json":
            self.stdout.write(json.dumps(explanation.to_json(), indent=2, ensure_ascii=False))
            return
        for step in explanation.steps:
            first, *rest = _lines(step)
            self.stdout.write(f"{step.stage:<12}{self._styled(step)}{first}")
            for line in rest:
                self.stdout.write(f"{'':{_INDENT}}{line}")
        if explanation.unknown:
            self.stdout.write(fill(explanation.unknown, _WIDTH))

    def _styled(self, step: Step) -> str:
        outcome = f"{step.outcome:<9}"
        match step.outcome:
            case Outcome.PASSED:
                return self.style.SUCCESS(outcome)
            case Outcome.LOST:
                return self.style.ERROR(outcome)
        return self.style.WARNING(outcome)


def _lines(step: Step) -> Iterator[str]:
    """What is said of a step, in lines that stand beside its name."""
    findings = (f"{found.severity} {found.code}: {found.message}" for found in step.findings)
    advice = [f"-> {step.advice}"] if step.advice else []
    for text in (step.detail, *findings, *advice):
        yield from wrap(text, _WIDTH - _INDENT, break_long_words=False, break_on_hyphens=False)
