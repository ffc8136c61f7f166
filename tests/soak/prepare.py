"""The host's tables, users and catalog: ``python -m tests.soak.prepare``."""

import django
from django.core.management import call_command

USERS = ("ada", "ben", "cem")


def token_of(user: str) -> str:
    return f"{user}-soak-token"


def main() -> None:
    django.setup()
    from django.contrib.auth.models import User
    from rest_framework.authtoken.models import Token

    call_command("migrate", verbosity=0)
    call_command("migrate", run_syncdb=True, verbosity=0)  # the host's own table, which refers to users
    for name in USERS:
        Token.objects.create(user=User.objects.create_user(name), key=token_of(name))
    call_command("sezzlee_sync", verbosity=0)


if __name__ == "__main__":
    main()
