"""What a document or a curation says that cannot be represented: values, never exceptions."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Severity(StrEnum):
    FATAL = "fatal"  # no document at all, or a version nobody here reads
    DROPPED = "dropped"  # the operation yields no tool
    WARNING = "warning"  # nothing that an agent can reach changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """
    One finding, in the words of ``CODES``.

    ``pointer`` is an RFC 6901 pointer into the original document, ``operation`` the key
    (``"GET /orders/{id}/"``) of the operation it belongs to; both are empty when there is none. ``name`` is what the
    sentence is about, an argument or a tool, and ``variant`` the one that it concerns, where there is such.
    """

    code: str
    severity: Severity
    pointer: str
    message: str
    operation: str = ""
    name: str = ""
    variant: str = ""

    def to_json(self) -> dict[str, str]:
        return {
            "code": self.code,
            "severity": self.severity.value,
            "operation": self.operation,
            "name": self.name,
            "variant": self.variant,
            "pointer": self.pointer,
            "message": self.message,
        }

    @classmethod
    def from_json(cls, value: dict[str, str]) -> Self:
        return cls(
            code=value["code"],
            severity=Severity(value["severity"]),
            pointer=value["pointer"],
            message=value["message"],
            operation=value["operation"],
            name=value["name"],
            variant=value["variant"],
        )


# code -> (severity, the sentence that staff read; {names} are filled by ``diagnose``)
CODES: dict[str, tuple[Severity, str]] = {
    "openapi_version_unsupported": (
        Severity.FATAL,
        "The document says OpenAPI version {version}; versions 3.0, 3.1 and 3.2 are read.",
    ),
    "document_invalid": (Severity.FATAL, "The document is not an OpenAPI object: {reason}."),
    "document_not_generated": (Severity.FATAL, "drf-spectacular could not generate the document: {reason}."),
    "part_unwritable": (Severity.DROPPED, "What stands here was left out: {reason}."),
    "operation_invalid": (Severity.DROPPED, "The operation cannot be read: {reason}."),
    "duplicate_operation": (
        Severity.DROPPED,
        "Another entry of the document already describes {key}; the first one is used.",
    ),
    # getting the document
    "schema_generation_failed": (
        Severity.DROPPED,
        "drf-spectacular could not describe {view}: {reason}. The other operations are not affected.",
    ),
    "endpoint_not_documented": (Severity.WARNING, "{view} has no entry in the document: {reason}."),
    "schema_class_replaced": (
        Severity.WARNING,
        "{view} has the schema class {schema}, which drf-spectacular cannot read. Its own was taken, so what the class "
        "and @extend_schema say is lost. Use drf_spectacular.openapi.AutoSchema, in DEFAULT_SCHEMA_CLASS too.",
    ),
    "auth_declaration_invalid": (
        Severity.WARNING,
        "{view} has a permission class whose declaration cannot be used: {reason}. Its tools are undecided instead.",
    ),
    # references
    "circular_component_ref": (Severity.DROPPED, "The component {reference} refers to itself."),
    "external_ref_blocked": (
        Severity.DROPPED,
        "The reference {reference} leads out of the document; nothing outside it is read.",
    ),
    "unresolved_ref": (Severity.DROPPED, "The reference {reference} leads nowhere in the document."),
    "ref_siblings_ignored": (
        Severity.WARNING,
        "OpenAPI 3.0 gives no meaning to what stands beside a reference; {keywords} had no effect.",
    ),
    "schema_malformed": (Severity.WARNING, "A schema is an object, not {kind}; any value is allowed here."),
    "schema_under_media_type": (
        Severity.WARNING,
        "The schema stands one level too deep, under the media type {media_type}; it was read from there.",
    ),
    "keyword_malformed": (
        Severity.WARNING,
        "JSON Schema does not allow this value of {keyword}, {kind}; the keyword was removed.",
    ),
    "annotation_removed": (
        Severity.WARNING,
        "The keyword {keyword} says nothing in JSON Schema and was removed wherever it stood.",
    ),
    # parameters
    "recursive_parameter_schema": (Severity.DROPPED, "The schema of parameter {name} refers to itself at its top."),
    "reserved_header_parameter_ignored": (
        Severity.WARNING,
        "The header {name} is set by the call itself or on its way, and is no argument.",
    ),
    "credential_parameter_ignored": (
        Severity.WARNING,
        "The parameter {name} is the credential of a security scheme, not an argument.",
    ),
    "identity_cookie_parameter": (Severity.WARNING, "The cookie {name} carries identity and is no argument."),
    "identity_cookie_uncovered": (
        Severity.WARNING,
        "The cookie {name} looks like identity by its name only; no security scheme of the document names it.",
    ),
    "identity_carrier_parameter": (
        Severity.DROPPED,
        "Parameter {name} in {location} would set what says who the caller is; no argument does that.",
    ),
    "invalid_cookie_name": (
        Severity.DROPPED,
        "The cookie name {name} is no token of RFC 6265, so no Cookie header can hold it.",
    ),
    "invalid_header_name": (
        Severity.DROPPED,
        "The header name {name} is no token of RFC 9110, so no request can hold it.",
    ),
    "multiple_querystring": (
        Severity.DROPPED,
        "Parameter {name} is the whole query, and another parameter already is.",
    ),
    "querystring_with_query": (
        Severity.DROPPED,
        "Parameter {name} is the whole query, and there are query parameters beside it: {others}.",
    ),
    "duplicate_parameter": (
        Severity.WARNING,
        "Parameter {name} in {location} is declared twice; the last declaration is used.",
    ),
    "unsupported_parameter_style": (
        Severity.DROPPED,
        "Parameter {name} in {location} has style {style}, which has no written form there.",
    ),
    "unsupported_parameter_content": (
        Severity.DROPPED,
        "Parameter {name} in {location} is described by content {media_types}, which is not written.",
    ),
    "unsupported_parameter_location": (
        Severity.DROPPED,
        "Parameter {name} is in {location}; path, query, querystring, header and cookie parameters are written.",
    ),
    "undeclared_path_parameter": (
        Severity.WARNING,
        "The route names {name}, which no parameter declares; it became a required string argument.",
    ),
    "path_parameter_not_in_route": (
        Severity.WARNING,
        "Parameter {name} says it is in the path, but the route does not name it; it is left out.",
    ),
    "path_parameter_repeated": (Severity.WARNING, "The route names {name} twice; one argument fills both places."),
    "required_property_undeclared": (
        Severity.WARNING,
        "required names {name}, which is no property; the name was dropped.",
    ),
    # bodies and responses
    "unsupported_body_on_method": (Severity.WARNING, "A body on {method} is not sent."),
    "request_media_type_alternative_ignored": (
        Severity.WARNING,
        "The body is written as {chosen}; the alternative {media_type} is ignored.",
    ),
    "unsupported_media_type": (Severity.DROPPED, "None of the body's media types is written: {media_types}."),
    "unsupported_body_shape": (Severity.DROPPED, "A body of type {media_type} cannot be written: {reason}."),
    "unsupported_encoding": (Severity.DROPPED, "The encoding of field {name} is not written: {reason}."),
    "streaming_response_unsupported": (
        Severity.DROPPED,
        "The only successful answer is a stream ({media_types}), which a tool result cannot hold.",
    ),
    "response_invalid": (Severity.WARNING, "The answer cannot be read and was left out: {reason}."),
    "unsupported_method": (Severity.DROPPED, "The method {method} is not called."),
    "callbacks_ignored": (Severity.WARNING, "Callbacks are not part of a tool."),
    "links_ignored": (Severity.WARNING, "Links are not part of a tool."),
    "webhooks_ignored": (Severity.WARNING, "Webhooks are not part of a catalog."),
    "operation_id_unusable": (
        Severity.WARNING,
        "The operationId {operation_id} holds no usable name; the name comes from the route.",
    ),
    "search_terms_invalid": (Severity.WARNING, "Search terms must be a list of texts, not {kind}; they are ignored."),
    "tags_invalid": (Severity.WARNING, "Tags must be a list of texts, not {kind}; they are ignored."),
    # catalog
    "extension_invalid": (Severity.WARNING, "{key}: {problem}; that is ignored."),
    "ambiguous_selection": (
        Severity.WARNING,
        "Selection rules of equal rank say include and exclude ({rules}); exclude wins.",
    ),
    "route_folded": (Severity.WARNING, "The same operation also answers on {routes}; it is one tool on {route}."),
    "name_disambiguated": (
        Severity.WARNING,
        "Several operations would be named {name}; each took its container's prefix.",
    ),
    "name_collision": (
        Severity.DROPPED,
        "The name {name} is also that of {others}. Give one of them a name of its own.",
    ),
    "invalid_name": (
        Severity.DROPPED,
        "The name {name} does not match ^[a-z][a-z0-9_]{{0,255}}$. Give the operation a name of its own.",
    ),
    "long_tool_name": (Severity.WARNING, "The name {name} has {length} characters; some clients refuse over 64."),
    "duplicate_tag": (Severity.WARNING, "The tags {tags} are one tag once case and accents are folded."),
    "empty_tag": (Severity.WARNING, "An empty tag was left out."),
    "duplicate_search_term": (Severity.WARNING, "The search term {term} stands twice."),
    "empty_search_term": (Severity.WARNING, "An empty search term was left out."),
    "synthetic_body_argument": (Severity.WARNING, "The body is no object; the argument body holds it whole."),
    "unflattenable_body_root": (
        Severity.WARNING,
        "The body's fields cannot become arguments ({reason}); the argument body holds it whole.",
    ),
    "body_field_collision": (
        Severity.WARNING,
        "The body has fields named like parameters ({names}); the argument body holds it whole.",
    ),
    "optional_body_argument": (Severity.WARNING, "The body is optional; the argument body holds it whole."),
    "argument_collision": (
        Severity.DROPPED,
        "Two arguments would be named {name}.",
    ),
    # curation
    "ambiguous_curation": (
        Severity.WARNING,
        "Argument rules of equal rank disagree about {name}; one that hides wins.",
    ),
    "curated_open_body": (
        Severity.WARNING,
        "The body takes fields that nothing declares, so what curation took from it is refused by name only.",
    ),
    "curation_invalid": (Severity.DROPPED, "What is said of argument {name} cannot hold: {problem}."),
    "curation_leaks_name": (
        Severity.WARNING,
        "The tool's name or description still says {name}, which no agent sends.",
    ),
    "curation_leaks_name_in_argument": (
        Severity.WARNING,
        "The description of argument {argument} still says {name}, which no agent sends.",
    ),
    "curation_unresolved": (
        Severity.DROPPED,
        "Curation names the argument {name}, which the operation does not have. Names are told apart by case.",
    ),
    "curation_unused_on_kept_route": (
        Severity.WARNING,
        "What is said of this operation's arguments has no effect: it is part of the tool of {route}.",
    ),
    "family_key_duplicate": (
        Severity.DROPPED,
        "The family members {variants} send the same value of {name}.",
    ),
    "family_key_unfilled": (
        Severity.DROPPED,
        "The family member {variant} does not hide {name} with a constant of its own.",
    ),
    "family_parameter_unresolved": (
        Severity.DROPPED,
        "The family's parameter {name} is no parameter of the operation that holds one value.",
    ),
    "family_without_members": (
        Severity.DROPPED,
        "The operation dispatches on {name} and no variant is a member of that family.",
    ),
    "hidden_required_omitted": (
        Severity.DROPPED,
        "The argument {name} is required, so it cannot be hidden without a value.",
    ),
    "invalid_fill_constant": (
        Severity.DROPPED,
        "The constant of the hidden argument {name} does not fit: {reason}.",
    ),
    "sealed_curation_overridden": (
        Severity.WARNING,
        "What staff chose for {field} is ignored: the code or the settings seal it.",
    ),
    "unknown_fill_source": (
        Severity.DROPPED,
        "The hidden argument {name} asks the provider {source}, which is not registered.",
    ),
    "variant_body_invalid": (Severity.DROPPED, "The body of this family member cannot be used: {reason}."),
    "variant_body_without_family": (
        Severity.DROPPED,
        "It has a body of its own, which only a member of a family may have.",
    ),
    "variant_indistinguishable": (
        Severity.WARNING,
        "The variants {variants} have one description and take the same arguments, so no agent can choose.",
    ),
    "policy_unused": (Severity.WARNING, "The visibility policy {name} concerns no tool, so it hides nothing."),
    "schema_def_conflict": (Severity.DROPPED, "Two different definitions are named {name}."),
    "tool_over_budget": (
        Severity.WARNING,
        "The loaded tool is {bytes} bytes, over the budget of {limit}; load_tool refuses it until it is shortened.",
    ),
    "not_invocable": (
        Severity.WARNING,
        "No route of this project serves the operation; it is found and loaded, and invoke_tool refuses it.",
    ),
}


def diagnose(code: str, pointer: str = "", /, *, operation: str = "", **facts: object) -> Diagnostic:
    """The diagnostic ``code`` with its sentence filled from ``facts``; an unknown code is a bug (KeyError)."""
    severity, sentence = CODES[code]
    message = sentence.format(**facts)
    return Diagnostic(
        code=code,
        severity=severity,
        pointer=pointer,
        message=message,
        operation=operation,
        name=str(facts.get("name", "")),
        variant=str(facts.get("variant", "")),
    )
