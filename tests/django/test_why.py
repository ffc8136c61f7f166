"""sezzlee_why and the page of an operation: which step of its way lost a tool, and what to do about it."""

import io
import json
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.http import HttpRequest
from django.test import Client
from pytest_django import Settings
from rest_framework.authtoken.models import Token
from rest_framework.permissions import BasePermission
from syrupy.assertion import SnapshotAssertion

from sezzlee_mcp import publishing
from sezzlee_mcp.callers import as_user
from sezzlee_mcp.explanations import explain
from sezzlee_mcp.models import Operation, Revision, ToolAlias
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.django.admin_pages import LIBRARY, RULES, change_page
from tests.docs import pages
from tests.factories import SelectionRuleFactory, StaffFactory, SuperuserFactory, UserFactory, VisibilityPolicyFactory
from tests.testapp.guarded import Own

AUTHORS, BOOKS, CREATE, CLASH = "GET /authors/", "GET /books/", "POST /books/", "POST /clash/"
OPEN = {"PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}


def why(tool: str, **options: Any) -> str:
    """What the command prints, with its exit status and what it writes to stderr as the last line."""
    out = io.StringIO()
    try:
        call_command("sezzlee_why", tool, stdout=out, **options)
    except CommandError as error:
        return f"{out.getvalue()}exit {error.returncode}: {error}"
    return f"{out.getvalue()}exit 0"


@pytest.fixture
def library(db: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**RULES, **OPEN}
    sync(LIBRARY)


@pytest.fixture
def guarded(db: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.testapp.guarded"
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True, **OPEN}
    sync()


@pytest.fixture
def decide(guarded: None, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., bool]], None]:
    return lambda rule: monkeypatch.setattr(Own, "rule", staticmethod(rule))


# -- document --


def test_nothing_was_synced(db: None, snapshot: SnapshotAssertion) -> None:
    assert why("books_list") == snapshot


@pytest.mark.parametrize("asked", ["book_list", "get /book/", "zebra"])
def test_a_name_that_nothing_knows_gets_near_ones(library: None, snapshot: SnapshotAssertion, asked: str) -> None:
    assert why(asked) == snapshot


def test_an_operation_id_of_several_operations_is_asked_back(library: None, snapshot: SnapshotAssertion) -> None:
    document = deepcopy(LIBRARY)
    document["paths"]["/writers/"] = {"get": {**LIBRARY["paths"]["/authors/"]["get"], "tags": ["Writers"]}}
    sync(document)

    assert why("authors_list") == snapshot


def test_an_operation_that_left_the_document(library: None, snapshot: SnapshotAssertion) -> None:
    document = deepcopy(LIBRARY)
    del document["paths"]["/books/"]["get"]
    sync(document)
    Operation.objects.filter(key=BOOKS).update(absent_since=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))

    assert why("books_list") == snapshot


@pytest.mark.parametrize("asked", ["GET /raising/", "GET /excluded/", "GET /streaming/"])
def test_a_view_that_is_lost_before_it_is_an_operation(
    db: None, settings: Settings, snapshot: SnapshotAssertion, asked: str
) -> None:
    settings.ROOT_URLCONF = "tests.testapp.ways"
    sync()

    assert why(asked) == snapshot


# -- selection --


def test_nobody_says_anything_about_it(library: None, snapshot: SnapshotAssertion) -> None:
    assert why("authors_list") == snapshot


def test_rules_of_equal_rank_hide_it(library: None, snapshot: SnapshotAssertion) -> None:
    SelectionRuleFactory(route="/book*/", decision="exclude")
    publishing.publish(source="command")

    assert why("books_list") == snapshot


def test_its_container_hides_it(library: None, settings: Settings, snapshot: SnapshotAssertion) -> None:
    settings.SEZZLEE_MCP = {**RULES, "CONTAINERS": {"Books": "exclude"}}
    publishing.publish(source="command")

    assert why("books_list") == snapshot


def test_its_marker_hides_it(library: None, snapshot: SnapshotAssertion) -> None:
    document = deepcopy(LIBRARY)
    document["paths"]["/books/"]["get"]["x-sezzlee"] = {"expose": False}
    sync(document)

    assert why("books_list") == snapshot


