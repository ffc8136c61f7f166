"""Receivers that keep what a process holds in memory true."""

from typing import Any

from django.core.signals import setting_changed
from django.dispatch import receiver

from sezzlee_mcp import conf, dispatch


@receiver(setting_changed)
def forget_settings(*, setting: str, **kwargs: Any) -> None:
    """Settings are read once; tests that override them must see the new ones."""
    if setting == "SEZZLEE_MCP":
        conf.current.cache_clear()
    if setting == "MIDDLEWARE":
        dispatch.forget_middleware()
