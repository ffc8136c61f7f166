"""The needs by which rankers are measured: enough of them, each once, and every expected operation exists."""

import json

import pytest

from benchmarks import bench_quality


@pytest.mark.parametrize("backend", bench_quality.backends("tuning"))
def test_half_of_the_needs_is_held_out(backend):
    tuning, held_out = (bench_quality.cases(half, backend) for half in bench_quality.HALVES)
    needs = {case.need for case in (*tuning, *held_out)}
    searches = {case.search for case in (*tuning, *held_out)}

    assert len(tuning) == len(held_out) >= 15
    assert len(needs) == len(searches) == len(tuning) + len(held_out)


@pytest.mark.parametrize("backend", bench_quality.backends("tuning"))
def test_a_query_is_what_an_agent_would_type(backend):
    sets = [part for part in bench_quality.SETS if backend in bench_quality.backends(part)]
    queries = [case.query for part in sets for case in bench_quality.cases(part, backend)]

    assert [query for query in queries if not 1 <= len(query.split()) <= 5] == []


@pytest.mark.parametrize(
    ("part", "backend"), [(part, backend) for part in bench_quality.SETS for backend in bench_quality.backends(part)]
)
def test_every_expected_operation_exists(part, backend):
    path = bench_quality.document_path(backend)
    if not path.is_file():
        pytest.skip(f"There is no {path}; set DOCUMENTS to a folder that has it.")
    paths = json.loads(path.read_text(encoding="utf-8"))["paths"]
    known = {f"{method.upper()} {route}" for route, item in paths.items() for method in item}
    expected = [key for case in bench_quality.cases(part, backend) for key in case.expected]

    assert [key for key in expected if key not in known] == []
