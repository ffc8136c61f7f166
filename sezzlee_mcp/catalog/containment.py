"""Whether every value that one JSON Schema permits is permitted by another, and where not."""

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from sezzlee_mcp.canonical import canonical_json, pointer
from sezzlee_mcp.openapi.keywords import ANNOTATIONS, IN_PLACE, ONE_SCHEMA, SCHEMA_LISTS, SCHEMA_MAPS, TYPES, is_of_type

_STEPS = 20_000  # of one comparison; what takes longer is not decided
_DEPTH = 40  # schemas below each other; every level costs several frames of the interpreter's stack

_NUMBERS = frozenset({"integer", "fraction"})
_KINDS = frozenset({"null", "boolean", "string", "array", "object"}) | _NUMBERS
# (keyword, its exclusive form, whether it is a lower bound, the kinds of value that it is about)
_BOUNDS = (
    ("minimum", "exclusiveMinimum", True, _NUMBERS),
    ("maximum", "exclusiveMaximum", False, _NUMBERS),
    ("minLength", None, True, frozenset({"string"})),
    ("maxLength", None, False, frozenset({"string"})),
    ("minItems", None, True, frozenset({"array"})),
    ("maxItems", None, False, frozenset({"array"})),
    ("minProperties", None, True, frozenset({"object"})),
    ("maxProperties", None, False, frozenset({"object"})),
)
# Keywords of which only an equal one is known to ask no more. A backend reads formats and contents as rules.
_EQUAL_OR_MORE = {
    "pattern": frozenset({"string"}),
    "format": frozenset({"string"}) | _NUMBERS,
    "contentEncoding": frozenset({"string"}),
    "contentMediaType": frozenset({"string"}),
    "contentSchema": frozenset({"string"}),
    "uniqueItems": frozenset({"array"}),
    "multipleOf": _NUMBERS,
}
# Keywords that are compared by their wording, those that depend on each other together.
_OPAQUE = (
    (("if", "then", "else"), _KINDS),
    (("dependentSchemas",), frozenset({"object"})),
    (("contains", "minContains", "maxContains"), frozenset({"array"})),
)
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_CHOICES = ("anyOf", "oneOf")
_UNORDERED = frozenset({"enum", "required", "type"})


class What(StrEnum):
    """What keeps a value that is given from being taken."""

    TYPE = "type"
    CHOICE = "choice"  # it fits none of several schemas
    VALUES = "values"  # an enum or a constant
    RULE = "rule"  # a bound, a pattern, a format
    REQUIRED = "required"
    CLOSED = "closed"  # members that no schema names
    GONE = "gone"  # a member that only the giving schema names
    UNKNOWN = "unknown"  # the comparison was not decided


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """
    One reason; ``at`` is a pointer in the taking schema, of a member that it does not name in the giving one.

    ``given`` and ``taken`` are what the two schemas say there, as JSON; "" where one says nothing.
    """

    what: What
    at: str
    given: str = ""
    taken: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """
    ``misfits`` between two schemas, and ``unsent``: members that the taking schema names and nobody gives.

    Without misfits every value that is given is taken. One thing is read as documents mean it and not as JSON
    Schema does: a schema that names members and does not say whether there are others gives no others.
    """

    misfits: tuple[Misfit, ...]
    unsent: tuple[str, ...]
    steps: int  # how many pairs of schemas were looked at


def compare(given: Any, taken: Any, *, given_at: str = "", taken_at: str = "") -> Comparison:
    """What is between every value of ``given`` and a place in ``taken``; pointers begin with the two prefixes."""
    walk = _Walk(_Sameness(given, taken))
    found = walk.misfits((_root(given, given_at),), _root(taken, taken_at))
    events = tuple(dict.fromkeys(found))
    return Comparison(
        misfits=tuple(event for event in events if isinstance(event, Misfit)),
        unsent=tuple(event for event in events if isinstance(event, str)),
        steps=walk.steps,
    )


