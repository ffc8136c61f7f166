"""Which parameters are a credential by the document's own security schemes."""

from dataclasses import dataclass
from typing import Any

from sezzlee_mcp.openapi.findings import Findings
from sezzlee_mcp.openapi.headers import folded
from sezzlee_mcp.openapi.references import Located, References

_IDENTITY_WORDS = ("session", "sid", "token", "auth", "jwt", "sess", "csrf")

Carrier = tuple[str, str]  # location and name


def carrier(location: str, name: str) -> Carrier:
    """Where a value travels, in one spelling."""
    return location, folded(name) if location == "header" else name


def looks_like_identity(cookie: str) -> bool:
    folded = cookie.lower()
    return any(word in folded for word in _IDENTITY_WORDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuritySchemes:
    """The carriers of a document's apiKey schemes, by the scheme's name; other schemes use reserved headers."""

    carriers: dict[str, Carrier]
    default: Any

    @classmethod
    def of(cls, document: Located, references: References) -> "SecuritySchemes":
        schemes = document.member("components").member("securitySchemes")
        found = {name: references.follow(schemes.member(name), Findings()) for name in schemes.mapping}
        carriers = {
            name: carrier(scheme.value["in"], scheme.value["name"])
            for name, scheme in found.items()
            if scheme is not None and _is_api_key(scheme.value)
        }
        return cls(carriers=carriers, default=document.member("security").value)

    def used_by(self, operation: Located) -> frozenset[Carrier]:
        """The carriers of the schemes that the operation names, or the document for all that name none."""
        declared = operation.member("security").value
        requirements = self.default if declared is None else declared
        named = [name for item in _objects(requirements) for name in item]
        return frozenset(self.carriers[name] for name in named if name in self.carriers)

    def names_cookie(self, cookie: str) -> bool:
        return ("cookie", cookie) in self.carriers.values()


def _is_api_key(scheme: Any) -> bool:
    return (
        isinstance(scheme, dict)
        and scheme.get("type") == "apiKey"
        and isinstance(scheme.get("in"), str)
        and isinstance(scheme.get("name"), str)
    )


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
