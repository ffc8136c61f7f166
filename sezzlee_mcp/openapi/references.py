"""What a ``$ref`` leads to: values are followed here, schemas are given the name of their definition."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from sezzlee_mcp.canonical import pointer
from sezzlee_mcp.openapi.findings import Findings
from sezzlee_mcp.openapi.versions import Dialect

SCHEMAS = "/components/schemas/"
_MISSING = object()
_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_FRAGMENT_SAFE = "!$&'()*+,;=:@-._~"  # RFC 3986, what a fragment holds unescaped; "/" is the pointer's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A value of the document and the pointer to where it stands."""

    value: Any
    at: str

    def member(self, key: str) -> "Located":
        """The value under ``key``; None stands for one that is not there, as it does for null."""
        return Located(value=self.value.get(key) if isinstance(self.value, dict) else None, at=self.at + pointer(key))

    @property
    def mapping(self) -> dict[str, Any]:
        """The value when it is an object, else an empty one."""
        return self.value if isinstance(self.value, dict) else {}


class References:
    """The references of one document, and the name that each schema they lead to has in ``$defs``."""

    def __init__(self, document: dict[str, Any], dialect: Dialect) -> None:
        self.dialect = dialect
        self._document = document
        self._pointers: dict[str, str] = {}

    def at(self, path: str) -> Any:
        """The value at a pointer; None for one that leads nowhere."""
        value = self._find(path)
        return None if value is _MISSING else value

    def follow(self, located: Located, findings: Findings) -> Located | None:
        """
        What ``located`` is once its references are followed, or None with a finding.

        For everything but schemas: those may refer to themselves, and keep their references.
        """
        seen: set[str] = set()
        while "$ref" in located.mapping:
            at = f"{located.at}/$ref"
            path = self.pointer_of(located.mapping["$ref"], at, findings)
            if path is None:
                return None
            if path in seen:
                findings.add("circular_component_ref", at, reference=f"#{path}")
                return None
            seen.add(path)
            located = Located(value=self._find(path), at=path)
        return located

    def pointer_of(self, reference: Any, at: str, findings: Findings) -> str | None:
        """The pointer that ``reference`` holds, or None with a finding: it leads out of the document, or nowhere."""
        if isinstance(reference, str) and not reference.startswith("#"):
            findings.add("external_ref_blocked", at, reference=reference)
            return None
        path = unquote(reference[1:]) if isinstance(reference, str) else None
        if path is None or self._find(path) is _MISSING:
            findings.add("unresolved_ref", at, reference=reference)
            return None
        return path

    def target(self, schema: Any) -> Any:
        """The schema that ``schema`` stands for once its references are followed; None when they lead nowhere."""
        seen: set[str] = set()
        while isinstance(schema, dict) and isinstance(reference := schema.get("$ref"), str):
            if reference in seen or not reference.startswith("#"):
                return None
            seen.add(reference)
            schema = self.at(unquote(reference[1:]))
        return schema

    def properties_of(self, schemas: Iterable[Any]) -> dict[str, Any]:
        """Every property that these schemas, and those which describe the same value with them, have by name."""
        declared: dict[str, Any] = {}
        waiting = list(schemas)
        seen: set[int] = set()
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            waiting.append(self.target(schema))
            properties = schema.get("properties")
            declared.update(properties if isinstance(properties, dict) else {})
            for keyword in ("allOf", "anyOf", "oneOf"):
                members = schema.get(keyword)
                waiting.extend(members if isinstance(members, list) else ())
        return declared

    def effective(self, schema: Any) -> dict[str, Any]:
        """The schema object whose keywords count: in 3.0 nothing stands beside a reference."""
        if isinstance(schema, dict) and "$ref" in schema and self.dialect.ignores_ref_siblings:
            schema = self.target(schema)
        return schema if isinstance(schema, dict) else {}

    def mapped(self, mapping: Any) -> dict[str, list[str]]:
        """The values of a discriminator's mapping by the reference that each stands for; a name is a component's."""
        values: dict[str, list[str]] = {}
        for value, named in (mapping if isinstance(mapping, dict) else {}).items():
            if isinstance(named, str):
                is_component = self.at(SCHEMAS + pointer(named)[1:]) is not None
                values.setdefault(f"#{SCHEMAS}{named}" if is_component else named, []).append(value)
        return values

    def definition_of(self, path: str) -> str:
        """The key in ``$defs`` of the schema at ``path``: a component's name, the pointer of any other schema."""
        tail = path.removeprefix(SCHEMAS)
        name = path if tail == path or "/" in tail else _unescaped(tail)
        if self._pointers.setdefault(name, path) != path:
            name = f"#{path}"  # a component whose name is spelled like a pointer
            self._pointers[name] = path
        return name

    def path_of(self, definition: str) -> str:
        """The pointer of the schema that has this key in ``$defs``."""
        return self._pointers[definition]

    def _find(self, path: str) -> Any:
        if path and not path.startswith("/"):
            return _MISSING
        value: Any = self._document
        for token in path.split("/")[1:]:
            value = _step(value, _unescaped(token))
            if value is _MISSING:
                break
        return value


def definition_ref(definition: str) -> str:
    """The ``$ref`` that reaches this key of the slot's own ``$defs``."""
    return "#/$defs/" + quote(pointer(definition)[1:], safe=_FRAGMENT_SAFE)


def definition_of_ref(reference: str) -> str:
    """The key of the slot's own ``$defs`` that ``definition_ref`` reaches with it."""
    return _unescaped(unquote(reference.removeprefix("#/$defs/")))


def _step(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return value.get(token, _MISSING)
    if isinstance(value, list) and _ARRAY_INDEX.fullmatch(token) and int(token) < len(value):
        return value[int(token)]
    return _MISSING


def _unescaped(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")
