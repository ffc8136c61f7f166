"""Fixtures of kind detail: a tool and a visibility decision -> its loaded shape (they carry no version)."""

from typing import Any

from sezzlee_mcp.search import detail


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given = fixture["input"]
    return detail(given["tool"], auth_uncertain=given.get("decision") == "unknown"), fixture["expected"]
