"""What the code says about an operation: its ``x-sezzlee`` object, read with its types checked."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import EXTENSION_KEY, Descriptor

HINTS = frozenset({"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Markers:
    """The code's choices for one operation; None says nothing. ``problems`` name the members that were ignored."""

    expose: bool | None = None
    name: str | None = None
    prefix: str | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None
    search_terms: tuple[str, ...] | None = None
    annotations: Mapping[str, bool] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def diagnostics(self, operation: str) -> Iterator[Diagnostic]:
        for problem in self.problems:
            yield diagnose("extension_invalid", operation=operation, key=EXTENSION_KEY, problem=problem)


def read_markers(descriptor: Descriptor) -> Markers:
    """The markers of an operation; a member of a wrong type or an unknown name is left out and named."""
    if descriptor.extension is None:
        return _NONE
    problems: list[str] = []
    read: dict[str, Any] = {}
    for key, value in descriptor.extension.items():
        if key not in _MEMBERS:
            problems.append(f"{key} is no member of it; it takes {', '.join(_MEMBERS)}")
        elif value is not None:
            field_name, reader = _MEMBERS[key]
            read[field_name] = reader(key, value, problems)
    return Markers(**{name: value for name, value in read.items() if value is not None}, problems=tuple(problems))


def _boolean(key: str, value: Any, problems: list[str]) -> bool | None:
    if isinstance(value, bool):
        return value
    problems.append(f"{key} must be true or false, not {_kind(value)}")
    return None


def _text(key: str, value: Any, problems: list[str]) -> str | None:
    if isinstance(value, str):
        return value
    problems.append(f"{key} must be a text, not {_kind(value)}")
    return None


def _texts(key: str, value: Any, problems: list[str]) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        problems.append(f"{key} must be a list of texts, not {_kind(value)}")
        return None
    wrong = [item for item in value if not isinstance(item, str)]
    if not wrong:
        return tuple(value)
    problems.append(f"{key} must be a list of texts, but it holds {_kind(wrong[0])}")
    return None


def _hints(key: str, value: Any, problems: list[str]) -> dict[str, bool] | None:
    if not isinstance(value, dict):
        problems.append(f"{key} must be an object of hints, not {_kind(value)}")
        return None
    unknown = sorted(set(value) - HINTS)
    problems.extend(f"{key}.{hint} is no hint; the hints are {', '.join(sorted(HINTS))}" for hint in unknown)
    known = {hint: _boolean(f"{key}.{hint}", said, problems) for hint, said in value.items() if hint in HINTS}
    return {hint: said for hint, said in known.items() if said is not None}


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return "a text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"


_MEMBERS: dict[str, tuple[str, Callable[[str, Any, list[str]], Any]]] = {
    "expose": ("expose", _boolean),
    "name": ("name", _text),
    "prefix": ("prefix", _text),
    "description": ("description", _text),
    "tags": ("tags", _texts),
    "searchTerms": ("search_terms", _texts),
    "annotations": ("annotations", _hints),
}
_NONE = Markers()
