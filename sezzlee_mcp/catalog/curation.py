"""What staff and settings say about operations, as values: the second input of a compile beside the descriptors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class PrefixMode(StrEnum):
    """When a name takes its container's prefix (tools.md, "Names")."""

    ALWAYS = "always"
    ON_COLLISION = "on_collision"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCuration:
    """
    Staff's choices for one operation.

    None inherits the value beneath (code marker, then document); an empty value means empty.
    """

    exposed: bool | None = None
    name: str | None = None
    description: str | None = None
    title: str | None = None
    annotations: Mapping[str, bool] = field(default_factory=dict)
    tags: tuple[str, ...] | None = None
    search_terms: tuple[str, ...] | None = None
    budget_bytes: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "exposed": self.exposed,
            "name": self.name,
            "description": self.description,
            "title": self.title,
            "annotations": dict(self.annotations),
            "tags": None if self.tags is None else list(self.tags),
            "searchTerms": None if self.search_terms is None else list(self.search_terms),
            "budgetBytes": self.budget_bytes,
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

    def of(self, operation: str) -> OperationCuration:
        """Staff's choices for the operation with this key; none made is a curation that inherits all."""
        return self.operations.get(operation) or _UNTOUCHED


_UNTOUCHED = OperationCuration()
