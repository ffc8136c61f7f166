import re
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.catalog import Curation, Name, Naming, PrefixMode, Source, name_operations, resolve
from sezzlee_mcp.catalog.names import snake_case
from sezzlee_mcp.diagnostics import Severity
from sezzlee_mcp.openapi.descriptors import Descriptor
from tests.catalog.making import codes, operation, staffed

ALWAYS = Curation(prefix_mode=PrefixMode.ALWAYS)
NEVER = Curation(prefix_mode=PrefixMode.NEVER)
PLAIN = Curation()


def names(naming: Naming) -> dict[str, str]:
    return {key: name.value for key, name in naming.names.items()}


def only_name(descriptor: Descriptor, curation: Curation = PLAIN) -> str:
    return name_operations([descriptor], curation).names[descriptor.key].value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("orders_list", "orders_list"),
        ("GetOrder", "get_order"),
        ("getQRDetails", "get_qr_details"),
        ("GetMappingDTOProperties", "get_mapping_dto_properties"),
        ("WS_GetTree", "ws_get_tree"),
        ("AIDocument", "ai_document"),
        ("order2Item", "order2_item"),
        ("order2item", "order2item"),
        ("ABC", "abc"),
        ("aB", "a_b"),
        ("--orders--list--", "orders_list"),
        ("orders.list/all", "orders_list_all"),
        ("_private__name_", "private_name"),
        ("café", "caf"),
        ("", ""),
        ("注文", ""),
    ],
)
def test_snake_case(text: str, expected: str) -> None:
    assert snake_case(text) == expected


@given(st.text())
def test_snake_case_gives_words_of_small_letters_and_digits(text: str) -> None:
    assert re.fullmatch(r"(?:[a-z0-9]+(?:_[a-z0-9]+)*)?", snake_case(text))


@given(st.text())
def test_snake_case_changes_its_own_words_no_more(text: str) -> None:
    assert snake_case(snake_case(text)) == snake_case(text)


@pytest.mark.parametrize(
    ("method", "route", "expected"),
    [
        ("GET", "/ping", "get_ping"),
        ("GET", "/orders/{id}/", "get_orders_by_id"),
        ("POST", "/orders/{orderId}/items", "post_orders_items_by_order_id"),
        ("GET", "/a/{b}/c/{d}/", "get_a_c_by_b_d"),
        ("GET", "/items/{project_key}-{number}/", "get_items_by_project_key_number"),
        ("GET", "/messages/{lang}.json", "get_messages_json_by_lang"),
        ("GET", "/", "get"),
        ("POST", "{part_href}sync/", "post_sync_by_part_href"),
        ("DELETE", "/API/v1/HTTPLogs/", "delete_api_v1_http_logs"),
    ],
)
def test_without_an_operation_id_the_route_is_the_name(method: str, route: str, expected: str) -> None:
    naming = name_operations([operation(method, route)], ALWAYS)
    assert naming.names == {f"{method} {route}": Name(value=expected, source=Source.RULE)}


def test_operation_id_without_usable_letters_gives_way_to_the_route() -> None:
    assert only_name(operation(operation_id="注文")) == "get_orders"


@pytest.mark.parametrize(
    ("container", "operation_id", "expected"),
    [
        (None, "List", "list"),
        ("orders", "List", "orders_list"),
        ("OrdersController", "List", "orders_list"),
        ("Web.Controllers.PushProviderConfigController", "List", "push_provider_config_list"),
        ("Controller", "List", "list"),
        ("orders", "orders_list", "orders_list"),
        ("Orders", "GetOrder", "get_order"),
        ("order", "list_orders", "list_orders"),
        ("support request", "CreateSupportRequest", "create_support_request"),
        ("support request", "CreateRequestSupport", "support_request_create_request_support"),
        ("TaskActivities", "SaveTaskActivity", "task_activities_save_task_activity"),
        ("gas", "ga_list", "gas_ga_list"),
        ("order", "reorder_list", "order_reorder_list"),
        ("注文", "List", "list"),
    ],
)
def test_prefix_of_the_container(container: str | None, operation_id: str, expected: str) -> None:
    assert only_name(operation(operation_id=operation_id, container=container), ALWAYS) == expected


