"""What a rollback holds: tools that stay as they are published, whatever the rows come to, until staff resume."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sezzlee_mcp.catalog.compile import Candidate, Known
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.models import Catalog, Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """``catalog`` is the generation that everything was rolled back to, ``operations`` are those of single ones."""

    catalog: int | None
    operations: dict[str, int]

    def over(self, candidate: Candidate, published: Iterable[Known]) -> Candidate:
        """The candidate with what is published in place of what it says about what is held."""
        if self.catalog is not None:
            return replace(candidate, tools=_by_name(published), names={})
        if not self.operations:
            return candidate
        held = {tool.name: tool for tool in published if tool.operation in self.operations}
        others = [tool for tool in candidate.tools if tool.operation not in self.operations]
        return replace(
            candidate,
            tools=_by_name([*held.values(), *(tool for tool in others if tool.name not in held)]),
            names={key: name for key, name in candidate.names.items() if key not in self.operations},
            diagnostics=tuple(
                sorted(
                    [*candidate.diagnostics, *_collisions(others, held)],
                    key=lambda found: found.operation,
                )
            ),
        )


def kept() -> Holds:
    """The holds in the rows."""
    catalog = Catalog.objects.values_list("held_generation", flat=True).filter(pk=Catalog.ONLY).first()
    held = Operation.objects.exclude(held_generation=None).only("key", "held_generation")
    return Holds(catalog=catalog, operations=among(held))


def among(operations: Iterable[Operation]) -> dict[str, int]:
    """The generations that these operations were rolled back to one by one, by key."""
    return {each.key: each.held_generation for each in operations if each.held_generation is not None}


def _by_name(tools: Iterable[Known]) -> tuple[Known, ...]:
    return tuple(sorted(tools, key=lambda tool: tool.name))


def _collisions(others: Sequence[Known], held: dict[str, Known]) -> Iterator[Diagnostic]:
    """Tools that cannot be published under a name while a held one has it."""
    for tool in others:
        if tool.name in held:
            yield diagnose("name_collision", operation=tool.operation, name=tool.name, others=held[tool.name].operation)
