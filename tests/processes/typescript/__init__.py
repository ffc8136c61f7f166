"""The official client, conformance suite and inspector, where `make .venv/node` has installed them."""

import sys
from pathlib import Path

import pytest

NODE_CLIENTS = Path(sys.prefix) / "node"
PACKAGES = NODE_CLIENTS / "node_modules"
NODE = PACKAGES / "node" / "bin" / "node"  # the suite and the inspector need 22, whatever the machine has

needs_node = pytest.mark.skipif(
    not NODE.exists(),
    reason="The official programs for Node are not installed; `make .venv/node` does it where there is npm.",
)
