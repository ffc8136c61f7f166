"""What changed between two catalogs, and for whom that matters (publishing.md, "Change classes")."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self

from sezzlee_mcp.canonical import canonical_json, pointer, stable
from sezzlee_mcp.catalog.containment import Comparison, Misfit, What, compare, is_same

Shapes = Mapping[str, dict[str, Any]]  # loaded shapes by the names of their tools

TEXT_CHARS = 200  # of a value that a change quotes
_ELLIPSIS = "\u2026"
_TOO_MANY = "too many tools changed at once"
_NO_ALIASES: Mapping[str, str] = MappingProxyType({})


class ChangeClass(StrEnum):
    BREAKING = "breaking"  # a call that was right may fail, or an answer lacks what was promised
    BEHAVIOURAL = "behavioural"  # an agent may choose or call otherwise
    ADDITIVE = "additive"  # there is more, and nothing else changed


class Side(StrEnum):
    """Who meets a change: an agent that learned one catalog, at a server that has the other."""

    OLD_AGENT = "old agent on new server"
    NEW_AGENT = "new agent on old server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What all changes of one kind have in common; ``{before}``, ``{after}`` and ``{name}`` are filled in."""

    change_class: ChangeClass
    concerns: tuple[Side, ...]
    sentence: str


def gettext_noop(text: str) -> str:
    """The text itself: ``makemessages`` looks for this name, and whoever shows the text to staff translates it."""
    return text


def _kind(change_class: ChangeClass, concerns: tuple[Side, ...], sentence: str) -> Kind:
    return Kind(change_class=change_class, concerns=concerns, sentence=sentence)


_OLD, _NEW, _BOTH = (Side.OLD_AGENT,), (Side.NEW_AGENT,), (Side.OLD_AGENT, Side.NEW_AGENT)

KINDS: dict[str, Kind] = {
    # tools
    "tool_removed": _kind(
        ChangeClass.BREAKING, _OLD, gettext_noop("The tool is gone, and its name leads to no other.")
    ),
    "tool_renamed": _kind(
        ChangeClass.BEHAVIOURAL, _NEW, gettext_noop("The tool is called {after} now, and {before} still leads to it.")
    ),
    "tool_added": _kind(ChangeClass.ADDITIVE, _NEW, gettext_noop("The tool is new.")),
    "call_changed": _kind(
        ChangeClass.BEHAVIOURAL,
        _OLD,
        gettext_noop("What an agent loads is the same; how it is found, who sees it or how it is called changed."),
    ),
    # inputs
    "input_removed": _kind(ChangeClass.BREAKING, _OLD, gettext_noop("The input {name} is gone.")),
    "input_required": _kind(ChangeClass.BREAKING, _OLD, gettext_noop("The input {name} is required now.")),
    "input_type": _kind(
        ChangeClass.BREAKING,
        _OLD,
        gettext_noop("The type was {before} and is {after}, so values that fitted are refused."),
    ),
    "input_choice": _kind(
        ChangeClass.BREAKING, _OLD, gettext_noop("Values of type {before} fit none of the choices any more.")
    ),
    "input_values": _kind(ChangeClass.BREAKING, _OLD, gettext_noop("These values are refused now: {before}.")),
    "input_limited": _kind(ChangeClass.BREAKING, _OLD, gettext_noop("Only these values are taken now: {after}.")),
    "input_rule": _kind(
        ChangeClass.BREAKING,
        _OLD,
        gettext_noop("{name} was {before} and is {after}, so values that fitted may be refused."),
    ),
    "input_closed": _kind(
        ChangeClass.BREAKING,
        _OLD,
        gettext_noop("Members that the schema does not name were not refused before, and are now."),
    ),
    "input_undecided": _kind(
        ChangeClass.BREAKING,
        _OLD,
        gettext_noop("Old and new cannot be compared here ({name}), so this counts as breaking."),
    ),
    "input_added": _kind(ChangeClass.BEHAVIOURAL, _NEW, gettext_noop("The optional input {name} is new.")),
    "input_optional": _kind(ChangeClass.BEHAVIOURAL, _NEW, gettext_noop("The input {name} is no longer required.")),
    # outputs
    "output_undocumented": _kind(
        ChangeClass.BREAKING, _OLD, gettext_noop("Nothing says any more what the tool answers.")
    ),
    "output_documented": _kind(ChangeClass.ADDITIVE, _NEW, gettext_noop("It is said now what the tool answers.")),
    "output_removed": _kind(ChangeClass.BREAKING, _OLD, gettext_noop("The output {name} is gone.")),
    "output_uncertain": _kind(ChangeClass.BREAKING, _OLD, gettext_noop("The output {name} may be missing now.")),
    "output_type": _kind(
        ChangeClass.BREAKING, _OLD, gettext_noop("The type of the output was {before} and is {after}.")
    ),
    "output_undecided": _kind(
        ChangeClass.BREAKING,
        _OLD,
        gettext_noop("Old and new output cannot be compared here ({name}), so this counts as breaking."),
    ),
    "output_loosened": _kind(
        ChangeClass.BEHAVIOURAL,
        _OLD,
        gettext_noop("The output may hold other values than before ({name} was {before}, is {after})."),
    ),
    "output_added": _kind(ChangeClass.ADDITIVE, _NEW, gettext_noop("The output {name} is new.")),
    "output_certain": _kind(ChangeClass.ADDITIVE, _NEW, gettext_noop("The output {name} is never missing now.")),
    # what agents read
    "text_changed": _kind(ChangeClass.BEHAVIOURAL, _BOTH, gettext_noop("{name} was {before} and is {after}.")),
    "annotation_changed": _kind(
        ChangeClass.BEHAVIOURAL, _BOTH, gettext_noop("The annotation {name} was {before} and is {after}.")
    ),
    "deprecated": _kind(ChangeClass.BEHAVIOURAL, _BOTH, gettext_noop("It is deprecated now.")),
    "not_deprecated": _kind(ChangeClass.BEHAVIOURAL, _BOTH, gettext_noop("It is no longer deprecated.")),
    "order_changed": _kind(ChangeClass.BEHAVIOURAL, _BOTH, gettext_noop("The members stand in another order.")),
    "definition_changed": _kind(
        ChangeClass.BEHAVIOURAL, _BOTH, gettext_noop("The definition {name} came, went or has another name.")
    ),
    "schema_changed": _kind(ChangeClass.BEHAVIOURAL, _BOTH, gettext_noop("{name} was {before} and is {after}.")),
}