def test_staff_hide_it(library: None, snapshot: SnapshotAssertion) -> None:
    Operation.objects.filter(key=BOOKS).update(exposure="exclude")
    publishing.publish(source="command")

    assert why("books_list") == snapshot


def test_what_the_settings_hide_now_is_published_still(
    library: None, settings: Settings, snapshot: SnapshotAssertion
) -> None:
    settings.SEZZLEE_MCP = OPEN

    assert why("books_list") == snapshot


# -- compile --


def test_it_is_dropped(library: None, snapshot: SnapshotAssertion) -> None:
    Operation.objects.filter(key=CLASH).update(exposure="include")
    publishing.publish(source="command")

    assert why("clash") == snapshot


def test_a_further_route_is_part_of_another_tool(library: None, snapshot: SnapshotAssertion) -> None:
    document = deepcopy(LIBRARY)
    document["paths"]["/v2/books/"] = {"get": LIBRARY["paths"]["/books/"]["get"]}
    sync(document)
    Operation.objects.filter(key="GET /v2/books/").update(exposure="include")
    publishing.publish(source="command")

    assert why("GET /v2/books/") == snapshot
    assert why("books_list").splitlines()[0] == f"document    passed   {BOOKS} is in the document."


def test_a_tool_that_cannot_be_loaded_says_so(library: None, settings: Settings, snapshot: SnapshotAssertion) -> None:
    settings.SEZZLEE_MCP = {**RULES, **OPEN, "BUDGET_BYTES": 1024}
    Operation.objects.filter(key=BOOKS).update(description="Books. " * 200)
    publishing.publish(source="command")

    assert why("books_list") == snapshot


# -- publish --


def test_it_was_not_published_since(library: None, snapshot: SnapshotAssertion) -> None:
    Operation.objects.filter(key=AUTHORS).update(exposure="include")

    assert why("authors_list") == snapshot


@pytest.fixture
def renamed(library: None) -> None:
    """What was books_create in the document and in generation 1 is add_book by staff's choice."""
    Operation.objects.filter(key=CREATE).update(name="add_book")
    document = deepcopy(LIBRARY)
    document["paths"]["/books/"]["post"]["operationId"] = "books_add"
    sync(document)


def test_it_has_another_name_now(renamed: None, snapshot: SnapshotAssertion) -> None:
    ToolAlias.objects.all().delete()
    publishing.publish(source="command")

    assert why("books_create") == snapshot
    assert "publish     passed   Generation 3 holds it as add_book." in why("add_book").splitlines()


def test_its_old_name_still_leads_to_it(renamed: None, snapshot: SnapshotAssertion) -> None:
    ToolAlias.objects.update(until=date(9999, 12, 31))
    publishing.publish(source="command")

    assert why("books_create") == snapshot


def test_its_operation_id_is_no_name_of_it(library: None, snapshot: SnapshotAssertion) -> None:
    Operation.objects.filter(key=BOOKS).update(name="find_books")
    publishing.publish(source="command")
    ToolAlias.objects.update(until=date(9999, 12, 31))
    publishing.publish(source="command")

    assert why("books_list") == snapshot


def test_it_has_variants(library: None, snapshot: SnapshotAssertion) -> None:
    document = deepcopy(LIBRARY)
    variants = [{"name": "new_books", "description": "New books."}, {"name": "old_books", "description": "Old ones."}]
    document["paths"]["/books/"]["get"]["x-sezzlee"] = {"variants": variants}
    sync(document)

    assert why("old_books") == snapshot


def test_the_name_it_would_have_finds_it(library: None) -> None:
    document = deepcopy(LIBRARY)
    document["paths"]["/authors/"]["get"]["operationId"] = "AuthorsAll"
    sync(document)

    assert why("authors_all").splitlines()[0] == f"document    passed   {AUTHORS} is in the document."


# -- the endpoint --


class Members(BasePermission):
    def has_permission(self, request: Any, view: Any) -> bool:
        return bool(request.user.username == "ann")


class Broken(BasePermission):
    def has_permission(self, request: Any, view: Any) -> bool:
        raise RuntimeError("no tenant")


@pytest.mark.parametrize("name", ["ann", "bob", None])
def test_the_endpoint_refuses_the_caller(
    library: None, settings: Settings, snapshot: SnapshotAssertion, name: str | None
) -> None:
    settings.SEZZLEE_MCP = {**RULES, "PERMISSION_CLASSES": [f"{__name__}.Members"]}
    UserFactory(username=name or "ann")

    assert why("books_list", user=name) == snapshot


