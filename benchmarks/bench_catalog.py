"""
Prints what a catalog of all documents costs to sync, to publish and to hold: ``python -m benchmarks.bench_catalog``.

It runs on a database of its own, SQLite in a temporary folder. Goals for 3,000 tools: a first answer within 1 s of a
process's start, at most 60 MB over the host's own memory, refreshed within 50 ms of an edit (docs/performance.md).
"""
# ruff: noqa: T201 - what a benchmark prints is its result

import json
import os
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import django

from benchmarks import bench_search, catalogs

EDITS = 5


def main() -> int:
    if not catalogs.paths():
        print(catalogs.NO_DOCUMENTS, file=sys.stderr)
        return 2
    with TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{folder}/benchmark.sqlite3"
        os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
        django.setup()
        _measure()
    return 0


def _measure() -> None:
    from django.core.management import call_command

    from sezzlee_mcp.sync import sync

    call_command("migrate", verbosity=0)
    document = catalogs.joined()
    report = _timed("first sync", lambda: sync(document))
    print(f"  {report.summary()}")
    report = _timed("sync of the same document", lambda: sync(document))
    print(f"  behind: {report.is_behind}")
    _edits()
    _processes()


def _timed(title: str, act: Callable[[], Any]) -> Any:
    started = perf_counter()
    result = act()
    print(f"{title}: {perf_counter() - started:.2f} s")
    return result


def _processes() -> None:
    """What a process pays for 3,000 of these tools, for all of them, and for the made-up ones of bench_search."""
    from benchmarks import revisions

    joined = revisions.current_tools()
    for tools in (bench_search.part(joined), joined, revisions.store(bench_search.made_up())):
        revisions.publish(tools)
        _process()


def _process() -> None:
    command = [sys.executable, "-m", "benchmarks.process"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    found = json.loads(answer.stdout)
    print(f"a new process with {found['tools']} tools, and {found['host_megabytes']:.0f} MB before it knows them:")
    print(f"  the host is up after {found['host_seconds']:.2f} s, its first search answered after", end=" ")
    print(f"{found['answer_seconds']:.2f} s ({found['answer_cpu_seconds']:.2f} s of CPU time)")
    print(f"  {found['added_megabytes']:.1f} MB more are resident")
    print(f"  refreshed after an edit in {found['refresh_seconds'] * 1000:.0f} ms", end=" ")
    print(f"({found['refresh_cpu_seconds'] * 1000:.0f} ms of CPU time)")


def _edits() -> None:
    """What a save in the admin does, apart from its pages: compile with the edit, save, publish."""
    from django.db import transaction

    from sezzlee_mcp.models import Catalog, Operation
    from sezzlee_mcp.publishing import draft_with, publish

    saves = []
    for operation in Operation.objects.with_curation().order_by("key")[:EDITS]:
        operation.description = "Edited by staff."
        started = perf_counter()
        with transaction.atomic():
            Catalog.objects.lock()
            draft = draft_with({operation.key: operation.to_curation()})
            operation.save(update_fields=["description"])
            publish(source="admin", draft=draft)
        saves.append(perf_counter() - started)
    print(f"one edit, saved and published: {median(saves):.2f} s at the median of {EDITS}")


if __name__ == "__main__":
    sys.exit(main())
