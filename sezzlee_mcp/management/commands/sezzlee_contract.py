"""manage.py sezzlee_contract"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sezzlee_mcp import contracts
from sezzlee_mcp.catalog.changes import Change, ChangeClass
from sezzlee_mcp.catalog.contracts import Contract
from sezzlee_mcp.management.given_files import given_file, write_given

_LEVELS = {ChangeClass.BREAKING: "error", ChangeClass.BEHAVIOURAL: "warning", ChangeClass.ADDITIVE: "notice"}


class Command(BaseCommand):
    help = "Write the catalog to a file, or say what changed since a file was written."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="{export,check}")
        export = actions.add_parser("export", help="Write the catalog as stable JSON.")
        export.add_argument("file", metavar="FILE", help="Where to; - is stdout.")
        check = actions.add_parser("check", help="Exit 1 when an agent that learned the file would break.")
        contract = given_file("contract", Contract.from_text)
        check.add_argument("contract", type=contract, metavar="FILE", help="What export wrote; - is stdin.")
        check.add_argument(
            "--format", choices=["text", "json", "github"], default="text", help="How the changes are written."
        )
        for each in (export, check):
            each.add_argument(
                "--candidate",
                action="store_true",
                help="Take what sezzlee_sync would publish, instead of what is published; nothing is written.",
            )

    def handle(self, *, action: str, candidate: bool, verbosity: int, **options: Any) -> None:
        current = self._current(candidate)
        if action == "export":
            write_given(options["file"], current.to_text(), self.stdout)
            return
        path, learned = options["contract"]
        found = current.changes_since(learned)
        if verbosity >= 1:
            self.stdout.write(_FORMATS[options["format"]](found, path))
        if breaking := _counts(found)["breaking"]:
            raise CommandError(f"{breaking} breaking change{'s' if breaking > 1 else ''}.")

    def _current(self, is_candidate: bool) -> Contract:
        if not is_candidate:
            current, reason = contracts.published(), "Nothing is published yet. Run sezzlee_sync, or use --candidate."
        else:
            current, reason = contracts.candidate(), "The document cannot be used. Run sezzlee_sync --dry-run."
        if current is None:
            raise CommandError(reason)
        return current


def _counts(found: Sequence[Change]) -> dict[str, int]:
    counts = Counter(change.change_class for change in found)
    return {each.value: counts[each] for each in ChangeClass}


def _as_text(found: Sequence[Change], path: str) -> str:
    if not found:
        return f"Nothing changed since {path}."
    lines = [
        f"{change.change_class}  {change.tool}  {change.pointer or '/'}\n"
        f"    {change.message} ({', '.join(change.concerns)})"
        for change in found
    ]
    return "\n".join([*lines, ", ".join(f"{number} {name}" for name, number in _counts(found).items())])


def _as_json(found: Sequence[Change], path: str) -> str:
    changes = [
        {
            "class": change.change_class.value,
            "kind": change.kind,
            "tool": change.tool,
            "pointer": change.pointer,
            "concerns": [side.value for side in change.concerns],
            "message": change.message,
        }
        for change in found
    ]
    return json.dumps({**_counts(found), "changes": changes}, indent=2, ensure_ascii=False)


def _as_annotations(found: Sequence[Change], path: str) -> str:
    """Workflow commands of GitHub, each change an annotation of the file."""
    return "\n".join(_annotation(change, path) for change in found)


def _annotation(change: Change, path: str) -> str:
    title, said = f"{change.change_class}: {change.tool}", f"{change.pointer or '/'}: {change.message}"
    return f"::{_LEVELS[change.change_class]} file={_property(path)},title={_property(title)}::{_data(said)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_FORMATS = {"text": _as_text, "json": _as_json, "github": _as_annotations}
