"""publishing.md, "Rolling deploys": whose code a catalog was made from, and who may answer for it."""

from collections.abc import Callable

import pytest
from pytest_django import Settings

from sezzlee_mcp.models import Catalog, Operation, Revision
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.snapshots import current
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient

Agents = Callable[[str], McpClient]


def set_release(settings: Settings, release: str) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RELEASE": release}


@pytest.fixture
def version(shop: None, settings: Settings, agent: Agents) -> str:
    """The version of products_list in a catalog of release "one"."""
    set_release(settings, "one")
    sync()
    loaded: str = agent("alice").load("products_list")["version"]
    return loaded


def test_sync_of_an_unchanged_document_leaves_its_release_and_no_new_generation(version: str) -> None:
    catalog = Catalog.objects.get()

    assert (catalog.release, catalog.generation) == ("one", 1)


def test_catalog_of_another_release_is_behind(version: str, settings: Settings) -> None:
    set_release(settings, "two")

    assert sync(write=False).is_behind is True
    sync()
    assert sync(write=False).is_behind is False


def test_revision_is_of_the_release_that_was_synced_whoever_publishes(version: str, settings: Settings) -> None:
    set_release(settings, "two")
    Operation.objects.filter(operation_id="products_list").update(description="Everything on sale.")

    publish(source=Revision.Source.ADMIN)

    assert list(Revision.objects.values_list("generation", "release")) == [(2, "one"), (1, "")]


def test_call_that_names_a_version_is_refused_by_another_release(
    version: str, settings: Settings, agent: Agents
) -> None:
    set_release(settings, "two")

    assert agent("alice").invoke("products_list", {}, version=version) == {
        "error": "tool_changed",
        "message": (
            "The version of 'products_list' is current, but this server runs another release of the API than the one "
            "it was made from, so nothing was sent to the backend. That is so while a release is rolled out."
        ),
        "retryable": False,
        "continuation": {
            "kind": "revise_arguments",
            "tool": "invoke_tool",
            "instruction": (
                "Repeat the call in a minute. If it cannot wait, leave version out: the operation is then called as "
                "this server knows it."
            ),
        },
    }


def test_call_without_a_version_runs_in_another_release(version: str, settings: Settings, agent: Agents) -> None:
    set_release(settings, "two")

    assert agent("alice").invoke("products_list", {})["status"] == 200


def test_stale_version_leads_to_the_tool_in_every_release(version: str, settings: Settings, agent: Agents) -> None:
    set_release(settings, "two")

    refused = agent("alice").invoke("products_list", {}, version="0123456789abcdef")

    assert refused["continuation"]["tool"] == "load_tool"


@pytest.mark.parametrize("release", ["one", ""])
def test_same_release_or_none_answers_for_the_catalog(
    version: str, settings: Settings, agent: Agents, release: str
) -> None:
    set_release(settings, release)

    assert agent("alice").invoke("products_list", {}, version=version)["status"] == 200


def test_new_release_of_the_same_catalog_keeps_what_the_snapshot_holds(version: str, settings: Settings) -> None:
    before = current()
    set_release(settings, "two")
    sync()

    after = current()

    assert (before.release, after.release, after.entries is before.entries) == ("one", "two", True)
