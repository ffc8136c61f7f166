"""Which schemas a form can carry, and which of its fields are files (operations.md, "Bodies")."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.openapi import rewrites
from sezzlee_mcp.openapi.references import definition_of_ref

BRACKET = "bracket"
DRF = "drf"  # DRF's own form parser reads lists of objects and objects in objects, to any depth
_COMPOSITIONS = ("allOf", "anyOf", "oneOf")
_STRUCTURAL = frozenset("[].")


def is_file(schema: Any) -> bool:
    """Whether a form writes it as a file part: it has a media type and is not a text that encodes bytes."""
    return (
        isinstance(schema, dict)
        and isinstance(schema.get("contentMediaType"), str)  # a member body of staff's may hold anything
        and "contentEncoding" not in schema
        and [name for name in rewrites.type_list(schema) if name != "null"] == ["string"]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A normalised object schema, read as the fields of a form written in ``notation``."""

    schema: dict[str, Any]
    notation: str = BRACKET

    @property
    def fields(self) -> dict[str, Any]:
        """The root's fields by name, each as ``value_of`` gives it."""
        properties = self.value_of(self.schema).get("properties", {})
        return {name: self.value_of(schema) for name, schema in properties.items()}

    @property
    def has_file(self) -> bool:
        """Whether a file is anywhere among the fields, in lists and objects too."""
        waiting: list[dict[str, Any]] = [self.value_of(self.schema)]
        seen: set[int] = set()
        while waiting:
            owner = waiting.pop()
            if id(owner) in seen:
                continue
            seen.add(id(owner))
            fields = [self.value_of(schema) for schema in owner.get("properties", {}).values()]
            values = [self._items(field) if _is_array(field) else field for field in fields]
            if any(map(is_file, values)):
                return True
            waiting.extend(value for value in values if "properties" in value)
        return False

    def value_of(self, schema: Any) -> dict[str, Any]:
        """The schema behind a reference, and behind the null that it admits; ``{}`` for any value."""
        seen: set[str] = set()
        while isinstance(schema, dict):
            reference, members = schema.get("$ref"), _not_null(schema.get("anyOf", ()))
            if isinstance(reference, str) and reference not in seen:
                seen.add(reference)
                schema = self.schema.get("$defs", {}).get(definition_of_ref(reference))
            elif len(members) == 1 and "properties" not in schema:
                schema = members[0]
            else:
                return schema
        return {}

    def misfit(self, *, allows_files: bool) -> str | None:
        """Why the form cannot carry the schema; None when it can."""
        root = self.value_of(self.schema)
        if "properties" not in root or not _is_object(root) or any(key in root for key in _COMPOSITIONS):
            return "a form needs an object with named fields"
        if root.get("additionalProperties", False) is not False:
            return "a form has only the fields that are declared, and the schema admits others"
        if not allows_files and self.has_file:
            return "only multipart/form-data carries a file"
        return next(self._misfits(root), None)

    def _misfits(self, root: dict[str, Any]) -> Iterator[str]:
        waiting: list[tuple[str, dict[str, Any]]] = [("", root)]
        seen: set[int] = set()
        while waiting:
            path, owner = waiting.pop()
            if id(owner) in seen:
                continue
            seen.add(id(owner))
            for name, schema in owner["properties"].items():
                at, field = path + name, self.value_of(schema)
                reason, members = self._read(name, field, is_nested=bool(path))
                if reason is not None:
                    yield f"{at} {reason}"
                elif "properties" in members:
                    waiting.append((f"{at}.", members))

    def _read(self, name: str, field: dict[str, Any], *, is_nested: bool) -> tuple[str | None, dict[str, Any]]:
        """Why a field is not written, else the object that its members are written of (``{}``: it is none)."""
        value = self._items(field) if _is_array(field) else field
        if self._is_composed(value):
            return "is composed of several objects", {}
        is_marked = not _STRUCTURAL.isdisjoint(name)
        if not _is_object(value):
            is_marked &= is_nested
            return "is a list of lists" if _is_array(field) and _is_array(value) else _marked(is_marked), {}
        if self.notation != DRF and is_nested:
            return "is an object in an object", {}
        if self.notation != DRF and _is_array(field):
            return "is a list of objects", {}
        if self.notation != DRF and (
            "properties" not in value or value.get("additionalProperties", False) is not False
        ):
            return "is an object whose members are not all declared", {}
        return _marked(is_marked), value

    def _is_composed(self, value: dict[str, Any]) -> bool:
        members = [self.value_of(member) for key in _COMPOSITIONS for member in _not_null(value.get(key, ()))]
        return bool(members) and all(map(_is_object, members))

    def _items(self, field: dict[str, Any]) -> dict[str, Any]:
        return self.value_of(field.get("items")) if _is_array(field) else {}


def _marked(is_marked: bool) -> str | None:
    return "has a bracket or a dot in its name, which is how a member of an object is named" if is_marked else None


def _not_null(members: Any) -> list[Any]:
    return [member for member in members if member != rewrites.NULL]


def _is_array(schema: dict[str, Any]) -> bool:
    return "array" in rewrites.type_list(schema) or ("type" not in schema and "items" in schema)


def _is_object(schema: dict[str, Any]) -> bool:
    return "object" in rewrites.type_list(schema) or ("type" not in schema and "properties" in schema)
