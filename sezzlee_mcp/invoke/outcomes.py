"""The backend's answer -> what a tool result holds: a success, or the error that its status stands for (results.md)."""

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

from sezzlee_mcp.errors import CallError, FieldProblem
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.budget import shape_of_start
from sezzlee_mcp.invoke.content import Content, Kind, filename_of, read_content
from sezzlee_mcp.invoke.fields import Naming
from sezzlee_mcp.invoke.leaks import may_be_forwarded
from sezzlee_mcp.invoke.pages import PagedCall, next_arguments
from sezzlee_mcp.invoke.recognizers import Problem, read_problem, renamed

_CODES = {
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    410: "not_found",
    408: "backend_unavailable",
    409: "conflict",
    412: "conflict",
    428: "conflict",
    429: "rate_limited",
    502: "backend_unavailable",
    503: "backend_unavailable",
    504: "backend_unavailable",
}
_ABOUT_ARGUMENTS = frozenset({400, 422})
_WITHOUT_CONTENT = frozenset({204, 205, 304})  # RFC 9110; over HTTP no client would read what a view put there
_REFERENCE_HEADERS = ("x-request-id", "x-correlation-id", "request-id", "x-trace-id")
_REFERENCE = re.compile(r"[A-Za-z0-9:_.\-]{1,100}")
_SECONDS = re.compile(r"[0-9]{1,9}")
_ORIGIN = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendResponse:
    """
    What came back; ``headers`` are by lower-case name.

    ``is_cut`` says that reading stopped at the budget, so ``body`` is only the start. ``address`` is the absolute one
    that answered, None when the request named no host that the backend serves.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    is_cut: bool = False
    address: str | None = None


# What a host adds to the reading of a 4xx: the response and its parsed body (JSON, a text, or None) -> what it says.
Recognizer = Callable[[BackendResponse, Any], Problem | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """
    What the mapping of an answer depends on beside the answer.

    ``naming`` knows the tool's published properties; ``login_url`` is where the host sends callers to log in;
    ``limit_bytes`` and ``narrowing`` are those that ``emit`` gets. ``recognizers`` are the host's, asked before those
    of this package; ``call`` is there when the answer may be a page with a next one.
    """

    naming: Naming
    has_identity: bool
    limit_bytes: int
    narrowing: tuple[FieldProblem, ...] = ()
    login_url: str | None = None
    recognizers: tuple[Recognizer, ...] = ()
    call: PagedCall | None = None


def map_response(response: BackendResponse, facts: CallFacts) -> dict[str, Any]:
    """
    The success envelope ``{status, body?, contentType?, filename?, location?, continuation?}`` of an answer below 400.

    Raises ``CallError`` for any other answer, for a redirect to the login page and for a body over the budget.
    The body of a 401, of a 5xx and of a 403 to nobody in particular is not read.
    """
    if response.status >= 400:
        raise _failure(response, facts)
    if _leads_to_login(response, facts.login_url):
        raise _error("unauthenticated", response)
    if response.is_cut:
        raise _cut_off(response, facts)
    body = _body(response)
    return {"status": response.status, **body, **_location(response), **_next_page(body.get("body"), response, facts)}


def _next_page(body: Any, response: BackendResponse, facts: CallFacts) -> dict[str, Any]:
    arguments = next_arguments(body, response.address, facts.call) if facts.call else None
    if facts.call is None or arguments is None:
        return {}
    return {"continuation": messages.next_page(facts.call.tool, arguments, facts.call.version).to_json()}


def _cut_off(response: BackendResponse, facts: CallFacts) -> CallError:
    start = response.body[:100].decode("utf-8", "replace")
    return messages.response_too_large(
        len(response.body), facts.limit_bytes, shape_of_start(start), facts.narrowing, is_cut=True
    )


def _body(response: BackendResponse) -> dict[str, Any]:
    content_type = response.headers.get("content-type")
    content = _content(response)
    if content.kind is Kind.EMPTY:
        return {}
    if content.kind is Kind.JSON:
        return {"body": content.value}
    typed = {"contentType": content_type} if content_type else {}
    if content.kind is not Kind.BYTES:
        return {"body": content.value, **typed}
    filename = filename_of(response.headers.get("content-disposition"))
    named = {"filename": filename} if filename else {}
    return {"body": {"base64": base64.b64encode(response.body).decode()}, **typed, **named}


def _location(response: BackendResponse) -> dict[str, Any]:
    location = response.headers.get("location")
    return {"location": location} if location and 300 <= response.status < 400 else {}


def _leads_to_login(response: BackendResponse, login_url: str | None) -> bool:
    location = _location(response).get("location")
    if location is None or not login_url:
        return False
    target = re.split("[?#]", _resolved(location, response.address), maxsplit=1)[0]
    login = re.split("[?#]", login_url, maxsplit=1)[0]
    return login in {target, _ORIGIN.sub("", target, count=1)}


def _resolved(location: str, address: str | None) -> str:
    """The redirect's target as a client would follow it, seen from the address that answered."""
    try:
        return urljoin(address or "", location)
    except ValueError:  # no address at all
        return location


