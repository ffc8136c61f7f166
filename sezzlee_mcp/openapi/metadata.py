"""What an operation says about itself: names, texts, tags and the extensions of its own."""

import re
from typing import Any

from sezzlee_mcp.openapi.descriptors import EXTENSION_KEY, Endpoint
from sezzlee_mcp.openapi.findings import Findings, kind
from sezzlee_mcp.openapi.references import Located

SEARCH_TERMS_KEY = "x-sezzlee-search-terms"
_LONGEST_NAME = 256
_NAME_START = re.compile(r"[^a-zA-Z0-9]*[a-zA-Z]")


def text_of(located: Located) -> str | None:
    """The text, or None for an empty one and for anything else."""
    return located.value if isinstance(located.value, str) and located.value.strip() else None


def read_operation_id(operation: Located, findings: Findings) -> str | None:
    """The operationId when a tool can be named after it: its first letter or digit is a letter, and it is no novel."""
    declared = operation.member("operationId")
    if declared.value is None:
        return None
    text = text_of(declared)
    if text is None or not _NAME_START.match(text) or len(text) > _LONGEST_NAME:
        findings.add("operation_id_unusable", declared.at, operation_id=declared.value)
        return None
    return text


def read_tags(operation: Located, findings: Findings) -> tuple[str, ...]:
    declared = operation.member("tags")
    if declared.value is not None and not _is_list_of_texts(declared.value):
        findings.add("tags_invalid", declared.at, kind=_list_kind(declared.value))
        return ()
    return tuple(declared.value or ())


def read_search_terms(operation: Located, findings: Findings) -> tuple[str, ...]:
    """The terms of the x-sezzlee extension, else those of the key of their own; blank ones are left out."""
    nested = operation.member(EXTENSION_KEY).member("searchTerms")
    declared = operation.member(SEARCH_TERMS_KEY) if nested.value is None else nested
    if declared.value is not None and not _is_list_of_texts(declared.value):
        findings.add("search_terms_invalid", declared.at, kind=_list_kind(declared.value))
        return ()
    return tuple(term for term in declared.value or () if term.strip())


def read_extension(operation: Located, findings: Findings) -> dict[str, Any] | None:
    """The x-sezzlee object as it stands."""
    declared = operation.member(EXTENSION_KEY)
    if declared.value is not None and not isinstance(declared.value, dict):
        reason = f"it is {kind(declared.value)}, not an object"
        findings.add("extension_invalid", declared.at, key=EXTENSION_KEY, problem=reason)
        return None
    return declared.value


def read_endpoint(value: Any) -> Endpoint | None:
    """The endpoint that generation in process left on the operation; None for whatever else a file has there."""
    return Endpoint.from_json(value) if _has_shape(value, Endpoint(path="", route="", view="").to_json()) else None


def _has_shape(value: Any, example: Any) -> bool:
    """Whether all that the example has is there, each of the example's kind."""
    if isinstance(example, dict):
        return isinstance(value, dict) and all(_has_shape(value.get(key), example[key]) for key in example)
    return _is_list_of_texts(value) if isinstance(example, list) else type(value) is type(example)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _list_kind(value: Any) -> str:
    if not isinstance(value, list):
        return kind(value)
    return f"a list that holds {kind(next(item for item in value if not isinstance(item, str)))}"
