"""Search cases: what somebody needs, what an agent types for it, and what would be right to find."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.errors import FileUnreadable
from sezzlee_mcp.json_files import read_json
from sezzlee_mcp.openapi.findings import kind

NEED_CHARS = 300
QUERY_CHARS = 200
USER_CHARS = 254

_TEXTS = {"need": NEED_CHARS, "query": QUERY_CHARS, "user": USER_CHARS}
_LISTS = ("tags", "expected")
_REQUIRED = ("need", "query", "expected")
_UNTYPED = re.compile(r"[\x00-\x1f\x7f]")
_NOT_TYPED = "it holds a control character."


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One search, and what it has to find.

    ``need`` is the sentence that a person says, ``query`` what an agent types for it. Any one of ``expected`` will do:
    an operation by its key, as ``GET /api/orders/``, which no renaming changes, or one tool of several by its name.
    ``user`` is the user name of whoever searches; empty, the search is one of the whole catalog.
    """

    need: str
    query: str
    expected: tuple[str, ...]
    user: str = ""
    tags: tuple[str, ...] = ()

    @property
    def search(self) -> tuple[str, str, tuple[str, ...]]:
        """What tells it apart from other cases."""
        return self.query, self.user, self.tags

    def to_json(self) -> dict[str, Any]:
        """The case as a file holds it: without the members that are empty."""
        members = {
            "need": self.need,
            "query": self.query,
            "user": self.user,
            "tags": list(self.tags),
            "expected": list(self.expected),
        }
        return {name: value for name, value in members.items() if value}


def is_typed(text: str) -> bool:
    """Whether somebody can have typed this in one line: it holds no control character."""
    return not _UNTYPED.search(text)


class CasesUnreadable(ValueError):
    """A file that holds no cases; each of ``problems`` is a sentence that begins with a JSON pointer."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def read_cases(text: str | bytes) -> tuple[Case, ...]:
    """The cases of a JSON file, in its order; CasesUnreadable says all that is wrong with it at once."""
    try:
        value = read_json(text)
    except FileUnreadable as unreadable:
        raise CasesUnreadable([f"/: {problem}" for problem in unreadable.problems]) from None
    if not isinstance(value, list) or not value:
        arrived = "an empty list" if value == [] else kind(value)
        raise CasesUnreadable([f"/: cases are a list of objects, and this is {arrived}."])
    if problems := [problem for place, each in enumerate(value) for problem in _problems(f"/{place}", each)]:
        raise CasesUnreadable(problems)
    cases = tuple(_read(each) for each in value)
    searches = [case.search for case in cases]
    repeated = [place for place, search in enumerate(searches) if search in searches[:place]]
    if repeated:
        raise CasesUnreadable([f"/{place}: an earlier case is the same search." for place in repeated])
    return cases


def write_cases(cases: Iterable[Case]) -> str:
    """The same file again, a line for each case, so that a difference is one of cases."""
    lines = ",\n".join(f"  {json.dumps(case.to_json(), ensure_ascii=False)}" for case in cases)
    return f"[\n{lines}\n]\n"


def _read(case: dict[str, Any]) -> Case:
    lists = {name: tuple(case[name]) for name in _LISTS if name in case}
    return Case(**{**case, **lists})


def _problems(at: str, case: Any) -> Iterator[str]:
    if not isinstance(case, dict):
        yield f"{at}: a case is an object, and this is {kind(case)}."
        return
    yield from (f"{at}: its {name} is missing." for name in _REQUIRED if name not in case)
    for name, given in case.items():
        if name in _REQUIRED and (given == [] or (isinstance(given, str) and not given.strip())):
            yield f"{at}/{name}: it is empty."
        elif name in _TEXTS:
            yield from _text_problems(f"{at}/{name}", given, _TEXTS[name])
        elif name in _LISTS:
            yield from _list_problems(f"{at}/{name}", given)
        else:
            yield f"{at}/{name}: a case has {', '.join((*_TEXTS, *_LISTS))}, and no such member."


def _text_problems(at: str, given: Any, limit_chars: int) -> Iterator[str]:
    if not isinstance(given, str):
        yield f"{at}: it is a text, and this is {kind(given)}."
    elif len(given) > limit_chars:
        yield f"{at}: it has {len(given)} characters, over the limit of {limit_chars}."
    elif not is_typed(given):
        yield f"{at}: {_NOT_TYPED}"


def _list_problems(at: str, given: Any) -> Iterator[str]:
    if not isinstance(given, list):
        yield f"{at}: it is a list of texts, and this is {kind(given)}."
        return
    for place, item in enumerate(given):
        if not isinstance(item, str) or not item.strip():
            yield f"{at}/{place}: it is a text, and this is {'empty' if isinstance(item, str) else kind(item)}."
        elif not is_typed(item):
            yield f"{at}/{place}: {_NOT_TYPED}"