def test_an_inactive_user_is_not_let_in(library: None, snapshot: SnapshotAssertion) -> None:
    UserFactory(username="ann", is_active=False)

    assert why("books_list", user="ann") == snapshot


def test_a_permission_class_of_the_endpoint_breaks(
    library: None, settings: Settings, snapshot: SnapshotAssertion
) -> None:
    settings.SEZZLEE_MCP = {**RULES, "PERMISSION_CLASSES": [f"{__name__}.Broken"]}

    assert why("books_list") == snapshot


# -- facts and policies --


def test_an_anonymous_caller_must_be_known(shop: None, anonymous_endpoint: None, snapshot: SnapshotAssertion) -> None:
    assert why("audit_list") == snapshot


@pytest.mark.parametrize("name", ["bob", "carol"])
def test_a_policy_of_the_view_decides(shop: None, snapshot: SnapshotAssertion, name: str) -> None:
    assert why("audit_list", user=name) == snapshot


def unsure(request: HttpRequest) -> None:
    """A function for a policy that cannot say it."""


def breaking(request: HttpRequest) -> bool:
    raise RuntimeError("no tenant")


def test_policies_of_staff_answer_by_name(library: None, snapshot: SnapshotAssertion) -> None:
    for name, rule, subject in (
        ("Editors", "group", "editors"),
        ("Staff", "staff", ""),
        ("Known", "authenticated", ""),
        ("Unsure", "call", f"{__name__}.unsure"),
        ("Breaking", "call", f"{__name__}.breaking"),
    ):
        VisibilityPolicyFactory(name=name, rule=rule, subject=subject, routes=["/books/"])
    publishing.publish(source="command")
    StaffFactory(username="ann")

    assert why("books_list", user="ann") == snapshot


def test_every_policy_that_lets_pass_is_named(library: None, snapshot: SnapshotAssertion) -> None:
    VisibilityPolicyFactory(name="Editors", rule="group", subject="editors", tags=["books"])
    publishing.publish(source="command")
    UserFactory(username="ann").groups.add(Group.objects.create(name="editors"))

    assert why("books_list", user="ann") == snapshot


# -- the view's own check --


def refuse(request: Any, view: Any) -> bool:
    return False


def fail(request: Any, view: Any) -> bool:
    raise RuntimeError("no tenant")


@pytest.mark.parametrize(
    ("tool", "rule"),
    [
        ("plain", lambda request, view: request.user.username == "ann"),
        ("plain", refuse),
        ("ints", refuse),
        ("plain", fail),
    ],
    ids=["passed", "refused", "unknown", "failed"],
)
def test_the_views_own_check(
    decide: Callable[[Callable[..., bool]], None],
    snapshot: SnapshotAssertion,
    tool: str,
    rule: Callable[..., bool],
) -> None:
    decide(rule)
    UserFactory(username="ann")

    assert why(tool, user="ann") == snapshot


def test_the_views_own_check_is_not_asked(guarded: None, settings: Settings, snapshot: SnapshotAssertion) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "PERMISSION_CHECKS": False, "UNDECIDED": "hide"}

    assert why("plain") == snapshot


def test_a_check_that_breaks_here_is_still_asked_for_agents(
    decide: Callable[[Callable[..., bool]], None],
) -> None:
    decide(lambda request, view: bool(request.headers["Authorization"]))
    ann = UserFactory(username="ann")
    agent = McpClient(headers={"Authorization": f"Token {Token.objects.create(user=ann).key}"})

    assert agent.load("plain").get("authUncertain") is None
    assert "broke when it was asked" in why("plain", user="ann")
    assert agent.load("plain").get("authUncertain") is None


def test_what_a_check_writes_is_rolled_back(decide: Callable[[Callable[..., bool]], None]) -> None:
    decide(lambda request, view: bool(User.objects.create(username="written")))

    assert why("plain").endswith("exit 0")
    assert not User.objects.filter(username="written").exists()


