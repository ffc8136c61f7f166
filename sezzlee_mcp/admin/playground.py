"""The playground: search, load and compose as an agent does, with the reasons beside each, and nothing sent."""

import json
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from sezzlee_mcp import explanations, snapshots
from sezzlee_mcp.admin.bases import ModelAdmin, rendered
from sezzlee_mcp.admin.forms import LinesField
from sezzlee_mcp.callers import Caller, as_user, users_named
from sezzlee_mcp.explanations import Outcome
from sezzlee_mcp.models import SearchCase
from sezzlee_mcp.models.cases import AS_USER
from sezzlee_mcp.playground import Listing, Place, Playground, Sent, compose
from sezzlee_mcp.protocol.jsonrpc import parse_json
from sezzlee_mcp.protocol.metatools import LIMIT_MAX, LIMIT_MIN
from sezzlee_mcp.search import Field
from sezzlee_mcp.search.cases import QUERY_CHARS, USER_CHARS

LIMIT_SHOWN = 10
BODY_CHARS = 20_000  # of a body that is shown

EVERYTHING, ANONYMOUS, USER = "", "anonymous", "user"
AGENTS = (
    (EVERYTHING, gettext_lazy("nobody’s: the whole catalog")),
    (ANONYMOUS, gettext_lazy("an anonymous one")),
    (USER, gettext_lazy("that of the user")),
)
FIELDS = {
    Field.NAME: gettext_lazy("name"),
    Field.DESCRIPTION: gettext_lazy("description"),
    Field.SEARCH_TERMS: gettext_lazy("search terms"),
    Field.TAGS: gettext_lazy("tags"),
    Field.ROUTE: gettext_lazy("route"),
    Field.PARAMETERS: gettext_lazy("parameters"),
    Field.MEMBERS: gettext_lazy("members of the body"),
}
RULES = {
    "its method is what the verb speaks of": gettext_lazy("its method is what the verb speaks of"),
    "it reads one object, and no id was given": gettext_lazy("it reads one object, and no id was given"),
    "it is PUT, and there is PATCH": gettext_lazy("it is PUT, and there is PATCH"),
    "it takes many at once": gettext_lazy("it takes many at once"),
    "it deletes, and nobody asked for that": gettext_lazy("it deletes, and nobody asked for that"),
}


class AgentForm(forms.Form):
    """
    Whose agent it is; sound, the form holds its ``caller``, which is None for the whole catalog.

    Staff try their own user. To try another one takes a permission, as what an agent finds shows what its user sees.
    """

    agent = forms.ChoiceField(label=gettext_lazy("Agent"), choices=AGENTS, required=False)
    user = forms.CharField(label=gettext_lazy("User"), max_length=USER_CHARS, required=False)

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request.GET or None)
        self.caller: Caller | None = None
        self.fields["user"].initial = request.user.get_username()
        self.fields["user"].disabled = not request.user.has_perm(AS_USER)  # then it is the initial value that counts

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        agent, name = cleaned.get("agent"), cleaned.get("user", "")
        if agent == ANONYMOUS:
            self.caller = as_user(AnonymousUser())
        elif agent == USER:
            user = users_named([name]).get(name)
            if user is None:
                self.add_error("user", ValidationError(_("There is no such user."), code="unknown"))
            else:
                self.caller = as_user(user)
        return cleaned

    @property
    def chosen(self) -> dict[str, str]:
        """The part of an address that chooses the same agent."""
        agent, user = self.cleaned_data["agent"], self.cleaned_data["user"]
        return {"agent": agent, "user": user} if agent == USER else {"agent": agent}


