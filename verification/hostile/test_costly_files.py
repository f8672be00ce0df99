"""What a file may cost: bounded time and memory whatever it holds, a scheduler that lives on and ends when told to."""

import gzip
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hostile import make_hostile
from hostile.catalogue import FILES
from support.workspace import ORDER_COLUMNS, Workspace, order_lines

from logistics_batch.child_process import WORKER, WORKER_PRELOAD, Allowance, Child
from logistics_batch.errors import FileHeld
from logistics_batch.flows.files.foreign_files import Mapped, map_file
from logistics_batch.intake.containers import Member, Unpacker
from logistics_batch.intake.limited_work import LimitedWork
from logistics_batch.intake.names import printable
from logistics_batch.intake.pgp import PgpKey
from logistics_batch.ledger import open_ledger
from logistics_batch.mapping import load_mapping
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.operate.heartbeat import sign_of

MOST_BYTES, MOST_SECONDS = 700 << 20, 60.0
LONGEST_CELL = 32_000
JOB = """\
kind: push
mapping: orders
source: {{folder: ., path: /inbound, ready: {{unchanged_for: 2, poll_every: 10ms}}, archive: /archive}}
results: {{folder: results}}
schedule: {{cron: "{cron}", timezone: UTC, missed: last, grace: 6h}}
"""
# What kept the patterns for telephone numbers busy for 49 s a cell.
BUSY = ("." * LONGEST_CELL, "." * LONGEST_CELL + "x", "9" + "." * LONGEST_CELL + "9", "- " * (LONGEST_CELL // 2) + "9")
BUSY += (" " * LONGEST_CELL + "7", "091-" * (LONGEST_CELL // 4), "(" * LONGEST_CELL, "9 " * (LONGEST_CELL // 2) + "x")


@pytest.fixture
def worker() -> Iterator[Child]:
    child = Child(WORKER, preload=WORKER_PRELOAD, allowance=Allowance(resident_bytes=MOST_BYTES))
    yield child
    child.close()


def told(worker: Child, path: Path, *, name: str, folder: Path, key: Path | None = None) -> tuple[str, float]:
    """What the sender of a file is told, or how many orders it holds; and the seconds that took."""
    mapping = load_mapping(make_hostile.MAPPING, path="hostile.yaml", read_lookup=str)
    limited = LimitedWork(worker)
    unpack = Unpacker(PgpKey(key).decrypt if key else None, limited=limited)
    begun = time.monotonic()
    words = ""
    try:
        for member in unpack(path, name=name, to=folder) or (Member(path, name),):
            values = RunValues(file_name=member.name, business_date=date(2026, 11, 3), timezone="Asia/Kolkata")
            made = limited(map_file, about=member.name, returns=(Mapped,))(
                member.path, mapping, name=member.name, run_values=values
            )
            if made.held is not None:
                raise made.held
            assert made.mapped is not None
            issues = [f"{each.cell} {printable(each.value)} {each.reason} {each.fix}" for each in made.mapped.issues]
            sent = len(made.mapped.documents)
            words = "; ".join(issues[:20]) or f"{sent} order{'s' * (sent > 1)} read"
            break
    except FileHeld as held:
        words = held.message
    return words, time.monotonic() - begun


def peak_bytes(worker: Child) -> int:
    """The most memory that the process ever used; 0 if it is gone."""
    try:
        status = Path(f"/proc/{worker.process_id}/status").read_text()
    except FileNotFoundError:
        return 0
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM"))


def test_every_hostile_file_in_one_process_that_goes_on(worker: Child, tmp_path: Path) -> None:
    made = make_hostile.make_all(tmp_path)
    key = make_hostile._some_key(tmp_path)
    wrong = []
    for name, one in FILES.items():
        inside = tmp_path / f"{name}.inside"
        inside.mkdir()
        words, seconds = told(worker, made[name], name=one.file_name, folder=inside, key=key)
        if one.words not in words or seconds > MOST_SECONDS or peak_bytes(worker) > MOST_BYTES:
            wrong.append((name, words[:200], round(seconds), peak_bytes(worker) >> 20))
    assert wrong == []


@pytest.mark.parametrize("cell", BUSY, ids=lambda cell: f"{cell[:4]!r}-{cell[-1]!r}")
def test_a_long_cell_costs_its_own_row_and_no_time(worker: Child, tmp_path: Path, cell: str) -> None:
    path = tmp_path / "orders.csv"
    row = "A-{},Asha,{},12 MG Road,tea,2\n"
    path.write_text(
        "Order No,Name,Phone,Address,SKU,Qty\n" + row.format(1, "9876543210") + row.format(2, cell) * 20, "utf-8"
    )
    told(worker, path, name="orders.csv", folder=tmp_path)  # the process is there
    words, seconds = told(worker, path, name="orders.csv", folder=tmp_path)
    assert "C3" in words
    assert seconds < 10


def half_a_gigabyte_of_commas(path: Path) -> None:
    """A gzip file of some megabytes that is no bomb by its proportion, and that becomes half a billion empty cells."""
    noise = random.Random(7)
    line = b"," * 500 + b"\n"
    with gzip.open(path, "wb", compresslevel=6) as file:
        file.write(b"Order No,Name,Phone,Address,SKU,Qty" + b"," * 495 + b"\n")
        for _ in range(510):
            file.write(line * 2_000 + noise.randbytes(3_000).hex().encode() + b"\n")


def test_a_small_archive_that_becomes_a_huge_table_is_held(worker: Child, tmp_path: Path) -> None:
    """It took 5 GB and 182 s of the scheduler."""
    path = tmp_path / "orders.csv.gz"
    half_a_gigabyte_of_commas(path)
    inside = tmp_path / "inside"
    inside.mkdir()
    words, seconds = told(worker, path, name="orders.csv.gz", folder=inside)
    assert path.stat().st_size < 8 << 20
    assert "cells, empty ones among them; at most" in words
    assert seconds < MOST_SECONDS
    assert peak_bytes(worker) < MOST_BYTES


def test_an_archive_is_unpacked_no_further_than_it_may(worker: Child, tmp_path: Path) -> None:
    path = tmp_path / "orders.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for number in range(6):
            file.write(random.Random(number).randbytes(1 << 20).hex().encode() * 50)
    inside = tmp_path / "inside"
    inside.mkdir()
    words, seconds = told(worker, path, name="orders.csv.gz", folder=inside)
    assert "unpacked it is larger than 512 MB" in words
    assert seconds < MOST_SECONDS
    assert list(inside.iterdir()) == []


# ── a scheduler that works on such files


def scheduled(workspace: Workspace) -> None:
    """A job that a scheduler knew and that was due an hour ago: one that starts now runs it at once."""
    due = datetime.now(UTC) - timedelta(hours=1)
    cron = f"{due.minute} {due.hour} * * *"
    (workspace.root / "inbound").mkdir()
    workspace.job("nightly", JOB.format(cron=cron))
    ledger = open_ledger(f"sqlite:///{workspace.root}/var/ledger.db", account="https://api.example.com")
    ledger.slots.schedule_seen("nightly", f"{cron} UTC", now=(due - timedelta(hours=1)).isoformat())
    ledger.close()
    done = workspace.run("run", "nightly")
    assert done.code == 0, done.out + done.err


def children_of(process: int) -> list[int]:
    found = []
    for thread in Path(f"/proc/{process}/task").iterdir():
        found += [int(child) for child in (thread / "children").read_text().split()]
    return found


def processor_seconds(process: int) -> float:
    try:
        user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(user) + int(system)) / 100


def test_the_sign_of_life_is_never_old_while_hostile_files_are_worked_on(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace", url="http://127.0.0.1:9")
    scheduled(workspace)
    rows = [f"D-{place}-{number},{cell},1 Road,560001,tea,1" for place in range(3) for number, cell in enumerate(BUSY)]
    workspace.drop("dots.csv", "\n".join([ORDER_COLUMNS, *rows]))
    half_a_gigabyte_of_commas(workspace.root / "inbound" / "commas.csv.gz")
    scheduler = workspace.start("schedule")
    oldest, answered = 0.0, workspace.root / "results"
    try:
        begun = time.monotonic()
        sign = sign_of(workspace.root)
        while not sign.exists():
            assert scheduler.poll() is None
            assert time.monotonic() - begun < 60
            time.sleep(0.05)
        while len(list(answered.glob("*.result.csv"))) < 2:
            oldest = max(oldest, time.time() - sign.stat().st_mtime)
            assert time.monotonic() - begun < 300
            assert scheduler.poll() is None
            time.sleep(0.1)
        assert oldest < 10
        scheduler.send_signal(signal.SIGTERM)
        assert scheduler.wait(10) == 0
    finally:
        scheduler.kill()
        scheduler.communicate()


def test_a_scheduler_that_reads_a_file_ends_within_ten_seconds_with_all_it_started(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace", url="http://127.0.0.1:9")
    scheduled(workspace)
    workspace.drop("large.csv", order_lines([f"L-{number}" for number in range(700_000)]))
    scheduler = subprocess.Popen(  # what it starts are its own children
        workspace.command("schedule"),
        cwd=workspace.root,
        env=workspace.environment({}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        ends = time.monotonic() + 120
        while not (busy := [each for each in children_of(scheduler.pid) if processor_seconds(each) > 2]):
            assert time.monotonic() < ends
            assert scheduler.poll() is None
            time.sleep(0.05)
        scheduler.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        scheduler.wait(15)
        assert time.monotonic() - begun < 10
        time.sleep(0.5)
        assert [each for each in busy if Path(f"/proc/{each}/exe").exists()] == []
        assert (workspace.root / "inbound/large.csv").exists()
    finally:
        scheduler.kill()
        scheduler.communicate()
