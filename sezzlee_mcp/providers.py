"""The host's own functions that a call may need: values of hidden arguments, and files behind references."""

import logging
from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest
from django.utils.module_loading import import_string

from sezzlee_mcp import conf
from sezzlee_mcp.catalog.tools import Exposed, Template
from sezzlee_mcp.invoke.compose import ComposedRequest, attach
from sezzlee_mcp.invoke.files import FILE_LIMIT_BYTES, FileArgument, FileContent, unresolved

logger = logging.getLogger("sezzlee_mcp")


def deferred_values(template: Template, request: HttpRequest) -> dict[str, Any]:
    """
    What the providers that a tool names say of the caller's request, each asked once.

    One that raises gives nothing: the agent is told that a value is missing, the log says why.
    """
    return {source: _provided(source, request) for source in dict.fromkeys(_sources(template))}


def with_files(composed: ComposedRequest, *, tool: str, user: Any) -> ComposedRequest:
    """
    The request once the host's resolver has given the files that it refers to.

    CallError ``file_unresolved`` for one that does not exist or is not this user's, which are one message;
    retryable when the resolver could not say.
    """
    if not composed.references:
        return composed
    return attach(composed, [_resolved(file, tool=tool, user=user) for file in composed.references])


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


def _resolved(file: FileArgument, *, tool: str, user: Any) -> FileContent:
    resolver = import_string(conf.current().file_resolver or "")
    try:
        found = resolver(file.content, field=file.field, tool=tool, user=user, limit_bytes=FILE_LIMIT_BYTES)
    except (LookupError, PermissionError, FileNotFoundError):
        raise unresolved(file) from None
    except Exception:  # host code may raise anything; its words are for the log alone
        logger.exception("The file resolver failed.")
        raise unresolved(file, is_unavailable=True) from None
    return found if isinstance(found, FileContent) else FileContent(data=bytes(found))
