"""sezzlee_eval: cases are searched as their users' agents search, under every ranker, in any generation kept."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from sezzlee_mcp import publishing, snapshots
from sezzlee_mcp.catalog.tools import SearchDocument
from sezzlee_mcp.evaluation import Evaluation, Run, remarkable_cases
from sezzlee_mcp.models import Operation
from sezzlee_mcp.search import Case, Outcome, read_cases
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient

HERE = "tests.django.test_evaluation"
DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "search_cases.json"
ORDERS = {"need": "What was ordered?", "query": "list orders", "expected": ["GET /api/orders/"]}


def backwards(query: str, documents: tuple[SearchDocument, ...], *, digest: str) -> list[str]:
    return [document.name for document in reversed(documents)]


def broken(query: str, documents: tuple[SearchDocument, ...], *, digest: str) -> list[str]:
    raise ConnectionError("no model answers")


def evaluated(*cases: Case) -> Evaluation:
    return Evaluation(cases, [snapshots.current()])


def places(*cases: Case) -> list[int | None]:
    """Where the contract's ranker has the first right tool of each."""
    run = evaluated(*cases).runs()[0]
    return [outcome.place for outcome in run.outcomes]


@pytest.fixture
def file(tmp_path: Path) -> Callable[[Any], str]:
    def file(content: Any) -> str:
        path = tmp_path / "cases.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return file


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    call_command("sezzlee_eval", *arguments, "--format", "json")
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("user", ["alice", "bob", "carol", "admin"])
def test_a_case_is_answered_as_its_users_agent_is(agent: Callable[[str], McpClient], user: str) -> None:
    for query, tags in product(("order", "document", "stock", "audit"), ((), ("documents",))):
        shown = [card["name"] for card in agent(user).search(query, tags=list(tags))["results"]]
        cases = [
            Case(need=name, query=query, user=user, tags=tags, expected=(name,)) for name in snapshots.current().entries
        ]

        run, _ = evaluated(*cases).runs()

        found = {case.need: outcome.place for case, outcome in zip(cases, run.outcomes, strict=True) if outcome.place}
        assert found == {name: place for place, name in enumerate(shown, start=1)}
        assert {outcome.found for outcome in run.outcomes} == {len(shown)}


def test_a_case_without_a_user_is_of_the_whole_catalog(shop: None) -> None:
    audit = {"need": "Who did it?", "query": "audit", "expected": ("GET /api/audit/",)}

    assert places(Case(**audit), Case(**audit, user="bob"), Case(**audit, user="carol")) == [1, None, 1]


def test_an_operation_is_found_by_any_of_its_tools_and_a_variant_by_its_name(shop: None) -> None:
    event = {"need": "The lamp is broken.", "query": "complaint"}
    key = "POST /api/orders/{id}/events/{kind}/"

    assert places(
        Case(**event, expected=(key,)),
        Case(**event, expected=("orders_complaint",)),
        Case(**event, expected=("orders_return",)),
        Case(**event, expected=("GET /api/ping/", "orders_complaint")),
    ) == [1, 1, None, 1]


def test_a_tool_is_found_by_the_name_that_it_had(shop: None) -> None:
    Operation.objects.filter(key="GET /api/audit/").update(name="audit_trail")
    publishing.publish(source="command")
    audit = {"need": "Who did it?", "query": "audit"}

    assert places(*(Case(**audit, expected=(name,)) for name in ("audit_list", "audit_trail"))) == [1, 1]


