"""The entry of the package: an OpenAPI document -> descriptors and diagnostics."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.diagnostics import Diagnostic
from sezzlee_mcp.openapi.bodies import BodyReader, BodyRequired
from sezzlee_mcp.openapi.credentials import SecuritySchemes
from sezzlee_mcp.openapi.descriptors import ENDPOINT_KEY, Descriptor, Endpoint
from sezzlee_mcp.openapi.findings import Findings, FirstOnly, kind
from sezzlee_mcp.openapi.forms import BRACKET
from sezzlee_mcp.openapi.metadata import (
    read_endpoint,
    read_extension,
    read_operation_id,
    read_search_terms,
    read_tags,
    text_of,
)
from sezzlee_mcp.openapi.parameters import ParameterReader
from sezzlee_mcp.openapi.references import Located, References
from sezzlee_mcp.openapi.responses import lower_responses
from sezzlee_mcp.openapi.slots import Slots
from sezzlee_mcp.openapi.versions import Dialect, dialect_of, writable_part

METHODS = ("get", "put", "post", "delete", "options", "head", "patch")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSource:
    """One operation as the document holds it; ``path_at`` is the pointer of its path, ``item`` what stands there."""

    path: str
    path_at: str
    item: Located
    method: str
    operation: Located
    endpoint: Endpoint | None

    @property
    def route(self) -> str:
        """The path an agent's call goes to: the endpoint's, for the document may have trimmed its own (P8)."""
        return self.path if self.endpoint is None else self.endpoint.path

    @property
    def key(self) -> str:
        return f"{self.method} {self.route}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """The operations that can be called, in document order, and all that was found on the way."""

    descriptors: tuple[Descriptor, ...]
    diagnostics: tuple[Diagnostic, ...]


def lower(document: Any, *, body_required: BodyRequired = "declared", notation: str = BRACKET) -> Lowered:
    """
    The descriptors of an OpenAPI 3.0, 3.1 or 3.2 document.

    Any JSON value is taken: what a document says is a diagnostic, and costs at most the operation it is
    said of. ``body_required`` is what a body means that does not say whether it is required; ``notation`` is how a
    form names nested members: bracket, dot, or drf for a document that drf-spectacular made, whose media types all
    repeat one schema. Descriptors share schemas with each other, so none is changed in place.
    """
    findings = Findings()
    document = writable_part(document, findings)
    dialect = dialect_of(document, findings)
    if dialect is None:
        return Lowered(descriptors=(), diagnostics=findings.diagnostics)
    return _Document(document, dialect, body_required, notation, findings).lowered()


class _Document:
    """What the operations of one document share while they are lowered."""

    def __init__(
        self, document: dict[str, Any], dialect: Dialect, body_required: BodyRequired, notation: str, findings: Findings
    ) -> None:
        self._document = Located(value=document, at="")
        self._has_query_method = dialect.has_query_method
        self._body_required: BodyRequired = body_required
        self._notation = notation
        self._findings = findings
        self._once = FirstOnly(findings)
        self._references = References(document, dialect)
        self._slots = Slots(self._references, findings)
        self._schemes = SecuritySchemes.of(self._document, self._references)

    def lowered(self) -> Lowered:
        descriptors: dict[str, Descriptor] = {}
        diagnostics: list[Diagnostic] = []
        for source in self._sources():
            findings = Findings(source.key)
            if source.key in descriptors:
                findings.add("duplicate_operation", source.operation.at, key=source.key)
            elif (descriptor := self._descriptor(source, findings)) is not None and not findings.drops:
                descriptors[source.key] = descriptor
            diagnostics.extend(findings.diagnostics)
        if self._document.member("webhooks").mapping:
            self._findings.add("webhooks_ignored", "/webhooks")
        return Lowered(descriptors=tuple(descriptors.values()), diagnostics=(*self._findings.diagnostics, *diagnostics))

    def _sources(self) -> Iterator[OperationSource]:
        paths = self._document.member("paths")
        for path in paths.mapping:
            if path.startswith("x-"):
                continue
            listed = paths.member(path)
            item = self._references.follow(listed, self._findings)
            if item is None:
                continue
            if not isinstance(item.value, dict):
                self._findings.add("operation_invalid", listed.at, reason=f"the path is {kind(item.value)}")
                continue
            for method, operation in self._operations(item):
                yield OperationSource(
                    path=path,
                    path_at=listed.at,
                    item=item,
                    method=method,
                    operation=operation,
                    endpoint=read_endpoint(operation.member(ENDPOINT_KEY).value),
                )

    def _operations(self, item: Located) -> Iterator[tuple[str, Located]]:
        fixed = {*METHODS, "trace", *(("query",) if self._has_query_method else ())}
        for key in item.mapping:
            if key in fixed:
                yield key.upper(), item.member(key)
        if self._has_query_method:
            additional = item.member("additionalOperations")
            for key in additional.mapping:
                yield key.upper(), additional.member(key)

    def _descriptor(self, source: OperationSource, findings: Findings) -> Descriptor | None:
        operation, method = source.operation, source.method
        if method.lower() not in (*METHODS, "query"):
            findings.add("unsupported_method", operation.at, method=method)
            return None
        if not isinstance(operation.value, dict):
            findings.add("operation_invalid", operation.at, reason=f"it is {kind(operation.value)}, not an object")
            return None
        if source.endpoint is None and ENDPOINT_KEY in operation.value:
            at = operation.member(ENDPOINT_KEY).at
            findings.add("extension_invalid", at, key=ENDPOINT_KEY, problem="it describes no endpoint")
        if operation.member("callbacks").mapping:
            self._once.add("callbacks_ignored", operation.member("callbacks").at)
        reader = ParameterReader(
            route=source.route, path=source.path_at, schemes=self._schemes, slots=self._slots, findings=findings
        )
        body_reader = BodyReader(
            body_required=self._body_required, notation=self._notation, slots=self._slots, findings=findings
        )
        tags = read_tags(operation, findings)
        return Descriptor(
            method=method,
            route=source.route,
            operation_id=read_operation_id(operation, findings),
            container=tags[0] if tags else None,
            summary=text_of(operation.member("summary")),
            description=text_of(operation.member("description")),
            deprecated=operation.value.get("deprecated") is True,
            parameters=reader.lower(source.item, operation),
            body=body_reader.lower(operation, method),
            responses=lower_responses(operation, self._slots, findings, self._once),
            tags=tags,
            search_terms=read_search_terms(operation, findings),
            extension=read_extension(operation, findings),
            endpoint=source.endpoint,
        )
