"""A server with some 3,000 tools on a database of its own, and somebody of its staff at a browser."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response, sync_playwright

from benchmarks import catalogs
from tests.processes.browser import CHROMIUM
from tests.processes.conftest import ROOT, SERVERS, empty_database, manage, start

IMAGES = ROOT / "docs" / "images"
HEARD = "addEventListener('securitypolicyviolation', event => console.error(`${event.violatedDirective} is violated`))"
WIDE, NARROW = 1100, 390
HEIGHT = 800
PATIENCE_MS = 120_000  # a preview compiles some 3,000 tools, perhaps on a busy machine


@dataclass
class Staff:
    """Somebody at the pages of the admin; what went wrong in the browser, and how much each page asked."""

    page: Page
    url: str
    faults: list[str] = field(default_factory=list)
    queries: dict[str, int] = field(default_factory=dict)
    answer: Response | None = None  # the page that is shown

    def __post_init__(self) -> None:
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("response", self._count)

    def go(self, address: str) -> None:
        self.page.goto(f"{self.url}{address}")

    def shoot(self, name: str, part: str = "") -> None:
        """Keep a picture for the documentation, of the first screen or of a part, when ``IMAGES=1`` asks for it."""
        if os.environ.get("IMAGES") == "1":
            shown = self.page.locator(part) if part else self.page
            shown.screenshot(path=IMAGES / f"{name}.png", animations="disabled")

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"{self.page.url}: {message.text}")

    def _count(self, response: Response) -> None:
        if response.request.resource_type == "document":
            key = f"{response.request.method} {response.url.removeprefix(self.url)}"
            self.queries[key] = int(response.headers.get("x-queries", 0))
            self.answer = response


@pytest.fixture(scope="session")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documents of some real projects, joined; the largest is left out, as it has half as many operations again."""
    paths = [path for path in catalogs.paths() if path.stem != "nautobot"]
    if not paths:
        pytest.skip(catalogs.NO_DOCUMENTS)
    file = tmp_path_factory.mktemp("document") / "joined.json"
    file.write_text(json.dumps(catalogs.joined(paths)), encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def large_site(document: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose staff have curated nothing yet."""
    with serving("pages", document, tmp_path_factory) as url:
        yield url


@contextmanager
def serving(name: str, document: Path, tmp_path_factory: pytest.TempPathFactory, *commands: list[str]) -> Iterator[str]:
    """The address of a server on a new database, with what the commands make of the document's catalog."""
    with empty_database(name, tmp_path_factory) as database_url:
        settings = "tests.processes.pages.strict_settings"
        environment = {**os.environ, "DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": settings}
        filled = [["loaddata", "users", "shop"], ["sezzlee_sync", "--document", str(document)], *commands]
        manage(environment, ["migrate"], *filled)
        server = start(SERVERS["gunicorn"], environment)
        yield server.url
        server.process.terminate()
        server.process.wait(timeout=20)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for one module: as long as playwright runs, no test in its thread can start an event loop."""
    if CHROMIUM is None:
        pytest.skip("There is no Chromium on this machine.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def session(large_site: str, chromium: Browser) -> Any:
    """The cookies of the administrator, who has logged in."""
    page = chromium.new_page()
    page.goto(f"{large_site}/admin/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill("admin-demo")
    page.get_by_role("button", name="Log in").click()
    state = page.context.storage_state()
    page.close()
    return state


@pytest.fixture
def staff(large_site: str, chromium: Browser, session: Any) -> Iterator[Staff]:
    context = at_browser(chromium, session)
    yield Staff(page=context.new_page(), url=large_site)
    context.close()


def at_browser(chromium: Browser, session: Any, width: int = WIDE, **more: Any) -> BrowserContext:
    context = chromium.new_context(storage_state=session, viewport={"width": width, "height": HEIGHT}, **more)
    context.add_init_script(HEARD)
    context.set_default_timeout(PATIENCE_MS)
    return context
