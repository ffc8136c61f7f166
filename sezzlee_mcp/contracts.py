"""The contracts of this project: of what is published, and of what a sync would publish."""

from collections.abc import Iterable
from typing import Any

from sezzlee_mcp.aliases import Alias, today
from sezzlee_mcp.catalog.contracts import Contract
from sezzlee_mcp.models import Catalog, Revision, ToolContent
from sezzlee_mcp.sync import preview


def published() -> Contract | None:
    """What agents load now; None when nothing was ever published."""
    revision = Revision.objects.filter(generation=Catalog.objects.generation()).first()
    if revision is None:
        return None
    contents: Iterable[tuple[str, Any]] = ToolContent.objects.filter(left_generation=None).values_list("name", "loaded")
    aliases = {name: Alias.from_json(alias) for name, alias in revision.aliases.items()}
    return Contract(
        tools=dict(contents),
        aliases={name: alias.tool for name, alias in aliases.items() if alias.holds(today())},
    )


def candidate() -> Contract | None:
    """What agents would load after a sync of this code with these rows; None for a document that cannot be used."""
    draft = preview()
    if draft is None:
        return None
    tools = {tool.name: tool.loaded for tool in draft.candidate.tools}
    return Contract(tools=tools, aliases={name: alias.tool for name, alias in draft.answered_aliases.items()})
