"""The corpus once more, with what a fixture says of its operations put into rows, and read from there."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from sezzlee_mcp.canonical import digest
from sezzlee_mcp.catalog.compile import compile_catalog
from sezzlee_mcp.catalog.curation import ArgumentRecord, Curation, OperationCuration
from sezzlee_mcp.catalog.markers import read_markers
from sezzlee_mcp.catalog.names import name_operations
from sezzlee_mcp.models import ArgumentCuration, Operation, Variant
from sezzlee_mcp.openapi import Descriptor, Outline
from sezzlee_mcp.publishing import compile_draft, read_inputs
from tests.conformance import extraction, naming
from tests.conformance.corpus import Case, cases, folder

FOLDER = folder()
HINTS = {
    "readOnlyHint": "read_only_hint",
    "destructiveHint": "destructive_hint",
    "idempotentHint": "idempotent_hint",
    "openWorldHint": "open_world_hint",
}
needs_corpus = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"there is no corpus at {FOLDER}")


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(case, id=case.name) for case in cases(FOLDER)[kind]] if FOLDER.is_dir() else []


def store(descriptor: Descriptor, said: OperationCuration = OperationCuration()) -> None:  # noqa: B008 - it is frozen
    """The row of an operation and those of all that is said of it."""
    operation = Operation.objects.create(
        key=descriptor.key,
        method=descriptor.method,
        route=descriptor.route,
        operation_id=descriptor.operation_id or "",
        container=descriptor.container or "",
        outline=Outline.to_json(descriptor),
        slots=descriptor.slots_to_json(),
        descriptor_digest=digest(descriptor.to_json()),
        name=said.name or "",
        family_parameter=said.family_parameter or "",
    )
    store_records(said.arguments, operation=operation)
    for variant in said.variants:
        row = Variant.objects.create(
            operation=operation,
            name=variant.name,
            description=variant.description,
            body=variant.body,
            body_required=variant.body_required,
            **{HINTS[hint]: value for hint, value in variant.annotations.items()},
        )
        store_records(variant.arguments, variant=row)


def store_records(records: Iterable[ArgumentRecord], **owner: Any) -> None:
    for record in records:
        fill = record.fill
        ArgumentCuration.objects.create(
            name=record.name,
            agent_name=record.agent_name or "",
            description=record.description or "",
            hidden=fill.kind.value if fill else "",
            constant=fill.value if fill else None,
            provider=(fill.source if fill else None) or "",
            deprecated_aliases=list(record.deprecated_aliases),
            **owner,
        )


def settings_of(said: Curation) -> dict[str, Any]:
    return {
        "EXPOSE_BY_DEFAULT": said.exposed_by_default,
        "PROVIDERS": dict.fromkeys(said.fill_sources, "builtins.str"),
        "FILE_RESOLVER": "builtins.str" if said.resolves_files else None,
        "PREFIX_MODE": said.prefix_mode.value,
        "PREFIXES": dict(said.prefixes),
    }


@needs_corpus
@pytest.mark.parametrize("case", of_kind("metadata-extraction"))
def test_rows_compile_to_what_a_file_compiles_to(db: None, settings: Settings, case: Case) -> None:
    descriptors, said = extraction.compiled_from(case.fixture)
    settings.SEZZLEE_MCP = settings_of(said)
    for descriptor in descriptors:
        store(descriptor, said.of(descriptor.key))

    assert compile_draft(read_inputs()).candidate == compile_catalog(descriptors, said)


@needs_corpus
@pytest.mark.parametrize("case", of_kind("naming"))
def test_names_in_rows_are_names_in_code(db: None, settings: Settings, case: Case) -> None:
    descriptors, said = naming.named_from(case.fixture)
    settings.SEZZLEE_MCP = settings_of(said)
    for descriptor in descriptors:
        marked = read_markers(descriptor)
        prefix = {"prefix": marked.prefix} if marked.prefix is not None else None  # which no row says
        chosen = OperationCuration(name=marked.name, variants=marked.variants)
        store(replace(descriptor, extension=prefix), chosen)
    inputs = read_inputs()

    found = name_operations(inputs.outlines, inputs.curation)

    assert naming.answer(found, descriptors) == case.fixture["expected"]
