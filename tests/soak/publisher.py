"""Publishes every second until it is terminated, then prints how often: ``python -m tests.soak.publisher``."""

import json
import signal
import sys
from threading import Event
from typing import Any

import django
from django.db import OperationalError, close_old_connections


def main() -> None:
    django.setup()
    from sezzlee_mcp.models import Operation
    from sezzlee_mcp.publishing import publish

    ended = Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    published = failed = 0
    while not ended.wait(1):
        close_old_connections()
        try:
            Operation.objects.filter(key="GET /api/me/").update(title=f"Who am I, {published + failed}")
            revision: Any = publish(source="command")
            published += revision is not None
        except OperationalError:  # the server is being restarted
            failed += 1
    json.dump({"published": published, "failed": failed}, sys.stdout)


if __name__ == "__main__":
    main()
