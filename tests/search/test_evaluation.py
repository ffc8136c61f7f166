import pytest
from hypothesis import given
from hypothesis import strategies as st

from sezzlee_mcp.search import Outcome, Scores, differing, judge

outcomes = st.sampled_from(
    [Outcome(found=found, place=place) for found in (0, 1, 9, 20) for place in (None, *range(1, found + 1))]
)


@pytest.mark.parametrize(
    ("names", "right", "outcome"),
    [
        ((), {"a"}, Outcome(found=0, place=None)),
        (("b", "c"), {"a"}, Outcome(found=2, place=None)),
        (("b", "a"), {"a"}, Outcome(found=2, place=2)),
        (("b", "c", "a"), {"a", "c"}, Outcome(found=3, place=2)),
        (("a",), set(), Outcome(found=1, place=None)),
    ],
)
def test_the_first_right_tool_is_what_counts(names, right, outcome):
    assert judge(names, right) == outcome


def test_scores_are_shares_of_all_cases():
    places = [1, 2, 5, 6, 10, 11, None, None]
    found = [Outcome(found=20, place=place) for place in places[:-1]] + [Outcome(found=0, place=None)]

    scores = Scores.of(found)

    assert scores == Scores(
        cases=8,
        recall_at_1=1 / 8,
        recall_at_5=3 / 8,
        recall_at_10=5 / 8,
        mrr=(1 + 1 / 2 + 1 / 5 + 1 / 6 + 1 / 10 + 1 / 11) / 8,
        empty=1,
    )
    assert scores.to_json() == {
        "cases": 8,
        "recall@1": 0.125,
        "recall@5": 0.375,
        "recall@10": 0.625,
        "mrr": 0.257,
        "empty": 1,
    }


def test_no_case_scores_nothing():
    assert Scores.of([]) == Scores(cases=0, recall_at_1=0, recall_at_5=0, recall_at_10=0, mrr=0, empty=0)


@given(st.lists(outcomes, min_size=1))
def test_scores_keep_their_order_and_bounds(judged):
    scores = Scores.of(judged)

    assert 0 <= scores.recall_at_1 <= scores.recall_at_5 <= scores.recall_at_10 <= 1
    assert scores.recall_at_1 <= scores.mrr + 1e-12
    assert scores.mrr <= 1
    assert scores.empty <= scores.cases == len(judged)


def test_cases_differ_by_the_place_of_the_right_tool():
    first = [Outcome(found=9, place=place) for place in (1, None, 3, None)]
    second = [Outcome(found=3, place=1), Outcome(found=0, place=None), Outcome(found=9, place=4), first[0]]

    assert differing([first, second]) == (2, 3)
    assert differing([first]) == differing([first, first, first]) == ()


@given(st.lists(st.tuples(outcomes, outcomes, outcomes)))
def test_differences_depend_on_no_order_of_runs(rows):
    runs = [[row[number] for row in rows] for number in range(3)]

    assert differing(runs) == differing(runs[::-1])
