"""Prints, as JSON, what a new process of the host spends on the catalog: ``python -m benchmarks.process``."""
# ruff: noqa: T201 - what it prints is its result

import json
import os
import time
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time

import django
from django.conf import settings

MEGABYTE = 1_000_000
EDITS = 7
_PAGE_BYTES = 4096


def main() -> None:
    django.setup()
    import_module(settings.ROOT_URLCONF)
    from benchmarks import revisions
    from sezzlee_mcp import snapshots
    from sezzlee_mcp.models import Catalog

    Catalog.objects.generation()  # the host opens its database too
    host_seconds, host_bytes = _seconds_since_start(), _resident_bytes()
    snapshot = snapshots.current()
    everything = snapshot.index.documents.keys()
    next(snapshot.rankers["contract"].rank("create a report", everything), None)
    answer_seconds, answer_cpu_seconds = _seconds_since_start(), time.process_time()
    added_bytes = _resident_bytes() - host_bytes
    edits = []
    for name in snapshot.index.names[:EDITS]:
        revisions.edit(name)
        wall, cpu = perf_counter(), thread_time()
        snapshots.current()
        edits.append((perf_counter() - wall, thread_time() - cpu))
    result = {
        "tools": len(snapshot.entries),
        "host_seconds": host_seconds,
        "answer_seconds": answer_seconds,
        "answer_cpu_seconds": answer_cpu_seconds,
        "host_megabytes": host_bytes / MEGABYTE,
        "added_megabytes": added_bytes / MEGABYTE,
        "refresh_seconds": median(wall for wall, _ in edits),
        "refresh_cpu_seconds": median(cpu for _, cpu in edits),
    }
    print(json.dumps(result))


def _seconds_since_start() -> float:
    """Seconds since the interpreter was started, by the kernel's clock, to a hundredth."""
    after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(after_name[19]) / os.sysconf("SC_CLK_TCK")


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


if __name__ == "__main__":
    main()
