"""What no browser's form sends by itself: the pages of staff refuse it beside its field, and none breaks."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sezzlee_mcp.models import SearchCase, VisibilityPolicy
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import change_page, errors, operation, page, save
from tests.django.test_admin_curation import APPLES, FRUIT, added, inner_errors
from tests.factories import SuperuserFactory

UNREADABLE = ["9" * 5_000, "[" * 100_000]
NO_JSON = ["Enter a valid JSON."]
NUL = ["It holds a NUL character, which no database stores."]


@pytest.fixture(autouse=True)
def fruit(db: None, settings: Settings, client: Client) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    sync(FRUIT)
    client.force_login(SuperuserFactory(username="ada"))


def test_nul_among_search_terms_is_refused(client: Client) -> None:
    response = save(client, change_page(APPLES), overrides_search_terms=True, search_terms="pip\r\na\x00b")

    assert errors(response) == {"search_terms": NUL}
    assert operation(APPLES).search_terms == []


@pytest.mark.parametrize("edit", ["tags", "terms"])
def test_nul_among_the_words_of_many_is_refused(client: Client, edit: str) -> None:
    typed = {"operations": operation(APPLES).pk, "mode": "add", "words": "pip\r\na\x00b"}
    response = client.post(page("operation", f"many_{edit}"), typed)

    assert response.context["form"].errors == {"words": NUL}


@pytest.mark.parametrize("asked", ["9" * 5_000, "9" * 30], ids=["5000", "30"])
def test_an_edit_of_operations_whose_keys_no_database_reads_leaves_those_out(client: Client, asked: str) -> None:
    response = client.post(page("operation", "many_hide"), {"operations": f"{operation(APPLES).pk},{asked}"})

    assert [str(edit.row) for edit in response.context["form"].edits] == [APPLES]


def test_a_filter_by_tokens_that_the_list_does_not_offer_finds_none(client: Client) -> None:
    response = client.get(page("operation", "changelist"), {"tokens": "9" * 5_000})

    assert response.context["cl"].result_count == 0


@pytest.mark.parametrize("targets", ["tags", "routes"])
def test_nul_among_the_targets_of_a_policy_is_refused(client: Client, targets: str) -> None:
    typed = {"name": "staff", "rule": "staff", "tags": "fruit", "routes": "**", targets: "a\x00b"}
    response = client.post(page("visibilitypolicy", "add"), typed)

    assert errors(response) == {targets: NUL}
    assert not VisibilityPolicy.objects.exists()


def test_nul_among_the_tags_of_a_case_is_refused(client: Client) -> None:
    typed = {"need": "Which?", "query": "apples", "tags": "a\x00b", "expected": APPLES}
    response = client.post(page("searchcase", "add"), typed)

    assert errors(response) == {"tags": NUL}
    assert not SearchCase.objects.exists()


@pytest.mark.parametrize("member", ["need", "query", "tags", "expected"])
def test_a_control_character_in_a_case_is_refused_as_in_a_file(client: Client, member: str) -> None:
    typed = {"need": "Which?", "query": "apples", "tags": "fruit", "expected": APPLES, member: "a\tb"}
    response = client.post(page("searchcase", "add"), typed)

    assert errors(response) == {member: ["It holds a control character."]}


def test_nul_among_older_names_is_refused(client: Client) -> None:
    response = save(client, change_page(APPLES), **added("arguments", {"name": "kind", "deprecated_aliases": "a\x00b"}))

    assert inner_errors(response, "arguments") == [{"deprecated_aliases": NUL}]


@pytest.mark.parametrize(
    ("model", "query"),
    [
        ("operation", {"exposure__exact": "a\0"}),
        ("operation", {"tag": "\0"}),
        ("operation", {"q": "\0"}),
        ("selectionrule", {"method": "\0"}),
        ("searchcase", {"user": "\0"}),
        ("revision", {"source__exact": "\0"}),
    ],
)
def test_nul_in_a_filter_is_answered_as_other_wrong_lookups(client: Client, model: str, query: dict[str, str]) -> None:
    response = client.get(page(model, "changelist"), query)

    assert (response.status_code, response.headers["Location"]) == (302, f"{page(model, 'changelist')}?e=1")
    assert client.get(page(model, "changelist"), {**query, "e": "1"}).status_code == 200


def test_nul_in_a_search_for_operations_finds_none(client: Client) -> None:
    asked = {"app_label": "sezzlee_mcp", "model_name": "visibilitypolicy", "field_name": "operations", "term": "\0"}
    response = client.get(reverse("admin:autocomplete"), asked)

    assert response.json() == {"results": [], "pagination": {"more": False}}


@pytest.mark.parametrize("text", UNREADABLE, ids=["digits", "levels"])
def test_json_that_python_does_not_read_is_refused(client: Client, text: str) -> None:
    hidden = {"name": "kind", "hidden": "constant", "constant": text}
    argument = save(client, change_page(APPLES), **added("arguments", hidden))
    member = {"name": "ripe_apples", "description": "Ripe ones.", "key": text}
    variant = save(client, change_page(APPLES), **added("variants", member))
    rule = client.post(page("argumentrule", "add"), {"argument": "kind", "hidden": "constant", "constant": text})

    assert inner_errors(argument, "arguments") == [{"constant": NO_JSON}]
    assert inner_errors(variant, "variants") == [{"key": NO_JSON}]
    assert errors(rule) == {"constant": NO_JSON}


@pytest.mark.parametrize("asked", ["9" * 5_000, "9" * 30, "x", "1\x00", ""], ids=["5000", "30", "x", "nul", "empty"])
def test_rollback_of_an_operation_that_is_no_number_is_not_found(client: Client, asked: str) -> None:
    rolled_back = client.get(page("revision", "roll_back", 1), {"operation": asked})
    resumed = client.get(page("revision", "resume"), {"operation": asked})

    assert (rolled_back.status_code, resumed.status_code) == (404, 404)
