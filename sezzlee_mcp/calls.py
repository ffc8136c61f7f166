"""The three meta-tools, answered from one snapshot for one caller."""

import json
import logging
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from django.conf import settings
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch
from rest_framework.settings import api_settings

from sezzlee_mcp import conf, dispatch, providers, ranking, snapshots
from sezzlee_mcp.callers import Caller
from sezzlee_mcp.catalog.tools import Template
from sezzlee_mcp.catalog.visibility import Decision
from sezzlee_mcp.errors import CallError, FieldProblem
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.budget import described, narrowing
from sezzlee_mcp.invoke.compose import ComposeContext, compose
from sezzlee_mcp.invoke.envelope import ToolResult, emit
from sezzlee_mcp.invoke.fields import Naming
from sezzlee_mcp.invoke.outcomes import CallFacts, map_response
from sezzlee_mcp.protocol.binding import InvokeCall, LoadCall, SearchCall
from sezzlee_mcp.protocol.metatools import MetaTool, input_schema
from sezzlee_mcp.search import Audience, detail, narrow
from sezzlee_mcp.snapshots import ContentGone, Entry, Snapshot

logger = logging.getLogger("sezzlee_mcp")

_SEARCH_NARROWING = described(input_schema(MetaTool.SEARCH), ("query", "limit", "detail", "tags"))


class CallHost:
    """The protocol's ``Host`` for one request: the generation it began with, and the caller it came from."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    @cached_property
    def _snapshot(self) -> Snapshot:
        return snapshots.current()

    def generation(self) -> int:
        return self._snapshot.generation

    def search(self, call: SearchCall) -> ToolResult:
        ranked = ranking.ranked(self._snapshot, call.query)
        found = narrow(self._snapshot.index, self._audience, ranked, tags=call.tags, limit=call.limit)
        entries = [self._snapshot.entries[name] for name in found.names]
        answer: dict[str, Any] = {"total": found.total}
        if found.tags is not None:
            answer["tags"] = list(found.tags)
        answer["results"] = self._schemas(entries) if call.wants_schema else self._cards(entries)
        return self._emit(answer, _SEARCH_NARROWING)

    def load(self, call: LoadCall) -> ToolResult:
        entry = self._snapshot.entries.get(call.name)
        if entry is None or not self._is_visible(entry):
            raise messages.unknown_tool(call.name)
        return self._emit(self._schemas([entry])[0])

    def invoke(self, call: InvokeCall) -> ToolResult:
        """The operation's answer. Visibility is not asked: the backend's own pipeline decides every call."""
        entry = self._snapshot.entries.get(call.name)
        if entry is None:
            raise messages.unknown_tool(call.name)
        if call.version is not None and call.version != entry.version:
            raise messages.tool_changed(call.name)
        if call.was_unwrapped:
            logger.info("The arguments of %s came as JSON text and were unwrapped.", entry.name)
        limit_bytes = conf.current().budget_bytes
        schema = self._loaded([entry])[0]["inputSchema"]
        template = self._template(entry)
        facts = CallFacts(
            naming=Naming.of(template, tuple(schema["properties"]), api_settings.NON_FIELD_ERRORS_KEY),
            has_identity=self._caller.has_identity,
            limit_bytes=limit_bytes,
            narrowing=narrowing(schema),
            login_url=_login_url(),
        )
        return emit(self._outcome(call, template, facts), limit_bytes=limit_bytes, narrowing=facts.narrowing)

    def refuse(self, error: CallError) -> ToolResult:
        return self._emit(error)

    def _outcome(self, call: InvokeCall, template: Template, facts: CallFacts) -> dict[str, Any] | CallError:
        request = self._caller.request
        try:
            context = ComposeContext(
                deferred=providers.deferred_values(template, request),
                carried_cookies=request.META.get("HTTP_COOKIE", ""),
            )
            composed = compose(template, call.arguments, context)
            for alias, name in composed.used_aliases:
                logger.info("%s was called with %s, an older name of %s.", call.name, alias, name)
            response = dispatch.dispatch(
                providers.with_files(composed, tool=call.name, user=self._caller.user),
                template,
                request,
                tool=call.name,
                limit_bytes=facts.limit_bytes,
                is_safe_from_forgery=self._caller.is_safe_from_forgery,
            )
            return map_response(response, facts)
        except CallError as error:
            return error
        except Exception:  # an edge: whatever else is a bug of ours, which the agent must not see
            logger.exception("invoke_tool %s failed.", call.name)
            return messages.internal_error()

    @cached_property
    def _audience(self) -> Audience:
        groups = self._snapshot.names_by_auth
        visible = (names for auth, names in groups.items() if self._shows(self._caller.decide(auth)))
        return Audience.of(self._snapshot.index, frozenset().union(*visible))

    def _is_visible(self, entry: Entry) -> bool:
        return self._shows(self._caller.decide(entry.auth))

    def _shows(self, decision: Decision) -> bool:
        return decision is Decision.ALLOW or (decision is Decision.UNKNOWN and conf.current().undecided == "show")

    def _is_uncertain(self, entry: Entry) -> bool:
        return self._caller.decide(entry.auth) is Decision.UNKNOWN

    def _cards(self, entries: Iterable[Entry]) -> list[dict[str, Any]]:
        cards = ((json.loads(entry.card), self._is_uncertain(entry)) for entry in entries)
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
            detail(shape, auth_uncertain=self._is_uncertain(entry))
            for shape, entry in zip(shapes, entries, strict=True)
        ]

    def _emit(self, outcome: dict[str, Any] | CallError, narrowed_by: tuple[FieldProblem, ...] = ()) -> ToolResult:
        return emit(outcome, limit_bytes=conf.current().budget_bytes, narrowing=narrowed_by)


def _login_url() -> str | None:
    """Where the host sends people to log in; None when the URLconf in force has no such page, as a tenant's may."""
    try:
        return resolve_url(settings.LOGIN_URL)
    except NoReverseMatch:
        return None