def _failure(response: BackendResponse, facts: CallFacts) -> CallError:
    status = response.status
    if status >= 500:
        return _error(_CODES.get(status, "backend_error"), response)
    if status == 401 or (status == 403 and not facts.has_identity):
        return _error("unauthenticated", response)
    content = Content(kind=Kind.EMPTY) if response.is_cut else _content(response)
    problem = _told_by_host(response, content, facts) or read_problem(content, facts.naming)
    return _error(_code(status, problem), response, problem)


def _told_by_host(response: BackendResponse, content: Content, facts: CallFacts) -> Problem | None:
    told = (recognize(response, content.value) for recognize in facts.recognizers)
    problem = next((problem for problem in told if problem is not None), None)
    return None if problem is None else renamed(problem, facts.naming)


def _code(status: int, problem: Problem) -> str:
    if problem.fields and status in _ABOUT_ARGUMENTS:
        return "validation_failed"
    return _CODES.get(status, "bad_request")


def _content(response: BackendResponse) -> Content:
    if response.status < 200 or response.status in _WITHOUT_CONTENT:
        return Content(kind=Kind.EMPTY)
    return read_content(response.body, response.headers.get("content-type"))


def _error(code: str, response: BackendResponse, problem: Problem | None = None) -> CallError:
    problem = problem or Problem()
    reference = _reference(response) if code in {"backend_error", "backend_unavailable"} else None
    wait_seconds = _retry_after(response) if code in messages.RETRYABLE else None
    retry_after = wait_seconds if code == "rate_limited" else None
    standard = messages.standard(code, status=response.status, reference=reference, retry_after_seconds=retry_after)
    return CallError(
        code=code,
        message=problem.message or standard,
        retryable=code in messages.RETRYABLE,
        status=response.status,
        fields=problem.fields,
        retry_after_seconds=retry_after,
        reference=reference,
        continuation=messages.next_step(code, retry_after_seconds=wait_seconds),
    )


def _retry_after(response: BackendResponse) -> int | None:
    value = response.headers.get("retry-after", "").strip()
    return int(value) if _SECONDS.fullmatch(value) else None


def _reference(response: BackendResponse) -> str | None:
    """The identifier under which the backend's own log knows the call; the first that looks like one."""
    named = [response.headers.get(name, "").strip() for name in _REFERENCE_HEADERS]
    fitting = (text for text in [*named, _trace_id(response)] if _REFERENCE.fullmatch(text))
    return next((text for text in fitting if may_be_forwarded(text)), None)


def _trace_id(response: BackendResponse) -> str:
    """The ``traceId`` of a problem document, the one thing of a 5xx's body that is read."""
    content_type = response.headers.get("content-type", "")
    if response.is_cut or not content_type.lower().startswith("application/problem+json"):
        return ""
    content = _content(response)
    trace_id = content.value.get("traceId") if isinstance(content.value, dict) else None
    return trace_id if isinstance(trace_id, str) else ""
