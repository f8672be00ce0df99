"""A run that stopped early is tried again, later and later, until its time is over; each day's run is its own."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest
from operate.night_shift import KOLKATA, PlayedClock, Shift, ran
from support.sandbox_process import RunningSandbox, created
from support.workspace import Workspace, order_lines

from logistics_batch.cli.watching import observed_run
from logistics_batch.flows.labels.orders import LabelChoice, choose_orders
from logistics_batch.flows.push.run import past_run, run_of
from logistics_batch.jobs import load_job
from logistics_batch.operate.agenda import next_try
from logistics_batch.operate.run_job import Order
from logistics_batch.processes import this_process

JOB = """\
kind: push
mapping: orders
source: {{folder: ., path: /inbound, ready: {{poll_every: 10ms}}, archive: /archive}}
results: {{folder: results, formats: [csv]}}
schedule: {{cron: "15 21 * * *", grace: 2h}}
{more}
"""
REFERENCES = [f"G-{number}" for number in range(1, 6)]
STEP = timedelta(minutes=1)


@contextmanager
def shift_of(workspace: Workspace, *, more: str = "") -> Iterator[Shift]:
    workspace.job("orders", JOB.format(more=more))
    shift = Shift(workspace, PlayedClock(datetime(2026, 11, 3, 21, 0, tzinfo=KOLKATA)))
    shift.look()
    yield shift
    shift.close()


@pytest.fixture
def shift(workspace: Workspace) -> Iterator[Shift]:
    with shift_of(workspace) as started:
        yield started


def fault(sandbox: RunningSandbox, kind: str, **choice: object) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "kind": kind} | choice])


def summary(shift: Shift) -> dict[str, int]:
    return shift.parts.ledger.runs.latest(job="orders", limit=1)[0].summary


def test_the_scheduler_takes_a_run_that_stopped_early_again(shift: Shift, sandbox: RunningSandbox) -> None:
    """Also what no waiting mends, for meanwhile a person may have mended it; and it stays one run."""
    shift.workspace.drop("orders.csv", order_lines(REFERENCES))
    fault(sandbox, "status_401", **{"from": 3})
    shift.until("2026-11-03T21:20", step=STEP)
    assert len(created(sandbox)) == 2
    waits = [line for line in shift.lines if "stopped early; goes on at" in line]
    assert "until 23:15+05:30 at the latest" in waits[0]
    assert len(waits) >= 2
    (notice,) = shift.parts.ledger.notices.open(job="orders")
    assert "mend that, it goes on by itself until 23:15+05:30; at once with `logistics-batch run orders" in notice.text
    sandbox.set_faults([])
    shift.until("2026-11-03T21:30", step=STEP)
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)
    (run,) = shift.parts.ledger.runs.latest(job="orders")
    assert (run.exit_code, run.summary["pauses"] >= len(waits)) == (0, True)
    assert run.summary["paused_seconds"] >= 300
    assert shift.parts.ledger.slots.rounds_of("orders", "2026-11-03") == 1


def test_after_its_grace_it_is_left_and_the_next_night_is_a_run_of_its_own(
    shift: Shift, sandbox: RunningSandbox
) -> None:
    """What was left goes out with it, and both nights' orders are among the labels of the day they went out for."""
    shift.workspace.drop("orders.csv", order_lines(REFERENCES))
    fault(sandbox, "status_401", **{"from": 3})
    shift.until("2026-11-04T03:00", step=timedelta(minutes=10))
    tries = len(ran(shift))
    assert 5 <= tries <= 20, "further and further apart"
    (slot,) = shift.parts.ledger.slots.day_slots("orders", "2026-11-03")
    assert (slot.state, slot.exit_code) == ("ended", 5)
    sandbox.set_faults([])
    shift.workspace.drop("more.csv", order_lines(["G-6"]))
    shift.until("2026-11-04T21:20")
    assert len(ran(shift)) == tries + 1
    assert created(sandbox) == dict.fromkeys([*REFERENCES, "G-6"], 1)
    dates = [run.business_date for run in shift.parts.ledger.runs.latest(job="orders")]
    assert dates == ["2026-11-04", "2026-11-03"]
    of_day = choose_orders(shift.parts, LabelChoice(day=date(2026, 11, 4)))
    chosen = {each.reference_number for each in of_day.missing} | {each.reference for each in of_day.orders}
    assert {*REFERENCES[2:], "G-6"} <= chosen


