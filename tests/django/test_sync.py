"""operations.md and publishing.md: a document becomes rows and a revision, once, and says what it could not use."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp.errors import PublishRefused
from sezzlee_mcp.models import Catalog, Diagnostic, Operation, Revision, ToolContent
from sezzlee_mcp.sync import sync

pytestmark = pytest.mark.django_db


def document(*names: str, method: str = "get", **operation: Any) -> dict[str, Any]:
    """A document with one operation a name."""
    return {
        "openapi": "3.0.3",
        "paths": {
            f"/{name}/": {method: {"operationId": name, "responses": {"200": {"description": "Yes."}}, **operation}}
            for name in names
        },
    }


@pytest.fixture(autouse=True)
def exposed(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}


def call_sync(*arguments: str) -> tuple[str, str]:
    stdout, stderr = StringIO(), StringIO()
    call_command("sezzlee_sync", *arguments, stdout=stdout, stderr=stderr)
    return stdout.getvalue(), stderr.getvalue()


def test_first_sync_publishes_generation_one() -> None:
    report = sync(document("apples", "pears"))

    revision = Revision.objects.get()
    assert (report.discovered, report.selected, report.tools, report.generation) == (2, 2, 2, 1)
    assert (revision.generation, revision.source, sorted(revision.tools)) == (1, "sync", ["apples", "pears"])
    assert revision.changes["entries"] == [
        {"tool": "apples", "kind": "tool_added"},
        {"tool": "pears", "kind": "tool_added"},
    ]
    assert Catalog.objects.generation() == 1


def test_second_sync_of_the_same_document_writes_nothing() -> None:
    sync(document("apples", "pears"))

    with CaptureQueriesContext(connection) as queries:
        report = sync(document("apples", "pears"))

    assert (report.is_behind, report.tools, report.compiled) == (False, 2, 0)
    assert [query["sql"] for query in queries if not query["sql"].startswith("SELECT")] == []
    assert Revision.objects.count() == 1


def test_second_sync_of_the_project_writes_nothing(settings: Settings) -> None:
    sync()

    with CaptureQueriesContext(connection) as queries:
        report = sync()

    assert (report.is_behind, report.compiled) == (False, 0)
    assert not any('"slots"' in query["sql"] for query in queries)
    assert [query["sql"] for query in queries if not query["sql"].startswith("SELECT")] == []


def test_sync_compiles_what_changed() -> None:
    first = sync(document("apples", "pears"))
    changed = document("apples", "pears")
    changed["paths"]["/pears/"]["get"]["summary"] = "Pears"

    second = sync(changed)

    assert (first.compiled, second.compiled) == (2, 1)
    assert second.tool_changes == {"added": [], "removed": [], "changed": ["pears"]}


def test_sync_after_an_upgrade_writes_no_generation_and_the_next_one_nothing() -> None:
    sync(document("apples", "pears"))
    ToolContent.objects.update(input_digest="of another compiler")

    upgraded = sync(document("apples", "pears"))
    with CaptureQueriesContext(connection) as queries:
        settled = sync(document("apples", "pears"))

    assert (upgraded.is_behind, upgraded.compiled, upgraded.generation) == (False, 2, 1)
    assert (settled.is_behind, settled.compiled, settled.generation) == (False, 0, 1)
    assert [query["sql"] for query in queries if not query["sql"].startswith("SELECT")] == []


def test_operation_that_leaves_is_marked_absent_and_gets_its_curation_back() -> None:
    sync(document("apples", "pears"))
    Operation.objects.filter(key="GET /pears/").update(description="Sweet pears.")

    left = sync(document("apples"))

    assert left.row_changes.absent == ("GET /pears/",)
    assert left.tool_changes["removed"] == ["pears"]
    assert Operation.objects.get(key="GET /pears/").is_absent

    returned = sync(document("apples", "pears"))

    assert returned.row_changes.returned == ("GET /pears/",)
    assert ToolContent.objects.get(name="pears", left_generation=None).card["description"] == "Sweet pears."


def test_content_that_comes_back_is_stored_once() -> None:
    sync(document("apples", "pears"))
    sync(document("apples"))
    sync(document("apples", "pears"))

    assert ToolContent.objects.filter(name="pears").count() == 1
    assert Revision.objects.get(generation=3).tools == Revision.objects.get(generation=1).tools


def test_sync_that_would_remove_most_tools_is_refused_without_force() -> None:
    many = [f"fruit_{number}" for number in range(20)]
    sync(document(*many))

    with pytest.raises(PublishRefused, match="would remove 11 of 20 published tools"):
        sync(document(*many[:9]))

    assert (Catalog.objects.generation(), Operation.objects.present().count()) == (1, 20)
    assert sync(document(*many[:9]), force=True).generation == 2


def test_sync_that_removes_half_is_not_refused() -> None:
    many = [f"fruit_{number}" for number in range(20)]
    sync(document(*many))

    assert sync(document(*many[:10])).generation == 2


@pytest.mark.parametrize("broken", [{"swagger": "2.0"}, {"openapi": "4.0.0", "paths": {}}, [], None, "text"])
def test_unusable_document_leaves_the_last_good_catalog(broken: Any, tmp_path: Path) -> None:
    sync(document("apples"))
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(broken))

    with pytest.raises(CommandError, match="the catalog stays as it was"):
        call_sync("--document", str(file))

    assert (Catalog.objects.generation(), Operation.objects.present().count()) == (1, 1)


def test_diagnostics_are_stored_with_their_operation() -> None:
    sync(document("apples", parameters=[{"name": "id", "in": "path", "required": True, "schema": {}}]))

    row = Diagnostic.objects.get(stage="document")
    assert (row.code, row.severity, row.key) == ("path_parameter_not_in_route", "warning", "GET /apples/")
    assert row.operation == Operation.objects.get(key="GET /apples/")


def test_old_revisions_and_their_contents_go(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True, "KEPT_REVISIONS": 2}
    for number in range(5):
        sync(document("apples", description=f"Apples, edition {number}."))

    assert list(Revision.objects.values_list("generation", flat=True)) == [5, 4]
    named = {digest for revision in Revision.objects.all() for digest in revision.tools.values()}
    assert set(ToolContent.objects.values_list("digest", flat=True)) == named


def test_command_prints_the_summary_and_the_diagnostics_by_code(tmp_path: Path) -> None:
    file = tmp_path / "document.json"
    file.write_text(json.dumps(document("apples", "pears", callbacks={"later": {}})))

    stdout, stderr = call_sync("--document", str(file))

    assert stdout.splitlines() == [
        "2 discovered, 2 selected, 2 tools, 3 warnings, 0 dropped, 0 fatal",
        "Generation 1: 2 added, 0 removed, 0 changed.",
    ]
    assert "warning callbacks_ignored: 1" in stderr
    assert "warning not_invocable: 2" in stderr


def test_dry_run_and_check_write_nothing(tmp_path: Path) -> None:
    file = tmp_path / "document.json"
    file.write_text(json.dumps(document("apples")))

    assert "Would publish: 1 added, 0 removed, 0 changed." in call_sync("--document", str(file), "--dry-run")[0]
    with pytest.raises(CommandError, match="behind the document"):
        call_sync("--document", str(file), "--check")
    assert not Operation.objects.exists()

    call_sync("--document", str(file))
    assert "Nothing changed; generation 1." in call_sync("--document", str(file), "--check")[0]


def test_json_report_is_one_document(tmp_path: Path) -> None:
    file = tmp_path / "document.json"
    file.write_text(json.dumps(document("apples")))

    stdout, stderr = call_sync("--document", str(file), "--format", "json")

    report = json.loads(stdout)
    assert (report["tools"], report["generation"], report["changes"]["added"]) == (1, 1, ["apples"])
    assert stderr == ""


@pytest.mark.parametrize("content", ["{", "\x00"])
def test_document_that_cannot_be_read_is_misuse(tmp_path: Path, content: str) -> None:
    file = tmp_path / "document.json"
    file.write_text(content)

    with pytest.raises(CommandError, match="is not a readable JSON document"):
        call_sync("--document", str(file))


def test_published_name_stays_when_a_newcomer_wants_it() -> None:
    sync(document("apples"))
    both = document("apples")
    both["paths"]["/other/"] = {"get": {"operationId": "Apples", "responses": {"200": {"description": "Yes."}}}}

    report = sync(both)

    assert report.tools == 1
    assert ToolContent.objects.get(left_generation=None).operation_key == "GET /apples/"
    assert Diagnostic.objects.get(code="name_collision").key == "GET /other/"