@pytest.mark.parametrize("name", ["alice", "bob", "carol", "admin"])
def test_it_agrees_with_what_the_users_agent_loads(agent: Callable[[str], McpClient], name: str) -> None:
    caller, tools = as_user(User.objects.get(username=name)), sorted(Revision.objects.latest().tools)
    loaded = {tool: "error" not in agent(name).load(tool) for tool in tools}

    assert {tool: explain(tool, caller).lost_at is None for tool in tools} == loaded
    assert len(set(loaded.values())) == (1 if name == "admin" else 2)


# -- the command --


def test_json_holds_all_of_it(library: None) -> None:
    Operation.objects.filter(key=CLASH).update(exposure="include")
    publishing.publish(source="command")
    out = io.StringIO()

    with pytest.raises(CommandError, match=r"^Lost at compile\.$"):
        call_command("sezzlee_why", "clash", format="json", stdout=out)

    assert json.loads(out.getvalue()) == {
        "asked": "clash",
        "operation": CLASH,
        "tools": [],
        "lostAt": "compile",
        "steps": [
            {
                "stage": "document",
                "outcome": "passed",
                "detail": f"{CLASH} is in the document.",
                "advice": "",
                "findings": [],
            },
            {
                "stage": "selection",
                "outcome": "passed",
                "detail": "Exposed: staff’s choice on its page.",
                "advice": "",
                "findings": [],
            },
            {
                "stage": "compile",
                "outcome": "lost",
                "detail": "It can be no tool as it is; the last publish dropped it.",
                "advice": "Mend that, and publish it by a save in the admin or by manage.py sezzlee_sync; "
                "docs/diagnostics.md says what each code means.",
                "findings": [
                    {
                        "code": "argument_collision",
                        "severity": "dropped",
                        "message": "Two arguments would be named body.",
                    }
                ],
            },
        ],
        "unknown": "",
    }


def test_a_user_that_does_not_exist_is_misuse(library: None) -> None:
    assert why("books_list", user="nobody") == "exit 2: There is no user 'nobody'."


def test_verbosity_0_only_answers(library: None) -> None:
    assert (why("books_list", verbosity=0), why("authors_list", verbosity=0)) == (
        "exit 0",
        "exit 1: Lost at selection.",
    )


def test_a_method_and_its_route_need_no_quotes(library: None) -> None:
    out = io.StringIO()
    call_command("sezzlee_why", "get", "/books/", stdout=out)

    assert out.getvalue().startswith(f"document    passed   {BOOKS} is in the document.\n")


def test_the_documented_answer_is_the_one(shop: None) -> None:
    described = pages.section(pages.read("docs/commands.md"), "## `sezzlee_why`")
    _, example = pages.blocks(described, "")

    assert example == f"$ manage.py sezzlee_why audit_list --user bob\n{why('audit_list', user='bob')}".removesuffix(
        "exit 1: Lost at policy."
    )


# -- the page of an operation --


def test_the_page_shows_the_steps_up_to_what_is_asked_of_callers(library: None, client: Client) -> None:
    VisibilityPolicyFactory(name="Editors <b>", rule="group", subject="editors", routes=["/books/"])
    publishing.publish(source="command")
    client.force_login(SuperuserFactory())

    text = client.get(change_page(BOOKS)).content.decode()
    rows = text.partition('<table class="sezzlee-steps">')[2].partition("</table>")[0].split("<tr>")[2:]

    assert [row.partition('</th><td class="sezzlee-')[0].partition(">")[2] for row in rows] == [
        "document",
        "selection",
        "compile",
        "publish",
        "auth facts",
    ]
    assert "Visibility policies of staff: Editors &lt;b&gt;." in rows[-1]


# session, user; the operation with its tags, arguments and variants; selection rules, argument rules and policies, for
# the sources of values; the arguments that there are, the type of operations, the tags to choose from; its tools as
# agents read them; its diagnostics
PAGE_QUERIES = 2 + 4 + 3 + 3 + 1 + 1
# its other routes, its tools, diagnostics, generation
EXPLANATION_QUERIES = 4


def test_the_page_asks_a_stated_number_of_queries(
    library: None, client: Client, django_assert_num_queries: Any
) -> None:
    client.force_login(SuperuserFactory())
    url = change_page(BOOKS)
    ContentType.objects.clear_cache()  # as in a process that has shown no such page before
    with django_assert_num_queries(PAGE_QUERIES + EXPLANATION_QUERIES):
        client.get(url)
