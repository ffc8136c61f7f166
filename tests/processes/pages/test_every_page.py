"""Every page of the admin in a browser, over a large catalog that staff have curated: what it asks, who can use it."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.django import admin_requests
from tests.processes.browser import needs_browser
from tests.processes.pages.conftest import HEIGHT, NARROW, WIDE, Staff, serving

ADMIN = "/admin/sezzlee_mcp"
CHECKS = (Path(__file__).parent / "checks.js").read_text(encoding="utf-8")
QUERIES = 30
REPEATED = 4  # of one query
CURATE = "from tests.processes.pages.curated import curate; curate({!r})"


def of_rows(model: str, *rows: str, **others: list[str]) -> dict[str, list[str]]:
    """The addresses of the pages that Django makes of a model, by the names of their rows."""
    return {
        f"{model}_changelist": [f"{model}/"],
        f"{model}_change": [f"{model}/{{{row}}}/change/" for row in rows],
        **{f"{model}_{kind}": [f"{model}/{{{rows[0]}}}/{kind}/"] for kind in ("history", "delete")},
        f"{model}_add": [f"{model}/add/"],
        f"{model}_old_address": [f"{model}/{{{rows[0]}}}/"],
        **others,
    }


# The name of each page of the app -> where it is, once or in several states.
ADDRESSES: Mapping[str, list[str]] = {
    **of_rows(
        "operation",
        *("rich", "family", "bare", "held"),
        operation_changelist=[
            *(
                "operation/",
                "operation/?absent=no&description=missing",
                "operation/?q=findings",
                "operation/?q=nothing",
            ),
        ],
    ),
    **{f"operation_many_{edit}": [f"operation/many/{edit}/"] for edit in ("expose", "hide", "inherit")},
    **{f"operation_many_{edit}": [f"operation/many/{edit}/"] for edit in ("tags", "terms", "replace")},
    "operation_try_search": [
        "operation/try/search/",
        "operation/try/search/?query=list+findigs&limit=20&sought=babybuddy_bmi_list",
        "operation/try/search/?query=findings&tags=Tag+1&agent=anonymous",
        "operation/try/search/?query=findings&sought=nothing&agent=user&user=nobody",
    ],
    "operation_try_tool": [
        "operation/try/tool/",
        "operation/try/tool/?name=findings_1&agent=user&user=admin",
        "operation/try/tool/?name=nothing",
    ],
    **of_rows("variant", "variant", "member"),
    **of_rows("tag", "tag"),
    **of_rows("selectionrule", "selectionrule"),
    **of_rows("argumentrule", "argumentrule", "hiding"),
    **of_rows("visibilitypolicy", "policy"),
    **of_rows("toolalias", "toolalias"),
    **of_rows("searchcase", "searchcase"),
    "searchcase_run": ["searchcase/run/", "searchcase/run/?against=1"],
    "searchcase_load": ["searchcase/load/"],
    "searchcase_export": ["searchcase/export/"],
    **of_rows("revision", "generation"),
    "revision_compare": ["revision/compare/", "revision/compare/?old=1&new={generation}"],
    "revision_publish": ["revision/publish/"],
    "revision_resume": ["revision/resume/?operation={held}"],
    "revision_roll_back": ["revision/1/roll-back/", "revision/1/roll-back/?operation={rich}"],
    **of_rows("catalog", "catalog"),
    "catalog_sync": ["catalog/sync/"],
    **of_rows("diagnostic", "diagnostic"),
    **of_rows("tooluse", "tooluse"),
    **of_rows("vainword", "vainword"),
}
# What nobody can add, change or delete by hand; what leads to another page; what is no page.
SHUT = {
    *("operation_add", "operation_delete", "variant_add", "toolalias_add"),
    *(f"{model}_{kind}" for model in ("catalog", "diagnostic", "revision", "tooluse") for kind in ("add", "delete")),
    "vainword_add",
}
LEADING_AWAY = {name for name in ADDRESSES if name.endswith("_old_address") or "_many_" in name}
DOWNLOADS = {"searchcase_export"}
SHOWN = [address for name in sorted(ADDRESSES.keys() - SHUT - LEADING_AWAY - DOWNLOADS) for address in ADDRESSES[name]]


# The names of fields -> what is typed into them, before a preview and before a save that is refused.
FORMS: list[tuple[str, dict[str, str], dict[str, str]]] = [
    ("operation/{rich}/change/", {"description": "Short."}, {"family_parameter": "nothing"}),
    ("variant/{variant}/change/", {"description": "Short."}, {"name": "findings_2"}),
    ("tag/{tag}/change/", {"name": "Renamed"}, {"name": "tag 2"}),
    ("selectionrule/add/", {"route": "/netbox/**", "decision": "exclude"}, {"route": "/somewhere/1/**"}),
    ("argumentrule/add/", {"argument": "limit", "hidden": "omit"}, {"argument": "limit", "hidden": "constant"}),
    ("visibilitypolicy/{policy}/change/", {"tags": "Tag 2"}, {"subject": "nothing"}),
    ("toolalias/{toolalias}/change/", {"until": "2099-12-31"}, {"until": "never"}),
    ("searchcase/{searchcase}/change/", {}, {"expected": "nothing"}),
]
# What is typed into the page that an action leads to.
EDITS = {
    "tag": {"words": "Tag 2"},
    "set_terms": {"words": "word"},
    "find_and_replace": {"find": "e", "replacement": "E"},
}

ALIKE = {"operation.expose", "operation.inherit"}  # their page is that of hiding
ACTIONS = sorted(admin_requests.ACTIONS.keys() - ALIKE)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the curated site says which rows its pages are of."""
    return tmp_path_factory.mktemp("rows") / "rows.json"