def is_same(one: Any, other: Any) -> bool:
    """Whether two schemas say the same, annotations aside; found without comparing them step by step."""
    return _Sameness(one, other).holds(_root(one, ""), _root(other, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """A schema at its place; ``root`` is what its references are resolved in, at ``root_at``; ``used`` is skipped."""

    schema: Any
    at: str
    root: Any
    root_at: str
    used: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[Any, ...]:
        return (id(self.schema), id(self.root), self.used)

    def get(self, keyword: str, default: Any = None) -> Any:
        return default if keyword in self.used else self.schema.get(keyword, default)

    def below(self, *tokens: str | int) -> "_Node":
        schema = self.schema
        for token in tokens:
            schema = schema[token]
        return _node(schema, self.at + pointer(*tokens), self.root, self.root_at)

    def target(self) -> "_Node | None":
        """Where the reference leads; None where that is no place in this document."""
        reference = self.schema["$ref"]
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        found: Any = self.root
        tokens = [_unescaped(token) for token in unquote(reference[1:]).split("/")[1:]]
        for token in tokens:
            if isinstance(found, list) and token.isdecimal() and int(token) < len(found):
                found = found[int(token)]
            elif isinstance(found, dict) and token in found:
                found = found[token]
            else:
                return None
        return _node(found, self.root_at + pointer(*tokens), self.root, self.root_at)


def _unescaped(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


def _root(schema: Any, at: str) -> _Node:
    return _Node(schema=schema, at=at, root=schema, root_at=at)


def _node(schema: Any, at: str, root: Any, root_at: str) -> _Node:
    if isinstance(schema, dict) and "$id" in schema:
        return _root(schema, at)
    return _Node(schema=schema, at=at, root=root, root_at=root_at)


_ELSEWHERE = ""  # the reference of a schema that resolves its references itself
_ANYTHING = _root(True, "")
_TYPED = {name: _root({"type": name}, "") for name in TYPES if name != "integer"}  # a number may be an integer
_Event = Misfit | str  # a str is the pointer of a member that nobody gives
_Given = tuple[_Node, ...]  # schemas that hold together


class _Sameness:
    """
    Which schemas of two documents say the same, annotations aside, so that nothing below them is compared.

    A schema that refers to a definition says the same only while that one does, and all that it refers to.
    """

    def __init__(self, given: Any, taken: Any) -> None:
        self._roots = (given, taken)
        self._known: dict[int, int] = {}  # the number of what a schema says, by the schema's identity
        self._numbers: dict[Any, int] = {}
        self._references: dict[int, frozenset[str]] = {}  # by that number
        self._moved = self._moved_definitions()

    def holds(self, given: _Node, taken: _Node) -> bool:
        if given.root is not self._roots[0] or taken.root is not self._roots[1]:
            return False
        number = self._number(given.schema)
        return number == self._number(taken.schema) and not self._references[number] & self._moved

    def _moved_definitions(self) -> frozenset[str]:
        """References that lead to what is not the same in both documents; also those to other places than ``$defs``."""
        bags = [root.get("$defs", {}) if isinstance(root, dict) else {} for root in self._roots]
        numbers = [{f"#/$defs/{name}": self._number(schema) for name, schema in bag.items()} for bag in bags]
        kept = {name: number for name, number in numbers[0].items() if numbers[1].get(name) == number}
        used = frozenset().union(*self._references.values(), *map(dict.keys, numbers))
        moved = used - kept.keys()
        while further := {name for name, number in kept.items() if self._references[number] & moved} - moved:
            moved |= further
        return moved

    def _number(self, schema: Any) -> int:
        known = self._known.get(id(schema))
        if known is not None:
            return known
        references: set[str] = set()
        if isinstance(schema, dict):
            said: Any = tuple(
                (keyword, self._said(keyword, schema[keyword], references))
                for keyword in sorted(schema.keys() - ANNOTATIONS - {"$defs"})
            )
            references |= {_ELSEWHERE} if "$id" in schema else set()
        else:
            said = schema
        number = self._numbers.setdefault((type(schema), said), len(self._numbers))
        self._references.setdefault(number, frozenset(references))
        self._known[id(schema)] = number
        return number

    def _said(self, keyword: str, value: Any, references: set[str]) -> Any:
        if keyword in ONE_SCHEMA:
            return self._inner(value, references)
        if keyword in SCHEMA_LISTS:
            return tuple(self._inner(item, references) for item in value)
        if keyword in SCHEMA_MAPS:
            return tuple((name, self._inner(value[name], references)) for name in sorted(value))
        if keyword == "$ref":
            references.add(str(value))
        if keyword in _UNORDERED and isinstance(value, list):
            return frozenset(_spelled(item) for item in value)
        return _spelled(value)

    def _inner(self, schema: Any, references: set[str]) -> int:
        number = self._number(schema)
        references |= self._references[number]
        return number


class _Walk:
    """
    One comparison, for schemas that may refer to themselves.

    A pair that is being compared, or was, is not compared again: that it has no further misfits is what the
    whole comparison shows. A trial that is given up takes back what it assumed.
    """

    def __init__(self, sameness: "_Sameness") -> None:
        self._sameness = sameness
        self._assumed: set[tuple[Any, ...]] = set()
        self._order: list[tuple[Any, ...]] = []  # of the same, as they were assumed
        self.steps = 0
        self._depth = 0

    def misfits(self, given: _Given, taken: _Node) -> list[_Event]:
        """What keeps values of all ``given`` schemas together from ``taken``, where one value is described."""
        if not self._assume((frozenset(node.key for node in given), taken.key)):
            return []
        if any(self._sameness.holds(node, taken) for node in given):
            return []
        self.steps += 1
        if self.steps > _STEPS or self._depth >= _DEPTH:
            return [Misfit(what=What.UNKNOWN, at=taken.at)]
        self._depth += 1
        try:
            return [*self._gone(given, taken), *self._asked(given, taken)]
        finally:
            self._depth -= 1

    def _gone(self, given: _Given, taken: _Node) -> Iterator[_Event]:
        """Members that are named on the giving side alone."""
        if "object" not in _kinds(_facets(given)):
            return
        known, patterns = _names((taken,)), _patterns((taken,))
        for name, node in _names(given).items():
            if name not in known and node.schema is not False and not _matches(name, patterns):
                yield Misfit(what=What.GONE, at=node.at, given=name)

    def _asked(self, given: _Given, taken: _Node) -> list[_Event]:
        """What ``taken`` asks and ``given`` does not promise."""
        facets = _facets(given)
        if taken.schema is True or taken.schema == {} or _is_empty(facets):
            return []
        if not isinstance(taken.schema, dict):
            return [Misfit(what=What.TYPE, at=taken.at, given=_types_of(facets), taken="nothing")]
        if any(keyword in taken.schema for keyword in _UNEVALUATED):
            alike = any(_alike(node, taken) for node in (*given, *facets))
            return [] if alike else [Misfit(what=What.UNKNOWN, at=taken.at, taken="unevaluatedProperties")]
        events: list[_Event] = []
        if "$ref" in taken.schema:
            target = taken.target()
            if target is None:
                events.append(Misfit(what=What.UNKNOWN, at=taken.at + "/$ref", taken="$ref"))
            else:
                events += self._in_place(given, target)
        for index in range(len(taken.schema.get("allOf", ()))):
            events += self._in_place(given, taken.below("allOf", index))
        return events + self._own(facets, taken)

    def _in_place(self, given: _Given, taken: _Node) -> list[_Event]:
        """The same value at a further schema; what is gone was said of the whole already."""
        if any(self._sameness.holds(node, taken) for node in given):
            return []
        is_new = self._assume((frozenset(node.key for node in given), taken.key, "in place"))
        return self._asked(given, taken) if is_new else []

    def _own(self, facets: _Given, taken: _Node) -> list[_Event]:
        """What the keywords of ``taken`` itself ask; where it cannot be said of all choices at once, of each."""
        self.steps += 1
        if self.steps > _STEPS:
            return [Misfit(what=What.UNKNOWN, at=taken.at)]
        if _is_empty(facets):
            return []
        mark = len(self._order)
        events = self._by_keyword(facets, taken)
        cases = _cases(facets, taken) if events else []
        if not cases:
            return events
        self._forget(mark)
        return [event for case in cases for event in self._own(case, taken)]

    def _by_keyword(self, facets: _Given, taken: _Node) -> list[_Event]:
        kinds, values = _kinds(facets), _values(facets)
        if misfit := _type_misfit(facets, taken):
            return [misfit]
        events: list[_Event] = []
        events += _value_misfits(values, facets, taken)
        events += _bound_misfits(kinds, values, facets, taken)
        events += _rule_misfits(kinds, facets, taken)
        events += _opaque_misfits(kinds, facets, taken)
        if "object" in kinds:
            events += self._members(facets, taken)
        if "array" in kinds:
            events += self._items(facets, taken)
        if "not" in taken.schema:
            events += self._not(facets, taken)
        for keyword in _CHOICES:
            if taken.schema.get(keyword):
                events += self._choice(facets, taken, keyword)
        return events

    # -- objects --

    def _members(self, facets: _Given, taken: _Node) -> Iterator[_Event]:
        named, patterns = taken.get("properties", {}), taken.get("patternProperties", {})
        for name in named:
            yield from self._member(facets, name, taken.below("properties", name))
        declared = [name for name in _names(facets) if name not in named]
        for pattern in patterns:
            child = taken.below("patternProperties", pattern)
            for name in declared:
                if _matches(name, (pattern,)):
                    yield from self._member(facets, name, child)
            yield from self.misfits(_under_pattern(facets, pattern), child)
        yield from self._others(facets, taken, [name for name in declared if not _matches(name, patterns)])
        yield from _required_misfits(facets, taken)
        if "propertyNames" in taken.schema:
            names = tuple(facet.below("propertyNames") for facet in facets if "propertyNames" in facet.schema)
            yield from self.misfits((_TYPED["string"], *names), taken.below("propertyNames"))

    def _member(self, facets: _Given, name: str, taken: _Node) -> Iterator[_Event]:
        given, is_named = _member(facets, name)
        if not is_named and (given is None or _is_empty(_facets(given))):
            yield taken.at
        elif given is not None:
            yield from self.misfits(given, taken)

    def _others(self, facets: _Given, taken: _Node, declared: Iterable[str]) -> Iterator[_Event]:
        """Members that the properties of ``taken`` do not name."""
        others = taken.get("additionalProperties", True)
        if others is True or others == {}:
            return
        closed = taken.below("additionalProperties")
        for name in declared:
            given, _is_named = _member(facets, name)
            if given is None or _is_empty(_facets(given)):
                continue
            if others is False:
                yield Misfit(what=What.GONE, at=_names(facets)[name].at, given=name)
            else:
                yield from self.misfits(given, closed)
        given = _unnamed(facets, taken.get("patternProperties", {}))
        if others is False and not _is_empty(_facets(given)):
            yield Misfit(what=What.CLOSED, at=closed.at)
        elif others is not False:
            yield from self.misfits(given, closed)

    # -- arrays --

    def _items(self, facets: _Given, taken: _Node) -> Iterator[_Event]:
        first = taken.get("prefixItems", [])
        most = _bound(facets, "maxItems", None, is_lower=False)
        limit = None if most is None else -most[0]
        for index in range(len(first)):
            if limit is None or index < limit:
                yield from self.misfits(_item(facets, index), taken.below("prefixItems", index))
        if "items" in taken.schema and (limit is None or len(first) < limit):
            yield from self.misfits(_further_items(facets, len(first)), taken.below("items"))

    # -- several schemas for one value --

    def _not(self, facets: _Given, taken: _Node) -> Iterator[_Event]:
        refused = taken.below("not")
        if refused.schema is True or refused.schema == {}:
            yield Misfit(what=What.TYPE, at=taken.at, given=_types_of(facets), taken="nothing")
            return
        for facet in facets:
            if "not" in facet.schema and self._is_contained((refused,), facet.below("not")):
                return
        yield Misfit(what=What.UNKNOWN, at=refused.at, taken="not")

    def _choice(self, facets: _Given, taken: _Node, keyword: str) -> list[_Event]:
        branches = [taken.below(keyword, index) for index in range(len(taken.schema[keyword]))]
        if keyword == "oneOf" and not _are_apart(branches):
            if any(self._is_same_choice(facet, branches) for facet in facets):
                return []
            return [Misfit(what=What.UNKNOWN, at=f"{taken.at}/oneOf", taken="oneOf")]
        kinds = _kinds(facets)
        near = [branch for branch in branches if kinds & _kinds(_facets((branch,)))]
        if not near:
            said = ", ".join(_types_of(_facets((branch,))) for branch in branches)
            return [Misfit(what=What.CHOICE, at=f"{taken.at}/{keyword}", given=_types_of(facets), taken=said)]
        best: list[_Event] | None = None
        learned: list[tuple[Any, ...]] = []
        for branch in near:
            mark = len(self._order)
            events = self._in_place(facets, branch)
            if best is None or len(events) < len(best):
                best, learned = events, self._order[mark:]
            self._forget(mark)
            if not events:
                break
        for pair in learned:
            self._assume(pair)
        return best or []

    def _is_same_choice(self, facet: _Node, branches: list[_Node]) -> bool:
        """Whether the facet's ``oneOf`` has schemas that permit the same, one by one."""
        listed = facet.schema.get("oneOf", ())
        return len(listed) == len(branches) and all(
            self._is_contained((facet.below("oneOf", index),), branch)
            and self._is_contained((branch,), facet.below("oneOf", index))
            for index, branch in enumerate(branches)
        )

    def _is_contained(self, given: _Given, taken: _Node) -> bool:
        """
        By JSON Schema's own reading, for which nothing that is being compared may be assumed.

        Members that nobody is said to give count as given here: this is about the schemas' values, and an object
        may be one more of those.
        """
        walk = _Walk(self._sameness)
        walk.steps = self.steps
        events = walk.misfits(given, taken)
        self.steps = walk.steps
        return not events

    def _assume(self, pair: tuple[Any, ...]) -> bool:
        """Whether the pair is new."""
        if pair in self._assumed:
            return False
        self._assumed.add(pair)
        self._order.append(pair)
        return True

    def _forget(self, mark: int) -> None:
        """Take back what was assumed since there were ``mark`` pairs."""
        self._assumed.difference_update(self._order[mark:])
        del self._order[mark:]


# -- what schemas that hold together say --


def _facets(given: Iterable[_Node]) -> _Given:
    """The schemas behind references and ``allOf``, each with its own keywords; False stands for one without values."""
    waiting, facets = list(given), {}
    while waiting:
        node = waiting.pop(0)
        if node.key in facets or node.schema is True:
            continue
        if not isinstance(node.schema, dict) or node.schema.get("not", False) in (True, {}):
            return (_Node(schema=False, at=node.at, root=False, root_at=node.at),)
        facets[node.key] = replace(node, used=node.used | {"$ref", "allOf"})
        if node.get("$ref") is not None and (target := node.target()) is not None:
            waiting.append(target)
        waiting += [node.below("allOf", index) for index in range(len(node.get("allOf", ())))]
    return tuple(facets.values())


def _is_empty(facets: _Given) -> bool:
    """Whether no value at all is given."""
    return any(facet.schema is False for facet in facets) or not _kinds(facets) or _values(facets) == []


def _kinds(facets: _Given, depth: int = 4) -> frozenset[str]:
    """
    The kinds of values: JSON Schema's types, with ``fraction`` for a number that is no integer.

    Choices in choices count down to ``depth``; what stands deeper may be of any kind.
    """
    kinds = _KINDS
    for facet in facets:
        if facet.schema is False:
            return frozenset()
        if "type" in facet.schema:
            kinds &= _expanded(facet.schema["type"])
        for keyword in _CHOICES if depth else ():
            if facet.get(keyword):
                branches = [facet.below(keyword, index) for index in range(len(facet.schema[keyword]))]
                kinds &= frozenset().union(*(_kinds(_facets((branch,)), depth - 1) for branch in branches))
    return kinds


def _expanded(types: Any) -> frozenset[str]:
    named = frozenset([types] if isinstance(types, str) else types)
    return (named - {"number"}) | _NUMBERS if "number" in named else named


def _types_of(facets: _Given) -> str:
    """The types in JSON Schema's words, ``integer or null``; "" when all are possible."""
    kinds = _kinds(facets)
    named = {"number" if kind == "fraction" else kind for kind in kinds}
    if "number" in named:
        named.discard("integer")
    return "" if kinds == _KINDS else " or ".join(sorted(named, key=lambda name: (name == "null", name)))


def _values(facets: _Given) -> list[Any] | None:
    """All values there are; None when they are not listed."""
    kinds = _kinds(facets)
    listed = [values for facet in facets if (values := _listed(facet.schema)) is not None]
    if not listed:
        finite: dict[str, list[Any]] = {"null": [None], "boolean": [False, True]}
        return [value for kind in kinds for value in finite[kind]] if kinds <= finite.keys() else None
    common = set.intersection(*({_spelled(value) for value in values} for values in listed))
    return [value for value in listed[0] if _spelled(value) in common and _kind_of(value) in kinds]


def _listed(schema: Any) -> list[Any] | None:
    if not isinstance(schema, dict):
        return None
    if "const" in schema:
        constant = [schema["const"]]
        allowed = {_spelled(value) for value in schema.get("enum", constant)}
        return [value for value in constant if _spelled(value) in allowed]
    return schema.get("enum")


def _spelled(value: Any) -> bytes:
    """Equal for what JSON Schema counts as equal: 1 and 1.0 are, 1 and true are not."""
    return canonical_json(_whole(value))


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {name: _whole(member) for name, member in value.items()} if isinstance(value, dict) else value


def _kind_of(value: Any) -> str:
    kinds = ("null", "boolean", "integer", "string", "array", "object")
    return next((kind for kind in kinds if is_of_type(value, kind)), "fraction")


def _cases(facets: _Given, taken: _Node) -> list[_Given]:
    """What is given, told apart by the first choice in it, or by type where ``taken`` is a choice; else none."""
    for facet in facets:
        for keyword in _CHOICES:
            if facet.get(keyword):
                branches = [facet.below(keyword, index) for index in range(len(facet.schema[keyword]))]
                rest = tuple(
                    replace(other, used=other.used | {keyword}) if other is facet else other for other in facets
                )
                return [(*rest, *_facets((branch,))) for branch in branches]
    kinds = _kinds(facets)
    named = [name for name in _TYPED if _expanded(name) & kinds]
    is_choice = any(taken.schema.get(keyword) for keyword in _CHOICES)
    return [(*facets, _TYPED[name]) for name in named] if is_choice and len(named) > 1 else []


def _member(facets: _Given, name: str) -> tuple[_Given | None, bool]:
    """The schemas of a member, None when nobody gives it, and whether any schema names it."""
    found: list[_Node] = []
    is_named = is_silent = False
    for facet in facets:
        declared = facet.get("properties", {})
        own = [facet.below("properties", name)] if name in declared else []
        fitting = [pattern for pattern in facet.get("patternProperties", {}) if _matches(name, (pattern,))]
        own += [facet.below("patternProperties", pattern) for pattern in fitting]
        is_named = is_named or bool(own)
        if not own and "additionalProperties" in facet.schema:
            own = [facet.below("additionalProperties")]
        elif not own and declared:
            is_silent = True
        found += own
    if found:
        return tuple(found), is_named
    return (None if is_silent else (_ANYTHING,)), False


def _unnamed(facets: _Given, patterns: Iterable[str]) -> _Given:
    """The schemas of members that no schema names and no pattern of the taking side fits."""
    found = tuple(
        facet.below("additionalProperties")
        for facet in facets
        if "additionalProperties" in facet.schema and set(facet.get("patternProperties", {})) <= set(patterns)
    )
    return found or (_ANYTHING,)


def _under_pattern(facets: _Given, pattern: str) -> _Given:
    """The schemas of members that no ``properties`` name and the pattern fits."""
    found = []
    for facet in facets:
        if pattern in facet.get("patternProperties", {}):
            found.append(facet.below("patternProperties", pattern))
        elif "additionalProperties" in facet.schema and not facet.get("patternProperties"):
            found.append(facet.below("additionalProperties"))
    return tuple(found) or (_ANYTHING,)


def _item(facets: _Given, index: int) -> _Given:
    found = []
    for facet in facets:
        if index < len(facet.get("prefixItems", ())):
            found.append(facet.below("prefixItems", index))
        elif "items" in facet.schema:
            found.append(facet.below("items"))
    return tuple(found) or (_ANYTHING,)


def _further_items(facets: _Given, start: int) -> _Given:
    """The schemas of all items from ``start`` on; one whose own prefix reaches further says nothing of them all."""
    reaching = (facet for facet in facets if len(facet.get("prefixItems", ())) <= start)
    return tuple(facet.below("items") for facet in reaching if "items" in facet.schema) or (_ANYTHING,)


def _in_place(nodes: Iterable[_Node]) -> list[_Node]:
    """All schemas that may describe the same value."""
    waiting, seen = list(nodes), {}
    while waiting:
        node = waiting.pop(0)
        if not isinstance(node.schema, dict) or node.key in seen:
            continue
        seen[node.key] = node
        if node.get("$ref") is not None and (target := node.target()) is not None:
            waiting.append(target)
        for keyword in IN_PLACE - {"not"} - node.used:
            inner = node.schema.get(keyword)
            if isinstance(inner, list):
                waiting += [node.below(keyword, index) for index in range(len(inner))]
            elif keyword == "dependentSchemas" and inner:
                waiting += [node.below(keyword, name) for name in inner]
            elif isinstance(inner, dict):
                waiting.append(node.below(keyword))
    return list(seen.values())


def _names(nodes: Iterable[_Node]) -> dict[str, _Node]:
    """Every member that a schema names, in whatever choice."""
    return {
        name: node.below("properties", name) for node in _in_place(nodes) for name in node.schema.get("properties", ())
    }


def _patterns(nodes: Iterable[_Node]) -> list[str]:
    return [pattern for node in _in_place(nodes) for pattern in node.schema.get("patternProperties", ())]


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(_compiled(pattern).search(name) for pattern in patterns)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "possible nested set" and the like: about style, not validity
        return re.compile(pattern)


# -- single keywords --


def _type_misfit(facets: _Given, taken: _Node) -> Misfit | None:
    types = taken.schema.get("type")
    if types is None or _kinds(facets) <= _expanded(types):
        return None
    values = _values(facets)
    if values is not None and {_kind_of(value) for value in values} <= _expanded(types):
        return None
    wanted = _types_of((_node({"type": types}, "", None, ""),))
    return Misfit(what=What.TYPE, at=f"{taken.at}/type", given=_types_of(facets), taken=wanted)


def _value_misfits(values: list[Any] | None, facets: _Given, taken: _Node) -> Iterator[Misfit]:
    allowed = _listed(taken.schema)
    if allowed is None:
        return
    keyword = "const" if "const" in taken.schema else "enum"
    if values is None:
        yield Misfit(what=What.VALUES, at=f"{taken.at}/{keyword}", taken=_written(allowed))
        return
    spelled = {_spelled(value) for value in allowed}
    if lost := [value for value in values if _spelled(value) not in spelled]:
        yield Misfit(what=What.VALUES, at=f"{taken.at}/{keyword}", given=_written(lost), taken=_written(allowed))


def _bound_misfits(kinds: frozenset[str], values: list[Any] | None, facets: _Given, taken: _Node) -> Iterator[Misfit]:
    for keyword, exclusive, is_lower, about in _BOUNDS:
        asked = _bound((taken,), keyword, exclusive, is_lower=is_lower)
        if asked is None or not kinds & about or (is_lower and exclusive is None and asked[0] <= 0):
            continue
        promised = _bound(facets, keyword, exclusive, is_lower=is_lower)
        if promised is not None and promised >= asked:
            continue
        if values is not None and all(
            _measured(value, is_lower) >= asked for value in values if _kind_of(value) in about
        ):
            continue
        name = exclusive if exclusive and asked[1] else keyword
        yield Misfit(
            what=What.RULE, at=f"{taken.at}/{name}", given=_said(facets, name), taken=_written(taken.schema[name])
        )


def _bound(facets: _Given, keyword: str, exclusive: str | None, *, is_lower: bool) -> tuple[Any, bool] | None:
    """The strictest bound, in an order in which a larger one is stricter."""
    sign = 1 if is_lower else -1
    found = [(sign * facet.schema[keyword], False) for facet in facets if keyword in facet.schema]
    if exclusive is not None:
        found += [(sign * facet.schema[exclusive], True) for facet in facets if exclusive in facet.schema]
    return max(found, default=None)


def _measured(value: Any, is_lower: bool) -> tuple[Any, bool]:
    """A value's own bound; it is as strict as an inclusive one of its size."""
    size = value if isinstance(value, int | float) else len(value)
    return (size if is_lower else -size), False


def _rule_misfits(kinds: frozenset[str], facets: _Given, taken: _Node) -> Iterator[Misfit]:
    for keyword, about in _EQUAL_OR_MORE.items():
        asked = taken.schema.get(keyword)
        if asked is None or asked is False or not kinds & about:
            continue
        if not any(keyword in facet.schema and _promises(keyword, facet, taken) for facet in facets):
            yield Misfit(
                what=What.RULE, at=f"{taken.at}/{keyword}", given=_said(facets, keyword), taken=_written(asked)
            )


def _promises(keyword: str, facet: _Node, taken: _Node) -> bool:
    said, asked = facet.schema[keyword], taken.schema[keyword]
    if keyword == "contentSchema":
        return _alike(facet.below(keyword), taken.below(keyword))
    if keyword == "multipleOf" and isinstance(said, int) and isinstance(asked, int):
        return said % asked == 0
    return _spelled(said) == _spelled(asked)


def _required_misfits(facets: _Given, taken: _Node) -> Iterator[Misfit]:
    promised = {name for facet in facets for name in facet.schema.get("required", ())}
    named = taken.schema.get("properties", {})
    for name in taken.schema.get("required", ()):
        if name not in promised:
            place = pointer("properties", name) if name in named else "/required"
            yield Misfit(what=What.REQUIRED, at=taken.at + place, given=name)
    for trigger, names in taken.schema.get("dependentRequired", {}).items():
        said = {name for facet in facets for name in facet.schema.get("dependentRequired", {}).get(trigger, ())}
        for name in names:
            if name not in promised | said:
                place = pointer("dependentRequired", trigger)
                yield Misfit(what=What.REQUIRED, at=taken.at + place, given=name)


def _opaque_misfits(kinds: frozenset[str], facets: _Given, taken: _Node) -> Iterator[Misfit]:
    for keywords, about in _OPAQUE:
        if keywords[0] not in taken.schema or not kinds & about:
            continue
        if not any(_alike_in(keywords, facet, taken) for facet in facets):
            yield Misfit(what=What.UNKNOWN, at=f"{taken.at}/{keywords[0]}", taken=keywords[0])


def _alike_in(keywords: Iterable[str], facet: _Node, taken: _Node) -> bool:
    parts = ({name: node.schema[name] for name in keywords if name in node.schema} for node in (facet, taken))
    one, other = (replace(node, schema=part) for node, part in zip((facet, taken), parts, strict=True))
    return _alike(one, other)


def _alike(one: _Node, other: _Node, seen: frozenset[tuple[int, int]] = frozenset()) -> bool:
    """Whether two schemas say the same, annotations aside, behind their references too."""
    if not isinstance(one.schema, dict) or not isinstance(other.schema, dict):
        return one.schema is other.schema
    pair = (id(one.schema), id(other.schema))
    if pair in seen:
        return True
    if len(seen) > _DEPTH:
        return False
    seen |= {pair}
    keywords = one.schema.keys() - ANNOTATIONS - {"$defs", "$id"}
    return keywords == other.schema.keys() - ANNOTATIONS - {"$defs", "$id"} and all(
        _alike_at(keyword, one, other, seen) for keyword in keywords
    )


def _alike_at(keyword: str, one: _Node, other: _Node, seen: frozenset[tuple[int, int]]) -> bool:
    left, right = one.schema[keyword], other.schema[keyword]
    if keyword == "$ref":
        targets = one.target(), other.target()
        return targets[0] is not None and targets[1] is not None and _alike(*targets, seen)  # type: ignore[arg-type]
    if keyword in ONE_SCHEMA:
        return _alike(one.below(keyword), other.below(keyword), seen)
    if keyword in SCHEMA_LISTS:
        places = range(len(left))
        return len(left) == len(right) and all(
            _alike(one.below(keyword, index), other.below(keyword, index), seen) for index in places
        )
    if keyword in SCHEMA_MAPS:
        return left.keys() == right.keys() and all(
            _alike(one.below(keyword, name), other.below(keyword, name), seen) for name in left
        )
    if keyword in _UNORDERED and isinstance(left, list) and isinstance(right, list):
        return {_spelled(item) for item in left} == {_spelled(item) for item in right}
    return _spelled(left) == _spelled(right)


def _are_apart(branches: list[_Node]) -> bool:
    """Whether no value fits two of the schemas, as far as their types and constants tell."""
    facets = [_facets((branch,)) for branch in branches]
    return all(_is_apart(one, other) for index, one in enumerate(facets) for other in facets[:index])


def _is_apart(one: _Given, other: _Given) -> bool:
    both = (*one, *other)
    if _is_empty(both):
        return True
    if _kinds(both) != {"object"}:
        return False
    required = {name for facet in both for name in facet.schema.get("required", ())}
    return any(
        (schemas := _member(both, name)[0]) is not None and _is_empty(_facets(schemas)) for name in sorted(required)
    )


def _said(facets: _Given, keyword: str) -> str:
    return next((_written(facet.schema[keyword]) for facet in facets if keyword in facet.schema), "")


def _written(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str | int | float | None) for item in value):
        return ", ".join(canonical_json(item).decode() for item in value)
    return canonical_json(value).decode()
