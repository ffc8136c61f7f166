"""The pages say what the code does: nothing is missing there, and nothing is there that does not exist."""

import ast
import importlib
import json
import re
from argparse import _SubParsersAction
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import global_settings
from django.core.management import call_command, load_command_class
from django.core.management.base import BaseCommand
from django.test import Client
from drf_spectacular.settings import SPECTACULAR_DEFAULTS
from rest_framework.settings import DEFAULTS as REST_FRAMEWORK_DEFAULTS

from project.demo.accounts import ACCOUNTS
from sezzlee_mcp import conf
from sezzlee_mcp.catalog import markers
from sezzlee_mcp.clients import CLIENTS
from sezzlee_mcp.diagnostics import CODES
from sezzlee_mcp.invoke import messages
from sezzlee_mcp.protocol.eras import LEGACY_VERSIONS, MODERN_VERSIONS
from sezzlee_mcp.protocol.jsonrpc import Code
from sezzlee_mcp.testing import McpClient
from tests.docs import pages

PACKAGE = pages.ROOT / "sezzlee_mcp"
COMMANDS = sorted(path.stem for path in (PACKAGE / "management" / "commands").glob("[!_]*.py"))
PURE_PACKAGES = ["openapi", "catalog", "search", "invoke", "protocol"]
SETTINGS = pages.read("docs/settings.md")


