"""Fixtures of kind card: a tool and a visibility decision -> its card."""

from typing import Any

from sezzlee_mcp.search import card


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given = fixture["input"]
    return card(given["tool"], auth_uncertain=given.get("decision") == "unknown"), fixture["expected"]
