"""Fixtures of kind visibility: auth facts and a caller -> the decision."""

from typing import Any

from sezzlee_mcp.catalog.visibility import Answer, Identity, decide
from sezzlee_mcp.openapi.descriptors import AuthFacts


def run(fixture: dict[str, Any]) -> tuple[Any, Any]:
    given = fixture["input"]
    caller = given["caller"]
    answers = {name: Answer(answer) for name, answer in caller.get("policyResults", {}).items()}
    decision = decide(AuthFacts.from_json(given["auth"]), identity=Identity(caller["identity"]), policies=answers)
    return {"decision": decision.value}, fixture["expected"]
