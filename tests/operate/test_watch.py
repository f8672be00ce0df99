"""The watch besides its jobs: changed files, days without a run, the digest, what is kept back while it stops."""

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from operate.night_shift import KOLKATA, PlayedClock, Shift, ran
from support.event_receiver import receiving
from support.workspace import Workspace, order_lines

from logistics_batch.cli.commands.night import SettingsInForce, _loaded, _take_over
from logistics_batch.errors import LedgerRefused
from logistics_batch.model.report import RunReport
from logistics_batch.model.run_reports import SettleReport
from logistics_batch.operate.agenda import Due, PlannedJob, pause, resume
from logistics_batch.operate.heartbeat import beat, last_beat, others_at_work, sign_of, what_is_wrong
from logistics_batch.operate.run_job import JobOutcome, outcome_of
from logistics_batch.operate.run_notices import Ran, note_end

SETTLE = 'kind: settle\nschedule: {{cron: "{cron}"{more}}}\n'


@pytest.fixture
def shift(tmp_path: Path) -> Iterator[Shift]:
    workspace = Workspace(tmp_path / "night-shift", url="https://service.invalid")
    workspace.job("settle", SETTLE.format(cron="15 21 * * *", more=""))
    with receiving() as people:
        started = Shift(workspace, PlayedClock(datetime(2026, 11, 3, 20, 30, tzinfo=KOLKATA)), people)
        yield started
        started.close()


def test_a_changed_job_file_counts_from_now_on(shift: Shift) -> None:
    shift.look()
    shift.workspace.job("settle", SETTLE.format(cron="0 21 * * *", more=""))
    shift.workspace.job("new", SETTLE.format(cron="30 21 * * *", more=""))
    shift.watch.reload(_loaded(shift.wired, shift.wired.settings()))
    shift.until("2026-11-03T22:00")
    assert ran(shift) == ["settle: starts for 2026-11-03T21:00", "new: starts for 2026-11-03T21:30"]


def test_a_paused_job_is_begun_once_it_is_resumed(shift: Shift) -> None:
    """As after a time in which nothing ran: the last planned time within the grace is made up for."""
    shift.look()
    pause(shift.watch.at.parts, "settle", why="the service moves")
    shift.until("2026-11-03T22:00")
    assert ran(shift) == []
    resume(shift.watch.at.parts, "settle", why="it has moved")
    shift.until("2026-11-03T22:05")
    assert ran(shift) == ["settle: starts for 2026-11-03T21:15"]


def test_a_broken_job_file_leaves_the_job_as_it_was_and_is_told(shift: Shift) -> None:
    shift.look()
    shift.workspace.job("settle", "kind: setle\n")
    shift.watch.reload(_loaded(shift.wired, shift.wired.settings()))
    (title,) = shift.until("2026-11-03T21:15")
    assert title == "[night-shift] jobs/settle.yaml cannot be used"
    assert "jobs/settle.yaml:1:1" in shift.told[-1][1]
    assert "It runs as before." in shift.told[-1][1]
    assert ran(shift) == ["settle: starts for 2026-11-03T21:15"]
    shift.workspace.job("settle", SETTLE.format(cron="15 21 * * *", more=""))
    shift.watch.reload(_loaded(shift.wired, shift.wired.settings()))
    assert shift.until("2026-11-03T21:30") == ["[night-shift] Over: jobs/settle.yaml cannot be used"]


def test_a_job_whose_file_went_runs_no_more(shift: Shift) -> None:
    shift.look()
    (shift.workspace.root / "jobs/settle.yaml").unlink()
    shift.watch.reload(_loaded(shift.wired, shift.wired.settings()))
    shift.until("2026-11-03T22:00")
    assert ran(shift) == []


def test_days_without_a_run_are_told_once_with_the_command(shift: Shift) -> None:
    shift.look()
    shift.sleep_until("2026-11-06T12:00")
    shift.look()
    (lost,) = [message for title, message in shift.told if "did not run" in message]
    assert "settle: did not run for 2026-11-03, 2026-11-04, 2026-11-05" in lost
    assert "logistics-batch run settle --business-date 2026-11-04" in lost
    shift.open()
    assert not any("did not run" in title for title in shift.until("2026-11-06T14:00"))
    for day in ("2026-11-03", "2026-11-04"):
        shift.parts.ledger.slots.note_round("settle", day, exit_code=0, now=f"{day}T23:00:00+05:30")
    assert not any("did not run" in title for title in shift.until("2026-11-06T16:00")), "one is still to be run"
    shift.parts.ledger.slots.note_round("settle", "2026-11-05", exit_code=3, now=shift.clock.at.isoformat())
    assert "Over: settle: did not run for 2026-11-03, 2026-11-04, 2026-11-05" in " ".join(
        shift.until("2026-11-06T18:00")
    )