@pytest.mark.parametrize(
    ("curation", "extension", "expected"),
    [
        (ALWAYS, {"prefix": "cfg"}, "cfg_list"),
        (replace(ALWAYS, prefixes={"shop.Orders": "o"}), None, "o_list"),
        (replace(ALWAYS, prefixes={"shop.Orders": "o"}), {"prefix": "cfg"}, "cfg_list"),
        (replace(ALWAYS, prefixes={"shop.Orders": ""}), None, "list"),
        (replace(ALWAYS, prefixes={"Orders": "o"}), None, "orders_list"),
        (PLAIN, {"prefix": "cfg"}, "list"),
        (NEVER, {"prefix": "cfg"}, "list"),
    ],
)
def test_declared_prefix_beats_the_hosts_and_the_derived_one(
    curation: Curation, extension: dict[str, str] | None, expected: str
) -> None:
    descriptor = operation(operation_id="List", container="shop.Orders", extension=extension)
    assert only_name(descriptor, curation) == expected


def test_prefix_is_of_the_document_and_not_of_a_curated_tag() -> None:
    descriptor = operation(operation_id="list", container="orders")
    assert only_name(descriptor, staffed(descriptor.key, ALWAYS, tags=("billing",))) == "orders_list"


@pytest.mark.parametrize("curation", [ALWAYS, PLAIN, NEVER])
def test_declared_name_takes_no_prefix(curation: Curation) -> None:
    marked = operation(operation_id="List", container="orders", extension={"name": "find_orders"})
    assert name_operations([marked], curation).names[marked.key] == Name(value="find_orders", source=Source.CODE)
    chosen = staffed(marked.key, curation, name="search_orders")
    assert name_operations([marked], chosen).names[marked.key] == Name(value="search_orders", source=Source.STAFF)


ORDERS = operation("POST", "/orders/delete/", "Delete", container="orders")
NOTES = operation("POST", "/notes/delete/", "Delete", container="notes")
BARE = operation("POST", "/bare/delete/", "Delete")


def test_on_collision_the_whole_group_is_prefixed() -> None:
    naming = name_operations([ORDERS, NOTES], PLAIN)
    assert names(naming) == {ORDERS.key: "orders_delete", NOTES.key: "notes_delete"}
    assert codes(naming.diagnostics) == [(NOTES.key, "name_disambiguated"), (ORDERS.key, "name_disambiguated")]


def test_on_collision_the_one_without_a_container_keeps_the_bare_name() -> None:
    naming = name_operations([ORDERS, BARE], PLAIN)
    assert names(naming) == {ORDERS.key: "orders_delete", BARE.key: "delete"}


def test_names_without_a_clash_take_no_prefix() -> None:
    naming = name_operations([ORDERS, operation(operation_id="List", container="notes")], PLAIN)
    assert (sorted(names(naming).values()), naming.diagnostics) == (["delete", "list"], ())


def test_always_prefixing_is_no_finding() -> None:
    naming = name_operations([ORDERS, NOTES], ALWAYS)
    assert (names(naming), naming.diagnostics) == ({ORDERS.key: "orders_delete", NOTES.key: "notes_delete"}, ())


def test_first_publish_drops_everyone_of_a_collision() -> None:
    naming = name_operations([ORDERS, NOTES, operation(operation_id="list")], NEVER)
    assert names(naming) == {"GET /orders/": "list"}
    assert [(found.severity, found.operation, found.message) for found in naming.diagnostics] == [
        (
            Severity.DROPPED,
            NOTES.key,
            f"The name delete is also that of {ORDERS.key}. Give one of them a name of its own.",
        ),
        (
            Severity.DROPPED,
            ORDERS.key,
            f"The name delete is also that of {NOTES.key}. Give one of them a name of its own.",
        ),
    ]


def test_same_operation_id_with_two_methods_collides_even_with_a_prefix() -> None:
    save = operation("POST", "/tasks/", "Save", container="task")
    put = operation("PUT", "/tasks/", "Save", container="task")
    naming = name_operations([save, put], PLAIN)
    assert names(naming) == {}
    assert [found.code for found in naming.diagnostics if found.severity is Severity.DROPPED] == ["name_collision"] * 2


def test_prefixed_name_can_collide_with_a_plain_one() -> None:
    plain = operation("POST", "/x/", "orders_delete")
    naming = name_operations([ORDERS, NOTES, plain], PLAIN)
    assert names(naming) == {NOTES.key: "notes_delete"}


