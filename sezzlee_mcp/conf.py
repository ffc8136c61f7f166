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

from sezzlee_mcp.catalog.seals import SEALABLE
from sezzlee_mcp.protocol.jsonrpc import MAX_LEVELS
from sezzlee_mcp.search import KINDS, RANKERS, Language, Synonyms, Verbs


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
    # list of "expose", "name", "title", "description", "tags", "search_terms", "annotations", "arguments", "variants",
    # "family_parameter": what staff cannot choose for any operation.
    sealed: list[str] = field(default_factory=list)

    # -- what a call may need of the host --

    # {name: dotted path}: providers of hidden arguments' values; each is called with the caller's request.
    providers: dict[str, str] = field(default_factory=dict)
    # dotted path, or None: f(ref, *, field, tool, user, limit_bytes, deadline) -> bytes or FileContent, the file behind
    # a reference. It must ask whether the file is this user's: LookupError or PermissionError when it is not.
    file_resolver: str | None = None

    # -- how an answer is read --

    # list of dotted paths: f(response, body) -> Problem or None, asked in order what a 4xx says before the shapes that
    # are known are tried. What they say passes the leak filter.
    recognizers: list[str] = field(default_factory=list)
    # dotted path, or None for sezzlee_mcp.invoke.map_response: f(response, facts) -> the success envelope, or raises
    # CallError. What it gives passes budget and leak filter.
    result_mapper: str | None = None

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
    # int, 10 to 100: how many arrays and objects of a request may stand within each other.
    body_levels: int = 100
    # int, bytes of UTF-8: the largest result of a call. A larger one is refused whole, never cut.
    budget_bytes: int = 262_144
    # float, seconds: how long an agent waits for a call. What runs longer goes on, and its answer is dropped. 0: the
    # agent waits for ever, and the call runs in the thread of its request.
    deadline_seconds: float = 30
    # int: how many calls a process runs at once. Those that nobody waits for any more count until they end.
    call_threads: int = 32
    # "carriers": the operation's own authenticators read the credentials of the agent's request. "user": the operation
    # gets whom the endpoint's authenticators found, for tokens that nothing else can read.
    identity: str = "carriers"
    # str: what an agent is told about this server, after the package's own instructions.
    instructions: str = ""

    # -- signing in --

    # list of URLs: the issuers of the access tokens that the endpoint takes. Set, the endpoint publishes its metadata
    # and names it in challenges; a token has to be issued for this endpoint.
    authorization_servers: list[str] = field(default_factory=list)
    # list of scopes: what a token must have been granted to use the endpoint at all.
    required_scopes: list[str] = field(default_factory=list)
    # URL, or None: the endpoint's address as clients are configured with it. None: the address of the request.
    resource: str | None = None

    # -- clients that listen (ASGI only) --

    # int: how many event streams a process holds open; one more is refused. 0: none, and no client is told to listen.
    listen_streams: int = 1024
    # float, seconds: when a stream is ended, for its client to ask anew with a credential that still holds.
    listen_age_seconds: float = 3600

    # -- what a caller sees --

    # "show" | "hide": a tool of which nobody can say before the call whether the caller may use it.
    undecided: str = "show"
    # bool: ask the view's own permission check about a caller where it is code that cannot be read.
    permission_checks: bool = True
    # {name: text or int}: values of path variables for such a check, instead of 1, a zero UUID, 2000-01-01 or "probe".
    placeholders: dict[str, str | int] = field(default_factory=dict)
    # float, seconds: how long a process goes on with what it found out about a caller. 0: it asks at every request.
    caller_cache_seconds: float = 60
    # int: about how many callers it remembers that.
    cached_callers: int = 1000

    # -- search --

    # int, characters: the longest query of a search, and the longest list of its tags.
    search_chars: int = 2000
    # "contract" | "fielded" | dotted path: the ranking that is built in, the other one, or the host's own, which is
    # f(query, documents, *, digest) -> names in order. It gets every tool's SearchDocument and the digest of the
    # revision, never the caller.
    ranker: str = "contract"
    # {method or "bulk": list of words}, or None for English: the verbs that speak of a method, and the words for many
    # at once, for the ranker "fielded".
    ranker_verbs: dict[str, list[str]] | None = None
    # list of lists of words, or None for English: the words of each may stand for one another, for the ranker
    # "fielded" and for what an empty answer suggests.
    ranker_synonyms: list[list[str]] | None = None
    # float, seconds: how long a search waits for the ranker.
    ranker_deadline_seconds: float = 10
    # "fallback" | "error": what a search does when the ranker raises, is late or answers something else than names.
    ranker_failure: str = "fallback"

    # -- processes and history --

    # str, at most 100 characters: the release of the host's code, such as its commit. A sync leaves it on the catalog;
    # a process of another release refuses calls that name a version. "": no call is refused for it.
    release: str = ""
    # float, seconds: how long a process may go on without asking the database for a newer generation. 0: every request.
    generation_check_seconds: float = 0
    # int: how many loaded tools a process keeps in memory.
    cached_tools: int = 256
    # "immediate" | "draft": whether what staff save is published by the save, if they have the permission to publish,
    # or kept in the draft until somebody publishes that.
    publish: str = "immediate"
    # int, days: how long the old name of a renamed tool goes on leading to it. 0: it ends at once.
    tool_alias_days: int = 30
    # int: how many revisions are kept, at least 2; contents that no revision names go with them.
    kept_revisions: int = 100
    # float, seconds: how often a process adds its counts of calls to the ToolUse rows. One that is killed loses what it
    # counted since. 0: nothing is counted.
    use_flush_seconds: float = 60
    # int, days: how long the counts are kept.
    kept_use_days: int = 400
    # int, days: how long the words of searches that came to nothing are kept, today among them. 0: none is kept.
    kept_word_days: int = 90

    @property
    def publishes_at_once(self) -> bool:
        return self.publish == "immediate"


