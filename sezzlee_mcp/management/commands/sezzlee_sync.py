"""manage.py sezzlee_sync"""

import json
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sezzlee_mcp import conf
from sezzlee_mcp.diagnostics import Severity
from sezzlee_mcp.errors import PublishRefused
from sezzlee_mcp.sync import OWN, SyncReport, sync

POINTERS_SHOWN = 3
TOOLS_SHOWN = 20


def read_document(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ArgumentTypeError(f"{path} is not a readable JSON document: {error}") from None


class Command(BaseCommand):
    help = "Bring the catalog to what the project's OpenAPI document says, and publish what changed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--document",
            type=read_document,
            default=OWN,
            metavar="FILE",
            help="An OpenAPI document in JSON, instead of the one that drf-spectacular generates.",
        )
        parser.add_argument("--dry-run", action="store_true", help="Say what would change and write nothing.")
        parser.add_argument(
            "--check", action="store_true", help="Write nothing; exit 1 when the catalog is behind the document."
        )
        parser.add_argument("--force", action="store_true", help="Publish even when most of the tools would go.")
        parser.add_argument(
            "--publish", action="store_true", help="Publish also where PUBLISH is draft, with all that waits there."
        )
        parser.add_argument("--format", choices=["text", "json"], default="text", help="How the report is written.")

    def handle(
        self,
        *,
        document: Any,
        dry_run: bool,
        check: bool,
        force: bool,
        publish: bool,
        format: str,
        verbosity: int,
        **options: Any,
    ) -> None:
        writes = not (dry_run or check)
        publishes = publish or conf.current().publishes_at_once
        progress = self._progress(verbosity, format)
        try:
            report = sync(document, write=writes, force=force, publishes=publishes, progress=progress)
        except PublishRefused as refusal:
            raise CommandError(refusal.message) from None
        if verbosity >= 1:
            self._print(report, format, writes)
        if report.is_fatal:
            raise CommandError("The document cannot be used; the catalog stays as it was.")
        if check and report.is_behind:
            raise CommandError("The catalog is behind the document. Run sezzlee_sync.")

    def _progress(self, verbosity: int, format: str) -> Callable[[int, int], None] | None:
        """A counter on a terminal, over itself; nothing where somebody reads a log."""
        if verbosity < 1 or format == "json" or not self.stderr.isatty():
            return None

        def show(done: int, total: int) -> None:
            self.stderr.write(
                f"\rReading operations: {done} of {total}", style_func=str, ending="\n" if done == total else ""
            )

        return show

    def _print(self, report: SyncReport, format: str, writes: bool) -> None:
        if format == "json":
            self.stdout.write(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
            return
        self.stdout.write(report.summary())
        for code, severity, found in report.by_code():
            style = self.style.WARNING if severity is Severity.WARNING else self.style.ERROR
            self.stderr.write(style(f"{severity} {code}: {len(found)}"))
            for each in found[:POINTERS_SHOWN]:
                self.stderr.write(f"  {each.operation or each.pointer}: {each.message}")
            if len(found) > POINTERS_SHOWN:
                self.stderr.write(f"  and {len(found) - POINTERS_SHOWN} more")
        self.stdout.write(self._outcome(report, writes))
        if report.carried and not report.is_fatal:
            more = f" and {left} more" if (left := len(report.carried) - TOOLS_SHOWN) > 0 else ""
            self.stdout.write(
                f"{'Published' if writes else 'Would publish'} along, as it waited in the draft: what changed of "
                f"{', '.join(report.carried[:TOOLS_SHOWN])}{more}."
            )
        if report.withheld:
            self.stdout.write(
                f"Held since a rollback, so not published: what changed of {len(report.withheld)} tool(s). "
                "Staff end the hold on the admin's page of revisions."
            )

    def _outcome(self, report: SyncReport, writes: bool) -> str:
        counts = ", ".join(f"{len(names)} {kind}" for kind, names in report.tool_changes.items())
        if report.is_fatal:
            return f"Nothing was written; generation {report.generation}."
        if not report.publishes and any(report.tool_changes.values()):
            return (
                f"{'Waits' if writes else 'Would wait'} in the draft: {counts}. Agents read generation "
                f"{report.generation} until that is published: on the admin's page, or by sezzlee_sync --publish."
            )
        if not report.is_behind:
            return f"Nothing changed; generation {report.generation}."
        if not writes:
            refusal = " It would be refused without --force." if report.is_suspicious else ""
            return f"Would publish: {counts}.{refusal}"
        if not any(report.tool_changes.values()):
            return f"Nothing changed for agents; generation {report.generation}."
        return f"Generation {report.generation}: {counts}."
