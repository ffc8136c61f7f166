"""JSON that people keep in files, read strictly: a merge or an editor can come to what no program wrote."""

import json
from math import isfinite
from typing import Any, NoReturn

from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.errors import FileUnreadable


def read_json(text: str | bytes) -> Any:
    """
    The value that a file holds; FileUnreadable says why it holds none.

    Refused as well: bytes that are not UTF-8, a member that stands twice in an object, what is no finite number, half
    of a surrogate pair.
    """
    try:
        given = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        value = json.loads(
            given, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_without_repetition
        )
        canonical_json(value)
    except UnicodeDecodeError as error:
        raise FileUnreadable([f"It is not in UTF-8: byte {error.start + 1} begins no character."]) from None
    except UnicodeEncodeError:
        raise FileUnreadable(["It is no JSON: a text holds half of a surrogate pair."]) from None
    except ValueError as error:
        raise FileUnreadable([f"It is no JSON: {error}."]) from None
    except RecursionError:
        raise FileUnreadable(["It is nested too deeply to be read."]) from None
    return value


def read_exported(text: str | bytes, *, command: str, version: int) -> dict[str, Any]:
    """
    The members of a file that the export of a command wrote, without the one that bears its name.

    That holds the ``version`` of the file. FileUnreadable for any other file.
    """
    document = read_json(text)
    if not isinstance(document, dict) or command not in document:
        raise FileUnreadable([f"It has no member {command}. Write one with {command} export."])
    found = document.pop(command)
    if type(found) is not int or found != version:
        raise FileUnreadable(
            [
                f"It is of version {json.dumps(found)}, and this release reads version {version}. "
                f"Write one with {command} export of this release."
            ]
        )
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is larger than any number that is read")
    return number


def _without_repetition(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; one that says something twice is none, since a merge of two files can come to that."""
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _value in members]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the member {repeated!r} twice")
    return found
