"""Receivers that keep what a process holds in memory true."""

from functools import partial
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.core.signals import setting_changed
from django.db import transaction
from django.db.models.signals import m2m_changed, post_delete, post_save
from django.dispatch import receiver

from sezzlee_mcp import caller_cache, conf, handler


@receiver(setting_changed)
def forget_settings(*, setting: str, **kwargs: Any) -> None:
    """Settings are read once; tests that override them must see the new ones."""
    if setting == "SEZZLEE_MCP":
        conf.current.cache_clear()
        conf.language.cache_clear()
        caller_cache.invalidate_all()
    if setting == "MIDDLEWARE":
        handler.forget_middleware()


def watch_users() -> None:
    """
    Connect to the models that say who a user is and what the user may do.

    By sender: a receiver for all models would slow down every deletion of the host's.
    """
    user = get_user_model()
    for model in apps.get_models():
        if issubclass(model, user):
            post_save.connect(forget_user, sender=model)
            post_delete.connect(forget_user, sender=model)
    for field in (getattr(user, "groups", None), getattr(user, "user_permissions", None), Group.permissions):
        if field is not None:  # a user model of the host's may have neither
            m2m_changed.connect(forget_rights, sender=field.through)
    for model in (Group, Permission):  # no signal says whom a deletion takes them from
        post_save.connect(forget_everybody, sender=model)
        post_delete.connect(forget_everybody, sender=model)


def forget_user(*, instance: Any, using: str, **kwargs: Any) -> None:
    _forget(instance, using)


def forget_rights(*, instance: Any, action: str, using: str, **kwargs: Any) -> None:
    """Of one user; of all where it is a group that changed, or that the users were added to."""
    if action.startswith("post_"):
        _forget(instance if isinstance(instance, get_user_model()) else None, using)


def forget_everybody(*, using: str, **kwargs: Any) -> None:
    _forget(None, using)


def _forget(user: Any, using: str) -> None:
    """At once, and again when others can see the change: what they ask until then has the old answer."""
    forget = partial(caller_cache.invalidate_user, user) if user else caller_cache.invalidate_all
    forget()
    transaction.on_commit(forget, using=using)
