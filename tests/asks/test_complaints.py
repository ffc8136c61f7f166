"""
What users of other servers reported, number by number of the list of asks, and what was seen when such servers ran.

A test's name begins with the server and the number of its issue. Elsewhere, since they need processes or large
documents: 31 and 39 (``tests/processes/test_asks.py``), 21, 41 and the ring of 200 schemas (``tests/documents``).
Without a test, since none of ours could fail on it: 30 (an import of seconds, which benchmarks measure), and of 44 the
wish for several queries in one search, which the contract does not have.
"""

import base64
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.cache import cache
from django.test import Client
from django.urls import clear_url_caches
from jsonschema import Draft202012Validator
from pytest_django import Settings

from sezzlee_mcp import dispatch
from sezzlee_mcp.models import Diagnostic, ToolContent
from sezzlee_mcp.sync import sync
from sezzlee_mcp.testing import McpClient
from tests.asks.host import released
from tests.django.idleness import wait_until_idle

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture
def host(db: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.asks.host"
    clear_url_caches()
    settings.SEZZLEE_MCP = {
        "EXPOSE_BY_DEFAULT": True,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        "USE_FLUSH_SECONDS": 0,
    }
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.asks.host.tenant_middleware"]
    sync()


@pytest.fixture
def agent(host: None) -> McpClient:
    return McpClient()


def schema(agent: McpClient, name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = agent.load(name)["inputSchema"]
    Draft202012Validator.check_schema(loaded)
    return loaded


def rpc(method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
    """A 2025-era request, as most clients still send."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return Client().post("/mcp", message, content_type="application/json", headers=headers)


@contextmanager
def connecting() -> Iterator[list[Any]]:
    """The addresses that Python code of this process connects to meanwhile."""
    addresses: list[Any] = []
    is_listening = True

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if is_listening and event == "socket.connect":
            addresses.append(arguments[1])

    sys.addaudithook(hear)  # it stays for good, so it only listens for as long as it is asked to
    yield addresses
    is_listening = False


def logged_in(user: User) -> McpClient:
    client = Client()
    client.force_login(user)
    return McpClient(client)


# -- the list of asks --


def test_django_mcp_server_32_published_list_view_still_answers_get(agent: McpClient) -> None:
    Group.objects.create(name="staff")

    over_mcp = agent.invoke("groups_list")["body"]

    assert Client().get("/api/groups/").json() == over_mcp
    assert [row["name"] for row in over_mcp["results"]] == ["staff"]


def test_django_mcp_server_62_list_tool_takes_filters_and_a_page_size(shop: None, admin: McpClient) -> None:
    arguments = admin.load("orders_list")["inputSchema"]["properties"]

    assert {"status", "customer", "created_after", "page", "page_size"} <= arguments.keys()
    assert len(admin.invoke("orders_list", {"page_size": 1})["body"]["results"]) == 1


def test_django_mcp_server_35_get_is_405_and_never_406(host: None) -> None:
    response = Client().get("/mcp", headers={"Accept": "text/event-stream"})

    assert (response.status_code, response["Allow"]) == (405, "POST")


def test_django_rest_framework_mcp_20_plain_viewset_is_a_tool(agent: McpClient) -> None:
    assert agent.invoke("plain")["body"] == {"view": "plain"}


def test_django_admin_mcp_67_endpoint_works_under_atomic_requests(host: None, settings: Settings) -> None:
    settings.DATABASES["default"]["ATOMIC_REQUESTS"] = True
    try:
        assert McpClient().invoke("plain")["status"] == 200
    finally:
        settings.DATABASES["default"]["ATOMIC_REQUESTS"] = False


def test_django_admin_mcp_34_and_92_writes_ask_the_views_own_permissions(agent: McpClient) -> None:
    """No write goes past a view, so what its permission class refuses over HTTP it refuses here."""
    user = User.objects.create_user("writer")
    browser = Client()
    browser.force_login(user)

    over_http = browser.post("/api/guarded-groups/", {"name": "x"}).status_code

    assert (over_http, logged_in(user).invoke("guarded_groups_create", {"name": "x"})["status"]) == (403, 403)
    assert not Group.objects.exists()


def test_fastapi_mcp_287_recursive_model_is_a_tool_with_definitions(agent: McpClient) -> None:
    loaded = agent.load("tree")["outputSchema"]

    Draft202012Validator.check_schema(loaded)
    Draft202012Validator(loaded).validate(agent.invoke("tree")["body"])


def test_fastapi_mcp_119_form_endpoint_gets_a_form(agent: McpClient) -> None:
    assert agent.invoke("form_create", {"name": "Ümit & Söhne"})["body"] == {
        "type": "application/x-www-form-urlencoded",
        "data": {"name": "Ümit & Söhne"},
    }


def test_fastapi_mcp_319_array_body_arrives(agent: McpClient) -> None:
    assert agent.invoke("rows_create", {"body": [{"name": "a"}, {"name": "b"}]})["body"] == {
        "data": [{"name": "a"}, {"name": "b"}]
    }


def test_fastapi_mcp_319_id_of_the_path_and_id_of_the_body_both_arrive(agent: McpClient) -> None:
    sent = {"id": 1, "body": {"id": 2}}

    assert agent.invoke("thing_update", sent)["body"] == {"path": 1, "body": {"id": 2}}


def test_fastmcp_5112_whole_body_beside_a_parameter_of_its_name_is_reported_and_overwrites_nothing(host: None) -> None:
    dropped = Diagnostic.objects.filter(severity="dropped", stage="catalog").values_list("key", "code", "message")

    assert set(dropped) == {("POST /api/clash/", "argument_collision", "Two arguments would be named body.")}


def test_fastapi_mcp_246_and_fastmcp_2082_nullable_choice_keeps_its_null(agent: McpClient) -> None:
    loaded = agent.load("kinds_create")
    inputs = Draft202012Validator(schema(agent, "kinds_create"))
    value = {"nullable_choice": None, "price": "1.00", "group": 1, "nested": {"name": "x"}}

    assert inputs.is_valid(value)
    assert not inputs.is_valid({**value, "nullable_choice": "c"})
    assert '"nullable"' not in json.dumps(loaded)


def test_fastapi_mcp_71_operation_may_take_as_long_as_the_host_says(host: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "DEADLINE_SECONDS": 3600}

    assert 3000 < McpClient().invoke("patient")["body"]["seconds"] <= 3600


@pytest.mark.django_db(transaction=True)
def test_fastapi_mcp_71_view_that_hangs_is_answered_at_the_deadline(host: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "DEADLINE_SECONDS": 0.02}
    released.clear()
    try:
        envelope = McpClient().invoke("hang")
    finally:
        released.set()
        wait_until_idle(dispatch._workers)

    assert (envelope["error"], envelope["retryable"]) == ("invoke_timeout", True)
    assert "may have been applied" in envelope["message"]


def test_fastapi_mcp_189_session_id_of_another_worker_is_no_404(host: None) -> None:
    response = rpc("tools/list", **{"Mcp-Session-Id": "minted-by-a-worker-that-is-gone"})

    assert response.status_code == 200
    assert "Mcp-Session-Id" not in response


def test_fastapi_mcp_82_and_113_and_186_carriers_arrive_as_over_http(host: None) -> None:
    headers = {"Authorization": "Custom abc", "X-Api-Key": "key", "X-Tenant": "north"}

    assert McpClient(headers=headers).invoke("carriers")["body"] == {
        "HTTP_AUTHORIZATION": "Custom abc",
        "HTTP_X_API_KEY": "key",
        "HTTP_X_TENANT": "north",
        "REMOTE_ADDR": "127.0.0.1",
        "path": "/api/carriers/",
    }


def test_fastapi_mcp_93_parameters_do_not_swell_the_description(agent: McpClient) -> None:
    loaded = agent.load("filter")

    assert loaded["description"] == "List what fits."
    assert loaded["inputSchema"]["properties"]["q"]["description"] == "What to look for."


def test_fastapi_mcp_258_and_anythingmcp_579_hints_follow_the_method_and_none_is_left_out(agent: McpClient) -> None:
    admin = logged_in(User.objects.create_superuser("root"))
    names = ("guarded_groups_list", "guarded_groups_create", "guarded_groups_update", "guarded_groups_destroy")
    hints = {tool["name"]: tool["annotations"] for tool in rpc("tools/list").json()["result"]["tools"]}

    assert [admin.load(name)["annotations"] for name in names] == [
        {"readOnlyHint": True, "idempotentHint": True},
        {"destructiveHint": False},
        {"destructiveHint": True, "idempotentHint": True},
        {"destructiveHint": True, "idempotentHint": True},
    ]
    assert hints["invoke_tool"] == {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


def test_fastmcp_1241_and_mcp_1357_answer_that_contradicts_its_schema_is_delivered(agent: McpClient) -> None:
    assert agent.invoke("contradiction") == {"status": 200, "body": ["not", "a", "group"]}


def test_fastmcp_1114_and_4488_deep_object_and_joined_list_are_written_as_declared(agent: McpClient) -> None:
    sent = agent.invoke("filter", {"where": {"city": "Bonn"}, "ids": [1, 2]})["body"]["query"]

    assert sent == "ids=1,2&where[city]=Bonn"


def test_fastmcp_1195_list_of_tools_does_not_grow_with_the_catalog(host: None, settings: Settings) -> None:
    small = rpc("tools/list").json()["result"]["tools"]
    settings.ROOT_URLCONF = "project.urls"
    clear_url_caches()
    sync(force=True)

    large = rpc("tools/list").json()["result"]["tools"]

    assert [tool["name"] for tool in small] == [tool["name"] for tool in large]
    assert len(json.dumps(large)) == len(json.dumps(small)) < 20_000


def test_fastmcp_271_and_langflow_8059_what_is_left_out_is_not_sent(agent: McpClient) -> None:
    assert agent.invoke("filter", {"q": "x"})["body"] == {"query": "q=x"}
    assert agent.invoke("filter", {"q": None})["error"] == "null_not_allowed"


def test_fastmcp_3260_no_token_leaves_the_process(host: None) -> None:
    """The credential reaches the host's own views, which own it; no address is connected to on the way."""
    client = McpClient(headers={"Authorization": "Custom secret"})
    client.invoke("plain")
    with connecting() as addresses:
        assert client.invoke("carriers")["body"]["HTTP_AUTHORIZATION"] == "Custom secret"

    assert addresses == []


@pytest.mark.parametrize("value", ["../groups", "1/../../groups", "..%2f..%2fgroups", "%2e%2e/groups"])
def test_fastmcp_ssrf_dot_segments_reach_no_other_view(agent: McpClient, value: str) -> None:
    envelope = agent.invoke("guarded_groups_retrieve", {"id": value})

    assert envelope["error"] in {"invalid_type", "invalid_path_type", "unauthenticated"}


def test_fastmcp_498_refusal_of_the_backend_names_the_argument_and_says_why(agent: McpClient) -> None:
    envelope = agent.invoke("group_half_create", {"name": "x"})

    assert (envelope["error"], envelope["fields"]) == (
        "validation_failed",
        [{"name": "name", "message": "Not this one."}],
    )


def test_fastmcp_3130_text_that_names_a_hidden_argument_is_reported(agent: McpClient) -> None:
    assert Diagnostic.objects.filter(key="GET /api/boxes/").values_list("code", flat=True).get() == (
        "curation_leaks_name"
    )


def test_fastmcp_2008_argument_without_a_default_can_be_hidden(agent: McpClient) -> None:
    assert agent.load("boxes")["inputSchema"]["properties"] == {}
    assert agent.invoke("boxes")["body"] == {"tenant_code": "north"}


def test_dsh_capability_menu_4_arguments_as_json_text_are_read(agent: McpClient) -> None:
    assert agent.invoke("filter", '{"q": "x"}')["body"] == {"query": "q=x"}


def test_fastmcp_932_call_with_nothing_is_told_what_is_missing(agent: McpClient) -> None:
    envelope = agent.call("invoke_tool", {})

    assert (envelope["error"], "'name'" in envelope["message"]) == ("unknown_argument", True)


def test_fastmcp_1526_and_269_files_go_in_and_come_out(agent: McpClient) -> None:
    taken = agent.invoke("upload", {"title": "t", "file": {"text": "hello", "name": "h.txt"}})
    given = agent.invoke("paper")

    assert taken["body"] == {"title": "t", "name": "h.txt", "text": "hello"}
    assert base64.b64decode(given["body"]["base64"]) == b"%PDF-1.7\xff\xfe"


def test_awslabs_643_names_that_clients_see_are_short(host: None) -> None:
    names = [tool["name"] for tool in rpc("tools/list").json()["result"]["tools"]]

    assert max(len(f"mcp__a_server_with_a_long_name__{name}") for name in names) <= 64


def test_openapi_mcp_server_16_search_over_a_whole_backend_fits_in_a_message(shop: None, admin: McpClient) -> None:
    assert len(json.dumps(admin.search("", limit=50))) < 30_000


def test_github_mcp_server_352_single_operations_are_chosen(host: None, settings: Settings) -> None:
    only_plain = [{"route": "/api/plain/", "decision": "include"}]
    settings.SEZZLEE_MCP = {**settings.SEZZLEE_MCP, "EXPOSE_BY_DEFAULT": False, "RULES": only_plain}
    sync(force=True)
    agent = McpClient()

    assert [card["name"] for card in agent.search("", limit=50)["results"]] == ["boxes", "plain"]  # a marker
    assert agent.invoke("many")["error"] == "unknown_tool"


def test_github_mcp_server_1952_failure_is_marked_as_one(host: None) -> None:
    result = rpc("tools/call", {"name": "load_tool", "arguments": {"name": "nobody"}}).json()["result"]

    assert result["isError"] is True


def test_claude_code_88049_no_meta_tool_has_a_combinator_at_its_root(host: None) -> None:
    for tool in rpc("tools/list").json()["result"]["tools"]:
        assert tool["inputSchema"]["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf", "$ref"} & tool["inputSchema"].keys()


def test_claude_code_95239_optional_is_not_required_and_a_text_null_stays_a_text(agent: McpClient) -> None:
    value = {"nullable_choice": "a", "price": "1.00", "group": 1, "nested": {"name": "x"}}

    assert not {"optional", "note"} & set(schema(agent, "kinds_create")["required"])
    assert agent.invoke("kinds_create", {**value, "optional": "null"})["body"]["optional"] == "null"


def test_dbt_mcp_178_and_fastmcp_20000_rows_are_refused_with_what_narrows_them(agent: McpClient) -> None:
    envelope = agent.invoke("many")

    assert (envelope["error"], [field["name"] for field in envelope["fields"]]) == ("response_too_large", ["limit"])
    assert len(json.dumps(envelope)) < 2_000


def test_freee_mcp_324_download_comes_with_its_name_and_bytes(agent: McpClient) -> None:
    envelope = agent.invoke("paper")

    assert (envelope["contentType"], envelope["filename"]) == ("application/pdf", "paper.pdf")


def test_mcp_context_forge_2106_admin_pages_ask_for_permissions(host: None, settings: Settings) -> None:
    settings.ROOT_URLCONF = "project.urls"
    clear_url_caches()
    client = Client()
    client.force_login(User.objects.create_user("helper", is_staff=True))

    pages = ("operation", "tag", "selectionrule", "revision", "diagnostic", "tooluse")

    assert {client.get(f"/admin/sezzlee_mcp/{page}/").status_code for page in pages} == {403}


def test_drf_spectacular_1380_null_and_blank_choices_are_one_enum(agent: McpClient) -> None:
    choice = schema(agent, "kinds_create")["properties"]["nullable_choice"]

    assert Draft202012Validator(choice).is_valid("a")
    assert Draft202012Validator(choice).is_valid(None)


def test_hermes_agent_106676_search_without_a_match_answers_nothing(agent: McpClient) -> None:
    found = agent.search("zeppelin maintenance")

    assert found["results"] == []


def test_fastmcp_search_in_another_language_says_that_there_are_tools(agent: McpClient) -> None:
    found = agent.search("siparişleri göster")

    assert (found["results"], found["total"]) == ([], agent.search("")["total"])
    assert found["total"] > 0


def test_openclaw_114285_word_inside_another_is_no_match(agent: McpClient) -> None:
    assert agent.search("lain")["results"] == []  # inside "plain"


def test_hermes_agent_92766_card_names_the_required_arguments(agent: McpClient) -> None:
    card = next(card for card in agent.search("form")["results"] if card["name"] == "form_create")

    assert "name" in json.dumps(card)


def test_agentgateway_2982_both_eras_are_served_at_one_address(host: None) -> None:
    modern = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}

    assert rpc("tools/list").status_code == 200
    assert rpc("tools/list", {"_meta": META}, **modern).json()["result"]["resultType"] == "complete"


def test_lion_reader_978_metadata_is_where_clients_look_and_names_the_address_that_they_use(
    host: None, settings: Settings
) -> None:
    settings.SEZZLEE_MCP = {"AUTHORIZATION_SERVERS": ["https://login.example"]}

    challenge = rpc("tools/list")
    metadata = Client().get("/.well-known/oauth-protected-resource/mcp")

    assert challenge.status_code == 401
    assert challenge["WWW-Authenticate"].startswith(
        'Bearer resource_metadata="http://testserver/.well-known/oauth-protected-resource/mcp"'
    )
    assert metadata.json()["resource"] == "http://testserver/mcp"


def test_python_sdk_421_traceparent_is_carried_into_the_record(host: None, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="sezzlee_mcp.calls")
    sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    rpc("tools/call", {"name": "search_tools", "_meta": {"traceparent": sent}})

    assert [vars(record)["sezzlee"]["traceparent"] for record in caplog.records] == [sent]


def test_codebase_memory_mcp_1247_there_is_no_next_page_and_an_invented_cursor_is_refused(host: None) -> None:
    assert "nextCursor" not in rpc("tools/list").json()["result"]
    assert rpc("tools/list", {"cursor": "abc"}).json()["error"]["code"] == -32602


def test_superagent_289_shortened_name_leads_to_a_search(agent: McpClient) -> None:
    envelope = agent.load("group_half")

    assert envelope["continuation"]["tool"] == "search_tools"
    found = agent.call("search_tools", envelope["continuation"]["arguments"])
    assert found["results"][0]["name"] == "group_half_create"


# -- seen when such servers ran --


def test_frisian_mcp_caller_without_permission_writes_nothing(agent: McpClient) -> None:
    user = User.objects.create_user("reader")
    user.user_permissions.add(Permission.objects.get(codename="view_group"))

    assert logged_in(user).invoke("guarded_groups_create", {"name": "x"})["error"] == "forbidden"
    assert not Group.objects.exists()


def test_frisian_mcp_refused_write_is_rolled_back_as_over_http(host: None, settings: Settings) -> None:
    settings.DATABASES["default"]["ATOMIC_REQUESTS"] = True
    try:
        over_http = Client().post("/api/half/", {"name": "a"}).status_code
        over_mcp = McpClient().invoke("group_half_create", {"name": "b"})["status"]
    finally:
        settings.DATABASES["default"]["ATOMIC_REQUESTS"] = False

    assert (over_http, over_mcp, Group.objects.count()) == (400, 400, 0)


def test_frisian_mcp_view_sees_what_middleware_set(host: None) -> None:
    assert McpClient(headers={"X-Tenant": "north"}).invoke("tenant")["body"] == {"tenant": "north"}


def test_frisian_mcp_throttle_counts_each_address_and_each_call_once(host: None) -> None:
    cache.clear()
    near, far = Client(REMOTE_ADDR="10.0.0.1"), Client(REMOTE_ADDR="10.0.0.2")

    answers = [McpClient(near).invoke("throttled").get("error", "ok") for _ in range(3)]

    assert answers == ["ok", "ok", "rate_limited"]
    assert McpClient(far).invoke("throttled")["status"] == 200


def test_frisian_mcp_kinds_keep_their_schema(agent: McpClient) -> None:
    properties = schema(agent, "kinds_create")["properties"]

    assert properties["price"]["type"] == "string"
    assert properties["group"]["type"] == "integer"
    assert Draft202012Validator(
        {**properties["nested"], "$defs": schema(agent, "kinds_create").get("$defs", {})}
    ).is_valid({"name": "x"})


def test_frisian_mcp_and_fastmcp_unknown_argument_is_refused(agent: McpClient) -> None:
    envelope = agent.invoke("filter", {"query": "x"})

    assert (envelope["error"], envelope["message"]) == (
        "unknown_argument",
        "This call takes no argument 'query'. Its 3 arguments: ids, q, where.",
    )


def test_django_mcp_server_works_without_session_middleware(host: None, settings: Settings) -> None:
    settings.MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]

    assert McpClient().invoke("plain")["status"] == 200


def test_django_rest_framework_mcp_file_field_breaks_no_list(agent: McpClient) -> None:
    assert "upload" in {card["name"] for card in agent.search("", limit=50)["results"]}


def test_django_rest_framework_mcp_model_permissions_know_the_method(agent: McpClient) -> None:
    admin = User.objects.create_superuser("root")

    assert logged_in(admin).invoke("guarded_groups_create", {"name": "x"})["status"] == 201


def test_fastmcp_upload_works_with_drfs_default_parsers(agent: McpClient) -> None:
    assert agent.invoke("upload", {"title": "t", "file": {"base64": "aGk=", "name": "h"}})["body"]["text"] == "hi"


def test_every_tool_of_the_host_has_valid_schemas(host: None) -> None:
    for content in ToolContent.objects.all():
        Draft202012Validator.check_schema(content.loaded["inputSchema"])
        Draft202012Validator.check_schema(content.loaded.get("outputSchema", {}))
