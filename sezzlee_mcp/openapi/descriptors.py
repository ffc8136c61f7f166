"""The neutral, typed form of an operation that every later step reads."""

from dataclasses import dataclass, field
from typing import Any, Self

# An operation object of the document carries this key when the document was generated in process; its
# value is an Endpoint in JSON. It is how the real route and the view survive a trimmed path (P8).
ENDPOINT_KEY = "x-sezzlee-endpoint"
# The key under which @extend_schema(extensions=...) and the code markers put what a tool should be.
EXTENSION_KEY = "x-sezzlee"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthFacts:
    """What is known about who may use an operation (visibility.md, "Facts stored per operation")."""

    anonymous: str = "unknown"  # yes, no or unknown
    policies: tuple[str, ...] = ()
    imperative: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"anonymous": self.anonymous, "policies": list(self.policies), "imperative": self.imperative}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            anonymous=value["anonymous"], policies=tuple(value["policies"]), imperative=bool(value["imperative"])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """
    The DRF view behind an operation; there is none when the document came from a file.

    ``path`` is the full route template (``/api/orders/{id}/``), whatever the document trimmed.
    ``route`` is the resolver's own (``api/orders/<int:pk>/``), without a language prefix.
    ``is_extra_action`` marks an extra route of a viewset (``/orders/{id}/cancel/``), ``is_localized`` a
    route inside ``i18n_patterns``, whose address starts with the caller's language.
    """

    path: str
    route: str
    view: str
    action: str = ""
    is_extra_action: bool = False
    is_localized: bool = False
    auth: AuthFacts = AuthFacts()

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "route": self.route,
            "view": self.view,
            "action": self.action,
            "isExtraAction": self.is_extra_action,
            "isLocalized": self.is_localized,
            "auth": self.auth.to_json(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            path=value["path"],
            route=value["route"],
            view=value["view"],
            action=value["action"],
            is_extra_action=value["isExtraAction"],
            is_localized=value["isLocalized"],
            auth=AuthFacts.from_json(value["auth"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """
    One parameter, its schema normalised to JSON Schema 2020-12 with its own ``$defs``.

    ``location`` is path, query, header, cookie or querystring (the whole query); ``style`` and ``explode`` are
    always explicit. ``content_type`` is the media type of a parameter that is described by ``content``.
    """

    name: str
    location: str
    required: bool
    schema: dict[str, Any]
    style: str
    explode: bool
    allow_reserved: bool = False
    content_type: str | None = None
    description: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "in": self.location,
            "required": self.required,
            "schema": self.schema,
            "style": self.style,
            "explode": self.explode,
            "allowReserved": self.allow_reserved,
            "contentType": self.content_type,
            "description": self.description,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            name=value["name"],
            location=value["in"],
            required=value["required"],
            schema=value["schema"],
            style=value["style"],
            explode=value["explode"],
            allow_reserved=value["allowReserved"],
            content_type=value["contentType"],
            description=value["description"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """
    The request body in the one media type that was chosen for it.

    ``file_content_type`` is multipart/form-data when JSON was chosen, multipart is declared too and the schema has
    a file field: a call that supplies a file is written so (P23). ``defaults`` are those of the root's fields, which
    no published schema carries; a form needs them for booleans. ``notation`` is how a form names nested members:
    bracket, dot or drf (invoke.md, "Bodies").
    """

    schema: dict[str, Any]
    required: bool
    content_type: str
    file_content_type: str | None = None
    defaults: dict[str, Any] = field(default_factory=dict)
    notation: str = "bracket"

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": self.schema,
            "required": self.required,
            "contentType": self.content_type,
            "fileContentType": self.file_content_type,
            "defaults": self.defaults,
            "notation": self.notation,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            schema=value["schema"],
            required=value["required"],
            content_type=value["contentType"],
            file_content_type=value["fileContentType"],
            defaults=value["defaults"],
            notation=value["notation"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One documented answer; ``status`` is a code, a range (``2XX``) or ``default``."""

    status: str
    schema: dict[str, Any] | None = None
    description: str | None = None
    media_types: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "schema": self.schema,
            "description": self.description,
            "mediaTypes": list(self.media_types),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            status=value["status"],
            schema=value["schema"],
            description=value["description"],
            media_types=tuple(value["mediaTypes"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """
    An operation of the document without its slots: all that decides whether it is a tool, and under which name.

    Nothing here was curated by staff. ``container`` is the document's first tag. ``extension`` is the operation's
    ``x-sezzlee`` object as it stood.
    """

    method: str  # upper case
    route: str  # a template with {names}; the endpoint's path when there is one
    operation_id: str | None = None
    container: str | None = None
    summary: str | None = None
    description: str | None = None
    deprecated: bool = False
    tags: tuple[str, ...] = ()
    search_terms: tuple[str, ...] = ()
    extension: dict[str, Any] | None = None
    endpoint: Endpoint | None = None

    @property
    def key(self) -> str:
        """``"GET /orders/{id}/"``: what identifies an operation from one document to the next."""
        return f"{self.method} {self.route}"

    @property
    def auth(self) -> AuthFacts:
        return self.endpoint.auth if self.endpoint else AuthFacts()

    def to_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "route": self.route,
            "operationId": self.operation_id,
            "container": self.container,
            "summary": self.summary,
            "description": self.description,
            "deprecated": self.deprecated,
            "tags": list(self.tags),
            "searchTerms": list(self.search_terms),
            "extension": self.extension,
            "endpoint": self.endpoint and self.endpoint.to_json(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(**_outlined(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor(Outline):
    """
    One operation of the document, complete.

    ``parameters`` keep the document's order, ``responses`` too. Its JSON has the members of outline and slots.
    """

    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    responses: tuple[Response, ...] = ()

    def slots_to_json(self) -> dict[str, Any]:
        return {
            "parameters": [parameter.to_json() for parameter in self.parameters],
            "body": self.body and self.body.to_json(),
            "responses": [response.to_json() for response in self.responses],
        }

    def to_json(self) -> dict[str, Any]:
        return {**Outline.to_json(self), **self.slots_to_json()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            **_outlined(value),
            parameters=tuple(Parameter.from_json(item) for item in value["parameters"]),
            body=value["body"] and Body.from_json(value["body"]),
            responses=tuple(Response.from_json(item) for item in value["responses"]),
        )


def _outlined(value: dict[str, Any]) -> dict[str, Any]:
    return {
        "method": value["method"],
        "route": value["route"],
        "operation_id": value["operationId"],
        "container": value["container"],
        "summary": value["summary"],
        "description": value["description"],
        "deprecated": value["deprecated"],
        "tags": tuple(value["tags"]),
        "search_terms": tuple(value["searchTerms"]),
        "extension": value["extension"],
        "endpoint": value["endpoint"] and Endpoint.from_json(value["endpoint"]),
    }
