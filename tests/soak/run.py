"""
Three users' agents against a host under load and faults: ``python -m tests.soak.run --server gunicorn --seconds 60``.

Views hang, fail, stream and write, the catalog is republished every second, and the database is restarted half-way.
What is asked of the package afterwards is at the end of ``check``; status 1 when any of it does not hold.
"""
# ruff: noqa: T201 - what a soak prints is its result

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from threading import Event, Lock, Thread
from typing import Any
from uuid import UUID

import psycopg

from tests.soak.cluster import Cluster, running_cluster
from tests.soak.prepare import USERS, token_of

ROOT = Path(__file__).resolve().parents[2]
PROCESSES, THREADS, CALL_THREADS, CLIENTS = 2, 8, 8, 12
SERVERS = {
    "gunicorn": [
        *("gunicorn", "tests.soak.wsgi:application", "--bind", "fd://{fd}", "--log-level", "warning"),
        *("--workers", str(PROCESSES), "--threads", str(THREADS), "--no-control-socket"),
    ],
    "uvicorn": [
        *("uvicorn", "tests.soak.asgi:application", "--fd", "{fd}", "--log-level", "warning"),
        *("--workers", str(PROCESSES)),
    ],
}
# Under ASGI each request has a new thread, in which a kept connection would stay behind; Django says to keep none.
CONN_MAX_AGE = {"gunicorn": "60", "uvicorn": "0"}
# Under ASGI each request has a thread of its own while its synchronous part runs: as many as there are clients.
REQUEST_THREADS = {"gunicorn": PROCESSES * THREADS, "uvicorn": CLIENTS}
# Per server: the threads of requests, those of calls, one reader and one writer of each process; then ours.
OTHERS = 2
GROWTH_BYTES = 48 * 1024 * 1024  # per process, after a warm-up of a third of the time
WEIGHTS = {
    "search": 20,
    "load": 12,
    "pinned": 8,
    "me": 20,
    "create": 20,
    "list": 8,
    "foreign": 6,
    "stream": 6,
    "flood": 2,
    "fail": 5,
    "hang": 3,
}
SETTLED_SECONDS = 10  # how long after the restart a call may still fail


@dataclass
class Findings:
    """What the run saw, from all threads."""

    outcomes: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    failures: list[tuple[float, str]] = field(default_factory=list)  # when a call failed that had no reason of its own
    kept: set[tuple[str, str]] = field(default_factory=set)  # writes that were answered as done
    never: set[tuple[str, str]] = field(default_factory=set)  # writes of a view that broke
    unsure: set[tuple[str, str]] = field(default_factory=set)  # writes whose answer was a timeout or a failure
    lock: Lock = field(default_factory=Lock)

    def saw(self, action: str, outcome: str) -> None:
        with self.lock:
            self.outcomes[f"{action}: {outcome}"] += 1

    def violated(self, text: str) -> None:
        with self.lock:
            self.violations.append(text)

    def failed(self, text: str) -> None:
        with self.lock:
            self.failures.append((time.monotonic(), text))


