"""Parameters, the route's variables among them (operations.md, "Parameters")."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sezzlee_mcp.openapi import rewrites
from sezzlee_mcp.openapi.credentials import Carrier, SecuritySchemes, carrier, looks_like_identity
from sezzlee_mcp.openapi.descriptors import Parameter
from sezzlee_mcp.openapi.findings import Findings, kind
from sezzlee_mcp.openapi.forms import Form
from sezzlee_mcp.openapi.headers import is_reserved
from sezzlee_mcp.openapi.media_types import TEXT, URLENCODED, essence, is_json
from sezzlee_mcp.openapi.normalize import Direction
from sezzlee_mcp.openapi.references import Located
from sezzlee_mcp.openapi.slots import Slots

# location -> the styles that are written there, OpenAPI's default first
STYLES = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple", "form"),
    "cookie": ("form", "cookie"),
    "querystring": ("form",),
}
_EXPLODED = frozenset({"form", "cookie"})  # the styles that explode unless they say otherwise
_IDENTITY_HEADERS = frozenset({("header", "cookie"), ("header", "proxy-authorization")})
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # what names a header (RFC 9110) or a cookie (RFC 6265)
_VARIABLE = re.compile(r"\{([^{}]+)\}")


def variables_of(route: str) -> list[str]:
    """The names in braces, in order; a name may repeat, stand inside a segment or be all of it (P10-P12)."""
    return _VARIABLE.findall(route)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterReader:
    """Lowers the parameters of one operation; ``path`` is the pointer of its path in the document."""

    route: str
    path: str
    schemes: SecuritySchemes
    slots: Slots
    findings: Findings

    def lower(self, item: Located, operation: Located) -> tuple[Parameter, ...]:
        """The parameters of the path item and of the operation, whose declarations win, then undeclared variables."""
        declared = {**self._declared(item), **self._declared(operation)}
        used = self.schemes.used_by(operation)
        variables = variables_of(self.route)
        arguments = [parameter for parameter in declared.values() if self._is_argument(parameter, used)]
        self._check_querystrings(arguments)
        named = [self._lowered(parameter) for parameter in arguments]
        for name in sorted({name for name in variables if variables.count(name) > 1}):
            self.findings.add("path_parameter_repeated", self.path, name=name)
        missing = [name for name in dict.fromkeys(variables) if ("path", name) not in declared]
        return (*(parameter for parameter in named if parameter is not None), *self._undeclared(missing))

    def _declared(self, owner: Located) -> dict[Carrier, Located]:
        listed = owner.member("parameters")
        if listed.value is not None and not isinstance(listed.value, list):
            self.findings.add("operation_invalid", listed.at, reason=f"parameters is {kind(listed.value)}, not a list")
            return {}
        declared: dict[Carrier, Located] = {}
        for index, value in enumerate(listed.value or ()):
            parameter = self._parameter(Located(value=value, at=f"{listed.at}/{index}"))
            if parameter is None:
                continue
            name, location = parameter.value["name"], parameter.value["in"]
            if carrier(location, name) in declared:
                self.findings.add("duplicate_parameter", parameter.at, name=name, location=location)
            declared[carrier(location, name)] = parameter
        return declared

    def _parameter(self, listed: Located) -> Located | None:
        parameter = self.slots.references.follow(listed, self.findings)
        if parameter is None:
            return None
        for member in ("name", "in"):
            if not isinstance(parameter.mapping.get(member), str):
                self.findings.add("operation_invalid", parameter.at, reason=f"a parameter has no text as its {member}")
                return None
        return parameter

    def _is_argument(self, parameter: Located, used: frozenset[Carrier]) -> bool:
        name, location = parameter.value["name"], parameter.value["in"]
        if location == "header" and is_reserved(name):
            self.findings.add("reserved_header_parameter_ignored", parameter.at, name=name)
        elif carrier(location, name) in used:
            self.findings.add("credential_parameter_ignored", parameter.at, name=name)
        elif location == "cookie" and (looks_like_identity(name) or self.schemes.names_cookie(name)):
            self.findings.add("identity_cookie_parameter", parameter.at, name=name)
            if not self.schemes.names_cookie(name):
                self.findings.add("identity_cookie_uncovered", parameter.at, name=name)
        elif location == "path" and name not in variables_of(self.route):
            self.findings.add("path_parameter_not_in_route", parameter.at, name=name)
        else:
            return True
        return False

    def _check_querystrings(self, arguments: Iterable[Located]) -> None:
        """A querystring parameter is the whole query: there is no second one, and nothing beside it."""
        by_location: dict[str, list[Located]] = {"query": [], "querystring": []}
        for parameter in arguments:
            by_location.setdefault(parameter.value["in"], []).append(parameter)
        others = ", ".join(parameter.value["name"] for parameter in by_location["query"])
        for position, parameter in enumerate(by_location["querystring"]):
            name = parameter.value["name"]
            if position:
                self.findings.add("multiple_querystring", parameter.at, name=name)
            if others:
                self.findings.add("querystring_with_query", parameter.at, name=name, others=others)

    def _lowered(self, parameter: Located) -> Parameter | None:
        name, location = parameter.value["name"], parameter.value["in"]
        if location not in STYLES:
            self.findings.add("unsupported_parameter_location", parameter.at, name=name, location=location)
        elif self._carries_identity(name, location):
            self.findings.add("identity_carrier_parameter", parameter.at, name=name, location=location)
        elif location in {"cookie", "header"} and not _TOKEN.fullmatch(name):
            self.findings.add(f"invalid_{location}_name", parameter.at, name=name)
        elif location == "querystring" or parameter.member("content").value is not None:
            return self._with_content(parameter)
        elif (written := self._written_form(parameter)) is not None:
            lowered = self._with_schema(parameter, parameter.member("schema"), *written)
            if location != "cookie" or not lowered.explode or "array" not in rewrites.type_list(lowered.schema):
                return lowered
            style = f"{lowered.style} with explode"  # it would be several cookies of one name
            self.findings.add("unsupported_parameter_style", parameter.at, name=name, location=location, style=style)
        return None

    def _carries_identity(self, name: str, location: str) -> bool:
        return carrier(location, name) in _IDENTITY_HEADERS.union(self.schemes.carriers.values())

    def _with_content(self, parameter: Located) -> Parameter | None:
        """The parameter that is one media type written as a text: style and explode say nothing of it."""
        name, location, content = parameter.value["name"], parameter.value["in"], parameter.member("content")
        said = ", ".join(content.mapping) or "of no media type"
        if len(content.mapping) == 1:
            [media_type] = content.mapping
            schema = content.member(media_type).member("schema")
            lowered = self._with_schema(parameter, schema, STYLES[location][0], False, essence(media_type))
            reason = "and by a style" if parameter.member("style").value is not None else _unwritable(lowered)
            if reason is None:
                return lowered
            said = f"{media_type} ({reason})"
        self.findings.add("unsupported_parameter_content", content.at, name=name, location=location, media_types=said)
        return None

    def _written_form(self, parameter: Located) -> tuple[str, bool] | None:
        """Style and explode, with OpenAPI's defaults."""
        name, location = parameter.value["name"], parameter.value["in"]
        style, explode = parameter.member("style"), parameter.member("explode")
        written = STYLES[location][0] if style.value is None else style.value
        if written not in STYLES[location]:
            self.findings.add("unsupported_parameter_style", parameter.at, name=name, location=location, style=written)
            return None
        if not isinstance(explode.value, bool | None):
            reason = f"explode of parameter {name} is {kind(explode.value)}, not a boolean"
            self.findings.add("operation_invalid", explode.at, reason=reason)
            return None
        return written, written in _EXPLODED if explode.value is None else explode.value

    def _with_schema(
        self, parameter: Located, schema: Located, style: str, explode: bool, content_type: str | None = None
    ) -> Parameter:
        raw = parameter.value
        slot = self.slots.read(schema, Direction.REQUEST, self.findings)
        if slot.is_circular:
            self.findings.add("recursive_parameter_schema", parameter.at, name=raw["name"])
        description = raw.get("description")
        return Parameter(
            name=raw["name"],
            location=raw["in"],
            required=raw["in"] == "path" or raw.get("required") is True,
            schema={**slot.schema, "deprecated": True} if raw.get("deprecated") is True else slot.schema,
            style=style,
            explode=explode,
            allow_reserved=raw["in"] == "query" and raw.get("allowReserved") is True,
            content_type=content_type,
            description=description if isinstance(description, str) and description else None,
        )

    def _undeclared(self, names: Iterable[str]) -> list[Parameter]:
        parameters = []
        for name in names:
            self.findings.add("undeclared_path_parameter", self.path, name=name)
            parameters.append(
                Parameter(
                    name=name,
                    location="path",
                    required=True,
                    schema={"type": "string"},
                    style="simple",
                    explode=False,
                )
            )
        return parameters


def _unwritable(parameter: Parameter) -> str | None:
    """Why the parameter's content is not written; None when it is."""
    media_type, is_whole_query = str(parameter.content_type), parameter.location == "querystring"
    if is_json(media_type):
        return None
    if media_type == TEXT and not is_whole_query:
        return None if set(rewrites.type_list(parameter.schema)) <= {"string"} else "a text is a string"
    if media_type == URLENCODED and is_whole_query:
        return Form(schema=parameter.schema).misfit(allows_files=False)
    return "not one of its media types"
