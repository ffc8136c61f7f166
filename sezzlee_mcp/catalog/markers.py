"""What the code says about an operation: its ``x-sezzlee`` object, read with its types checked."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sezzlee_mcp.catalog.curation import ArgumentRecord, Fill, FillKind, Variant
from sezzlee_mcp.diagnostics import Diagnostic, diagnose
from sezzlee_mcp.openapi.descriptors import EXTENSION_KEY, Outline

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
    arguments: tuple[ArgumentRecord, ...] = ()
    variants: tuple[Variant, ...] = ()
    family_parameter: str | None = None
    seal: bool = False
    problems: tuple[str, ...] = ()

    def diagnostics(self, operation: str) -> Iterator[Diagnostic]:
        for problem in self.problems:
            yield diagnose("extension_invalid", operation=operation, key=EXTENSION_KEY, problem=problem)


def read_markers(outline: Outline) -> Markers:
    """The markers of an operation; a member of a wrong type or an unknown name is left out and named."""
    if outline.extension is None:
        return _NONE
    problems: list[str] = []
    read = _members("", outline.extension, _MEMBERS, problems)
    return Markers(**read, problems=tuple(problems))


def _members(at: str, given: dict[str, Any], known: "_Readers", problems: list[str]) -> dict[str, Any]:
    """The members of ``given`` by field name; ``at`` is where it stands, with a dot behind."""
    read: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            problems.append(f"{at}{key} is no member of it; it takes {', '.join(known)}")
        elif value is not None or key == "value":
            field_name, reader = known[key]
            read[field_name] = reader(f"{at}{key}", value, problems)
    return {name: value for name, value in read.items() if value is not None or name == "value"}


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


def _objects(
    key: str, value: Any, problems: list[str], read: Callable[[str, dict[str, Any], list[str]], Any]
) -> tuple[Any, ...] | None:
    """What ``read`` makes of each object of a list; a thing that it cannot make is left out and named."""
    if not isinstance(value, list):
        problems.append(f"{key} must be a list of objects, not {_kind(value)}")
        return None
    made = []
    for index, item in enumerate(value):
        if isinstance(item, dict):
            made.append(read(f"{key}[{index}]", item, problems))
        else:
            problems.append(f"{key}[{index}] must be an object, not {_kind(item)}")
    return tuple(one for one in made if one is not None)


def _records(key: str, value: Any, problems: list[str]) -> tuple[ArgumentRecord, ...] | None:
    return _objects(key, value, problems, _record)


def _variants(key: str, value: Any, problems: list[str]) -> tuple[Variant, ...] | None:
    return _objects(key, value, problems, _variant)


def _record(at: str, given: dict[str, Any], problems: list[str]) -> ArgumentRecord | None:
    read = _members(f"{at}.", given, _RECORD_MEMBERS, problems)
    if _lacks(at, read, ("name",), problems):
        return None
    if given.get("hidden") is not None and "fill" not in read:
        return None  # shown instead of hidden it would be another argument than the one that was asked for
    return ArgumentRecord(**read)


def _variant(at: str, given: dict[str, Any], problems: list[str]) -> Variant | None:
    read = _members(f"{at}.", given, _VARIANT_MEMBERS, problems)
    return None if _lacks(at, read, ("name", "description"), problems) else Variant(**read)


def _fill(key: str, value: Any, problems: list[str]) -> Fill | None:
    if not isinstance(value, dict):
        problems.append(f"{key} must be an object, not {_kind(value)}")
        return None
    read = _members(f"{key}.", value, _FILL_MEMBERS, problems)
    if read.get("kind") not in list(FillKind):
        problems.append(f"{key}.kind must be one of {', '.join(FillKind)}")
        return None
    kind = FillKind(read["kind"])
    needed = {FillKind.CONSTANT: ("value",), FillKind.DEFERRED: ("source",), FillKind.OMIT: ()}[kind]
    return None if _lacks(key, read, needed, problems) else Fill(**{**read, "kind": kind})


def _lacks(at: str, read: dict[str, Any], needed: tuple[str, ...], problems: list[str]) -> bool:
    missing = [name for name in needed if name not in read]
    problems.extend(f"{at} has no {name} and is left out" for name in missing)
    return bool(missing)


def _schema(key: str, value: Any, problems: list[str]) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return value
    problems.append(f"{key} must be a schema, not {_kind(value)}")
    return None


def _any(key: str, value: Any, problems: list[str]) -> Any:
    return value


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return "a text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"


_Readers = Mapping[str, tuple[str, Callable[[str, Any, list[str]], Any]]]
_FILL_MEMBERS: _Readers = {"kind": ("kind", _text), "value": ("value", _any), "source": ("source", _text)}
_RECORD_MEMBERS: _Readers = {
    "name": ("name", _text),
    "as": ("agent_name", _text),
    "description": ("description", _text),
    "hidden": ("fill", _fill),
    "deprecatedAliases": ("deprecated_aliases", _texts),
}
_VARIANT_MEMBERS: _Readers = {
    "name": ("name", _text),
    "description": ("description", _text),
    "arguments": ("arguments", _records),
    "body": ("body", _schema),
    "bodyRequired": ("body_required", _boolean),
    "annotations": ("annotations", _hints),
}
_MEMBERS: _Readers = {
    "expose": ("expose", _boolean),
    "name": ("name", _text),
    "prefix": ("prefix", _text),
    "description": ("description", _text),
    "tags": ("tags", _texts),
    "searchTerms": ("search_terms", _texts),
    "annotations": ("annotations", _hints),
    "arguments": ("arguments", _records),
    "variants": ("variants", _variants),
    "familyParameter": ("family_parameter", _text),
    "seal": ("seal", _boolean),
}
_NONE = Markers()
