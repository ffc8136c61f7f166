"""search.md, "Replaceable ranker": the host's callable orders the tools, under a deadline, and may fail."""

import logging
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import pytest
from django.http import HttpRequest
from pytest_django import Settings

from sezzlee_mcp import ranking
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.models import Catalog
from sezzlee_mcp.testing import McpClient
from tests.django.idleness import wait_until_idle

HERE = "tests.django.test_ranker"
asked: list[dict[str, Any]] = []
released = Event()


def backwards(query: str, documents: tuple[SearchDocument, ...], *, digest: str) -> list[str]:
    asked.append({"query": query, "documents": documents, "digest": digest})
    return [document.name for document in reversed(documents)]


def untidy(query: str, documents: tuple[SearchDocument, ...], *, digest: str) -> list[str]:
    return ["ghost", "page", "upload", "page"]


def broken(query: str, documents: tuple[SearchDocument, ...], *, digest: str) -> list[str]:
    raise ConnectionError("the secret host is down")


def exits(query: str, documents: tuple[SearchDocument, ...], *, digest: str) -> list[str]:
    raise SystemExit(3)


def impatient(query: str, documents: tuple[SearchDocument, ...], *, digest: str) -> list[str]:
    raise TimeoutError("mine")


def wrong(query: str, documents: tuple[SearchDocument, ...], *, digest: str) -> Any:
    return {"page": 1.0}


def late(query: str, documents: tuple[SearchDocument, ...], *, digest: str) -> list[str]:
    released.wait(30)
    return ["page"]


@pytest.fixture
def rank_by(testapp: None, settings: Settings) -> Iterator[Callable[..., None]]:
    """Name the ranker; what it left running is let go at the end."""
    asked.clear()
    released.clear()

    def rank_by(function: Callable[..., Any], **keys: Any) -> None:
        settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RANKER": f"{HERE}.{function.__name__}", **keys}

    yield rank_by
    released.set()
    wait_until_idle(ranking._workers)


def names(query: str, **arguments: Any) -> list[str]:
    return [card["name"] for card in McpClient().search(query, **arguments)["results"]]


def test_answer_of_the_ranker_is_the_order(rank_by: Callable[..., None]) -> None:
    everything = names("", limit=50)
    rank_by(backwards)

    assert names("echo", limit=50) == everything[::-1]
    assert names("echo", limit=2) == everything[:-3:-1]


def test_ranker_gets_query_documents_and_digest_and_no_caller(rank_by: Callable[..., None]) -> None:
    rank_by(backwards)
    names("pack a box")

    (given,) = asked
    box = next(document for document in given["documents"] if document.name == "box")
    assert (given["query"], given["digest"]) == ("pack a box", Catalog.objects.get().contents_digest)
    assert (box.route, box.description) == ("/api/boxes/", "Pack a box.")
    assert not any(isinstance(value, HttpRequest) for value in given.values())


@pytest.mark.parametrize("query", ["", "a ?"])
def test_query_without_a_token_lists_and_asks_nobody(rank_by: Callable[..., None], query: str) -> None:
    everything = names(query)
    rank_by(backwards)

    assert names(query) == everything
    assert asked == []


def test_unknown_and_repeated_names_are_dropped_and_logged(
    rank_by: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    rank_by(untidy)

    assert names("echo", limit=1) == ["page"]
    assert names("echo") == ["page", "upload"]
    assert "named no tools: ('ghost',); repeated: ('page',)" in caplog.text


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (broken, "the secret host is down"),
        (exits, "SystemExit"),
        (impatient, "mine"),
        (wrong, "it answered with a dict, not with a list of names"),
        (late, "it was not done in time"),
    ],
)
def test_failure_falls_back_to_the_built_in_ranking_and_is_logged(
    rank_by: Callable[..., None], caplog: pytest.LogCaptureFixture, function: Callable[..., Any], reason: str
) -> None:
    built_in = names("echo")
    rank_by(function, RANKER_DEADLINE_SECONDS=0.01 if function is late else 10)

    assert names("echo") == built_in
    assert [record.levelno for record in caplog.records if "The ranker" in record.message] == [logging.WARNING]
    assert reason in caplog.text


@pytest.mark.parametrize("function", [broken, wrong, late])
def test_failure_is_an_answer_where_the_host_says_so(
    rank_by: Callable[..., None], function: Callable[..., Any]
) -> None:
    rank_by(function, RANKER_FAILURE="error", RANKER_DEADLINE_SECONDS=0.01 if function is late else 10)

    envelope = McpClient().search("echo")

    assert (envelope["error"], envelope["retryable"]) == ("search_ranker_unavailable", True)
    assert envelope["continuation"]["kind"] == "retry"
    assert "secret" not in str(envelope)
    assert McpClient().search("")["results"] != []


def test_late_rankers_take_no_more_than_their_threads(
    rank_by: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    rank_by(late, RANKER_DEADLINE_SECONDS=0.01)
    for _ in range(ranking.WORKERS + 1):
        names("echo")

    assert f"all of the {ranking.WORKERS} threads were busy" in caplog.text


def test_ranker_sees_the_documents_of_the_generation_that_is_searched(
    rank_by: Callable[..., None], settings: Settings
) -> None:
    from sezzlee_mcp.sync import sync

    rank_by(backwards)
    names("echo")
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RULES": [{"route": "/api/page/", "decision": "exclude"}]}
    sync()
    names("echo")

    before, after = ({document.name for document in given["documents"]} for given in asked)
    assert before - after == {"page"}
    assert asked[0]["digest"] != asked[1]["digest"]
