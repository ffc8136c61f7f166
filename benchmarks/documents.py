"""
Prints what becomes of every OpenAPI document of a folder: ``python -m benchmarks.documents``.

All operations are exposed. Status 1 when a document raises, when under 99 % of its operations become tools, or when
a published schema is no valid JSON Schema 2020-12 or has a reference that leads to none of its own definitions.
"""
# ruff: noqa: T201 - what it prints is its result

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from benchmarks import catalogs
from sezzlee_mcp.canonical import canonical_json
from sezzlee_mcp.catalog.compile import Candidate
from sezzlee_mcp.diagnostics import Diagnostic, Severity
from tests.openapi.walking import dangling

LEAST_TOOLS = 0.99
FAULTS_SHOWN = 10


def main() -> int:
    paths = catalogs.paths()
    if not paths:
        print(catalogs.NO_DOCUMENTS, file=sys.stderr)
        return 2
    return max(_reported(path) for path in paths)


def _reported(path: Path) -> int:
    try:
        read = catalogs.read(path)
        found = list(faults(read))
    except Exception as error:  # noqa: BLE001 - one document's fault must not hide what the others come to
        print(f"{path.stem}: {type(error).__name__}: {error}")
        return 1
    print(f"{read.name}: {read.operations} operations, {len(read.candidate.tools)} tools, {read.seconds:.2f} s")
    diagnostics = (*read.lowered.diagnostics, *read.candidate.diagnostics)
    for severity in (Severity.FATAL, Severity.DROPPED, Severity.WARNING):
        if counts := by_code(diagnostics, severity):
            print(f"  {severity.value}: {', '.join(f'{code} {number}' for code, number in counts)}")
    for fault in found[:FAULTS_SHOWN]:
        print(f"  FAULT {fault}")
    if len(found) > FAULTS_SHOWN:
        print(f"  FAULT and {len(found) - FAULTS_SHOWN} more")
    return 1 if found else 0


def by_code(diagnostics: tuple[Diagnostic, ...], severity: Severity) -> list[tuple[str, int]]:
    """The codes of a severity and how often each was found, the most frequent first."""
    return Counter(found.code for found in diagnostics if found.severity is severity).most_common()


def faults(read: catalogs.Read) -> Iterator[str]:
    """What a document must not come to."""
    tools = {tool.operation for tool in read.candidate.tools}
    if len(tools) < read.operations * LEAST_TOOLS:
        yield f"{len(tools)} of {read.operations} operations are tools"
    yield from schema_faults(read.candidate)


def schema_faults(candidate: Candidate) -> Iterator[str]:
    """The published schemas that are not valid or not complete."""
    schemas = dict(catalogs.tool_schemas(candidate))
    for where, schema in schemas.items():
        yield from (f"{where}: {reference} leads nowhere" for reference in sorted(dangling(schema)))
    for part, where in _distinct_parts(schemas).items():
        if error := _invalid(json.loads(part)):
            yield f"{where}: {error}"


def _distinct_parts(schemas: dict[str, dict[str, Any]]) -> dict[bytes, str]:
    """
    Each property, and what is left of each root and definition, once, with the first schema that has it.

    They are valid exactly when the schemas are, and a hundredth of them: tools share most of what they are made of.
    """
    found: dict[bytes, str] = {}
    for where, schema in schemas.items():
        root = {key: value for key, value in schema.items() if key != "$defs"}
        for part in (root, *schema.get("$defs", {}).values()):
            pieces = part.get("properties", {}) if isinstance(part, dict) else {}
            rest = {**part, "properties": {}} if pieces else part
            for piece in (*pieces.values(), rest):
                found.setdefault(canonical_json(piece), where)
    return found


def _invalid(schema: Any) -> str | None:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.json_path} {error.message}"
    return None


if __name__ == "__main__":
    sys.exit(main())
