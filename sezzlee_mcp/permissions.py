"""DRF permission classes -> what is known, before any call, about who may use an operation (visibility.md)."""

from dataclasses import dataclass
from typing import Any

from rest_framework.permissions import AND as BothPermissions
from rest_framework.permissions import (
    SAFE_METHODS,
    AllowAny,
    DjangoModelPermissions,
    IsAdminUser,
    IsAuthenticated,
    IsAuthenticatedOrReadOnly,
)

from sezzlee_mcp.openapi.descriptors import AuthFacts

ANYONE = AuthFacts(anonymous="yes")
SOMEBODY = AuthFacts(anonymous="no")
STAFF = AuthFacts(anonymous="no", policies=("staff",))
UNREADABLE = AuthFacts(anonymous="unknown", imperative=True)


class _TouchedRequestError(Exception):
    """``get_permissions()`` asked the request for more than its method: what it returns depends on the call."""


@dataclass(frozen=True, slots=True)
class _MethodOnlyRequest:
    method: str

    def __getattr__(self, name: str) -> Any:
        raise _TouchedRequestError(name)


def auth_facts(view: Any, method: str) -> AuthFacts:
    """The facts of one view instance for one method; what cannot be read without a caller is imperative."""
    view.request = _MethodOnlyRequest(method)
    try:
        permissions = view.get_permissions()
    except Exception:  # noqa: BLE001  (host code may raise anything; then nothing is known before the call)
        return UNREADABLE
    finally:
        view.request = None
    return combine([_facts_of(permission, view, method) for permission in permissions])


def combine(facts: list[AuthFacts]) -> AuthFacts:
    """All must hold: any ``no`` is no, else any ``unknown`` is unknown, else yes."""
    gates = {fact.anonymous for fact in facts}
    anonymous = next((gate for gate in ("no", "unknown") if gate in gates), "yes")
    policies = tuple(dict.fromkeys(policy for fact in facts for policy in fact.policies))
    return AuthFacts(
        anonymous=anonymous,
        policies=() if anonymous == "yes" else policies,
        imperative=any(fact.imperative for fact in facts),
    )


def _facts_of(permission: Any, view: Any, method: str) -> AuthFacts:
    if isinstance(permission, BothPermissions):
        sides: tuple[Any, Any] = (permission.op1, permission.op2)  # type: ignore[attr-defined]
        return combine([_facts_of(side, view, method) for side in sides])
    if isinstance(permission, DjangoModelPermissions):
        return _model_facts(permission, view, method)
    for known, facts in (
        (AllowAny, ANYONE),
        (IsAuthenticated, SOMEBODY),
        (IsAdminUser, STAFF),
        (IsAuthenticatedOrReadOnly, ANYONE if method in SAFE_METHODS else SOMEBODY),
    ):
        if isinstance(permission, known):
            return facts if _keeps(permission, known, "has_permission") else UNREADABLE
    return UNREADABLE


def _model_facts(permission: DjangoModelPermissions, view: Any, method: str) -> AuthFacts:
    if not all(
        _keeps(permission, DjangoModelPermissions, name) for name in ("has_permission", "get_required_permissions")
    ):
        return UNREADABLE
    if permission.perms_map.get(method) == []:
        return SOMEBODY if permission.authenticated_users_only else ANYONE
    try:
        codenames = permission.get_required_permissions(method, permission._queryset(view).model)
    except Exception:  # noqa: BLE001  (no queryset before a call, or a method without a row in perms_map)
        return AuthFacts(anonymous="no", imperative=True)
    return AuthFacts(anonymous="no", policies=tuple(f"perm:{codename}" for codename in codenames))


def _keeps(permission: Any, known: type, name: str) -> bool:
    """Whether the permission's class still has the method of the class that is known; an override can do anything."""
    return getattr(type(permission), name) is getattr(known, name)
