"""docs/search-quality.md, "Tune by the report": ten edits in the admin, read from there, and what they gain."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from benchmarks import bench_quality, catalogs
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import change_page, page, said, save
from tests.docs import pages
from tests.factories import SuperuserFactory

BACKEND = "defectdojo"
LEAST_LIFT = 0.05
DOCUMENT = bench_quality.document_path(BACKEND)
STEPS = pages.section(pages.read("docs/search-quality.md"), "## Tune by the report").replace("\n   ", "\n")
_HEAD, *EDITS = [row for row in pages.rows(STEPS) if len(row) == 3]


def recall(client: Client, **query: int) -> dict[tuple[str, int], float]:
    """Recall@5 of each run of the page, by ranker and generation."""
    runs = client.get(page("searchcase", "run"), query).context["runs"]
    return {(run.ranker, run.generation): run.scores.recall_at_5 for run in runs}


@pytest.mark.skipif(not DOCUMENT.is_file(), reason=catalogs.NO_DOCUMENTS)
def test_ten_edits_find_more_of_the_same_needs(db: None, settings: Settings, client: Client) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    sync(catalogs.document_at(DOCUMENT))
    client.force_login(SuperuserFactory(username="ada"))
    needs = (bench_quality.NEEDS / "tuning" / f"{BACKEND}.json").read_bytes()
    client.post(page("searchcase", "load"), {"file": SimpleUploadedFile("cases.json", needs)})
    rankers = [ranker for ranker, _ in recall(client)]

    for number, (key, description, terms) in enumerate(EDITS, start=2):
        words = {"overrides_search_terms": True, "search_terms": "\n".join(terms.split(", "))}
        saved = save(client, change_page(key.strip("`")), description=description, **words)
        assert said(saved)[0] == f"Generation {number}: 1 tool changed."

    scores = recall(client, against=1)
    lifts = {ranker: scores[ranker, len(EDITS) + 1] - scores[ranker, 1] for ranker in rankers}
    assert len(EDITS) == 10
    assert {ranker: lift for ranker, lift in lifts.items() if lift < LEAST_LIFT} == {}