def test_a_setting_says_for_how_long(workspace: Workspace, sandbox: RunningSandbox) -> None:
    fault(sandbox, "status_401")
    with shift_of(workspace, more="resume_for: 0s") as shift:
        workspace.drop("orders.csv", order_lines(REFERENCES))
        shift.until("2026-11-03T22:00")
        assert len(ran(shift)) == 1


def test_a_scheduler_that_starts_anew_goes_on_with_what_was_waiting(shift: Shift, sandbox: RunningSandbox) -> None:
    shift.workspace.drop("orders.csv", order_lines(REFERENCES))
    fault(sandbox, "status_401")
    ended = json.dumps(json.loads(this_process()) | {"pid": 2**22})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("logistics_batch.ledger.schedule.this_process", lambda: ended)
        shift.until("2026-11-03T21:15", step=STEP)
    (slot,) = shift.parts.ledger.slots.day_slots("orders", "2026-11-03")
    assert slot.state == "claimed"
    shift.open()
    sandbox.set_faults([])
    shift.until("2026-11-03T21:30", step=STEP)
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)
    (slot,) = shift.parts.ledger.slots.day_slots("orders", "2026-11-03")
    assert (slot.state, slot.exit_code) == ("ended", 0)
    (run,) = shift.parts.ledger.runs.latest(job="orders")
    assert run.exit_code == 0


def test_waits_grow_with_the_time_that_passed() -> None:
    stopped_at = now = datetime(2026, 11, 3, 21, tzinfo=KOLKATA)
    tries = []
    while now < stopped_at + timedelta(hours=6):
        at = next_try(stopped_at=stopped_at, now=now, until=stopped_at + timedelta(hours=6), chance=lambda: 1.0)
        assert at
        tries.append(now := at)
    assert next_try(stopped_at=stopped_at, now=now, until=tries[-1]) is None
    assert tries[-1] - stopped_at == timedelta(hours=6), "the last one when the time is over"
    assert tries[0] - stopped_at == timedelta(seconds=36)
    assert len(tries) < 40
    assert tries[-1] - tries[-2] < timedelta(hours=2)


def test_times_of_one_day_that_stopped_wait_as_one(workspace: Workspace, sandbox: RunningSandbox) -> None:
    """A job of every five minutes does not come to be tried for each of them while the service is away."""
    fault(sandbox, "status_401")
    workspace.drop("orders.csv", order_lines(REFERENCES))
    every = JOB.replace('cron: "15 21 * * *"', "every: 5m")
    workspace.job("orders", every.format(more=""))
    shift = Shift(workspace, PlayedClock(datetime(2026, 11, 3, 21, 0, tzinfo=KOLKATA)))
    try:
        shift.until("2026-11-03T21:25", step=STEP)
        assert len(shift.watch.agenda._stopped["orders"]) == 1
        sandbox.set_faults([])
        shift.until("2026-11-03T21:35", step=STEP)
        assert not shift.watch.agenda.waits
        assert created(sandbox) == dict.fromkeys(REFERENCES, 1)
        slots = shift.parts.ledger.slots.day_slots("orders", "2026-11-03")
        assert {each.state for each in slots} == {"ended"}
    finally:
        shift.close()


class Hurried(PlayedClock):
    """Waiting takes no time, and moves the clock; after some waits the service is back.

    meanwhile: called in each wait of half a minute or more.
    """

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        super().sleep(seconds)
        if seconds >= 30:
            self.meanwhile()


