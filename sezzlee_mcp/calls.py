"""The three meta-tools, answered from one snapshot for one caller."""

import json
import logging
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.conf import settings
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch
from rest_framework.settings import api_settings

from sezzlee_mcp import caller_cache, conf, providers, ranking, snapshots, usage
from sezzlee_mcp.caller_cache import Known
from sezzlee_mcp.callers import Caller
from sezzlee_mcp.catalog.tools import Template
from sezzlee_mcp.dispatch import dispatch, outgoing
from sezzlee_mcp.errors import CallError, FieldProblem
from sezzlee_mcp.inner_request import Outgoing, carried_headers
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.budget import described, narrowing
from sezzlee_mcp.invoke.compose import ComposeContext, ComposedRequest, compose
from sezzlee_mcp.invoke.envelope import ToolResult, emit
from sezzlee_mcp.invoke.fields import Naming
from sezzlee_mcp.invoke.outcomes import CallFacts
from sezzlee_mcp.invoke.pages import PagedCall
from sezzlee_mcp.protocol.binding import InvokeCall, LoadCall, SearchCall
from sezzlee_mcp.protocol.limits import Limits
from sezzlee_mcp.protocol.metatools import MetaTool, input_schema
from sezzlee_mcp.protocol.traces import OK, CallTrace
from sezzlee_mcp.search import detail, suggest
from sezzlee_mcp.search.kept_words import kept_words
from sezzlee_mcp.sight import Sight
from sezzlee_mcp.snapshots import ContentGone, Entry, Snapshot
from sezzlee_mcp.vain_searches import Search

logger = logging.getLogger("sezzlee_mcp")

_SEARCH_NARROWING = described(input_schema(MetaTool.SEARCH), ("query", "limit", "detail", "tags"))