RELEASE_CHARS = 100  # what the column of a release holds

KEYS: Mapping[str, str] = {item.name.upper(): item.name for item in fields(Settings)}

_DECISIONS = ("include", "exclude")
_CHOICES = {
    "prefix_mode": ("on_collision", "always", "never"),
    "publish": ("immediate", "draft"),
    "identity": ("carriers", "user"),
    "undecided": ("show", "hide"),
    "ranker_failure": ("fallback", "error"),
}
_PATH_LISTS = ("recognizers", "authentication_classes", "permission_classes", "throttle_classes")
_MAY_BE_NONE = ("authentication_classes", "permission_classes")
_SAFE_URL = re.compile(r"(https://[^/?#\s@]+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?)(/[^?#\s]*)?")
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


@cache
def language() -> Language:
    """What search knows of the language that agents search in, by the settings in force."""
    verbs, synonyms = current().ranker_verbs, current().ranker_synonyms
    return Language(
        verbs=Verbs() if verbs is None else Verbs(verbs),
        synonyms=Synonyms() if synonyms is None else Synonyms(synonyms),
    )


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
    if given.get("AUTHORIZATION_SERVERS") and not given.get("RESOURCE") and "*" in django_settings.ALLOWED_HOSTS:
        yield _any_audience()


def _unknown_key(key: object) -> Problem:
    near = get_close_matches(str(key), KEYS, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "See docs/settings.md."
    return Problem(id="E001", message=f"SEZZLEE_MCP has no key {key!r}.", hint=hint)


def _any_audience() -> Problem:
    return Problem(
        id="E034",
        message="With '*' in ALLOWED_HOSTS a request can name any host, and so pass with a token for that host.",
        hint="Set SEZZLEE_MCP['RESOURCE'] to the endpoint's address, or list the hosts.",
    )


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
    "ranker_verbs": "E052",
    "ranker_synonyms": "E063",
    "ranker_deadline_seconds": "E026",
    "ranker_failure": "E027",
    "permission_checks": "E040",
    "placeholders": "E041",
    "caller_cache_seconds": "E042",
    "cached_callers": "E043",
    "recognizers": "E029",
    "result_mapper": "E030",
    "authorization_servers": "E031",
    "required_scopes": "E032",
    "resource": "E033",
    "listen_streams": "E044",
    "listen_age_seconds": "E045",
    "release": "E046",
    "use_flush_seconds": "E048",
    "kept_use_days": "E049",
    "kept_word_days": "E062",
    "publish": "E053",
    "tool_alias_days": "E050",
    "sealed": "E051",
    "deadline_seconds": "E035",
    "call_threads": "E036",
    "identity": "E037",
    "body_levels": "E060",
    "search_chars": "E061",
}
_MOST_DAYS = 36_500  # so many before or after today there is a date
_COUNTS: Mapping[str, tuple[int, int | None]] = {
    "body_limit_bytes": (1024, None),
    "body_levels": (10, MAX_LEVELS),
    "budget_bytes": (1024, None),
    "search_chars": (100, None),
    "call_threads": (1, None),
    "listen_streams": (0, None),
    "cached_callers": (1, None),
    "cached_tools": (1, None),
    "kept_revisions": (2, None),
    "kept_use_days": (1, _MOST_DAYS),
    "kept_word_days": (0, _MOST_DAYS),
    "tool_alias_days": (0, _MOST_DAYS),
}


def _fault(name: str, value: Any) -> str | None:
    """What is wrong with the value of one setting, as the rest of a sentence; None when nothing is."""
    if name in _CHOICES:
        return None if value in _CHOICES[name] else f"is {value!r}, not one of {', '.join(_CHOICES[name])}"
    if name in _COUNTS:
        return _count_fault(value, *_COUNTS[name])
    if name in _PATH_LISTS:
        return None if value is None and name in _MAY_BE_NONE else _path_list_fault(value)
    return _FAULTS[name](value)


