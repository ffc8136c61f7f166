"""visibility.md, "Facts stored per operation": what DRF's permission classes say before any call."""

from typing import Any

import pytest
from pytest_django import Settings
from rest_framework import permissions, viewsets
from rest_framework.decorators import api_view, permission_classes
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from project.shop.models import Order
from project.shop.permissions import IsOrderClerk
from sezzlee_mcp.openapi.descriptors import AuthFacts
from sezzlee_mcp.permissions import AuthDeclarationError, auth_facts
from sezzlee_mcp.sync import discover

ANYONE = AuthFacts(anonymous="yes")
SOMEBODY = AuthFacts(anonymous="no")
STAFF = AuthFacts(anonymous="no", policies=("staff",))
SOMEBODY_BY_CODE = AuthFacts(anonymous="no", imperative=True)
EDITORS = AuthFacts(anonymous="no", policies=("group:editors",))
UNREADABLE = AuthFacts(anonymous="unknown", imperative=True)


class Own(permissions.BasePermission):
    def has_permission(self, request: Any, view: Any) -> bool:
        return True


class Renamed(permissions.IsAuthenticated):
    message = "Log in first."


class Narrowed(permissions.IsAuthenticated):
    def has_permission(self, request: Any, view: Any) -> bool:
        return bool(super().has_permission(request, view)) and request.user.pk == 1


class ViewPermissions(permissions.DjangoModelPermissions):
    perms_map = {**permissions.DjangoModelPermissions.perms_map, "GET": ["%(app_label)s.view_%(model_name)s"]}


class OpenReading(permissions.DjangoModelPermissionsOrAnonReadOnly):
    perms_map = {**permissions.DjangoModelPermissions.perms_map, "GET": []}


class FreeWriting(permissions.DjangoModelPermissionsOrAnonReadOnly):
    perms_map = {**permissions.DjangoModelPermissions.perms_map, "PUT": []}


class Declared(Own):
    sezzlee_auth = EDITORS


class DeclaredByMethod(Own):
    @classmethod
    def sezzlee_auth(cls, view: Any, method: str) -> AuthFacts:
        return ANYONE if method == "GET" else EDITORS


class DeclaredAndRenamed(Declared):
    message = "Editors only."


class DeclaredAndOverridden(Declared):
    def has_permission(self, request: Any, view: Any) -> bool:
        return False


class OverriddenAndDeclared(Narrowed):
    sezzlee_auth = EDITORS


class Orders(APIView):
    queryset = Order.objects.all()


def facts(method: str, *classes: Any, view: type[APIView] = Orders) -> AuthFacts:
    made = view()
    made.permission_classes = list(classes)
    return auth_facts(made, method)


@pytest.mark.parametrize(
    ("method", "classes", "expected"),
    [
        ("GET", [], ANYONE),
        ("GET", [permissions.AllowAny], ANYONE),
        ("GET", [permissions.IsAuthenticated], SOMEBODY),
        ("GET", [permissions.IsAdminUser], STAFF),
        ("GET", [permissions.IsAuthenticatedOrReadOnly], ANYONE),
        ("POST", [permissions.IsAuthenticatedOrReadOnly], SOMEBODY),
        ("GET", [permissions.DjangoModelPermissions], SOMEBODY),
        ("POST", [permissions.DjangoModelPermissions], AuthFacts(anonymous="no", policies=("perm:shop.add_order",))),
        (
            "DELETE",
            [permissions.DjangoModelPermissions],
            AuthFacts(anonymous="no", policies=("perm:shop.delete_order",)),
        ),
        ("GET", [ViewPermissions], AuthFacts(anonymous="no", policies=("perm:shop.view_order",))),
        ("GET", [permissions.DjangoModelPermissionsOrAnonReadOnly], ANYONE),
        (
            "PUT",
            [permissions.DjangoModelPermissionsOrAnonReadOnly],
            AuthFacts(anonymous="no", policies=("perm:shop.change_order",)),
        ),
        ("GET", [Own], UNREADABLE),
        ("GET", [Renamed], SOMEBODY),
        ("GET", [Narrowed], UNREADABLE),
        ("GET", [permissions.IsAuthenticated & permissions.IsAdminUser], STAFF),
        ("GET", [permissions.IsAuthenticated | permissions.IsAdminUser], SOMEBODY),
        ("GET", [permissions.IsAdminUser | permissions.IsAuthenticated], SOMEBODY),
        ("GET", [permissions.AllowAny | Own], ANYONE),
        ("GET", [permissions.IsAuthenticated | (permissions.IsAuthenticated & Own)], SOMEBODY),
        ("GET", [permissions.IsAuthenticated | Own], UNREADABLE),
        ("POST", [permissions.IsAdminUser | permissions.DjangoModelPermissions], SOMEBODY_BY_CODE),
        ("GET", [permissions.IsAuthenticatedOrReadOnly | permissions.IsAdminUser], ANYONE),
        (
            "GET",
            [(permissions.IsAdminUser & permissions.IsAuthenticated) | (permissions.IsAdminUser & Own)],
            STAFF,
        ),
        ("GET", [~permissions.IsAuthenticated], UNREADABLE),
        ("GET", [~~permissions.IsAdminUser], STAFF),
        ("GET", [Declared], EDITORS),
        ("GET", [DeclaredByMethod], ANYONE),
        ("POST", [DeclaredByMethod], EDITORS),
        ("GET", [DeclaredAndRenamed], EDITORS),
        ("GET", [DeclaredAndOverridden], UNREADABLE),
        ("GET", [OverriddenAndDeclared], EDITORS),
        ("GET", [permissions.DjangoObjectPermissions], SOMEBODY),
        (
            "PATCH",
            [permissions.DjangoObjectPermissions],
            AuthFacts(anonymous="no", policies=("perm:shop.change_order",)),
        ),
        ("GET", [OpenReading], ANYONE),
        ("PUT", [FreeWriting], ANYONE),
        ("PURGE", [permissions.DjangoModelPermissions], SOMEBODY_BY_CODE),
        ("GET", [permissions.IsAuthenticated, Own], AuthFacts(anonymous="no", imperative=True)),
        ("GET", [permissions.IsAuthenticated, permissions.IsAdminUser], STAFF),
    ],
)
def test_permission_classes_give_their_facts(method: str, classes: list[Any], expected: AuthFacts) -> None:
    assert facts(method, *classes) == expected


