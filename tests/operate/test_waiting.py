"""What waits for a person is told once and lasts until it waits no more, whatever else runs meanwhile."""

import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from operate.night_shift import KOLKATA, PlayedClock, Shift, in_folder
from support.event_receiver import receiving
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import ORDER_COLUMNS, Workspace, order_lines

from logistics_batch.errors import UsageError
from logistics_batch.flows.files.waiting_files import close_held_file
from logistics_batch.flows.push.run import past_run
from logistics_batch.model.report import ExitCode
from logistics_batch.operate.metrics import figures
from logistics_batch.operate.run_notices import digest_text

JOB = """\
kind: push
mapping: orders
source:
  folder: in
  pattern: ["*.csv", "*.xlsx", "*.part"]
  ready: {{unchanged_for: 2, poll_every: 1ms}}
  {put_away}
results: {{folder: out, formats: [csv]}}
schedule: {{every: 1m}}
{more}
"""
STEP, SLOWLY = timedelta(minutes=3), timedelta(minutes=20)
CUT = b"PK\x03\x04 cut in half"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    made = Workspace(tmp_path / "night-shift", url=sandbox.url)
    made.configure("[notify]", "file_names = true")
    (made.root / "in").mkdir()
    made.job("orders", JOB.format(put_away="archive: /done\n  quarantine: /rejected", more=""))
    made.job("then", "kind: settle\nafter: [orders]\n")
    return made


@pytest.fixture
def shift(workspace: Workspace) -> Iterator[Shift]:
    with receiving() as people:
        started = Shift(workspace, PlayedClock(datetime(2026, 11, 3, 12, 0, tzinfo=KOLKATA)), people)
        yield started
        started.close()


def told(shift: Shift, until: str, *, step: timedelta = STEP) -> list[str]:
    return [title.removeprefix("[night-shift] ") for title in shift.until(f"2026-11-03T{until}", step=step)]


def figure(shift: Shift, name: str) -> dict[tuple[str, ...], float]:
    found = figures(shift.parts.ledger, now=shift.clock.at)
    return next(dict(each.values) for each in found if each.name == name)


HELD = "orders: something waits for a person (2026-11-03)"


def test_a_file_held_as_a_whole_is_open_until_its_successor_was_read(shift: Shift) -> None:
    shift.workspace.drop("a.xlsx", CUT, folder="in")
    assert told(shift, "12:05") == [HELD], "and it is not over because the other job ran"
    text = shift.told[-1][1]
    (held,) = shift.parts.ledger.files.held()
    assert f"`logistics-batch runs show {held.run}`" in text
    assert "lie in /rejected" in text
    assert "Over" not in text
    assert figure(shift, "notices") == {("orders", "on_held"): 1.0}
    assert figure(shift, "files_held_as_a_whole") == {("orders",): 1.0}
    assert "Files: 1 held as a whole" in digest_text(shift.parts, now=shift.clock.at)
    listed = shift.workspace.run("held", "list")
    assert f"file-{held.id}" in listed.out
    assert "a.xlsx" in listed.out
    shift.workspace.drop("a.csv", order_lines(["W1"]), folder="in")  # the same name for its answers
    assert told(shift, "12:10") == [f"Over: {HELD}"]
    assert (shift.parts.ledger.files.held(), figure(shift, "notices")) == ([], {})


def test_rows_to_correct_are_open_until_they_are_corrected_whatever_else_runs(shift: Shift) -> None:
    more = "notify: [on_invalid_rows]"
    shift.workspace.job("orders", JOB.format(put_away="archive: /done\n  quarantine: /rejected", more=more))
    shift.open()
    wanted = order_lines(["WRONG-1", "WRONG-2"])
    shift.workspace.drop("a.csv", wanted.replace("9876500002", "123"), folder="in")
    title = "orders: not everything could be done (2026-11-03)"
    assert told(shift, "12:05") == [title]
    text = shift.told[-1][1]
    assert "1 row invalid: This is no Indian mobile number (… digits)." in text and "mobile|" not in text
    shift.workspace.drop("b.csv", order_lines(["FINE-1"]), folder="in")
    assert told(shift, "12:20") == [], "another file says nothing of these rows"
    shift.workspace.drop("a.csv", wanted, folder="in")
    assert told(shift, "12:30") == [f"Over: {title}"]
    assert "No row of it is to be corrected any more." in shift.told[-1][1]


