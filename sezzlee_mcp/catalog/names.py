"""What the tools are called (tools.md, "Names"): folded routes, prefixes, collisions, names that stay."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sezzlee_mcp.catalog.curation import Curation, PrefixMode
from sezzlee_mcp.catalog.markers import read_markers
from sezzlee_mcp.catalog.seals import staff_of
from sezzlee_mcp.catalog.sources import Source, Value, overlaid
from sezzlee_mcp.catalog.variants import is_split, variants_of
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import Outline

LONG_NAME_CHARS = 64

_NAME = re.compile(r"[a-z][a-z0-9_]{0,255}")
_WORD_END = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+")
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_LASTING = frozenset({Source.STAFF, Source.CODE, Source.PUBLISHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    value: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """
    The name and the folded-away routes of each tool, by the key of the operation that it calls.

    ``variants`` hold the names of an operation's variants, whose own tool has none then. An operation that was
    dropped, or folded into another one's tool, is in no mapping; each drop, fold and added prefix is a diagnostic.
    """

    names: Mapping[str, Name]
    variants: Mapping[str, tuple[str, ...]]
    alternate_routes: Mapping[str, tuple[str, ...]]
    diagnostics: tuple[Diagnostic, ...] = ()


def name_operations(outlines: Iterable[Outline], curation: Curation) -> Naming:
    """
    The names of the selected operations, whatever the order of ``outlines``.

    A published name stays with its operation and moves to no other one by itself: a newcomer that would get it
    takes its container's prefix or is dropped. Only staff or a code marker can give it to another operation.
    """
    groups = _folded(outlines)
    claims = tuple(claim for group in groups for claim in _claims(group, curation))
    asked = _Contest(claims=claims, published=curation.published_names)
    contest = asked if curation.prefix_mode is not PrefixMode.ON_COLLISION else asked.disambiguated()
    judged = [(claim, contest.refusal(claim)) for claim in contest.claims]
    kept = [claim for claim, refusal in judged if refusal is None]
    variants: dict[str, tuple[str, ...]] = {}
    for claim in kept:
        if claim.is_variant:
            variants[claim.operation] = (*variants.get(claim.operation, ()), claim.name)
    return Naming(
        names={claim.operation: Name(value=claim.name, source=claim.source) for claim in kept if not claim.is_variant},
        variants=variants,
        alternate_routes={group[0].key: tuple(folded.route for folded in group[1:]) for group in groups},
        diagnostics=(
            *_folds(groups),
            *_disambiguations(asked.claims, contest.claims),
            *(refusal for _, refusal in judged if refusal is not None),
            *_long_names(kept),
        ),
    )


def own_name(outline: Outline, curation: Curation) -> Value[str]:
    """
    The name that an operation asks for, before its neighbours are looked at.

    What is beneath a name of staff's is never the published one, since that is staff's too.
    """
    chosen = staff_of(outline, curation).name
    marked = read_markers(outline).name
    if marked is not None:
        return overlaid(chosen, marked, Source.CODE)
    published = curation.published_names.get(outline.key)
    if chosen is None and published is not None:
        return overlaid(None, published, Source.PUBLISHED)
    body, source = _body(outline)
    if curation.prefix_mode is PrefixMode.ALWAYS:
        body = _prefixed(_prefix(outline, curation), body)
    return overlaid(chosen, body, source)


def snake_case(text: str) -> str:
    """``text`` in lower case with one underscore between its words; only ASCII letters and digits make words."""
    return _SEPARATORS.sub("_", _WORD_END.sub("_", text)).strip("_").lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """The name that one tool asks for; ``operations`` are those it stands for, the one that it calls first."""

    operations: tuple[str, ...]
    name: str
    source: Source
    prefix: str
    is_variant: bool = False

    @property
    def operation(self) -> str:
        return self.operations[0]

    def prefixed(self) -> "_Claim":
        return replace(self, name=_prefixed(self.prefix, self.name))


class _Contest:
    """Claims beside each other and beside the published names."""

    def __init__(self, *, claims: tuple[_Claim, ...], published: Mapping[str, str]) -> None:
        self.claims = claims
        self._published = published
        self._owners = {name: operation for operation, name in published.items()}
        self._claimants: dict[str, list[str]] = defaultdict(list)
        for claim in claims:
            self._claimants[claim.name].append(claim.operation)

    def disambiguated(self) -> "_Contest":
        """The same contest with a prefix on every name without a lasting source that has rivals."""
        clashing = {claim.operation for claim in self.claims if claim.source not in _LASTING and self._rivals(claim)}
        claims = tuple(claim.prefixed() if claim.operation in clashing else claim for claim in self.claims)
        return _Contest(claims=claims, published=self._published)

    def refusal(self, claim: _Claim) -> Diagnostic | None:
        """Why the claim gets no name, if it gets none."""
        if not _NAME.fullmatch(claim.name):
            return diagnose("invalid_name", operation=claim.operation, name=claim.name)
        rivals = self._rivals(claim)
        owns = self._owners.get(claim.name) in claim.operations and claim.operation not in rivals
        if not rivals or owns:
            return None
        others = ", ".join(self._introduced(rival, claim.name) for rival in rivals)
        return diagnose("name_collision", operation=claim.operation, name=claim.name, others=others)

    def _introduced(self, rival: str, name: str) -> str:
        """The rival, with the reason when it is one that asks for no name now: it left, or is hidden."""
        return rival if rival in self._claimants[name] else f"{rival}, for which it is kept although it is no tool now"

    def _rivals(self, claim: _Claim) -> list[str]:
        """
        The operations with the same name; for a name without a lasting source also the one it is published for.

        The operation itself is among them when two of its variants have the name.
        """
        claimants = self._claimants[claim.name]
        rivals = set(claimants)
        owner = self._owners.get(claim.name)
        if owner is not None and claim.source not in _LASTING:
            rivals.add(owner)
        repeated = {claim.operation} if claimants.count(claim.operation) > 1 else set()
        return sorted((rivals - set(claim.operations)) | repeated)


def _folded(outlines: Iterable[Outline]) -> list[tuple[Outline, ...]]:
    """The operations that are one tool, each group with the route that the tool calls first."""
    groups: dict[tuple[str | None, ...], list[Outline]] = defaultdict(list)
    for outline in outlines:
        operation_id = outline.operation_id
        identity = (outline.container, operation_id, outline.method) if operation_id else (outline.key,)
        groups[identity].append(outline)
    ordered = [tuple(sorted(group, key=lambda one: (len(one.route), one.route))) for group in groups.values()]
    return sorted(ordered, key=lambda group: group[0].key)


def _claims(group: tuple[Outline, ...], curation: Curation) -> tuple[_Claim, ...]:
    """The claim of a group's one tool, or those of its variants, whose names are absolute."""
    if not is_split(group[0], curation):
        return (_claim(group, curation),)
    operations, variants = tuple(outline.key for outline in group), variants_of(group[0], curation)
    return tuple(
        _Claim(operations=operations, name=variant.name, source=variants.source, prefix="", is_variant=True)
        for variant in variants.value
    )


