"""What an agent would find, load and send, for staff who try it: nothing is sent, and nothing is remembered."""

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from django.conf import settings
from django.utils import translation

from sezzlee_mcp import conf, ranking, snapshots
from sezzlee_mcp.caller_cache import Known, KnownToAll
from sezzlee_mcp.callers import Caller
from sezzlee_mcp.calls import CallHost
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.errors import CallError
from sezzlee_mcp.handler import misrouting
from sezzlee_mcp.inner_request import Outgoing, inner_request
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.invoke.envelope import emit
from sezzlee_mcp.models import ToolContent
from sezzlee_mcp.protocol.binding import InvokeCall, LoadCall, bind
from sezzlee_mcp.protocol.metatools import MetaTool
from sezzlee_mcp.ranking import Ranker
from sezzlee_mcp.rollbacks import undone
from sezzlee_mcp.search import Audience, Ranked, Ranking, Score, corrected_query, detail, is_ranked, narrow
from sezzlee_mcp.sight import Sight
from sezzlee_mcp.snapshots import Snapshot

logger = logging.getLogger("sezzlee_mcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """
    A tool where a ranker puts it.

    ``number`` counts from 1; None for a tool that the query does not find. ``score`` is None under a ranker that says
    none. ``expected`` is what a search case names the tool by: its operation, or its name where that has several.
    """

    number: int | None
    name: str
    description: str
    expected: str
    is_uncertain: bool
    score: Score | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """
    What a search finds under one ranker, or the ``error`` with which that failed.

    ``sought`` is the tool that was asked about, where it is not among the ``places``; its number is the one that it
    has before any view is asked. ``corrected`` are words of the query, each with the one that was also searched for.
    """

    ranker: str
    is_in_force: bool
    places: tuple[Place, ...] = ()
    corrected: Mapping[str, str] = field(default_factory=dict)
    sought: Place | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """
    The request of a call as it would be sent, beside what it takes over from the agent's own.

    ``target`` is percent-encoded path and query. ``body`` is None without one, and while ``files`` are missing: those
    which the project's resolver gives when the call is sent.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, call: Outgoing) -> "Sent":
        request = inner_request(call)
        query = f"?{call.composed.query}" if call.composed.query else ""
        return cls(
            method=call.composed.method,
            target=f"{call.path}{query}",
            headers=tuple((name, value) for name, value in request.headers.items() if name != "Host"),
            body=call.composed.body,
            files=tuple(file.content for file in call.composed.references),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What became of a call: the request that it makes, the envelope of what refuses it, or both where routes do."""

    sent: Sent | None = None
    refusal: Any = None


class Playground:
    """
    The current generation as ``caller``'s agent meets it; without a caller it is nobody's, and all of it is seen.

    The host's code is asked as for an explanation: what it does is undone, and what it says is forgotten, since
    there is no request of the caller's for it to see.
    """

    def __init__(self, caller: Caller | None) -> None:
        self._caller = caller
        self._snapshot = snapshots.current()
        self._known = Known(generation=KnownToAll(snapshot=self._snapshot))
        self._sight = None if caller is None else Sight(caller, self._snapshot, self._known)

    @cached_property
    def _audience(self) -> Audience:
        if self._sight is None:
            return Audience.of(self._snapshot.index, self._snapshot.entries.keys())
        return self._sight.audience

    @property
    def total(self) -> int:
        """How many tools nothing declared hides; a view's own check may still hide one of them."""
        return len(self._audience.names)

    def shows(self, name: str) -> bool:
        entry = self._snapshot.find(name)
        return entry is not None and (self._sight is None or self._sight.shows(entry))

    def search(self, query: str, *, tags: Sequence[str] = (), limit: int, sought: str = "") -> list[Listing]:
        """
        What every ranker finds, first the one that agents are answered by.

        ``sought`` is the name of a tool that is to be told of wherever it is.
        """
        entry = self._snapshot.find(sought)
        found = [self._found(name, ranker, query, tags, limit) for name, ranker in ranking.rankers().items()]
        told = {name for one in found for name in one.names} | ({entry.name} if entry else set())
        tools = _Tools(self._snapshot, told)
        listings = []
        for one in sorted(found, key=lambda one: one.ranker != ranking.in_force()):
            place = partial(self._place, tools, one.ranker, corrected_query(query, one.corrected))
            is_elsewhere = entry is not None and entry.name not in one.names and not one.error
            listings.append(
                Listing(
                    ranker=one.ranker,
                    is_in_force=one.ranker == ranking.in_force(),
                    places=tuple(place(name, number) for number, name in enumerate(one.names, start=1)),
                    corrected=one.corrected,
                    sought=place(entry.name, self._number(one, tags, entry.name)) if entry and is_elsewhere else None,
                    error=one.error,
                )
            )
        return listings

    def load(self, name: str) -> Any:
        """What load_tool answers."""
        if self._caller is not None:
            return _answered(CallHost(self._caller, self._known), LoadCall(name=name))
        entry = self._snapshot.find(name)
        return _envelope(messages.unknown_tool(name)) if entry is None else detail(snapshots.loaded_shapes([entry])[0])

    def _found(self, name: str, ranker: Ranker, query: str, tags: Sequence[str], limit: int) -> "_Found":
        try:
            ranked = ranker(self._snapshot, query)
        except Exception as error:  # an edge: the ranker may be the host's
            logger.warning("The ranker %s failed.", name, exc_info=error)
            return _Found(ranker=name, error=f"{type(error).__name__}: {error}")
        if self._sight is None:
            found = narrow(self._snapshot.index, self._audience, ranked, tags=tags, limit=limit)
        else:
            found = self._sight.found(ranked, tags=tags, limit=limit)
        return _Found(ranker=name, names=found.names, ranked=ranked, corrected=found.corrected)

    def _number(self, found: "_Found", tags: Sequence[str], name: str) -> int | None:
        """The place of a tool among all that are found before a view is asked."""
        everything = narrow(self._snapshot.index, self._audience, found.ranked, tags=tags, limit=self.total).names
        return everything.index(name) + 1 if name in everything else None

    def _place(self, tools: "_Tools", ranker: str, query: str, name: str, number: int | None) -> Place:
        built_in = self._snapshot.rankers.get(ranker)
        entry = self._snapshot.entries[name]
        return Place(
            number=number,
            name=name,
            description=json.loads(entry.card)["description"],
            expected=tools.expected(name),
            is_uncertain=self._sight is not None and self._sight.is_uncertain(entry),
            score=built_in.explain(query, tools.documents[name]) if built_in and is_ranked(query) else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What one ranker found: what of it is shown, and all of it."""

    ranker: str
    names: tuple[str, ...] = ()
    ranked: Ranked = Ranking(names=()).order
    corrected: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


class _Tools:
    """What a snapshot does not hold of some of its tools."""

    def __init__(self, snapshot: Snapshot, names: Iterable[str]) -> None:
        digests = [snapshot.entries[name].digest for name in names]
        rows = ToolContent.objects.filter(digest__in=digests).values_list("name", "operation_key", "document")
        self._keys = {name: key for name, key, _ in rows}
        self.documents = {name: SearchDocument.from_json(document) for name, _, document in rows}
        siblings = ToolContent.objects.filter(left_generation=None, operation_key__in=set(self._keys.values()))
        self._tools_of = Counter(siblings.values_list("operation_key", flat=True))

    def expected(self, name: str) -> str:
        key = self._keys[name]
        return name if self._tools_of[key] > 1 else key


def compose(caller: Caller, name: str, arguments: Any) -> Trial:
    """
    The request that a call of invoke_tool makes, which is not sent.

    It is the same for every caller but for what providers give; what else they do is undone. The routes of the project
    are asked where it leads, without the middleware that may change them.
    """
    return undone(partial(_compose, caller, name, arguments), caller.request)


def _compose(caller: Caller, name: str, arguments: Any) -> Trial:
    translation.activate(settings.LANGUAGE_CODE)  # that of an agent that asks for none
    try:
        call = bind(MetaTool.INVOKE, {"name": name, "arguments": arguments})
        assert isinstance(call, InvokeCall)  # noqa: S101  (narrows the type: it is what that meta-tool binds to)
        outgoing = CallHost(caller).compose(call)
    except CallError as error:
        return Trial(refusal=_envelope(error))
    astray = misrouting(inner_request(outgoing), outgoing)
    return Trial(sent=Sent.of(outgoing), refusal=None if astray is None else _envelope(astray))


def _answered(host: CallHost, call: LoadCall) -> Any:
    try:
        return json.loads(host.load(call).text)
    except CallError as error:
        return _envelope(error)


def _envelope(error: CallError) -> Any:
    return json.loads(emit(error, limit_bytes=conf.current().budget_bytes).text)
