import json

import pytest

from tests.conformance import corpus

FOLDER = corpus.folder()


def _due():
    if not FOLDER.is_dir():
        reason = f"there is no corpus at {FOLDER}; set SEZZLEE_CORPUS to its folder"
        yield pytest.param(None, id="corpus", marks=pytest.mark.skip(reason=reason))
        return
    by_kind = corpus.cases(FOLDER)
    for kind in corpus.RUNNERS:
        for case in by_kind.get(kind, ()):
            if not corpus.pending(case.fixture):
                yield pytest.param(case, id=f"{kind}-{case.name}")


@pytest.mark.parametrize("case", list(_due()))
def test_a_fixture_passes(case):
    assert corpus.check(case).problem is None


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ({"a": 1, "b": [None]}, {"b": [None], "a": 1}),
        ([1, "é"], (1, "é")),
        ({}, {}),
    ],
)
def test_equal_json_has_no_difference(actual, expected):
    assert corpus.difference(actual, expected) is None


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (True, 1),
        (0, False),
        (None, 0),
        ("1", 1),
        ([1, 2], [2, 1]),
        ({}, []),
        ({"a": 1}, {"a": 1, "b": None}),
        ("", None),
    ],
)
def test_other_json_differs(actual, expected):
    assert corpus.difference(actual, expected) is not None


CARD = {
    "kind": "card",
    "input": {"tool": {"name": "ping", "description": "Pings.", "inputSchema": {}}},
    "expected": {"name": "ping", "description": "Pings.", "parameters": ""},
}
SEARCH = {"kind": "search", "input": {"tools": [], "query": ""}, "expected": {"names": []}}
DETAIL = {"kind": "detail", "input": {"tool": {"name": "ping"}}, "expected": {"name": "ping"}}
OPEN = {"anonymous": "yes", "policies": [], "imperative": False}
VISIBILITY = {
    "kind": "visibility",
    "input": {"auth": OPEN, "caller": {"identity": "absent"}},
    "expected": {"decision": "allow"},
}
NAMING = {
    "kind": "naming",
    "input": {"endpoints": [{"method": "GET", "route": "/pings", "operationId": "listPings"}]},
    "expected": {"names": ["list_pings"]},
}
TOOL = {"name": "ping", "route": "/pings"}
RANKED = {
    "kind": "ranked-search",
    "input": {"tools": [TOOL], "query": "ping", "rankerAnswer": ["ping"]},
    "expected": {"names": ["ping"], "fallback": False},
}
EXTRACTION = {
    "kind": "metadata-extraction",
    "input": {
        "method": "GET",
        "route": "/pings",
        "parameters": [{"name": "a b", "in": "cookie", "required": False, "schema": {"type": "string"}}],
        "auth": OPEN,
    },
    "expected": {"error": "invalid_cookie_name"},
}
INGESTION = {
    "kind": "openapi-ingestion",
    "input": {"document": {"openapi": "3.0.3", "info": {"title": "Pings", "version": "1"}, "paths": {}}},
    "expected": {"endpoints": [], "diagnostics": []},
}
MAPPING = {
    "kind": "argument-mapping",
    "input": {"template": {"method": "GET", "route": "/pings", "parameters": []}, "arguments": {}},
    "expected": {"pathAndQuery": "/pings"},
}
ERROR = {
    "kind": "error-mapping",
    "input": {"status": 404, "body": ""},
    "expected": {"error": "not_found", "message": "Nothing.", "retryable": False, "status": 404},
}
COMPLETE = {
    "a": CARD,
    "b": SEARCH,
    "c": DETAIL,
    "d": VISIBILITY,
    "e": NAMING,
    "f": RANKED,
    "g": EXTRACTION,
    "h": INGESTION,
    "i": MAPPING,
    "j": ERROR,
}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command on a folder with these fixtures; gives its exit status and its lines."""

    def run(fixtures, *arguments):
        for name, fixture in fixtures.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(fixture), encoding="utf-8")
        monkeypatch.setenv("SEZZLEE_CORPUS", str(tmp_path))
        status = corpus.main(list(arguments))
        return status, capsys.readouterr().out.splitlines()

    return run


def test_a_complete_corpus_is_accepted_wherever_its_files_lie(run, tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "card.json").write_text(json.dumps(CARD), encoding="utf-8")

    status, lines = run(COMPLETE)

    assert status == 0
    counts = {**dict.fromkeys(corpus.RUNNERS, "1/1"), "card": "2/2"}
    assert lines == [f"{kind}: {count}" for kind, count in counts.items()]


def test_every_kind_has_a_line(run):
    _, lines = run(COMPLETE)

    assert [line.split(":")[0] for line in lines] == list(corpus.RUNNERS)


def test_a_wrong_answer_is_named_and_refused(run):
    status, lines = run({**COMPLETE, "wrong": {**CARD, "expected": {"name": "pong"}}})

    assert status == 1
    assert lines[lines.index("card: 1/2") + 1] == "  wrong"


def test_the_difference_is_shown_on_request(run):
    _, lines = run({"wrong": {**SEARCH, "expected": {"names": ["ping"]}}}, "-v")

    assert lines[:2] == ["search: 0/1", "  wrong"]
    assert '    -    "ping"' in lines


def test_an_exception_is_a_failure_and_its_type_is_shown_on_request(run):
    status, lines = run({**COMPLETE, "broken": {"kind": "card", "input": {}, "expected": {}}}, "-v")

    assert status == 1
    assert "    KeyError: 'tool'" in lines


def test_an_unknown_kind_is_reported_and_refused(run):
    status, lines = run({**COMPLETE, "new": {"kind": "telepathy", "input": {}, "expected": {}}})

    assert status == 1
    assert lines[-1] == "telepathy: 0/1 (unknown kind)"


def test_a_kind_without_a_fixture_is_refused(run):
    status, lines = run({name: fixture for name, fixture in COMPLETE.items() if fixture is not DETAIL})

    assert status == 1
    assert "detail: 0/0 (no fixture)" in lines


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"document": {"swagger": "2.0"}}, "Swagger 2.0 is not read"),
        ({"options": {"hoistPathPrefix": "/api"}}, "prefixes are not hoisted: the host is the server"),
    ],
)
def test_a_pending_fixture_may_fail_but_says_why(run, changed, reason):
    expected = {"endpoints": [{"key": "GET /a", "descriptor": {"auth": {}}}], "diagnostics": []}
    pending = {**INGESTION, "input": {**INGESTION["input"], **changed}, "expected": expected}
    status, lines = run({**COMPLETE, "later": pending})

    assert status == 0
    assert f"  later: pending, {reason}" in lines


def test_a_fixture_that_is_not_pending_has_to_pass(run):
    wrong = {**INGESTION, "expected": {"endpoints": [], "diagnostics": [{"code": "no_such_code", "at": ""}]}}
    status, _ = run({**COMPLETE, "wrong": wrong})

    assert status == 1


def test_a_missing_folder_is_said_and_refused(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SEZZLEE_CORPUS", str(tmp_path / "nowhere"))

    assert corpus.main([]) == 2
    assert "set SEZZLEE_CORPUS" in capsys.readouterr().err
