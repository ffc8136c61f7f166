"""DRF permission classes -> what is known, before any call, about who may use an operation (visibility.md)."""

from dataclasses import dataclass
from typing import Any

from rest_framework.permissions import AND as BothPermissions
from rest_framework.permissions import NOT as InvertedPermission
from rest_framework.permissions import OR as EitherPermission
from rest_framework.permissions import (
    SAFE_METHODS,
    AllowAny,
    DjangoModelPermissions,
    IsAdminUser,
    IsAuthenticated,
    IsAuthenticatedOrReadOnly,
)
from rest_framework.views import APIView

from sezzlee_mcp.catalog.visibility import (
    ANYONE,
    SOMEBODY,
    UNREADABLE,
    PolicyKind,
    all_of,
    one_of,
    policy_name,
    read_policy,
)
from sezzlee_mcp.openapi.descriptors import AuthFacts

STAFF = AuthFacts(anonymous="no", policies=(policy_name(PolicyKind.STAFF),))
# What a permission class of the host's says of itself: AuthFacts, or a classmethod f(view, method) that gives them.
DECLARATION = "sezzlee_auth"


class AuthDeclarationError(Exception):
    """A ``sezzlee_auth`` of the host's that says nothing usable; the text is for staff."""


class _TouchedRequestError(Exception):
    """``get_permissions()`` asked the request for more than its method: what it returns depends on the call."""


@dataclass(frozen=True, slots=True)
class _MethodOnlyRequest:
    method: str

    def __getattr__(self, name: str) -> Any:
        raise _TouchedRequestError(name)


def auth_facts(view: Any, method: str) -> AuthFacts:
    """
    The facts of one view instance for one method; what cannot be read without a caller is imperative.

    AuthDeclarationError when a permission class declares its facts and they are none.
    """
    if type(view).check_permissions is not APIView.check_permissions:
        return UNREADABLE  # it may ask its permission classes, or not
    view.request = _MethodOnlyRequest(method)
    try:
        return all_of([_facts_of(permission, view, method) for permission in view.get_permissions()])
    except AuthDeclarationError:
        raise
    except Exception:  # noqa: BLE001  (host code may raise anything; then nothing is known before the call)
        return UNREADABLE
    finally:
        view.request = None


def _facts_of(permission: Any, view: Any, method: str) -> AuthFacts:
    match permission:  # the stubs of DRF do not know the operands
        case BothPermissions(op1=first, op2=second):  # type: ignore[misc]
            return all_of([_facts_of(first, view, method), _facts_of(second, view, method)])
        case EitherPermission(op1=first, op2=second):  # type: ignore[misc]
            return one_of(_facts_of(first, view, method), _facts_of(second, view, method))
        case InvertedPermission(op1=InvertedPermission(op1=inner)):  # type: ignore[misc]
            return _facts_of(inner, view, method)
        case InvertedPermission():
            return UNREADABLE
    if _declares(type(permission)):
        return _declared(permission, view, method)
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


def _declares(permission_class: type) -> bool:
    """Whether the class, or a base whose ``has_permission`` it has not replaced, declares its facts."""
    for each in permission_class.__mro__:
        if DECLARATION in vars(each):
            return True
        if "has_permission" in vars(each):
            return False
    return False


def _declared(permission: Any, view: Any, method: str) -> AuthFacts:
    name = f"{type(permission).__qualname__}.{DECLARATION}"
    declaration = getattr(permission, DECLARATION)
    try:
        facts = declaration(view, method) if callable(declaration) else declaration
    except _TouchedRequestError:
        return UNREADABLE
    except Exception as error:
        raise AuthDeclarationError(f"{name} raised {type(error).__name__}") from error
    if not isinstance(facts, AuthFacts):
        raise AuthDeclarationError(f"{name} is a {type(facts).__name__}, not AuthFacts")
    if facts.anonymous not in ("yes", "no", "unknown"):
        raise AuthDeclarationError(f"{name} has anonymous {facts.anonymous!r}, not 'yes', 'no' or 'unknown'")
    if facts.anonymous == "yes" and facts.policies:
        raise AuthDeclarationError(
            f"{name} has policies, and lets anonymous callers pass whom no policy is asked about"
        )
    for policy in facts.policies:
        try:
            read_policy(policy)
        except ValueError:
            raise AuthDeclarationError(f"{name} has the policy {policy!r}, which is none") from None
    return facts


def _model_facts(permission: DjangoModelPermissions, view: Any, method: str) -> AuthFacts:
    if not all(
        _keeps(permission, DjangoModelPermissions, name) for name in ("has_permission", "get_required_permissions")
    ):
        return UNREADABLE
    asks_nothing = not permission.perms_map.get(method, True) or getattr(view, "_ignore_model_permissions", False)
    if asks_nothing:
        return SOMEBODY if permission.authenticated_users_only else ANYONE
    try:
        codenames = permission.get_required_permissions(method, permission._queryset(view).model)
    except Exception:  # noqa: BLE001  (no queryset before a call, or a method without a row in perms_map)
        return AuthFacts(anonymous="no", imperative=True)
    policies = tuple(policy_name(PolicyKind.PERMISSION, codename) for codename in codenames)
    return AuthFacts(anonymous="no", policies=policies)


def _keeps(permission: Any, known: type, name: str) -> bool:
    """Whether the permission's class still has the method of the class that is known; an override can do anything."""
    return getattr(type(permission), name) is getattr(known, name)