@pytest.fixture(scope="module")
def large_site(document: Path, file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose staff have curated much."""
    with serving("curated", document, tmp_path_factory, ["shell", "-c", CURATE.format(str(file))]) as url:
        yield url


@pytest.fixture
def to(large_site: str, file: Path) -> Callable[[str], str]:
    """The address of a page on the curated site."""
    rows = json.loads(file.read_text(encoding="utf-8"))
    return lambda address: f"{ADMIN}/{address.format_map(rows)}"


def faults(staff: Staff) -> list[str]:
    """What is wrong with the page that is shown, on a wide screen and on a narrow one, by day and by night."""
    assert staff.answer is not None
    asked = {name: int(staff.answer.headers[name]) for name in ("x-queries", "x-repeated")}
    found = [] if staff.answer.status == 200 else [f"answers {staff.answer.status}"]
    found += [f"asks {asked}"] if asked["x-queries"] > QUERIES or asked["x-repeated"] > REPEATED else []
    found += staff.faults
    staff.page.emulate_media(color_scheme="light")
    staff.page.set_viewport_size({"width": WIDE, "height": HEIGHT})
    found += staff.page.evaluate(CHECKS, ["labels", "keyboard", "contrast"])
    staff.page.emulate_media(color_scheme="dark")
    found += [f"at night {fault}" for fault in staff.page.evaluate(CHECKS, ["contrast"])]
    staff.page.set_viewport_size({"width": NARROW, "height": HEIGHT})
    return found + list(staff.page.evaluate(CHECKS, ["overflow"]))


def fill(page: Page, typed: Mapping[str, str]) -> None:
    for name, value in typed.items():
        field = page.locator(f"#id_{name}")
        field.evaluate("field => field.closest('details')?.setAttribute('open', '')")
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def test_every_page_has_its_address() -> None:
    assert ADDRESSES.keys() == admin_requests.pages()


@needs_browser
@pytest.mark.parametrize("address", SHOWN)
def test_a_page_can_be_used(staff: Staff, to: Callable[[str], str], address: str) -> None:
    staff.go(to(address))

    assert faults(staff) == []


@needs_browser
@pytest.mark.parametrize(("address", "previewed", "refused"), FORMS, ids=[address for address, *_typed in FORMS])
def test_a_preview_and_a_refusal_can_be_used(
    staff: Staff, to: Callable[[str], str], address: str, previewed: dict[str, str], refused: dict[str, str]
) -> None:
    staff.go(to(address))
    if previewed:
        fill(staff.page, previewed)
        staff.page.get_by_role("button", name="Preview").first.click()
        expect(staff.page.locator(".sezzlee-preview")).to_be_visible()
        assert faults(staff) == []

    fill(staff.page, refused)
    staff.page.get_by_role("button", name="Save", exact=True).first.click()
    expect(staff.page.locator(".errornote")).to_be_visible()
    assert faults(staff) == []


@needs_browser
@pytest.mark.parametrize("action", ACTIONS)
def test_the_page_of_an_action_can_be_used(staff: Staff, to: Callable[[str], str], action: str) -> None:
    model, _, verb = action.partition(".")
    staff.go(to(f"{model}/"))
    for box in staff.page.locator(".action-select").all()[:10]:
        box.check()
    staff.page.locator("select[name=action]").first.select_option(verb)
    staff.page.get_by_role("button", name="Go", exact=True).first.click()
    if verb in EDITS:
        assert faults(staff) == []
        fill(staff.page, EDITS[verb])
        staff.page.get_by_role("button", name="Preview").click()

    assert faults(staff) == []