def test_another_failure_is_told_though_the_first_one_lasts(shift: Shift) -> None:
    job, *_ = shift.watch.jobs["settle"]
    causes = ("it answered with status 500", "Not delivered to sftp:x", "it answered with status 503")
    for cause in causes:
        ended = JobOutcome(5, f"run S1: {cause}", SettleReport(), cause)
        note_end(shift.parts, Ran(job, date(2026, 11, 3), ended))
    (told,) = [message for title, message in (shift.until("2026-11-03T20:45") and shift.told) if "2 messages" in title]
    assert "Not delivered to sftp:x" in told
    assert "status 503" in told, "the newest words of the same trouble"


def test_what_ran_by_a_clock_that_was_ahead_is_told_when_it_is_set_back(shift: Shift) -> None:
    shift.until("2026-11-03T21:20")
    assert ran(shift) == ["settle: starts for 2026-11-03T21:15"]
    shift.clock.at -= timedelta(hours=5, minutes=30)
    shift.watch.clock_was_set(-5.5 * 3600)
    shift.look()
    (told,) = [message for title, message in shift.told if "The clock was set" in title]
    assert "settle ran for 2026-11-03T21:15 already" in told
    assert "`logistics-batch run settle`" in told


@pytest.mark.parametrize(
    ("code", "cause", "counts_as"),
    [(0, "", 0), (4, "", 4), (4, "5 calls in a row had no trustworthy answer.", 5), (5, "x", 5)],
)
def test_a_run_that_stopped_early_is_no_round_though_its_doubts_outrank_that(
    shift: Shift, code: int, cause: str, counts_as: int
) -> None:
    job, *_ = shift.watch.jobs["settle"]
    report = RunReport("R1", "settle", (), stopped=cause, exit_code=code)
    ended = Ran(job, date(2026, 11, 3), outcome_of(report))
    assert (ended.exit_code, ended.round_code) == (code, counts_as)


def test_the_digest_comes_once_a_day_and_also_when_nothing_is_wrong(shift: Shift) -> None:
    titles = shift.until("2026-11-05T12:00")
    assert titles == ["[night-shift] Digest of 2026-11-04", "[night-shift] Digest of 2026-11-05"]
    assert "settle: 1 run; exit 0" in shift.told[0][1]
    assert "Nothing is open." in shift.told[0][1]


def test_the_first_digest_comes_at_its_first_time(shift: Shift) -> None:
    shift.clock.at = datetime(2026, 11, 3, 6, 59, tzinfo=KOLKATA)
    shift.look()
    assert shift.until("2026-11-03T07:01", step=timedelta(minutes=1)) == ["[night-shift] Digest of 2026-11-03"]


def taken(shift: Shift) -> tuple[PlannedJob, Due]:
    """The one planned time, once it has come."""
    shift.look()
    shift.clock.at = datetime(2026, 11, 3, 21, 15, tzinfo=KOLKATA)
    (plan,) = shift.watch.planned()
    due = shift.watch.take(plan, shift.clock.now())
    assert due is not None
    return plan, due


def test_a_run_that_the_end_of_the_program_cut_short_is_not_over(shift: Shift) -> None:
    plan, due = taken(shift)
    shift.stop.set()
    holding = shift.parts.ledger.sending("another run")
    with holding:  # it waits for the ledger, and is asked to end
        shift.watch.run(plan, due)
    (slot,) = shift.parts.ledger.slots.of_job("settle", [due.name]).values()
    assert (slot.state, slot.ended_at) == ("claimed", "")
    assert shift.parts.ledger.notices.open() == []


def test_a_time_is_due_by_the_clock_that_all_machines_share(shift: Shift) -> None:
    """One whose own clock is ten minutes ahead would else take each planned time ten minutes early."""
    shift.look()
    shift.parts.ledger._connection.clock_ahead_seconds = 600.0
    assert shift.until("2026-11-03T21:24") == []
    assert ran(shift) == []
    shift.until("2026-11-03T21:25")
    assert ran(shift) == ["settle: starts for 2026-11-03T21:15"]


def test_of_a_run_that_another_machine_took_over_nobody_is_told(shift: Shift) -> None:
    """However it ended here, as with the lock that it lost; what becomes of it there is told there."""
    plan, due = taken(shift)

    def sleeps(*_: object) -> JobOutcome:
        with shift.parts.ledger._connection.write() as connection:
            connection.exec_driver_sql('UPDATE slot SET owner = \'{"host":"west","pid":1,"start":"1"}\'')
        raise LedgerRefused("What held the ledger for this run is gone.", remedy="")

    shift.watch.at = replace(shift.watch.at, run_job=sleeps)
    shift.watch.run(plan, due)
    assert "Another program goes on with settle for 2026-11-03T21:15" in shift.lines[-1]
    assert shift.parts.ledger.notices.open() == []
    (slot,) = shift.parts.ledger.slots.of_job("settle", [due.name]).values()
    assert slot.state == "claimed"


