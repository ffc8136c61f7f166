"""The suite runs on the demo host; DATABASE_URL selects another database than SQLite in memory."""

import os

os.environ.setdefault("DATABASE_URL", "sqlite://:memory:")

from project.settings import *  # noqa: E402, F403

# The first one makes users fast; the second reads the passwords of the demo's fixtures.
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.MD5PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
