"""What the pages share: a save that publishes, and pages that only show."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db import models, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from sezzlee_mcp.models import Catalog, Revision
from sezzlee_mcp.publishing import Draft, publish

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin

NOTE_CHARS = 500


class PublishingAdmin(ModelAdmin):
    """
    Pages whose every save and deletion publishes.

    The catalog is locked before a form compiles what it would publish: two members of staff who save at once
    wait for each other, so what the form found to be sound still is when it is published.
    """

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method != "POST":
            return super().changeform_view(request, object_id, form_url, extra_context)
        with transaction.atomic():
            Catalog.objects.lock()
            return super().changeform_view(request, object_id, form_url, extra_context)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)  # tags of an operation exist only from here on
        self.publish(request, self.revision_note(form), draft=self.saved_draft(form))

    def saved_draft(self, form: Any) -> Draft | None:
        """The catalog that the form compiled, if it is exactly what was saved; None compiles it from the rows."""
        return None

    def revision_note(self, form: Any) -> str:
        """What the revision says about this save."""
        return f"{self.opts.verbose_name}: {form.instance}"

    def delete_model(self, request: HttpRequest, obj: models.Model) -> None:
        note = _("%(kind)s deleted: %(what)s") % {"kind": self.opts.verbose_name, "what": obj}
        with transaction.atomic():
            Catalog.objects.lock()
            super().delete_model(request, obj)
            self.publish(request, note)

    def delete_queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        deleted = ", ".join(str(row) for row in queryset)
        note = _("%(kind)s deleted: %(what)s") % {"kind": self.opts.verbose_name_plural, "what": deleted}
        with transaction.atomic():
            Catalog.objects.lock()
            super().delete_queryset(request, queryset)
            self.publish(request, note)

    def publish(self, request: HttpRequest, note: str, draft: Draft | None = None) -> None:
        """Publish what is saved, and say what came of it."""
        note = Truncator(note).chars(NOTE_CHARS)
        revision = publish(source=Revision.Source.ADMIN, actor=request.user, note=note, draft=draft)
        self.message_user(request, self._outcome(request, revision))

    def _outcome(self, request: HttpRequest, revision: Revision | None) -> str:
        if revision is None:
            return _("Nothing that an agent reads changed, so there is no new generation.")
        generation: str = _("Generation %(number)d") % {"number": revision.generation}
        if request.user.has_perm("sezzlee_mcp.view_revision"):
            url = reverse(f"{self.admin_site.name}:sezzlee_mcp_revision_change", args=[revision.pk])
            generation = format_html('<a href="{}">{}</a>', url, generation)
        return format_html("{}: {}.", generation, summary(revision.counts))


class ReadOnlyAdmin(ModelAdmin):
    """Pages that show what a sync or a publish wrote; nobody writes it by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def summary(counts: Mapping[str, int]) -> str:
    """``2 tools added, 1 tool changed``: what a revision changed, in the reader's language."""
    added, removed, changed = (counts[kind] for kind in ("added", "removed", "changed"))
    parts = [
        ngettext("%d tool added", "%d tools added", added) % added if added else "",
        ngettext("%d tool removed", "%d tools removed", removed) % removed if removed else "",
        ngettext("%d tool changed", "%d tools changed", changed) % changed if changed else "",
    ]
    return ", ".join(filter(None, parts)) or _("no tool changed")
