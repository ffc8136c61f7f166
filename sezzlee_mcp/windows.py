"""Windows that may close: old names and deprecated tools that no call used for some days (publishing.md)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from enum import StrEnum
from typing import NamedTuple

from django.db.models import Max, Q, Sum

from sezzlee_mcp.aliases import today
from sezzlee_mcp.models import ArgumentCuration, ToolAlias, ToolUse
from sezzlee_mcp.survey import SurveyedTool


class WindowKind(StrEnum):
    TOOL_ALIAS = "tool_alias"
    ARGUMENT_ALIAS = "argument_alias"
    DEPRECATED = "deprecated"


class WindowUses(NamedTuple):
    """Calls through a window as far as they are counted and kept, and the day (UTC) of the last."""

    calls: int = 0
    last: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """
    Something that is kept for those agents only that still use it.

    ``name`` is the old name of a tool or an argument, or the deprecated tool; ``tools`` are those that it reaches, none
    for the old name of a tool that is gone. ``until`` is the day that staff gave it. ``row`` is the ToolAlias, or the
    ArgumentCuration, that holds the old name; a deprecated tool has none.
    """

    kind: WindowKind
    name: str
    tools: tuple[SurveyedTool, ...]
    uses: WindowUses
    until: date | None = None
    row: ToolAlias | ArgumentCuration | None = None

    @property
    def is_gone(self) -> bool:
        return not self.tools


def closable(tools: Iterable[SurveyedTool], days: int) -> list[Window]:
    """
    The windows that no call used in the last ``days`` days, in three queries; ``tools`` are all that are published.

    A tool's old name that is younger than that is none of them, unless the tool is gone: nothing can use the name then.
    Since when an argument has an older name, or a tool is deprecated, no row says. Older names from the code of views
    are not among them: the code ends those.
    """
    tools, since = tuple(tools), today() - timedelta(days=days)
    found = [window for window in _windows(tools, since) if window.is_gone or _is_unused(window, since)]
    return sorted(found, key=lambda window: (list(WindowKind).index(window.kind), not window.is_gone, window.name))


def _is_unused(window: Window, since: date) -> bool:
    return window.uses.last is None or window.uses.last < since


def _windows(tools: tuple[SurveyedTool, ...], since: date) -> Iterator[Window]:
    by_name = {tool.name: tool for tool in tools}
    of_operation: dict[str, list[SurveyedTool]] = defaultdict(list)
    for tool in tools:
        of_operation[tool.operation].append(tool)
    aliases = list(ToolAlias.objects.all())
    uses = _Uses({alias.name: alias.tool for alias in aliases}, [tool.name for tool in tools if tool.is_deprecated])
    for alias in aliases:
        reached = tuple(by_name[name] for name in [alias.tool] if name in by_name)
        if not reached or alias.created_at.astimezone(UTC).date() < since:
            yield Window(
                kind=WindowKind.TOOL_ALIAS,
                name=alias.name,
                tools=reached,
                uses=uses.of_former_name(alias.name),
                until=alias.until,
                row=alias,
            )
    records = ArgumentCuration.objects.exclude(deprecated_aliases=[]).select_related("operation", "variant")
    for record in records:
        reached = _reached(record, by_name, of_operation)
        for name in record.deprecated_aliases if reached else ():
            yield Window(
                kind=WindowKind.ARGUMENT_ALIAS,
                name=name,
                tools=reached,
                uses=uses.of_argument(name, reached),
                until=record.aliases_until,
                row=record,
            )
    for tool in tools:
        if tool.is_deprecated:
            yield Window(kind=WindowKind.DEPRECATED, name=tool.name, tools=(tool,), uses=uses.of_tool(tool.name))


def _reached(
    record: ArgumentCuration, by_name: dict[str, SurveyedTool], of_operation: dict[str, list[SurveyedTool]]
) -> tuple[SurveyedTool, ...]:
    if record.operation is not None:
        return tuple(of_operation.get(record.operation.key, ()))
    names = [record.variant.name] if record.variant is not None else []
    return tuple(by_name[name] for name in names if name in by_name)


class _Uses:
    """The counts that windows ask for, by the tools' names of today."""

    def __init__(self, names: dict[str, str], deprecated: list[str]) -> None:
        self._found: dict[tuple[str, str, str], WindowUses] = {}
        former = [old for old, name in names.items() if name in deprecated]
        asked = ~Q(alias="") | ~Q(former_name="") | Q(tool__in=[*deprecated, *former])
        counted = ToolUse.objects.filter(asked).order_by().values("tool", "alias", "former_name")
        rows = counted.annotate(total=Sum("calls"), last=Max("day"))
        for tool, alias, former_name, calls, last in rows.values_list("tool", "alias", "former_name", "total", "last"):
            # Whichever tool an old name led to then, it is one name.
            key = ("" if former_name else names.get(tool, tool), alias, former_name)
            self._found[key] = _sum([self._found.get(key, WindowUses()), WindowUses(calls, last)])

    def of_tool(self, tool: str) -> WindowUses:
        return self._found.get((tool, "", ""), WindowUses())

    def of_argument(self, alias: str, tools: Iterable[SurveyedTool]) -> WindowUses:
        return _sum([self._found.get((tool.name, alias, ""), WindowUses()) for tool in tools])

    def of_former_name(self, name: str) -> WindowUses:
        return self._found.get(("", "", name), WindowUses())


def _sum(uses: list[WindowUses]) -> WindowUses:
    days = [each.last for each in uses if each.last is not None]
    return WindowUses(sum(each.calls for each in uses), max(days, default=None))
