"""The host's own functions that a call may need: values of hidden arguments, files, and how an answer is read."""

import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.utils.module_loading import import_string

from sezzlee_mcp import conf
from sezzlee_mcp.catalog.tools import Exposed, Template
from sezzlee_mcp.invoke.compose import ComposedRequest, attach
from sezzlee_mcp.invoke.files import FILE_LIMIT_BYTES, FileArgument, FileContent, unresolved
from sezzlee_mcp.invoke.outcomes import BackendResponse, CallFacts, Recognizer, map_response
from sezzlee_mcp.invoke.recognizers import Problem
from sezzlee_mcp.workers import Deadline

logger = logging.getLogger("sezzlee_mcp")


def deferred_values(template: Template, request: HttpRequest) -> dict[str, Any]:
    """
    What the providers that a tool names say of the caller's request, each asked once.

    One that raises gives nothing: the agent is told that a value is missing, the log says why.
    """
    return {source: _provided(source, request) for source in dict.fromkeys(_sources(template))}


def with_files(composed: ComposedRequest, *, tool: str, user: Any, deadline: Deadline | None) -> ComposedRequest:
    """
    The request once the host's resolver has given the files that it refers to.

    CallError ``file_unresolved`` for one that does not exist or is not this user's, which are one message;
    retryable when the resolver could not say.
    """
    if not composed.references:
        return composed
    return attach(composed, [_resolved(file, tool=tool, user=user, deadline=deadline) for file in composed.references])


def recognizers() -> tuple[Recognizer, ...]:
    """The host's recognizers, in their order; one that raises, or gives something else, is logged and says nothing."""
    return tuple(partial(_recognized, path) for path in conf.current().recognizers)


def mapped(response: BackendResponse, facts: CallFacts) -> dict[str, Any]:
    """
    The success that an answer is, by the host's mapper when there is one.

    Raises ``CallError`` for a failure, and whatever a faulty mapper raises: nothing of an answer that the host wants
    to have a say in may pass without it.
    """
    path = conf.current().result_mapper
    if path is None:
        return map_response(response, facts)
    success = import_string(path)(response, facts)
    if not isinstance(success, dict):
        raise TypeError(f"The result mapper {path} gave {type(success).__name__}, not a dict.")
    return success


def _recognized(path: str, response: BackendResponse, body: Any) -> Problem | None:
    try:
        problem = import_string(path)(response, body)
    except Exception:  # host code may raise anything; its words are for the log alone
        logger.exception("The recognizer %s failed.", path)
        return None
    if problem is None or isinstance(problem, Problem):
        return problem
    logger.error("The recognizer %s gave %s, not a Problem.", path, type(problem).__name__)
    return None


def _sources(template: Template) -> Iterator[str]:
    exposures: list[Exposed | None] = [slot.exposed for slot in template.slots]
    exposures += template.body.exposed.values() if template.body else ()
    for exposed in exposures:
        if exposed and exposed.fill and exposed.fill.source:
            yield exposed.fill.source


def _provided(source: str, request: HttpRequest) -> Any:
    try:
        return import_string(conf.current().providers[source])(request)
    except Exception:  # host code may raise anything; its words are for the log alone
        logger.exception("The provider %s failed.", source)
        return None


def _resolved(file: FileArgument, *, tool: str, user: Any, deadline: Deadline | None) -> FileContent:
    resolver = import_string(conf.current().file_resolver or "")
    try:
        found = resolver(
            file.content, field=file.field, tool=tool, user=user, limit_bytes=FILE_LIMIT_BYTES, deadline=deadline
        )
    except (LookupError, PermissionError, FileNotFoundError):
        raise unresolved(file) from None
    except Exception:  # host code may raise anything; its words are for the log alone
        logger.exception("The file resolver failed.")
        raise unresolved(file, is_unavailable=True) from None
    return found if isinstance(found, FileContent) else FileContent(data=bytes(found))
