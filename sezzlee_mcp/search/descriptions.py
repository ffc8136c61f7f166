"""What keeps a description from helping agents to find and choose its tool; each fault is for staff to mend."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from sezzlee_mcp.folding import fold
from sezzlee_mcp.search.cards import CARD_DESCRIPTION_CHARS
from sezzlee_mcp.search.tokens import tokenize
from sezzlee_mcp.search.verbs import Verbs

SHORTEST_CHARS = 20  # "List all open orders"; below that little but the name is said again

_WRITES = ("POST", "PUT", "PATCH", "DELETE")
_LISTS = re.compile(r"(?:a list of|lists?\b|(?:get|retrieve|return|fetch|show)(?:s|es)? (?:a|the) list of)")
_STEM_CHARS = 4  # of "category" and "categories" the beginning is the same; shorter words lose their s alone
# So many letters has an abbreviation; as many as the longest has many a word too, which so many texts would say once.
_ABBREVIATION_CHARS = range(2, 5)
_TEXTS_THAT_WOULD_SAY_IT = 10
# Short words of routes that are none, and abbreviations that every model spells out.
_KNOWN = frozenset(
    tokenize(
        "add all any api app back bulk by code copy core count csv data date dns down draft dry edit end file find "
        "fix form from get go groups hide home html http https icon id image in info ip ips item json key last link "
        "list load lock log login main make map me merge move my name new next node note of off on open out page part "
        "pdf play poll pool post pull push put read redo rest role rss rule run save seed send set show site size sms "
        "sort sql ssh ssl start state step stop sync tag task team test text time tls to tree type ui undo up url use "
        "user view vpn wait web with word work xml zip"
    )
)


_VERBS = Verbs()  # what a tool does says nothing of what it is about


class Fault(StrEnum):
    """The worst first."""

    MISSING = "missing"  # nobody wrote one, so method and route stand for it
    LISTING = "listing"  # it says that it lists, and its method writes
    SIBLING = "sibling"  # it says what another method or route of its resource says
    SHORT = "short"
    REPEATED = "repeated"  # it says what a tool of another resource says, so it helps to choose neither
    UNNAMED = "unnamed"  # it does not say what its resource is called
    LEAKING = "leaking"  # it says a name that curation took away
    CLIPPED = "clipped"  # its card ends in the middle of it


@dataclass(frozen=True, kw_only=True)
class Described:
    """
    A tool's description, and the key of its operation: method and route.

    ``own_name`` is that of a variant, which was chosen for it and says what it is about beside the route. ``has_terms``
    says that it is found by search terms too; ``is_leaking`` is what the compile found of it (``curation_leaks_name``).
    """

    operation: str
    text: str
    own_name: str = ""
    has_terms: bool = False
    is_leaking: bool = False

    @property
    def is_missing(self) -> bool:
        return self.text.strip() in ("", self.operation)

    @cached_property
    def folded(self) -> str:
        return " ".join(fold(self.text).split())

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(tokenize(self.text))

    @property
    def method(self) -> str:
        return self.operation.partition(" ")[0]

    @cached_property
    def segments(self) -> tuple[str, ...]:
        return tuple(segment for segment in self.operation.partition(" ")[2].split("/") if segment)

    @cached_property
    def route_words(self) -> frozenset[str]:
        return frozenset(word for segment in self.segments if not _is_variable(segment) for word in tokenize(segment))

    @property
    def resource(self) -> tuple[str, ...]:
        """The segments that the routes of one resource have in common: all but a variable at the end."""
        return self.segments[:-1] if self.segments and _is_variable(self.segments[-1]) else self.segments


def faults(tools: Iterable[Described]) -> list[tuple[Fault, ...]]:
    """The faults of each description, in the order of ``tools``; texts that fold alike repeat each other."""
    tools = tuple(tools)
    catalog = _Catalog(tools)
    return [_faults(tool, catalog) for tool in tools]


def abbreviations(tools: Iterable[Described]) -> list[tuple[str, ...]]:
    """
    The abbreviations in the route of each tool, in the order of ``tools``, that nothing explains.

    They are no faults of a description: whatever stands behind one in the routes has them all, and one search term
    given to all of those explains it.
    """
    tools = tuple(tools)
    catalog = _Catalog(tools)
    return [() if tool.is_missing else catalog.unexplained(tool) for tool in tools]


class _Catalog:
    """What the descriptions of a catalog say together."""

    def __init__(self, tools: Iterable[Described]) -> None:
        spoken = [tool for tool in tools if not tool.is_missing]
        self._times = Counter(tool.folded for tool in spoken)
        self._times_of_resource = Counter((tool.resource, tool.folded) for tool in spoken)
        self._words: frozenset[str] = frozenset().union(*(tool.words for tool in spoken))
        self._in_routes = Counter(word for tool in spoken for word in tool.route_words)
        self._collections = {
            tool.segments[:place]
            for tool in tools
            for place, segment in enumerate(tool.segments)
            if _is_variable(segment)
        }

    def repeats_a_sibling(self, tool: Described) -> bool:
        return self._times_of_resource[tool.resource, tool.folded] > 1

    def repeats_another(self, tool: Described) -> bool:
        return self._times[tool.folded] > self._times_of_resource[tool.resource, tool.folded]

    def names_its_resource(self, tool: Described) -> bool:
        """Whether the description has a word of what the tool is about; known words are about nothing."""
        words = [word for segment in self._naming(tool) for word in tokenize(segment)]
        own = [word for word in tokenize(tool.own_name) if word not in _KNOWN and word not in _VERBS]
        letters = "".join(filter(str.isalnum, tool.folded))  # "rack types" is what "/racktypes/" is about
        return _KNOWN.issuperset(words) or any(_stem(word) in letters for word in [*words, *own])

    def _naming(self, tool: Described) -> Iterator[str]:
        """
        The segments that say what the route is about: the last, and the one before where it is something of that.

        It is where a variable stands between them, and where none stands behind it in any route, as in
        ``/orders/export/``.
        """
        fixed = [place for place, segment in enumerate(tool.segments) if not _is_variable(segment)][-2:]
        if not fixed:
            return
        yield tool.segments[fixed[-1]]
        is_of_another = fixed[-1] - fixed[0] > 1 or tool.segments[: fixed[-1] + 1] not in self._collections
        if is_of_another:
            yield tool.segments[fixed[0]]

    def unexplained(self, tool: Described) -> tuple[str, ...]:
        """The abbreviations of the route that the description does not say, and no search term may explain."""
        unsaid = () if tool.has_terms else sorted(tool.route_words - tool.words - _KNOWN)
        return tuple(filter(self._is_abbreviation, unsaid))

    def _is_abbreviation(self, word: str) -> bool:
        """Short, and without a vowel, or said by no description where some would say it if it were a word."""
        if len(word) not in _ABBREVIATION_CHARS or not word.isalpha():
            return False
        is_rare = len(word) == _ABBREVIATION_CHARS[-1] and self._in_routes[word] < _TEXTS_THAT_WOULD_SAY_IT
        return _has_no_vowel(word) or (word not in self._words and not is_rare)


def _faults(tool: Described, catalog: _Catalog) -> tuple[Fault, ...]:
    if tool.is_missing:
        return (Fault.MISSING,)
    found = {
        Fault.LISTING: tool.method in _WRITES and bool(_LISTS.match(tool.folded)),
        Fault.SIBLING: catalog.repeats_a_sibling(tool),
        Fault.SHORT: len(tool.text.strip()) < SHORTEST_CHARS,
        Fault.REPEATED: catalog.repeats_another(tool),
        Fault.UNNAMED: not catalog.names_its_resource(tool),
        Fault.LEAKING: tool.is_leaking,
        Fault.CLIPPED: len(tool.text) > CARD_DESCRIPTION_CHARS,
    }
    return tuple(fault for fault, applies in found.items() if applies)


def _is_variable(segment: str) -> bool:
    return "{" in segment


def _stem(word: str) -> str:
    """What its singular and its plural have in common."""
    return word.removesuffix("s") if len(word) <= _STEM_CHARS else word[: max(_STEM_CHARS, len(word) - 2)]


def _has_no_vowel(word: str) -> bool:
    return word.isascii() and not set(word) & set("aeiouy")
