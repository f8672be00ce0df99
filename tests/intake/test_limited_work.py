"""What works on files from outside does so in a process that may die of it."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from support.forked_workers import really_started

from logistics_batch import child_process
from logistics_batch.child_process import WORKER, WORKER_PRELOAD, Allowance, Child, ChildFailed
from logistics_batch.errors import FileHeld, RunStopped
from logistics_batch.flows.files.foreign_files import Mapped, map_file
from logistics_batch.intake.limited_work import LimitedWork
from logistics_batch.mapping import Mapping, load_mapping
from logistics_batch.mapping.fields.compile import RunValues

SAMPLES = Path(__file__).parents[2] / "sample_data"
MAPPINGS = Path(__file__).parents[2] / "mappings"
VALUES = RunValues(file_name="orders", business_date=date(2026, 11, 3), timezone="Asia/Kolkata")
FORMATS = {"orders_standard_blr.xlsx": "orders_standard", "shiprocket_orders.csv": "shiprocket_orders"}


def mapping_of(name: str) -> Mapping:
    text = (MAPPINGS / f"{name}.yaml").read_text()
    return load_mapping(text, path=name, read_lookup=lambda file: (MAPPINGS / file).read_text())


def mapped(child: Child, path: Path, *, name: str = "orders_standard") -> Mapped:
    work = LimitedWork(child)(map_file, about=path.name, returns=(Mapped,))
    return work(path, mapping_of(name), name=path.name, run_values=VALUES)


@pytest.fixture(autouse=True)
def started_as_without_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process itself is looked at here: it is no fork."""
    monkeypatch.setattr(child_process, "_isolated", really_started)


@pytest.fixture
def child() -> Iterator[Child]:
    child = Child(WORKER, preload=WORKER_PRELOAD)
    yield child
    child.close()


@pytest.mark.parametrize("name", FORMATS)
def test_maps_the_same_as_without_the_process(child: Child, name: str) -> None:
    found = mapped(child, SAMPLES / name, name=FORMATS[name])
    wanted = map_file(SAMPLES / name, mapping_of(FORMATS[name]), name=name, run_values=VALUES)
    assert found.format == wanted.format == name.partition(".")[2]
    assert found.mapped is not None
    assert wanted.mapped is not None
    assert found.mapped.documents == wanted.mapped.documents
    assert len(found.mapped.documents) > 3
    assert found.mapped.rows.equals(wanted.mapped.rows)
    assert found.mapped.keep.equals(wanted.mapped.keep)
    plain = {"rows": found.mapped.rows, "keep": found.mapped.keep, "documents": ()}
    assert replace(wanted.mapped, **plain) == replace(found.mapped, **plain)


def test_a_large_file_comes_back_in_pieces(child: Child, tmp_path: Path) -> None:
    lines = [f"R{row},Asha,98765{row:05d},12 MG Road,560001,salt,{row % 7}" for row in range(12_000)]
    path = tmp_path / "orders.csv"
    path.write_text("\n".join(["Order No,Name,Phone,Address,PIN,SKU,Qty", *lines]))
    text = """
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile, required: true}
  delivery_address: {from: Address, required: true}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer, required: true}
ignore: [Name, PIN]
"""
    rules = load_mapping(text, path="orders", read_lookup=lambda name: name)
    found = LimitedWork(child)(map_file, about="orders.csv", returns=(Mapped,))(
        path, rules, name="orders.csv", run_values=VALUES
    )
    wanted = map_file(path, rules, name="orders.csv", run_values=VALUES)
    assert found.mapped is not None
    assert wanted.mapped is not None
    assert len(found.mapped.issues) > 1_000
    assert found.mapped.issues == wanted.mapped.issues
    assert len(found.mapped.documents) > 10_000
    assert found.mapped.documents == wanted.mapped.documents
    assert found.mapped.documents[-1] == wanted.mapped.documents[-1]


def test_a_held_file_keeps_its_reason(child: Child, tmp_path: Path) -> None:
    path = tmp_path / "orders.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<!DOCTYPE workbook><workbook/>")
    held = mapped(child, path).held
    assert held is not None
    assert "declares a document type" in held.message
    assert held.rule == "file|unsafe"
    assert "Copy the rows into a new workbook" in held.remedy


@pytest.mark.parametrize(
    "allowance",
    [
        Allowance(memory_bytes=200 << 20),  # not even the libraries fit
        Allowance(resident_bytes=1 << 20),
        Allowance(wait_seconds=0.001),
        Allowance(cpu_seconds=-1),  # none beyond its start
    ],
    ids=["address space", "memory", "time", "processor"],
)
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_file_that_takes_too_much_is_held(allowance: Allowance, tmp_path: Path, ending: str) -> None:
    path = SAMPLES / "orders_standard_blr.xlsx"
    if ending == "csv":
        path = tmp_path / "orders.csv"
        path.write_text(
            "Order No,Name,Phone,Address,PIN,SKU,Qty\n" + "A1,Asha,9876543210,MG Road,560001,salt,2\n" * 300_000
        )
    child = Child(WORKER, allowance=allowance, preload=WORKER_PRELOAD)
    try:
        with pytest.raises(FileHeld) as held:
            mapped(child, path)
        assert child.process_id is None
    finally:
        child.close()
    assert held.value.rule == "file|too_costly"
    assert path.name in held.value.message


