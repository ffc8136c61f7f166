"""Real servers on one real database, each a process of its own."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVERS = {
    "gunicorn": ["gunicorn", "--config", "project/demo/gunicorn.conf.py", "--bind", "fd://{fd}"],
    "uvicorn": ["uvicorn", "project.asgi:application", "--fd", "{fd}", "--log-level", "warning"],
}


@dataclass(frozen=True)
class Server:
    url: str
    process: subprocess.Popen[bytes]


@pytest.fixture(scope="session")
def database_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database for processes to share."""
    with empty_database("processes", tmp_path_factory) as url:
        yield url


@contextmanager
def empty_database(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database of the kind that the suite runs on."""
    configured = os.environ["DATABASE_URL"]
    if configured.startswith("sqlite"):
        yield f"sqlite:///{tmp_path_factory.mktemp(name) / 'shared.sqlite3'}"
        return
    name = f"sezzlee_{name}_{os.getpid()}"
    with psycopg.connect(configured.replace("postgres://", "postgresql://", 1), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{configured.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def environment(database_url: str) -> dict[str, str]:
    """The processes' environment, with the demo's data and a synced catalog behind it."""
    environment = {**os.environ, "DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": "project.settings"}
    manage(environment, ["migrate"], ["loaddata", "users", "shop"], ["sezzlee_sync"])
    return environment


def manage(environment: dict[str, str], *commands: list[str]) -> None:
    for command in commands:
        words = [sys.executable, "manage.py", *command, "-v0"]
        subprocess.run(words, cwd=ROOT, env=environment, check=True)  # noqa: S603


@pytest.fixture(scope="session")
def servers(environment: dict[str, str]) -> Iterator[dict[str, Server]]:
    """gunicorn (WSGI) and uvicorn (ASGI), by name. The sockets are ours, so a client waits for them and never polls."""
    started = {name: start(command, environment) for name, command in SERVERS.items()}
    yield started
    for server in started.values():
        server.process.terminate()
    for server in started.values():
        server.process.wait(timeout=20)


def start(command: list[str], environment: dict[str, str], *, stderr: int | None = None) -> Server:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        words = [word.format(fd=listener.fileno()) for word in command]
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", *words], cwd=ROOT, env=environment, pass_fds=[listener.fileno()], stderr=stderr
        )
        return Server(url=f"http://127.0.0.1:{listener.getsockname()[1]}", process=process)