class SearchForm(AgentForm):
    query = forms.CharField(label=gettext_lazy("Query"), max_length=QUERY_CHARS, required=False)
    tags = LinesField(
        label=gettext_lazy("Tags, one a line"), required=False, widget=forms.Textarea(attrs={"rows": 1, "cols": 20})
    )
    limit = forms.IntegerField(
        label=gettext_lazy("Results"),
        min_value=LIMIT_MIN,
        max_value=LIMIT_MAX,
        required=False,
        widget=forms.NumberInput(attrs={"placeholder": LIMIT_SHOWN}),
    )
    sought = forms.CharField(label=gettext_lazy("Where is the tool"), required=False)

    field_order = ("query", "tags", "limit", "sought", "agent", "user")

    def clean_sought(self) -> str:
        sought: str = self.cleaned_data["sought"]
        if sought and snapshots.current().find(sought) is None:
            raise ValidationError(_("No tool is called that."), code="unknown")
        return sought


class ToolForm(AgentForm):
    name = forms.CharField(label=gettext_lazy("Tool"))

    field_order = ("name", "agent", "user")


class ArgumentsForm(forms.Form):
    arguments = forms.CharField(
        label=gettext_lazy("Arguments"),
        initial="{}",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "class": "vLargeTextField", "spellcheck": "false"}),
        help_text=gettext_lazy("A JSON object, as the agent would give it to invoke_tool."),
    )

    def clean_arguments(self) -> Any:
        try:
            return parse_json(self.cleaned_data["arguments"])
        except ValueError as error:
            raise ValidationError(_("This is no JSON: %(error)s."), params={"error": error}, code="json") from None


def urls(model_admin: ModelAdmin) -> list[URLPattern]:
    views = {"search": search_view, "tool": tool_view}
    return [
        path(f"try/{name}/", model_admin.admin_site.admin_view(partial(view, model_admin)), name=_url_name(name))
        for name, view in views.items()
    ]


def search_view(model_admin: ModelAdmin, request: HttpRequest) -> HttpResponse:
    """What a search finds under every ranker, and why each tool is where it is."""
    _require_view(model_admin, request)
    form = SearchForm(request)
    context: dict[str, Any] = {"title": _("Try a search"), "form": form}
    if form.is_valid() and _is_served(form.caller, context):
        links = _Links(model_admin, request, form)
        playground = Playground(form.caller)
        asked = form.cleaned_data
        listings = playground.search(
            asked["query"], tags=asked["tags"], limit=asked["limit"] or LIMIT_SHOWN, sought=asked["sought"]
        )
        context |= {
            "listings": [_shown(listing, links) for listing in listings],
            "total": _total(form, playground.total),
            "is_sought_hidden": asked["sought"] and not playground.shows(asked["sought"]),
            "run_url": links.run(),
        }
    return rendered(model_admin, request, "operation/try_search.html", context)


def _total(form: AgentForm, total: int) -> str:
    """How many tools there are to find, and for whom: a user's name alone chooses no agent."""
    said = {
        EVERYTHING: ngettext(
            "The whole catalog has %(number)d tool.", "The whole catalog has %(number)d tools.", total
        ),
        ANONYMOUS: ngettext(
            "An anonymous agent can find %(number)d tool.", "An anonymous agent can find %(number)d tools.", total
        ),
        USER: ngettext(
            "An agent of %(user)s can find %(number)d tool.", "An agent of %(user)s can find %(number)d tools.", total
        ),
    }
    return said[form.cleaned_data["agent"]] % {"number": total, "user": form.cleaned_data["user"]}


def tool_view(model_admin: ModelAdmin, request: HttpRequest) -> HttpResponse:
    """
    A tool as load_tool shows it, and the request that arguments make.

    Arguments are posted although nothing is changed: an address may be shorter than they are, and is kept in logs.
    """
    _require_view(model_admin, request)
    form = ToolForm(request)
    context: dict[str, Any] = {"title": _("Try a tool"), "form": form}
    if form.is_valid() and _is_served(form.caller, context):
        name = form.cleaned_data["name"]
        arguments = ArgumentsForm(request.POST or None)
        context |= {
            "loaded": _pretty(Playground(form.caller).load(name)),
            "arguments": arguments,
        }
        if arguments.is_valid():
            # As oneself: what a provider gives for somebody else is for nobody to see, not even for their agent.
            trial = compose(as_user(request.user), name, arguments.cleaned_data["arguments"])
            context |= {
                "sent": trial.sent and _message(trial.sent),
                "files": trial.sent.files if trial.sent else (),
                "refusal": trial.refusal and _pretty(trial.refusal),
            }
    return rendered(model_admin, request, "operation/try_tool.html", context)