class CallHost:
    """
    The protocol's ``Host`` for one request: the generation it began with, and the caller it came from.

    ``known`` is what is known of the caller, where that is not to be what the process remembers of them.
    """

    def __init__(self, caller: Caller, known: Known | None = None) -> None:
        self._caller = caller
        self._known = known
        self._started = time.perf_counter()
        self._used_aliases: tuple[str, ...] = ()
        self._search: Search | None = None

    @cached_property
    def _snapshot(self) -> Snapshot:
        return snapshots.current()

    @cached_property
    def _sight(self) -> Sight:
        return Sight(self._caller, self._snapshot, self._known)

    @property
    def limits(self) -> Limits:
        said = conf.current()
        return Limits(levels=said.body_levels, search_chars=said.search_chars)

    def generation(self) -> int:
        return self._snapshot.generation

    def search(self, call: SearchCall) -> ToolResult:
        ranked = ranking.ranked(self._snapshot, call.query)
        found = self._sight.found(ranked, tags=call.tags, limit=call.limit)
        answer: dict[str, Any] = {"total": found.total}
        if found.tags is not None:
            answer["tags"] = list(found.tags)
        if not call.tags:  # a search that tags narrow may find nothing for their sake
            self._search = Search(words=kept_words(call.query), found=frozenset(found.names))
        if found.corrected:
            answer["corrected"] = dict(found.corrected)
        shown = [self._snapshot.entries[name] for name in found.names]
        answer["results"] = self._schemas(shown) if call.wants_schema else self._cards(shown)
        if not shown:
            tried = suggest(self._snapshot.index, conf.language(), self._sight.audience, call.query, call.tags)
            answer["suggestions"] = {"words": list(tried.words), "message": tried.message}
        return self._emit(answer, _SEARCH_NARROWING)

    def load(self, call: LoadCall) -> ToolResult:
        entry = self._snapshot.find(call.name)
        if entry is None or not self._sight.shows(entry):
            raise messages.unknown_tool(call.name)
        shape, limit_bytes = self._schemas([entry])[0], _budget(self._template(entry))
        return emit(shape, limit_bytes=limit_bytes, renamed=_renamed(call.name, entry))

    def invoke(self, call: InvokeCall) -> ToolResult:
        """The operation's answer. Visibility is not asked: the backend's own pipeline decides every call."""
        entry = self._called(call)
        if call.version is not None and conf.current().release not in ("", self._snapshot.release):
            raise messages.other_release(entry.name)
        if call.was_unwrapped:
            logger.info("The arguments of %s came as JSON text and were unwrapped.", entry.name)
        schema = self._loaded([entry])[0]["inputSchema"]
        template = self._template(entry)
        limit_bytes = _budget(template)
        facts = CallFacts(
            naming=Naming.of(template, tuple(schema["properties"]), api_settings.NON_FIELD_ERRORS_KEY),
            has_identity=self._caller.has_identity,
            limit_bytes=limit_bytes,
            narrowing=narrowing(schema),
            login_url=_login_url(),
            recognizers=providers.recognizers(),
        )
        return self._answer(call, entry, template, facts)

    def compose(self, call: InvokeCall) -> Outgoing:
        """The request that ``invoke`` sends, unsent, without the files that it refers to; its errors are the same."""
        entry = self._called(call)
        template = self._template(entry)
        composed = self._composed(call, template)
        return outgoing(composed, template, self._caller, tool=entry.name, limit_bytes=_budget(template))

    def refuse(self, error: CallError) -> ToolResult:
        return self._emit(error)

    def trace(self, trace: CallTrace) -> None:
        try:
            entry = self._snapshot.find(trace.tool)
            facts = usage.CallFacts(
                request=self._caller.request,
                user=self._caller.user,
                seconds=time.perf_counter() - self._started,
                generation=self._snapshot.generation,
                tool="" if entry is None else entry.name,
                former_name="" if entry is None or entry.name == trace.tool else trace.tool,
                aliases=self._used_aliases,
                caller=caller_cache.key_of(self._caller) if self._caller.has_identity else None,
                search=self._search if trace.outcome == OK else None,
            )
            usage.record(trace, facts)
        except Exception:  # a call that was answered, or whose own error is on its way, must not fail for its trace
            logger.exception("%s could not be recorded.", trace.meta_tool)

    def _answer(self, call: InvokeCall, entry: Entry, template: Template, facts: CallFacts) -> ToolResult:
        try:
            return emit(
                self._outcome(call, entry.name, template, facts),
                limit_bytes=facts.limit_bytes,
                narrowing=facts.narrowing,
                renamed=_renamed(call.name, entry),
            )
        except Exception:  # an edge: whatever else is a bug of ours, which the agent must not see
            logger.exception("invoke_tool %s failed.", call.name)
            return self._emit(messages.internal_error())

    def _outcome(self, call: InvokeCall, tool: str, template: Template, facts: CallFacts) -> dict[str, Any] | CallError:
        try:
            composed = self._composed(call, template)
            self._used_aliases = tuple(alias for alias, _ in composed.used_aliases)
            response = dispatch(composed, template, self._caller, tool=tool, limit_bytes=facts.limit_bytes)
            paged = PagedCall(
                tool=tool,
                arguments=call.arguments,
                template=template,
                query=composed.query,
                version=call.version,
            )
            return providers.mapped(response, replace(facts, call=paged))
        except CallError as error:
            return error

    def _called(self, call: InvokeCall) -> Entry:
        entry = self._snapshot.find(call.name)
        if entry is None:
            raise messages.unknown_tool(call.name)
        if call.version is not None and call.version != entry.version:
            raise messages.tool_changed(entry.name)
        return entry

    def _composed(self, call: InvokeCall, template: Template) -> ComposedRequest:
        request = self._caller.request
        context = ComposeContext(
            deferred=providers.deferred_values(template, request),
            carried_cookies=request.META.get("HTTP_COOKIE", ""),
            carried_headers=carried_headers(request),
        )
        return compose(template, call.arguments, context)

    def _cards(self, entries: Iterable[Entry]) -> list[dict[str, Any]]:
        cards = ((json.loads(entry.card), self._sight.is_uncertain(entry)) for entry in entries)
        return [{**card, "authUncertain": True} if is_uncertain else card for card, is_uncertain in cards]

    def _loaded(self, entries: list[Entry]) -> list[dict[str, Any]]:
        try:
            return snapshots.loaded_shapes(entries)
        except ContentGone:
            raise messages.tool_changed(entries[0].name) from None

    def _template(self, entry: Entry) -> Template:
        try:
            return snapshots.template_of(entry)
        except ContentGone:
            raise messages.tool_changed(entry.name) from None

    def _schemas(self, entries: list[Entry]) -> list[dict[str, Any]]:
        shapes = self._loaded(entries)
        return [
            detail(shape, auth_uncertain=self._sight.is_uncertain(entry))
            for shape, entry in zip(shapes, entries, strict=True)
        ]

    def _emit(self, outcome: dict[str, Any] | CallError, narrowed_by: tuple[FieldProblem, ...] = ()) -> ToolResult:
        return emit(outcome, limit_bytes=conf.current().budget_bytes, narrowing=narrowed_by)


def _renamed(asked: str, entry: Entry) -> dict[str, str]:
    """What an answer to a call by an old name says of it."""
    return {} if asked == entry.name else {"name": entry.name, "renamedFrom": asked}


def _budget(template: Template) -> int:
    return conf.current().budget_bytes if template.budget_bytes is None else template.budget_bytes


def _login_url() -> str | None:
    """Where the host sends people to log in; None when the URLconf in force has no such page, as a tenant's may."""
    try:
        return resolve_url(settings.LOGIN_URL)
    except NoReverseMatch:
        return None
