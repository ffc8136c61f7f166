"""The demo host's settings with every operation exposed, whichever document is synced."""

from project.settings import *  # noqa: F403

SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
