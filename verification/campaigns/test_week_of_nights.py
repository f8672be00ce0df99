"""A week of nights, compressed: a real OpenSSH server, the sandbox with faults, and people who are told over HTTP."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from operate.night_shift import KOLKATA, PlayedClock, Shift, in_folder, ran
from support.canary import key_of_tests
from support.event_receiver import Receiver, receiving
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.sftp_servers import RunningSshd, running_sshd
from support.workspace import Workspace, order_lines

JOBS = {
    "orders": """kind: push
mapping: orders
source:
  sftp: bhiwandi
  path: {root}/inbound
  pattern: ["*.csv"]
  ready: {{unchanged_for: 2, poll_every: 10ms}}
  archive: {root}/archive
  quarantine: {root}/rejected
results: {{path: {root}/results, formats: [csv]}}
schedule: {{cron: "15 21 * * *", calendar: in-holidays, missed: all, grace: 30h}}
expect: {{by: "21:00", calendar: in-holidays}}
notify: [on_failure, on_held, on_invalid_rows, on_missing_file, on_late_file, on_empty_file, on_duplicate_file]
""",
    "doubts": "kind: settle\nschedule: {every: 6h}\nnotify: [on_failure]\n",
    "then": "kind: settle\nafter: [orders]\nnotify: [on_failure]\n",
}
STEP = timedelta(minutes=1)
PERSONAL = re.compile(rf"98765|Market Road|560\d{{3}}|{re.escape(key_of_tests())}")


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[RunningSshd]:
    with running_sshd(tmp_path / "sshd") as server:
        for name in ("inbound", "archive", "rejected", "results"):
            (server.root / name).mkdir()
        yield server


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def people() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def shift(tmp_path: Path, sandbox: RunningSandbox, sshd: RunningSshd, people: Receiver) -> Iterator[Shift]:
    workspace = Workspace(tmp_path / "night-shift", url=sandbox.url)
    workspace.sftp("bhiwandi", sshd)
    (workspace.root / "calendars").mkdir()
    calendar = "weekend: [sun]\nholidays: {2026-11-04: Diwali}\n"
    (workspace.root / "calendars" / "in-holidays.yaml").write_text(calendar)
    for name, text in JOBS.items():
        workspace.job(name, text.format(root=sshd.root) if name == "orders" else text)
    clock = PlayedClock(datetime(2026, 11, 1, 20, 30, tzinfo=KOLKATA))  # a Sunday
    started = Shift(workspace, clock, people)
    yield started
    started.close()


def drop(sshd: RunningSshd, name: str, references: list[str]) -> None:
    (sshd.root / "inbound" / name).write_text(order_lines(references))


def told(titles: list[str]) -> list[str]:
    """Titles without the name of the installation, and without digests."""
    return [title.removeprefix("[night-shift] ") for title in titles if "Digest" not in title]


@pytest.mark.slow
@pytest.mark.real
def test_a_week_of_nights(shift: Shift, sandbox: RunningSandbox, sshd: RunningSshd) -> None:
    nights = {day: [f"N{day}-{n}" for n in range(1, 4)] for day in range(2, 9)}

    # Monday: an ordinary night.
    assert told(shift.until("2026-11-02T20:30")) == [], "Sunday is free: no file, and nobody is told"
    drop(sshd, "mon.csv", nights[2])
    assert told(shift.until("2026-11-03T12:00")) == []
    assert in_folder(sshd.root / "archive") == ["mon.csv"]

    # Tuesday: no file by nine, then it comes; the service is down when it is sent, and back in the morning.
    assert told(shift.until("2026-11-03T21:10")) == ["orders: no file came for 2026-11-03"]
    drop(sshd, "tue.csv", nights[3])
    assert told(shift.until("2026-11-03T21:14", step=STEP)) == ["Over: orders: no file came for 2026-11-03"]
    sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 1}])
    assert told(shift.until("2026-11-03T22:00")) == [], "the doubt is found out in the same run"
    assert told(shift.until("2026-11-04T12:00")) == []

    # Wednesday is a holiday. Thursday: the file is Tuesday's again, the new one comes in the night.
    assert told(shift.until("2026-11-05T20:30")) == []
    (sshd.root / "inbound" / "again.csv").write_bytes((sshd.root / "archive" / "tue.csv").read_bytes())
    (duplicate,) = told(shift.until("2026-11-05T22:00"))
    assert duplicate == "orders: the file for 2026-11-05 is one that came before"
    drop(sshd, "thu.csv", nights[5])
    assert told(shift.until("2026-11-05T23:00")) == [f"Over: {duplicate}"]
    assert shift.by_hand("orders") == 0

    # Friday: an empty file; when the right one is sent by hand, the key of the service is refused for a while.
    (sshd.root / "inbound" / "fri.csv").write_text("")
    empty = "orders: the file for 2026-11-06 is empty"
    assert told(shift.until("2026-11-06T22:00")) == [empty]
    drop(sshd, "fri2.csv", nights[6])
    sandbox.set_faults([{"endpoint": "*", "kind": "status_401"}])
    assert shift.by_hand("orders") == 5
    assert told(shift.until("2026-11-06T22:15")) == [f"2 messages: Over: {empty} …"]
    assert "orders failed for 2026-11-06" in shift.told[-1][1]
    assert "logistics-batch run orders --business-date 2026-11-06" in shift.told[-1][1]
    assert shift.by_hand("orders") == 5
    assert told(shift.until("2026-11-06T22:30")) == [], "the same trouble is told once"
    sandbox.set_faults([])
    assert shift.by_hand("orders") == 0
    assert told(shift.until("2026-11-06T22:45")) == ["Over: orders failed for 2026-11-06"]

    # Saturday: the machine is off from the afternoon until Sunday.
    shift.until("2026-11-07T15:00")
    drop(sshd, "sat.csv", nights[7])
    shift.sleep_until("2026-11-08T08:00")
    shift.look()
    saturday = told([title for title, _ in shift.told])
    assert not any("did not run" in title for title in saturday), "it was caught up"

    assert told(shift.until("2026-11-09T12:00")) == []
    created = Counter(line["reference_number"] for line in sandbox.committed("order.created"))
    assert {n for n, times in created.items() if times > 1} == set()
    assert set(created) == {each for day in (2, 3, 5, 6, 7) for each in nights[day]}
    assert [each for each in in_folder(sshd.root / "inbound") if each.endswith(".csv")] == []
    starts = Counter(ran(shift))
    assert max(starts.values()) == 1
    assert [s for s in starts if s.startswith("orders:")] == [
        f"orders: starts for 2026-11-{day:02}T21:15" for day in (2, 3, 5, 6, 7)
    ]
    everything = " ".join(f"{title} {message}" for title, message in shift.told) + " ".join(shift.lines)
    assert not PERSONAL.search(everything)
    digests = [title for title, _ in shift.told if "Digest" in title]
    assert len(digests) == 8
