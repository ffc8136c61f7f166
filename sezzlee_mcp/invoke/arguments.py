"""The gate that every argument passes on its way into a path, a query or a header: its JSON type, then its text."""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sezzlee_mcp.errors import CallError
from sezzlee_mcp.invoke import messages

SAFE_INTEGER = 2**53 - 1  # beyond it a client that computes in doubles sends another number than it means
_PLAIN_BELOW = 1e21  # numbers from here on, and below 1e-6, are written with an exponent (ECMAScript, Number::toString)
_PLAIN_FROM = 1e-6
_SURROGATE = re.compile("[\ud800-\udfff]")
_EXPECTED = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "any": "a string, a number or a boolean",
}
NULL = "null"

# (name, expected, arrived) -> the error; each place in the request has its own
Refuse = Callable[[str, str, str], CallError]


def kind_of(value: Any) -> str:
    """The JSON kind of a value in words, with its article: what a message says arrived."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, (list, tuple)) else "an object"


def refuse(name: str, expected: str, arrived: str) -> CallError:
    """The error of a value outside the path: null has a code of its own."""
    return messages.null_not_allowed(name) if arrived == NULL else messages.invalid_type(name, expected, arrived)


def element_texts(name: str, type: str, is_array: bool, value: Any, refuse: Refuse) -> list[str]:
    """
    The canonical texts of one argument: one for a scalar, one per element for an array.

    Nothing is coerced: ``"3"`` is no integer and a scalar is no array of one. A slot of type ``any`` takes
    an array where it gets one, since its schema left that open.
    """
    if isinstance(value, list) and (is_array or type == "any"):
        return [scalar_text(f"{name}[{index}]", type, item, refuse) for index, item in enumerate(value)]
    if is_array:
        raise refuse(name, "an array", kind_of(value))
    return [scalar_text(name, type, value, refuse)]


def scalar_text(name: str, type: str, value: Any, refuse: Refuse) -> str:
    """The canonical text of a scalar of the slot's type; anything else is raised as ``refuse`` says."""
    expected = _EXPECTED[type]
    if isinstance(value, bool) and type in {"boolean", "any"}:
        return "true" if value else "false"
    if isinstance(value, str) and type in {"string", "any"}:
        return _checked_text(name, value, expected, refuse)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and type in {"integer", "number", "any"}:
        return _number_text(name, type, value, expected, refuse)
    raise refuse(name, expected, kind_of(value))


def _checked_text(name: str, value: str, expected: str, refuse: Refuse) -> str:
    if _SURROGATE.search(value):
        raise refuse(name, expected, "text with half of a surrogate pair")
    return value


def _number_text(name: str, type: str, value: int | float, expected: str, refuse: Refuse) -> str:
    if not _is_finite(value):
        raise refuse(name, expected, "a number beyond all bounds")
    if type == "integer" and value != int(value):
        raise refuse(name, expected, "a fraction")
    if type == "integer" and abs(value) > SAFE_INTEGER:
        raise refuse(name, f"{expected} between -{SAFE_INTEGER} and {SAFE_INTEGER}", "a larger one")
    return number_text(value)


def _is_finite(value: int | float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an int that no double holds
        return False


def number_text(value: int | float) -> str:
    """The shortest decimal text of a finite number: 1.50 is ``1.5``, 1.0 is ``1``, 1e-7 is ``1e-7``."""
    if isinstance(value, int):
        return str(value)
    if value.is_integer() and abs(value) < _PLAIN_BELOW:
        return str(int(value))
    if _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return format(Decimal(repr(value)), "f")
    return re.sub(r"e([+-])0+", r"e\1", repr(value))
