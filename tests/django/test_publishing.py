"""publishing.md: rows become a revision in one transaction, and every process answers from it."""

import json
import threading
from dataclasses import replace
from typing import Any

import pytest
from django.db import close_old_connections, connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import snapshots
from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.history import ENTRIES
from sezzlee_mcp.models import Catalog, Operation, Revision, SelectionRule, Tag, ToolContent
from sezzlee_mcp.publishing import compile_draft, draft_with, losses, publish, read_inputs
from sezzlee_mcp.sync import sync
from tests.django.test_sync import document

ADMIN = Revision.Source.ADMIN


@pytest.fixture
def fruit(db: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    sync(document("apples", "pears"))


def edit(key: str, **choices: Any) -> Revision | None:
    Operation.objects.filter(key=key).update(**choices)
    return publish(source=ADMIN, note="A test.")


def published() -> dict[str, str]:
    """{tool name: operation key} of the current revision."""
    return dict(ToolContent.objects.filter(left_generation=None).values_list("name", "operation_key"))


def test_edit_is_a_new_generation_with_its_change(fruit: None) -> None:
    revision = edit("GET /apples/", description="Sour apples.")

    assert revision is not None
    assert (revision.generation, revision.source, revision.note) == (2, "admin", "A test.")
    assert revision.changes == {
        "entries": [
            {
                "tool": "apples",
                "kind": "text_changed",
                "pointer": "/description",
                "name": "description",
                "before": '"GET /apples/"',
                "after": '"Sour apples."',
            }
        ],
        "counts": {"breaking": 0, "behavioural": 1, "additive": 0},
        "of_tools": {"apples": {"breaking": 0, "behavioural": 1, "additive": 0}},
    }
    assert revision.counts == {
        "tools": 2,
        "added": 0,
        "removed": 0,
        "changed": 1,
        "breaking": 0,
        "behavioural": 1,
        "additive": 0,
    }


def test_what_no_agent_loads_is_a_change_all_the_same(fruit: None) -> None:
    revision = edit("GET /apples/", overrides_search_terms=True, search_terms=["cider"])

    assert revision is not None
    assert revision.changes["entries"] == [{"tool": "apples", "kind": "call_changed"}]


def test_a_record_keeps_the_worst_changes_and_counts_all(fruit: None) -> None:
    names = [f"fruit{number}" for number in range(ENTRIES)]
    sync(document(*names))

    revision = Revision.objects.latest()
    kinds = [entry["kind"] for entry in revision.changes["entries"]]
    assert (len(kinds), kinds[:3]) == (ENTRIES, ["tool_removed", "tool_removed", "tool_added"])
    assert revision.changes["counts"] == {"breaking": 2, "behavioural": 0, "additive": ENTRIES}


def test_publish_of_unchanged_rows_is_no_new_generation(fruit: None) -> None:
    assert publish(source=ADMIN) is None
    assert Catalog.objects.generation() == 1


def test_snapshot_follows_the_generation(fruit: None) -> None:
    before = snapshots.current()
    edit("GET /apples/", description="Sour apples.")
    after = snapshots.current()

    assert (before.generation, after.generation) == (1, 2)
    assert b"Sour apples." in after.entries["apples"].card
    assert after.entries["pears"] is before.entries["pears"]  # only what changed was read


def test_snapshot_of_an_unmoved_generation_costs_one_query(fruit: None, django_assert_num_queries: Any) -> None:
    snapshots.current()

    with django_assert_num_queries(1):
        snapshots.current()


@pytest.mark.parametrize("read", ["sezzlee_mcp_revision", "sezzlee_mcp_toolcontent"])
def test_what_publishes_prune_while_a_process_reads_it_gives_place_to_the_next(
    fruit: None, settings: Settings, read: str
) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True, "KEPT_REVISIONS": 2}
    snapshots.current()
    edit("GET /apples/", description="Sour apples.")
    texts = iter(("Sweet apples.", "Red apples.", "Green apples."))

    def publish_before(execute: Any, sql: str, *arguments: Any) -> Any:
        if sql.startswith("SELECT") and f'FROM "{read}"' in sql and (first := next(texts, "")):
            for text in (first, *texts):
                edit("GET /apples/", description=text)
        return execute(sql, *arguments)

    with connection.execute_wrapper(publish_before):
        snapshot = snapshots.current()

    assert (snapshot.generation, b"Green apples." in snapshot.entries["apples"].card) == (5, True)


