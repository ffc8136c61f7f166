"""Where a problem belongs: the backend's field names and paths -> the agent's, ``items[2].quantity``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_DEEPEST = 32  # errors of nested serializers are a few levels deep; more is no list of errors
_INDEX = re.compile("[0-9]{1,9}")
_PLACES = frozenset({"body", "query", "path", "header", "cookie", "form", "file"})

Path = tuple[str | int, ...]


class NoFieldErrors(ValueError):
    """The value has another shape than field errors have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How the backend's names become the agent's: ``published`` are the tool's properties."""

    published: Sequence[str] = ()
    non_field_errors_key: str = "non_field_errors"

    def published_name(self, name: str) -> str | None:
        """The published property that this is, whatever its case."""
        return next((known for known in self.published if known.lower() == name.lower()), None)

    def publishes(self, name: str) -> bool:
        return self.published_name(name) is not None

    def is_no_field(self, name: str) -> bool:
        """Whether the name stands for the whole object (``__all__`` is Django's own name for it)."""
        return name in {self.non_field_errors_key, "__all__", "", "$"}

    def text(self, path: Path) -> str | None:
        """``items[2].quantity``; None when the path names no field. A name that is not published stays as it came."""
        text = ""
        for part in path:
            if isinstance(part, int):
                text += f"[{part}]"
            elif not self.is_no_field(part):
                text += f".{part}" if text else self._first(part)
        return text or None

    def _first(self, name: str) -> str:
        bare = name.removeprefix("$.")  # a JSON path, as System.Text.Json writes them
        return self.published_name(bare) or bare


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
    """The path that ``items.2.quantity``, ``#/items/2/quantity`` or ``["body", "items", 2]`` spells."""
    if isinstance(where, str):
        is_pointer = where.startswith(("/", "#/"))
        where = where.removeprefix("#").lstrip("/").split("/") if is_pointer else where.split(".")
    parts = [int(part) if _INDEX.fullmatch(str(part)) else str(part) for part in where]
    return tuple(_without_place(parts, naming))


def _without_place(parts: list[str | int], naming: Naming) -> list[str | int]:
    """
    The parts from the published property on.

    ninja puts the place, and the name of the view's own argument, before it: ``["body", "payload", "quantity"]``.
    """
    if len(parts) < 2 or parts[0] not in _PLACES or naming.publishes(str(parts[0])):
        return parts
    published = (index for index, part in enumerate(parts) if isinstance(part, str) and naming.publishes(part))
    return parts[next(published, 1) :]