def test_another_file_that_is_held_is_told_of_its_own_and_a_person_closes_each(shift: Shift) -> None:
    shift.workspace.drop("a.xlsx", CUT, folder="in")
    assert told(shift, "12:05") == [HELD]
    shift.workspace.drop("b.xlsx", CUT + b"!", folder="in")
    assert told(shift, "12:10") == [HELD], "on the same day"
    first, second = shift.parts.ledger.files.held()
    for wrong, decision in ((f"file-{first.id}", "accept"), ("file-99", "drop")):
        with pytest.raises(UsageError):
            close_held_file(shift.parts, wrong, decision=decision, reason="x")
    closed = shift.workspace.run("held", "decide", f"file-{first.id}", "drop", "--reason", "it came by mail")
    assert (closed.code, "a.xlsx" in closed.out) == (0, True)
    assert told(shift, "12:15") == [f"Over: {HELD}"]
    assert [each.id for each in shift.parts.ledger.files.held()] == [second.id]


def test_a_held_file_that_stays_where_it_lies_is_told_once_and_again_when_it_is_dropped_anew(shift: Shift) -> None:
    shift.workspace.job("orders", JOB.format(put_away="archive: /done", more=""))
    shift.open()
    path = shift.workspace.drop("a.xlsx", CUT, folder="in")
    assert told(shift, "12:10") == [HELD]
    (held,) = shift.parts.ledger.files.held()
    close_held_file(shift.parts, f"file-{held.id}", decision="drop", reason="seen")
    assert told(shift, "12:15") == [f"Over: {HELD}"], "its runs still end with exit code 4, and nobody is called"
    os.utime(path, (1, 1))
    assert told(shift, "12:20") == [HELD]


def test_a_document_that_is_held_waits_as_well_beside_a_file(shift: Shift, sandbox: RunningSandbox) -> None:
    shift.workspace.drop("c.csv", order_lines(["H1"]), folder="in")
    assert told(shift, "12:07") == []
    changed = order_lines(["H1"]).replace("Market Road", "Harbour Road")
    shift.workspace.drop("d.csv", changed, folder="in")
    assert told(shift, "12:10") == [HELD]
    shift.workspace.drop("e.xlsx", CUT, folder="in")
    assert told(shift, "12:13") == [HELD]
    (document,) = shift.parts.ledger.documents.select(states=["held"])
    done = shift.workspace.run("held", "decide", str(document.id), "drop", "--reason", "the old address stays")
    assert done.code == 0, done.err
    assert told(shift, "12:16") == [f"Over: {HELD}"]
    assert figure(shift, "notices") == {("orders", "on_held"): 1.0}, "the file still waits"


