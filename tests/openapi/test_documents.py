"""
Documents of real projects: whatever they do, each lowers without an exception to schemas that are valid.

The folder is taken from the environment variable DOCUMENTS, else ../shared/backends.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.diagnostics import Severity
from sezzlee_mcp.openapi import Descriptor, lower
from tests.openapi.walking import dangling

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("DOCUMENTS") or ROOT.parent / "shared" / "backends")
DOCUMENTS = sorted(FOLDER.glob("*.json"))


def schemas(descriptor: Descriptor) -> Iterator[dict[str, Any]]:
    yield from (parameter.schema for parameter in descriptor.parameters)
    yield from (response.schema for response in descriptor.responses if response.schema is not None)
    if descriptor.body is not None:
        yield descriptor.body.schema


def distinct_parts(descriptors: tuple[Descriptor, ...]) -> dict[bytes, Any]:
    """Every property, and what is left of every root and definition, once: valid exactly when the slots are."""
    slots = {id(schema): schema for descriptor in descriptors for schema in schemas(descriptor)}
    roots = [{key: value for key, value in slot.items() if key != "$defs"} for slot in slots.values()]
    definitions = {id(item): item for slot in slots.values() for item in slot.get("$defs", {}).values()}
    parts = (*roots, *definitions.values())
    properties = [schema for part in parts for schema in part.get("properties", {}).values()]
    rest = [{**part, "properties": {}} if "properties" in part else part for part in parts]
    return {canonical_json(part): part for part in (*properties, *rest)}


@pytest.mark.skipif(not DOCUMENTS, reason=f"no documents in {FOLDER}; set DOCUMENTS to a folder of them")
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_real_document_gives_valid_and_complete_schemas(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))

    lowered = lower(document, body_required="always", notation="drf")

    dropped = {item.operation for item in lowered.diagnostics if item.severity is Severity.DROPPED}
    assert {item.severity for item in lowered.diagnostics} <= {Severity.DROPPED, Severity.WARNING}
    assert len({item.key for item in lowered.descriptors} | dropped) == operations(document)
    slots = {id(schema): schema for descriptor in lowered.descriptors for schema in schemas(descriptor)}
    assert [schema for schema in slots.values() if dangling(schema)] == []
    for part in distinct_parts(lowered.descriptors).values():
        Draft202012Validator.check_schema(part)


def operations(document: dict[str, Any]) -> int:
    methods = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
    return sum(method in methods for item in document["paths"].values() for method in item)


@pytest.mark.skipif(not (FOLDER / "babybuddy.json").exists(), reason=f"no babybuddy.json in {FOLDER}")
def test_baby_buddy_loses_nothing() -> None:
    document = json.loads((FOLDER / "babybuddy.json").read_text(encoding="utf-8"))

    lowered = lower(document, body_required="always", notation="drf")

    assert (len(lowered.descriptors), lowered.diagnostics) == (92, ())