def test_generation_check_can_be_spaced_out(fruit: None, settings: Settings, django_assert_num_queries: Any) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True, "GENERATION_CHECK_SECONDS": 3600}
    snapshots.current()

    with django_assert_num_queries(0):
        snapshots.current()


def test_staff_tags_and_search_terms_replace_the_documents(fruit: None) -> None:
    operation = Operation.objects.get(key="GET /apples/")
    operation.tags.set([Tag.objects.create(name="Fresh fruit")])
    edit("GET /apples/", overrides_tags=True, overrides_search_terms=True, search_terms=["cider"])

    stored = ToolContent.objects.get(name="apples", left_generation=None).document
    assert (stored["tags"], stored["searchTerms"]) == (["Fresh fruit"], ["cider"])


def test_withdrawn_name_gives_the_generated_one_back(fruit: None) -> None:
    edit("GET /apples/", name="cider_apples")
    assert published() == {"cider_apples": "GET /apples/", "pears": "GET /pears/"}

    edit("GET /apples/", name="")

    assert published() == {"apples": "GET /apples/", "pears": "GET /pears/"}


def test_name_of_an_absent_operation_waits_for_it(fruit: None) -> None:
    newcomer = document("pears")
    newcomer["paths"]["/new/"] = {"get": {"operationId": "Apples", "responses": {"200": {"description": "Yes."}}}}
    sync(newcomer)
    sync(newcomer)
    assert published() == {"pears": "GET /pears/"}

    sync(document("apples", "pears"))

    assert published() == {"apples": "GET /apples/", "pears": "GET /pears/"}


def test_hidden_operation_leaves_the_catalog(fruit: None) -> None:
    edit("GET /apples/", exposure="exclude")

    assert published() == {"pears": "GET /pears/"}


def test_selection_rules_of_the_admin_and_of_the_settings_count_alike(fruit: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"RULES": [{"route": "/apples/", "decision": "include"}]}
    publish(source=ADMIN)
    assert published() == {"apples": "GET /apples/"}

    SelectionRule.objects.create(route="/pears/", decision="include")
    publish(source=ADMIN)

    assert published() == {"apples": "GET /apples/", "pears": "GET /pears/"}


def test_draft_tells_what_an_unsaved_edit_would_lose(fruit: None) -> None:
    operation = Operation.objects.get(key="GET /apples/")
    operation.name = "pears"

    lost = losses(draft_with({operation.key: operation.to_curation()}), [operation.key])

    assert {(found.code, found.operation) for found in lost} == {("name_collision", "GET /apples/")}
    assert Catalog.objects.generation() == 1


def test_unchanged_tools_are_taken_over_uncompiled(fruit: None) -> None:
    inputs = read_inputs()

    draft = compile_draft(inputs)

    assert all(inputs.known[tool.input_digest] is tool for tool in draft.candidate.tools)


def test_edit_reads_the_slots_of_one_operation_and_compiles_one_tool(fruit: None) -> None:
    edited = Operation.objects.get(key="GET /apples/")
    edited.description = "Sour apples."

    with CaptureQueriesContext(connection) as queries:
        draft = draft_with({edited.key: edited.to_curation()})

    (read,) = (query["sql"] for query in queries if '"slots"' in query["sql"])
    assert ("GET /apples/" in read, "GET /pears/" in read) == (True, False)
    assert [tool.name for tool in draft.candidate.compiled] == ["apples"]


