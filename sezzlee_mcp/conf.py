"""
The one dict ``SEZZLEE_MCP`` of a host's settings, as one frozen value.

The fields below are the reference: each key of the dict is a field's name in capitals.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from typing import Any

from django.conf import settings as django_settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    # -- what becomes a tool --

    # bool: expose every operation that no marker and no rule decides. False: nothing is exposed until someone says so.
    expose_by_default: bool = False
    # list of {"route": glob, "method": str, "decision": "include" | "exclude"}: selection rules beside those of the
    # admin. "*" matches inside a path segment, "**" across segments; leave "route" or "method" out to match all.
    rules: list[dict[str, str]] = field(default_factory=list)
    # {container: "include" | "exclude"}: decides a whole container, which is the operation's first tag.
    containers: dict[str, str] = field(default_factory=dict)
    # "on_collision" | "always" | "never": when a tool's name takes its container as a prefix.
    prefix_mode: str = "on_collision"
    # {container: prefix}: the prefix to take instead of the container's own name.
    prefixes: dict[str, str] = field(default_factory=dict)

    # -- what a call may need of the host --

    # {name: dotted path}: providers of hidden arguments' values; each is called with the caller's request.
    providers: dict[str, str] = field(default_factory=dict)
    # dotted path, or None: f(ref, *, field, tool, user, limit_bytes) -> bytes or FileContent, the file behind a
    # reference. It must ask whether the file is this user's: LookupError or PermissionError when it is not.
    file_resolver: str | None = None

    # -- the endpoint --

    # str: where the endpoint is served, below the place where the host includes sezzlee_mcp.urls.
    path: str = "mcp"
    # list of dotted paths, or None for DRF's DEFAULT_AUTHENTICATION_CLASSES.
    authentication_classes: list[str] | None = None
    # list of dotted paths, or None for DRF's DEFAULT_PERMISSION_CLASSES: who may use the endpoint at all.
    permission_classes: list[str] | None = None
    # list of dotted paths: throttles of the endpoint itself. Each invoked operation keeps its own.
    throttle_classes: list[str] = field(default_factory=list)
    # list of origins ("https://app.example"), allowed beside the request's own host and CSRF_TRUSTED_ORIGINS.
    allowed_origins: list[str] = field(default_factory=list)
    # int, bytes: the largest request body; a larger one is answered 413.
    body_limit_bytes: int = 4 * 1024 * 1024
    # int, bytes of UTF-8: the largest result of a call. A larger one is refused whole, never cut.
    budget_bytes: int = 262_144
    # str: what an agent is told about this server, after the package's own instructions.
    instructions: str = ""

    # -- what a caller sees --

    # "show" | "hide": a tool of which nobody can say before the call whether the caller may use it.
    undecided: str = "show"

    # -- search --

    # dotted path, or None: f(query, documents, *, digest) -> names in order, instead of the built-in ranking. It gets
    # every tool's SearchDocument and the digest of the revision, never the caller.
    ranker: str | None = None
    # float, seconds: how long a search waits for the ranker.
    ranker_deadline_seconds: float = 10
    # "fallback" | "error": what a search does when the ranker raises, is late or answers something else than names.
    ranker_failure: str = "fallback"

    # -- processes and history --

    # float, seconds: how long a process may go on without asking the database for a newer generation. 0: every request.
    generation_check_seconds: float = 0
    # int: how many loaded tools a process keeps in memory.
    cached_tools: int = 256
    # int: how many revisions are kept, at least 2; contents that no revision names go with them.
    kept_revisions: int = 100


KEYS: Mapping[str, str] = {item.name.upper(): item.name for item in fields(Settings)}

_DECISIONS = ("include", "exclude")
_CHOICES = {
    "prefix_mode": ("on_collision", "always", "never"),
    "undecided": ("show", "hide"),
    "ranker_failure": ("fallback", "error"),
}
_CLASS_LISTS = ("authentication_classes", "permission_classes", "throttle_classes")
_PATH = re.compile(r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in the dict; ``id`` is the number of its system check, never reused."""

    id: str
    message: str
    hint: str


def raw() -> Any:
    """The host's ``SEZZLEE_MCP`` as it stands."""
    return getattr(django_settings, "SEZZLEE_MCP", {})


@cache
def current() -> Settings:
    """The settings in force; a mistake in the dict is ImproperlyConfigured, since a guess could open what was shut."""
    for problem in problems(raw()):
        raise ImproperlyConfigured(f"{problem.message} {problem.hint} (sezzlee_mcp.{problem.id})")
    return Settings(**{KEYS[key]: value for key, value in raw().items()})


def path() -> str:
    """Where the endpoint is served; the default while the dict is wrong, so that the checks can say what is."""
    return Settings().path if list(problems(raw())) else current().path


def problems(given: Any) -> Iterator[Problem]:
    """Every mistake in the dict, in the order of its keys."""
    if not isinstance(given, dict):
        yield Problem(
            id="E002", message=f"SEZZLEE_MCP is a {type(given).__name__}, not a dict.", hint="See docs/settings.md."
        )
        return
    for key, value in given.items():
        if key not in KEYS:
            yield _unknown_key(key)
        elif reason := _fault(KEYS[key], value):
            yield Problem(id=_IDS[KEYS[key]], message=f"SEZZLEE_MCP[{key!r}] {reason}.", hint="See docs/settings.md.")


