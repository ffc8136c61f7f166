"""A compiled tool: what an agent reads of it, what search reads of it, and how a call becomes a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from sezzlee_mcp.canonical import Writer, sha256
from sezzlee_mcp.catalog.curation import Fill
from sezzlee_mcp.diagnostics import Diagnostic
from sezzlee_mcp.openapi.descriptors import AuthFacts

VERSION_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """
    One declared member of an object that is written member by member: a deepObject parameter, or a form.

    ``type`` as in ``Slot``, or file. ``media_type`` is a file's declared one. ``default`` is what the backend
    takes for an omitted member where a form reads something else (a boolean, P23); ``has_default`` says there is one.
    """

    name: str
    type: str
    is_array: bool = False
    members: tuple["Member", ...] = ()
    media_type: str | None = None
    has_default: bool = False
    default: Any = None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "array": self.is_array,
            "members": [member.to_json() for member in self.members],
            "mediaType": self.media_type,
            **({"default": self.default} if self.has_default else {}),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            name=value["name"],
            type=value["type"],
            is_array=value["array"],
            members=tuple(Member.from_json(member) for member in value["members"]),
            media_type=value["mediaType"],
            has_default="default" in value,
            default=value.get("default"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposed:
    """
    How an agent sends one argument: its name, older names that still count, or not at all.

    ``name`` is None for a hidden argument, whose value ``fill`` gives; its ``aliases`` are then names that are
    refused. ``required`` says that a call has to send exactly one of the name and the aliases, or that the fill has
    to give a value; it is false for a name without aliases, of which the published schema says enough.
    """

    name: str | None
    aliases: tuple[str, ...] = ()
    fill: Fill | None = None
    required: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names that an agent may send, the one that is in force first."""
        return () if self.name is None else (self.name, *self.aliases)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "aliases": list(self.aliases),
            "fill": self.fill and self.fill.to_json(),
            "required": self.required,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            name=value["name"],
            aliases=tuple(value["aliases"]),
            fill=value["fill"] and Fill.from_json(value["fill"]),
            required=value["required"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """
    Where one parameter's value goes in the request.

    ``type`` is the scalar type that is written: string, integer, number, boolean, object (a deepObject, or a
    urlencoded querystring, whose ``members`` are declared), json (with a JSON ``content_type``) or any (a schema that
    names no one scalar type); with ``is_array`` it is that of the elements. ``location`` as in ``Parameter``.
    ``exposed`` is None for an argument that the agent sends under its wire name. ``format`` is that of the schema of
    a path parameter, whose place has to be filled even where nobody calls.
    """

    name: str
    location: str
    type: str
    is_array: bool = False
    required: bool = False
    style: str
    explode: bool
    allow_reserved: bool = False
    members: tuple[Member, ...] = ()
    notation: str = "bracket"
    content_type: str | None = None
    exposed: Exposed | None = None
    format: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "in": self.location,
            "type": self.type,
            "array": self.is_array,
            "required": self.required,
            "style": self.style,
            "explode": self.explode,
            "allowReserved": self.allow_reserved,
            "members": [member.to_json() for member in self.members],
            "notation": self.notation,
            "contentType": self.content_type,
            "exposed": self.exposed and self.exposed.to_json(),
            "format": self.format,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            name=value["name"],
            location=value["in"],
            type=value["type"],
            is_array=value["array"],
            required=value["required"],
            style=value["style"],
            explode=value["explode"],
            allow_reserved=value["allowReserved"],
            members=tuple(Member.from_json(member) for member in value["members"]),
            notation=value["notation"],
            content_type=value["contentType"],
            exposed=value["exposed"] and Exposed.from_json(value["exposed"]),
            format=value["format"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyTemplate:
    """
    How the request body is written.

    Field mode (``argument`` is None): ``properties`` are the wire names of the body's fields, and undeclared
    keys pass only when ``is_open``. Root mode: the value of ``argument`` is the whole body. ``exposed`` holds, by
    wire name (root mode: by ``argument``), the fields that are not sent under it. ``form`` are the fields of a form,
    or the one file of a binary body, named as the argument; ``file_content_type`` as in ``Body``.
    """

    content_type: str
    argument: str | None = None
    properties: tuple[str, ...] = ()
    is_open: bool = False
    required: bool = True
    form: tuple[Member, ...] = ()
    notation: str = "bracket"
    file_content_type: str | None = None
    exposed: Mapping[str, Exposed] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "contentType": self.content_type,
            "argument": self.argument,
            "properties": list(self.properties),
            "open": self.is_open,
            "required": self.required,
            "form": [member.to_json() for member in self.form],
            "notation": self.notation,
            "fileContentType": self.file_content_type,
            "exposed": {name: exposed.to_json() for name, exposed in self.exposed.items()},
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            content_type=value["contentType"],
            argument=value["argument"],
            properties=tuple(value["properties"]),
            is_open=value["open"],
            required=value["required"],
            form=tuple(Member.from_json(member) for member in value["form"]),
            notation=value["notation"],
            file_content_type=value["fileContentType"],
            exposed={name: Exposed.from_json(exposed) for name, exposed in value["exposed"].items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """
    What composes a tool's arguments into an HTTP request, and what the dispatch checks it against.

    ``route`` is the path template (``/orders/{id}/``), ``resolver_route`` the route that the match must have
    (``orders/<int:pk>/``; None: no view is known, so the tool is not invocable), ``is_localized`` whether
    the address starts with the caller's language. ``accept`` holds the documented success media types, JSON first.
    ``deadline_seconds`` (0: none) and ``budget_bytes`` are the call's own limits, None those of the settings.
    """

    method: str
    route: str
    slots: tuple[Slot, ...] = ()
    body: BodyTemplate | None = None
    accept: tuple[str, ...] = ()
    resolver_route: str | None = None
    view: str | None = None
    is_localized: bool = False
    file_sources: tuple[str, ...] = ("text", "base64")
    deadline_seconds: float | None = None
    budget_bytes: int | None = None

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The names an agent may send, in published order: parameters first, then the body's."""
        exposures = [(slot.name, slot.exposed) for slot in self.slots]
        if self.body is not None:
            wire_names = self.body.properties if self.body.argument is None else (self.body.argument,)
            exposures += [(name, self.body.exposed.get(name)) for name in wire_names]
        return tuple(name for wire, exposed in exposures for name in (exposed.names if exposed else (wire,)))

    def to_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "route": self.route,
            "slots": [slot.to_json() for slot in self.slots],
            "body": self.body and self.body.to_json(),
            "accept": list(self.accept),
            "resolverRoute": self.resolver_route,
            "view": self.view,
            "isLocalized": self.is_localized,
            "fileSources": list(self.file_sources),
            "deadlineSeconds": self.deadline_seconds,
            "budgetBytes": self.budget_bytes,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            method=value["method"],
            route=value["route"],
            slots=tuple(Slot.from_json(slot) for slot in value["slots"]),
            body=value["body"] and BodyTemplate.from_json(value["body"]),
            accept=tuple(value["accept"]),
            resolver_route=value["resolverRoute"],
            view=value["view"],
            is_localized=value["isLocalized"],
            file_sources=tuple(value["fileSources"]),
            deadline_seconds=value["deadlineSeconds"],
            budget_bytes=value["budgetBytes"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDocument:
    """
    What search reads of a tool, field by field (search.md, "Match and score").

    ``parameters`` holds each root property's key and, as an entry of its own, its description; ``members`` the same of
    the objects in a body that is one argument, as one that takes an object or a list of them.
    """

    name: str
    description: str
    search_terms: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    route: str = ""
    alternate_routes: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    method: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "searchTerms": list(self.search_terms),
            "tags": list(self.tags),
            "route": self.route,
            "alternateRoutes": list(self.alternate_routes),
            "parameters": list(self.parameters),
            "members": list(self.members),
            "method": self.method,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            name=value["name"],
            description=value["description"],
            search_terms=tuple(value["searchTerms"]),
            tags=tuple(value["tags"]),
            route=value["route"],
            alternate_routes=tuple(value["alternateRoutes"]),
            parameters=tuple(value["parameters"]),
            members=tuple(value["members"]),
            method=value["method"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """
    One tool of the catalog, complete and immutable.

    ``loaded`` is the loaded shape with its version, ``loaded_bytes`` its size as JSON; ``operation`` is the key of
    the operation it calls. ``input_digest`` covers all that its compilation read, so an equal one need not be
    compiled again. ``content_digest`` covers all that is read of it once it is published, so any change of that is a
    new content. ``findings`` are what its compilation had to say.
    ``is_variant`` tells a variant from an operation's own tool.
    """

    name: str
    operation: str
    loaded: dict[str, Any]
    template: Template
    document: SearchDocument
    auth: AuthFacts
    input_digest: str
    content_digest: str
    loaded_bytes: int
    findings: tuple[Diagnostic, ...]
    is_variant: bool = False

    @classmethod
    def of(
        cls,
        *,
        operation: str,
        shape: dict[str, Any],
        template: Template,
        document: SearchDocument,
        auth: AuthFacts,
        input_digest: str,
        findings: tuple[Diagnostic, ...],
        writer: Writer,
        is_variant: bool = False,
    ) -> Self:
        """The tool whose loaded shape is ``shape`` and, on top of that, its version (tools.md, "version")."""
        written = writer.settled(shape)
        fingerprint = sha256(written)
        version = fingerprint[:VERSION_DIGITS]
        content = [
            operation,
            list(shape["inputSchema"]["properties"]),  # the order of arguments is read by agents
            fingerprint,
            template.to_json(),
            document.to_json(),
            auth.to_json(),
            is_variant,
        ]
        return cls(
            name=shape["name"],
            operation=operation,
            loaded={**shape, "version": version},
            template=template,
            document=document,
            auth=auth,
            input_digest=input_digest,
            content_digest=writer.digest(content),
            loaded_bytes=len(written.encode()) + len(f',"version":"{version}"'),
            is_variant=is_variant,
            findings=findings,
        )

    @property
    def version(self) -> str:
        return str(self.loaded["version"])
