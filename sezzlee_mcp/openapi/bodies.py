"""The request body, in the one media type that is written (operations.md, "Bodies")."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sezzlee_mcp.openapi import rewrites
from sezzlee_mcp.openapi.descriptors import Body
from sezzlee_mcp.openapi.encodings import with_encoding
from sezzlee_mcp.openapi.findings import Findings, kind
from sezzlee_mcp.openapi.forms import DRF, Form, is_file
from sezzlee_mcp.openapi.media_types import (
    BYTES,
    MULTIPART,
    TEXT,
    URLENCODED,
    WILDCARD,
    essence,
    first_json,
    first_of,
    is_binary,
    is_concrete,
    is_json,
    is_media_type,
)
from sezzlee_mcp.openapi.normalize import Direction
from sezzlee_mcp.openapi.references import Located
from sezzlee_mcp.openapi.slots import Slots

# What an undeclared `required` means: OpenAPI's false, or true for a generator that leaves it out (operations.md).
BodyRequired = Literal["declared", "always"]
_BODILESS = frozenset({"GET", "HEAD"})
_FORMS = frozenset({URLENCODED, MULTIPART})
# The families that are written under a condition, and what it says when it does not hold.
_REFUSED = {
    URLENCODED: "only multipart/form-data carries a file",
    **dict.fromkeys((BYTES, WILDCARD), "its schema is no file, which is all that is sent as raw bytes"),
}
_ANY_FILE = {"type": "string", "contentMediaType": BYTES}


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyReader:
    """
    Lowers the body of one operation.

    ``body_required`` is what a body means that does not say, ``notation`` how a form names nested members.
    """

    body_required: BodyRequired
    notation: str
    slots: Slots
    findings: Findings

    def lower(self, operation: Located, method: str) -> Body | None:
        """The operation's body; None when it has none, or none that can be sent, which the findings then tell."""
        declared = operation.member("requestBody")
        if declared.value is None:
            return None
        if method in _BODILESS:
            self.findings.add("unsupported_body_on_method", declared.at, method=method)
            return None
        body = self.slots.references.follow(declared, self.findings)
        if body is None:
            return None
        if not isinstance(body.value, dict):
            self.findings.add("operation_invalid", body.at, reason=f"requestBody is {kind(body.value)}, not an object")
            return None
        media = self._chosen(body.member("content"))
        return None if media is None else self._body(media, body)

    def _chosen(self, content: Located) -> "_Media | None":
        """The media type that is written, with its schema; None with a finding when none is."""
        for media_type in _by_preference(content.mapping):
            media = self._media(content, media_type)
            if media.is_written:
                self._report_alternatives(media)
                self.findings.relay(media.findings.diagnostics)
                return media
        self._refuse(content)
        return None

    def _refuse(self, content: Located) -> None:
        """Say why no media type is written: the first of a known family cannot hold what its schema says."""
        for family, reason in _REFUSED.items():
            if (media_type := first_of(family, content.mapping)) is not None:
                at = content.member(media_type).at
                self.findings.add("unsupported_body_shape", at, media_type=media_type, reason=reason)
                return
        media_types = ", ".join(content.mapping) or "it has none"
        self.findings.add("unsupported_media_type", content.at, media_types=media_types)

    def _media(self, content: Located, media_type: str) -> "_Media":
        findings = Findings(self.findings.operation)
        raw = _schema_of(content.member(media_type), findings)
        schema = self.slots.read(raw, Direction.REQUEST, findings).schema
        return _Media(content=content, media_type=media_type, raw=raw, schema=schema, findings=findings)

    def _report_alternatives(self, chosen: "_Media") -> None:
        written = chosen.content.member(chosen.media_type).member("schema").value
        for media_type in chosen.content.mapping:
            alternative = chosen.content.member(media_type)
            is_repeated = rewrites.same(alternative.member("schema").value, written) and self.notation == DRF
            if media_type not in (chosen.media_type, chosen.file_media_type) and not is_repeated:
                self.findings.add(
                    "request_media_type_alternative_ignored",
                    alternative.at,
                    chosen=chosen.media_type,
                    media_type=media_type,
                )

    def _body(self, media: "_Media", declared: Located) -> Body | None:
        schema, admits_null = _without_null(media.published)
        form_media_type = media.media_type if media.family in _FORMS else media.file_media_type
        if form_media_type is not None:
            encoding = media.content.member(form_media_type).member("encoding")
            schema = with_encoding(schema, encoding, self.findings)
        reason = _misfit(schema, media.family, self.notation)
        if self.findings.drops:
            return None
        if reason is not None:
            at = media.content.member(media.media_type).at
            self.findings.add("unsupported_body_shape", at, media_type=media.media_type, reason=reason)
            return None
        required = declared.member("required").value
        return Body(
            schema=schema,
            required=required if isinstance(required, bool) else self.body_required == "always" and not admits_null,
            content_type=media.family,
            file_content_type=None if media.file_media_type is None else MULTIPART,
            defaults={} if form_media_type is None else self._defaults(media.raw, Form(schema=schema).fields),
            notation=self.notation,
        )

    def _defaults(self, raw: Located, fields: Iterable[str]) -> dict[str, Any]:
        """The defaults of these fields, which no normalised schema holds any more."""
        references = self.slots.references
        properties = references.properties_of([raw.value])
        declared = {name: references.effective(properties.get(name)) for name in fields}
        return {name: schema["default"] for name, schema in declared.items() if "default" in schema}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Media:
    """One media type of a body: its schema as it stands, normalised, and what was found on the way."""

    content: Located
    media_type: str
    raw: Located
    schema: dict[str, Any]
    findings: Findings

    @property
    def family(self) -> str:
        """What it is written as."""
        return essence(self.media_type)

    @property
    def is_written(self) -> bool:
        if self.family == URLENCODED:
            return not Form(schema=self.schema).has_file
        return self.family in (MULTIPART, TEXT) or is_json(self.media_type) or self._raw_file is not None

    @property
    def published(self) -> dict[str, Any]:
        """The schema as the media type gives it: a text or a file where it can be nothing else."""
        if self.family == TEXT and not _without_null(self.schema)[0]:
            return {"type": "string"}
        is_raw = self.family not in (*_FORMS, TEXT) and not is_json(self.media_type)
        return self._raw_file if is_raw and self._raw_file is not None else self.schema

    @property
    def file_media_type(self) -> str | None:
        """The multipart alternative of a JSON body with a file, which JSON cannot carry to DRF (P23)."""
        multipart = first_of(MULTIPART, self.content.mapping)
        if multipart is None or not is_json(self.media_type) or not Form(schema=self.schema).has_file:
            return None
        alternative = self.content.member(multipart).member("schema").value
        return multipart if rewrites.same(alternative, self.raw.value) else None

    @property
    def _raw_file(self) -> dict[str, Any] | None:
        """The schema of a body that is the bytes of one file; None when it is something else."""
        if self.family != WILDCARD and not is_concrete(self.media_type):
            return None
        root = Form(schema=self.schema).value_of(self.schema)
        if not root and is_binary(self.media_type):  # 3.1 needs no schema to say that a body is bytes
            root = _ANY_FILE
        if self.family in (WILDCARD, BYTES):
            root = _only_field(self.schema) or root
        if not is_file(root):
            return None
        return root if self.family in (WILDCARD, BYTES) else {**root, "contentMediaType": self.family}


