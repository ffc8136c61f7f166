"""sezzlee_contract: a catalog as a file, and what changed since that was written."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, ManagementUtility, call_command
from pytest_django import Settings

from sezzlee_mcp.models import Catalog, Operation
from sezzlee_mcp.publishing import publish
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import LIBRARY, RULES

pytestmark = pytest.mark.django_db

BOOKS = "GET /books/"


@pytest.fixture
def library(settings: Settings) -> None:
    settings.SEZZLEE_MCP = RULES
    sync(LIBRARY)


def run(*arguments: Any) -> str:
    out = io.StringIO()
    call_command("sezzlee_contract", *map(str, arguments), stdout=out)
    return out.getvalue()


def exported(folder: Path, **tools: Any) -> Path:
    """The contract of what is published, with ``tools`` in place of those of the same names; None leaves one out."""
    contract = json.loads(run("export", "-"))
    contract["tools"] = {name: shape for name, shape in {**contract["tools"], **tools}.items() if shape is not None}
    path = folder / "contract.json"
    path.write_text(json.dumps(contract), encoding="utf-8")
    return path


def shape(description: str = "A tool.", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [], "additionalProperties": False}
    return {"description": description, "inputSchema": schema, "annotations": {}}


def curate(**choices: Any) -> None:
    Operation.objects.filter(key=BOOKS).update(**choices)
    publish(source="admin")


def test_export_writes_what_agents_load_in_order(library: None) -> None:
    assert json.loads(run("export", "-")) == {
        "sezzlee_contract": 1,
        "tools": {
            "books_create": {
                "annotations": {"destructiveHint": False},
                "description": "Add a book.",
                "inputSchema": {"additionalProperties": False, "properties": {}, "required": [], "type": "object"},
            },
            "books_list": {
                "annotations": {"idempotentHint": True, "readOnlyHint": True, "title": "List books"},
                "description": "All books.",
                "inputSchema": {"additionalProperties": False, "properties": {}, "required": [], "type": "object"},
            },
        },
    }


def test_export_to_a_file_is_what_it_prints(library: None, tmp_path: Path) -> None:
    run("export", tmp_path / "contract.json")

    assert (tmp_path / "contract.json").read_bytes() == run("export", "-").encode()


def test_export_is_the_same_after_a_publish_that_gave_the_old_catalog_back(library: None) -> None:
    before = run("export", "-")
    curate(description="Other.")
    curate(description="")

    assert (run("export", "-"), Catalog.objects.generation()) == (before, 3)


def test_check_of_an_equal_catalog_says_so(library: None, tmp_path: Path) -> None:
    path = exported(tmp_path)

    assert run("check", path) == f"Nothing changed since {path}.\n"


def test_check_prints_what_breaks_nobody_and_succeeds(library: None, tmp_path: Path) -> None:
    path = exported(tmp_path, books_create=None)
    curate(description="Every book.")

    assert run("check", path).splitlines() == [
        "behavioural  books_list  /description",
        '    description was "All books." and is "Every book.". (old agent on new server, new agent on old server)',
        "additive  books_create  /",
        "    The tool is new. (new agent on old server)",
        "0 breaking, 1 behavioural, 1 additive",
    ]


def test_check_fails_on_what_breaks_an_agent(library: None, tmp_path: Path) -> None:
    path = exported(tmp_path, gone=shape(), books_list=shape("All books.", page={"type": "integer"}))

    with pytest.raises(CommandError, match=r"^2 breaking changes\.$") as error:
        run("check", path)
    assert error.value.returncode == 1


def test_a_renamed_tool_breaks_nobody_while_its_old_name_leads_to_it(library: None, tmp_path: Path) -> None:
    path = exported(tmp_path)
    curate(name="find_books")

    assert "behavioural  find_books  /name" in run("check", path)


def test_check_as_json(library: None, tmp_path: Path) -> None:
    path = exported(tmp_path, books_create=None)

    assert json.loads(run("check", path, "--format", "json")) == {
        "breaking": 0,
        "behavioural": 0,
        "additive": 1,
        "changes": [
            {
                "class": "additive",
                "kind": "tool_added",
                "tool": "books_create",
                "pointer": "",
                "concerns": ["new agent on old server"],
                "message": "The tool is new.",
            }
        ],
    }


def test_check_as_annotations_of_github(library: None, tmp_path: Path) -> None:
    path = exported(tmp_path, books_create=None)
    curate(description="100% of the\nbooks, sorted: all.")

    assert run("check", path, "--format", "github").splitlines() == [
        f"::warning file={path},title=behavioural%3A books_list::/description: "
        'description was "All books." and is "100%25 of the\\nbooks, sorted: all.".',
        f"::notice file={path},title=additive%3A books_create::/: The tool is new.",
    ]


def test_candidate_is_what_a_sync_would_publish_and_nothing_is_written(settings: Settings, tmp_path: Path) -> None:
    settings.ROOT_URLCONF = "tests.testapp.urls"
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True}
    path = tmp_path / "contract.json"

    run("export", path, "--candidate")

    assert (Operation.objects.count(), Catalog.objects.generation()) == (0, 0)
    sync()
    assert run("check", path) == run("check", path, "--candidate") == f"Nothing changed since {path}.\n"
    assert path.read_text(encoding="utf-8") == run("export", "-")


def test_nothing_published_is_no_empty_contract(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Nothing is published yet"):
        run("export", tmp_path / "contract.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "It is no JSON"),
        ("[]", "It has no member sezzlee_contract"),
        ('{"sezzlee_contract": 2, "tools": {}}', "It is of version 2, and this release reads version 1"),
        ('{"sezzlee_contract": 1}', "Its member tools is not an object"),
        ('{"sezzlee_contract": 1, "tools": {"a/b": []}}', "What stands at /tools/a~1b is not"),
        ('{"sezzlee_contract": 1, "tools": {"a": {}}}', "What stands at /tools/a/description is not"),
        ('{"sezzlee_contract": NaN, "tools": {}}', "NaN is no JSON number"),
        ('{"sezzlee_contract": 1, "tools": {"\\ud800": 1}}', "It is no JSON"),
        ("[" * 100_000, "It is nested too deeply"),
        ('{"sezzlee_contract": true, "tools": {}}', "It is of version true, and this release reads version 1"),
        ('{"sezzlee_contract": 1, "tools": {"a": {}, "a": {}}}', "an object has the member 'a' twice"),
    ],
)
def test_a_file_that_is_no_contract_is_misuse(
    library: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    path = tmp_path / "contract.json"
    path.write_text(text, encoding="utf-8")

    assert misused("check", path)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text"},
        {"minimum": "1"},
        {"pattern": "("},
        {"items": []},
        {"anyOf": {}},
        {"properties": {"a": 1}},
        {"patternProperties": {"(": {}}},
        {"required": "a"},
        {"$ref": 1},
        {"enum": []},
    ],
)
def test_a_schema_that_cannot_be_compared_is_misuse(
    library: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], schema: dict[str, Any]
) -> None:
    path = exported(tmp_path, books_list=shape(page=schema))

    assert misused("check", path)
    assert "What stands at /tools/books_list/inputSchema/properties/page" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "no/such/file.json"), "no/such/file.json cannot be read: No such file or directory."),
        (("check", "FOLDER"), "cannot be read: Is a directory."),
        (("export", "no/such/folder/contract.json"), "contract.json cannot be written: No such file or directory."),
    ],
)
def test_a_place_that_cannot_be_read_or_written_is_misuse(
    library: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert misused(*(tmp_path if each == "FOLDER" else each for each in arguments))
    error = capsys.readouterr().err
    assert (said in error, "Errno" in error) == (True, False)


def given_on_stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))


def test_a_contract_is_read_from_stdin(library: None, monkeypatch: pytest.MonkeyPatch) -> None:
    given_on_stdin(monkeypatch, run("export", "-").encode())
    assert run("check", "-") == "Nothing changed since -.\n"


def test_what_is_not_utf8_on_stdin_is_misuse(
    library: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given_on_stdin(monkeypatch, run("export", "-").replace("All books.", "Été").encode("latin-1"))
    assert misused("check", "-")
    assert "- is no contract.\nIt is not in UTF-8: byte" in capsys.readouterr().err


def misused(*arguments: Any) -> bool:
    """Whether the command line ends with exit status 2."""
    with pytest.raises(SystemExit) as ended:
        ManagementUtility(["manage.py", "sezzlee_contract", *map(str, arguments)]).execute()
    return ended.value.code == 2