def test_published_name_stays_whatever_the_document_says_now() -> None:
    descriptor = operation(operation_id="fetch_orders", container="orders")
    naming = name_operations([descriptor], replace(ALWAYS, published_names={descriptor.key: "list_orders"}))
    assert naming.names == {descriptor.key: Name(value="list_orders", source=Source.PUBLISHED)}


@pytest.mark.parametrize("declared", ["staff", "code"])
def test_declared_name_changes_a_published_one(declared: str) -> None:
    extension = {"name": "find_orders"} if declared == "code" else None
    descriptor = operation(operation_id="list_orders", extension=extension)
    published = replace(PLAIN, published_names={descriptor.key: "list_orders"})
    curation = staffed(descriptor.key, published, name="find_orders") if declared == "staff" else published
    assert only_name(descriptor, curation) == "find_orders"


def test_newcomer_takes_a_prefix_and_renames_no_neighbour() -> None:
    naming = name_operations([ORDERS, NOTES], replace(PLAIN, published_names={ORDERS.key: "delete"}))
    assert names(naming) == {ORDERS.key: "delete", NOTES.key: "notes_delete"}
    assert codes(naming.diagnostics) == [(NOTES.key, "name_disambiguated")]


def test_newcomer_that_cannot_differ_is_dropped_alone() -> None:
    naming = name_operations([ORDERS, BARE], replace(PLAIN, published_names={ORDERS.key: "delete"}))
    assert names(naming) == {ORDERS.key: "delete"}
    assert codes(naming.diagnostics) == [(BARE.key, "name_collision")]


def test_declared_name_does_not_take_a_published_one_from_its_operation() -> None:
    curation = staffed(BARE.key, replace(PLAIN, published_names={ORDERS.key: "delete", BARE.key: "old"}), name="delete")
    naming = name_operations([ORDERS, BARE], curation)
    assert names(naming) == {ORDERS.key: "delete"}
    assert codes(naming.diagnostics) == [(BARE.key, "name_collision")]


def test_two_newcomers_with_one_name_are_both_dropped_beside_what_is_published() -> None:
    curation = replace(NEVER, published_names={"GET /orders/": "list"})
    naming = name_operations([operation(operation_id="list"), ORDERS, NOTES], curation)
    assert names(naming) == {"GET /orders/": "list"}


@pytest.mark.parametrize("owner", ["POST /gone/", ORDERS.key])
def test_published_name_moves_to_no_other_operation_by_itself(owner: str) -> None:
    published = replace(NEVER, published_names={owner: "delete"})
    curation = staffed(ORDERS.key, published, name="remove_order")
    naming = name_operations([ORDERS, NOTES], curation)
    assert names(naming) == {ORDERS.key: "remove_order"}
    assert [(found.operation, found.code, owner in found.message) for found in naming.diagnostics] == [
        (NOTES.key, "name_collision", True)
    ]


def test_staff_may_give_a_name_to_another_operation() -> None:
    curation = staffed(NOTES.key, replace(NEVER, published_names={"POST /gone/": "delete"}), name="delete")
    assert names(name_operations([NOTES], curation)) == {NOTES.key: "delete"}


def test_staff_may_swap_two_published_names() -> None:
    published = replace(PLAIN, published_names={ORDERS.key: "one", NOTES.key: "two"})
    curation = staffed(NOTES.key, staffed(ORDERS.key, published, name="two"), name="one")
    naming = name_operations([ORDERS, NOTES], curation)
    assert names(naming) == {ORDERS.key: "two", NOTES.key: "one"}


@pytest.mark.parametrize("name", ["", "List-Orders", "Orders", "2fa", "_orders", "orders\n", "a" * 257, "sipariş"])
def test_declared_name_of_another_pattern_is_refused(name: str) -> None:
    naming = name_operations([ORDERS, NOTES], staffed(ORDERS.key, PLAIN, name=name))
    assert names(naming) == {NOTES.key: "delete"}
    assert codes(naming.diagnostics) == [(ORDERS.key, "invalid_name")]


@pytest.mark.parametrize(("length", "found"), [(64, []), (65, ["long_tool_name"]), (256, ["long_tool_name"])])
def test_long_name_is_kept_and_reported(length: int, found: list[str]) -> None:
    naming = name_operations([ORDERS], staffed(ORDERS.key, PLAIN, name="a" * length))
    assert names(naming) == {ORDERS.key: "a" * length}
    assert [each.code for each in naming.diagnostics] == found


