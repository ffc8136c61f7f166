"""
Prints what a catalog of all documents costs to sync, to publish and to hold: ``python -m benchmarks.bench_catalog``.

It runs on a database of its own, SQLite in a temporary folder. Goals: ready within 1 s of a process's start, at most
60 MB over the host's own memory, refreshed within 50 ms of an edit (docs/performance.md).
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

from benchmarks import catalogs

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
    _process()
    _edits()


def _timed(title: str, act: Callable[[], Any]) -> Any:
    started = perf_counter()
    result = act()
    print(f"{title}: {perf_counter() - started:.2f} s")
    return result


def _process() -> None:
    command = [sys.executable, "-m", "benchmarks.process"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    found = json.loads(answer.stdout)
    print(f"a new process of the host: {found['host_seconds']:.2f} s, {found['host_megabytes']:.0f} MB")
    print(f"  with {found['tools']} tools: {found['ready_seconds']:.2f} s, {found['added_megabytes']:.1f} MB more")


def _edits() -> None:
    """What a save in the admin does, apart from its pages: compile with the edit, save, publish, and a refresh."""
    from django.db import transaction

    from sezzlee_mcp import snapshots
    from sezzlee_mcp.models import Catalog, Operation
    from sezzlee_mcp.publishing import draft_with, publish

    snapshots.current()
    saves, refreshes = [], []
    for operation in Operation.objects.order_by("key")[:EDITS]:
        operation.description = "Edited by staff."
        started = perf_counter()
        with transaction.atomic():
            Catalog.objects.lock()
            draft = draft_with(operation, ())
            operation.save(update_fields=["description"])
            publish(source="admin", draft=draft)
        saved_after = perf_counter()
        snapshots.current()
        saves.append(saved_after - started)
        refreshes.append(perf_counter() - saved_after)
    print(f"one edit, saved and published: {median(saves):.2f} s at the median of {EDITS}")
    print(f"refresh after it: {median(refreshes) * 1000:.0f} ms at the median")


if __name__ == "__main__":
    sys.exit(main())
