"""What waits in the draft: whether a save adds to it or publishes it, what it changes, and who saved it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from sezzlee_mcp import conf
from sezzlee_mcp.models import (
    ArgumentRule,
    Catalog,
    Operation,
    Revision,
    SelectionRule,
    Tag,
    ToolAlias,
    Variant,
    VisibilityPolicy,
)
from sezzlee_mcp.publishing import Inputs, read_inputs, waiting_tools

PUBLISH = "sezzlee_mcp.publish_catalog"
VIEW_REVISIONS = "sezzlee_mcp.view_revision"
TOOLS_SHOWN = 20

# The catalog's own entries are of the syncs that staff started.
_PUBLISHED = (Operation, Variant, Tag, SelectionRule, ArgumentRule, VisibilityPolicy, ToolAlias, Catalog)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What publishing the rows as they are stored would change, and who saved them so."""

    tools: tuple[str, ...]
    users: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.tools)

    @property
    def named_tools(self) -> str:
        """The first of the tools."""
        is_cut = len(self.tools) > TOOLS_SHOWN
        return ", ".join(self.tools[:TOOLS_SHOWN]) + "\N{HORIZONTAL ELLIPSIS}" * is_cut

    @property
    def said_users(self) -> str:
        """A sentence; empty where the history says of nobody."""
        return _("Saved by %(users)s.") % {"users": ", ".join(self.users)} if self.users else ""


def publishes(request: HttpRequest) -> bool:
    """Whether a save of whoever asks is published by itself; if not, it is kept in the draft."""
    return conf.current().publishes_at_once and request.user.has_perm(PUBLISH)


def publish_page(request: HttpRequest, site: str) -> str:
    """The page that publishes the draft; "" for those to whom it is shut."""
    may = request.user.has_perm(PUBLISH) and request.user.has_perm(VIEW_REVISIONS)
    return reverse(f"{site}:sezzlee_mcp_revision_publish") if may else ""


def of(inputs: Inputs) -> Waiting:
    tools = waiting_tools(inputs)
    return Waiting(tools=tools, users=users() if tools else ())


def stored() -> Inputs | None:
    """The rows as they are stored, where anything of them waits."""
    return read_inputs() if Catalog.objects.draft_waits() else None


def saves() -> models.QuerySet[LogEntry]:
    """
    What the admin's history says of the time since the rows were published last, the latest first.

    A rollback publishes no rows. A save is published after it is in the history, so that it is not since itself.
    """
    published = Revision.objects.exclude(source=Revision.Source.ROLLBACK).values("published_at")[:1]
    since = Coalesce(models.Subquery(published), datetime(1970, 1, 1, tzinfo=UTC), output_field=models.DateTimeField())
    kinds = ContentType.objects.get_for_models(*_PUBLISHED).values()
    entries = LogEntry.objects.filter(content_type__in=kinds, action_time__gt=since)
    return entries.select_related("user", "content_type").order_by("-action_time", "-pk")


def users() -> tuple[str, ...]:
    """Whose saves those are."""
    return tuple(dict.fromkeys(entry.user.get_username() for entry in saves()))
