from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SezzleeMcpConfig(AppConfig):
    name = "sezzlee_mcp"
    verbose_name = _("MCP catalog")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from sezzlee_mcp import checks, receivers  # noqa: F401  (importing them registers checks and receivers)

        receivers.watch_users()
