"""docs/walkthrough.md, taken step by step in a browser; what is clicked and typed is read from there."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.docs import pages
from tests.processes.browser import needs_browser
from tests.processes.pages.conftest import Staff

TEXT = pages.read("docs/walkthrough.md")
CATALOG = "/admin/sezzlee_mcp"
STEPS: dict[str, Callable[[Staff], None]] = {}


def step(function: Callable[[Staff], None]) -> Callable[[Staff], None]:
    """A step, under the heading that its name is."""
    STEPS[function.__name__.replace("_", " ").capitalize()] = function
    return function


def table(heading: str) -> list[list[str]]:
    """The rows of the step's table, as they are typed."""
    _head, *rows = pages.rows(pages.section(TEXT, f"## {heading}"))
    return [[cell.strip("`") for cell in row] for row in rows]


def open_list(page: Page, models: str) -> None:
    page.get_by_role("link", name=models, exact=True).first.click()


def figure(page: Page, label: str) -> int:
    """The number of the survey that is called so."""
    (text,) = page.locator(".sezzlee-figures a", has_text=re.compile(rf"^\s*\d+\s+{label}\s*$")).all_inner_texts()
    return int(text.split()[0])


def marks(page: Page) -> list[str]:
    """How many changes there are of each class."""
    return page.locator("p > .sezzlee-mark").all_inner_texts()


@step
def look_at_the_catalog(staff: Staff) -> None:
    staff.go("/admin/")
    open_list(staff.page, "Catalog")
    assert (figure(staff.page, "missing"), "431 tools have none" in TEXT) == (431, True)
    staff.shoot("walk-survey")


@step
def mend_the_worst_descriptions(staff: Staff) -> None:
    page, rows = staff.page, table("Mend the worst descriptions")
    worst = page.get_by_role("heading", name="Descriptions, the worst first").locator("~ .module").first
    assert worst.get_by_role("link").all_inner_texts()[: len(rows)] == [tool for tool, _ in rows]
    for tool, description in rows:
        page.get_by_role("link", name=tool, exact=True).click()
        page.get_by_label("Description:").first.fill(description)
        page.get_by_label("Note:").fill("The worst descriptions")
        page.get_by_role("button", name="Save", exact=True).first.click()
        expect(page.get_by_role("link", name=tool, exact=True)).to_have_count(0)
    open_list(page, "Catalog")
    assert (figure(page, "missing"), "421 have none" in TEXT) == (421, True)


@step
def hide_filters_by_one_rule(staff: Staff) -> None:
    page = staff.page
    open_list(page, "Argument rules")
    page.get_by_role("link", name="Add argument rule").click()
    (_, route), (_, argument), (_, hidden) = table("Hide filters by one rule")
    page.get_by_label("Route:").fill(route)
    page.get_by_label("Argument:").fill(argument)
    page.get_by_label("Shown or hidden:").select_option(hidden)
    page.get_by_role("button", name="Preview").first.click()
    preview = page.locator(".sezzlee-preview").inner_text()
    said = re.search(r"The rule touches (\d+) operations\. It touches (\d+) arguments\.", preview)
    assert said is not None
    assert said[0] in TEXT
    assert int(said[2]) > 300
    assert marks(page) == [f"{said[2]} breaking"]
    expect(page.get_by_role("heading", name="Nothing is saved yet")).to_be_in_viewport()
    staff.shoot("walk-rule")
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.locator("#result_list").get_by_role("link", name=argument, exact=True)).to_have_count(1)


@step
def split_an_operation(staff: Staff) -> None:
    page, rows = staff.page, table("Split an operation")
    open_list(page, "Operations")
    page.locator("#searchbar").fill("/defectdojo/api/v2/findings/")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="defectdojo_findings_list", exact=True).click()
    for number, (name, description, _argument, _value) in enumerate(rows):
        page.get_by_text("Add another Variant").click()
        page.locator(f"#id_variants-{number}-name").fill(name)
        page.locator(f"#id_variants-{number}-description").fill(description)
    page.get_by_role("button", name="Save and continue editing").first.click()
    operation = page.url
    for number, (name, _description, argument, value) in enumerate(rows):
        page.goto(operation)
        page.locator(f"#variants-{number}").get_by_role("link", name="Change").click()
        page.get_by_text("Add another Curated argument").click()
        page.locator("#id_arguments-0-name").select_option(argument)
        page.locator("#id_arguments-0-hidden").select_option("hidden: a constant is sent")
        page.locator("#id_arguments-0-constant").fill(value)
        if name == "open_findings":
            staff.shoot("walk-variant", "#arguments-group")
        page.get_by_role("button", name="Save", exact=True).first.click()
        expect(page.locator("#result_list").get_by_role("link", name=name, exact=True)).to_have_count(1)


@step
def see_the_difference(staff: Staff) -> None:
    page = staff.page
    open_list(page, "Revisions")
    page.get_by_role("link", name="Compare two generations").click()
    page.get_by_label("From:").select_option("1")
    page.get_by_label("To:").select_option(index=0)
    page.get_by_role("button", name="Compare").click()
    tools = table("Mend the worst descriptions")
    assert marks(page) == ["356 breaking", f"{len(tools)} behavioural", "2 additive"]
    listed = page.locator(".sezzlee-changes > li").all_inner_texts()
    classes = {name: re.findall(r"breaking|behavioural|additive", text)[0] for name, text in map(_named, listed)}
    assert classes["defectdojo_findings_list"] == "breaking"
    assert {classes[tool] for tool, _description in tools} == {"behavioural"}
    assert {classes[row[0]] for row in table("Split an operation")} == {"additive"}
    staff.shoot("walk-difference")


@step
def roll_back(staff: Staff) -> None:
    page = staff.page
    open_list(page, "Revisions")
    page.get_by_role("link", name="1", exact=True).click()
    page.get_by_role("link", name="Roll back to this").click()
    staff.shoot("walk-roll-back")
    page.get_by_label("Note:").fill("The clients of last week need the old lists.")
    page.get_by_role("button", name=re.compile("^Roll back the whole catalog")).click()
    open_list(page, "Catalog")
    assert figure(page, "missing") == 431


@step
def end_the_hold(staff: Staff) -> None:
    page = staff.page
    open_list(page, "Revisions")
    expect(page.get_by_text("The catalog is held at the contents of generation 1.")).to_be_visible()
    page.get_by_role("link", name="End the hold").click()
    assert marks(page) == ["356 breaking", "10 behavioural", "2 additive"]
    page.get_by_label("Note:").fill("They can do without.")
    page.get_by_role("button", name="End the hold of the whole catalog").click()
    open_list(page, "Catalog")
    assert (figure(page, "missing"), "420 tools have no description" in TEXT) == (420, True)


def _named(listed: str) -> tuple[str, str]:
    name, _, rest = listed.partition(" ")
    return name, rest


def test_the_headings_of_the_page_are_the_steps() -> None:
    assert re.findall(r"^## (.+)$", TEXT, re.MULTILINE) == list(STEPS)


@needs_browser
def test_the_steps_lead_where_the_page_says(staff: Staff) -> None:
    for heading in STEPS:
        STEPS[heading](staff)

    assert staff.faults == []
    shown = {address: number for address, number in staff.queries.items() if address.startswith("GET")}
    assert {address: number for address, number in shown.items() if number > 30} == {}


@pytest.mark.parametrize("image", re.findall(r"\]\((images/[\w-]+\.png)\)", TEXT))
def test_the_images_of_the_page_are_there(image: str) -> None:
    assert (pages.ROOT / "docs" / image).is_file()
