"""A compiled tool: what an agent reads of it, what search reads of it, and how a call becomes a request."""

from dataclasses import dataclass
from typing import Any, Self

from sezzlee_mcp.canonical import digest
from sezzlee_mcp.openapi.descriptors import AuthFacts

VERSION_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One declared member of a deepObject query parameter; ``type`` as in ``Slot``."""

    name: str
    type: str
    is_array: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "type": self.type, "array": self.is_array}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(name=value["name"], type=value["type"], is_array=value.get("array", False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """
    Where one parameter's value goes in the request.

    ``type`` is the scalar type that is written: string, integer, number, boolean, object (a deepObject,
    whose ``members`` are declared) or any (a schema that names no one scalar type); with ``is_array`` it is
    that of the elements. ``location`` is path, query or header.
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
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyTemplate:
    """
    How the request body is written.

    Field mode (``argument`` is None): ``properties`` are the arguments that are body fields, and undeclared
    keys pass only when ``is_open``. Root mode: the value of ``argument`` is the whole body.
    """

    content_type: str
    argument: str | None = None
    properties: tuple[str, ...] = ()
    is_open: bool = False
    required: bool = True

    def to_json(self) -> dict[str, Any]:
        return {
            "contentType": self.content_type,
            "argument": self.argument,
            "properties": list(self.properties),
            "open": self.is_open,
            "required": self.required,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            content_type=value["contentType"],
            argument=value["argument"],
            properties=tuple(value["properties"]),
            is_open=value["open"],
            required=value["required"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """
    What composes a tool's arguments into an HTTP request, and what the dispatch checks it against.

    ``route`` is the path template (``/orders/{id}/``), ``resolver_route`` the route that the match must have
    (``orders/<int:pk>/``; None: no view is known, so the tool is not invocable), ``is_localized`` whether
    the address starts with the caller's language. ``accept`` holds the documented success media types, JSON first.
    """

    method: str
    route: str
    slots: tuple[Slot, ...] = ()
    body: BodyTemplate | None = None
    accept: tuple[str, ...] = ()
    resolver_route: str | None = None
    view: str | None = None
    is_localized: bool = False

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The names an agent may send, in published order: parameters first, then the body's."""
        names = tuple(slot.name for slot in self.slots)
        if self.body is None:
            return names
        return (*names, *self.body.properties) if self.body.argument is None else (*names, self.body.argument)

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
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDocument:
    """
    What search reads of a tool, field by field (search.md, "Match and score").

    ``parameters`` holds each root property's key and, as an entry of its own, its description.
    """

    name: str
    description: str
    search_terms: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    route: str = ""
    alternate_routes: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "searchTerms": list(self.search_terms),
            "tags": list(self.tags),
            "route": self.route,
            "alternateRoutes": list(self.alternate_routes),
            "parameters": list(self.parameters),
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
        )


def version_of(loaded: dict[str, Any]) -> str:
    """The fingerprint of a loaded shape, blind to ``authUncertain`` and to ``version`` itself (tools.md, "version")."""
    shape = {key: value for key, value in loaded.items() if key not in {"authUncertain", "version"}}
    return digest(shape)[:VERSION_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """
    One tool of the catalog, complete and immutable.

    ``loaded`` is the loaded shape with its version; ``operation`` is the key of the operation it calls;
    ``input_digest`` covers all that its compilation read, so an equal one need not be compiled again.
    """

    name: str
    operation: str
    loaded: dict[str, Any]
    template: Template
    document: SearchDocument
    auth: AuthFacts
    budget_bytes: int | None = None
    input_digest: str = ""

    @property
    def version(self) -> str:
        return str(self.loaded["version"])

    @property
    def content_digest(self) -> str:
        """The digest of everything that is stored of the tool: any change of it is a new content."""
        return digest(
            [
                self.operation,
                list(self.loaded["inputSchema"].get("properties", ())),  # the order of arguments is read by agents
                self.loaded,
                self.template.to_json(),
                self.document.to_json(),
                self.auth.to_json(),
                self.budget_bytes,
            ]
        )
