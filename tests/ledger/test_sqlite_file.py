"""What is special about a ledger that is a file."""

import resource
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ledger.arrivals import arrival, planned

from logistics_batch.errors import LedgerBusy, LedgerRefused
from logistics_batch.ledger import open_ledger
from logistics_batch.ledger.failures import is_unreadable, sqlite3

NOW = "2026-11-21T21:15:00+05:30"


def test_the_file_is_private(tmp_path: Path) -> None:
    """And whatever SQLite writes beside it."""
    ledger = open_ledger(f"sqlite:///{tmp_path}/var/ledger.db", account="x")
    with ledger.sending("orders"):
        ledger.attempts.set_baseline(1, "[]")
        beside = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "var").iterdir()}
    ledger.close()
    assert beside["ledger.db"] == 0o600
    assert not [name for name, mode in beside.items() if mode & 0o077]
    assert stat.S_IMODE((tmp_path / "var").stat().st_mode) == 0o700


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    open_ledger(f"sqlite:///{path}", account="x").close()
    content = bytearray(path.read_bytes())
    content[4096:12288] = b"\xff" * 8192
    path.write_bytes(content)
    with pytest.raises(LedgerRefused):
        open_ledger(f"sqlite:///{path}", account="x")


@pytest.mark.parametrize("from_byte", [0, 8192])
def test_a_disk_that_fails_on_reading_is_not_told_as_a_damaged_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, from_byte: int
) -> None:
    """SQLite calls a page that the disk does not give malformed; whoever believed it would put an older backup back."""
    path = tmp_path / "ledger.db"
    open_ledger(f"sqlite:///{path}", account="x").close()
    content = bytearray(path.read_bytes())
    content[from_byte : from_byte + 8192] = b"\xff" * 8192
    path.write_bytes(content)
    monkeypatch.setattr("logistics_batch.ledger.itself.opening.is_unreadable", lambda file: file == path)
    with pytest.raises(LedgerRefused, match="disk I/O error") as refused:
        open_ledger(f"sqlite:///{path}", account="x")
    assert (refused.value.exit_code, "backup" in refused.value.remedy) == (5, False)


def test_what_a_disk_does_not_give_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "sound").write_bytes(b"x" * 3_000_000)
    assert not is_unreadable(tmp_path / "sound")
    assert is_unreadable(Path("/proc/self/mem"))  # EIO


def test_a_text_file_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_text("these are notes, not a ledger" * 100)
    with pytest.raises(LedgerRefused, match="cannot be opened") as refused:
        open_ledger(f"sqlite:///{path}", account="x")
    assert "backup" in refused.value.remedy


def test_a_disk_that_takes_nothing_more_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db", account="x")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, usual[1]))
        with pytest.raises(LedgerRefused, match="cannot be written") as refused, ledger.sending("run orders"):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert "free space" in refused.value.remedy
    assert refused.value.exit_code == 5, "it is neither the settings nor the program"
    busy = pytest.raises(LedgerBusy, match=r"\(run orders, process ")
    with ledger.sending("run orders"), busy, ledger.sending("another"):
        pass
    ledger.close()


def test_a_ledger_that_is_reached_by_a_link_is_the_same_ledger(tmp_path: Path) -> None:
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/other.db").symlink_to(tmp_path / "ledger.db")
    one = open_ledger(f"sqlite:///{tmp_path}/ledger.db", account="x")
    other = open_ledger(f"sqlite:///{tmp_path}/linked/other.db", account="x")
    with one.sending("run orders"), pytest.raises(LedgerBusy, match="run orders"), other.sending("another"):
        pass
    with other.sending("another"), pytest.raises(LedgerBusy, match="another"), one.sending("run orders"):
        pass
    one.close()
    other.close()


def test_a_lock_file_that_was_removed_lets_no_second_sender_in(tmp_path: Path) -> None:
    """Neither another program while the first one lives, nor the first one any longer."""
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db", account="x")
    program = f"""
from logistics_batch.ledger import open_ledger
from logistics_batch.ledger.failures import is_unreadable
with open_ledger("sqlite:///{tmp_path}/ledger.db", account="x").sending("another"):
    print("sends")
"""
    ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-21", now=NOW)
    ledger.planning.plan_file("R1", arrival({"A": "{}"}))
    documents = planned(ledger)
    with ledger.sending("run orders"):
        (tmp_path / "ledger.db.lock").unlink()
        other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert "Another sending run holds the ledger (run orders, process " in other.stderr
        assert other.stdout == ""
        with pytest.raises(LedgerRefused, match="another run may be sending"):
            ledger.attempts.step(outcomes=[], claim=documents, run="R1", now=NOW)
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (other.stdout, other.stderr) == ("sends\n", "")
    ledger.close()


def test_reading_an_absent_ledger_creates_nothing(tmp_path: Path) -> None:
    ledger = open_ledger(f"sqlite:///{tmp_path}/var/ledger.db", account="x", read_only=True)
    assert ledger.runs.latest() == []
    ledger.close()
    assert list(tmp_path.iterdir()) == []


def test_commits_survive_a_power_cut_by_their_settings(tmp_path: Path) -> None:
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db", account="x")
    for _ in range(2):
        with ledger._connection.write() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3  # EXTRA
        ledger.pace.hold_turns(1)  # over the same connection, and it does not wait for the disk
    ledger.close()


@pytest.mark.parametrize(
    ("version", "mode"),
    [
        ("3.31.1", "delete"),
        ("3.40.1", "delete"),
        ("3.44.5", "delete"),
        ("3.44.6", "wal"),
        ("3.45.9", "delete"),
        ("3.50.6", "delete"),
        ("3.50.7", "wal"),
        ("3.51.2", "delete"),
        ("3.51.3", "wal"),
        ("3.52.0", "wal"),
        ("4.0.0", "wal"),
    ],
)
def test_a_log_written_ahead_is_used_only_where_its_reset_cannot_damage_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, mode: str
) -> None:
    """Also a file that was written by another version is put into the mode that is safe with this one."""
    path = tmp_path / "ledger.db"
    open_ledger(f"sqlite:///{path}", account="x").close()
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA journal_mode = {'WAL' if mode == 'delete' else 'DELETE'}")

    class Connection(sqlite3.Connection):
        def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
            told = statement.replace("sqlite_version()", f"'{version}'") if "sqlite_version" in statement else statement
            return super().execute(told, *parameters)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **more: connect(*args, factory=Connection, **more))
    ledger = open_ledger(f"sqlite:///{path}", account="x")
    with ledger._connection.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == mode
    ledger.close()


def test_a_large_file_that_is_planned_keeps_no_page_waiting(tmp_path: Path) -> None:
    """Its rows go in by one transaction, which needs seconds; whoever reads meanwhile sees what was there before."""
    path = tmp_path / "ledger.db"
    ledger = open_ledger(f"sqlite:///{path}", account="x")
    with closing(sqlite3.connect(path, timeout=0)) as reader, ledger.people._write() as connection:
        for number in range(3_000):
            connection.exec_driver_sql("INSERT INTO meta VALUES (?, ?)", (f"row {number}", "x" * 3_000))
        assert reader.execute("SELECT count(*) FROM meta WHERE name LIKE 'row %'").fetchone() == (0,)
    ledger.close()
