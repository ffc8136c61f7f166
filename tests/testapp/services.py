"""Callers who are no rows: whom an authenticator vouches for by a name in a header."""

from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request


class Service:
    is_authenticated = True

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name

    def has_perm(self, permission: str) -> bool:
        return self._name == "trusted"


class ServiceName(BaseAuthentication):
    def authenticate(self, request: Request) -> Any:
        return Service(request.headers["X-Service"]), None