class Agent:
    """One client of one user: a kept connection, calls at random, and an eye on each answer."""

    def __init__(self, port: int, user: str, findings: Findings, seed: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=30)
        self._user = user
        self._findings = findings
        self._random = Random(seed)  # noqa: S311  (load, not secrets)
        self._keys: list[str] = []
        self._version = ""

    def work(self, ended: Event) -> None:
        while not ended.is_set():
            (action,) = self._random.choices(list(WEIGHTS), list(WEIGHTS.values()))
            try:
                self._act(action)
            except (HTTPException, OSError, ValueError, KeyError) as error:
                self._findings.violated(f"{action}: no clean answer: {type(error).__name__}: {error}")
                self._connection.close()

    def _act(self, action: str) -> None:
        getattr(self, f"_{action}")(action)

    def _search(self, action: str) -> None:
        envelope = self._ask(action, "search_tools", {"query": "create an entry"})
        if envelope is not None and envelope.get("total", 0) < 3:
            self._findings.violated(f"search found {envelope}")

    def _load(self, action: str) -> None:
        envelope = self._ask(action, "load_tool", {"name": "who_am_i"})
        self._version = (envelope or {}).get("version", "")

    def _pinned(self, action: str) -> None:
        pinned = {"version": self._version} if self._version else {}
        envelope = self._ask(action, "invoke_tool", {"name": "who_am_i", **pinned}, allowed=("tool_changed",))
        self._is_own(envelope)

    def _me(self, action: str) -> None:
        self._is_own(self._ask(action, "invoke_tool", {"name": "who_am_i"}))

    def _is_own(self, envelope: dict[str, Any] | None) -> None:
        if envelope is not None and "body" in envelope and envelope["body"] != {"owner": self._user}:
            self._findings.violated(f"{self._user} was told {envelope['body']}")

    def _list(self, action: str) -> None:
        envelope = self._invoke(action, "entries_list", {}) or {}
        strangers = [row for row in envelope.get("body", ()) if row["owner"] != self._user]
        if strangers:
            self._findings.violated(f"{self._user} was shown {strangers[0]}")

    def _create(self, action: str) -> None:
        key = self._new_key()
        envelope = self._invoke(action, "entries_create", {"key": key})
        if envelope is not None and envelope.get("status") == 201:
            self._keys.append(key)
        self._book(key, "kept" if envelope is not None and envelope.get("status") == 201 else "unsure")

    def _foreign(self, action: str) -> None:
        """A key that another user's agent wrote under: this user has no such entry."""
        with self._findings.lock:
            foreign = [key for owner, key in list(self._findings.kept)[:50] if owner != self._user]
        if foreign:
            envelope = self._invoke(action, "entry_read", {"key": foreign[0]}, allowed=("not_found",))
            if envelope is not None and "body" in envelope:
                self._findings.violated(f"{self._user} read {envelope['body']}")

    def _stream(self, action: str) -> None:
        envelope = self._invoke(action, "stream_read", {"size": 500}) or {}
        if "body" in envelope and envelope["body"] != f"{self._user}\n" * 500:
            self._findings.violated(f"{self._user} was streamed {envelope['body'][:80]!r}")

    def _flood(self, action: str) -> None:
        envelope = self._invoke(action, "stream_read", {"size": 10_000_000}, allowed=("response_too_large",))
        if envelope is not None and "status" in envelope and "body" in envelope:
            self._findings.violated("a stream over the budget was answered")

    def _fail(self, action: str) -> None:
        key = self._new_key()
        self._book(key, "never")
        self._invoke(action, "failing_entry_create", {"key": key}, allowed=("backend_error",))

    def _hang(self, action: str) -> None:
        key = self._new_key()
        self._book(key, "unsure")
        envelope = self._invoke(action, "hanging_entry_create", {"key": key})
        if envelope is not None and "body" in envelope:
            self._findings.violated("a view that hangs was waited for")

    def _invoke(
        self, action: str, name: str, arguments: dict[str, Any], allowed: tuple[str, ...] = ()
    ) -> dict[str, Any] | None:
        return self._ask(action, "invoke_tool", {"name": name, "arguments": arguments}, allowed)

    def _ask(
        self, action: str, tool: str, arguments: dict[str, Any], allowed: tuple[str, ...] = ()
    ) -> dict[str, Any] | None:
        """The envelope; None for a clean HTTP error, which is a failure to be explained."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        headers = {"Content-Type": "application/json", "Authorization": f"Token {token_of(self._user)}"}
        self._connection.request("POST", "/mcp", json.dumps(message), headers)
        response = self._connection.getresponse()
        reply = json.loads(response.read())
        if response.status != 200:
            outcome = f"HTTP {response.status}, code {reply['error']['code']}"
            self._findings.saw(action, outcome)
            self._findings.failed(f"{action}: {outcome}")
            return None
        if "result" not in reply:  # a 2025-era client reads errors at status 200
            self._findings.saw(action, f"code {reply['error']['code']}")
            self._findings.failed(f"{action}: code {reply['error']['code']}")
            return None
        envelope: dict[str, Any] = json.loads(reply["result"]["content"][0]["text"])
        outcome = envelope.get("error", "ok")
        self._findings.saw(action, outcome)
        if outcome not in ("ok", "invoke_timeout", *allowed):
            self._findings.failed(f"{action}: {outcome}: {envelope['message']}")
        return envelope

    def _new_key(self) -> str:
        return UUID(int=self._random.getrandbits(128)).hex

    def _book(self, key: str, list_name: str) -> None:
        with self._findings.lock:
            getattr(self._findings, list_name).add((self._user, key))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", choices=SERVERS, default="gunicorn")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with running_cluster() as cluster:
        return soak(cluster, options.server, options.seconds, options.seed)


def soak(cluster: Cluster, server: str, seconds: float, seed: int) -> int:
    environment = {**os.environ, "DATABASE_URL": cluster.url, "DJANGO_SETTINGS_MODULE": "tests.soak.settings"}
    environment["CONN_MAX_AGE"] = CONN_MAX_AGE[server]
    _python(environment, "-m", "tests.soak.prepare")
    findings, ended = Findings(), Event()
    log = cluster.folder / "soak.log"
    with log.open("wb") as output, _serving(server, environment, output) as (port, process):
        publisher = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "tests.soak.publisher"], cwd=ROOT, env=environment, stdout=subprocess.PIPE
        )
        agents = [Agent(port, USERS[n % len(USERS)], findings, seed * 1000 + n) for n in range(CLIENTS)]
        threads = [Thread(target=agent.work, args=(ended,)) for agent in agents]
        for thread in threads:
            thread.start()
        watch = Watch(cluster.url, process.pid)
        watch.during(seconds / 3)
        warm_bytes = watch.memory_bytes()
        watch.during(seconds / 6)
        restarting = time.monotonic()
        cluster.restart()
        restarted = time.monotonic()
        watch.during(seconds / 2)
        ended.set()
        for thread in threads:
            thread.join()
        publisher.terminate()
        published = json.loads(publisher.communicate(timeout=20)[0])
        growth = {pid: size - warm_bytes[pid] for pid, size in watch.memory_bytes().items() if pid in warm_bytes}
        is_whole = watch.memory_bytes().keys() == warm_bytes.keys()
    # The server has ended, and with it every call: what is in the database now is what came of them.
    violations = [
        *findings.violations,
        *_unexplained(findings, restarting, restarted + SETTLED_SECONDS),
        *_misbooked(findings, _rows(cluster.url)),
    ]
    bound = REQUEST_THREADS[server] + PROCESSES * (CALL_THREADS + 2) + OTHERS
    if watch.connections_at_most > bound:
        violations.append(f"{watch.connections_at_most} connections, more than {bound}")
    if max(growth.values()) > GROWTH_BYTES:
        violations.append(f"a process grew by {max(growth.values())} bytes, more than {GROWTH_BYTES}")
    if not is_whole:
        violations.append("a process of the server died")
    if not published["published"]:
        violations.append("nothing was published")
    _print(server, seconds, findings, watch, growth, published)
    for violation in violations[:20]:
        print(f"  VIOLATION {violation}")
    print(f"  {len(violations)} violations")
    if violations:
        print(log.read_text()[-4000:])
    return 1 if violations else 0


class Watch:
    """Looks at the server from outside, every half second."""

    def __init__(self, url: str, pid: int) -> None:
        self._url = url.replace("postgres://", "postgresql://", 1)
        self._pid = pid
        self.connections_at_most = 0

    def during(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            Event().wait(min(left, 0.5))
            self.connections_at_most = max(self.connections_at_most, self._connections())

    def _connections(self) -> int:
        query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        with psycopg.connect(self._url, connect_timeout=5) as connection:
            (count,) = connection.execute(query).fetchone() or (0,)
        return int(count)

    def memory_bytes(self) -> dict[int, int]:
        """Resident memory of each process below the server's first."""
        page = os.sysconf("SC_PAGE_SIZE")
        sizes = {}
        for pid in _family(self._pid):
            sizes[pid] = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page
        return sizes


