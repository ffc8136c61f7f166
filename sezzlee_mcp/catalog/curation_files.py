"""What staff say about a catalog as a file: its form, checked member by member, and its text (curation.md)."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from sezzlee_mcp.canonical import canonical_json, holds_nul, pointer
from sezzlee_mcp.catalog.curation import FillKind
from sezzlee_mcp.catalog.markers import HINTS
from sezzlee_mcp.errors import FileUnreadable
from sezzlee_mcp.json_files import read_exported
from sezzlee_mcp.openapi.findings import kind

COMMAND = "sezzlee_curation"  # and the member that holds the version of its file
VERSION = 1
FLOAT_LIMIT = 1e300  # what is larger is no deadline, and no float
ROOT = "/"  # the place of what is wrong with the file as a whole
NEAR = 0.7  # how alike a name has to be, from 0 to 1, to be what was meant

Check = Callable[[str, Any], Iterator[str]]  # where a value stands and the value -> what is wrong with it


def write_curation(sections: Mapping[str, Any]) -> str:
    """The file that holds these sections: one value a line, equal sections equal byte for byte."""
    return json.dumps({COMMAND: VERSION, **sections}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_curation(text: str | bytes) -> dict[str, Any]:
    """The sections of a file by name, all of them; FileUnreadable says all that is wrong with it at once."""
    document = read_exported(text, command=COMMAND, version=VERSION)
    if holds_nul(canonical_json(document).decode()):
        raise FileUnreadable(["It holds a NUL character, which no database stores."])
    if problems := list(_FILE("", document)):
        raise FileUnreadable(problems)
    return document


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """A sentence with what reads much like ``given``, to stand behind another; empty when nothing does."""
    near = get_close_matches(given, known, n=1, cutoff=NEAR)
    return f" Did you mean {near[0]!r}?" if near else ""


def _value(what: str, fits: Callable[[Any], bool]) -> Check:
    def check(at: str, given: Any) -> Iterator[str]:
        if not fits(given):
            arrived = "empty" if isinstance(given, str) and not given.strip() else kind(given)
            yield f"{at}: it is {what}, and this is {arrived}."

    return check


def _one_of(values: Iterable[str]) -> Check:
    known = tuple(map(str, values))

    def check(at: str, given: Any) -> Iterator[str]:
        if not isinstance(given, str):
            yield f"{at}: it is a text, and this is {kind(given)}."
        elif given not in known:
            yield f"{at}: it is one of {', '.join(known)}, and this is {given!r}.{did_you_mean(given, known)}"

    return check


def _list_of(check_item: Check, *identity: str) -> Check:
    """A list whose items differ in ``identity``, the members that name them; without any, in no way that is asked."""

    def check(at: str, given: Any) -> Iterator[str]:
        if not isinstance(given, list):
            yield f"{at}: it is a list, and this is {kind(given)}."
            return
        known: list[list[Any]] = []
        for place, item in enumerate(given):
            faults = list(check_item(at + pointer(place), item))
            yield from faults
            if identity and not faults:
                named = [item.get(member) for member in identity]
                if named in known:
                    yield f"{at}{pointer(place)}: an earlier one has the same {', '.join(identity)}."
                known.append(named)

    return check


def _distinct_texts(at: str, given: Any) -> Iterator[str]:
    yield from _TEXTS(at, given)
    for place, item in enumerate(given if isinstance(given, list) else ()):
        if item in given[:place]:
            yield f"{at}{pointer(place)}: it is there already."


def _map_of(check_value: Check) -> Check:
    """An object whose keys name what its values are about."""

    def check(at: str, given: Any) -> Iterator[str]:
        if not isinstance(given, dict):
            yield f"{at}: it is an object, and this is {kind(given)}."
            return
        for name, value in given.items():
            yield from check_value(at + pointer(name), value)

    return check


def _members(known: Mapping[str, Check], *required: str) -> Check:
    def check(at: str, given: Any) -> Iterator[str]:
        if not isinstance(given, dict):
            yield f"{at or ROOT}: it is an object, and this is {kind(given)}."
            return
        yield from (f"{at or ROOT}: its {name} is missing." for name in required if name not in given)
        for name, value in given.items():
            if name in known:
                yield from known[name](at + pointer(name), value)
            else:
                yield f"{at}{pointer(name)}: there is no such member.{did_you_mean(name, known)}"

    return check


def _exactly_one(check_members: Check, *members: str) -> Check:
    def check(at: str, given: Any) -> Iterator[str]:
        yield from check_members(at, given)
        if isinstance(given, dict) and len(given.keys() & set(members)) != 1:
            yield f"{at}: it has exactly one of {', '.join(members)}."

    return check


def _fill(*kinds: FillKind) -> Check:
    needed = {FillKind.CONSTANT: "value", FillKind.DEFERRED: "source", FillKind.OMIT: None}
    checks: dict[str, Check] = {"kind": _one_of(kinds), "value": _ANYTHING, "source": _TEXT}

    def check(at: str, given: Any) -> Iterator[str]:
        said = given.get("kind") if isinstance(given, dict) else None
        if said in kinds:
            member = needed[FillKind(said)]
            yield from _members({name: checks[name] for name in ("kind", member) if name}, *filter(None, [member]))(
                at, given
            )
        else:
            yield from _members(checks, "kind")(at, given)

    return check


def _policy(at: str, given: Any) -> Iterator[str]:
    targets = ("operations", "tags", "routes")
    members = {"rule": _TEXT, "subject": _TEXT, "operations": _distinct_texts, "tags": _TEXTS, "routes": _TEXTS}
    yield from _members(members, "rule")(at, given)
    if isinstance(given, dict) and not any(given.get(name) for name in targets):
        yield f"{at}: it concerns no tool; name some in {', '.join(targets)}. The route ** matches every tool."


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < FLOAT_LIMIT


_ANYTHING: Check = _value("JSON", lambda value: True)
_BOOLEAN = _value("true or false", lambda value: isinstance(value, bool))
_NUMBER = _value("a number", _is_number)
_WHOLE = _value("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool))
_OBJECT = _value("a schema, which is an object", lambda value: isinstance(value, dict))
_MAYBE_EMPTY = _value("a text", lambda value: isinstance(value, str))
_TEXT = _value("a text that is not empty", lambda value: isinstance(value, str) and bool(value.strip()))
_KEY = _value("JSON other than null", lambda value: value is not None)
_TEXTS = _list_of(_TEXT)
_HINTS = _members(dict.fromkeys(sorted(HINTS), _BOOLEAN))

_ARGUMENT = _members(
    {
        "name": _TEXT,
        "as": _TEXT,
        "description": _TEXT,
        "hidden": _fill(*FillKind),
        "deprecatedAliases": _TEXTS,
        "aliasesUntil": _TEXT,
    },
    "name",
)
_ARGUMENTS = _list_of(_ARGUMENT, "name")
_VARIANT = _members(
    {
        "name": _TEXT,
        "description": _TEXT,
        "key": _KEY,
        "body": _OBJECT,
        "bodyRequired": _BOOLEAN,
        "annotations": _HINTS,
        "arguments": _ARGUMENTS,
    },
    "name",
    "description",
)
_OPERATION = _members(
    {
        "expose": _BOOLEAN,
        "name": _TEXT,
        "title": _TEXT,
        "description": _TEXT,
        "tags": _distinct_texts,
        "searchTerms": _TEXTS,
        "annotations": _HINTS,
        "deadlineSeconds": _NUMBER,
        "budgetBytes": _WHOLE,
        "arguments": _ARGUMENTS,
        "familyParameter": _TEXT,
        "variants": _list_of(_VARIANT, "name"),
    }
)
_SELECTION_RULE = _members({"route": _TEXT, "method": _TEXT, "decision": _TEXT, "note": _TEXT}, "decision")
_ARGUMENT_RULE = _exactly_one(
    _members(
        {
            "argument": _TEXT,
            "route": _TEXT,
            "location": _TEXT,
            "hidden": _fill(FillKind.CONSTANT, FillKind.OMIT),
            "description": _TEXT,
            "prefix": _TEXT,
            "note": _TEXT,
        },
        "argument",
    ),
    "hidden",
    "description",
    "prefix",
)
_SECTIONS: Mapping[str, Check] = {
    "operations": _map_of(_OPERATION),
    "tags": _map_of(_MAYBE_EMPTY),
    "selectionRules": _list_of(_SELECTION_RULE, "route", "method", "decision"),
    "argumentRules": _list_of(_ARGUMENT_RULE, "route", "argument", "location"),
    "visibilityPolicies": _map_of(_policy),
}
# A section that is left out would take away everything that is said in it.
_FILE = _members(_SECTIONS, *_SECTIONS)
