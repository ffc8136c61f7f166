"""manage.py sezzlee_connect"""

import re
from difflib import get_close_matches
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.text import slugify
from drf_spectacular.settings import spectacular_settings

from sezzlee_mcp import conf, signin
from sezzlee_mcp.callers import credential_scheme
from sezzlee_mcp.clients import CLIENTS, TOKEN_VARIABLE, ClientKind, Target
from sezzlee_mcp.management.given_files import MISUSE

_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")


class Command(BaseCommand):
    help = "Print the configuration that connects an MCP client to this project's endpoint."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--client", required=True, metavar="CLIENT", help=f"One of {', '.join(CLIENTS)}.")
        parser.add_argument(
            "--url", metavar="URL", help="The endpoint's address as the client reaches it; RESOURCE when it is set."
        )
        parser.add_argument("--name", metavar="NAME", help="What the client calls the server; the API's title.")

    def handle(self, *, client: str, url: str | None, name: str | None, verbosity: int, **options: Any) -> None:
        kind = self._kind(client)
        target = Target(
            name=name or slugify(spectacular_settings.TITLE) or "backend",
            url=self._address(url),
            scheme=None if signin.is_offered() else credential_scheme(),
        )
        written = kind.write(target)
        self.stdout.write(written)
        if verbosity >= 1:
            self.stderr.write(f"For {kind.place}. {_credential(written)}", style_func=str)

    def _kind(self, client: str) -> ClientKind:
        if client in CLIENTS:
            return CLIENTS[client]
        near = get_close_matches(client, CLIENTS, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        message = f"There is no client {client!r} here; known are {', '.join(CLIENTS)}.{guess}"
        raise CommandError(message, returncode=MISUSE)

    def _address(self, given: str | None) -> str:
        url = given or conf.current().resource
        if url is None:
            message = f"Say where the client finds the endpoint: --url https://example.com/{conf.path()}"
            raise CommandError(message, returncode=MISUSE)
        if not _ADDRESS.fullmatch(url):
            message = f"--url is {url!r}, not an address such as https://example.com/{conf.path()}"
            raise CommandError(message, returncode=MISUSE)
        return url


def _credential(written: str) -> str:
    if TOKEN_VARIABLE in written:
        return f"The token goes where {TOKEN_VARIABLE} stands, or into the environment variable of that name."
    return "The client asks for the token." if "input:" in written else "The client signs its user in."