def _require_view(model_admin: ModelAdmin, request: HttpRequest) -> None:
    if not model_admin.has_view_permission(request):
        raise PermissionDenied


def _url_name(view: str) -> str:
    return f"sezzlee_mcp_operation_try_{view}"


class _Links:
    """Where a tool that was found leads to; "" where that is shut to whoever asks."""

    def __init__(self, model_admin: ModelAdmin, request: HttpRequest, form: SearchForm) -> None:
        self._site = model_admin.admin_site
        self._form = form
        cases = self._site.get_model_admin(SearchCase)
        agent = form.cleaned_data["agent"]
        may_name = agent == EVERYTHING or (agent == USER and request.user.has_perm(AS_USER))
        self._may_keep = may_name and bool(form.cleaned_data["query"]) and cases.has_add_permission(request)
        self._may_run = cases.has_view_permission(request)

    def tool(self, name: str) -> str:
        return self._address(_url_name("tool"), name=name, **self._form.chosen)

    def keep(self, expected: str) -> str:
        """The page of a new case with this search; a case is of a user or of everything, never anonymous."""
        if not self._may_keep:
            return ""
        asked = {"query": self._form.cleaned_data["query"], "expected": expected}
        lists = {"tags": "\n".join(self._form.cleaned_data["tags"]), "user": self._form.chosen.get("user", "")}
        return self._address("sezzlee_mcp_searchcase_add", **asked, **{name: it for name, it in lists.items() if it})

    def run(self) -> str:
        return self._address("sezzlee_mcp_searchcase_run") if self._may_run else ""

    def _address(self, url_name: str, /, **query: str) -> str:
        address = reverse(f"{self._site.name}:{url_name}")
        return f"{address}?{urlencode(query)}" if query else address


def _shown(listing: Listing, links: _Links) -> dict[str, Any]:
    return {
        "ranker": listing.ranker,
        "is_in_force": listing.is_in_force,
        "error": listing.error,
        "corrected": listing.corrected,
        "places": [_row(place, links) for place in listing.places],
        "sought": listing.sought and _row(listing.sought, links),
    }


def _row(place: Place, links: _Links) -> dict[str, Any]:
    return {
        "place": place,
        "url": links.tool(place.name),
        "keep_url": links.keep(place.expected),
        "gains": [
            {
                "gain": gain,
                "hits": [(FIELDS[hit.field], hit.word, hit.times, round(hit.weight, 3)) for hit in gain.hits],
            }
            for gain in (place.score.gains if place.score else ())
        ],
        "rules": [(RULES[rule], factor) for rule, factor in (place.score.rules.items() if place.score else ())],
    }


def _is_served(caller: Caller | None, context: dict[str, Any]) -> bool:
    """Whether the endpoint would answer the caller at all; the ``caveats`` of what it answers join the context."""
    if caller is None:
        return True
    step = explanations.endpoint(caller)
    said = [] if step.outcome is Outcome.PASSED else [step.detail]
    context["caveats"] = [*said, explanations.without_request(caller)]
    return step.outcome is not Outcome.LOST


def _message(sent: Sent) -> str:
    """The request as HTTP writes it; bytes that are no text are escaped."""
    head = [f"{sent.method} {sent.target}", *(f"{name}: {value}" for name, value in sent.headers)]
    body = (sent.body or b"").decode("utf-8", "backslashreplace")
    if len(body) > BODY_CHARS:
        body = f"{body[:BODY_CHARS]}\N{HORIZONTAL ELLIPSIS}"
    return "\n".join([*head, "", body]).strip()


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
