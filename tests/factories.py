"""Rows for tests, with what a test does not care about filled in."""

from typing import Any

import factory
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission

from sezzlee_mcp.models import SelectionRule, Tag, VisibilityPolicy


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = get_user_model()
        skip_postgeneration_save = True

    username = factory.Sequence("user{}".format)


class StaffFactory(UserFactory):
    """Staff with ``permissions`` of sezzlee_mcp, such as ``view_operation``."""

    is_staff = True

    @factory.post_generation
    def permissions(self, create: bool, codenames: list[str] | None, **kwargs: Any) -> None:
        for codename in codenames or ():
            self.user_permissions.add(Permission.objects.get(content_type__app_label="sezzlee_mcp", codename=codename))


class SuperuserFactory(UserFactory):
    is_staff = True
    is_superuser = True


class TagFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Tag

    name = factory.Sequence("tag {}".format)


class SelectionRuleFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = SelectionRule

    decision = SelectionRule.Decision.INCLUDE


class VisibilityPolicyFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = VisibilityPolicy

    name = factory.Sequence("policy {}".format)
    rule = VisibilityPolicy.Rule.STAFF
