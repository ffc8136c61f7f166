"""What the pages share: a save that publishes or waits in the draft, and pages that only show."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin import actions
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import unquote
from django.db import models, transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from sezzlee_mcp import holds
from sezzlee_mcp.admin import previews, versions, waiting
from sezzlee_mcp.admin.forms import FORM_FIELDS, PREVIEW
from sezzlee_mcp.admin.previews import Pair
from sezzlee_mcp.admin.versions import SEEN
from sezzlee_mcp.admin.waiting import Waiting
from sezzlee_mcp.models import Catalog, Revision
from sezzlee_mcp.publishing import Draft, Inputs, keep, publish, read_inputs, waiting_tools

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin

NOTE_CHARS = 500
LISTED_CHARS = 200


class StaffAdmin(ModelAdmin):
    """What all pages have in common."""

    formfield_overrides = FORM_FIELDS
    object_history_template = "admin/sezzlee_mcp/history.html"

    class Media:
        css = {"all": ["sezzlee_mcp/admin.css"]}

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """The list, unless a filter asks for a text that no database stores, which is answered as other wrong ones."""
        if any("\0" in value for _name, values in request.GET.lists() for value in values):
            raise IncorrectLookupParameters
        return super().get_changelist_instance(request)


class PublishingAdmin(StaffAdmin):
    """
    Pages whose every save and deletion publishes, or waits in the draft where whoever saves does not publish.

    The catalog is locked before a form compiles what it would publish: two members of staff who save at once
    wait for each other, so what the form found to be sound still is when it is published. A save is published once it
    is in the history. A preview publishes nothing, and locks nothing. What is deleted is what the page that asks for a
    confirmation showed.
    """

    change_form_template = "admin/sezzlee_mcp/publishing_form.html"
    delete_confirmation_template = "admin/sezzlee_mcp/delete_confirmation.html"
    delete_selected_confirmation_template = "admin/sezzlee_mcp/delete_selected_confirmation.html"
    actions: Sequence[Any] = ("delete_selected",)  # in place of Django's, which is made anew for every model
    save_on_top = True  # a preview, or what agents read, stands between the fields and the end of the page

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method != "POST" or PREVIEW in request.POST:
            return super().changeform_view(request, object_id, form_url, extra_context)
        with self.locked(request):
            return super().changeform_view(request, object_id, form_url, extra_context)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The row of the page, read once: a page that deletes asks for it twice."""
        kept: dict[str, Any] = vars(request).setdefault("sezzlee_rows", {})
        if object_id not in kept:
            kept[object_id] = super().get_object(request, object_id, from_field)
        return kept[object_id]

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        with self._deleting(request, is_confirmed=request.method == "POST"):
            row = self.get_object(request, unquote(object_id))
            context = self._deletion(request, [row] if row else [], is_confirmed=request.method == "POST")
            return super().delete_view(request, object_id, {**(extra_context or {}), **context})

    @admin.action(permissions=["delete"], description=gettext_lazy("Delete selected %(verbose_name_plural)s"))
    def delete_selected(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> HttpResponse | None:
        is_confirmed = "post" in request.POST
        with self._deleting(request, is_confirmed):
            context = self._deletion(request, queryset, is_confirmed)
            response = actions.delete_selected(self, request, queryset)
        if isinstance(response, TemplateResponse):
            response.context_data = {**(response.context_data or {}), **context}
        return response

    @contextmanager
    def locked(self, request: HttpRequest) -> Iterator[None]:
        """A save, under the catalog's lock; whoever published others' edits along is told whose they were."""
        with transaction.atomic():
            waits = Catalog.objects.lock().draft_waits
            # Whoever saves is in the history before that publishes.
            users = waiting.users() if waits and waiting.publishes(request) else ()
            yield
            if tools := vars(request).get("sezzlee_carried"):
                self.message_user(request, carried(Waiting(tools=tools, users=users)), messages.WARNING)

    def _deleting(self, request: HttpRequest, is_confirmed: bool) -> AbstractContextManager[None]:
        return self.locked(request) if is_confirmed else nullcontext()

    def _deletion(self, request: HttpRequest, rows: Iterable[Any], is_confirmed: bool) -> dict[str, Any]:
        """What a page says that asks whether to delete; a confirmation of what it did not show is taken for none."""
        seen, refusal = versions.of_deletion(self.model, rows), ""
        if is_confirmed and request.POST.get(SEEN) != seen:
            request.POST = QueryDict()  # Django deletes where anything is posted
            refusal = versions.refused_deletion(rows)
        return {
            "refusal": refusal,
            "seen_name": SEEN,
            "seen": seen,
            "publishes": waiting.publishes(request),
            "waits": SimpleLazyObject(lambda: waiting.of(read_inputs())),
        }

    def _create_formsets(self, request: HttpRequest, obj: Any, change: bool) -> Any:
        """The formsets, told to the form, since Django does not: what it compiles depends on their rows too."""
        formsets, inlines = super()._create_formsets(request, obj, change)  # type: ignore[misc]
        vars(obj)["formsets"] = formsets
        return formsets, inlines

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)  # tags of an operation exist only from here on
        vars(form.instance)["saved_form"] = form

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        self.release_saved(request, vars(obj)["saved_form"])
        return super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        self.release_saved(request, vars(obj)["saved_form"])
        return super().response_change(request, obj)

    def release_saved(self, request: HttpRequest, form: Any) -> None:
        self.release(request, self.revision_note(form), form.stored, form.draft)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        form = context["adminform"].form
        if PREVIEW in request.POST and form.draft is not None and not context["errors"]:
            context["preview"] = self.preview(request, form)
        return super().render_change_form(
            request, {**context, "preview_button": PREVIEW, "seen_name": SEEN}, *args, **kwargs
        )

    def preview(self, request: HttpRequest, form: Any) -> SafeString:
        """What saving the form would change for agents."""
        return previews.rendered(
            form.draft,
            site=self.admin_site.name,
            publishes=waiting.publishes(request),
            waits=waiting.of(form.stored),
            tools=self.previewed_tools(form),
            beside=self.touched(form),
        )

    def touched(self, form: Any) -> SafeString | str:
        """What the preview of a page says beside the changes."""
        return ""

    def previewed_tools(self, form: Any) -> Sequence[Pair]:
        """The tools that the page is about, as they are and as they would be; none for a page about many."""
        return ()

    def revision_note(self, form: Any) -> str:
        """What the revision says about this save."""
        return f"{self.opts.verbose_name}: {form.instance}"

    def delete_model(self, request: HttpRequest, obj: models.Model) -> None:
        note = _("%(kind)s deleted: %(what)s") % {"kind": self.opts.verbose_name, "what": obj}
        stored = waiting.stored()
        super().delete_model(request, obj)
        self.release(request, note, stored)

    def delete_queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        deleted = ", ".join(str(row) for row in queryset)
        note = _("%(kind)s deleted: %(what)s") % {"kind": self.opts.verbose_name_plural, "what": deleted}
        stored = waiting.stored()
        super().delete_queryset(request, queryset)
        self.release(request, note, stored)

    def release(self, request: HttpRequest, note: str, stored: Inputs | None, draft: Draft | None = None) -> None:
        """
        Publish what is saved, or keep it in the draft, and say what came of it.

        ``stored`` is what was stored before, where anything of it may wait, which is published along.
        """
        if not waiting.publishes(request):
            self.message_user(request, kept(request, self.admin_site, keep(draft)))
            return
        tools = waiting_tools(stored) if stored else ()
        note = Truncator(note).chars(NOTE_CHARS)
        revision = publish(source=Revision.Source.ADMIN, actor=request.user, note=note, draft=draft)
        self.message_user(request, outcome(request, self.admin_site, revision))
        vars(request)["sezzlee_carried"] = tools if revision else ()


