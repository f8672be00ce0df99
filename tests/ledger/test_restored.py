"""A ledger that is behind its own mark is an older copy, or another ledger: nothing is sent with it."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from ledger.arrivals import arrival, planned
from sqlalchemy import text
from support.engines import engine_of

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import Ledger, Outcome, open_ledger
from logistics_batch.ledger.failures import sqlite3
from logistics_batch.model.issue import Issue

NOW = "2026-11-21T21:15:00+05:30"
Opened = Callable[[], Ledger]


@pytest.fixture
def marks(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "var/ledger.mark", tmp_path / "reports/.ledger.mark"


@pytest.fixture
def opened(url: str, marks: tuple[Path, Path]) -> Opened:
    return lambda: open_ledger(url, account="http://service.test", marks=marks)


def seq(url: str, value: int | None = None) -> int:
    """The count that the ledger holds; with `value` it is set, as restoring an older copy does."""
    engine = engine_of(url)
    with engine.begin() as connection:
        found = int(connection.execute(text("SELECT value FROM meta WHERE name = 'seq'")).scalar_one())
        if value is not None:
            connection.execute(text("UPDATE meta SET value = :v WHERE name = 'seq'"), {"v": str(value)})
    engine.dispose()
    return found


def one_run(ledger: Ledger, run: str = "R1") -> None:
    with ledger.sending("orders"):
        ledger.runs.start(run, job="orders", kind="push", business_date="2026-11-21", now=NOW)
        ledger.planning.plan_file(run, arrival({f"{run}-A": "{}", f"{run}-B": "[]"}))
        documents = planned(ledger, run)
        ledger.attempts.step(outcomes=[], claim=documents[:1], run=run, now=NOW)
        ledger.attempts.step(outcomes=[Outcome(documents[0].id, "accepted", "accepted")], claim=[], run=run, now=NOW)


def test_the_newest_ledger_goes_on_and_its_marks_follow(url: str, opened: Opened, marks: tuple[Path, Path]) -> None:
    for run in ("R1", "R2"):
        ledger = opened()
        one_run(ledger, run)
        ledger.close()
    assert {json.loads(path.read_text())["seq"] for path in marks} == {seq(url)}
    assert seq(url) >= 8


def test_every_commit_is_noted_at_once(url: str, opened: Opened, marks: tuple[Path, Path]) -> None:
    """A process that is killed in the middle of a run leaves a mark that knows its last intent."""
    ledger = opened()
    with ledger.sending("orders"):
        ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-21", now=NOW)
        ledger.planning.plan_file("R1", arrival({"A": "{}"}))
        ledger.attempts.step(outcomes=[], claim=planned(ledger), run="R1", now=NOW)
        assert json.loads(marks[0].read_text())["seq"] == seq(url)
    ledger.close()


def test_an_older_copy_is_refused_until_a_person_accepts_it(url: str, opened: Opened) -> None:
    ledger = opened()
    one_run(ledger)
    ledger.close()
    seq(url, seq(url) - 3)
    ledger = opened()
    with pytest.raises(LedgerRefused, match="older copy: 3 transactions") as refused, ledger.sending("orders"):
        pytest.fail("it was allowed to send")
    assert "--accept-restored" in refused.value.remedy
    assert len(ledger.runs.latest()) == 1  # reading goes on
    assert ledger.itself.accept_restored(reason="the disk died", now=NOW) == 1
    with ledger.sending("orders"):
        assert [document.may_exist for document in ledger.documents.select(states=["planned"])] == [True]
    ledger.close()


def test_the_copy_that_was_not_accepted_stays_refused(tmp_path: Path, opened: Opened, url: str) -> None:
    """After one copy was accepted, the others of its kind do not fit its new name, whatever their count."""
    ledger = opened()
    one_run(ledger)
    before = seq(url)
    ledger.itself.accept_restored(reason="moved to another machine", now=NOW)
    engine = engine_of(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = 'theoldname' WHERE name = 'epoch'"))
    engine.dispose()
    seq(url, before + 50)
    with pytest.raises(LedgerRefused, match="not the one"), ledger.sending("orders"):
        pytest.fail("it was allowed to send")
    ledger.close()


def test_what_was_accepted_on_one_machine_is_confirmed_on_the_others(
    url: str, opened: Opened, marks: tuple[Path, Path], tmp_path: Path
) -> None:
    """Several machines send with one ledger on a server; each has marks of its own, and nothing is accepted twice."""

    def second() -> Ledger:
        return open_ledger(url, account="http://service.test", marks=(tmp_path / "second/ledger.mark",))

    for machine in (opened, second):
        one_run(ledger := machine(), machine.__name__)
        ledger.close()
    seq(url, seq(url) - 3)
    first, other = opened(), second()
    assert first.itself.accept_restored(reason="the server was restored", now=NOW) > 0
    first.runs.start("R3", job="orders", kind="push", business_date="2026-11-22", now=NOW)
    first.planning.plan_file("R3", arrival({"new": "{}"}))
    with pytest.raises(LedgerRefused):
        other.itself.require_newest()
    assert other.itself.accept_restored(reason="here as well", now=NOW) == 0
    for ledger in (other, first):
        ledger.itself.require_newest()
        assert not next(each for each in ledger.documents.select() if each.reference == "new").may_exist
    assert len(first.itself.restorations()) == 1
    first.close()
    other.close()


def test_a_mark_that_cannot_be_read_accuses_nobody(opened: Opened, marks: tuple[Path, Path]) -> None:
    ledger = opened()
    one_run(ledger)
    for path in marks:
        path.write_text('{"epoch": ')
    with ledger.sending("orders"):
        pass
    assert all(json.loads(path.read_text())["seq"] for path in marks)
    ledger.close()


class TestAFile:
    """What people do with files."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "var/ledger.db"

    @pytest.fixture
    def url(self, path: Path) -> str:
        return f"sqlite:///{path}"

    @pytest.mark.parametrize("pattern", ["ledger.db*", "*"])
    def test_a_ledger_that_was_deleted(self, pattern: str, path: Path, opened: Opened) -> None:
        ledger = opened()
        one_run(ledger)
        ledger.close()
        for each in path.parent.glob(pattern):  # with "*" the mark beside it goes, too
            each.unlink()
        ledger = opened()
        with pytest.raises(LedgerRefused, match="not the one"), ledger.sending("orders"):
            pytest.fail("it was allowed to send")
        ledger.close()

    def test_after_an_unclean_end_its_pages_are_looked_at_before_sending(self, path: Path, opened: Opened) -> None:
        ledger = opened()
        one_run(ledger)
        ledger.close()  # nothing of it is in memory
        with (
            closing(sqlite3.connect(path)) as database,
            database,
        ):  # what a process that dies while sending leaves behind
            gone = json.dumps({"what": "run orders", "process": json.dumps({"boot": "another"}), "since": NOW})
            database.execute("INSERT INTO meta (name, value) VALUES ('sender', ?)", [gone])
        content = bytearray(path.read_bytes())
        content[-8192:-4096] = b"\xff" * 4096
        path.write_bytes(content)
        with pytest.raises(LedgerRefused, match="damaged"), ledger.sending("orders"):
            pytest.fail("it was allowed to send")
        ledger.close()


def test_a_doubt_of_an_older_copy_is_never_sent_again_by_itself(url: str, opened: Opened) -> None:
    """In the history that is lost it may have been settled, cancelled or dropped."""
    ledger = opened()
    with ledger.sending("orders"):
        ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-21", now=NOW)
        ledger.planning.plan_file("R1", arrival({"A": "{}", "B": "{}"}))
        first, second = planned(ledger)
        ledger.attempts.step(outcomes=[], claim=[first, second], run="R1", now=NOW)
        ledger.attempts.step(
            outcomes=[Outcome(first.id, "in_doubt", "unknown", why=Issue("in_doubt"))], claim=[], run="R1", now=NOW
        )
    ledger.itself.accept_restored(reason="the disk died", now=NOW)
    with ledger.sending("orders"):
        ledger.attempts.take_over(NOW)
    assert [(each.state, each.rule) for each in ledger.documents.select()] == [("in_doubt", "restored")] * 2
    ledger.close()