def test_machines_that_share_a_workspace_have_a_sign_of_life_each(
    shift: Shift, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the one that stands still would seem to work as long as the other does."""
    folder, now = shift.workspace.root, shift.clock.now()
    monkeypatch.setattr(socket, "gethostname", lambda: "east")
    beat(sign_of(folder), now=now, started_at=now, jobs=1, running=(), next_run="")
    monkeypatch.setattr(socket, "gethostname", lambda: "west")
    assert what_is_wrong(folder, now=now) == "", "asked elsewhere, as beside a container, for any"
    (other,) = others_at_work(folder, now=now)
    assert other.host == "east"
    beat(sign_of(folder), now=now, started_at=now, jobs=1, running=(), next_run="")
    later = now + timedelta(minutes=2)
    monkeypatch.setattr(socket, "gethostname", lambda: "east")
    beat(sign_of(folder), now=later, started_at=now, jobs=1, running=(), next_run="")
    assert what_is_wrong(folder, now=later) == ""
    monkeypatch.setattr(socket, "gethostname", lambda: "west")
    assert "was last seen at" in what_is_wrong(folder, now=later)


def test_the_sign_of_life_says_what_is_wrong(shift: Shift) -> None:
    folder, now = shift.workspace.root, shift.clock.now()
    assert "No scheduler has worked" in what_is_wrong(folder, now=now)
    shift.watch.give_a_sign(["settle"])
    found = last_beat(folder)
    assert found is not None
    assert (found.jobs, found.running, found.next_run) == (1, ("settle",), "2026-11-03T21:15+05:30")
    assert what_is_wrong(folder, now=now) == ""
    shift.clock.at = datetime(2026, 11, 3, 20, 32, tzinfo=KOLKATA)
    assert "was last seen at 2026-11-03T20:30" in what_is_wrong(folder, now=shift.clock.now())
    assert "still to come" in what_is_wrong(folder, now=datetime(2026, 11, 3, 20, 0, tzinfo=KOLKATA))


def changed(shift: Shift, settings: SettingsInForce, *lines: str) -> None:
    """The settings are written anew, and the watch looks."""
    shift.workspace.settings = [*shift.workspace.settings[:5], *lines]
    shift.workspace._write_settings()
    assert settings.were_changed()
    _take_over(shift.wired, settings, shift.watch, shift.lines.append)
    assert not settings.were_changed()


def test_changed_settings_are_taken_over_and_mistakes_in_them_are_told(shift: Shift) -> None:
    settings = SettingsInForce(shift.wired)
    file = shift.workspace.root / "var/schedule.log"
    changed(shift, settings, "[notify]", 'digest = "06:30"', "[log]", 'format = "json"', 'file = "var/schedule.log"')
    assert settings.now.notify.digest == "06:30"
    shift.watch.at.log.say("here", "words")
    assert json.loads(file.read_text())["event"] == "here"

    changed(shift, settings, "[notify]", 'digest = "six"')
    assert settings.now.notify.digest == "06:30", "a mistake leaves them as they were"
    assert "settings_broken" in file.read_text()
    assert told(shift) == ["The settings cannot be used"]
    assert "goes on with those it had" in shift.told[-1][1]

    changed(shift, settings, "[notify]", 'digest = ""', "[reports]", 'dir = "elsewhere"')
    assert settings.now.notify.digest == ""
    assert told(shift) == ["2 messages: Over: The settings cannot be used …"]
    assert "[reports] was changed: the scheduler itself takes that over when it is started again" in shift.told[-1][1]
    assert any(line.endswith("when it is started again.") for line in shift.lines), "the log is where it was at first"
    changed(shift, settings)
    assert told(shift) == ["Over: The scheduler needs a restart"]


PUSH = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound, pattern: ["orders_*.csv", "*.txt"], ready: {poll_every: 10ms}, archive: /archive}
results: {folder: results, formats: [csv]}
schedule: {cron: "15 21 * * *"}
expect: {by: "21:00"}
"""


def test_a_late_file_that_the_next_night_reads_is_not_that_nights_file(shift: Shift) -> None:
    """And no alert names a file, which may be called after a person, further than the job's own patterns do."""
    shift.workspace.job("orders", PUSH)
    (shift.workspace.root / "inbound").mkdir()
    shift.watch.reload(_loaded(shift.wired, shift.wired.settings()))
    shift.until("2026-11-03T21:45")
    assert shift.told[-1][0].endswith("orders: no file came for 2026-11-03")
    shift.workspace.drop("orders_asha_rao.csv", order_lines(["L-1"]))
    shift.until("2026-11-04T00:00")
    assert shift.told[-1][0].endswith("Over: orders: no file came for 2026-11-03")
    before = len(shift.told)
    shift.until("2026-11-04T22:00")
    titles = [title.removeprefix("[night-shift] ") for title, _ in shift.told[before:]]
    assert "orders: no file came for 2026-11-04" in " ".join(titles + [text for _, text in shift.told[before:]])
    everything = " ".join(f"{title} {text}" for title, text in shift.told)
    assert "orders_….csv" in everything
    assert "asha" not in everything.casefold()


def told(shift: Shift) -> list[str]:
    """What people are told at the next look, without the name of the installation."""
    before = len(shift.told)
    shift.look()
    return [title.removeprefix("[night-shift] ") for title, _ in shift.told[before:]]
