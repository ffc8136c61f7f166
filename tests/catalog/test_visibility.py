from itertools import product

import pytest

from sezzlee_mcp.catalog import Answer, Decision, Identity, decide
from sezzlee_mcp.openapi.descriptors import AuthFacts

ALLOW, DENY, UNKNOWN = Answer


@pytest.mark.parametrize(
    ("anonymous", "answers", "imperative", "identity", "expected"),
    [
        ("no", {}, False, "absent", "deny"),  # 1
        ("no", {"a": ALLOW}, True, "absent", "deny"),
        ("yes", {}, False, "absent", "allow"),
        ("unknown", {}, False, "absent", "unknown"),
        ("no", {"a": ALLOW, "b": DENY}, True, "present", "deny"),  # 2
        ("unknown", {"a": DENY}, True, "unknown", "deny"),
        ("yes", {"a": DENY}, False, "present", "deny"),
        ("no", {"a": ALLOW}, True, "present", "unknown"),  # 3
        ("yes", {}, True, "present", "unknown"),
        ("unknown", {"a": ALLOW}, False, "present", "unknown"),  # 4
        ("no", {}, False, "unknown", "unknown"),  # 5
        ("yes", {}, False, "unknown", "allow"),
        ("no", {"a": ALLOW, "b": UNKNOWN}, False, "present", "unknown"),  # 6
        ("no", {"a": None}, False, "present", "unknown"),
        ("yes", {"a": None}, False, "absent", "unknown"),
        ("no", {"a": ALLOW, "b": ALLOW}, False, "present", "allow"),  # 7
        ("no", {}, False, "present", "allow"),
    ],
)
def test_first_rule_that_applies_decides(
    anonymous: str, answers: dict[str, Answer | None], imperative: bool, identity: str, expected: str
) -> None:
    auth = AuthFacts(anonymous=anonymous, policies=tuple(answers), imperative=imperative)
    given = {name: answer for name, answer in answers.items() if answer is not None}
    assert decide(auth, identity=Identity(identity), policies=given) is Decision(expected)


def test_answers_of_other_policies_do_not_count() -> None:
    auth = AuthFacts(anonymous="no", policies=("a",))
    assert decide(auth, identity=Identity.PRESENT, policies={"a": ALLOW, "b": DENY}) is Decision.ALLOW


@pytest.mark.parametrize(("anonymous", "identity"), list(product(["yes", "no", "unknown"], Identity)))
def test_imperative_authorization_is_never_a_plain_allow(anonymous: str, identity: Identity) -> None:
    assert decide(AuthFacts(anonymous=anonymous, imperative=True), identity=identity, policies={}) is not Decision.ALLOW