def _unknown_key(key: object) -> Problem:
    near = get_close_matches(str(key), KEYS, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "See docs/settings.md."
    return Problem(id="E001", message=f"SEZZLEE_MCP has no key {key!r}.", hint=hint)


_IDS: Mapping[str, str] = {
    "expose_by_default": "E003",
    "rules": "E004",
    "containers": "E005",
    "prefix_mode": "E006",
    "prefixes": "E007",
    "path": "E008",
    "authentication_classes": "E009",
    "permission_classes": "E010",
    "throttle_classes": "E011",
    "allowed_origins": "E012",
    "body_limit_bytes": "E013",
    "budget_bytes": "E014",
    "instructions": "E015",
    "undecided": "E016",
    "generation_check_seconds": "E017",
    "cached_tools": "E018",
    "kept_revisions": "E019",
    "providers": "E023",
    "file_resolver": "E024",
    "ranker": "E025",
    "ranker_deadline_seconds": "E026",
    "ranker_failure": "E027",
}
_LEAST = {"body_limit_bytes": 1024, "budget_bytes": 1024, "cached_tools": 1, "kept_revisions": 2}


def _fault(name: str, value: Any) -> str | None:
    """What is wrong with the value of one setting, as the rest of a sentence; None when nothing is."""
    if name in _CHOICES:
        return None if value in _CHOICES[name] else f"is {value!r}, not one of {', '.join(_CHOICES[name])}"
    if name in _LEAST:
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= _LEAST[name]
        return None if is_count else f"is {value!r}, not a whole number of at least {_LEAST[name]}"
    if name in _CLASS_LISTS:
        return _class_list_fault(name, value)
    return _FAULTS[name](value)


def _class_list_fault(name: str, value: Any) -> str | None:
    if value is None and name != "throttle_classes":
        return None
    if not _is_list_of_texts(value):
        return f"is {value!r}, not a list of dotted paths"
    return next((fault for path in value if (fault := _import_fault(path))), None)


def _rules_fault(value: Any) -> str | None:
    if not isinstance(value, list):
        return f"is a {type(value).__name__}, not a list of rules"
    for rule in value:
        if not isinstance(rule, dict) or not set(rule) <= {"route", "method", "decision"}:
            return f"has the rule {rule!r}; a rule is a dict of route, method and decision"
        if rule.get("decision") not in _DECISIONS:
            return f"has the rule {rule!r}, whose decision is not one of {', '.join(_DECISIONS)}"
        if not all(isinstance(text, str) and text for text in rule.values()):
            return f"has the rule {rule!r}, whose route or method is no text"
    return None


def _containers_fault(value: Any) -> str | None:
    if isinstance(value, dict) and all(isinstance(key, str) and value[key] in _DECISIONS for key in value):
        return None
    return f"is {value!r}, not a dict of containers to {' or '.join(_DECISIONS)}"


def _prefixes_fault(value: Any) -> str | None:
    is_map = isinstance(value, dict) and all(isinstance(text, str) and text for pair in value.items() for text in pair)
    return None if is_map else f"is {value!r}, not a dict of containers to prefixes"


def _providers_fault(value: Any) -> str | None:
    if _prefixes_fault(value):
        return f"is {value!r}, not a dict of names to dotted paths"
    return next((fault for path in value.values() if (fault := _import_fault(path))), None)


def _function_fault(value: Any) -> str | None:
    if value is None:
        return None
    return _import_fault(value) if isinstance(value, str) else f"is {value!r}, not a dotted path"


def _import_fault(path: str) -> str | None:
    try:
        import_string(path)
    except ImportError as error:
        return f"names {path!r}, which cannot be imported: {error}"
    return None


def _path_fault(value: Any) -> str | None:
    is_path = isinstance(value, str) and _PATH.fullmatch(value)
    return None if is_path else f"is {value!r}, not a path without a slash at either end"


def _origins_fault(value: Any) -> str | None:
    if _is_list_of_texts(value) and all(re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/?#\s]+", origin) for origin in value):
        return None
    return f"is {value!r}, not a list of origins such as 'https://app.example'"


def _seconds_fault(value: Any) -> str | None:
    is_seconds = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 3600
    return None if is_seconds else f"is {value!r}, not a number of seconds from 0 to 3600"


def _deadline_fault(value: Any) -> str | None:
    return _seconds_fault(value) if value != 0 else "is 0; a deadline has to lie after the start"


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


_FAULTS: Mapping[str, Callable[[Any], str | None]] = {
    "expose_by_default": lambda value: None if isinstance(value, bool) else f"is {value!r}, not True or False",
    "rules": _rules_fault,
    "containers": _containers_fault,
    "prefixes": _prefixes_fault,
    "providers": _providers_fault,
    "file_resolver": _function_fault,
    "ranker": _function_fault,
    "ranker_deadline_seconds": _deadline_fault,
    "path": _path_fault,
    "allowed_origins": _origins_fault,
    "instructions": lambda value: None if isinstance(value, str) else f"is a {type(value).__name__}, not a text",
    "generation_check_seconds": _seconds_fault,
}
