"""
protocol.md, section 12: the official conformance suite and the official inspector against both servers, in both eras.

The suite sends no credentials, so the demo lets anybody in at the endpoint here.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes.conftest import SERVERS, Server, start
from tests.processes.typescript import NODE, PACKAGES, needs_node

SUITE = PACKAGES / "@modelcontextprotocol/conformance/dist/index.js"
INSPECTOR = PACKAGES / ".bin/mcp-inspector"
EXPECTED = Path(__file__).parent / "conformance"
META_TOOLS = ["load_tool", "search_tools", "invoke_tool"]

pytestmark = needs_node


@pytest.fixture(scope="module", params=SERVERS)
def open_server(request: pytest.FixtureRequest, environment: dict[str, str]) -> Iterator[Server]:
    """The demo, whose endpoint asks for no credentials, under gunicorn and uvicorn."""
    server = start(SERVERS[request.param], {**environment, "MCP_ANONYMOUS": "1"})
    yield server
    server.process.terminate()
    server.process.wait(timeout=20)


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_suite_fails_in_nothing_but_what_the_endpoint_does_not_have(
    open_server: Server, revision: str, tmp_path: Path
) -> None:
    expected = EXPECTED / f"{revision}.yml"
    command = [NODE, SUITE, "server", "--url", f"{open_server.url}/mcp", "--requirements", revision]
    ran = subprocess.run(  # noqa: S603
        [*command, "--expected-failures", expected, "-o", tmp_path], check=False, capture_output=True, text=True
    )

    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr
    assert "Baseline check passed: all failures are expected." in ran.stdout


@pytest.mark.parametrize(("era", "revision"), [("modern", "2026-07-28"), ("legacy", "2025-11-25")])
def test_inspector_connects_lists_and_calls(open_server: Server, era: str, revision: str, tmp_path: Path) -> None:
    def inspect(*words: str) -> dict[str, Any]:
        command = [NODE, INSPECTOR, "--cli", "--server-url", f"{open_server.url}/mcp", "--transport", "http"]
        settings = ["--protocol-era", era, "--stored-auth-only", "--format", "json", "-q"]
        ran = subprocess.run(  # noqa: S603
            [*command, *settings, *words],
            env={**os.environ, "HOME": str(tmp_path)},  # where it would keep what it knows of servers
            check=True,
            capture_output=True,
            text=True,
        )
        result: dict[str, Any] = json.loads(ran.stdout)["result"]
        return result

    called = inspect("--method", "tools/call", "--tool-name", "search_tools", "--tool-args-json", '{"query": "order"}')

    assert inspect("--method", "initialize")["protocolVersion"] == revision
    assert [tool["name"] for tool in inspect("--method", "tools/list")["tools"]] == META_TOOLS
    assert "error" not in json.loads(called["content"][0]["text"])
