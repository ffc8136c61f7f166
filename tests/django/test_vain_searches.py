"""Which searches are followed, told by what their caller does next, within bounds."""

from datetime import UTC, datetime

import pytest

from sezzlee_mcp import vain_searches
from sezzlee_mcp.vain_searches import FOLLOWED_CALLS, FOLLOWED_SECONDS, Following, Search, Vain, VainSearches, WordKey

TODAY = datetime.now(UTC).date()


def search(word: str, *found: str) -> Search:
    return Search(words=frozenset([word]), found=frozenset(found))


def test_search_ends_unfollowed_with_the_last_call_that_could_follow_it() -> None:
    following = Following()
    following.searched("ada", search("refund", "orders_list"), 0)

    ends = [following.called("ada", "invoices_list", 1) for _number in range(FOLLOWED_CALLS)]

    assert ends == [[]] * (FOLLOWED_CALLS - 1) + [[search("refund", "orders_list")]]
    assert following.ended(FOLLOWED_SECONDS) == []


def test_search_ends_unfollowed_with_its_time() -> None:
    following = Following()
    following.searched("ada", search("refund", "orders_list"), 0)

    assert following.ended(FOLLOWED_SECONDS - 1) == []
    assert following.ended(FOLLOWED_SECONDS) == [search("refund", "orders_list")]


def test_call_follows_every_search_that_found_its_tool_and_no_other() -> None:
    following = Following()
    for word, found in (("refund", "orders_list"), ("cancel", "orders_list"), ("teleport", "carts_list")):
        following.searched("ada", search(word, found), 0)

    following.called("ada", "orders_list", 1)

    assert following.ended(FOLLOWED_SECONDS) == [search("teleport", "carts_list")]


def test_the_same_words_again_go_on_with_the_search() -> None:
    following = Following()
    following.searched("ada", search("refund", "orders_list"), 0)
    following.searched("ada", search("refund", "carts_list"), 1)

    assert following.ended(FOLLOWED_SECONDS + 1) == [search("refund", "orders_list", "carts_list")]


def test_callers_are_bounded_and_whom_it_forgets_it_does_not_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vain_searches, "CALLERS_AT_MOST", 2)
    following = Following()
    for caller in ("ada", "bob", "eve"):
        following.searched(caller, search(caller, "orders_list"), 0)

    assert following.ended(FOLLOWED_SECONDS) == [search("bob", "orders_list"), search("eve", "orders_list")]


def test_words_of_a_day_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vain_searches, "WORDS_AT_MOST", 2)
    searches = VainSearches()
    for word in ("refund", "cancel", "teleport", "refund"):
        searches.searched(None, search(word), 0)

    assert searches.taken(0) == {WordKey(TODAY, "refund"): Vain(2, 0), WordKey(TODAY, "cancel"): Vain(1, 0)}
    searches.searched(None, search("teleport"), 0)
    assert searches.taken(0) == {}