def test_one_operation_on_several_routes_is_one_tool_on_the_shortest() -> None:
    routes = ["/auth/logout", "/logout", "/logouu", "/v1/auth/logout"]
    group = [operation("POST", route, "Logout", container="auth") for route in routes]
    for order in permutations(group):
        naming = name_operations(order, PLAIN)
        assert names(naming) == {"POST /logout": "logout"}
        assert naming.alternate_routes == {"POST /logout": ("/logouu", "/auth/logout", "/v1/auth/logout")}
        assert [found.message for found in naming.diagnostics] == [
            "The same operation also answers on /logouu, /auth/logout, /v1/auth/logout; it is one tool on /logout."
        ]


@pytest.mark.parametrize(
    "other",
    [
        operation("PUT", "/x/logout", "Logout", container="auth"),
        operation("POST", "/x/logout", "Logout", container="users"),
        operation("POST", "/x/logout", "Logoff", container="auth"),
    ],
)
def test_another_method_container_or_operation_id_is_another_operation(other: Descriptor) -> None:
    naming = name_operations([operation("POST", "/logout", "Logout", container="auth"), other], PLAIN)
    assert naming.alternate_routes == {"POST /logout": (), other.key: ()}


def test_operations_without_an_id_are_never_folded() -> None:
    naming = name_operations([operation(route="/a"), operation(route="/b")], PLAIN)
    assert names(naming) == {"GET /a": "get_a", "GET /b": "get_b"}


def test_folded_tool_keeps_its_name_when_a_shorter_route_comes() -> None:
    long, short = (operation("POST", route, "Logout", container="auth") for route in ("/auth/logout", "/logout"))
    naming = name_operations([long, short], replace(PLAIN, published_names={long.key: "sign_out"}))
    assert naming.names == {short.key: Name(value="sign_out", source=Source.PUBLISHED)}


def test_name_beneath_staffs_is_not_staffs_own_published_one() -> None:
    descriptor = operation(operation_id="list_orders")
    curation = staffed(
        descriptor.key, replace(PLAIN, published_names={descriptor.key: "find_orders"}), name="find_orders"
    )
    name = resolve(descriptor, curation).name
    assert (name.value, name.source, name.beneath) == ("find_orders", Source.STAFF, "list_orders")


_OPERATIONS = st.builds(
    operation,
    st.sampled_from(["GET", "POST"]),
    st.sampled_from(["/a", "/b", "/c/{id}", "/d"]),
    st.none() | st.sampled_from(["list", "List", "orders_list", "get_a", "2x", "注"]),
    container=st.none() | st.sampled_from(["orders", "notes", "注"]),
    extension=st.none() | st.fixed_dictionaries({"name": st.sampled_from(["list", "get_a", "Bad"])}),
)
_CURATIONS = st.builds(
    Curation,
    prefix_mode=st.sampled_from(PrefixMode),
    published_names=st.dictionaries(
        st.sampled_from(["GET /a", "POST /b", "GET /gone"]), st.sampled_from(["list", "get_a", "orders_list"])
    ).filter(lambda published: len(set(published.values())) == len(published)),
)


@given(
    st.lists(_OPERATIONS, unique_by=lambda one: one.key, max_size=6).flatmap(
        lambda some: st.tuples(st.just(some), st.permutations(some))
    ),
    _CURATIONS,
)
def test_names_are_valid_unique_and_blind_to_order(
    orders: tuple[list[Descriptor], list[Descriptor]], curation: Curation
) -> None:
    given_order, other_order = orders
    naming = name_operations(given_order, curation)
    assert name_operations(other_order, curation) == naming
    assert all(re.fullmatch(r"[a-z][a-z0-9_]{0,255}", name.value) for name in naming.names.values())
    assert len(set(names(naming).values())) == len(naming.names)
    dropped = {found.operation for found in naming.diagnostics if found.severity is Severity.DROPPED}
    assert dropped == naming.alternate_routes.keys() - naming.names.keys()


@given(st.lists(_OPERATIONS, unique_by=lambda one: one.key, max_size=6), _CURATIONS)
def test_undeclared_operation_never_gets_a_name_published_for_another(
    descriptors: list[Descriptor], curation: Curation
) -> None:
    naming = name_operations([replace(one, operation_id=None) for one in descriptors], curation)
    owners = {name: key for key, name in curation.published_names.items()}
    for key, name in naming.names.items():
        assert name.source is Source.CODE or owners.get(name.value, key) == key
