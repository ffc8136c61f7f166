"""The way of a tool from the document to an agent, step by step: where it is lost, and what to do about it."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any

from django.utils.dateformat import format as format_date
from django.utils.timezone import is_aware, localtime
from django.utils.translation import gettext as _

from sezzlee_mcp import conf, lookup, publishing, snapshots
from sezzlee_mcp.aliases import Alias, today
from sezzlee_mcp.caller_cache import Known, KnownToAll
from sezzlee_mcp.callers import Caller, admits
from sezzlee_mcp.catalog.curation import Curation, VisibilityPolicy
from sezzlee_mcp.catalog.policies import policies_on
from sezzlee_mcp.catalog.selection import Selection, select
from sezzlee_mcp.catalog.sources import Source
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.catalog.visibility import Answer, Decision
from sezzlee_mcp.diagnostics import Severity
from sezzlee_mcp.invoke.placeholders import placeholder_path
from sezzlee_mcp.models import Catalog, Diagnostic, Operation, Revision, ToolContent
from sezzlee_mcp.openapi.descriptors import AuthFacts, Outline
from sezzlee_mcp.permission_checks import Check
from sezzlee_mcp.rollbacks import undone
from sezzlee_mcp.sight import Sight
from sezzlee_mcp.snapshots import Entry, Snapshot

logger = logging.getLogger("sezzlee_mcp")

# Warnings about a tool that is published, and that an agent cannot load or invoke all the same.
HINDRANCES = ("not_invocable", "tool_over_budget")


class Stage(StrEnum):
    """The steps of the way, in their order."""

    DOCUMENT = "document"
    SELECTION = "selection"
    COMPILE = "compile"
    PUBLISH = "publish"
    ENDPOINT = "endpoint"
    FACTS = "facts"  # what the tool asks of callers, as far as it is declared
    POLICY = "policy"
    CHECK = "check"  # the view's own permission check
    VISIBILITY = "visibility"


class Outcome(StrEnum):
    """What a step did to the tool."""

    PASSED = "passed"
    LOST = "lost"
    PENDING = "pending"  # lost by what holds now, and still published: the next sync or save takes it away
    RENAMED = "renamed"  # published under another name than the one that was asked for
    UNKNOWN = "unknown"  # nobody can say it before the call


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A diagnostic that the last sync or publish left about the operation."""

    code: str
    severity: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: what came of it, why, and what to do about it where something can be done (``advice``)."""

    stage: Stage
    outcome: Outcome
    detail: str
    advice: str = ""
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "stage": self.stage.value,
            "outcome": self.outcome.value,
            "detail": self.detail,
            "advice": self.advice,
            "findings": [
                {"code": found.code, "severity": found.severity, "message": found.message} for found in self.findings
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """
    The way of one operation as far as it goes.

    ``operation`` is its key, empty when nothing is called what was ``asked`` for; ``tools`` are the names under which
    it is published now. ``unknown`` says what only a request of the agent's could tell.
    """

    asked: str
    operation: str
    tools: tuple[str, ...]
    steps: tuple[Step, ...]
    unknown: str = ""

    @property
    def lost_at(self) -> Stage | None:
        """The first step that lost the tool, if one did."""
        return next((step.stage for step in self.steps if step.outcome is Outcome.LOST), None)

    def to_json(self) -> dict[str, Any]:
        return {
            "asked": self.asked,
            "operation": self.operation,
            "tools": list(self.tools),
            "lostAt": self.lost_at and self.lost_at.value,
            "steps": [step.to_json() for step in self.steps],
            "unknown": self.unknown,
        }


def explain(asked: str, caller: Caller | None = None) -> Explanation:
    """
    The way of the operation that ``asked`` names (``lookup.find``), up to what ``caller`` sees of it.

    Without a caller it ends with what is asked of callers. A step that loses the tool ends it too, but all that it asks
    of a caller is answered, since more than one answer may hide it. The rows are taken as they are: nothing is
    generated, compiled or written, and what the host's code writes when it is asked is rolled back.
    """
    keys = lookup.find(asked)
    row = Operation.objects.with_curation().filter(key=keys[0]).first() if len(keys) == 1 else None
    if row is None:
        return Explanation(asked=asked, operation="", tools=(), steps=(_unknown(asked, keys),))
    return explain_row(asked, row, publishing.read_curation([row]), caller)


def explain_row(asked: str, row: Operation, curation: Curation, caller: Caller | None = None) -> Explanation:
    """The same of an operation that is read, with what is said of it."""
    subject = _Subject.of(asked, row, curation)
    steps = tuple(_until_lost(_way(subject)))
    unknown = ""
    if steps[-1].outcome is not Outcome.LOST:
        steps += (_facts(subject, None),) if caller is None else tuple(_visibility(subject, caller))
        unknown = "" if caller is None else without_request(caller)
    return Explanation(asked=asked, operation=row.key, tools=subject.tools, steps=steps, unknown=unknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """
    What is known of the operation that is explained.

    ``contents`` are its published tools, or that of a shorter route of the same operation; ``diagnostics`` what the
    last sync and publish found about it on any of its routes.
    """

    asked: str
    row: Operation
    outline: Outline
    curation: Curation
    selection: Selection
    contents: tuple[ToolContent, ...]
    diagnostics: tuple[Diagnostic, ...]
    generation: int

    @classmethod
    def of(cls, asked: str, row: Operation, curation: Curation) -> "_Subject":
        one_tool = _keys_of_one_tool(row)
        published = ToolContent.objects.filter(left_generation=None, operation_key__in=one_tool).order_by("name")
        contents = [content for content in published.defer("loaded", "template") if _serves(content, row)]
        outline = row.to_outline()
        return cls(
            asked=lookup.as_key(asked) or asked.strip(),
            row=row,
            outline=outline,
            curation=curation,
            selection=select(outline, curation),
            contents=tuple(contents),
            diagnostics=tuple(Diagnostic.objects.filter(key__in=one_tool).order_by("code", "key", "pk")),
            generation=Catalog.objects.generation(),
        )

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(content.name for content in self.contents)

    @property
    def tool(self) -> ToolContent:
        """The tool that was asked for, else the first of them; they differ when the operation has variants."""
        return next((content for content in self.contents if content.name == self.asked), self.contents[0])

    def found(self, stage: Diagnostic.Stage, *severities: Severity, codes: Iterable[str] = ()) -> tuple[Finding, ...]:
        return tuple(
            Finding(code=each.code, severity=each.severity, message=each.message)
            for each in self.diagnostics
            if each.stage == stage and (each.severity in severities or each.code in codes)
        )


def _keys_of_one_tool(row: Operation) -> list[str]:
    """The operations that would be one tool with this one: the same one on several routes (tools.md, "Names")."""
    if not row.operation_id:
        return [row.key]
    same = Operation.objects.present().filter(operation_id=row.operation_id, container=row.container, method=row.method)
    return [row.key, *same.exclude(pk=row.pk).values_list("key", flat=True)]


def _serves(content: ToolContent, row: Operation) -> bool:
    return content.operation_key == row.key or row.route in content.document["alternateRoutes"]


def _until_lost(steps: Iterator[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        if step.outcome is Outcome.LOST:
            return


# -- from the document to the revision --


def _unknown(asked: str, keys: tuple[str, ...]) -> Step:
    """Why there is no operation, or no single one, to explain."""
    if len(keys) > 1:
        detail = _("Several operations are called that: %(keys)s.") % {"keys": ", ".join(keys)}
        return _lost(Stage.DOCUMENT, detail, _("Name one of them by its method and route."))
    dropped = Diagnostic.objects.filter(stage=Diagnostic.Stage.DOCUMENT, key__in=keys).order_by("code", "pk")
    if dropped:
        findings = tuple(Finding(code=each.code, severity=each.severity, message=each.message) for each in dropped)
        return _lost(Stage.DOCUMENT, _("The last sync found it and could not use it."), _mend(), findings)
    if not Operation.objects.exists() and not Catalog.objects.filter(synced_at__isnull=False).exists():
        return _lost(Stage.DOCUMENT, _("Nothing was ever synced."), _("Run manage.py sezzlee_sync."))
    near = lookup.near(asked)
    advice = _("Did you mean %(names)s?") % {"names": ", ".join(near)} if near else ""
    again = _("If it is new, run manage.py sezzlee_sync.")
    return _lost(Stage.DOCUMENT, _("No operation, and no tool of now or before, is called that."), f"{advice} {again}")


def _way(subject: _Subject) -> Iterator[Step]:
    yield _document(subject)
    yield _selection(subject)
    yield _compile(subject)
    yield _publish(subject)


def _document(subject: _Subject) -> Step:
    if subject.row.absent_since is not None:
        facts = {"key": subject.row.key, "time": _time(subject.row.absent_since)}
        detail = _("%(key)s is absent from the document since %(time)s.") % facts
        advice = _(
            "Look whether its view is still routed and in the schema, and run manage.py sezzlee_sync. "
            "Staff’s choices are kept for its return."
        )
        return _stopped(subject, Stage.DOCUMENT, detail, advice, subject.found(Diagnostic.Stage.DOCUMENT, *Severity))
    if subject.row.view:
        detail = _("%(key)s is in the document, by %(view)s.") % {"key": subject.row.key, "view": subject.row.view}
    else:
        detail = _("%(key)s is in the document.") % {"key": subject.row.key}
    return Step(stage=Stage.DOCUMENT, outcome=Outcome.PASSED, detail=detail)


def _selection(subject: _Subject) -> Step:
    reason = _deciding(subject)
    if subject.selection.included:
        return Step(
            stage=Stage.SELECTION, outcome=Outcome.PASSED, detail=_("Exposed: %(reason)s.") % {"reason": reason}
        )
    if subject.selection.source is Source.STAFF:
        advice = _("Choose another exposure on its page in the admin, and publish it.")
    else:
        advice = _(
            "Expose it on its page in the admin, and publish it; or with mcp_tool or a rule, and run "
            "manage.py sezzlee_sync."
        )
    return _stopped(subject, Stage.SELECTION, _("Not exposed: %(reason)s.") % {"reason": reason}, advice)


def _deciding(subject: _Subject) -> str:
    """Who decided whether the operation is exposed, as the rest of a sentence."""
    match subject.selection.source:
        case Source.STAFF:
            return _("staff’s choice on its page")
        case Source.CODE:
            return _("the marker on its view")
        case Source.CONTAINER:
            return _("CONTAINERS, which decides about %(container)s") % {"container": subject.outline.container}
        case Source.RULE:
            return _rules(subject.selection)
    return _("EXPOSE_BY_DEFAULT, since no choice, marker, container or rule is about it")


def _rules(selection: Selection) -> str:
    of_settings = publishing.setting_rules()
    said = ", ".join(
        f"{'include' if rule.include else 'exclude'} {rule} ({'RULES' if rule in of_settings else _('admin')})"
        for rule in selection.rules
    )
    if len({rule.include for rule in selection.rules}) > 1:
        return _("rules of equal rank, of which one that excludes wins: %(rules)s") % {"rules": said}
    return _("rule %(rules)s") % {"rules": said}


def _compile(subject: _Subject) -> Step:
    dropped = subject.found(Diagnostic.Stage.CATALOG, Severity.DROPPED)
    if not subject.contents and dropped:
        return _lost(Stage.COMPILE, _("It can be no tool as it is; the last publish dropped it."), _mend(), dropped)
    called = [content for content in subject.contents if content.operation_key != subject.row.key]
    if called:
        detail = _("It is one tool with %(key)s, the shorter route.") % {"key": called[0].operation_key}
    elif dropped:
        detail = _("The last publish made a tool of it, and dropped some of its variants.")
    elif subject.contents:
        detail = _("The last publish made a tool of it.")
    else:
        detail = _("The last publish found nothing against it.")
    hindering = subject.found(Diagnostic.Stage.CATALOG, Severity.DROPPED, codes=HINDRANCES)
    advice = _mend() if hindering else ""
    return Step(stage=Stage.COMPILE, outcome=Outcome.PASSED, detail=detail, advice=advice, findings=hindering)


def _publish(subject: _Subject) -> Step:
    named = {"names": ", ".join(subject.tools), "generation": subject.generation, "asked": subject.asked}
    if not subject.contents:
        detail = _("Generation %(generation)d does not hold it: something changed since that was published.") % named
        if Catalog.objects.draft_waits():
            return _lost(
                Stage.PUBLISH, detail, _("Edits wait in the draft. Publish it on the admin’s page of revisions.")
            )
        return _lost(Stage.PUBLISH, detail, _("Run manage.py sezzlee_sync."))
    detail = _("Generation %(generation)d holds it as %(names)s.") % named
    if subject.asked in (subject.row.key, *subject.tools):
        return Step(stage=Stage.PUBLISH, outcome=Outcome.PASSED, detail=detail)
    alias = _alias(subject)
    if alias is None:
        advice = _("Agents find it by search_tools; %(asked)s is an unknown tool to them.") % named
    else:
        facts = {"asked": subject.asked, "tool": alias.tool, "until": alias.until.isoformat()}
        advice = _("Agents reach %(tool)s by %(asked)s as well, through %(until)s.") % facts
    return Step(stage=Stage.PUBLISH, outcome=Outcome.RENAMED, detail=detail, advice=advice)


def _alias(subject: _Subject) -> Alias | None:
    """Where the name that was asked for leads now."""
    aliases = Revision.objects.values_list("aliases", flat=True).get(generation=subject.generation)
    alias = Alias.from_json(aliases[subject.asked]) if subject.asked in aliases else None
    return alias if alias and alias.holds(today()) else None


# -- what a caller sees of it --


def _visibility(subject: _Subject, caller: Caller) -> Iterator[Step]:
    entry = snapshots.entry_of(subject.tool)
    snapshot = Snapshot.of(subject.generation, {entry.name: entry}, {})
    # A view that wants what middleware adds breaks here, and for no agent: nothing of this is kept in the caller cache.
    sight = Sight(caller, snapshot, Known(generation=KnownToAll(snapshot=snapshot)))
    admission = endpoint(caller)
    yield admission
    if admission.outcome is Outcome.LOST:
        return
    yield _facts(subject, caller)
    for policy, answer in sight.answers(entry.auth).items():
        yield _policy(subject, policy, answer)
    check = sight.check(entry)
    if check is not None:
        yield _check(check, entry)
    elif entry.auth.imperative and not conf.current().permission_checks:
        detail = _("The view’s own check is not asked, since PERMISSION_CHECKS is False.")
        yield Step(stage=Stage.CHECK, outcome=Outcome.UNKNOWN, detail=detail)
    yield _seen(subject, sight.decision(entry))


def without_request(caller: Caller) -> str:
    """What cannot be known about a caller of whom there is no request."""
    return _(
        "Nobody sent a request: what the agent’s credential grants, which address it calls from, how often it called "
        "and what the project’s middleware does are unknown. The host’s code was asked about %(who)s, as if from "
        "127.0.0.1."
    ) % {"who": _who(caller)}


def _who(caller: Caller) -> str:
    return str(caller.user.get_username()) if caller.has_identity else _("an anonymous caller")


def endpoint(caller: Caller) -> Step:
    """Whether the endpoint would serve the caller at all."""
    who = {"who": _who(caller)}
    if caller.has_identity and not caller.user.is_active:
        detail = _("%(who)s is not active, so that no credential of theirs is taken.") % who
        return _lost(Stage.ENDPOINT, detail, _("Activate the user."))
    try:
        is_admitted = undone(partial(admits, caller), caller.request)
    except Exception:  # an edge: the host's code may raise anything
        logger.exception("The permission classes of the endpoint could not be asked.")
        detail = (
            _("The endpoint’s permission classes broke when they were asked about %(who)s; the log says how.") % who
        )
        return Step(stage=Stage.ENDPOINT, outcome=Outcome.UNKNOWN, detail=detail)
    if is_admitted:
        detail = _("The endpoint’s permission classes let %(who)s in.") % who
        return Step(stage=Stage.ENDPOINT, outcome=Outcome.PASSED, detail=detail)
    detail = _("The endpoint’s permission classes refuse %(who)s, whatever the tool.") % who
    if caller.has_identity:
        return _lost(Stage.ENDPOINT, detail, _("Look at PERMISSION_CLASSES, or at DRF’s defaults where it is not set."))
    return _lost(Stage.ENDPOINT, detail, _ask_about_somebody())


def _facts(subject: _Subject, caller: Caller | None) -> Step:
    """What the tool asks of callers, by the view and by the visibility policies of staff."""
    auth = AuthFacts.from_json(subject.tool.auth)
    gates = {
        "yes": _("Callers need not be known."),
        "no": _("Callers must be known."),
        "unknown": _("Whether callers must be known is not declared."),
    }
    told = [gates[auth.anonymous]]
    if auth.policies:
        told.append(_("Policies: %(names)s.") % {"names": ", ".join(auth.policies)})
    if rows := [policy.name for policy in _policies_of_staff(subject)]:
        told.append(_("Visibility policies of staff: %(names)s.") % {"names": ", ".join(rows)})
    if auth.imperative:
        told.append(_("The rest is code of its permission classes, which can only be asked."))
    detail = " ".join(told)
    if caller is not None and auth.anonymous == "no" and not caller.has_identity:
        return _lost(Stage.FACTS, detail, _ask_about_somebody())
    return Step(stage=Stage.FACTS, outcome=Outcome.PASSED, detail=detail)


def _ask_about_somebody() -> str:
    return _("Agents need the credential of a user. Ask about one: --user NAME.")


def _policies_of_staff(subject: _Subject) -> tuple[VisibilityPolicy, ...]:
    document = SearchDocument.from_json(subject.tool.document)
    return policies_on(
        subject.curation.policies,
        method=subject.row.method,
        routes=(document.route, *document.alternate_routes),
        tags=document.tags,
    )


def _policy(subject: _Subject, policy: str, answer: Answer) -> Step:
    asking = [one.name for one in _policies_of_staff(subject) if policy in one.auth.policies]
    if not asking or policy in subject.outline.auth.policies:
        asking.insert(0, _("the view"))
    detail = _("%(policy)s: %(answer)s. Asked for by %(asking)s.") % {
        "policy": policy,
        "answer": answer.value,
        "asking": ", ".join(asking),
    }
    match answer:
        case Answer.ALLOW:
            return Step(stage=Stage.POLICY, outcome=Outcome.PASSED, detail=detail)
        case Answer.DENY:
            return _lost(Stage.POLICY, detail, _("Give the user what it asks for, or ask for less."))
    advice = _(
        "It answered None or broke, which the log has. A function that reads the request finds an empty one here."
    )
    return Step(stage=Stage.POLICY, outcome=Outcome.UNKNOWN, detail=detail, advice=advice)


def _check(check: Check, entry: Entry) -> Step:
    path, has_placeholder = placeholder_path(snapshots.template_of(entry), conf.current().placeholders)
    at = {"path": path}
    match check:
        case Check.PASSED:
            detail = _("The view’s own check lets the caller pass at %(path)s.") % at
            return Step(stage=Stage.CHECK, outcome=Outcome.PASSED, detail=detail)
        case Check.REFUSED:
            detail = _("The view’s own check refuses the caller at %(path)s.") % at
            return _lost(Stage.CHECK, detail, _("Look at the permission classes of the view."))
        case Check.FAILED:
            detail = _("The view’s code broke when it was asked at %(path)s; the log says how.") % at
            advice = _("It may want what middleware adds. A permission class can declare its facts as sezzlee_auth.")
            return Step(stage=Stage.CHECK, outcome=Outcome.UNKNOWN, detail=detail, advice=advice)
    if has_placeholder:
        detail = _("The view did not let the caller pass at %(path)s, which may be for the placeholder in it.") % at
        advice = _("Name an object that exists in PLACEHOLDERS.")
    else:
        detail = _("The view has neither let the caller pass nor refused at %(path)s.") % at
        advice = _("Look at the authenticators and permission classes of the view.")
    return Step(stage=Stage.CHECK, outcome=Outcome.UNKNOWN, detail=detail, advice=advice)


def _seen(subject: _Subject, decision: Decision) -> Step:
    named = {"names": ", ".join(subject.tools)}
    match decision:
        case Decision.ALLOW:
            detail = _("search_tools and load_tool show it as %(names)s.") % named
            return Step(stage=Stage.VISIBILITY, outcome=Outcome.PASSED, detail=detail)
        case Decision.DENY:
            detail = _("search_tools and load_tool hide it from this caller.")
            return _lost(Stage.VISIBILITY, detail)
    if conf.current().undecided == "show":
        detail = _("search_tools and load_tool show it as %(names)s, with authUncertain.") % named
        return Step(stage=Stage.VISIBILITY, outcome=Outcome.PASSED, detail=detail)
    detail = _("Nobody can say whether the caller may use it, and UNDECIDED hides such tools.")
    return _lost(Stage.VISIBILITY, detail, _("Declare the permission classes’ facts, or set UNDECIDED to show."))


# -- parts of a step --


def _lost(stage: Stage, detail: str, advice: str = "", findings: tuple[Finding, ...] = ()) -> Step:
    return Step(stage=stage, outcome=Outcome.LOST, detail=detail, advice=advice.strip(), findings=findings)


def _stopped(subject: _Subject, stage: Stage, detail: str, advice: str, findings: tuple[Finding, ...] = ()) -> Step:
    """A step that loses the tool, unless a revision made before still holds it."""
    if not subject.contents:
        return _lost(stage, detail, advice, findings)
    advice = _("Generation %(generation)d still holds it; the next sync or save takes it away. %(advice)s") % {
        "generation": subject.generation,
        "advice": advice,
    }
    return Step(stage=stage, outcome=Outcome.PENDING, detail=detail, advice=advice, findings=findings)


def _mend() -> str:
    return _(
        "Mend that, and publish it by a save in the admin or by manage.py sezzlee_sync; docs/diagnostics.md says what "
        "each code means."
    )


def _time(moment: datetime) -> str:
    return format_date(localtime(moment) if is_aware(moment) else moment, "Y-m-d H:i")
