"""What is known of each caller, for a minute: visibility asks the host's code once, not at every search."""

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock, RLock
from typing import Any
from weakref import WeakValueDictionary

from django.db.models import Model

from sezzlee_mcp import conf
from sezzlee_mcp.callers import Caller
from sezzlee_mcp.canonical import digest
from sezzlee_mcp.catalog.visibility import Answer
from sezzlee_mcp.openapi.descriptors import AuthFacts
from sezzlee_mcp.permission_checks import Check
from sezzlee_mcp.search import Audience
from sezzlee_mcp.signin import scopes_of
from sezzlee_mcp.snapshots import Snapshot


@dataclass(slots=True, kw_only=True)
class Known:
    """
    What is known of one caller in one generation.

    ``answers`` are by policy, ``checks`` by content digest; one request at a time holds the ``lock`` and asks.
    """

    generation: "KnownToAll"
    users: frozenset[str] = frozenset()
    born: float = field(default_factory=time.monotonic)
    answers: dict[str, Answer] = field(default_factory=dict)
    checks: dict[str, Check] = field(default_factory=dict)
    audience: Audience | None = None
    lock: Any = field(default_factory=RLock)


@dataclass(slots=True, kw_only=True)
class KnownToAll:
    """
    What the callers of one generation have in common.

    ``broken`` holds the digests of the tools whose view broke when it was asked: it is not tried again. ``audiences``
    are by the facts that are visible and those that are certain, since many callers see the same.
    """

    snapshot: Snapshot | None
    broken: set[str] = field(default_factory=set)
    audiences: WeakValueDictionary[tuple[frozenset[AuthFacts], frozenset[AuthFacts]], Audience] = field(
        default_factory=WeakValueDictionary
    )


class _Cache:
    """The callers of one snapshot, the least recently seen first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._forget(None)

    def of(self, caller: Caller, snapshot: Snapshot) -> Known:
        """What is known of the caller; a new ``Known`` when that is nothing, too old, or of another generation."""
        settings = conf.current()
        key = key_of(caller)
        with self._lock:
            if self._generation.snapshot is not snapshot:
                self._forget(snapshot)
            if key is None or not settings.caller_cache_seconds:
                return Known(generation=self._generation)
            known = self._callers.get(key)
            if known is None or time.monotonic() - known.born >= settings.caller_cache_seconds:
                users = frozenset(str(user.pk) for user in (caller.user, caller.session_user) if _is_known(user))
                known = self._callers[key] = Known(generation=self._generation, users=users)
            self._callers.move_to_end(key)
            while len(self._callers) > settings.cached_callers:
                self._callers.popitem(last=False)
            return known

    def forget_user(self, user: Any) -> None:
        with self._lock:
            for key in [key for key, known in self._callers.items() if str(user.pk) in known.users]:
                del self._callers[key]

    def forget_all(self) -> None:
        with self._lock:
            self._forget(None)

    def _forget(self, snapshot: Snapshot | None) -> None:
        self._generation = KnownToAll(snapshot=snapshot)
        self._callers: OrderedDict[str, Known] = OrderedDict()


_cache = _Cache()


def known_of(caller: Caller, snapshot: Snapshot) -> Known:
    return _cache.of(caller, snapshot)


def invalidate_user(user: Any) -> None:
    """Forget what this process found out about a user, whose rights have changed."""
    _cache.forget_user(user)


def invalidate_all() -> None:
    """Forget what this process found out about every caller."""
    _cache.forget_all()


def key_of(caller: Caller) -> str | None:
    """A digest of who was found and how; None for a caller who cannot be told from others: nothing is kept of them."""
    found = [_user(caller.user), _user(caller.session_user), _credential(caller.credential)]
    if None in found or not caller.is_safe_from_forgery:
        return None
    return digest([*found, caller.authenticator, caller.request.get_host()])


def _is_known(user: Any) -> bool:
    return bool(user and user.is_authenticated and getattr(user, "pk", None) is not None)


def _user(user: Any) -> list[str] | None:
    """The user's row, nothing for an anonymous one; None for somebody of whom there is no row."""
    if not (user and user.is_authenticated):
        return []
    return [_name(user.__class__), str(user.pk)] if _is_known(user) else None


def _credential(auth: Any) -> str | None:
    """What tells two credentials of one user apart: the token's row and scopes, its text, or its claims."""
    if auth is None:
        return ""
    if isinstance(auth, Model):
        return None if auth.pk is None else digest([_name(type(auth)), str(auth.pk), sorted(scopes_of(auth) or ())])
    if isinstance(auth, str | bytes):
        return sha256(auth if isinstance(auth, bytes) else auth.encode()).hexdigest()
    claims = getattr(auth, "payload", auth)
    try:
        return digest(dict(claims)) if isinstance(claims, Mapping) else None
    except (TypeError, ValueError):
        return None


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
