"""sezzlee_curation: all that staff say as a file, and a file as all that staff say."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, ManagementUtility, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sezzlee_mcp import contracts
from sezzlee_mcp.models import (
    ArgumentCuration,
    Catalog,
    Revision,
    Tag,
    Variant,
)
from sezzlee_mcp.sync import sync
from tests.django.admin_pages import change_page, operation, page, save
from tests.django.test_admin_curation import APPLES, FRUIT, PEARS, added
from tests.factories import SuperuserFactory

EMPTY: dict[str, Any] = {
    "sezzlee_curation": 1,
    "operations": {},
    "tags": {},
    "selectionRules": [],
    "argumentRules": [],
    "visibilityPolicies": {},
}
# Everything that a file can say; written as an export writes it.
FULL: dict[str, Any] = {
    "sezzlee_curation": 1,
    "operations": {
        APPLES: {
            "expose": True,
            "title": "Apples",
            "description": "All apples – even the green ones.",
            "deadlineSeconds": 0.0,
            "budgetBytes": 4096,
            "familyParameter": "kind",
            "tags": ["Fruit", "Été"],
            "searchTerms": ["pomme", "apfel"],
            "annotations": {"readOnlyHint": True, "destructiveHint": False},
            "arguments": [
                {
                    "name": "colour",
                    "as": "shade",
                    "description": "Of the skin.",
                    "deprecatedAliases": ["tint", "hue"],
                    "aliasesUntil": "2027-01-31",
                },
                {"name": "size__in", "hidden": {"kind": "omit"}},
            ],
            "variants": [
                {
                    "name": "cooking_apples",
                    "description": "For pies.",
                    "key": "cooking",
                    "annotations": {"idempotentHint": True},
                    "arguments": [
                        {"name": "colour", "hidden": {"kind": "constant", "value": "green"}},
                        {"name": "size__in", "hidden": {"kind": "deferred", "source": "tenant"}},
                    ],
                },
                {"name": "eating_apples", "description": "To eat.", "key": "eating"},
            ],
        },
        PEARS: {"name": "list_pears", "tags": [], "searchTerms": []},
    },
    "tags": {"Fruit": "What grows on trees.", "Été": ""},
    "selectionRules": [
        {"decision": "exclude", "note": "For later."},
        {"route": "/pears/", "method": "GET", "decision": "include"},
    ],
    "argumentRules": [
        {"argument": "*__in", "description": "Several, with commas."},
        {"argument": "colour", "location": "query", "prefix": "q_"},
        {"route": "/figs/", "argument": "c*", "note": "As ever.", "hidden": {"kind": "constant", "value": None}},
    ],
    "visibilityPolicies": {
        "Fruiterers": {"rule": "staff", "tags": ["Fruit"], "routes": ["/pears/"], "operations": [APPLES]},
    },
}


@pytest.fixture(autouse=True)
def fruit(db: None, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {"EXPOSE_BY_DEFAULT": True, "PROVIDERS": {"tenant": "builtins.str"}}
    sync(FRUIT)


def run(*arguments: Any) -> str:
    out = io.StringIO()
    call_command("sezzlee_curation", *map(str, arguments), stdout=out, stderr=out)
    return out.getvalue()


def file(folder: Path, **sections: Any) -> Path:
    """A file of these sections; the others are empty."""
    path = folder / "curation.json"
    path.write_text(json.dumps({**EMPTY, **sections}), encoding="utf-8")
    return path


def load(folder: Path, *options: str, **sections: Any) -> str:
    return run("load", file(folder, **sections), *options)


def exported() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("export", "-"))
    return found


def contract() -> str:
    published = contracts.published()
    assert published is not None
    return published.to_text()


def refused(*arguments: Any) -> list[str]:
    """What is said of a file that cannot be loaded here, line by line."""
    with pytest.raises(CommandError) as error:
        run(*arguments)
    assert error.value.returncode == 1
    first, *problems = str(error.value).splitlines()
    assert first == "Nothing was loaded."
    return problems


def misused(*arguments: Any) -> bool:
    """Whether the command line ends with exit status 2."""
    with pytest.raises(SystemExit) as ended:
        ManagementUtility(["manage.py", "sezzlee_curation", *map(str, arguments)]).execute()
    return ended.value.code == 2


def test_nothing_said_is_an_empty_file() -> None:
    assert run("export", "-") == json.dumps(EMPTY, indent=2) + "\n"


def test_everything_that_a_file_says_is_exported_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "curation.json"
    path.write_text(json.dumps(FULL, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    run("load", path)

    assert run("export", "-") == path.read_text(encoding="utf-8")


def test_a_file_in_any_order_is_exported_in_one(tmp_path: Path) -> None:
    def turned(value: Any) -> Any:
        """Entries and members the other way round; texts in a list stay, since their order is said."""
        if isinstance(value, dict):
            return {key: turned(member) for key, member in reversed(value.items())}
        is_said = not isinstance(value, list) or all(isinstance(each, str) for each in value)
        return value if is_said else [turned(each) for each in reversed(value)]

    load(tmp_path, **turned(FULL))

    assert exported() == FULL
    assert run("export", "-") == json.dumps(FULL, indent=2, ensure_ascii=False) + "\n"


def test_a_second_load_writes_nothing(tmp_path: Path) -> None:
    load(tmp_path, **FULL)
    before = Catalog.objects.generation(), list(ArgumentCuration.objects.values()), Catalog.objects.edit()

    assert load(tmp_path, **FULL) == f"Staff say what the file says; generation {before[0]}.\n"
    assert (Catalog.objects.generation(), list(ArgumentCuration.objects.values()), Catalog.objects.edit()) == before


def test_what_a_file_does_not_say_is_taken_away(tmp_path: Path) -> None:
    load(tmp_path, **FULL)

    said = load(tmp_path, operations={PEARS: {"name": "list_pears", "title": "Pears"}}).splitlines()

    assert said == [
        "removed  tags  Fruit",
        "removed  tags  Été",
        "removed  selectionRules  exclude * **",
        "removed  selectionRules  include GET /pears/",
        "removed  argumentRules  *__in · **",
        "removed  argumentRules  query colour · **",
        "removed  argumentRules  c* · /figs/",
        "removed  visibilityPolicies  Fruiterers",
        "removed  operations  GET /apples/",
        "changed  operations  GET /pears/: searchTerms, tags, title",
        "Generation 3: 1 added, 2 removed, 1 changed; 3 breaking, 3 behavioural, 1 additive.",
    ]
    assert exported() == {**EMPTY, "operations": {PEARS: {"name": "list_pears", "title": "Pears"}}}


def test_an_unsaid_operation_is_as_the_document_has_it(tmp_path: Path) -> None:
    before = contract()
    load(tmp_path, **FULL)

    load(tmp_path)

    assert (contract(), Variant.objects.count(), ArgumentCuration.objects.count()) == (before, 0, 0)


def test_variants_keep_their_rows_by_their_names(tmp_path: Path) -> None:
    load(tmp_path, **FULL)
    before = dict(Variant.objects.values_list("name", "pk"))
    apples = FULL["operations"][APPLES]
    cooking, eating = apples["variants"]

    variants = [{**eating, "description": "Raw."}, {**cooking, "name": "pie_apples"}]
    load(tmp_path, **{**FULL, "operations": {APPLES: {**apples, "variants": variants}}})

    rows = {row.name: (row.pk, row.description) for row in Variant.objects.all()}
    assert rows["eating_apples"] == (before["eating_apples"], "Raw.")
    assert sorted(rows) == ["eating_apples", "pie_apples"]


def test_a_load_takes_one_query_for_each_further_operation(tmp_path: Path) -> None:
    def said_of(name: str, count: int) -> dict[str, Any]:
        records = [{"name": "colour", "as": "shade"}, {"name": "size__in", "hidden": {"kind": "omit"}}]
        variants = [{"name": f"{name}_{n}", "description": f"One of {count}.", "arguments": records} for n in range(3)]
        return {"description": f"Some {name}.", "tags": ["Fruit"], "arguments": records, "variants": variants}

    def queries(**names: str) -> int:
        load(tmp_path, tags={"Fruit": ""})
        with CaptureQueriesContext(connection) as asked:
            load(
                tmp_path, tags={"Fruit": ""}, operations={key: said_of(name, len(names)) for name, key in names.items()}
            )
        return len(asked)

    assert queries(apples=APPLES) + 1 == queries(apples=APPLES, pears=PEARS)


@pytest.mark.parametrize("option", ["--dry-run", "--check"])
def test_what_would_change_is_said_and_nothing_written(tmp_path: Path, option: str) -> None:
    before = run("export", "-"), Catalog.objects.edit(), Catalog.objects.generation()
    path, out = file(tmp_path, operations={PEARS: {"name": "list_pears"}}), io.StringIO()

    try:
        call_command("sezzlee_curation", "load", str(path), option, stdout=out)
    except CommandError as differs:
        assert (option, differs.returncode, str(differs)) == (
            "--check",
            1,
            f"Staff say something else here than {path}.",
        )
    else:
        assert option == "--dry-run"

    assert out.getvalue().splitlines() == [
        "added    operations  GET /pears/",
        "Would publish: 1 added, 1 removed, 0 changed; 0 breaking, 1 behavioural, 0 additive.",
    ]
    assert (run("export", "-"), Catalog.objects.edit(), Catalog.objects.generation()) == before


def test_check_of_what_staff_say_already_succeeds(tmp_path: Path) -> None:
    load(tmp_path, **FULL)

    assert load(tmp_path, "--check", **FULL) == "Staff say what the file says; generation 2.\n"


def test_a_load_is_published_once_and_stands_in_the_history(tmp_path: Path) -> None:
    load(tmp_path, tags={"Old": ""})
    ada = SuperuserFactory(username="ada")

    load(tmp_path, "--user", "ada", "--note", "As reviewed.", **FULL)

    revision = Revision.objects.latest()
    assert (revision.generation, revision.source, revision.actor, revision.note) == (2, "command", ada, "As reviewed.")
    logged = LogEntry.objects.values_list("user", "content_type__model", "object_repr", "action_flag", "change_message")
    assert sorted(logged) == [
        (ada.pk, "argumentrule", "*__in · **", 1, "As reviewed."),
        (ada.pk, "argumentrule", "c* · /figs/", 1, "As reviewed."),
        (ada.pk, "argumentrule", "query colour · **", 1, "As reviewed."),
        (ada.pk, "operation", APPLES, 2, f"{', '.join(sorted(FULL['operations'][APPLES]))}: As reviewed."),
        (ada.pk, "operation", PEARS, 2, "name, searchTerms, tags: As reviewed."),
        (ada.pk, "selectionrule", "exclude * **", 1, "As reviewed."),
        (ada.pk, "selectionrule", "include GET /pears/", 1, "As reviewed."),
        (ada.pk, "tag", "Fruit", 1, "As reviewed."),
        (ada.pk, "tag", "Old", 3, "As reviewed."),
        (ada.pk, "tag", "Été", 1, "As reviewed."),
        (ada.pk, "visibilitypolicy", "Fruiterers", 1, "As reviewed."),
    ]


def test_a_load_without_a_note_names_its_file(tmp_path: Path) -> None:
    load(tmp_path, operations={PEARS: {"name": "list_pears"}})

    revision = Revision.objects.latest()
    assert (revision.actor, revision.note) == (None, "sezzlee_curation load curation.json")


def test_what_agents_do_not_read_makes_no_generation(tmp_path: Path) -> None:
    assert load(tmp_path, tags={"Fruit": ""}).splitlines() == [
        "added    tags  Fruit",
        "Nothing changed for agents; generation 1.",
    ]


def test_a_held_catalog_is_loaded_and_not_published(tmp_path: Path) -> None:
    Catalog.objects.update(held_generation=1)

    said = load(tmp_path, operations={PEARS: {"description": "Ripe."}}).splitlines()

    assert said[1:] == [
        "Nothing changed for agents; generation 1.",
        "Held since a rollback, so not published: what changed of 1 tool(s). "
        "Staff end the hold on the admin's page of revisions.",
    ]
    assert operation(PEARS).description == "Ripe."


def test_report_as_json(tmp_path: Path) -> None:
    operations = {PEARS: {"name": "list_pears"}, "GET /figs/": {}}

    assert json.loads(load(tmp_path, "--skip-unknown", "--format", "json", operations=operations)) == {
        "entries": [{"section": "operations", "entry": PEARS, "kind": "added", "members": []}],
        "skipped": ["/operations/GET ~1figs~1: there is no operation 'GET /figs/' here."],
        "changes": {"added": ["list_pears"], "removed": ["pears"], "changed": []},
        "breaking": 0,
        "behavioural": 1,
        "additive": 0,
        "generation": 2,
        "withheld": [],
        "publishes": True,
    }


def test_operations_that_do_not_exist_here_are_refused_with_what_is_near(tmp_path: Path) -> None:
    policy = {"rule": "staff", "operations": ["GET /apple/", APPLES]}
    path = file(tmp_path, operations={"GET /pear/": {"expose": False}}, visibilityPolicies={"Office": policy})

    assert refused("load", path) == [
        "/visibilityPolicies/Office/operations/0: there is no operation 'GET /apple/' here. "
        "Did you mean 'GET /apples/'?",
        "/operations/GET ~1pear~1: there is no operation 'GET /pear/' here. Did you mean 'GET /pears/'?",
    ]
    assert exported() == EMPTY


def test_operations_that_do_not_exist_here_can_be_skipped(tmp_path: Path) -> None:
    policy = {"rule": "staff", "operations": ["GET /apple/", APPLES]}

    operations = {"GET /pear/": {"expose": False}}
    load(tmp_path, "--skip-unknown", operations=operations, visibilityPolicies={"Office": policy})

    assert exported() == {**EMPTY, "visibilityPolicies": {"Office": {"rule": "staff", "operations": [APPLES]}}}


def test_an_operation_that_left_the_document_keeps_what_is_said_of_it(tmp_path: Path) -> None:
    load(tmp_path, operations={PEARS: {"name": "list_pears"}})
    sync({**FRUIT, "paths": {"/apples/": FRUIT["paths"]["/apples/"]}})

    assert exported()["operations"] == {PEARS: {"name": "list_pears"}}
    load(tmp_path, operations={PEARS: {"name": "more_pears"}})
    sync(FRUIT)

    assert sorted(Revision.objects.latest().tools) == ["apples", "more_pears"]


def argument(**said: Any) -> dict[str, Any]:
    return {"operations": {PEARS: {"arguments": [{"name": "kind", "description": "A kind."}, said]}}}


PEARS_AT = "/operations/GET ~1pears~1"
REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "an argument that is not there": (
        argument(name="color", **{"as": "c"}),
        [
            f"{PEARS_AT}/arguments/1: GET /pears/: Curation names the argument color, "
            "which the operation does not have. Names are told apart by case."
        ],
    ),
    "a constant of another type": (
        argument(name="colour", hidden={"kind": "constant", "value": [1]}),
        [
            f"{PEARS_AT}/arguments/1: GET /pears/: "
            'The constant of the hidden argument colour does not fit: the operation takes {"type":"string"}.'
        ],
    ),
    "an argument of a variant": (
        {
            "operations": {
                PEARS: {
                    "variants": [
                        {"name": "a", "description": "A."},
                        {"name": "b", "description": "B.", "arguments": [{"name": "kind", "hidden": {"kind": "omit"}}]},
                    ]
                }
            }
        },
        [
            f"{PEARS_AT}/variants/1/arguments/0: GET /pears/: Variant b: "
            "The argument kind is required, so it cannot be hidden without a value."
        ],
    ),
    "a rule that costs a tool": (
        {"argumentRules": [{"argument": "colour", "hidden": {"kind": "constant", "value": [1]}}]},
        [
            f"/: GET /{name}/: The constant of the hidden argument colour does not fit: "
            'the operation takes {"type":"string"}.'
            for name in ("apples", "pears")
        ],
    ),
    "a tag that is not there": (
        {"operations": {PEARS: {"tags": ["Fruits"]}}, "tags": {"Fruit": ""}},
        [f"{PEARS_AT}/tags/0: there is no tag 'Fruits' in tags. Did you mean 'Fruit'?"],
    ),
    "tags that read alike": (
        {"tags": {"Été": "", "ete": ""}},
        ["/tags/ete: There is already a tag that reads the same once case and accents are ignored."],
    ),
    "a tag that reads as nothing": (
        {"tags": {"\u0301": ""}},
        ["/tags/\u0301: Nothing is left of this name once accents are ignored."],
    ),
    "a group that is not there": (
        {"visibilityPolicies": {"Office": {"rule": "group", "subject": "office", "routes": ["**"]}}},
        ["/visibilityPolicies/Office/subject: There is no group of this name."],
    ),
    "a rule of no kind": (
        {"visibilityPolicies": {"Office": {"rule": "boss", "routes": ["**"]}}},
        ["/visibilityPolicies/Office/rule: Value 'boss' is not a valid choice."],
    ),
    "a method that is none": (
        {"selectionRules": [{"decision": "include", "method": "FETCH"}]},
        ["/selectionRules/0/method: There is no such method."],
    ),
    "a deadline out of range": (
        {"operations": {PEARS: {"deadlineSeconds": -1}}},
        [f"{PEARS_AT}/deadlineSeconds: Ensure this value is greater than or equal to 0."],
    ),
    "a name that is too long": (
        {"operations": {PEARS: {"name": "p" * 257}}},
        [f"{PEARS_AT}/name: Ensure this value has at most 256 characters (it has 257)."],
    ),
    "a day that is none": (
        argument(name="colour", aliasesUntil="soon"),
        [
            f"{PEARS_AT}/arguments/1/aliasesUntil: "
            "“soon” value has an invalid date format. It must be in YYYY-MM-DD format."
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_hold_here_is_refused_with_its_place(tmp_path: Path, case: str) -> None:
    sections, problems = REFUSED[case]
    load(tmp_path, operations={APPLES: {"title": "Apples"}})
    before = run("export", "-"), Catalog.objects.generation()

    assert refused("load", file(tmp_path, **sections)) == problems
    assert refused("load", file(tmp_path, **sections), "--dry-run") == problems
    assert (run("export", "-"), Catalog.objects.generation()) == before


CLASH: dict[str, Any] = {
    "openapi": "3.0.3",
    "paths": {
        "/clash/": {
            "post": {
                "operationId": "clash",
                "parameters": [{"name": "body", "in": "query", "schema": {"type": "string"}}],
                "requestBody": {"content": {"application/json": {"schema": {"type": "array", "items": {}}}}},
                "responses": {"200": {"description": "Yes."}},
            }
        }
    },
}


def test_what_the_document_makes_no_tool_can_still_be_described(tmp_path: Path, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {}
    sync(CLASH, force=True)
    rules = [{"decision": "include"}]

    load(tmp_path, operations={"POST /clash/": {"description": "Two bodies."}}, selectionRules=rules)

    assert operation("POST /clash/").description == "Two bodies."


def test_what_can_be_no_tool_is_not_exposed(tmp_path: Path, settings: Settings) -> None:
    settings.SEZZLEE_MCP = {}
    sync(CLASH, force=True)

    assert refused("load", file(tmp_path, operations={"POST /clash/": {"expose": True}})) == [
        "/operations/POST ~1clash~1: POST /clash/: Two arguments would be named body."
    ]


# -- the same through the pages of the admin --


def test_pages_and_files_have_the_same_effect(tmp_path: Path, client: Client) -> None:
    client.force_login(SuperuserFactory())
    nothing = contract()
    save(client, page("tag", "add"), name="Fruit", description="What grows on trees.")
    save(client, page("selectionrule", "add"), route="/pears/", method="GET", decision="include", note="Now.")
    save(client, page("argumentrule", "add"), argument="*__in", hidden="omit", note="Too many.")
    save(
        client,
        change_page(APPLES),
        title="Apples",
        description="Every apple.\r\nEven green ones.",
        overrides_tags="on",
        tags=[Tag.objects.get().pk],
        overrides_search_terms="on",
        search_terms="pomme\r\napfel",
        destructive_hint="false",
        deadline_seconds="2.5",
        budget_bytes="4096",
        family_parameter="kind",
        **added("arguments", {"name": "colour", "agent_name": "shade", "deprecated_aliases": "tint\r\nhue"}),
        **added(
            "variants",
            {"name": "cooking_apples", "description": "For pies.", "key": '"cooking"'},
            {"name": "eating_apples", "description": "To eat.", "key": '"eating"'},
        ),
    )
    cooking = Variant.objects.get(name="cooking_apples")
    save(
        client,
        page("variant", "change", cooking.pk),
        read_only_hint="true",
        **added("arguments", {"name": "colour", "hidden": "constant", "constant": '"green"'}),
    )
    save(client, change_page(PEARS), name="list_pears")
    save(client, page("visibilitypolicy", "add"), name="Office", rule="staff", operations=[operation(PEARS).pk])
    by_pages, written = contract(), exported()
    assert by_pages != nothing
    assert written == {
        "sezzlee_curation": 1,
        "operations": {
            APPLES: {
                "title": "Apples",
                "description": "Every apple.\nEven green ones.",
                "deadlineSeconds": 2.5,
                "budgetBytes": 4096,
                "familyParameter": "kind",
                "tags": ["Fruit"],
                "searchTerms": ["pomme", "apfel"],
                "annotations": {"destructiveHint": False},
                "arguments": [{"name": "colour", "as": "shade", "deprecatedAliases": ["tint", "hue"]}],
                "variants": [
                    {
                        "name": "cooking_apples",
                        "description": "For pies.",
                        "key": "cooking",
                        "annotations": {"readOnlyHint": True},
                        "arguments": [{"name": "colour", "hidden": {"kind": "constant", "value": "green"}}],
                    },
                    {"name": "eating_apples", "description": "To eat.", "key": "eating"},
                ],
            },
            PEARS: {"name": "list_pears"},
        },
        "tags": {"Fruit": "What grows on trees."},
        "selectionRules": [{"route": "/pears/", "method": "GET", "decision": "include", "note": "Now."}],
        "argumentRules": [{"argument": "*__in", "note": "Too many.", "hidden": {"kind": "omit"}}],
        "visibilityPolicies": {"Office": {"rule": "staff", "operations": [PEARS]}},
    }

    load(tmp_path)
    assert (contract(), exported()) == (nothing, EMPTY)
    load(tmp_path, **written)

    assert (contract(), exported()) == (by_pages, written)


# -- files --


def test_export_to_a_file_is_what_it_prints(tmp_path: Path) -> None:
    load(tmp_path, **FULL)

    run("export", tmp_path / "curation.json")

    assert (tmp_path / "curation.json").read_bytes() == run("export", "-").encode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "It is no JSON"),
        ("[]", "It has no member sezzlee_curation"),
        (json.dumps({**EMPTY, "operation": {}}), "/operation: there is no such member. Did you mean 'operations'?"),
    ],
)
def test_a_file_that_is_no_curation_is_misuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    path = tmp_path / "curation.json"
    path.write_text(text, encoding="utf-8")

    assert misused("load", path)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("load", "no/such/file.json"), "no/such/file.json cannot be read: No such file or directory."),
        (("export", "no/such/folder/curation.json"), "no/such/folder/curation.json cannot be written: No such file"),
        (("load", "FILE", "--user", "nobody"), "There is no user 'nobody'."),
        (("load", "FILE", "--note", "n" * 501), "A note has at most 500 characters, and this has 501."),
    ],
)
def test_command_that_is_called_wrongly_is_misuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    path = file(tmp_path, tags={"Fruit": ""})

    assert misused(*(path if each == "FILE" else each for each in arguments))
    assert said in capsys.readouterr().err