def test_tool_taken_over_is_what_its_compilation_made(db: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    schema = {"type": "array", "items": {"type": "string", "description": "Äpfel, “sour” ones."}}
    sync(document("apples", requestBody={"content": {"application/json": {"schema": schema}}}, method="post"))
    inputs = read_inputs()

    taken_over, compiled = compile_draft(inputs), compile_draft(replace(inputs, known={}))

    assert taken_over.candidate.diagnostics == compiled.candidate.diagnostics
    assert {found.code for found in compiled.candidate.diagnostics} == {"not_invocable", "synthetic_body_argument"}
    (old,), (new,) = taken_over.candidate.tools, compiled.candidate.tools
    assert (old.loaded, old.loaded_bytes) == (new.loaded, len(canonical_json(new.loaded)))


def test_equal_content_of_another_compiler_is_no_generation_and_then_taken_over(fruit: None) -> None:
    ToolContent.objects.update(input_digest="of another compiler")
    assert [tool.name for tool in compile_draft(read_inputs()).candidate.compiled] == ["apples", "pears"]

    assert publish(source=ADMIN) is None

    assert Catalog.objects.generation() == 1
    assert compile_draft(read_inputs()).candidate.compiled == ()


def test_draft_made_under_the_lock_is_what_is_published(fruit: None) -> None:
    renamed = Operation.objects.get(key="GET /apples/")
    renamed.name = "cider_apples"  # and not saved, so that only the draft knows it
    Catalog.objects.lock()

    publish(source=ADMIN, draft=draft_with({renamed.key: renamed.to_curation()}))

    assert published() == {"cider_apples": "GET /apples/", "pears": "GET /pears/"}


def test_draft_of_before_another_edit_is_compiled_again(fruit: None) -> None:
    renamed = Operation.objects.get(key="GET /apples/")
    renamed.name = "cider_apples"
    draft = draft_with({renamed.key: renamed.to_curation()})
    Catalog.objects.lock()

    assert publish(source=ADMIN, draft=draft) is None
    assert published() == {"apples": "GET /apples/", "pears": "GET /pears/"}


def test_content_is_stored_in_the_order_in_which_agents_read_it(db: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    parameters = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("zebra", "ant", "mole")]
    sync(document("animals", parameters=parameters))

    edit("GET /animals/", description="Compiled from the row now.")  # not from the document, as the sync before

    entry = snapshots.current().entries["animals"]
    (shape,) = snapshots.loaded_shapes([entry])
    assert list(shape["inputSchema"]["properties"]) == ["zebra", "ant", "mole"]
    assert list(json.loads(entry.card)) == ["name", "description", "parameters"]
    assert json.loads(entry.card)["parameters"] == "zebra: string, ant: string, mole: string"


@pytest.mark.django_db(transaction=True)
def test_publishes_at_the_same_time_lose_nothing(settings: Settings) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite in memory has one connection; PostgreSQL runs this")
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    names = [f"fruit_{number}" for number in range(8)]
    sync(document(*names))
    start = threading.Barrier(len(names))

    def edit_one(name: str) -> None:
        start.wait()
        edit(f"GET /{name}/", description=f"Now {name}.")
        close_old_connections()
        connection.close()

    threads = [threading.Thread(target=edit_one, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    cards = {content.name: content.card["description"] for content in ToolContent.objects.filter(left_generation=None)}
    assert cards == {name: f"Now {name}." for name in names}
    generations = sorted(Revision.objects.values_list("generation", flat=True))
    assert generations == list(range(1, len(generations) + 1))


@pytest.mark.django_db(transaction=True)
def test_publish_that_fails_leaves_nothing_half_done(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True, "KEPT_REVISIONS": 2}
    sync(document("apples"))

    def disk_full(*args: Any, **kwargs: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("sezzlee_mcp.publishing._prune", disk_full)
    with pytest.raises(OSError, match="No space left"):
        sync(document("apples", "pears"))

    assert published() == {"apples": "GET /apples/"}
    assert list(Operation.objects.values_list("key", flat=True)) == ["GET /apples/"]
    assert (Catalog.objects.generation(), Revision.objects.count()) == (1, 1)
