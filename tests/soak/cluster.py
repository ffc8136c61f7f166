"""A PostgreSQL server of one's own, which can be restarted while others go on with theirs."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory


@dataclass(frozen=True)
class Cluster:
    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"postgres://soak@127.0.0.1:{self.port}/postgres"

    def restart(self) -> None:
        """Break every connection, and be away for a moment."""
        _run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "fast", "restart", log=self.folder / "restart.log")


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """A new, empty server; gone with its data afterwards."""
    with TemporaryDirectory(prefix="sezzlee-soak-") as name:
        folder = Path(name)
        if os.geteuid() == 0:  # the server does not run as root
            shutil.chown(folder, "postgres")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        data = str(folder / "data")
        _run("initdb", "-D", data, "-U", "soak", "-A", "trust", "-E", "UTF8", "--no-sync", log=folder / "initdb.log")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c max_connections=200"
        _run(
            "pg_ctl", "-D", data, "-w", "-l", str(folder / "server.log"), "-o", options, "start", log=folder / "pg.log"
        )
        try:
            yield Cluster(folder=folder, port=port)
        finally:
            _run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop", log=folder / "stop.log")


def _run(program: str, *arguments: str, log: Path) -> None:
    command = [_path_of(program), *arguments]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
    # The server inherits what it writes to: a pipe would never end.
    with log.open("wb") as output:
        done = subprocess.run(command, cwd="/", stdout=output, stderr=output, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"{program} failed: {log.read_text()}")


def _path_of(program: str) -> str:
    """Debian keeps the server's programs out of the PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders)]))
    if found is None:
        raise RuntimeError(f"{program} was not found; install the PostgreSQL server.")
    return found
