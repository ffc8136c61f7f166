"""Files of JSON that people keep: whatever no program wrote is refused with a sentence about it."""

import json
from typing import Any

import pytest

from sezzlee_mcp.errors import FileUnreadable
from sezzlee_mcp.json_files import read_exported, read_json

NONE = "It has no member drawing. Write one with drawing export."


def problems(text: str | bytes) -> tuple[str, ...]:
    with pytest.raises(FileUnreadable) as unreadable:
        read_exported(text, command="drawing", version=1)
    return unreadable.value.problems


@pytest.mark.parametrize(
    "value", [None, [], {"a": 1, "b": {"a": 2}}, "Œuvre 😀", 10**30, -0.5, "\0", {"a": [{}, True, 1e300]}]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_json_is_read_as_it_stands(value: Any, encoding: str) -> None:
    assert read_json(json.dumps(value, ensure_ascii=False).encode(encoding)) == value
    assert read_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "It is no JSON: Expecting value: line 1 column 1 (char 0)."),
        (b"\xff\xfe{\0}\0", "It is not in UTF-8: byte 1 begins no character."),
        (b'{"a": "caf\xe9"}', "It is not in UTF-8: byte 11 begins no character."),
        ('{"drawing": NaN}', "It is no JSON: NaN is no JSON number."),
        ('{"drawing": -Infinity}', "It is no JSON: -Infinity is no JSON number."),
        ('{"drawing": 1e999}', "It is no JSON: 1e999 is larger than any number that is read."),
        ('{"a": {"b": 1, "c": 2, "b": 1}}', "It is no JSON: an object has the member 'b' twice."),
        ('{"a": "\\ud800"}', "It is no JSON: a text holds half of a surrogate pair."),
        ("[" * 100_000, "It is nested too deeply to be read."),
        ("null", NONE),
        ('{"drawings": 1}', NONE),
    ],
)
def test_what_no_export_wrote_is_said(text: str | bytes, problem: str) -> None:
    assert problems(text) == (problem,)


@pytest.mark.parametrize("version", [2, 0, True, 1.0, "1", None, [1]])
def test_another_version_is_said(version: Any) -> None:
    assert problems(json.dumps({"drawing": version})) == (
        f"It is of version {json.dumps(version)}, and this release reads version 1. "
        "Write one with drawing export of this release.",
    )


def test_the_members_of_an_export_are_those_beside_its_version() -> None:
    assert read_exported(b'{"drawing": 1, "lines": [1]}', command="drawing", version=1) == {"lines": [1]}
