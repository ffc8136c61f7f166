from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from sezzlee_mcp import snapshots
from sezzlee_mcp.admin.bases import StaffAdmin, rendered
from sezzlee_mcp.admin.filters import TextFilter
from sezzlee_mcp.admin.forms import LinesField, SeenForm
from sezzlee_mcp.admin.versions import SEEN
from sezzlee_mcp.admin.waiting import VIEW_REVISIONS
from sezzlee_mcp.evaluation import PLACES, Evaluation, remarkable_cases
from sezzlee_mcp.models import Operation, Revision, SearchCase, ToolContent
from sezzlee_mcp.models.cases import AS_USER
from sezzlee_mcp.search import Case, CasesUnreadable, read_cases, write_cases
from sezzlee_mcp.search.cases import is_typed

FILE_LIMIT_BYTES = 1_000_000
GENERATIONS_SHOWN = 50  # to compare with; the command takes any that is kept
NOTE_CHARS = 40  # of a generation's note, beside its number


class SearchCaseForm(SeenForm):
    tags = LinesField(label=gettext_lazy("Tags"), required=False, help_text=gettext_lazy("What the agent filters by."))
    expected = LinesField(
        label=gettext_lazy("Expected"),
        help_text=gettext_lazy(
            "What fulfils the need, each alone, one a line: an operation as GET /api/orders/, or a tool by its name "
            "where the operation has several."
        ),
    )

    class Meta:
        model = SearchCase
        fields = ("need", "query", "user", "tags", "expected")
        widgets = {name: forms.TextInput(attrs={"class": "vTextField"}) for name in ("need", "query", "user")}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for member, said in [*cleaned.items()]:
            if not all(map(is_typed, said if isinstance(said, list) else [said])):
                self.add_error(member, ValidationError(_("It holds a control character."), code="untyped"))
        if not self.errors:
            case = SearchCase(**{"user": self.instance.user, **cleaned}).to_case()
            for member, fault in Evaluation([case], [snapshots.current()]).unknown.get(0, {}).items():
                self.add_error(member if member in self.fields else None, ValidationError(fault, code="unknown"))
        return cleaned


