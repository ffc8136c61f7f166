from typing import Any

from django.db.models import Model
from rest_framework.permissions import SAFE_METHODS, BasePermission, DjangoModelPermissions
from rest_framework.request import Request
from rest_framework.views import APIView


class ModelPermissions(DjangoModelPermissions):
    """DRF's model permissions, which let everyone read who is logged in; here reading asks for `view` too."""

    perms_map = DjangoModelPermissions.perms_map | {
        "GET": ["%(app_label)s.view_%(model_name)s"],
        "HEAD": ["%(app_label)s.view_%(model_name)s"],
    }


class IsOrderClerk(BasePermission):
    """Clerks are those who may change orders; written as code, as most projects write their own rules."""

    message = "Only order clerks may do this."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user and request.user.has_perm("shop.change_order"))


class IsAuthorOrReadOnly(BasePermission):
    message = "Only the author may change this note."

    def has_object_permission(self, request: Request, view: APIView, obj: Model | Any) -> bool:
        return request.method in SAFE_METHODS or obj.author_id == request.user.pk
