"""
Cases that schemathesis generates from a document, as plain values and as the HTTP requests that it writes of them.

They are made in a process of their own: schemathesis changes hypothesis for all tests that run in its process.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

ADDRESS = "http://testserver"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An HTTP request as a client of the API sends it."""

    method: str
    target: str
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    Values for one operation, and the request that holds them.

    ``body`` is the value of the body of ``media_type``; without one, ``media_type`` is empty. ``is_valid`` says
    that the document admits the values.
    """

    path: dict[str, Any]
    query: dict[str, Any]
    body: Any
    media_type: str
    is_valid: bool
    request: Request


def generate(documents: dict[str, dict[str, Any]], count: int) -> dict[str, list[Case]]:
    """For each document of one operation at most ``count`` cases that it admits and as many that it does not."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
        return process.submit(_generated, documents, count).result()


def _generated(documents: dict[str, dict[str, Any]], count: int) -> dict[str, list[Case]]:
    return {name: list(_cases(document, count)) for name, document in documents.items()}


def _cases(document: dict[str, Any], count: int) -> Iterator[Case]:
    import schemathesis
    from hypothesis.errors import Unsatisfiable
    from schemathesis.generation.feedback import NO_FEEDBACK

    (found,) = schemathesis.openapi.from_dict(document).get_all_operations()
    operation = found.ok()
    for mode in schemathesis.GenerationMode:
        drawn: list[Any] = []
        strategy = operation.as_strategy(mode, feedback=NO_FEEDBACK)
        try:
            _draw(strategy, count, drawn)
        except Unsatisfiable:  # where nothing is sent, nothing can be wrong
            continue
        yield from (_plain(case, is_valid=mode is schemathesis.GenerationMode.POSITIVE) for case in drawn)


def _draw(strategy: Any, count: int, drawn: list[Any]) -> None:
    from hypothesis import HealthCheck, Phase, given, settings

    @settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(case: Any) -> None:
        drawn.append(case)

    draw()


def _plain(case: Any, *, is_valid: bool) -> Case:
    import requests
    from schemathesis.core import NotSet

    has_body = not isinstance(case.body, NotSet)
    sent = case.as_transport_kwargs(ADDRESS)
    if sent.get("files"):
        sent["files"] = [(name, _named(name, part)) for name, part in sent["files"]]
    written = requests.Request(**sent).prepare()
    body = written.body or b""
    return Case(
        path=dict(case.path_parameters or {}),
        query=dict(case.query or {}),
        body=_value(case.body) if has_body else None,
        media_type=(case.media_type or "") if has_body else "",
        is_valid=is_valid,
        request=Request(
            method=written.method or "",
            target=written.path_url,
            content_type=written.headers.get("Content-Type", ""),
            body=body.encode() if isinstance(body, str) else bytes(body),
        ),
    )


def _named(name: str, part: tuple[Any, ...]) -> tuple[Any, ...]:
    """A part of a form; a file is called as its field is, whatever type its bytes were made to be."""
    filename, value, *_ = part
    return part if filename is None else (name, value)


def _value(value: Any) -> Any:
    """The value in the types of JSON and in bytes, which other processes read too."""
    if isinstance(value, dict):
        return {str(key): _value(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_value(member) for member in value]
    return bytes(value.data) if type(value).__name__ == "Binary" else value
