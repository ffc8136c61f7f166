"""Settings: each mistake is one check with its own id; what the check says is what a use of the settings raises."""

from typing import Any

import pytest
from django.core.checks import Error, Warning
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from sezzlee_mcp import conf
from sezzlee_mcp.checks import check_database, check_settings, check_urls


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({}, []),
        (None, ["E002"]),
        ([], ["E002"]),
        ({"EXPOSE_BY_DEFUALT": True}, ["E001"]),
        ({"expose_by_default": True}, ["E001"]),
        ({"EXPOSE_BY_DEFAULT": 1}, ["E003"]),
        ({"RULES": {}}, ["E004"]),
        ({"RULES": [{"route": "/a/"}]}, ["E004"]),
        ({"RULES": [{"path": "/a/", "decision": "include"}]}, ["E004"]),
        ({"RULES": [{"route": "", "decision": "include"}]}, ["E004"]),
        ({"RULES": [{"decision": "exclude"}]}, []),
        ({"CONTAINERS": {"orders": "yes"}}, ["E005"]),
        ({"CONTAINERS": {"orders": []}}, ["E005"]),
        ({"CONTAINERS": {1: "include"}}, ["E005"]),
        ({"CONTAINERS": {"orders": "include"}}, []),
        ({"PREFIX_MODE": "sometimes"}, ["E006"]),
        ({"PREFIXES": {"orders": ""}}, ["E007"]),
        ({"PATH": "/mcp"}, ["E008"]),
        ({"PATH": "api/mcp"}, []),
        ({"AUTHENTICATION_CLASSES": "rest_framework.authentication.TokenAuthentication"}, ["E009"]),
        ({"PERMISSION_CLASSES": ["rest_framework.permissions.IsNobody"]}, ["E010"]),
        ({"PERMISSION_CLASSES": None}, []),
        ({"THROTTLE_CLASSES": None}, ["E011"]),
        ({"ALLOWED_ORIGINS": ["app.example"]}, ["E012"]),
        ({"ALLOWED_ORIGINS": ["https://app.example/"]}, ["E012"]),
        ({"BODY_LIMIT_BYTES": 1023}, ["E013"]),
        ({"BUDGET_BYTES": True}, ["E014"]),
        ({"BODY_LEVELS": 10}, []),
        ({"BODY_LEVELS": 9}, ["E060"]),
        ({"BODY_LEVELS": 101}, ["E060"]),
        ({"SEARCH_CHARS": 99}, ["E061"]),
        ({"INSTRUCTIONS": None}, ["E015"]),
        ({"UNDECIDED": "ask"}, ["E016"]),
        ({"GENERATION_CHECK_SECONDS": float("nan")}, ["E017"]),
        ({"CACHED_TOOLS": 0}, ["E018"]),
        ({"KEPT_REVISIONS": 0}, ["E019"]),
        ({"KEPT_USE_DAYS": 36_500, "KEPT_WORD_DAYS": 0, "TOOL_ALIAS_DAYS": 0}, []),
        ({"KEPT_USE_DAYS": 0}, ["E049"]),
        ({"KEPT_USE_DAYS": 36_501}, ["E049"]),
        ({"KEPT_WORD_DAYS": 36_501}, ["E062"]),
        ({"TOOL_ALIAS_DAYS": 36_501}, ["E050"]),
        ({"RANKER": "tests.django.no_such_module.rank"}, ["E025"]),
        ({"RANKER": ["json.loads"]}, ["E025"]),
        ({"RANKER": "json.loads", "RANKER_DEADLINE_SECONDS": 0.5}, []),
        ({"RANKER": "fielded"}, []),
        ({"RANKER": None}, ["E025"]),
        ({"RANKER_VERBS": {"POST": ["anlegen"], "bulk": ["alle"]}}, []),
        ({"RANKER_VERBS": None}, []),
        ({"RANKER_VERBS": {"post": ["anlegen"]}}, ["E052"]),
        ({"RANKER_VERBS": {"POST": "anlegen"}}, ["E052"]),
        ({"RANKER_VERBS": {"POST": ["leg an"]}}, ["E052"]),
        ({"RANKER_SYNONYMS": [["Rechnung", "Beleg"], []]}, []),
        ({"RANKER_SYNONYMS": None}, []),
        ({"RANKER_SYNONYMS": [["Rechnung", "der Beleg"]]}, ["E063"]),
        ({"RANKER_SYNONYMS": ["Rechnung"]}, ["E063"]),
        ({"RANKER_SYNONYMS": {"Rechnung": ["Beleg"]}}, ["E063"]),
        ({"RANKER_DEADLINE_SECONDS": 0}, ["E026"]),
        ({"RANKER_DEADLINE_SECONDS": -1}, ["E026"]),
        ({"RANKER_DEADLINE_SECONDS": None}, ["E026"]),
        ({"RANKER_FAILURE": "ignore"}, ["E027"]),
        ({"AUTHORIZATION_SERVERS": ["https://login.example", "https://login.example/realms/shop"]}, []),
        ({"AUTHORIZATION_SERVERS": ["http://127.0.0.1:8000", "http://localhost"]}, []),
        ({"AUTHORIZATION_SERVERS": "https://login.example"}, ["E031"]),
        ({"AUTHORIZATION_SERVERS": ["http://login.example"]}, ["E031"]),
        ({"AUTHORIZATION_SERVERS": ["https://login.example?realm=shop"]}, ["E031"]),
        ({"AUTHORIZATION_SERVERS": ["http://localhost@login.example"]}, ["E031"]),
        ({"REQUIRED_SCOPES": ["orders:read"]}, []),
        ({"REQUIRED_SCOPES": "orders:read"}, ["E032"]),
        ({"REQUIRED_SCOPES": ["orders read"]}, ["E032"]),
        ({"REQUIRED_SCOPES": ['"']}, ["E032"]),
        ({"RESOURCE": "https://shop.example/mcp"}, []),
        ({"RESOURCE": "/mcp"}, ["E033"]),
        ({"RESOURCE": "https://shop.example/mcp#x"}, ["E033"]),
        ({"PATH": "", "UNDECIDED": "", "NOTHING": 1}, ["E008", "E016", "E001"]),
    ],
    ids=repr,
)
def test_each_mistake_is_one_problem(given: Any, ids: list[str]) -> None:
    assert [problem.id for problem in conf.problems(given)] == ids


