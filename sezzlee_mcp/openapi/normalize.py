"""One schema of an OpenAPI document -> JSON Schema 2020-12 (operations.md, "Normalising")."""

from enum import StrEnum
from typing import Any

from sezzlee_mcp.canonical import pointer
from sezzlee_mcp.openapi import rewrites
from sezzlee_mcp.openapi.findings import Findings, FirstOnly, kind
from sezzlee_mcp.openapi.keywords import (
    DROPPED,
    IN_PLACE,
    ONE_SCHEMA,
    SCHEMA_LISTS,
    SCHEMA_MAPS,
    VALUES,
    is_pattern,
)
from sezzlee_mcp.openapi.references import References, definition_ref


class Direction(StrEnum):
    """Which way the described value travels; the value is the keyword that keeps a property out of it."""

    REQUEST = "readOnly"
    RESPONSE = "writeOnly"


class Normalizer:
    """
    Normalises one schema; ``definitions`` are the keys in ``$defs`` that it then refers to, once per reference.

    A schema of any shape gives a valid one: what JSON Schema does not allow is removed and reported.
    """

    def __init__(self, references: References, direction: Direction, findings: Findings, removed: FirstOnly) -> None:
        self.definitions: list[str] = []
        self._references = references
        self._direction = direction
        self._findings = findings
        self._removed = removed

    def normalize(self, schema: Any, at: str, enclosing: tuple[dict[str, Any], ...] = ()) -> dict[str, Any] | bool:
        """The schema in JSON Schema; ``enclosing`` are the raw schemas around it that describe the same value."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            if schema is not None:  # null is what drf-spectacular writes when it was told nothing (P38)
                self._findings.add("schema_malformed", at, kind=kind(schema))
            return {}
        raw = self._rewritten(schema, at)
        nullable = raw.get("nullable") is True
        normal = _joined(self._with_constants(raw, self._members(raw, at, (*enclosing, raw))))
        normal = rewrites.untype_foreign_enum(normal, nullable=nullable)
        return rewrites.admit_null(normal) if nullable else normal

    def _rewritten(self, schema: dict[str, Any], at: str) -> dict[str, Any]:
        if "$ref" in schema and self._references.dialect.ignores_ref_siblings:
            schema = self._without_siblings(schema, at)
        schema = rewrites.fold_enums(schema, self._references.target)
        for rewrite in (rewrites.open_url_or_empty, rewrites.numeric_bounds, rewrites.examples, rewrites.settle_format):
            schema = rewrite(schema)
        return schema

    def _without_siblings(self, schema: dict[str, Any], at: str) -> dict[str, Any]:
        kept = {key: value for key, value in schema.items() if key in {"$ref", "nullable"}}
        if ignored := sorted(schema.keys() - kept.keys()):
            self._findings.add("ref_siblings_ignored", f"{at}/$ref", keywords=", ".join(ignored))
        return kept

    def _members(self, schema: dict[str, Any], at: str, enclosing: tuple[dict[str, Any], ...]) -> dict[str, Any]:
        normal: dict[str, Any] = {}
        for keyword, value in schema.items():
            if keyword in DROPPED or keyword == "nullable" or (value is None and keyword != "const"):
                continue
            normal.update(self._member(keyword, value, at + pointer(keyword), enclosing))
        return normal

    def _member(self, keyword: str, value: Any, at: str, enclosing: tuple[dict[str, Any], ...]) -> dict[str, Any]:
        """The keyword in the normal schema, as a dict of at most one member."""
        around = enclosing if keyword in IN_PLACE else ()
        if keyword in VALUES:
            return {keyword: value} if VALUES[keyword](value) else self._malformed(keyword, value, at)
        if keyword == "$ref":
            return self._reference(value, at)
        if keyword == "type":
            return self._type(value, at)
        if keyword == "required":
            return self._required(value, at, enclosing)
        if keyword in ONE_SCHEMA and not isinstance(value, list):
            return {keyword: self.normalize(value, at, around)}
        if keyword in SCHEMA_LISTS and isinstance(value, list):
            members = [self.normalize(item, f"{at}/{index}", around) for index, item in enumerate(value)]
            return {keyword: members} if members else {}  # nothing matches an empty union (P36)
        if keyword in SCHEMA_MAPS and isinstance(value, dict):
            return {keyword: self._schemas_by_name(keyword, value, at, around)}
        if keyword in ONE_SCHEMA | SCHEMA_LISTS | SCHEMA_MAPS:
            return self._malformed(keyword, value, at)
        if keyword == "$dynamicRef":
            self._findings.add("unresolved_ref", at, reference=value)
        else:
            self._removed.add("annotation_removed", at, keyword=keyword)
        return {}

    def _malformed(self, keyword: str, value: Any, at: str) -> dict[str, Any]:
        self._findings.add("keyword_malformed", at, keyword=keyword, kind=kind(value))
        return {}

    def _reference(self, reference: Any, at: str) -> dict[str, Any]:
        path = self._references.pointer_of(reference, at, self._findings)
        if path is None:
            return {}
        definition = self._references.definition_of(path)
        self.definitions.append(definition)
        return {"$ref": definition_ref(definition)}

    def _type(self, value: Any, at: str) -> dict[str, Any]:
        types = rewrites.read_types(value)
        if not types or not all(name in types for name in (value if isinstance(value, list) else [value])):
            self._malformed("type", value, at)
        return {"type": rewrites.type_keyword(types)} if types else {}

    def _with_constants(self, raw: dict[str, Any], normal: dict[str, Any]) -> dict[str, Any]:
        """The union with the discriminator's value in each member that its mapping names (P37)."""
        discriminator = raw.get("discriminator")
        if not isinstance(discriminator, dict) or not isinstance(name := discriminator.get("propertyName"), str):
            return normal
        values = self._references.mapped(discriminator.get("mapping"))
        for keyword in ("oneOf", "anyOf"):
            members = zip(raw.get(keyword) or (), normal.get(keyword, ()), strict=False)
            told = [self._told_apart(source, member, name, values) for source, member in members]
            normal = {**normal, keyword: told} if told else normal
        return normal

    def _told_apart(self, source: Any, member: Any, name: str, values: dict[str, list[str]]) -> Any:
        reference = source.get("$ref") if isinstance(source, dict) else None
        named = values.get(reference, []) if isinstance(reference, str) else []
        declared = self._references.properties_of([source]) if named else {}
        if not named or member.keys() != {"$ref"} or self._is_hidden(declared.get(name)):
            return member
        return {**member, "properties": {name: {"const": named[0]} if len(named) == 1 else {"enum": named}}}

    def _schemas_by_name(
        self, keyword: str, schemas: dict[str, Any], at: str, around: tuple[Any, ...]
    ) -> dict[str, Any]:
        normal = {}
        for name, schema in schemas.items():
            if keyword == "patternProperties" and not is_pattern(name):
                self._malformed(keyword, name, at + pointer(name))
            elif keyword != "properties" or not self._is_hidden(schema):
                normal[name] = self.normalize(schema, at + pointer(name), around)
        return normal

    def _is_hidden(self, schema: Any) -> bool:
        if not isinstance(schema, dict):
            return False
        if schema.get(self._direction) is True and not (
            "$ref" in schema and self._references.dialect.ignores_ref_siblings
        ):
            return True
        target = self._references.target(schema)
        return isinstance(target, dict) and target.get(self._direction) is True

    def _required(self, value: Any, at: str, enclosing: tuple[dict[str, Any], ...]) -> dict[str, Any]:
        if not isinstance(value, list):
            return self._malformed("required", value, at)
        names = rewrites.distinct([name for name in value if isinstance(name, str)])
        own = enclosing[-1].get("properties")
        declared = own if isinstance(own, dict) else {}
        if not all(name in declared for name in names):
            declared = self._references.properties_of(enclosing)
        for name in names:
            if name not in declared:
                self._findings.add("required_property_undeclared", at, name=name)
        kept = [name for name in names if name in declared and not self._is_hidden(declared[name])]
        return {"required": kept} if kept else {}


def _joined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without an ``allOf`` whose members can be said in one: what drf-spectacular puts beside a ``$ref``."""
    members = schema.get("allOf")
    if members is None:
        return schema
    rest = {key: value for key, value in schema.items() if key != "allOf"}
    if (
        len(members) == 1
        and isinstance(members[0], dict)
        and (only := rewrites.laid_over(members[0], rest)) is not None
    ):
        return only
    merged = rewrites.merge_objects([rest, *members] if rest else members)
    return schema if merged is None else merged