def test_what_is_left_is_kept_counted_and_told_after_an_hour(shift: Shift) -> None:
    folder = shift.workspace.root / "in"
    (folder / "link.csv").symlink_to("ok.csv")
    (folder / "box.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    (folder / "new\nline.csv").write_text(order_lines(["L1"]))
    shift.workspace.drop("up.csv.part", "half", folder="in")
    shift.workspace.drop("x.ack.json.part.tmp", "not ours: fits no pattern", folder="in")
    assert told(shift, "12:30", step=SLOWLY) == []
    assert figure(shift, "files_left") == {("orders",): 5.0}
    assert "0 files; 5 left" in " ".join(shift.lines)
    notes = [note.reason for note in past_run(shift.parts, "orders").report.notes]
    for words in (
        "link.csv is left: it is a link",
        "box.csv is left: it is a folder",
        "pipe.csv is left: it is a pipe",
    ):
        assert any(words in note for note in notes)
    first = told(shift, "13:50", step=SLOWLY)
    assert first == ["5 messages: orders: something lies there and is not taken …"]
    assert "link.csv lies there since 2026-11-03 12:30+05:30 or longer: it is a link" in shift.told[-1][1]
    assert told(shift, "14:00", step=SLOWLY) == [], "once"
    (folder / "link.csv").unlink()
    assert told(shift, "14:10", step=SLOWLY) == ["Over: orders: something lies there and is not taken"]
    assert figure(shift, "files_left") == {("orders",): 4.0}


def test_an_upload_that_goes_on_for_a_while_is_nobodys_trouble(shift: Shift) -> None:
    path = shift.workspace.drop("up.csv.part", "half", folder="in")
    assert told(shift, "12:40", step=SLOWLY) == []
    path.unlink()
    shift.workspace.drop("up.csv", order_lines(["U1"]), folder="in")
    assert told(shift, "14:00", step=SLOWLY) == []
    assert shift.parts.ledger.files.left() == []


def test_no_run_with_exit_code_4_goes_untold(shift: Shift) -> None:
    """An empty file on a day on which none is expected; and one beside the day's good file."""
    expect = 'expect: {by: "12:20", since: "12:10", calendar: free}'
    (shift.workspace.root / "calendars").mkdir()
    (shift.workspace.root / "calendars/free.yaml").write_text("weekend: [tue]\n")  # today
    shift.workspace.job("orders", JOB.format(put_away="quarantine: /rejected\n  archive: /done", more=expect))
    shift.open()
    shift.workspace.drop("e.csv", "", folder="in")
    assert told(shift, "12:15") == [HELD]
    (shift.workspace.root / "calendars/free.yaml").write_text("weekend: [sun]\n")
    shift.open()
    shift.workspace.drop("good.csv", order_lines(["E1"]), folder="in")
    assert told(shift, "12:18") == []
    shift.workspace.drop("f.csv", "", folder="in")
    assert told(shift, "12:25") == [HELD], "the day's file came, so this one is not told as the day's"
    assert in_folder(shift.workspace.root / "in/rejected") == ["e.csv", "e.csv.why.txt", "f.csv", "f.csv.why.txt"]


def test_the_empty_file_of_a_day_waits_for_nobody_once_the_right_one_came(shift: Shift) -> None:
    expect = 'expect: {by: "12:04", since: "12:00"}\nnotify: [on_empty_file]'
    shift.workspace.job("orders", JOB.format(put_away="quarantine: /rejected", more=expect))
    shift.open()
    shift.workspace.drop("empty.csv", "", folder="in")
    empty = "orders: the file for 2026-11-03 is empty"
    assert told(shift, "12:10") == [empty]
    assert [each.name for each in shift.parts.ledger.files.held()] == ["empty.csv"]
    shift.workspace.drop("right.csv", order_lines(["R1"]), folder="in")
    assert told(shift, "12:20") == [f"Over: {empty}"]
    assert shift.parts.ledger.files.held() == []


def test_the_second_empty_file_is_empty_and_not_one_that_came_before(shift: Shift) -> None:
    expect = 'expect: {by: "12:04", since: "12:00"}'
    shift.workspace.job("orders", JOB.format(put_away="quarantine: /rejected", more=expect))
    shift.workspace.drop("old.csv", ORDER_COLUMNS + "\n", folder="in")
    assert shift.by_hand("orders") in (ExitCode.DONE, ExitCode.DOUBT)
    (shift.workspace.root / "in/old.csv").unlink(missing_ok=True)
    shift.clock.at += timedelta(days=1)
    shift.open()
    shift.workspace.drop("new.csv", ORDER_COLUMNS + "\n", folder="in")
    titles = [title for title in shift.until("2026-11-04T12:10", step=STEP) if "Digest" not in title]
    assert titles == ["[night-shift] orders: the file for 2026-11-04 is empty"]
    assert "new.csv came at" in shift.told[-1][1]


def test_trouble_that_lasts_for_nights_rings_once_a_night(shift: Shift) -> None:
    (shift.workspace.root / "in").rename(shift.workspace.root / "away")
    rung = told(shift, "12:05")
    for day in (4, 5):
        for hour in (2, 11, 20):
            rung += shift.until(f"2026-11-{day:02}T{hour:02}:00", step=timedelta(hours=9))
    days = [found[0] for title in rung if (found := re.search(r"orders failed for \S+", title))]
    assert days == [f"orders failed for 2026-11-{day:02}" for day in (3, 4, 5)]
