import socket

import pytest
from django.core.management import call_command

from project.demo import run
from project.demo.session import SessionFailed, play, quantity_in_stock, shortened
from project.shop.models import Document, Order


@pytest.fixture
def endpoint(shop, live_server) -> str:
    call_command("sezzlee_sync", verbosity=0)
    return f"{live_server.url}/mcp"


def test_session_plays_to_its_end_and_leaves_nothing_reserved(endpoint):
    told: list[str] = []

    play(endpoint, "alice-demo-token", told.append)

    steps = [line.split(" ", 1)[0] for line in "".join(told).splitlines() if line[:1].isdigit()]
    assert steps == [f"{number}." for number in range(1, 9)]
    assert "isError" in "".join(told)
    assert Order.objects.latest("pk").status == "cancelled"
    assert Document.objects.count() == 2


@pytest.mark.parametrize(
    ("token", "reason"),
    [("bob-demo-token", "The search should find orders_create"), ("nobody", "answered with HTTP 401")],
)
def test_session_of_who_may_not_order_fails_with_the_reason(endpoint, token, reason):
    with pytest.raises(SessionFailed, match=reason):
        play(endpoint, token, lambda text: None)


def refusal(*fields: dict[str, str], error: str = "validation_failed") -> dict:
    return {"error": error, "message": "The order was refused.", "retryable": False, "fields": list(fields)}


def test_agent_takes_the_quantity_that_the_error_offers():
    fields = {"name": "comment", "message": "At most 9."}, {"name": "items[0].quantity", "message": "Only 5 of D-1."}

    assert quantity_in_stock(refusal(*fields)) == 5


@pytest.mark.parametrize(
    "answer",
    [
        refusal(),
        refusal({"message": "Only 5 of D-1."}),
        refusal({"name": "items[0].quantity", "message": "Too many."}),
        refusal({"name": "items[0].quantity", "message": "Only 5 of D-1."}, error="bad_request"),
    ],
    ids=["no field", "nameless field", "no quantity offered", "another code"],
)
def test_refusal_that_offers_no_way_out_fails_the_session(answer):
    with pytest.raises(SessionFailed):
        quantity_in_stock(answer)


@pytest.mark.parametrize(("length", "is_cut"), [(358, False), (359, True)])
def test_long_answers_are_shown_shortened(length, is_cut):
    shown = shortened("é" * length)

    assert shown == (f'"{"é" * 359} ... (361 characters)' if is_cut else f'"{"é" * length}"')


@pytest.mark.parametrize("text", ["0", "65536", "http", "-1", "80 00", "²"])
def test_wrong_port_is_told_with_the_next_step(monkeypatch, text):
    monkeypatch.setenv("PORT", text)

    with pytest.raises(SystemExit, match=f"PORT is {text!r}.*make demo PORT=8001"):
        run.chosen_port()


def test_taken_port_is_told_with_the_next_step(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))

        with pytest.raises(SystemExit, match=f"Port {port} of 127.0.0.1 cannot be used .*make demo PORT=8000"):
            run.chosen_port()


@pytest.mark.parametrize("text", ["", None])
def test_port_left_open_is_the_default_one(monkeypatch, text):
    monkeypatch.setattr(run, "DEFAULT_PORT", free_port())
    monkeypatch.delenv("PORT", raising=False) if text is None else monkeypatch.setenv("PORT", text)

    assert run.chosen_port() == run.DEFAULT_PORT


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]
