"""The tools that change, each with its changes, as every page lists them."""

from collections.abc import Callable, Iterable, Mapping

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from sezzlee_mcp.admin.marks import CLASSES, SIDES, marks
from sezzlee_mcp.catalog.changes import Change

OPEN_CHANGES = 20  # more of them on a page are folded away

Address = Callable[[str], str]  # of a tool's page, by its name; "" where it has none


def listed(
    entries: Iterable[Change],
    of_tools: Mapping[str, Mapping[str, int]],
    *,
    page: Address,
    back: Address | None = None,
) -> SafeString:
    """
    The tools in the order of their first entries, with the numbers of all their changes by class.

    ``back`` is the page that rolls the operation of a tool back.
    """
    grouped: dict[str, list[Change]] = {}
    for change in entries:
        grouped.setdefault(change.tool, []).append(change)
    tools = [
        {
            "name": tool,
            "page": page(tool),
            "back": back(tool) if back else "",
            "marks": marks(of_tools[tool]),
            "changes": [
                {
                    "class": change.change_class.value,
                    "label": CLASSES[change.change_class],
                    "message": change.message_in(gettext),
                    "pointer": change.pointer,
                    "concerns": "; ".join(str(SIDES[side]) for side in change.concerns),
                }
                for change in of_tool
            ],
            "left_out": sum(of_tools[tool].values()) - len(of_tool),
        }
        for tool, of_tool in grouped.items()
    ]
    is_open = sum(map(len, grouped.values())) <= OPEN_CHANGES
    return render_to_string("admin/sezzlee_mcp/changed_tools.html", {"tools": tools, "is_open": is_open})
