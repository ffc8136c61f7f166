"""Where a problem belongs: the backend's field names and paths -> the agent's, ``items[2].quantity``."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from sezzlee_mcp.catalog.tools import Template
from sezzlee_mcp.invoke.supply import places_of

_DEEPEST = 32  # errors of nested serializers are a few levels deep; more is no list of errors
_INDEX = re.compile("[0-9]{1,9}")
_BRACKETED = re.compile(r"\[([0-9]{1,9})\]")
_JSON_PATH = "$."  # how System.Text.Json begins a field's name
_PLACES = frozenset({"body", "query", "path", "header", "cookie", "form", "file"})

Path = tuple[str | int, ...]


class NoFieldErrors(ValueError):
    """The value has another shape than field errors have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """
    How the backend's names become the agent's: ``published`` are the tool's properties.

    ``renamed`` leads from wire names to agent names; ``hidden`` are wire names that the agent must not read.
    """

    published: Sequence[str] = ()
    non_field_errors_key: str = "non_field_errors"
    renamed: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    @classmethod
    def of(cls, template: Template, published: Sequence[str], non_field_errors_key: str) -> Self:
        """The naming of a tool whose curated arguments its template knows."""
        curated = [(name, exposed.name) for name, exposed in places_of(template) if exposed is not None]
        return cls(
            published=published,
            non_field_errors_key=non_field_errors_key,
            renamed={name: agent_name for name, agent_name in curated if agent_name not in {None, name}},
            hidden=frozenset(name for name, agent_name in curated if agent_name is None),
        )

    def published_name(self, name: str) -> str | None:
        """The agent's name of the published property that this is, whatever its case."""
        known = {published.lower(): published for published in reversed(self.published)}
        known |= {wire_name.lower(): agent_name for wire_name, agent_name in self.renamed.items()}
        return known.get(name.lower())

    def hides(self, name: str) -> bool:
        return any(name.lower() == hidden.lower() for hidden in self.hidden)

    def publishes(self, name: str) -> bool:
        """Whether this is a field of the operation, curated away or not."""
        return self.published_name(name) is not None or self.hides(name)

    def is_no_field(self, name: str) -> bool:
        """Whether the name stands for the whole object (``__all__`` is Django's own name for it)."""
        return name in {self.non_field_errors_key, "__all__", "", "$"}

    def text(self, path: Path) -> str | None:
        """
        ``items[2].quantity``; None when the path names no field, or a hidden one.

        A name that is not published stays as it came.
        """
        parts = self._spread(path)
        if self.hides(next((part for part in parts if isinstance(part, str)), "")):
            return None
        text = ""
        for part in parts:
            if isinstance(part, int):
                text += f"[{part}]"
            else:
                text += f".{part}" if text else self.published_name(part) or part
        return text or None

    def _spread(self, path: Path) -> list[str | int]:
        """The parts that name something; a key that spells a path itself, ``$.items[0].sku``, is several."""
        parts = [part for part in path if isinstance(part, int) or not self.is_no_field(part)]
        place = next((place for place, part in enumerate(parts) if isinstance(part, str)), None)
        if place is None:
            return parts
        name = str(parts[place]).removeprefix(_JSON_PATH)
        spelled = [name] if self.publishes(name) else _spelled(name)
        return [*parts[:place], *(spelled if self.publishes(str(spelled[0])) else [name]), *parts[place + 1 :]]


def leaves(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Each message with the way to it; ``NoFieldErrors`` where something else than messages stands."""
    if len(path) > _DEEPEST:
        raise NoFieldErrors
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        yield from _list_leaves(value, path)
    elif isinstance(value, dict):
        yield from _dict_leaves(value, path)
    else:
        raise NoFieldErrors


def _list_leaves(value: list[Any], path: Path) -> Iterator[tuple[Path, str]]:
    for index, item in enumerate(value):
        yield from leaves(item, path if isinstance(item, str) or _is_full_detail(item) else (*path, index))


def _dict_leaves(value: dict[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    if _is_full_detail(value):
        yield path, value["message"]
        return
    # ListField, and since DRF 3.18 a serializer of many, name the elements that failed by their index. At the top
    # a lone number could be a field's name, a row of nothing but numbers is one of rows.
    are_rows = bool(path) or all(map(_INDEX.fullmatch, value))
    for key, member in value.items():
        yield from leaves(member, (*path, int(key) if are_rows and _INDEX.fullmatch(key) else key))


def _is_full_detail(value: Any) -> bool:
    """``{"message", "code"}``: an error as ``get_full_details()`` gives it."""
    return isinstance(value, dict) and set(value) == {"message", "code"} and isinstance(value["message"], str)


def path_of(where: str | list[Any], naming: Naming) -> Path:
    """
    The path that ``items[2].quantity``, ``items.2.quantity``, ``#/items/2`` or ``["body", "items", 2]`` spells.

    ``["body"]`` is the whole body and no field; a text ``body`` is a field of that name.
    """
    if isinstance(where, list):
        return tuple(_without_place(_parts(where), naming))
    parts = _spelled(where)
    return tuple(parts if len(parts) == 1 else _without_place(parts, naming))


def _spelled(text: str) -> list[str | int]:
    if text.startswith(("/", "#/")):
        return _parts(text.removeprefix("#").lstrip("/").split("/"))
    return _parts(_BRACKETED.sub(r".\1", text).split("."))


def _parts(where: list[Any]) -> list[str | int]:
    return [int(part) if _INDEX.fullmatch(str(part)) else str(part) for part in where]


def _without_place(parts: list[str | int], naming: Naming) -> list[str | int]:
    """
    The parts from the published property on.

    ninja puts the place, and the name of the view's own argument, before it: ``["body", "payload", "quantity"]``.
    """
    if not parts or parts[0] not in _PLACES or naming.publishes(str(parts[0])):
        return parts
    published = (index for index, part in enumerate(parts) if isinstance(part, str) and naming.publishes(part))
    return parts[next(published, 1) :]