def test_check_names_the_key_and_the_nearest_one(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFUALT": True}

    assert check_settings(None) == [
        Error(
            "SEZZLEE_MCP has no key 'EXPOSE_BY_DEFUALT'.",
            hint="Did you mean 'EXPOSE_BY_DEFAULT'?",
            id="sezzlee_mcp.E001",
        )
    ]


def test_use_of_wrong_settings_says_what_the_check_says(settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"UNDECIDED": "ask"}

    with pytest.raises(ImproperlyConfigured, match=r"'UNDECIDED'.* is 'ask'.*sezzlee_mcp\.E016"):
        conf.current()


@pytest.mark.urls("project.shop.urls")
def test_project_without_the_endpoint_is_warned() -> None:
    assert check_urls(None) == [
        Warning(
            "No URL of this project leads to the MCP endpoint.",
            hint='Add path("", include("sezzlee_mcp.urls")) to the root URLconf.',
            id="sezzlee_mcp.W001",
        )
    ]


def test_project_with_the_endpoint_is_not_warned() -> None:
    assert check_urls(None) == []


class ReplicaRouter:
    def db_for_read(self, model: Any, **hints: Any) -> str:
        return "replica"


def test_project_that_reads_the_tables_from_a_replica_is_warned(settings: Settings) -> None:
    settings.DATABASE_ROUTERS = [f"{__name__}.ReplicaRouter"]

    assert check_database(None) == [
        Warning(
            "The app's tables are routed to 'replica': what staff save may not be published.",
            hint="Let DATABASE_ROUTERS read and write the app sezzlee_mcp in 'default'.",
            id="sezzlee_mcp.W003",
        )
    ]


def test_project_with_the_tables_in_its_default_database_is_not_warned() -> None:
    assert check_database(None) == []
