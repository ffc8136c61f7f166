"""What a process counted is in the database once it has ended, and once only."""

import json
import subprocess
import sys

from tests.processes.conftest import ROOT, SERVERS, start
from tests.processes.test_replicas import ask


def test_process_that_ends_writes_what_it_counted(environment: dict[str, str]) -> None:
    before = calls_that_went_well(environment)
    server = start(SERVERS["gunicorn"], environment)
    call = {"name": "invoke_tool", "arguments": {"name": "customers_list", "arguments": {}}}
    assert "isError" not in ask(server, "tools/call", call)

    server.process.terminate()
    server.process.wait(timeout=20)

    assert calls_that_went_well(environment) == before + 1


CALLED_BEFORE_A_FORK = """
import os, sys
from django.db import connections
from sezzlee_mcp.testing import McpClient

headers = {"Host": "localhost", "Authorization": "Token alice-demo-token"}
assert McpClient(headers=headers).invoke("customers_list", {})["status"] == 200
connections.close_all()
child = os.fork()
if child:
    os.waitpid(child, 0)
sys.exit()
"""


def test_fork_writes_nothing_that_its_parent_counted(environment: dict[str, str]) -> None:
    before = calls_that_went_well(environment)

    shell = [sys.executable, "manage.py", "shell", "-v0", "-c", CALLED_BEFORE_A_FORK]
    subprocess.run(shell, cwd=ROOT, env=environment, check=True)  # noqa: S603

    assert calls_that_went_well(environment) == before + 1


def calls_that_went_well(environment: dict[str, str]) -> int:
    """Those of customers_list that are in the database, which other tests call as well."""
    dumped = [sys.executable, "manage.py", "dumpdata", "sezzlee_mcp.tooluse"]
    output = subprocess.run(dumped, cwd=ROOT, env=environment, check=True, capture_output=True).stdout  # noqa: S603
    uses = [row["fields"] for row in json.loads(output)]
    return sum(
        use["calls"] for use in uses if (use["tool"], use["outcome"], use["alias"]) == ("customers_list", "ok", "")
    )