def modules() -> list[Path]:
    """The modules of the package that hold something of their own."""
    found = (path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
    return sorted(path for path in found if path.parent.name != "migrations")


# -- settings and checks --


def test_every_setting_has_its_section_in_the_order_of_the_code():
    assert re.findall(r"^### `(\w+)`$", SETTINGS, re.MULTILINE) == list(conf.KEYS)


@pytest.mark.parametrize(("key", "name"), conf.KEYS.items())
def test_setting_is_documented_with_its_default_and_its_check(key, name):
    described = pages.section(SETTINGS, f"### `{key}`")
    fact = re.search(r"^Type: .+ · Default: `(.+)` · Check: `(sezzlee_mcp\.\w+)`$", described, re.MULTILINE)
    (problem,) = conf.problems({key: object()})

    assert fact is not None
    assert ast.literal_eval(fact[1]) == getattr(conf.Settings(), name)
    assert fact[2] == f"sezzlee_mcp.{problem.id}"


@pytest.mark.parametrize("key", conf.KEYS)
def test_setting_has_an_example_that_sets_it(key):
    (example,) = pages.blocks(pages.section(SETTINGS, f"### `{key}`"), "python")

    assert key in evaluated(example)


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_every_settings_dict_of_a_page_is_valid(page):
    examples = [block for block in pages.blocks(pages.read(str(page)), "python") if "SEZZLEE_MCP =" in block]

    assert [problem for example in examples for problem in conf.problems(evaluated(example))] == []


def test_readme_shows_a_settings_dict():
    assert any("SEZZLEE_MCP =" in block for block in pages.blocks(pages.read("README.md"), "python"))


def evaluated(example: str) -> Any:
    """The value that an example gives to SEZZLEE_MCP."""
    assigned = [node for node in ast.parse(example).body if isinstance(node, ast.Assign)]
    (value,) = (node.value for node in assigned if ast.unparse(node.targets[0]) == "SEZZLEE_MCP")
    return eval(compile(ast.Expression(value), "<example>", "eval"), {})  # noqa: S307 - our own pages


def test_every_check_id_is_explained_once():
    raised = {found for path in modules() for found in re.findall(r'"(?:sezzlee_mcp\.)?([EW]\d{3})"', path.read_text())}
    explained = [row[0].removeprefix("sezzlee_mcp.") for row in pages.rows(pages.section(SETTINGS, "## Check ids"))[1:]]

    assert explained == sorted(raised)


# -- commands --


@pytest.mark.parametrize("name", COMMANDS)
def test_command_is_documented_with_exactly_its_options(name):
    described = pages.section(pages.read("docs/commands.md"), f"## `{name}`")
    django_options = BaseCommand().create_parser("manage.py", name)._option_string_actions
    own = sorted(set(options_of(name)) - set(django_options))

    assert sorted(row[0].strip("`") for row in pages.rows(described) if row[0].startswith("`--")) == own
    assert all(option in described.partition("```\n")[2].partition("```")[0] for option in own)


def options_of(name: str) -> set[str]:
    """The options of a command and of its actions."""
    parser = load_command_class("sezzlee_mcp", name).create_parser("manage.py", name)
    actions = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    parsers = [parser, *(each for action in actions for each in action.choices.values())]
    return {option for each in parsers for option in each._option_string_actions}


def test_every_client_that_can_be_connected_is_named():
    described = pages.section(pages.read("docs/commands.md"), "## `sezzlee_connect`")
    (named,) = (row[1] for row in pages.rows(described) if row[0] == "`--client`")

    assert re.findall(r"`([\w-]+)`", named) == list(CLIENTS)


def test_evaluation_of_the_demo_is_shown_as_it_is_printed(db, capsys):
    call_command("loaddata", "users", "shop", verbosity=0)
    call_command("sezzlee_sync", verbosity=0)
    described = pages.section(pages.read("docs/commands.md"), "## `sezzlee_eval`")
    command, _, shown = pages.blocks(described, "")[1].removeprefix("$ manage.py ").partition("\n")
    name, cases = command.split()

    call_command(name, str(pages.ROOT / cases))

    assert capsys.readouterr().out == shown


def test_no_page_names_an_option_that_no_command_has():
    others = {"--snapshot-update", "--timeout-graceful-shutdown"}  # syrupy's and uvicorn's
    known = {option for name in COMMANDS for option in options_of(name)} | others
    named = {option for page in pages.PAGES for option in re.findall(r"(?<![\w-])--[a-z][\w-]+", pages.read(str(page)))}

    assert named - known == set()


# -- codes --


def test_every_diagnostic_code_is_explained_with_its_severity():
    explained = [tuple(row[:2]) for row in pages.rows(pages.read("docs/diagnostics.md")) if row[0] != "code"]

    assert sorted(explained) == sorted((code, severity.value) for code, (severity, _) in CODES.items())


def test_every_envelope_code_is_explained_with_whether_it_is_retryable():
    described = pages.read("docs/errors.md").partition("\n## ")[2]
    explained = {row[0]: row[2] for row in pages.rows(described) if row[0] != "code"}

    assert explained == {code: "yes" if code in messages.RETRYABLE else "no" for code in envelope_codes()}


def envelope_codes() -> set[str]:
    return {*messages.STANDARD, *(code for path in modules() for code in raised_codes(path))}


def raised_codes(path: Path) -> Iterator[str]:
    """The codes that a module gives to CallError, as texts or by the name of a constant of the module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        ast.unparse(node.targets[0]): node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "CallError":
            for given in (keyword.value for keyword in call.keywords if keyword.arg == "code"):
                code = given.value if isinstance(given, ast.Constant) else constants.get(ast.unparse(given))
                if code is not None:
                    yield code


def test_envelope_codes_are_found_however_they_are_written():
    assert {"unknown_tool", "response_too_large", "rate_limited"} <= envelope_codes()


def test_protocol_page_names_every_revision_and_every_error_code_of_the_wire():
    text = pages.read("docs/protocol.md")

    assert set(re.findall(r"\d{4}-\d{2}-\d{2}", text.partition("## Not implemented")[0])) == {
        *MODERN_VERSIONS,
        *LEGACY_VERSIONS,
    }
    assert set(re.findall(r"-32\d{3}", text)) == {str(int(code)) for code in Code}


def test_marker_members_are_those_that_the_code_reads():
    table = pages.section(pages.read("docs/howto.md"), "## Describe them")

    assert sorted(row[0].strip("`") for row in pages.rows(table)[1:]) == sorted(markers._MEMBERS)


# -- modules and public names --


def test_architecture_names_every_module_once():
    named = re.findall(r"`([\w/]+\.py)`", pages.read("docs/architecture.md").partition("## Where the code departs")[0])

    assert sorted(named) == sorted(str(path.relative_to(PACKAGE)) for path in modules())


@pytest.mark.parametrize("package", PURE_PACKAGES)
def test_public_names_of_a_package_are_those_that_it_exports(package):
    table = pages.section(pages.read("docs/api.md"), f"### sezzlee_mcp.{package}")
    named = [name for row in pages.rows(table)[1:] for name in re.findall(r"`(\w+)`", row[0])]

    assert sorted(named) == sorted(importlib.import_module(f"sezzlee_mcp.{package}").__all__)


def test_public_names_for_hosts_can_be_imported():
    table = pages.section(pages.read("docs/api.md"), "## For hosts")
    names = [row[0].strip("`").rpartition(".") for row in pages.rows(table)[1:]]

    assert [name for module, _, name in names if not is_importable(module, name)] == []
    assert {"McpClient", "is_sezzlee_request", "urls"} <= {name for _, _, name in names}


def is_importable(module: str, name: str) -> bool:
    importlib.import_module(module)
    try:
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return hasattr(importlib.import_module(module), name)
    return True


# -- what is named must exist --

TITLE = re.compile(r"[A-Z][A-Z_]{2,}")
# Words in capitals that are no setting: methods of HTTP, the dict itself, and a member of DATABASES.
OTHER_WORDS = {"ATOMIC_REQUESTS", "GET", "OPTIONS", "POST", "SEZZLEE_MCP"}


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_every_setting_or_variable_that_a_page_names_exists(page):
    named = {code.partition("=")[0] for code in pages.codes(pages.read(str(page)))}
    known = {
        *conf.KEYS,
        *dir(global_settings),
        *REST_FRAMEWORK_DEFAULTS,
        *SPECTACULAR_DEFAULTS,
        *variables(),
        *exported_names(),
        *OTHER_WORDS,
    }

    assert {name for name in named if TITLE.fullmatch(name)} - known == set()


def exported_names() -> set[str]:
    return {name for package in PURE_PACKAGES for name in importlib.import_module(f"sezzlee_mcp.{package}").__all__}


def variables() -> set[str]:
    """What the Makefile takes, and what the code of the repository reads from the environment."""
    made = re.findall(r"^([A-Z]+) \??[:=]", pages.read("Makefile"), re.MULTILINE)
    sources = [path for folder in ("project", "tests", "benchmarks") for path in (pages.ROOT / folder).rglob("*.py")]
    read = r'(?:environ(?:\.get|\.setdefault)?[\[(]|env\.\w+\()"([A-Z_]+)"'
    return {*made, *(name for path in sources for name in re.findall(read, path.read_text(encoding="utf-8")))}


def test_make_targets_of_the_pages_are_those_of_the_makefile():
    targets = set(re.findall(r"^([a-z][\w-]*):", pages.read("Makefile"), re.MULTILINE))
    named = {word for page in pages.PAGES for word in re.findall(r"`make ([\w-]+)", pages.read(str(page)))}

    assert named == targets


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_somewhere(page):
    broken = [target for target in pages.links(pages.read(str(page))) if not leads_somewhere(page, target)]

    assert broken == []


def leads_somewhere(page: Path, target: str) -> bool:
    name, _, fragment = target.partition("#")
    found = (page.parent / name).resolve() if name else page
    return found.is_file() and (not fragment or fragment in pages.anchors(found.read_text(encoding="utf-8")))


def test_readme_leads_to_every_page():
    linked = {target.partition("#")[0] for target in pages.links(pages.read("README.md"))}

    assert {str(page.relative_to(pages.ROOT)) for page in pages.PAGES} - {"README.md"} <= linked


# -- what an agent sees, as README shows it --


def test_readme_shows_what_the_demo_answers(db):
    call_command("loaddata", "users", "shop", verbosity=0)
    call_command("sezzlee_sync", verbosity=0)
    agent = McpClient(Client(), headers={"Authorization": f"Token {ACCOUNTS[0].token}"})
    calls = list(shown_calls())

    assert [tool for tool, _, _ in calls] == ["search_tools", "load_tool", "invoke_tool", "invoke_tool"]
    for tool, arguments, shown in calls:
        answer = json.dumps(agent.call(tool, arguments), ensure_ascii=False)
        assert re.fullmatch(".*".join(re.escape(part) for part in shown), answer), f"{tool} answers {answer}"


def shown_calls() -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """Each call of README's first block, with the pieces of its answer that are shown between dots."""
    for call in pages.blocks(pages.read("README.md"), "")[0].split("> ")[1:]:
        asked, _, answered = call.partition("\n< ")
        tool, _, arguments = asked.partition(" ")
        pieces = re.split(r"\s*\.\.\.\s*", " ".join(answered.split()))
        yield tool, json.loads(arguments), pieces


# -- permissions --


def test_every_permission_is_explained_and_every_explained_one_exists():
    models = [model._meta for model in apps.get_app_config("sezzlee_mcp").get_models()]
    of_rows = {f"{verb}_{model.model_name}" for model in models for verb in model.default_permissions}
    others = {name for model in models for name, _ in model.permissions}
    explained = pages.rows(pages.section(pages.read("docs/security.md"), "## What staff may do"))[1:]

    assert {name for row in explained for name in permissions(row[0])} == of_rows | others


def permissions(cell: str) -> set[str]:
    """``view_``, ``add_`` `tag` are the permissions of a model, any other name is one."""
    named = re.findall(r"`(\w+)`", cell)
    verbs = [name for name in named if name.endswith("_")]
    return {f"{verb}{name}" for name in named if name not in verbs for verb in verbs or [""]}


# -- threats --

THREAT_TESTS = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", pages.read("docs/security.md"))


@pytest.mark.parametrize(("path", "name"), THREAT_TESTS)
def test_threat_is_shown_by_a_test_that_exists(path, name):
    assert re.search(rf"^def {name}\(", (pages.ROOT / path).read_text(), re.MULTILINE)


@pytest.mark.parametrize("heading", ["## Threats", "## What a caller can make grow"])
def test_every_threat_and_every_bound_names_a_test(heading):
    threats = pages.section(pages.read("docs/security.md"), heading).splitlines()
    rows = [line for line in threats if line.startswith("|")][2:]

    assert rows
    assert all("::test_" in row for row in rows)
