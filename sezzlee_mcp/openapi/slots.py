"""A slot: the schema of one parameter, body or response, complete with the definitions that it refers to."""

from dataclasses import dataclass, replace
from typing import Any

from sezzlee_mcp.diagnostics import Diagnostic
from sezzlee_mcp.openapi import rewrites
from sezzlee_mcp.openapi.findings import Findings, FirstOnly
from sezzlee_mcp.openapi.keywords import ANNOTATIONS
from sezzlee_mcp.openapi.normalize import Direction, Normalizer
from sezzlee_mcp.openapi.references import Located, References, definition_ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """
    A schema, valid by itself: each ``$ref`` in it resolves in its own ``$defs``.

    ``is_circular``: its root is a reference that only ever leads back to itself. Slots of one document
    share what they have in common, so a schema is never changed in place.
    """

    schema: dict[str, Any]
    is_circular: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Root:
    """A schema without the definitions it needs: their keys, once per reference, and those opened on the way."""

    schema: Any
    definitions: tuple[str, ...]
    opened: tuple[str, ...] = ()
    is_circular: bool = False

    def definition_of(self, reference: str) -> str:
        return next(definition for definition in self.definitions if definition_ref(definition) == reference)

    def replacing(self, definition: str, schema: Any, component: "_Component") -> "_Root":
        """The root with one reference to ``definition`` replaced by what it stands for."""
        left = list(self.definitions)
        left.remove(definition)
        return _Root(schema=schema, definitions=(*left, *component.definitions), opened=(*self.opened, definition))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Component:
    """A schema that others refer to, normalised for one direction."""

    schema: Any
    definitions: tuple[str, ...]
    drops: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bag:
    """All that some definitions refer to, themselves included, and what was found wrong there."""

    schemas: dict[str, Any]
    drops: tuple[Diagnostic, ...]


class Slots:
    """The slots of one document. A component is normalised once per direction, whatever the number of its users."""

    def __init__(self, references: References, findings: Findings) -> None:
        self.references = references
        self._findings = findings
        self._removed = FirstOnly(findings)
        self._components: dict[tuple[str, Direction], _Component] = {}
        self._bags: dict[tuple[frozenset[str], Direction], _Bag] = {}
        self._of_reference: dict[tuple[str, Direction], tuple[Slot, tuple[Diagnostic, ...]]] = {}

    def read(self, located: Located, direction: Direction, findings: Findings) -> Slot:
        """The slot of the raw schema ``located``; what is wrong with it goes to ``findings``."""
        normalizer = Normalizer(self.references, direction, findings, self._removed)
        normal = normalizer.normalize(located.value, located.at)
        if isinstance(normal, bool):
            return Slot(schema={} if normal else {"not": {}})
        slot, drops = self._completed(_Root(schema=normal, definitions=tuple(normalizer.definitions)), direction)
        findings.relay(drops)
        return slot

    def _completed(self, root: _Root, direction: Direction) -> tuple[Slot, tuple[Diagnostic, ...]]:
        if root.schema.keys() != {"$ref"}:
            return self._with_definitions(root, direction)
        key = (root.definitions[0], direction)
        if key not in self._of_reference:
            self._of_reference[key] = self._with_definitions(root, direction)
        return self._of_reference[key]

    def _with_definitions(self, root: _Root, direction: Direction) -> tuple[Slot, tuple[Diagnostic, ...]]:
        root = self._merged(self._opened(root, direction), direction)
        bag = self._bag(frozenset(root.definitions), direction)
        drops = [drop for definition in root.opened for drop in self._component(definition, direction).drops]
        schema = {**root.schema, "$defs": bag.schemas} if bag.schemas else root.schema
        return Slot(schema=schema, is_circular=root.is_circular), (*drops, *bag.drops)

    def _opened(self, root: _Root, direction: Direction) -> _Root:
        """The root with the references at its top opened, one by one, also where null is admitted beside them."""
        start = root
        while (top := _top_reference(root.schema)) is not None:
            reference, siblings, admits_null = top
            definition = root.definition_of(reference)
            if definition in root.opened:
                return replace(start, is_circular=True)
            component = self._component(definition, direction)
            laid = rewrites.laid_over(component.schema, siblings) if isinstance(component.schema, dict) else None
            if laid is None:
                return root
            root = root.replacing(definition, rewrites.admit_null(laid) if admits_null else laid, component)
        return root

    def _merged(self, root: _Root, direction: Direction) -> _Root:
        """The root with its ``allOf``, through the references in it, as one object; unchanged when it takes several."""
        if "allOf" not in root.schema:
            return root
        merged, waiting, parts = root, [root.schema], []
        while waiting:
            part = waiting.pop(0)
            if not isinstance(part, dict):
                return root
            if "$ref" in part:
                definition = merged.definition_of(part["$ref"])
                component = self._component(definition, direction)
                is_new = definition not in merged.opened
                merged = merged.replacing(definition, None, component if is_new else _NOTHING)
                waiting[:0] = [*_rest(part, "$ref"), *([component.schema] if is_new else [])]
            elif "allOf" in part:
                waiting[:0] = [*_rest(part, "allOf"), *part["allOf"]]
            else:
                parts.append(part)
        schema = rewrites.merge_objects(parts)
        return root if schema is None else replace(merged, schema=schema)

    def _component(self, definition: str, direction: Direction) -> _Component:
        key = (definition, direction)
        if key not in self._components:
            path = self.references.path_of(definition)
            findings = Findings()
            normalizer = Normalizer(self.references, direction, findings, self._removed)
            schema = normalizer.normalize(self.references.at(path), path)
            self._findings.relay(findings.warnings)
            self._components[key] = _Component(
                schema=schema, definitions=tuple(normalizer.definitions), drops=findings.drops
            )
        return self._components[key]

    def _bag(self, definitions: frozenset[str], direction: Direction) -> _Bag:
        key = (definitions, direction)
        if key not in self._bags:
            self._bags[key] = self._collected(definitions, direction)
        return self._bags[key]

    def _collected(self, definitions: frozenset[str], direction: Direction) -> _Bag:
        found: dict[str, _Component] = {}
        waiting = list(definitions)
        while waiting:
            definition = waiting.pop()
            if definition not in found:
                found[definition] = self._component(definition, direction)
                waiting.extend(found[definition].definitions)
        ordered = sorted(found)
        return _Bag(
            schemas={definition: found[definition].schema for definition in ordered},
            drops=tuple(drop for definition in ordered for drop in found[definition].drops),
        )


_NOTHING = _Component(schema=None, definitions=(), drops=())


def _top_reference(schema: dict[str, Any]) -> tuple[str, dict[str, Any], bool] | None:
    """The reference that the schema is, what stands beside it, and whether null is admitted too."""
    if "$ref" in schema:
        return schema["$ref"], {key: value for key, value in schema.items() if key != "$ref"}, False
    siblings = {key: value for key, value in schema.items() if key != "anyOf"}
    members = [member for member in schema.get("anyOf", ()) if member != rewrites.NULL]
    is_nullable = len(members) == 1 and len(schema.get("anyOf", ())) == 2 and siblings.keys() <= ANNOTATIONS
    if is_nullable and isinstance(members[0], dict) and members[0].keys() == {"$ref"}:
        return members[0]["$ref"], siblings, True
    return None


def _rest(schema: dict[str, Any], keyword: str) -> list[dict[str, Any]]:
    rest = {key: value for key, value in schema.items() if key != keyword}
    return [rest] if rest else []
