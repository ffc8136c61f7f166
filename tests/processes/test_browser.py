"""docs/security.md, "Threats": what a page of another site gets done with the browser of somebody who is logged in."""

import http.client
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.processes.browser import ELSEWHERE, browsing, needs_browser, serving
from tests.processes.conftest import SERVERS, Server
from tests.processes.staff import Browser

SENT = "sent, not readable"
REFUSED = "TypeError"  # what a page is told of whatever it must not read
NOTHING_GAINED = {
    "simple_fetch": SENT,
    "fetch_of_a_form": SENT,
    "fetch_without_a_type": SENT,
    "fetch_of_json": REFUSED,
    "fetch_with_headers": REFUSED,
    "simple_fetch_to_be_read": REFUSED,
    "token_in_the_query": REFUSED,
    "get": REFUSED,
    "beacon": "true",
    "form_as_text": REFUSED,
    "form_urlencoded": REFUSED,
    "form_multipart": REFUSED,
    "sandboxed_frame": "opaque",
    "web_socket": "error",
    "event_source": "error",
    "script": "error",
    "image": "error",
}


def creating(sku: str) -> str:
    arguments = {"sku": sku, "name": sku, "category": "office", "price": "1.00"}
    call = {"name": "invoke_tool", "arguments": {"name": "products_create", "arguments": arguments}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})


def post(server: Server, message: str, **headers: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    connection.request("POST", "/mcp", message, {"Content-Type": "application/json", **headers})
    response = connection.getresponse()
    status, answer = response.status, json.loads(response.read())
    connection.close()
    return status, answer


def exists(server: Server, sku: str) -> bool:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    connection.request("GET", f"/api/products/?search={sku}", headers={"Authorization": "Token admin-demo-token"})
    found = json.loads(connection.getresponse().read())["count"]
    connection.close()
    return bool(found)


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, servers: dict[str, Server]) -> Server:
    return servers[request.param]


@needs_browser
@pytest.mark.parametrize(
    ("page_host", "endpoint_host"),
    [("127.0.0.1", "127.0.0.1"), (ELSEWHERE, "127.0.0.1"), (ELSEWHERE, ELSEWHERE)],
    ids=["with the session's cookie", "of another site", "after DNS was rebound"],
)
def test_page_of_another_origin_gets_nothing_done_and_reads_nothing(
    server: Server, page_host: str, endpoint_host: str, tmp_path: Path
) -> None:
    staff = Browser(server.url)
    staff.submit("/admin/login/?next=/admin/", username="admin", password="admin-demo")
    wanted, port = f"EVIL-{urlsplit(server.url).port}", urlsplit(server.url).port
    query = urlencode({"endpoint": f"http://{endpoint_host}:{port}/mcp", "body": creating(wanted)})

    with serving(staff.cookies) as site, browsing(f"http://{page_host}:{site.port}/?{query}", tmp_path):
        outcomes = site.reports.get(timeout=60)

    assert outcomes == NOTHING_GAINED
    assert not exists(server, wanted)


def test_session_that_a_page_cannot_use_is_good_for_a_call_with_its_token(server: Server) -> None:
    """What the pages above send would work, if they could send the token with it."""
    staff = Browser(server.url)
    staff.submit("/admin/login/?next=/admin/", username="admin", password="admin-demo")
    sku = f"OWN-{urlsplit(server.url).port}"
    cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in staff.cookies.items())}

    without = post(server, creating(sku), **cookies)
    with_another = post(server, creating(sku), **cookies, Origin=f"http://{ELSEWHERE}")
    with_it = post(server, creating(sku), **cookies, **{"X-CSRFToken": staff.cookies["csrftoken"]})

    assert (without[0], without[1]["error"]["message"]) == (403, "CSRF Failed: CSRF token missing.")
    assert (with_another[0], with_another[1]["error"]["message"]) == (403, "Requests from this Origin are not served.")
    assert (with_it[0], json.loads(with_it[1]["result"]["content"][0]["text"])["status"]) == (200, 201)
    assert exists(server, sku)
