"""visibility.md, "Facts stored per operation": what DRF's permission classes say before any call."""

from typing import Any

import pytest
from rest_framework import permissions
from rest_framework.views import APIView

from project.shop.models import Order
from sezzlee_mcp.openapi.descriptors import AuthFacts
from sezzlee_mcp.permissions import auth_facts

ANYONE = AuthFacts(anonymous="yes")
SOMEBODY = AuthFacts(anonymous="no")
STAFF = AuthFacts(anonymous="no", policies=("staff",))
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
        ("GET", [permissions.IsAuthenticated | permissions.IsAdminUser], UNREADABLE),
        ("GET", [~permissions.IsAuthenticated], UNREADABLE),
        ("GET", [permissions.IsAuthenticated, Own], AuthFacts(anonymous="no", imperative=True)),
        ("GET", [permissions.IsAuthenticated, permissions.IsAdminUser], STAFF),
    ],
)
def test_permission_classes_give_their_facts(method: str, classes: list[Any], expected: AuthFacts) -> None:
    assert facts(method, *classes) == expected


def test_model_permissions_without_a_queryset_cannot_be_read() -> None:
    assert facts("POST", permissions.DjangoModelPermissions, view=APIView) == AuthFacts(anonymous="no", imperative=True)


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
