"""What `Authorization` may bring and `WWW-Authenticate` answers (protocol.md, section 9; RFC 6750, 9110)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER = re.compile(rf'({_WORD})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|({_WORD}))')
_CHALLENGE = re.compile(rf"({_WORD})(?:\s+({_PARAMETER.pattern}(?:\s*,\s*{_PARAMETER.pattern})*))?\s*", re.DOTALL)
_UNQUOTABLE = re.compile(r"[^\x20-\x7e]+")
_CREDENTIAL = re.compile(r"bearer +[\x21-\x7e]+", re.IGNORECASE)


class TokenError(StrEnum):
    """Why a bearer token is refused, in the words of RFC 6750."""

    INVALID_REQUEST = "invalid_request"
    INVALID_TOKEN = "invalid_token"  # noqa: S105  (the name of an error)
    INSUFFICIENT_SCOPE = "insufficient_scope"

    @property
    def http_status(self) -> int:
        return _STATUS[self]


_STATUS = {TokenError.INVALID_REQUEST: 400, TokenError.INVALID_TOKEN: 401, TokenError.INSUFFICIENT_SCOPE: 403}


def is_bearer(authorization: str) -> bool:
    """Whether an ``Authorization`` header brings a bearer token, or means to."""
    return authorization.lower().split()[:1] == ["bearer"]


def is_malformed(authorization: str) -> bool:
    """Whether a bearer token is missing or more than one; a header that came twice arrives joined with a comma."""
    return is_bearer(authorization) and not _CREDENTIAL.fullmatch(authorization)


def bearer_challenge(
    *,
    resource_metadata: str | None,
    scopes: Sequence[str],
    error: TokenError | None = None,
    description: str = "",
    challenges: Iterable[str] = (),
) -> str:
    """
    The value of ``WWW-Authenticate``: one line that begins with ``Bearer``, every parameter quoted.

    ``challenges`` are what the host's own authenticators say. What they tell of a bearer token is merged into
    ours, save for what this endpoint knows better; other schemes follow; what cannot be read is left out.
    Without an ``error``, when no token came, none is told (RFC 6750, 3.1).

    Clients look for a parameter by its name anywhere in the line, so texts of the host's come after our own.
    """
    read = [challenge for text in challenges if (challenge := _read(text))]
    said = {name: text for each in reversed(read) if each.is_bearer for name, text in each.parameters.items()}
    merged = {
        "error": error or "",
        "resource_metadata": resource_metadata or "",
        "scope": " ".join(scopes) or said.get("scope", ""),
        **{name: text for name, text in said.items() if name not in _OURS},
        "error_description": said.get("error_description", description) if error else "",
    }
    bearer = _Challenge(scheme="Bearer", parameters={name: text for name, text in merged.items() if text})
    others = (each for each in read if not each.is_bearer)
    return ", ".join(dict.fromkeys(str(each) for each in (bearer, *others)))


_OURS = {"error", "resource_metadata", "scope", "error_description"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Challenge:
    scheme: str
    parameters: Mapping[str, str]

    @property
    def is_bearer(self) -> bool:
        return self.scheme.lower() == "bearer"

    def __str__(self) -> str:
        written = ", ".join(f'{name}="{_quotable(text)}"' for name, text in self.parameters.items())
        return f"{self.scheme} {written}".rstrip(" ")


def _read(text: str) -> _Challenge | None:
    found = _CHALLENGE.fullmatch(text)
    if found is None:
        return None
    parameters = {
        name.lower(): re.sub(r"\\(.)", r"\1", quoted) or plain
        for name, quoted, plain in _PARAMETER.findall(found[2] or "")
    }
    return _Challenge(scheme=found[1], parameters=parameters)


def _quotable(text: str) -> str:
    """The text without what ends a quotation or a line; clients do not undo escapes, so there are none."""
    return _UNQUOTABLE.sub(" ", text).replace('"', "'").replace("\\", "/")