def listed(text: str) -> str:
    """A text as lists show it, where a row is a few lines high."""
    return Truncator(text).chars(LISTED_CHARS)


def kept(request: HttpRequest, site: admin.AdminSite, waits: bool) -> str:
    """What became of a save that published nothing, in a sentence."""
    if not waits:
        unchanged: str = _("This is saved. What agents read is what is saved, so nothing waits in the draft.")
        return unchanged
    text: str = _("This is saved and kept in the draft: agents read what they read before, until that is published.")
    page = waiting.publish_page(request, site.name)
    return format_html('{} <a href="{}">{}</a>', text, page, _("Publish the draft")) if page else text


def carried(waits: Waiting) -> str:
    """Whose edits a publish took along, in a sentence or two."""
    number = len(waits.tools)
    text: str = ngettext(
        "Edits that waited in the draft were published along; they change %(number)d tool: %(tools)s.",
        "Edits that waited in the draft were published along; they change %(number)d tools: %(tools)s.",
        number,
    ) % {"number": number, "tools": waits.named_tools}
    return f"{text} {waits.said_users}".rstrip()


def outcome(request: HttpRequest, site: admin.AdminSite, revision: Revision | None) -> str:
    """What a publish came to, in a sentence; a hold is said wherever it may be why nothing was published."""
    if revision is None:
        held = holds.kept()
        if held.catalog is not None:
            text = _(
                "This is saved and not published: since a rollback agents read generation %(number)d until it ends."
            )
            return text % {"number": held.catalog}
        unchanged: str = _("Nothing that an agent reads changed, so there is no new generation.")
        if held.operations:
            unchanged += " " + _("Operations that were rolled back are held, and their edits wait for the end of that.")
        return unchanged
    generation: str = _("Generation %(number)d") % {"number": revision.generation}
    if request.user.has_perm(waiting.VIEW_REVISIONS):
        url = reverse(f"{site.name}:sezzlee_mcp_revision_change", args=[revision.pk])
        generation = format_html('<a href="{}">{}</a>', url, generation)
    return format_html("{}: {}.", generation, summary(revision.counts))


class ReadOnlyAdmin(StaffAdmin):
    """Pages that show what a sync or a publish wrote; nobody writes it by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def rendered(model_admin: ModelAdmin, request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """A page of a model's that is no form of one row; ``context`` holds its ``title``."""
    shared = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "media": model_admin.media,
        "has_view_permission": True,
        "original": context["title"],  # what a form's page leads to is its last breadcrumb
    }
    request.current_app = model_admin.admin_site.name
    return TemplateResponse(request, f"admin/sezzlee_mcp/{template}", {**shared, **context})


def summary(counts: Mapping[str, int]) -> str:
    """``2 tools added, 1 tool changed``: what a revision changed, in the reader's language."""
    added, removed, changed = (counts[kind] for kind in ("added", "removed", "changed"))
    parts = [
        ngettext("%d tool added", "%d tools added", added) % added if added else "",
        ngettext("%d tool removed", "%d tools removed", removed) % removed if removed else "",
        ngettext("%d tool changed", "%d tools changed", changed) % changed if changed else "",
    ]
    return ", ".join(filter(None, parts)) or _("no tool changed")
