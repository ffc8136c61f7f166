"""A policy's name -> what it says of one caller."""

from typing import Any

from django.http import HttpRequest
from django.utils.module_loading import import_string

from sezzlee_mcp.catalog.visibility import Answer, PolicyKind, read_policy
from sezzlee_mcp.rollbacks import undone


def ask(policy: str, request: HttpRequest, user: Any) -> Answer:
    """
    The answer of a policy about a user who is known.

    Raises what the host's user model, authentication backend or function raises, TypeError when the function answers
    something else than True, False or None, and ValueError when no policy has this name.
    """
    kind, subject = read_policy(policy)
    said: Any
    match kind:
        case PolicyKind.STAFF:
            said = bool(user.is_staff)
        case PolicyKind.SUPERUSER:
            said = bool(user.is_superuser)
        case PolicyKind.GROUP:
            said = user.groups.filter(name=subject).exists()
        case PolicyKind.PERMISSION:
            said = user.has_perm(subject)
        case PolicyKind.CALLABLE:
            said = undone(lambda: import_string(subject)(request), request)
    if said is None:
        return Answer.UNKNOWN
    if not isinstance(said, bool):
        raise TypeError(f"{policy} answered {type(said).__name__}, not True, False or None")
    return Answer.ALLOW if said else Answer.DENY