def test_answers_to_many_rows_may_take_more_than_a_file_that_nobody_read(child: Child) -> None:
    def may_take(rows_read: int) -> tuple[int, int]:  # the processor time that the process used counts, too
        work = LimitedWork(child)(resource.getrlimit, about="orders.csv", rows_read=rows_read)
        return work(resource.RLIMIT_AS)[0], work(resource.RLIMIT_CPU)[0]

    memory, _ = may_take(0)
    assert may_take(1000)[0] == memory
    assert may_take(1_000_000)[0] == 4 * memory
    assert may_take(1_000_000)[1] > 4 * child.allowance.cpu_seconds
    assert may_take(0)[0] == memory


def test_a_process_that_died_is_replaced(child: Child) -> None:
    path = SAMPLES / "shiprocket_orders.csv"
    first = mapped(child, path, name="shiprocket_orders")
    assert child.process_id is not None
    os.kill(child.process_id, 9)
    again = mapped(child, path, name="shiprocket_orders")
    assert first.mapped is not None
    assert again.mapped is not None
    assert again.mapped.rows.equals(first.mapped.rows)


def test_the_process_knows_no_secrets(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGISTICS_BATCH_SERVICE__API_KEY", "very-secret-key")
    mapped(child, SAMPLES / "shiprocket_orders.csv", name="shiprocket_orders")
    place = Path(f"/proc/{child.process_id}")
    environment = (place / "environ").read_bytes()
    assert {one.partition(b"=")[0] for one in environment.split(b"\0") if one} == {
        b"LC_ALL",
        b"POLARS_MAX_THREADS",
        b"MALLOC_ARENA_MAX",
        b"POLARS_SKIP_CPU_CHECK",
    }
    assert b"shiprocket" not in (place / "cmdline").read_bytes()
    assert (place / "cwd").readlink() == Path("/")
    limits = (place / "limits").read_text()
    assert [line.split()[4:6] for line in limits.splitlines() if "core file" in line] == [["0", "0"]]


def test_a_mistake_of_the_program_is_told_by_its_place_alone(child: Child, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ChildFailed) as failed:
        LimitedWork(child)(json.loads, about="orders.csv")("98765 43210")
    assert str(failed.value).startswith("JSONDecodeError at python")
    assert "json/decoder.py:" in str(failed.value)
    assert str(failed.value) in caplog.text
    assert "98765" not in caplog.text
    assert LimitedWork(child)(json.loads, about="orders.csv")("7") == 7


def test_what_is_private_is_removed(child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = mapped(child, SAMPLES / "shiprocket_orders.csv", name="shiprocket_orders")
    assert found.mapped is not None
    assert list(tmp_path.iterdir()) == []


def test_who_is_asked_to_end_does_not_wait_for_a_file() -> None:
    stop = threading.Event()
    child = Child(WORKER, stop=stop)
    try:
        threading.Timer(0.5, stop.set).start()
        begun = time.monotonic()
        with pytest.raises(RunStopped):
            LimitedWork(child)(time.sleep, about="orders.csv")(120)
        assert time.monotonic() - begun < 9
        assert child.process_id is None
    finally:
        child.close()


def test_the_process_ends_with_its_parent_whatever_it_does(tmp_path: Path) -> None:
    """kill -9 of the program leaves no process behind that works on."""
    program = f"""
import re, sys, pathlib, threading
sys.path.insert(0, {str(Path(__file__).parents[2] / "src")!r})
from logistics_batch.child_process import WORKER, Child
from logistics_batch.intake.limited_work import LimitedWork
child = Child(WORKER)
child.start()
pathlib.Path({str(tmp_path / "child")!r}).write_text(str(child.process_id))
LimitedWork(child)(re.match, about="x")(r"(a+)+$", "a" * 60 + "b")  # holds the interpreter for ever
"""
    parent = subprocess.Popen([sys.executable, "-c", program])
    try:
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
            time.sleep(0.05)
        process = int((tmp_path / "child").read_text())
        while "R" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] or (
            int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11]) < 60
        ):
            time.sleep(0.05)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        ends = time.monotonic() + 10
        while Path(f"/proc/{process}").exists() and time.monotonic() < ends:
            time.sleep(0.05)
        stat = Path(f"/proc/{process}/stat")
        assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"
    finally:
        parent.kill()
