"""A real browser, where there is one, and a site of somebody who means harm."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

PAGE = (Path(__file__).parent / "attack.html").read_bytes()
ELSEWHERE = "evil.example"  # the browser finds it at the loopback address, as after DNS was rebound

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="There is no Chromium on this machine.")


@dataclass
class Site:
    """
    Serves the page of attacks under every host name, and hears what comes of them.

    It gives the browser ``cookies``, those of the user's session: cookies know hosts and no ports, so the browser
    that is logged in to a server on this machine has them here as well.
    """

    cookies: dict[str, str]
    reports: Queue[dict[str, Any]] = field(default_factory=Queue)
    port: int = 0


@contextmanager
def serving(cookies: dict[str, str]) -> Iterator[Site]:
    site = Site(cookies)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            for name, value in site.cookies.items():
                self.send_header("Set-Cookie", f"{name}={value}; Path=/; SameSite=Lax")
            self.end_headers()
            self.wfile.write(PAGE if urlsplit(self.path).path == "/" else b"")

        def do_POST(self) -> None:
            site.reports.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.port = server.server_port
        Thread(target=server.serve_forever, daemon=True).start()
        yield site
        server.shutdown()


@contextmanager
def browsing(url: str, profile: Path) -> Iterator[None]:
    """The browser is at ``url`` meanwhile."""
    assert CHROMIUM is not None
    quiet = ["background-networking", "component-update", "sync", "extensions", "gpu", "dev-shm-usage"]
    command = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--no-first-run", "--remote-debugging-port=0"),
        *(f"--disable-{name}" for name in quiet),
        *(f"--user-data-dir={profile}", f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1", url),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)
