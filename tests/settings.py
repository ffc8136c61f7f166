"""The suite runs on the demo host; DATABASE_URL selects another database than SQLite in memory."""

import os

os.environ.setdefault("DATABASE_URL", "sqlite://:memory:")

from project.settings import *  # noqa: E402, F403
from project.settings import DATABASES, SEZZLEE_MCP  # noqa: E402

if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["TEST"] = {"NAME": f"test_sezzlee_{os.getpid()}"}  # two runs on one server do not meet

# The first one makes users fast; the second reads the passwords of the demo's fixtures.
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.MD5PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]

# A thread that writes while tests run would meet their database; the tests of the counts ask for them.
SEZZLEE_MCP = {**SEZZLEE_MCP, "USE_FLUSH_SECONDS": 0}