def _claim(group: tuple[Outline, ...], curation: Curation) -> _Claim:
    operations = tuple(outline.key for outline in group)
    own = own_name(group[0], curation)
    claim = _Claim(operations=operations, name=own.value, source=own.source, prefix=_prefix(group[0], curation))
    if own.source in _LASTING:
        return claim
    published = (curation.published_names[key] for key in operations if key in curation.published_names)
    name = next(published, None)  # a shorter route may have come since, and the tool is still the same
    return claim if name is None else replace(claim, name=name, source=Source.PUBLISHED)


def _body(outline: Outline) -> tuple[str, Source]:
    body = snake_case(outline.operation_id or "")
    return (body, Source.DOCUMENT) if body else (_route_name(outline), Source.RULE)


def _route_name(outline: Outline) -> str:
    static = _VARIABLE.sub("/", outline.route)
    variables = " ".join(_VARIABLE.findall(outline.route))
    return snake_case(f"{outline.method.lower()} {static}" + (f" by {variables}" if variables else ""))


def _prefix(outline: Outline, curation: Curation) -> str:
    declared = read_markers(outline).prefix
    if declared is not None:
        return declared
    if outline.container is None:
        return ""
    ruled = curation.prefixes.get(outline.container)
    return _derived_prefix(outline.container) if ruled is None else ruled


def _derived_prefix(container: str) -> str:
    last = container.rpartition(".")[2]
    return snake_case(last.removesuffix("Controller"))


def _prefixed(prefix: str, body: str) -> str:
    return body if not prefix or _contains_run(_tokens(body), _tokens(prefix)) else f"{prefix}_{body}"


def _tokens(name: str) -> list[str]:
    return [token[:-1] if len(token) > 3 and token.endswith("s") else token for token in name.split("_")]


def _contains_run(tokens: list[str], run: list[str]) -> bool:
    return any(tokens[start : start + len(run)] == run for start in range(len(tokens) - len(run) + 1))


def _folds(groups: Iterable[tuple[Outline, ...]]) -> Iterator[Diagnostic]:
    for called, *folded in groups:
        if folded:
            routes = ", ".join(outline.route for outline in folded)
            yield diagnose("route_folded", operation=called.key, routes=routes, route=called.route)


def _disambiguations(asked: Iterable[_Claim], wanted: Iterable[_Claim]) -> Iterator[Diagnostic]:
    for before, after in zip(asked, wanted, strict=True):
        if before.name != after.name:
            yield diagnose("name_disambiguated", operation=after.operation, name=before.name)


def _long_names(claims: Iterable[_Claim]) -> Iterator[Diagnostic]:
    for claim in claims:
        if len(claim.name) > LONG_NAME_CHARS:
            yield diagnose("long_tool_name", operation=claim.operation, name=claim.name, length=len(claim.name))