def _only_field(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The one field of an object: the serializer behind DRF's FileUploadParser reads a raw upload as one (P25)."""
    fields = list(Form(schema=schema).fields.values())
    return fields[0] if len(fields) == 1 else None


def _by_preference(content: Mapping[str, Any]) -> list[str]:
    """The media types that may be written, best first."""
    families = [first_json(content), *(first_of(wanted, content) for wanted in (URLENCODED, MULTIPART, TEXT, BYTES))]
    named = [item for item in families if item is not None]
    concrete = [item for item in content if is_concrete(item) and item not in named and not is_json(item)]
    wildcard = first_of(WILDCARD, content)
    return [*named, *concrete, *([] if wildcard is None else [wildcard])]


def _schema_of(media: Located, findings: Findings) -> Located:
    """The media type's schema, also where it stands one media type too deep (P31)."""
    schema = media.member("schema")
    if not schema.mapping or not all(map(is_media_type, schema.mapping)):
        return schema
    nested = first_json(schema.mapping) or next(iter(schema.mapping))
    findings.add("schema_under_media_type", schema.at, media_type=nested)
    return schema.member(nested)


def _without_null(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The schema that null does not match, and whether it did."""
    admits_null = "null" in rewrites.type_list(schema) or rewrites.NULL in schema.get("anyOf", ())
    return rewrites.refuse_null(schema) if admits_null else schema, admits_null


def _misfit(schema: dict[str, Any], family: str, notation: str) -> str | None:
    """Why the family cannot write the schema; None when it can."""
    if family in _FORMS:
        return Form(schema=schema, notation=notation).misfit(allows_files=family == MULTIPART)
    if family == TEXT and rewrites.type_list(Form(schema=schema).value_of(schema)) != ["string"]:
        return "a text is a string and nothing else"
    return None