class SearchCaseFileForm(forms.Form):
    """The ``cases`` of a file, all of which can be run; nothing is kept of a file in which one cannot."""

    file = forms.FileField(label=gettext_lazy("File"))

    def __init__(self, *args: Any, may_name_users: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._may_name_users = may_name_users

    def clean_file(self) -> tuple[Case, ...]:
        file = self.cleaned_data["file"]
        if file.size > FILE_LIMIT_BYTES:
            raise ValidationError(_("It is larger than a megabyte."), code="too_large")
        try:
            cases = read_cases(file.read())
        except CasesUnreadable as unreadable:
            raise ValidationError(list(unreadable.problems), code="unreadable") from None
        if not self._may_name_users and any(case.user for case in cases):
            raise ValidationError(_("It names users, and you may not search as another user."), code="as_user")
        unknown = Evaluation(cases, [snapshots.current()]).unknown
        if unknown:
            raise ValidationError([f"/{number}: {' '.join(said.values())}" for number, said in unknown.items()])
        return cases


class AgainstForm(forms.Form):
    """The generation to compare the current one with, with its note for whoever may see revisions."""

    def __init__(self, *args: Any, current: int, shows_notes: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        earlier = Revision.objects.exclude(generation=current).values_list("generation", "note")[:GENERATIONS_SHOWN]
        self.fields["against"] = forms.TypedChoiceField(
            label=_("Compare with generation"),
            choices=[
                ("", _("none")),
                *((number, _named(number, note if shows_notes else "")) for number, note in earlier),
            ],
            coerce=int,
            empty_value=None,
            required=False,
        )


def _named(generation: int, note: str) -> str:
    return f"{generation}: {Truncator(note).chars(NOTE_CHARS)}" if note else str(generation)


@admin.register(SearchCase)
class SearchCaseAdmin(StaffAdmin):
    """Cases are staff's own measure: nothing of them is published."""

    form = SearchCaseForm
    change_form_template = "admin/sezzlee_mcp/seen_form.html"
    list_display = ("query", "need", "user", "tag_list", "expectation")
    list_filter = (("user", TextFilter),)
    search_fields = ("need", "query", "user")

    def get_urls(self) -> list[URLPattern]:
        views = {"run": self.run_view, "export": self.export_view, "load": self.load_view}
        own = [
            path(f"{name}/", self.admin_site.admin_view(view), name=f"sezzlee_mcp_searchcase_{name}")
            for name, view in views.items()
        ]
        return [*own, *super().get_urls()]

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Two who save one case at once wait for each other, so that the second is told."""
        with transaction.atomic():
            if request.method == "POST" and object_id and (row := self.get_object(request, unquote(object_id))):
                SearchCase.objects.select_for_update().filter(pk=row.pk).first()
            return super().changeform_view(request, object_id, form_url, extra_context)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        return super().render_change_form(request, {**context, "seen_name": SEEN}, *args, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: SearchCase | None = None) -> tuple[str, ...]:
        return () if request.user.has_perm(AS_USER) else ("user",)

    @admin.display(description=gettext_lazy("tags"))
    def tag_list(self, case: SearchCase) -> str:
        return ", ".join(case.tags)

    @admin.display(description=gettext_lazy("expected"))
    def expectation(self, case: SearchCase) -> str:
        return ", ".join(case.expected)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "may_load": self._may_load(request)})

    def run_view(self, request: HttpRequest) -> HttpResponse:
        """Every ranker's scores, in the current generation and in one to compare with, and what each case came to."""
        _require(self.has_view_permission(request))
        rows = list(SearchCase.objects.all())
        runnable = [row for row in rows if not row.user or request.user.has_perm(AS_USER)]
        current = snapshots.current()
        shows_notes = request.user.has_perm(VIEW_REVISIONS)
        form = AgainstForm(request.GET or None, current=current.generation, shows_notes=shows_notes)
        against = form.cleaned_data["against"] if form.is_valid() else None
        compared = [current] if against is None else [current, snapshots.of_generation(against)]
        evaluation = Evaluation([row.to_case() for row in runnable], compared)
        unknown = evaluation.unknown
        context = {
            "title": _("Search quality"),
            "generation": current.generation,
            "form": form,
            "unknown": [(runnable[number], list(said.values())) for number, said in unknown.items()],
            "left_out": len(rows) - len(runnable),
            **self._results(request, evaluation, [row for number, row in enumerate(runnable) if number not in unknown]),
        }
        return rendered(self, request, "searchcase/run.html", context)

    def export_view(self, request: HttpRequest) -> HttpResponse:
        _require(self.has_view_permission(request))
        return HttpResponse(
            write_cases(SearchCase.objects.cases()),
            content_type="application/json",
            headers={"Content-Disposition": 'attachment; filename="search_cases.json"'},
        )

    def load_view(self, request: HttpRequest) -> HttpResponse:
        """Keeps the cases of a file; those of the same search are changed, and no other is touched."""
        _require(self._may_load(request))
        may_name_users = request.user.has_perm(AS_USER)
        form = SearchCaseFileForm(request.POST or None, request.FILES or None, may_name_users=may_name_users)
        if not form.is_valid():
            return rendered(self, request, "searchcase/load.html", {"title": _("Load search cases"), "form": form})
        with transaction.atomic():
            new, changed = SearchCase.objects.keep(form.cleaned_data["file"])
            for row in new:
                self.log_addition(request, row, [{"added": {}}])
            for row, fields in changed:
                # The history translates the names of fields where it shows them.
                self.log_change(request, row, [{"changed": {"fields": [name.capitalize() for name in fields]}}])
        counts = {"new": len(new), "changed": len(changed)}
        self.message_user(request, _("Search cases loaded: %(new)d new, %(changed)d changed.") % counts)
        return HttpResponseRedirect(reverse(f"{self.admin_site.name}:sezzlee_mcp_searchcase_changelist"))

    def _results(self, request: HttpRequest, evaluation: Evaluation, rows: Sequence[SearchCase]) -> dict[str, Any]:
        """The runs, and each case with its places in them: first those that some run misses or finds elsewhere."""
        runs, addresses = evaluation.runs(), self._addresses(request, rows)
        remarkable, out_of_sight = set(remarkable_cases(runs)), set(evaluation.out_of_sight())
        cases = [
            {
                "row": row,
                "expected": [(each, addresses.get(each, "")) for each in row.expected],
                "places": [run.place(number) for run in runs],
                "is_remarkable": number in remarkable,
                "is_out_of_sight": number in out_of_sight,
            }
            for number, row in enumerate(rows)
        ]
        return {"runs": runs, "cases": sorted(cases, key=lambda case: not case["is_remarkable"]), "within": PLACES}

    def _addresses(self, request: HttpRequest, rows: Iterable[SearchCase]) -> dict[str, str]:
        """The page of the operation behind each expectation, for who may see it."""
        if not self.admin_site.get_model_admin(Operation).has_view_permission(request):
            return {}
        expected = {each for row in rows for each in row.expected}
        tools = ToolContent.objects.filter(left_generation=None, name__in=expected)
        keys = {each: each for each in expected} | dict(tools.values_list("name", "operation_key"))
        ids = dict(Operation.objects.filter(key__in=keys.values()).values_list("key", "pk"))
        page = f"{self.admin_site.name}:sezzlee_mcp_operation_change"
        return {each: reverse(page, args=[ids[key]]) for each, key in keys.items() if key in ids}

    def _may_load(self, request: HttpRequest) -> bool:
        return self.has_add_permission(request) and self.has_change_permission(request)


def _require(permission: bool) -> None:
    if not permission:
        raise PermissionDenied
