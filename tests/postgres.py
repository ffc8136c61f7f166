"""
``python -m tests.postgres`` prints the address of a PostgreSQL to test on, or nothing when none answers.

DATABASE_URL is asked when it names one, else the local default. Exit 1 when none answers and POSTGRES=required.
"""

import os
import sys

import psycopg

LOCAL_DEFAULT = "postgres://postgres@127.0.0.1:5432/postgres"


def main() -> int:
    given = os.environ.get("DATABASE_URL", "")
    url = given if given.startswith(("postgres://", "postgresql://")) else LOCAL_DEFAULT
    try:
        psycopg.connect(url.replace("postgres://", "postgresql://", 1), connect_timeout=3).close()
    except psycopg.OperationalError as error:
        print(f"No PostgreSQL answers at {url.rpartition('@')[2]}: {error}", file=sys.stderr)  # noqa: T201  (a command)
        return 1 if os.environ.get("POSTGRES") == "required" else 0
    print(url)  # noqa: T201  (a command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
