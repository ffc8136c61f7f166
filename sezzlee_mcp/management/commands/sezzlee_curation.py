"""manage.py sezzlee_curation"""

import json
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sezzlee_mcp import conf, curation_files, curation_loads
from sezzlee_mcp.callers import users_named
from sezzlee_mcp.catalog.curation_files import read_curation
from sezzlee_mcp.curation_loads import LoadReport
from sezzlee_mcp.errors import CurationRefused
from sezzlee_mcp.management.given_files import MISUSE, given_file, write_given
from sezzlee_mcp.models import Revision


def revision_note(text: str) -> str:
    """A text that a revision has room for."""
    limit = Revision._meta.get_field("note").max_length
    if limit is not None and len(text) > limit:
        raise ArgumentTypeError(f"A note has at most {limit} characters, and this has {len(text)}.")
    return text


class Command(BaseCommand):
    help = "Write all that staff say about operations to a file, or make it what such a file says."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="{export,load}")
        export = actions.add_parser("export", help="Write what staff say as stable JSON.")
        export.add_argument("path", metavar="FILE", help="Where to; - is stdout.")
        load = actions.add_parser("load", help="Make the rows say what the file says, and publish it.")
        curation = given_file("curation", read_curation)
        load.add_argument("file", type=curation, metavar="FILE", help="What export wrote; - is stdin.")
        load.add_argument("--dry-run", action="store_true", help="Say what would change and write nothing.")
        load.add_argument(
            "--check", action="store_true", help="Write nothing; exit 1 when staff say anything else than the file."
        )
        load.add_argument(
            "--skip-unknown", action="store_true", help="Leave out operations that do not exist here; they are named."
        )
        load.add_argument(
            "--note", type=revision_note, default="", metavar="TEXT", help="Why; it is kept with the revision."
        )
        load.add_argument("--user", metavar="NAME", help="Who loads it, for the history.")
        load.add_argument(
            "--publish", action="store_true", help="Publish also where PUBLISH is draft, with all that waits there."
        )
        load.add_argument("--format", choices=["text", "json"], default="text", help="How the report is written.")

    def handle(self, *, action: str, verbosity: int, **options: Any) -> None:
        if action == "export":
            write_given(options["path"], curation_files.export(), self.stdout)
        else:
            self._load(verbosity=verbosity, **options)

    def _load(
        self,
        *,
        file: tuple[str, dict[str, Any]],
        dry_run: bool,
        check: bool,
        skip_unknown: bool,
        note: str,
        user: str | None,
        publish: bool,
        format: str,
        verbosity: int,
        **options: Any,
    ) -> None:
        path, sections = file
        writes = not (dry_run or check)
        try:
            report = curation_loads.load(
                sections,
                write=writes,
                publishes=publish or conf.current().publishes_at_once,
                skip_unknown=skip_unknown,
                actor=_user(user),
                note=note or f"sezzlee_curation load {Path(path).name}",
            )
        except CurationRefused as refusal:
            raise CommandError(f"Nothing was loaded.\n{refusal}") from None
        if verbosity >= 1:
            self._print(report, format, writes)
        if check and report.entries:
            raise CommandError(f"Staff say something else here than {path}.")

    def _print(self, report: LoadReport, format: str, writes: bool) -> None:
        if format == "json":
            self.stdout.write(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
            return
        for skipped in report.skipped:
            self.stderr.write(self.style.WARNING(skipped))
        for change in report.entries:
            members = f": {', '.join(change.members)}" if change.members else ""
            self.stdout.write(f"{change.kind:8} {change.section}  {change.entry}{members}")
        self.stdout.write(_outcome(report, writes))
        if report.withheld:
            self.stdout.write(
                f"Held since a rollback, so not published: what changed of {len(report.withheld)} tool(s). "
                "Staff end the hold on the admin's page of revisions."
            )


def _user(name: str | None) -> Any:
    if name is None:
        return None
    user = users_named([name]).get(name)
    if user is None:
        raise CommandError(f"There is no user {name!r}.", returncode=MISUSE)
    return user


def _outcome(report: LoadReport, writes: bool) -> str:
    if not report.entries:
        return f"Staff say what the file says; generation {report.generation}."
    tools = ", ".join(f"{len(names)} {kind}" for kind, names in report.tool_changes.items())
    classes = ", ".join(f"{number} {name}" for name, number in report.counts.items())
    if not any(report.tool_changes.values()):
        return f"Nothing {'changed' if writes else 'would change'} for agents; generation {report.generation}."
    if not report.publishes:
        return (
            f"{'Waits' if writes else 'Would wait'} in the draft: {tools}; {classes}. Agents read generation "
            f"{report.generation} until that is published: on the admin's page, or by sezzlee_sync --publish."
        )
    start = f"Generation {report.generation}" if writes else "Would publish"
    return f"{start}: {tools}; {classes}."
