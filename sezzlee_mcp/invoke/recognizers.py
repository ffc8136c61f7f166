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
_ITEM_NAME_KEYS = ("attr", "loc", "field", "name", "pointer", "parameter")
_PROBLEM_LISTS = ("errors", "invalid-params", "invalid_params")
_NO_VALIDATION = "client_error"
_FIRST_WORD = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """
    What a body says: one message, or the problems of single fields.

    A recognizer of the host's names fields as the backend does, in any spelling that ``path_of`` reads.
    """

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


def renamed(problem: Problem, naming: Naming) -> Problem:
    """What a host's recognizer says, under the agent's names and within the bound of every list of fields."""
    fields = (
        FieldProblem(
            name=None if field.name is None else naming.text(path_of(field.name, naming)), message=field.message
        )
        for field in problem.fields[:FIELDS_LISTED]
    )
    return Problem(message=problem.message, fields=tuple(fields))


def _errors_object(value: Any, naming: Naming) -> Problem | None:
    """``{"errors": {field: messages}}``, and DRF's ``{"detail", "code"?}`` in the same wrapper."""
    if not isinstance(value, dict) or naming.publishes("errors") or not isinstance(value.get("errors"), dict):
        return None
    errors = value["errors"]
    is_message = set(errors) <= {"detail", "code"} and not naming.publishes("detail")
    message = _clean(errors.get("detail")) if is_message else None
    return _fields_of(errors, naming) if message is None else Problem(message=message)


def _detail_structure(value: Any, naming: Naming) -> Problem | None:
    """``{"detail": [messages]}``, ``{"detail": {field: messages}}`` and ``{"detail": [{"loc", "msg"}]}``"""
    detail = _wrapped(value, "detail", naming)
    if isinstance(detail, list):
        return _list_fields(detail, naming)
    if not isinstance(detail, dict):
        return None
    message = _own_message(detail, naming)
    return _fields_of(detail, naming) if message is None else Problem(message=message)


def _problem_list(value: Any, naming: Naming) -> Problem | None:
    """A list of ``{detail, attr}``, ``{reason, name}``, ``{detail, pointer}`` or of messages, under its usual keys."""
    lists = (_wrapped(value, key, naming) for key in _PROBLEM_LISTS)
    problems = next((found for found in lists if isinstance(found, list) and found), None)
    if problems is None:
        return None
    problem = _list_fields(problems, naming)
    # drf-standardized-errors lists the one message of any other exception as it lists those of a validation.
    if problem is not None and value.get("type") == _NO_VALIDATION and len(problem.fields) == 1:
        return Problem(message=problem.fields[0].message)
    return problem


def _wrapped(value: Any, key: str, naming: Naming) -> Any:
    """
    What stands under the key of a wrapper; None where the key is no wrapper's.

    It is a field's when the tool publishes it, when the host named the key for the whole object so, and when it is
    one of several that hold nothing but lists and objects, as DRF's fields do.
    """
    if not isinstance(value, dict) or naming.publishes(key) or naming.is_no_field(key):
        return None
    are_fields = len(value) > 1 and all(isinstance(member, (list, dict)) for member in value.values())
    return None if are_fields else value.get(key)


def _field_errors(value: Any, naming: Naming) -> Problem | None:
    """
    DRF's ``{field: [messages]}`` to any depth.

    A bare text under a field is DRF's too (``ValidationError({"quantity": "Too many."})`` in a view), but is
    taken as such only where the tool publishes the field: ``{"error": "..."}`` is a message.
    """
    if not isinstance(value, dict) or not value:
        return None
    if all(isinstance(messages, (list, dict)) or _is_text_of_field(key, naming) for key, messages in value.items()):
        return None if _is_message_object(value, naming) else _fields_of(value, naming)
    return None


def _is_text_of_field(key: str, naming: Naming) -> bool:
    return key.lower() not in _MESSAGE_KEYS and (naming.publishes(key) or naming.is_no_field(key))


def _is_message_object(value: Mapping[str, Any], naming: Naming) -> bool:
    """``{"error": {"code": ..., "message": "..."}}`` and ``{"error": {field: messages}}``: a message in a wrapper."""
    (only, *others) = value.items()
    key, member = only
    is_wrapper = key.lower() in _MESSAGE_KEYS and not naming.publishes(key) and not naming.is_no_field(key)
    return is_wrapper and not others and isinstance(member, dict)


def _rows(value: Any, naming: Naming) -> Problem | None:
    """A list of messages, or of one object of field errors per row of the request."""
    return _list_fields(value, naming) if isinstance(value, list) else None


def _message_envelope(value: Any, naming: Naming) -> Problem | None:
    if not isinstance(value, dict):
        return None
    members = {key.lower(): member for key, member in value.items()}
    found = (_message(members.get(key), naming) for key in _MESSAGE_KEYS)
    return next((problem for problem in found if problem is not None), None)


def _message(value: Any, naming: Naming) -> Problem | None:
    """A text, a list of texts, an object with a message of its own, or one of field errors."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return Problem(fields=tuple(_told(item, naming) for item in value[:FIELDS_LISTED]))
    text = _own_message(value, naming) if isinstance(value, dict) else _clean(value)
    return _field_errors(value, naming) if text is None else Problem(message=text)


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
    source = problem.get("source")
    located = {**source, **problem} if isinstance(source, dict) else problem  # JSON:API's {"source": {"pointer"}}
    where = next((place for place in map(located.get, _ITEM_NAME_KEYS) if isinstance(place, (str, list))), "")
    return None if message is None else FieldProblem(name=naming.text(path_of(where, naming)), message=message)


def _told(message: str, naming: Naming) -> FieldProblem:
    """A message whose first word is a published property belongs to that property."""
    word = _FIRST_WORD.match(message)
    return FieldProblem(name=naming.published_name(word[0]) if word else None, message=message)


def _own_message(value: Mapping[str, Any], naming: Naming) -> str | None:
    texts = (_clean(value.get(key)) for key in _MESSAGE_KEYS if not naming.publishes(key))
    return next((text for text in texts if text is not None), None)


def _clean(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
