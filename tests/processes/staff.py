"""As much of a browser as staff need to edit an operation in the admin of a server."""

import http.client
import re
from html.parser import HTMLParser
from urllib.parse import urlencode, urlsplit

from tests.processes.conftest import Server


class Form(HTMLParser):
    """The fields of the page's forms, as a browser would send them back untouched."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._textarea: str | None = None
        self._select: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name")
        if tag == "input" and name and given.get("type") not in {"submit", "checkbox", "radio"}:
            self.fields[name] = given.get("value") or ""
        elif tag == "input" and name and "checked" in given:
            self.fields[name] = given.get("value") or "on"
        elif tag == "textarea" and name:
            self._textarea = name
            self.fields[name] = ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and "selected" in given:
            self.fields[self._select] = given.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._textarea = None
        if tag == "select":
            self._select = None

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.fields[self._textarea] += data.removeprefix("\n")


class Browser:
    """As much of a browser as the admin needs: cookies and forms."""

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).netloc
        self.cookies: dict[str, str] = {}

    def get(self, path: str) -> str:
        return self._request("GET", path)[1]

    def submit(self, path: str, **changes: str) -> str:
        """The page that comes of the form at ``path``, sent with these changes."""
        fields = {**Form(self.get(path)).fields, **changes}
        status, page, location = self._request("POST", path, urlencode(fields))
        assert status == 302, page
        return self.get(location)

    def _request(self, method: str, path: str, body: str | None = None) -> tuple[int, str, str]:
        connection = http.client.HTTPConnection(self._host, timeout=60)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Cookie": cookies, "Referer": f"http://{self._host}{path}"}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        for cookie in response.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        page = response.read().decode()
        connection.close()
        return response.status, page, response.headers.get("Location", "")


def describe_products_stk_adj(server: Server, description: str) -> None:
    """Edit a description as the demo's administrator, which publishes a generation."""
    staff = Browser(server.url)
    staff.submit("/admin/login/?next=/admin/", username="admin", password="admin-demo")
    listing = staff.get("/admin/sezzlee_mcp/operation/?q=products_stk_adj")
    (change,) = set(re.findall(r'"(/admin/sezzlee_mcp/operation/\d+/change/)', listing))
    staff.submit(change, description=description)
