"""What staff look at of a whole catalog: read from what is published, so that nothing is compiled for it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from sezzlee_mcp import snapshots
from sezzlee_mcp.catalog.visibility import Answer, Decision, Identity, decide
from sezzlee_mcp.diagnostics import Severity
from sezzlee_mcp.models import Diagnostic, ToolAlias, ToolContent, ToolUse, VainWord
from sezzlee_mcp.openapi.descriptors import AuthFacts
from sezzlee_mcp.protocol.traces import OK
from sezzlee_mcp.search.cards import estimated_tokens
from sezzlee_mcp.search.descriptions import Described, Fault, abbreviations, faults
from sezzlee_mcp.snapshots import Snapshot
from sezzlee_mcp.vain_searches import Vain

LEAK = "curation_leaks_name"

_SAID = ("document__description", "document__searchTerms")
_COLUMNS = ("name", "operation_key", *_SAID, "is_variant", "findings", "card", "auth", "loaded_bytes")


class Uses(NamedTuple):
    """Calls of a tool as far as they are counted and kept, and those among them that an error answered."""

    calls: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedTool:
    """
    A published tool as the survey sees it; ``operation`` is the key of its operation.

    ``abbreviations`` are those of its route that nothing explains. ``is_undecided``: its auth facts alone tell of no
    caller whether he sees it.
    """

    name: str
    operation: str
    description: str
    faults: tuple[Fault, ...]
    abbreviations: tuple[str, ...]
    is_deprecated: bool
    is_undecided: bool
    loaded_bytes: int

    @property
    def tokens(self) -> int:
        """What the loaded shape costs an agent, as an estimate."""
        return estimated_tokens(self.loaded_bytes)


def published_tools() -> tuple[SurveyedTool, ...]:
    """All tools of the current revision, by name, in one query."""
    rows: list[tuple[Any, ...]] = list(
        ToolContent.objects.filter(left_generation=None).order_by("name").values_list(*_COLUMNS)
    )
    described = [
        Described(
            operation=operation,
            text=text,
            own_name=name if is_variant else "",
            has_terms=bool(terms),
            is_leaking=any(each["code"] == LEAK for each in findings),
        )
        for name, operation, text, terms, is_variant, findings, *_rest in rows
    ]
    return tuple(
        SurveyedTool(
            name=name,
            operation=operation,
            description=text,
            faults=found,
            abbreviations=short,
            is_deprecated="deprecated" in card,
            is_undecided=_is_undecided(AuthFacts.from_json(auth)),
            loaded_bytes=loaded_bytes,
        )
        for (name, operation, text, *_rest, card, auth, loaded_bytes), found, short in zip(
            rows, faults(described), abbreviations(described), strict=True
        )
    )


def _is_undecided(auth: AuthFacts) -> bool:
    """Whether even a caller whom every policy lets pass is left to the view's own check, or to the call."""
    passing = dict.fromkeys(auth.policies, Answer.ALLOW)
    return decide(auth, identity=Identity.PRESENT, policies=passing) is Decision.UNKNOWN


def uses() -> dict[str, Uses]:
    """The calls of each tool that was ever called, by its name of today, in one query."""
    renamed = ToolAlias.objects.filter(name=OuterRef("tool")).values("tool")
    counted = ToolUse.objects.filter(alias="", former_name="").order_by()
    named = counted.annotate(name=Coalesce(Subquery(renamed), "tool")).values("name")
    sums = named.annotate(total=Sum("calls"), failed=Sum("calls", filter=~Q(outcome=OK), default=0))
    return {name: Uses(calls, failures) for name, calls, failures in sums.values_list("name", "total", "failed")}


class VainlySearched(NamedTuple):
    """A word that searches came to nothing with, and the tools that are nearest to it, whoever may see them."""

    word: str
    vain: Vain
    nearest: tuple[str, ...]


def vain_words(at_most: int, nearest: int) -> list[VainlySearched]:
    """The words that most searches came to nothing with, those that found nothing first; the index is asked of each."""
    counted = VainWord.objects.order_by().values("word")
    sums = counted.annotate(nothing=Sum("unanswered"), left=Sum("unfollowed")).order_by("-nothing", "-left", "word")
    rows = list(sums.values_list("word", "nothing", "left")[:at_most])
    if not rows:
        return []
    snapshot = snapshots.current()
    return [
        VainlySearched(word=word, vain=Vain(nothing, left), nearest=_nearest(snapshot, word, nearest))
        for word, nothing, left in rows
    ]


def _nearest(snapshot: Snapshot, word: str, at_most: int) -> tuple[str, ...]:
    """By the contract's ranker: the host's own may take seconds, and a page asks about many words."""
    return tuple(islice(snapshot.rankers["contract"].rank(word, snapshot.entries.keys()), at_most))


class ListedTool(NamedTuple):
    """What a list of operations says of a published tool; ``operation`` is the key of its operation."""

    name: str
    operation: str
    tags: list[str]
    further_routes: list[str]


def listed_tools() -> list[ListedTool]:
    """All tools of the current revision, by name, in one query."""
    columns = ("name", "operation_key", "document__tags", "document__alternateRoutes")
    rows = ToolContent.objects.filter(left_generation=None).order_by("name").values_list(*columns)
    return [ListedTool(*row) for row in rows]


def selected_operations(tools: Iterable[ListedTool]) -> set[str]:
    """
    The keys of the exposed operations, as of the last publish.

    Each of them is a tool, or answers on a further route of one, or a diagnostic says what dropped it.
    """
    dropped = Diagnostic.objects.filter(stage=Diagnostic.Stage.CATALOG, severity=Severity.DROPPED).exclude(key="")
    keys = set(dropped.values_list("key", flat=True))
    for tool in tools:
        method = tool.operation.partition(" ")[0]
        keys.update((tool.operation, *(f"{method} {route}" for route in tool.further_routes)))
    return keys


def operations_of(tools: Iterable[SurveyedTool]) -> set[str]:
    """The keys of the operations of these tools; variants share theirs."""
    return {tool.operation for tool in tools}


def uncalled(tools: Iterable[SurveyedTool], used: Mapping[str, Uses]) -> list[SurveyedTool]:
    return [tool for tool in tools if tool.name not in used]
