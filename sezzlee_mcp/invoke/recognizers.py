"""The body of a 4xx -> its message and its fields (results.md, "Reading the body of a 4xx")."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sezzlee_mcp.errors import FieldProblem
from sezzlee_mcp.invoke.content import Content, Kind
from sezzlee_mcp.invoke.fields import Naming, NoFieldErrors, leaves, path_of

FIELDS_LISTED = 50
_MESSAGE_KEYS = ("message", "detail", "error_description", "error", "title", "reason")
_ITEM_MESSAGE_KEYS = ("detail", "message", "msg", "reason", "description", "title")
_ITEM_NAME_KEYS = ("attr", "loc", "field", "name", "pointer")
_PROBLEM_LISTS = ("errors", "invalid-params", "invalid_params")
_FIRST_WORD = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a body says: one message, or the problems of single fields."""

    message: str | None = None
    fields: tuple[FieldProblem, ...] = ()


Recognizer = Callable[[Any, Naming], Problem | None]


def read_problem(content: Content, naming: Naming) -> Problem:
    """What the body of a 4xx says; an empty ``Problem`` for HTML, bytes and whatever no recognizer knows."""
    if content.kind is Kind.TEXT and content.media_type in {None, "text/plain"}:
        is_markup = content.value.lstrip().startswith("<")
        return Problem(message=None if is_markup else _clean(content.value))
    if content.kind is not Kind.JSON:
        return Problem()
    found = (recognize(content.value, naming) for recognize in RECOGNIZERS)
    return next((problem for problem in found if problem is not None), Problem())


def _errors_object(value: Any, naming: Naming) -> Problem | None:
    """``{"errors": {field: messages}}``"""
    if not isinstance(value, dict) or naming.publishes("errors") or not isinstance(value.get("errors"), dict):
        return None
    return _fields_of(value["errors"], naming)


def _detail_structure(value: Any, naming: Naming) -> Problem | None:
    """``{"detail": [messages]}``, ``{"detail": {field: messages}}`` and ``{"detail": [{"loc", "msg"}]}``"""
    if not isinstance(value, dict) or naming.publishes("detail"):
        return None
    detail = value.get("detail")
    if isinstance(detail, list):
        return _list_fields(detail, naming)
    return _fields_of(detail, naming) if isinstance(detail, dict) else None


def _problem_list(value: Any, naming: Naming) -> Problem | None:
    """A list of ``{detail, attr}``, ``{reason, name}``, ``{detail, pointer}`` or of messages, under its usual keys."""
    if not isinstance(value, dict):
        return None
    lists = (value.get(key) for key in _PROBLEM_LISTS if not naming.publishes(key))
    problems = next((found for found in lists if isinstance(found, list) and found), None)
    return None if problems is None else _list_fields(problems, naming)


def _field_errors(value: Any, naming: Naming) -> Problem | None:
    """
    DRF's ``{field: [messages]}`` to any depth.

    A bare text under a field is DRF's too (``ValidationError({"quantity": "Too many."})`` in a view), but is
    taken as such only where the tool publishes the field: ``{"error": "..."}`` is a message.
    """
    if not isinstance(value, dict) or not value:
        return None
    if all(isinstance(messages, (list, dict)) or _is_text_of_field(key, naming) for key, messages in value.items()):
        return _fields_of(value, naming) if not _is_message_object(value) else None
    return None


def _is_text_of_field(key: str, naming: Naming) -> bool:
    return key.lower() not in _MESSAGE_KEYS and (naming.publishes(key) or naming.is_no_field(key))


def _is_message_object(value: Mapping[str, Any]) -> bool:
    """``{"error": {"code": ..., "message": "..."}}``: one message in a wrapper."""
    (only, *others) = value.items()
    return not others and only[0].lower() in _MESSAGE_KEYS and _own_message(only[1]) is not None


def _rows(value: Any, naming: Naming) -> Problem | None:
    """A list of messages, or of one object of field errors per row of the request."""
    return _list_fields(value, naming) if isinstance(value, list) else None


def _message_envelope(value: Any, naming: Naming) -> Problem | None:
    if not isinstance(value, dict):
        return None
    members = {key.lower(): member for key, member in value.items()}
    for key in _MESSAGE_KEYS:
        message = members.get(key)
        if isinstance(message, list) and message and all(isinstance(item, str) for item in message):
            return Problem(fields=tuple(_told(item, naming) for item in message[:FIELDS_LISTED]))
        text = _own_message(message) if isinstance(message, dict) else _clean(message)
        if text is not None:
            return Problem(message=text)
    return None


def _text(value: Any, naming: Naming) -> Problem | None:
    return Problem(message=_clean(value)) if isinstance(value, str) else None


RECOGNIZERS: tuple[Recognizer, ...] = (
    _errors_object,
    _detail_structure,
    _problem_list,
    _field_errors,
    _rows,
    _message_envelope,
    _text,
)


def _list_fields(value: list[Any], naming: Naming) -> Problem | None:
    return _items(value, naming) or _fields_of(value, naming)


def _fields_of(value: Any, naming: Naming) -> Problem | None:
    try:
        found = [
            FieldProblem(name=naming.text(path), message=message)
            for path, message in islice(leaves(value, ()), FIELDS_LISTED)
        ]
    except NoFieldErrors:
        return None
    return Problem(fields=tuple(found)) if found else None


def _items(problems: list[Any], naming: Naming) -> Problem | None:
    """The fields of a list whose every item is a text or an object that holds a message of its own."""
    read = [_item(problem, naming) for problem in problems[:FIELDS_LISTED]]
    fields = tuple(field for field in read if field is not None)
    return Problem(fields=fields) if fields and len(fields) == len(read) else None


def _item(problem: Any, naming: Naming) -> FieldProblem | None:
    if isinstance(problem, str):
        return FieldProblem(name=None, message=problem)
    if not isinstance(problem, dict):
        return None
    message = next((text for text in map(problem.get, _ITEM_MESSAGE_KEYS) if isinstance(text, str)), None)
    where = next((place for place in map(problem.get, _ITEM_NAME_KEYS) if isinstance(place, (str, list))), "")
    return None if message is None else FieldProblem(name=naming.text(path_of(where, naming)), message=message)


def _told(message: str, naming: Naming) -> FieldProblem:
    """A message whose first word is a published property belongs to that property."""
    word = _FIRST_WORD.match(message)
    return FieldProblem(name=naming.published_name(word[0]) if word else None, message=message)


def _own_message(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((text for text in map(_clean, map(value.get, _MESSAGE_KEYS)) if text is not None), None)


def _clean(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