@pytest.mark.parametrize(("kind", "tries"), [("status_503", 2), ("status_401", 1)])
def test_run_goes_on_by_itself_unless_no_waiting_mends_it(
    shift: Shift, sandbox: RunningSandbox, capsys: pytest.CaptureFixture[str], kind: str, tries: int
) -> None:
    shift.workspace.drop("orders.csv", order_lines(REFERENCES))
    fault(sandbox, kind, to=4)
    clock = Hurried(shift.clock.at)
    began = len(sandbox.received("order.create"))
    with shift._parts() as parts:
        job = load_job(shift.workspace.root, "orders")
        end = observed_run(shift.wired, replace(parts, clock=clock), job, Order(clock.at.date()))
    told = capsys.readouterr().err
    if tries == 1:
        assert (end.exit_code, len(sandbox.received("order.create")) - began, told) == (5, 1, "")
        return
    assert told.count("Stopped early; goes on at 21:0") == tries - 1
    assert "no trustworthy answer" in told
    assert len(created(sandbox)) == 5
    assert summary(shift)["pauses"] >= 4


def test_who_asks_it_to_end_while_it_waits_sees_no_further_try(shift: Shift, sandbox: RunningSandbox) -> None:
    shift.workspace.drop("orders.csv", order_lines(REFERENCES))
    fault(sandbox, "status_503")
    clock = Hurried(shift.clock.at)
    clock.meanwhile = shift.stop.set
    with shift._parts() as parts:
        job = load_job(shift.workspace.root, "orders")
        end = observed_run(shift.wired, replace(parts, clock=clock), job, Order(clock.at.date()))
    assert "trustworthy answer" in end.cause
    assert len(sandbox.received("order.create")) == 4, "the calls of one try"
    noted = " ".join(note.reason for note in past_run(shift.parts, "orders").report.notes)
    assert "The run paused 3 times, 7 s in all, the time between its tries included." in noted


def test_settings_that_are_broken_while_it_waits_end_no_run(
    shift: Shift, sandbox: RunningSandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    shift.workspace.drop("orders.csv", order_lines(REFERENCES))
    fault(sandbox, "status_503", to=4)
    settings = shift.workspace.root / "logistics-batch.toml"
    before = settings.read_text()
    clock = Hurried(shift.clock.at)
    clock.meanwhile = lambda: settings.write_text(before + "\n[nonsense")
    with shift._parts() as parts:
        job = load_job(shift.workspace.root, "orders")
        end = observed_run(shift.wired, replace(parts, clock=clock), job, Order(clock.at.date()))
    assert len(created(sandbox)) == 5
    assert end.exit_code in (0, 4)
    assert "Note: " in capsys.readouterr().err


def test_a_run_that_goes_on_is_shown_as_under_way(shift: Shift, sandbox: RunningSandbox) -> None:
    """And where it dies then, what it waited before stays known, and the time it was dead is no wait."""
    shift.workspace.drop("orders.csv", order_lines(REFERENCES))
    fault(sandbox, "status_503")
    shift.by_hand("orders")
    stopped = shift.parts.ledger.runs.latest(job="orders", limit=1)[0]
    assert (stopped.state, stopped.summary["pauses"]) == ("stopped", 3)
    shift.clock.at += timedelta(minutes=10)
    for minutes in (0, 10):  # the second goes on after the first died
        shift.clock.at += timedelta(minutes=minutes)
        with shift.parts.ledger.sending("orders"):
            try:
                with run_of(shift.parts, "orders", business_date=shift.clock.at.date()) as run:
                    assert run.id == stopped.id
                    told = shift.workspace.run("runs", "show", "orders").out
                    assert "under way, or interrupted" in told
                    assert "Stopped early" not in told
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
        if not minutes:
            assert (run.pauses, run.paused_seconds > 600) == (4, True)
    assert run.pauses == 3, "as its summary has it"
