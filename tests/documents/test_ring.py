"""Operations that share one ring of components, so that each reaches all of them: none may cost what all cost."""

import tracemalloc

from django.db.models import Sum
from django.db.models.functions import Length
from pytest_django import Settings

from benchmarks.catalogs import ring
from sezzlee_mcp import snapshots
from sezzlee_mcp.models import Operation, ToolContent
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient

MEGABYTE = 1_000_000


def test_ring_of_components_is_synced_and_searched_in_little_memory(db: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }

    report = sync(ring(operations=2_400, components=200))

    assert (report.tools, report.row_changes.created[-1]) == (2_400, "POST /part2399/")
    stored = ToolContent.objects.aggregate(**{name: Sum(Length(name)) for name in ("loaded", "template", "card")})
    assert sum(stored.values()) < 8 * MEGABYTE
    assert Operation.objects.aggregate(size=Sum(Length("slots")))["size"] < 8 * MEGABYTE
    tracemalloc.start()
    entries = snapshots.current().entries
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 10 * MEGABYTE
    assert sum(len(entry.card) for entry in entries.values()) < MEGABYTE
    assert McpClient().search("part 1234")["results"][0]["name"] == "part1234_create"
