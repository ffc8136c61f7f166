"""The old names of renamed tools: found when a publish renames, kept for a window, answered from the revision."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Self

from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.catalog.compile import Known
from sezzlee_mcp.catalog.tools import Tool
from sezzlee_mcp.models import Operation, ToolAlias, ToolContent


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """Where an old name leads: to ``tool``, through the day ``until`` (UTC)."""

    tool: str
    until: date

    def holds(self, day: date) -> bool:
        return day <= self.until

    def to_json(self) -> dict[str, Any]:
        return {"tool": self.tool, "until": self.until.isoformat()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(tool=value["tool"], until=date.fromisoformat(value["until"]))


def today() -> date:
    return datetime.now(UTC).date()


def kept() -> dict[str, Alias]:
    """The aliases in the rows, by old name."""
    return {row.name: Alias(tool=row.tool, until=row.until) for row in ToolAlias.objects.all()}


def renames(before: Iterable[Known], after: Iterable[Known]) -> dict[str, str]:
    """
    {old name: new name} of the tools that changed nothing but their name, or little beside it.

    An operation's own tool is the same under any name. A variant is when it sends what the gone one sent: a caller of
    one family member must never reach another.
    """
    published, compiled = _by_name(before), _by_name(after)
    gone = _by_operation(tool for name, tool in published.items() if name not in compiled)
    new = _by_operation(tool for name, tool in compiled.items() if name not in published)
    pairs: dict[str, str] = {}
    for operation in gone.keys() & new.keys():
        own = [tool for tool in (*gone[operation], *new[operation]) if not tool.is_variant]
        if len(own) == 2:
            pairs[own[0].name] = own[1].name
        pairs.update(_variant_renames(gone[operation], new[operation]))
    return pairs


def followed(
    rows: Mapping[str, Alias], renamed: Mapping[str, str], names: Iterable[str], days: int
) -> dict[str, Alias]:
    """The aliases beside the tools ``names``: those there were, and for ``days`` those of the ``renamed`` tools."""
    tools, now = frozenset(names), today()
    moved = {name: replace(alias, tool=renamed.get(alias.tool, alias.tool)) for name, alias in rows.items()}
    until = now + timedelta(days=days)
    fresh = {old: Alias(tool=new, until=until) for old, new in renamed.items()} if days else {}
    return {name: alias for name, alias in {**moved, **fresh}.items() if name not in tools and alias.holds(now)}


def store(aliases: Mapping[str, Alias], operations: Mapping[str, str]) -> None:
    """Bring the rows to these aliases; ``operations`` are the keys of the tools' operations by the tools' names."""
    ToolAlias.objects.exclude(name__in=aliases).delete()
    rows = {row.name: row for row in ToolAlias.objects.all()}
    moved = [row for name, row in rows.items() if row.tool != aliases[name].tool]
    for row in moved:
        row.tool = aliases[row.name].tool
    ToolAlias.objects.bulk_update(moved, ["tool"], batch_size=500)
    fresh = {name: alias for name, alias in aliases.items() if name not in rows}
    keys = {operations[alias.tool] for alias in fresh.values()}
    ids = dict(Operation.objects.filter(key__in=keys).values_list("key", "pk"))
    ToolAlias.objects.bulk_create(
        [
            ToolAlias(name=name, tool=alias.tool, until=alias.until, operation_id=ids[operations[alias.tool]])
            for name, alias in fresh.items()
        ],
        batch_size=500,
    )


def _by_name(tools: Iterable[Known]) -> dict[str, Known]:
    return {tool.name: tool for tool in tools}


def _by_operation(tools: Iterable[Known]) -> dict[str, list[Known]]:
    found: dict[str, list[Known]] = defaultdict(list)
    for tool in tools:
        found[tool.operation].append(tool)
    return found


def _variant_renames(gone: Iterable[Known], new: Iterable[Known]) -> Iterator[tuple[str, str]]:
    """The variants that send the same requests from the same arguments, where no two do."""
    sent = _sending([tool for tool in gone if tool.is_variant]), _sending([tool for tool in new if tool.is_variant])
    for request in sent[0].keys() & sent[1].keys():
        if len(sent[0][request]) == len(sent[1][request]) == 1:
            yield sent[0][request][0], sent[1][request][0]


def _sending(variants: list[Known]) -> dict[bytes, list[str]]:
    """The names of variants by the template of their requests; those of published ones are read here."""
    compiled = {tool.name: tool.template.to_json() for tool in variants if isinstance(tool, Tool)}
    digests = [tool.content_digest for tool in variants if tool.name not in compiled]
    stored = dict(ToolContent.objects.filter(digest__in=digests).values_list("name", "template")) if digests else {}
    names: dict[bytes, list[str]] = defaultdict(list)
    for name, template in {**compiled, **stored}.items():
        names[canonical_json(template)].append(name)
    return names
