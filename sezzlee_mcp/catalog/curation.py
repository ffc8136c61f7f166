"""What staff and settings say about operations, as values: the second input of a compile beside the descriptors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from sezzlee_mcp.openapi.descriptors import AuthFacts


class PrefixMode(StrEnum):
    """When a name takes its container's prefix (tools.md, "Names")."""

    ALWAYS = "always"
    ON_COLLISION = "on_collision"
    NEVER = "never"


class FillKind(StrEnum):
    """Where the value of a hidden argument comes from (curation.md, "One record per wire name")."""

    CONSTANT = "constant"
    DEFERRED = "deferred"  # a named provider, asked once per call
    OMIT = "omit"  # nothing is sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """What a hidden argument sends: ``value`` of a constant, the provider's name ``source`` of a deferred one."""

    kind: FillKind
    value: Any = None
    source: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind.value, "value": self.value, "source": self.source}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(kind=FillKind(value["kind"]), value=value["value"], source=value["source"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentRecord:
    """What staff say about one argument; ``name`` is its wire name, ``agent_name`` what the agent sends instead."""

    name: str
    agent_name: str | None = None
    description: str | None = None
    fill: Fill | None = None
    deprecated_aliases: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "as": self.agent_name,
            "description": self.description,
            "hidden": self.fill and self.fill.to_json(),
            "deprecatedAliases": list(self.deprecated_aliases),
        }


def _sorted(records: Iterable[ArgumentRecord]) -> list[dict[str, Any]]:
    """Records by name, since the order that a database gives them in means nothing."""
    return [record.to_json() for record in sorted(records, key=lambda record: record.name)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentRule:
    """
    The same for every argument that the globs match (curation.md, "Rules over many operations").

    A None field names nothing and matches everything. Exactly one of ``fill``, ``description`` and ``prefix``
    says what to do; a deferred fill is none of a rule's.
    """

    argument: str
    route: str | None = None
    location: str | None = None
    fill: Fill | None = None
    description: str | None = None
    prefix: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "argument": self.argument,
            "route": self.route,
            "location": self.location,
            "hidden": self.fill and self.fill.to_json(),
            "description": self.description,
            "prefix": self.prefix,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """
    One of several tools of an operation, with an absolute name.

    ``arguments`` replace the operation's records name by name, whole. ``body`` is a family member's own
    self-contained schema, ``body_required`` whether that body has to be sent.
    """

    name: str
    description: str
    arguments: tuple[ArgumentRecord, ...] = ()
    body: dict[str, Any] | None = None
    body_required: bool = True
    annotations: Mapping[str, bool] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "arguments": _sorted(self.arguments),
            "body": self.body,
            "bodyRequired": self.body_required,
            "annotations": dict(self.annotations),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCuration:
    """
    Staff's choices for one operation.

    None inherits the value beneath (code marker, then document; for the two limits of a call, the setting); an empty
    value means empty. A deadline of 0 is none.
    """

    exposed: bool | None = None
    name: str | None = None
    description: str | None = None
    title: str | None = None
    annotations: Mapping[str, bool] = field(default_factory=dict)
    tags: tuple[str, ...] | None = None
    search_terms: tuple[str, ...] | None = None
    deadline_seconds: float | None = None
    budget_bytes: int | None = None
    arguments: tuple[ArgumentRecord, ...] = ()
    variants: tuple[Variant, ...] = ()
    family_parameter: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "exposed": self.exposed,
            "name": self.name,
            "description": self.description,
            "title": self.title,
            "annotations": dict(self.annotations),
            "tags": None if self.tags is None else list(self.tags),
            "searchTerms": None if self.search_terms is None else list(self.search_terms),
            "deadlineSeconds": self.deadline_seconds,
            "budgetBytes": self.budget_bytes,
            "arguments": _sorted(self.arguments),
            "variants": [variant.to_json() for variant in self.variants],
            "familyParameter": self.family_parameter,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRule:
    """
    ``{route glob, method, decision}``; a None field names nothing and matches everything.

    In ``route``, ``*`` matches inside a segment and ``**`` across segments (tools.md, "Selection").
    """

    include: bool
    route: str | None = None
    method: str | None = None

    def __str__(self) -> str:
        return f"{self.method or '*'} {self.route or '**'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibilityPolicy:
    """
    What staff ask of callers beside what the views ask, so that it can only hide more.

    It concerns the tools of ``operations`` (by key), those that carry one of ``tags``, and those whose route fits
    one of ``routes`` (globs as in ``SelectionRule``).
    """

    name: str
    auth: AuthFacts
    operations: frozenset[str] = frozenset()
    tags: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """
    Everything that a compile reads beside the descriptors.

    ``operations`` and ``published_names`` are by operation key, ``containers`` and ``prefixes`` by container.
    ``published_names`` are those of the current revision: a published name stays (tools.md, "Names", 0).
    """

    operations: Mapping[str, OperationCuration] = field(default_factory=dict)
    containers: Mapping[str, bool] = field(default_factory=dict)
    rules: tuple[SelectionRule, ...] = ()
    exposed_by_default: bool = False
    published_names: Mapping[str, str] = field(default_factory=dict)
    prefix_mode: PrefixMode = PrefixMode.ON_COLLISION
    prefixes: Mapping[str, str] = field(default_factory=dict)
    budget_bytes: int = 262_144
    argument_rules: tuple[ArgumentRule, ...] = ()
    fill_sources: frozenset[str] = frozenset()  # the names of the host's providers
    policies: tuple[VisibilityPolicy, ...] = ()
    sealed: frozenset[str] = frozenset()  # what staff cannot choose for any operation, in the words of ``SEALABLE``
    resolves_files: bool = False  # whether a file argument may be a reference that the host resolves

    def of(self, operation: str) -> OperationCuration:
        """Staff's choices for the operation with this key; none made is a curation that inherits all."""
        return self.operations.get(operation) or _UNTOUCHED


_UNTOUCHED = OperationCuration()
