"""What a run prints begins with its doubts, and counts what else is not known."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace, order_lines


@pytest.fixture
def mute(tmp_path: Path) -> Iterator[RunningSandbox]:
    """A service that shows an order under its AWB number only."""
    running = start_sandbox(tmp_path, order_id_reading="id")
    yield running
    running.stop()


@pytest.fixture
def waiting(tmp_path: Path, mute: RunningSandbox) -> Workspace:
    return Workspace(tmp_path / "workspace", url=mute.url, settle_after="1h")


def test_doubts_stand_before_everything_else(waiting: Workspace, mute: RunningSandbox) -> None:
    """Before the other fates, and before the reasons of seven rows that are to be corrected."""
    wrong = order_lines([f"W{number}" for number in range(7)]).replace(",560", ",5")
    doubtful = waiting.drop("a.csv", wrong + order_lines(["A", "B"]).partition("\n")[2])
    sound = waiting.drop("b.csv", order_lines(["C", "D"]))
    mute.set_faults([{"endpoint": "order.create", "reference": name, "kind": "drop_after"} for name in "BD"])
    finished = waiting.run("push", doubtful, sound, "--mapping", "orders")
    assert finished.code == 4
    lines = finished.out.splitlines()
    assert lines[1].startswith("In doubt: 2 rows of the files below")
    first = lines.index("a.csv: 9 rows, mapping orders")
    assert [line.split()[0] for line in lines[first + 1 : first + 4]] == ["in_doubt", "accepted", "invalid"]
    assert lines[first + 4].startswith("  Row 10: "), "the reason of the doubt"
    shown = waiting.run("runs", "show", "push").out.splitlines()
    assert "2 files, 2 in doubt, 2 accepted, 7 invalid" in shown
    single = waiting.run("push", waiting.drop("c.csv", order_lines(["E"])), "--mapping", "orders").out
    assert "In doubt:" not in single


def test_orders_without_a_known_number_are_counted(waiting: Workspace, mute: RunningSandbox) -> None:
    mute.set_faults([{"endpoint": "order.create", "kind": "pass_without_awb", "requests": [2]}])
    finished = waiting.run("push", waiting.drop("a.csv", order_lines(["A", "B"])), "--mapping", "orders")
    assert finished.code == 0
    assert "Accepted without an AWB number that is known: 1" in finished.out
    (file,) = waiting.run("runs", "show", "push", "--json").json["files"]
    assert file["without_awb_number"] == 1
    known = waiting.run("push", waiting.drop("b.csv", order_lines(["C"])), "--mapping", "orders")
    assert "AWB number that is known" not in known.out


def test_what_a_broken_run_was_sending_is_told(waiting: Workspace) -> None:
    file = waiting.drop("broken.csv", order_lines(["A"]))
    waiting.run("push", file, "--mapping", "orders", LOGISTICS_BATCH_CRASH_AT="send.after:1")
    other = waiting.drop("other.csv", order_lines(["B"]))
    told = waiting.run("push", other, "--mapping", "orders").out
    assert "A run broke off while it sent 1 document of broken.csv (run " in told
    assert "A run broke off" not in waiting.run("settle").out, "once"