def _family(pid: int) -> list[int]:
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            continue
    children = [child for child, parent in parents.items() if parent == pid]
    return [pid, *(each for child in children for each in _family(child))]


@contextmanager
def _serving(server: str, environment: dict[str, str], log: Any) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        words = [word.format(fd=listener.fileno()) for word in SERVERS[server]]
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", *words], cwd=ROOT, env=environment, pass_fds=[listener.fileno()], stderr=log
        )
        port = listener.getsockname()[1]
    try:
        yield port, process
    finally:
        process.terminate()
        process.wait(timeout=60)


def _python(environment: dict[str, str], *arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=True)  # noqa: S603


def _rows(url: str) -> Counter[tuple[str, str]]:
    query = "SELECT username, key FROM host_entry JOIN auth_user ON auth_user.id = owner_id"
    with psycopg.connect(url.replace("postgres://", "postgresql://", 1)) as connection:
        return Counter((owner, key) for owner, key in connection.execute(query))


def _unexplained(findings: Findings, start: float, end: float) -> Iterator[str]:
    for when, text in findings.failures:
        if not start <= when <= end:
            yield f"{text} ({when - start:+.1f} s from the restart)"


def _misbooked(findings: Findings, rows: Counter[tuple[str, str]]) -> Iterator[str]:
    for write in findings.kept:
        if rows[write] != 1:
            yield f"the write {write} was answered as done and is there {rows[write]} times"
    for write in findings.never:
        if rows[write]:
            yield f"the write {write} of a view that broke is there"
    for write in findings.unsure:
        if rows[write] > 1:
            yield f"the write {write} is there {rows[write]} times"
    for write in rows.keys() - findings.kept - findings.never - findings.unsure:
        yield f"nobody wrote {write}"


def _print(
    server: str,
    seconds: float,
    findings: Findings,
    watch: Watch,
    growth: dict[int, int],
    published: dict[str, int],
) -> None:
    calls = findings.outcomes.total()
    print(f"{server}: {calls} calls in {seconds:.0f} s, {published['published']} generations")
    for outcome, count in sorted(findings.outcomes.items()):
        print(f"  {count:6} {outcome}")
    print(f"  {watch.connections_at_most} database connections at most")
    print(f"  {max(growth.values()) / 1e6:.1f} MB growth of the largest process after the warm-up")
    written = f"{len(findings.kept)} kept, {len(findings.unsure)} unsure, {len(findings.never)} never"
    print(f"  writes: {written}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
