"""Prints, as JSON, what a new process of the host spends on the catalog: ``python -m benchmarks.process``."""
# ruff: noqa: T201 - what it prints is its result

import json
from importlib import import_module
from pathlib import Path
from time import perf_counter

import django
from django.conf import settings

MEGABYTE = 1_000_000
_PAGE_BYTES = 4096


def main() -> None:
    started = perf_counter()
    django.setup()
    import_module(settings.ROOT_URLCONF)
    from sezzlee_mcp import snapshots
    from sezzlee_mcp.models import Catalog

    Catalog.objects.generation()  # the host opens its database too
    host_seconds, host_bytes = perf_counter() - started, _resident_bytes()
    started = perf_counter()
    snapshot = snapshots.current()
    ready_seconds = perf_counter() - started
    result = {
        "tools": len(snapshot.entries),
        "host_seconds": host_seconds,
        "ready_seconds": ready_seconds,
        "host_megabytes": host_bytes / MEGABYTE,
        "added_megabytes": (_resident_bytes() - host_bytes) / MEGABYTE,
    }
    print(json.dumps(result))


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


if __name__ == "__main__":
    main()
