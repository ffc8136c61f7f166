"""Worker threads: bounded, one piece of work at a time, and gone when there is none."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from threading import Event, current_thread

import pytest

from sezzlee_mcp import workers
from sezzlee_mcp.workers import Deadline, NotStarted, TooLate, Workers, WorkExited
from tests.django.idleness import wait_until_idle

LONG = 30.0  # seconds that no test waits, unless it fails
tenant: ContextVar[str] = ContextVar("tenant", default="nobody's")


@pytest.fixture
def two() -> Iterator[Workers]:
    two = Workers("two", lambda: 2)
    yield two
    wait_until_idle(two)


def raised(error: BaseException) -> None:
    raise error


def test_work_gives_its_value_in_another_thread(two: Workers) -> None:
    assert two.run(current_thread, Deadline.after(LONG)) is not current_thread()


@pytest.mark.parametrize("error", [ValueError("mine"), TimeoutError("mine too")])
def test_exception_of_the_work_is_the_callers(two: Workers, error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        two.run(lambda: raised(error), Deadline.after(LONG))

    assert caught.value is error


def test_work_that_ends_its_thread_does_not_end_the_callers(two: Workers) -> None:
    with pytest.raises(WorkExited, match="SystemExit"):
        two.run(lambda: raised(SystemExit(3)), Deadline.after(LONG))

    assert two.run(lambda: "goes on", Deadline.after(LONG)) == "goes on"


def test_work_sees_the_callers_context_and_leaves_it_alone(two: Workers) -> None:
    def work() -> str:
        seen = tenant.get()
        tenant.set("the work's")
        return seen

    token = tenant.set("the caller's")
    try:
        assert [two.run(work, Deadline.after(LONG)) for _ in range(2)] == ["the caller's", "the caller's"]
        assert tenant.get() == "the caller's"
    finally:
        tenant.reset(token)


def test_one_piece_of_work_after_another_takes_one_thread(two: Workers) -> None:
    threads = {two.run(current_thread, Deadline.after(LONG)) for _ in range(20)}

    assert len(threads) == 1


def test_caller_is_free_at_the_deadline_and_the_work_goes_on(two: Workers) -> None:
    released, ended = Event(), Event()

    def work() -> None:
        released.wait(LONG)
        ended.set()

    with pytest.raises(TooLate):
        two.run(work, Deadline.after(0.01))
    assert not ended.is_set()
    released.set()

    assert ended.wait(LONG)


def test_no_more_than_the_limit_run_at_once(two: Workers) -> None:
    released = Event()
    for _ in range(2):
        with pytest.raises(TooLate):
            two.run(lambda: released.wait(LONG), Deadline.after(0.01))

    with pytest.raises(NotStarted, match="all of the 2 threads were busy"):
        two.run(lambda: "never", Deadline.after(0.01))
    released.set()

    assert two.run(lambda: "at last", Deadline.after(LONG)) == "at last"


def test_caller_waits_for_a_thread_until_its_deadline(two: Workers) -> None:
    released = Event()
    for _ in range(2):
        with pytest.raises(TooLate):
            two.run(lambda: released.wait(LONG), Deadline.after(0.01))
    answers: list[str] = []
    waiting = threading.Thread(target=lambda: answers.append(two.run(lambda: "in time", Deadline.after(LONG))))
    waiting.start()
    released.set()
    waiting.join(LONG)

    assert answers == ["in time"]


def test_idle_thread_ends(two: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "IDLE_SECONDS", 0)
    thread = two.run(current_thread, Deadline.after(LONG))
    thread.join(LONG)

    assert not thread.is_alive()
    assert two.run(current_thread, Deadline.after(LONG)) is not thread


def test_thread_that_the_system_refuses_is_a_call_not_started(two: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(workers, "Thread", lambda **_: raised(RuntimeError("can't start new thread")))
        with pytest.raises(NotStarted):
            two.run(lambda: "never", Deadline.after(LONG))

    assert two.run(lambda: "again", Deadline.after(LONG)) == "again"


def test_deadline_says_what_is_left() -> None:
    over, open_ = Deadline.after(0), Deadline.after(LONG)

    assert (over.is_over, over.remaining_seconds) == (True, 0)
    assert not open_.is_over
    assert 0 < open_.remaining_seconds <= LONG


FORKS = """
import os
from sezzlee_mcp.workers import Deadline, TooLate, Workers
from threading import Event
one = Workers("one", lambda: 1)
try:
    one.run(Event().wait, Deadline.after(0.01))  # busy for ever, in the parent
except TooLate:
    pass
child = os.fork()
if child == 0:
    os._exit(one.run(lambda: 7, Deadline.after(20)))
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_child_of_a_fork_has_threads_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], timeout=60, check=False)  # noqa: S603

    assert done.returncode == 7