_NOTHING = gettext_noop("not said")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    One change of one tool, which is known by its new name.

    ``pointer`` leads into the loaded shape: the new one for what is or came, the old one for what went and for what
    an output promised. ``before`` and ``after`` are JSON or words, at most ``TEXT_CHARS`` characters each.
    """

    tool: str
    kind: str
    pointer: str = ""
    name: str = ""
    before: str = ""
    after: str = ""

    @property
    def change_class(self) -> ChangeClass:
        return KINDS[self.kind].change_class

    @property
    def concerns(self) -> tuple[Side, ...]:
        return KINDS[self.kind].concerns

    @property
    def message(self) -> str:
        return self.message_in(str)

    def message_in(self, translate: Callable[[str], str]) -> str:
        """The message in the language that ``translate`` knows; what it quotes stays as it is."""
        nothing = translate(_NOTHING)
        said = {"before": self.before or nothing, "after": self.after or nothing}
        return translate(KINDS[self.kind].sentence).format(name=self.name, **said)

    def to_json(self) -> dict[str, str]:
        members = {
            "tool": self.tool,
            "kind": self.kind,
            "pointer": self.pointer,
            "name": self.name,
            "before": self.before,
            "after": self.after,
        }
        return {member: value for member, value in members.items() if value}

    @classmethod
    def from_json(cls, value: dict[str, str]) -> Self:
        return cls(**value)


class _Allowance:
    """How many steps the comparisons of schemas may still take; None for any number."""

    def __init__(self, steps: int | None) -> None:
        self._left = steps

    def compare(self, given: Any, taken: Any, at: str) -> Comparison:
        if self._left is not None and self._left <= 0 and not is_same(given, taken):
            undecided = Misfit(what=What.UNKNOWN, at=at, taken=_TOO_MANY)
            return Comparison(misfits=(undecided,), unsent=(), steps=0)
        found = compare(given, taken, given_at=at, taken_at=at)
        if self._left is not None:
            self._left -= found.steps
        return found


def changes_between(
    old: Shapes, new: Shapes, aliases: Mapping[str, str] = _NO_ALIASES, *, steps: int | None = None
) -> tuple[Change, ...]:
    """
    Every change from ``old`` to ``new``, the breaking ones first, then by tool.

    ``aliases`` lead from former names to names of ``new``. Equal catalogs have no changes; what has no order
    (``enum``, ``required`` and lists of types) is equal in any. Once the comparison of schemas took ``steps``, what
    else differs is not compared, and counts as breaking.
    """
    allowance = _Allowance(steps)
    found: list[Change] = []
    renamed = {name: aliases[name] for name in old.keys() - new.keys() if aliases.get(name) in new}
    for name in old.keys() - new.keys() - renamed.keys():
        found.append(Change(tool=name, kind="tool_removed"))
    for name in new.keys() - old.keys() - set(renamed.values()):
        found.append(Change(tool=name, kind="tool_added"))
    for before, after in renamed.items():
        found.append(Change(tool=after, kind="tool_renamed", pointer="/name", before=before, after=after))
        found += _tool_changes(after, old[before], new[after], allowance)
    for name in sorted(old.keys() & new.keys()):
        found += _tool_changes(name, old[name], new[name], allowance)
    return _in_order(found)


def changes_of_moved(
    old: Shapes, new: Shapes, aliases: Mapping[str, str] = _NO_ALIASES, *, steps: int | None = None
) -> tuple[Change, ...]:
    """The changes of tools whose stored contents differ, also of those of which agents load what they did."""
    found = changes_between(old, new, aliases, steps=steps)
    told = {change.tool for change in found} | set(aliases.values())
    unread = (old.keys() & new.keys()) - told
    return _in_order([*found, *(Change(tool=name, kind="call_changed") for name in unread)])


def _in_order(found: Iterable[Change]) -> tuple[Change, ...]:
    """Each change once, the breaking ones first, then by tool."""
    ranks = list(ChangeClass)
    return tuple(
        sorted(
            dict.fromkeys(found),
            key=lambda change: (ranks.index(change.change_class), change.tool, change.pointer, change.kind),
        )
    )


def _tool_changes(tool: str, old: dict[str, Any], new: dict[str, Any], allowance: _Allowance) -> Iterator[Change]:
    if old is new:
        return
    old, new = stable(_read(old)), stable(_read(new))
    semantic = [*_input_changes(tool, old, new, allowance), *_output_changes(tool, old, new, allowance)]
    yield from semantic
    yield from _wording_changes(tool, old, new, frozenset(change.pointer for change in semantic))


def _read(shape: dict[str, Any]) -> dict[str, Any]:
    """What is compared: the version follows from the rest, the name from the catalog."""
    return {member: value for member, value in shape.items() if member not in ("name", "version")}


def _change(tool: str, kind: str, at: str, *, before: str = "", after: str = "") -> Change:
    name = at.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    return Change(tool=tool, kind=kind, pointer=at, name=name, before=clipped(before), after=clipped(after))


def clipped(text: str) -> str:
    return text if len(text) <= TEXT_CHARS else text[: TEXT_CHARS - 1] + _ELLIPSIS


_INPUT_KINDS = {
    What.TYPE: "input_type",
    What.CHOICE: "input_choice",
    What.VALUES: "input_values",
    What.RULE: "input_rule",
    What.REQUIRED: "input_required",
    What.CLOSED: "input_closed",
    What.GONE: "input_removed",
    What.UNKNOWN: "input_undecided",
}
_OUTPUT_KINDS = {
    What.TYPE: "output_type",
    What.CHOICE: "output_type",
    What.VALUES: "output_loosened",
    What.RULE: "output_loosened",
    What.REQUIRED: "output_uncertain",
    What.CLOSED: "output_loosened",
    What.GONE: "output_added",
    What.UNKNOWN: "output_undecided",
}
_ANY_TYPE = "any"


def _input_changes(tool: str, old: dict[str, Any], new: dict[str, Any], allowance: _Allowance) -> Iterator[Change]:
    """What an agent sends by the old schema is given, and the new one takes it."""
    if old["inputSchema"] == new["inputSchema"]:
        return
    found = allowance.compare(old["inputSchema"], new["inputSchema"], "/inputSchema")
    for misfit in found.misfits:
        kind = _INPUT_KINDS[misfit.what]
        if kind == "input_values" and not misfit.given:
            kind = "input_limited"
        given = misfit.given or (_ANY_TYPE if misfit.what in (What.TYPE, What.CHOICE) else "")
        change = _change(tool, kind, misfit.at, before=given, after=misfit.taken)
        yield replace(change, name=misfit.taken) if misfit.taken == _TOO_MANY else change
    required = {misfit.at for misfit in found.misfits if misfit.what is What.REQUIRED}
    for at in found.unsent:
        if at not in required:
            yield _change(tool, "input_added", at)


def _output_changes(tool: str, old: dict[str, Any], new: dict[str, Any], allowance: _Allowance) -> Iterator[Change]:
    """What the new server answers is given, and an agent that learned the old schema takes it."""
    before, after = old.get("outputSchema"), new.get("outputSchema")
    if before == after:
        return
    if before is None or after is None:
        yield _change(tool, "output_undocumented" if after is None else "output_documented", "/outputSchema")
        return
    found = allowance.compare(after, before, "/outputSchema")
    for misfit in found.misfits:
        if misfit.at not in found.unsent:
            given = misfit.given or (_ANY_TYPE if misfit.what in (What.TYPE, What.CHOICE) else "")
            change = _change(tool, _OUTPUT_KINDS[misfit.what], misfit.at, before=misfit.taken, after=given)
            yield replace(change, name=misfit.taken) if misfit.taken == _TOO_MANY else change
    for at in found.unsent:
        yield _change(tool, "output_removed", at)


# -- what else reads otherwise --

_ABSENT: Any = object()
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs"})  # their keys are names
_TEXTS = frozenset({"title", "description", "examples", "$comment"})


def _wording_changes(tool: str, old: dict[str, Any], new: dict[str, Any], covered: frozenset[str]) -> Iterator[Change]:
    """Every difference that no change at ``covered`` pointers speaks of."""
    for difference in _differences(old, new):
        if difference.keyword == "required" and isinstance(difference.before, list | None):
            yield from _required_changes(tool, difference, covered)
        elif not (_is_covered(difference.at, covered) or (difference.is_whole and _covers(difference.at, covered))):
            yield _wording_change(tool, difference)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    """Two values at one place; ``keyword`` is what they are said by, "" for a member of a map of names."""

    at: str
    keyword: str
    before: Any
    after: Any

    @property
    def is_whole(self) -> bool:
        """Whether one side has nothing there."""
        return self.before is None or self.after is None


def _differences(old: Any, new: Any, at: str = "", keyword: str = "", is_map: bool = False) -> Iterator[_Difference]:
    if isinstance(old, dict) and isinstance(new, dict) and (is_map or keyword not in ("const", "enum", "examples")):
        yield from _member_differences(old, new, at, keyword, is_map)
    elif isinstance(old, list) and isinstance(new, list) and _are_schemas(old, new) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differences(before, after, f"{at}/{index}", keyword)
    elif canonical_json(_known(old)) != canonical_json(_known(new)) or (old is _ABSENT) != (new is _ABSENT):
        yield _Difference(at=at, keyword=keyword, before=_known(old), after=_known(new))


def _member_differences(old: Any, new: Any, at: str, keyword: str, is_map: bool) -> Iterator[_Difference]:
    common = [name for name in old if name in new]
    if keyword == "properties" and is_map and common != [name for name in new if name in old]:
        yield _Difference(at=at, keyword="order", before=None, after=None)
    for name in dict.fromkeys([*old, *new]):
        below = "" if is_map else name
        yield from _differences(
            old.get(name, _ABSENT), new.get(name, _ABSENT), at + pointer(name), below, not is_map and name in _MAPS
        )


def _are_schemas(old: list[Any], new: list[Any]) -> bool:
    return all(isinstance(item, dict | bool) for item in (*old, *new))


def _known(value: Any) -> Any:
    return None if value is _ABSENT else value


def _is_covered(at: str, covered: frozenset[str]) -> bool:
    return any(at == place or at.startswith(f"{place}/") for place in covered if place)


def _covers(at: str, covered: frozenset[str]) -> bool:
    return any(place.startswith(f"{at}/") for place in covered)


def _required_changes(tool: str, difference: _Difference, covered: frozenset[str]) -> Iterator[Change]:
    """Names that came to or left a ``required``, where nothing was said of their properties."""
    is_input = difference.at.startswith("/inputSchema")
    before, after = difference.before or [], difference.after or []
    properties = difference.at.removesuffix("/required") + "/properties"
    for name in dict.fromkeys([*before, *after]):
        at = properties + pointer(name)
        if (name in before) == (name in after) or _is_covered(at, covered):
            continue
        kinds = ("input_optional", "schema_changed") if is_input else ("schema_changed", "output_certain")
        written = {"before": _written(before), "after": _written(after)}
        yield _change(tool, kinds[name in after], at, **written)


def _wording_change(tool: str, difference: _Difference) -> Change:
    at, keyword = difference.at, difference.keyword
    if at.startswith("/annotations"):
        kind = "annotation_changed"
    elif keyword == "deprecated":
        kind = "deprecated" if difference.after else "not_deprecated"
    elif keyword == "order":
        kind = "order_changed"
    elif keyword in _TEXTS:
        kind = "text_changed"
    elif at.rpartition("/")[0].endswith("Schema/$defs"):
        kind = "definition_changed"
    else:
        kind = "schema_changed"
    return _change(tool, kind, at, before=_written(difference.before), after=_written(difference.after))


def _written(value: Any) -> str:
    return "" if value is None else canonical_json(value).decode()
