"""What agents and clients read is contract: a change of any of it is a reviewed change of these snapshots."""

from collections.abc import Callable

from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from sezzlee_mcp.protocol.metatools import INSTRUCTIONS
from sezzlee_mcp.testing import McpClient


def test_meta_tools_and_instructions(agent: Callable[[str], McpClient], snapshot: SnapshotAssertion) -> None:
    published = {"instructions": INSTRUCTIONS, "tools": agent("admin").list_tools()}

    assert published == snapshot(extension_class=JSONSnapshotExtension)


def test_catalog_of_the_demo(agent: Callable[[str], McpClient], snapshot: SnapshotAssertion) -> None:
    admin = agent("admin")
    names = [card["name"] for card in admin.search(limit=50)["results"]]

    assert [admin.load(name) for name in names] == snapshot(extension_class=JSONSnapshotExtension)
