"""Real servers on one real database, each a process of its own."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
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
    """An empty database of the kind that the suite runs on, for processes to share."""
    configured = os.environ["DATABASE_URL"]
    if configured.startswith("sqlite"):
        yield f"sqlite:///{tmp_path_factory.mktemp('processes') / 'shared.sqlite3'}"
        return
    name = f"sezzlee_processes_{os.getpid()}"
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
    for command in (["migrate", "-v0"], ["loaddata", "users", "shop", "-v0"], ["sezzlee_sync", "-v0"]):
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True)  # noqa: S603
    return environment


@pytest.fixture(scope="session")
def servers(environment: dict[str, str]) -> Iterator[dict[str, Server]]:
    """gunicorn (WSGI) and uvicorn (ASGI), by name. The sockets are ours, so a client waits for them and never polls."""
    started = {name: _start(command, environment) for name, command in SERVERS.items()}
    yield started
    for server in started.values():
        server.process.terminate()
    for server in started.values():
        server.process.wait(timeout=20)


def _start(command: list[str], environment: dict[str, str]) -> Server:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        words = [word.format(fd=listener.fileno()) for word in command]
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", *words], cwd=ROOT, env=environment, pass_fds=[listener.fileno()]
        )
        return Server(url=f"http://127.0.0.1:{listener.getsockname()[1]}", process=process)