def test_model_permissions_without_a_queryset_cannot_be_read() -> None:
    assert facts("POST", permissions.DjangoModelPermissions, view=APIView) == SOMEBODY_BY_CODE


def test_permissions_that_depend_on_the_request_cannot_be_read() -> None:
    class Choosy(Orders):
        def get_permissions(self) -> list[Any]:
            return [permissions.IsAdminUser()] if self.request.query_params else [permissions.AllowAny()]

    assert auth_facts(Choosy(), "GET") == UNREADABLE


def test_permissions_that_depend_on_the_method_are_read() -> None:
    class PerMethod(Orders):
        def get_permissions(self) -> list[Any]:
            return [permissions.AllowAny()] if self.request.method == "GET" else [permissions.IsAdminUser()]

    assert (auth_facts(PerMethod(), "GET"), auth_facts(PerMethod(), "POST")) == (ANYONE, STAFF)


@pytest.mark.parametrize("permissions_of", [lambda view: None, lambda view: [permissions.IsAdminUser]])
def test_permissions_that_are_no_instances_cannot_be_read(permissions_of: Any) -> None:
    assert auth_facts(type("Odd", (Orders,), {"get_permissions": permissions_of})(), "GET") == UNREADABLE


def test_a_view_that_checks_in_its_own_way_cannot_be_read() -> None:
    class Own(Orders):
        def check_permissions(self, request: Any) -> None:
            pass

    assert facts("GET", permissions.IsAdminUser, view=Own) == UNREADABLE


def test_model_permissions_do_not_hold_for_a_view_that_is_exempt_from_them() -> None:
    class Root(Orders):
        _ignore_model_permissions = True

    assert facts("POST", permissions.DjangoModelPermissions, view=Root) == SOMEBODY


def test_permissions_of_each_action_are_read() -> None:
    class PerAction(viewsets.ModelViewSet):
        queryset = Order.objects.all()

        def get_permissions(self) -> list[Any]:
            return [permissions.AllowAny() if self.action == "list" else permissions.IsAdminUser()]

    listing, writing = PerAction(), PerAction()
    listing.action, writing.action = "list", "create"

    assert (auth_facts(listing, "GET"), auth_facts(writing, "POST")) == (ANYONE, STAFF)


def test_permissions_of_a_function_view_are_read() -> None:
    @api_view(["GET"])
    @permission_classes([permissions.IsAdminUser])
    def report(request: Any) -> None: ...

    assert auth_facts(report.cls(), "GET") == STAFF


def test_permissions_of_the_settings_are_read(settings: Settings) -> None:
    settings.REST_FRAMEWORK = {"DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"]}
    defaults = type("Fresh", (APIView,), {"permission_classes": api_settings.DEFAULT_PERMISSION_CLASSES})

    assert auth_facts(defaults(), "GET") == STAFF


@pytest.mark.parametrize(
    ("declaration", "fault"),
    [
        ({"anonymous": "no"}, "Odd.sezzlee_auth is a dict, not AuthFacts"),
        (AuthFacts(anonymous="maybe"), "Odd.sezzlee_auth has anonymous 'maybe', not 'yes', 'no' or 'unknown'"),
        (AuthFacts(anonymous="no", policies=("admins",)), "Odd.sezzlee_auth has the policy 'admins', which is none"),
        (AuthFacts(anonymous="no", policies=("perm:",)), "Odd.sezzlee_auth has the policy 'perm:', which is none"),
        (
            AuthFacts(anonymous="yes", policies=("staff",)),
            "Odd.sezzlee_auth has policies, and lets anonymous callers pass whom no policy is asked about",
        ),
        (classmethod(lambda cls, view, method: 1 / 0), "Odd.sezzlee_auth raised ZeroDivisionError"),
    ],
)
def test_a_declaration_that_says_nothing_usable_is_refused(declaration: Any, fault: str) -> None:
    odd = type("Odd", (permissions.BasePermission,), {"sezzlee_auth": declaration, "__qualname__": "Odd"})

    with pytest.raises(AuthDeclarationError) as refused:
        facts("GET", odd)

    assert str(refused.value) == fault


def test_a_refused_declaration_is_reported_and_its_tool_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IsOrderClerk, "sezzlee_auth", "clerks", raising=False)

    found = discover()
    (report,) = (one for one in found.descriptors if one.key == "GET /api/reports/sales/")

    assert report.auth == UNREADABLE
    assert (
        "project.shop.views.office.SalesReportView has a permission class whose declaration cannot be used: "
        "IsOrderClerk.sezzlee_auth is a str, not AuthFacts. Its tools are undecided instead."
    ) in [one.message for one in found.diagnostics if one.code == "auth_declaration_invalid"]
