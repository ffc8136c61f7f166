"""Functions of a host's that visibility policies name."""

from django.http import HttpRequest


def has_short_name(request: HttpRequest) -> bool | None:
    name = request.user.get_username()
    return None if name.startswith("maybe") else len(name) < 4


def fails(request: HttpRequest) -> bool:
    raise RuntimeError("the secret reason")


def answers_text(request: HttpRequest) -> str:
    return "no"


NO_FUNCTION = 1