def test_a_route_that_was_folded_away_stands_for_its_tool(db: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    things = {"get": {"operationId": "things", "description": "All things.", "responses": {}}}
    sync({"openapi": "3.0.3", "paths": {"/things/": things, "/old/things/": things}})
    case = {"need": "What is there?", "query": "things"}

    assert places(*(Case(**case, expected=(f"GET /{each}/",)) for each in ("things", "old/things"))) == [1, 1]
    assert list(snapshots.current().entries) == ["things"]


def test_an_operation_that_is_no_tool_is_found_by_nobody(shop: None) -> None:
    hidden = Case(need="A token, please.", query="token", expected=("POST /api/token/",))
    evaluation = evaluated(hidden)

    assert evaluation.unknown == {}
    assert evaluation.runs()[0].outcomes[0].place is None
    assert evaluation.out_of_sight() == (0,)


def test_what_a_user_does_not_see_is_told_from_what_is_ranked_low(shop: None) -> None:
    audit = {"need": "Who did it?", "expected": ("GET /api/audit/",)}
    cases = [
        Case(**audit, query="zebra", user="carol"),
        Case(**audit, query="audit", user="bob"),
        Case(**audit, query="audit", tags=("orders",)),
    ]

    assert evaluated(*cases).out_of_sight() == (1, 2)


def test_what_does_not_exist_is_told_with_what_was_meant(shop: None) -> None:
    evaluation = evaluated(
        Case(need="Orders?", query="orders", expected=("GET /api/orders/", "GET /api/order/")),
        Case(need="Orders?", query="orders", user="alice", expected=("GET /api/orders/",)),
        Case(need="Orders?", query="orders", user="eve", expected=("zebra",)),
        Case(need="Zebras?", query="zebras", expected=("zebra",)),
    )

    assert evaluation.unknown == {
        0: {"expected": "There is no operation or tool 'GET /api/order/'. Did you mean 'GET /api/orders/'?"},
        2: {"user": "There is no user 'eve'.", "expected": "There is no operation or tool 'zebra'."},
        3: {"expected": "There is no operation or tool 'zebra'."},
    }
    assert [case.user for case in evaluation.sound] == ["alice"]


def test_a_user_is_asked_about_anew_by_each_evaluation(agent: Callable[[str], McpClient]) -> None:
    agent("carol").search("audit")
    audit = Case(need="Who did it?", query="audit", user="carol", expected=("audit_list",))
    before = places(audit)
    User.objects.filter(username="carol").update(is_staff=False)  # which sends no signal

    assert (before, places(audit)) == ([1], [None])


def test_every_ranker_runs_and_one_that_fails_costs_no_other(shop: None, settings: Settings) -> None:
    case = Case(need="Orders?", query="orders", expected=("products_update",))
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RANKER": f"{HERE}.backwards", "RANKER_FAILURE": "fallback"}
    *_, own = evaluated(case).runs()
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RANKER": f"{HERE}.broken"}
    contract, fielded, failed = evaluated(case).runs()

    assert (own.ranker, [outcome.place for outcome in own.outcomes]) == (f"{HERE}.backwards", [2])
    assert [(run.ranker, run.error) for run in (contract, fielded)] == [("contract", ""), ("fielded", "")]
    assert failed == Run(generation=1, ranker=f"{HERE}.broken", error="ConnectionError: no model answers")


def test_cases_worth_a_look_are_missed_somewhere_or_found_elsewhere() -> None:
    first = [Outcome(found=9, place=place) for place in (1, 2, 6, None)]
    second = [Outcome(found=9, place=place) for place in (1, 3, 6, None)]
    runs = [Run(generation=1, ranker=str(number), outcomes=tuple(each)) for number, each in enumerate((first, second))]

    assert remarkable_cases(runs) == (1, 2, 3)
    assert remarkable_cases(runs[:1]) == (2, 3)
    assert remarkable_cases([Run(generation=1, ranker="late", error="TimeoutError: ")]) == ()


# -- the command --


def test_the_demo_ships_thirty_cases_that_its_users_can_solve(shop: None, capsys: pytest.CaptureFixture[str]) -> None:
    said = report(capsys, str(DEMO))

    assert len(read_cases(DEMO.read_bytes())) == said["runs"][0]["cases"] == 30
    assert [case["need"] for case in said["cases"] if case["outOfSight"]] == []


def test_a_report_says_what_each_run_came_to(shop: None, file: Callable[[Any], str], capsys: Any) -> None:
    audit = {"need": "Who did it?", "query": "audit", "user": "bob", "expected": ["audit_list"]}

    assert report(capsys, file([ORDERS, audit])) == {
        "runs": [
            {
                "ranker": "contract",
                "generation": 1,
                "cases": 2,
                "recall@1": 0.0,
                "recall@5": 0.5,
                "recall@10": 0.5,
                "mrr": 0.125,
                "empty": 0,
            },
            {
                "ranker": "fielded",
                "generation": 1,
                "cases": 2,
                "recall@1": 0.5,
                "recall@5": 0.5,
                "recall@10": 0.5,
                "mrr": 0.5,
                "empty": 0,
            },
        ],
        "cases": [
            {**ORDERS, "places": [4, 1], "outOfSight": False},
            {**audit, "places": [None, None], "outOfSight": True},
        ],
    }


def test_a_table_names_the_cases_worth_a_look(shop: None, file: Callable[[Any], str], capsys: Any) -> None:
    audit = {"need": "Who did it?", "query": "audit", "user": "bob", "expected": ["audit_list"]}

    call_command("sezzlee_eval", file([ORDERS, audit]))

    assert capsys.readouterr().out == (
        "2 cases\n"
        "\n"
        "run  ranker                  generation   recall@1   recall@5  recall@10        mrr      empty\n"
        "1    contract                         1      0.000      0.500      0.500      0.125          0\n"
        "2    fielded                          1      0.500      0.500      0.500      0.500          0\n"
        "\n"
        "The place of the first right tool by run, where it is not the same or not among the first 5:\n"
        "    1    2\n"
        "    4    1  list orders: What was ordered?\n"
        "    -    -  audit (bob): Who did it?\n"
        "\n"
        "No ranker can find what these expect: it is no tool, lacks the tags, or is hidden from the user.\n"
        "  audit (bob): Who did it?\n"
    )


def test_an_earlier_generation_is_searched_as_it_was(shop: None, file: Callable[[Any], str], capsys: Any) -> None:
    Operation.objects.filter(key="GET /api/orders/").update(overrides_search_terms=True, search_terms=["zebra"])
    publishing.publish(source="command")
    path = file([{"need": "Zebras?", "query": "zebra", "user": "alice", "expected": ["orders_list"]}])

    said = report(capsys, path, "--against", "1")
    call_command("sezzlee_eval", path, "--against", "1")

    assert [(run["generation"], run["recall@1"]) for run in said["runs"]] == [(2, 1.0), (2, 1.0), (1, 0.0), (1, 0.0)]
    assert said["cases"][0]["places"] == [1, 1, None, None]
    assert "    1    2    3    4\n    1    1    -    -  zebra (alice): Zebras?\n" in capsys.readouterr().out


def test_cases_without_a_user_are_those_of_the_user_given(shop: None, file: Callable[[Any], str], capsys: Any) -> None:
    path = file([ORDERS, {**ORDERS, "user": "alice"}])

    assert [case["places"] for case in report(capsys, path, "--user", "bob")["cases"]] == [[None, None], [3, 1]]


def test_a_ranker_that_fails_is_status_1_after_the_report(
    shop: None, settings: Settings, file: Callable[[Any], str], capsys: Any
) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "RANKER": f"{HERE}.broken"}

    with pytest.raises(CommandError, match="broken failed: ConnectionError: no model answers") as refused:
        call_command("sezzlee_eval", file([ORDERS]))

    assert refused.value.returncode == 1
    assert f"3    {HERE}.broken" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        ("[", [], "holds no search cases.\n/: It is no JSON: "),
        ([{**ORDERS, "query": 7}], [], "/0/query: it is a text, and this is a number."),
        ([ORDERS], ["--user", "eve"], "'list orders': There is no user 'eve'."),
        ([{**ORDERS, "expected": ["GET /api/order/"]}], [], "Did you mean 'GET /api/orders/'?"),
        ([ORDERS], ["--against", "7"], "Generation 7 is not kept; 1 to 1 are."),
    ],
)
def test_misuse_is_status_2_and_says_what_was_wrong(
    shop: None, file: Callable[[Any], str], content: Any, arguments: list[str], said: str
) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("sezzlee_eval", file(content), *arguments)

    assert said in str(refused.value)
    assert refused.value.returncode == 2


def test_a_missing_file_and_a_missing_catalog_are_misuse(db: None, file: Callable[[Any], str]) -> None:
    with pytest.raises(CommandError, match="nowhere.json cannot be read: No such file or directory.") as missing:
        call_command("sezzlee_eval", "nowhere.json")
    with pytest.raises(CommandError, match="Nothing is published yet. Run sezzlee_sync.") as unpublished:
        call_command("sezzlee_eval", file([ORDERS]))

    assert (missing.value.returncode, unpublished.value.returncode) == (2, 2)