def _count_fault(value: Any, least: int, most: int | None) -> str | None:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    if is_count and value >= least and (most is None or value <= most):
        return None
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    return f"is {value!r}, not a whole number {bounds}"


def _path_list_fault(value: Any) -> str | None:
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


def _sealed_fault(value: Any) -> str | None:
    if _is_list_of_texts(value) and set(value) <= SEALABLE.keys():
        return None
    return f"is {value!r}, not a list of {', '.join(SEALABLE)}"


def _placeholders_fault(value: Any) -> str | None:
    is_map = isinstance(value, dict) and all(
        isinstance(name, str) and isinstance(given, str | int) and not isinstance(given, bool) and given != ""
        for name, given in value.items()
    )
    return None if is_map else f"is {value!r}, not a dict of names to texts or whole numbers"


def _providers_fault(value: Any) -> str | None:
    if _prefixes_fault(value):
        return f"is {value!r}, not a dict of names to dotted paths"
    return next((fault for path in value.values() if (fault := _import_fault(path))), None)


def _function_fault(value: Any) -> str | None:
    if value is None:
        return None
    return _import_fault(value) if isinstance(value, str) else f"is {value!r}, not a dotted path"


def _ranker_fault(value: Any) -> str | None:
    if isinstance(value, str):
        return None if value in RANKERS else _import_fault(value)
    return f"is {value!r}, neither one of {', '.join(RANKERS)} nor a dotted path"


def _verbs_fault(value: Any) -> str | None:
    is_map = isinstance(value, dict) and all(kind in KINDS and _is_words(words) for kind, words in value.items())
    return None if value is None or is_map else f"is {value!r}, not a dict of {', '.join(KINDS)} to lists of words"


def _synonyms_fault(value: Any) -> str | None:
    is_groups = isinstance(value, list | tuple) and all(map(_is_words, value))
    return None if value is None or is_groups else f"is {value!r}, not a list of lists of words"


def _is_words(value: Any) -> bool:
    return _is_list_of_texts(value) and all(re.fullmatch(r"\w+", word) for word in value)


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


def _servers_fault(value: Any) -> str | None:
    if _is_list_of_texts(value) and all(map(_is_safe_url, value)):
        return None
    return f"is {value!r}, not a list of issuers such as 'https://login.example'"


def _resource_fault(value: Any) -> str | None:
    is_address = value is None or (isinstance(value, str) and _is_safe_url(value))
    return None if is_address else f"is {value!r}, not an address such as 'https://app.example/mcp'"


def _is_safe_url(text: str) -> bool:
    """Whether tokens may travel there: over https, or over http on this machine; no query, no fragment."""
    return _SAFE_URL.fullmatch(text) is not None


def _scopes_fault(value: Any) -> str | None:
    if _is_list_of_texts(value) and all(re.fullmatch(r"[!#-\[\]-~]+", scope) for scope in value):
        return None
    return f"is {value!r}, not a list of scopes such as 'orders:read'"


def _seconds_fault(value: Any) -> str | None:
    is_seconds = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 3600
    return None if is_seconds else f"is {value!r}, not a number of seconds from 0 to 3600"


def _deadline_fault(value: Any) -> str | None:
    return _seconds_fault(value) if value != 0 else "is 0; a deadline has to lie after the start"


def _age_fault(value: Any) -> str | None:
    is_seconds = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 86_400
    return None if is_seconds else f"is {value!r}, not a number of seconds over 0 and up to 86400"


def _release_fault(value: Any) -> str | None:
    is_release = isinstance(value, str) and len(value) <= RELEASE_CHARS and "\0" not in value
    return None if is_release else f"is {value!r}, not a text of at most {RELEASE_CHARS} characters"


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


_FAULTS: Mapping[str, Callable[[Any], str | None]] = {
    "expose_by_default": lambda value: None if isinstance(value, bool) else f"is {value!r}, not True or False",
    "permission_checks": lambda value: None if isinstance(value, bool) else f"is {value!r}, not True or False",
    "placeholders": _placeholders_fault,
    "caller_cache_seconds": _seconds_fault,
    "rules": _rules_fault,
    "containers": _containers_fault,
    "prefixes": _prefixes_fault,
    "sealed": _sealed_fault,
    "providers": _providers_fault,
    "file_resolver": _function_fault,
    "result_mapper": _function_fault,
    "ranker": _ranker_fault,
    "ranker_verbs": _verbs_fault,
    "ranker_synonyms": _synonyms_fault,
    "ranker_deadline_seconds": _deadline_fault,
    "path": _path_fault,
    "allowed_origins": _origins_fault,
    "authorization_servers": _servers_fault,
    "required_scopes": _scopes_fault,
    "resource": _resource_fault,
    "instructions": lambda value: None if isinstance(value, str) else f"is a {type(value).__name__}, not a text",
    "deadline_seconds": _seconds_fault,
    "generation_check_seconds": _seconds_fault,
    "listen_age_seconds": _age_fault,
    "release": _release_fault,
    "use_flush_seconds": _seconds_fault,
}
