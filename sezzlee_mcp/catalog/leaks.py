"""What a curated tool still says of the names that curation took from it: warnings, for staff to reword."""

import re
from collections.abc import Iterable, Iterator

from sezzlee_mcp.catalog.arguments import BODY, Argument
from sezzlee_mcp.catalog.bodies import BodyPlan
from sezzlee_mcp.diagnostics import Diagnostic, diagnose


def curation_warnings(
    arguments: Iterable[Argument], plan: BodyPlan | None, *, name: str, description: str, operation: str
) -> Iterator[Diagnostic]:
    """An open body that lets curated fields pass by, and each wire name that an agent still reads."""
    arguments = tuple(arguments)
    taken = [argument for argument in arguments if argument.is_hidden or argument.is_renamed]
    if plan is not None and plan.is_open and any(argument.location == BODY for argument in taken):
        yield diagnose("curated_open_body", operation=operation)
    for argument in taken:
        if _says(description, argument.name) or f"_{argument.name}_" in f"_{name}_":
            yield diagnose("curation_leaks_name", operation=operation, name=argument.name)
        for other in arguments:
            if not other.is_hidden and _says(_description(other), argument.name):
                yield diagnose(
                    "curation_leaks_name_in_argument", operation=operation, name=argument.name, argument=other.name
                )


def _description(argument: Argument) -> str:
    said = argument.schema.get("description") if isinstance(argument.schema, dict) else None
    return said if isinstance(said, str) else ""


def _says(text: str, name: str) -> bool:
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
