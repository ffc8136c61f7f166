"""The programs that sezzlee_connect prints run as they are."""

import os
import subprocess
import sys
from pathlib import Path

from tests.processes.conftest import ROOT, Server
from tests.processes.typescript import NODE, PACKAGES, needs_node


def printed(client: str, server: Server, environment: dict[str, str]) -> str:
    command = [sys.executable, "manage.py", "sezzlee_connect", "--client", client, "--url", f"{server.url}/mcp", "-v0"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return ran.stdout


def run(command: list[str], program: Path) -> str:
    environment = {**os.environ, "MCP_TOKEN": "alice-demo-token"}
    ran = subprocess.run([*command, program], env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return ran.stdout


def test_printed_python_program_finds_the_tools(
    servers: dict[str, Server], environment: dict[str, str], tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(printed("python", servers["gunicorn"], environment))

    assert "orders_create" in run([sys.executable], program)


@needs_node
def test_printed_typescript_program_finds_the_tools(
    servers: dict[str, Server], environment: dict[str, str], tmp_path: Path
) -> None:
    program = tmp_path / "program.mjs"
    program.write_text(printed("typescript", servers["gunicorn"], environment))
    (tmp_path / "node_modules").symlink_to(PACKAGES)

    assert "orders_create" in run([str(NODE)], program)
