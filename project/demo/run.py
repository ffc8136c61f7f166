"""`make demo`: prepare the database, serve the shop, play an agent's session, and serve on until Ctrl-C."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
from django.conf import settings
from django.core.management import CommandError, call_command

from project.demo.accounts import ACCOUNTS
from project.demo.session import SessionFailed, play

HOST = "127.0.0.1"
DEFAULT_PORT = 8000
READY_SECONDS = 60
STOP_SECONDS = 10
SEARCH_CASES = Path(__file__).resolve().parents[2] / "fixtures" / "search_cases.json"
GUNICORN_CONFIG = Path(__file__).with_name("gunicorn.conf.py")
write = sys.stdout.write


def main() -> None:
    port = chosen_port()
    is_once = os.environ.get("ONCE", "") not in ("", "0")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.environ.setdefault("OAUTH_ISSUER", f"http://{HOST}:{port}")
    sys.stdout.reconfigure(line_buffering=True)  # a log that is a file or a pipe shows each step as it happens
    try:
        prepare()
        with server(port) as process:
            play(f"http://{HOST}:{port}/mcp", ACCOUNTS[0].token, write)
            write(summary(port))
            if not is_once:
                write("Serving until Ctrl-C.\n")
                sys.exit(process.wait())
    except CommandError as error:
        sys.exit(f"The demo could not be prepared. {error}")
    except (SessionFailed, OSError) as error:
        sys.exit(f"The session failed. {error}")
    except KeyboardInterrupt:
        write("\nStopped.\n")


def chosen_port() -> int:
    text = os.environ.get("PORT") or str(DEFAULT_PORT)
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        sys.exit(f"PORT is {text!r}, not a number from 1 to 65535. Try: make demo PORT=8001")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, int(text)))
        except OSError as error:
            other = DEFAULT_PORT + 1 if int(text) == DEFAULT_PORT else DEFAULT_PORT
            sys.exit(f"Port {text} of {HOST} cannot be used ({error.strerror}). Try: make demo PORT={other}")
    return int(text)


def prepare() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    call_command("loaddata", "users", "shop", verbosity=0)
    call_command("sezzlee_sync")
    call_command("sezzlee_eval", str(SEARCH_CASES), keep=True, verbosity=0)


@contextmanager
def server(port: int) -> Iterator[subprocess.Popen]:
    """A server that answers; it is gone when the block ends, however it ends."""
    command = [sys.executable, "-m", "gunicorn", "--config", str(GUNICORN_CONFIG), "--bind", f"{HOST}:{port}"]
    process = subprocess.Popen(command)  # noqa: S603 - this interpreter, with a port that was checked
    try:
        wait_until_ready(process, port)
        yield process
    finally:
        stop(process)


def wait_until_ready(process: subprocess.Popen, port: int) -> None:
    limit = time.monotonic() + READY_SECONDS
    while not is_answering(port):
        if process.poll() is not None:
            sys.exit(f"The server ended with status {process.returncode} before it answered; its messages are above.")
        if time.monotonic() > limit:
            sys.exit(f"The server did not answer within {READY_SECONDS} seconds.")
        time.sleep(0.1)


def is_answering(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def summary(port: int) -> str:
    site = f"http://{HOST}:{port}"
    users = "".join(
        f"  {account.username:<8}{account.password:<13}{account.token:<19}{account.role}\n" for account in ACCOUNTS
    )
    sign_in = "  A client that can sign its user in needs the MCP endpoint alone.\n\n" if settings.OAUTH else ""
    return (
        f"\nThe session went as it should.\n\n"
        f"  This demo      {site}/\n"
        f"  MCP endpoint   {site}/mcp\n"
        f"  Swagger UI     {site}/docs/\n"
        f"  Admin          {site}/admin/\n\n{sign_in}"
        f"  {'user':<8}{'password':<13}{'token':<19}may\n{users}\n"
    )


if __name__ == "__main__":
    main()
