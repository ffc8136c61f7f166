"""
Documents of real projects: nearly every operation becomes a tool, and what is published is valid and complete.

The folder is taken from the environment variable DOCUMENTS, else ../shared/backends.
"""

import json
from pathlib import Path

import pytest

from benchmarks import catalogs, documents

PATHS = catalogs.paths()


@pytest.mark.skipif(not PATHS, reason=catalogs.NO_DOCUMENTS)
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_document_of_a_real_project_has_no_fault(path: Path) -> None:
    assert list(documents.faults(catalogs.read(path))) == []


def test_lost_operations_and_faulty_schemas_are_told(tmp_path: Path) -> None:
    path = tmp_path / "poor.json"
    operations = {"get": {"operationId": "good", "responses": {}}, "post": "nothing that is an operation"}
    path.write_text(json.dumps({"openapi": "3.0.3", "info": {}, "paths": {"/x/": operations}}))
    read = catalogs.read(path)
    assert list(documents.faults(read)) == ["1 of 2 operations are tools"]

    loaded = read.candidate.tools[0].loaded
    loaded["inputSchema"] = {"properties": {"a": {"type": "no type"}, "b": {"$ref": "#/$defs/gone"}}}
    found = list(documents.schema_faults(read.candidate))
    assert found[0] == "good.inputSchema: #/$defs/gone leads nowhere"
    assert [fault.partition("'no type'")[0] for fault in found[1:]] == ["good.inputSchema: $.type "]
