"""A bundle at a real print server: in order and once, or told with what to do."""

import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from campaigns.scale import size
from labels.label_files import scan
from labels.label_service import LabelService
from labels.print_room import PrintRoom, Wish
from labels.test_make_labels import accepted, index
from PIL import Image
from support.printers import Printers, running_cups
from zxingcpp import read_barcodes

from logistics_batch.errors import UsageError
from logistics_batch.flows.labels.labels import LabelsPlan, make_labels
from logistics_batch.flows.labels.printing import print_again
from logistics_batch.intake.stores.folder import FolderStore
from logistics_batch.model.jobs.job import JobPlace, Printer
from logistics_batch.model.run_reports import LabelReport, PrintState


@pytest.fixture(scope="module")
def cups() -> Iterator[Printers]:
    with running_cups() as printers:
        yield printers


@pytest.fixture
def printers(cups: Printers, monkeypatch: pytest.MonkeyPatch) -> Printers:
    monkeypatch.setenv("CUPS_SERVER", cups.socket)
    for path in (cups.folder / "out").iterdir():
        path.unlink()
    return cups


def printed(room: PrintRoom, **told: object) -> LabelReport:
    return make_labels(room.parts, LabelsPlan(max_pages=50, printer=Printer.model_validate(told)))


def lp_is(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on another program stands in the place of `lp`."""
    (folder / "lp").write_text(script)
    (folder / "lp").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def states(report: LabelReport) -> set[PrintState]:
    return {job.state for job in report.printing}


def test_labels_come_out_of_the_printer_in_their_order_and_once(
    room: PrintRoom, service: LabelService, printers: Printers
) -> None:
    accepted(room, *(Wish(f"R-{number}", hub=f"H-{number % 3}") for number in range(size(120, 200))))
    report = printed(room, queue="dock", media="Custom.4x6in", tray="Roll-2")
    assert (report.exit_code, states(report)) == (0, {PrintState.PRINTED})
    parts = sorted(path for path in report.files if path.name.startswith("labels"))
    assert printers.printed() == [path.read_bytes() for path in parts]
    codes = [code for each in printers.printed() for page in scan(each) for code in page]
    assert codes == [line["awb_number"] for line in index(report)]
    for told in printers.told():
        assert told.startswith(f"Labels {report.bundle_id} labels_part-")
        assert {"media=Custom.4x6in", "InputSlot=Roll-2"} <= set(told.split())
    nothing = printed(room, queue="dock")
    assert (nothing.labels, nothing.printing) == (0, ())
    assert len(printers.printed()) == len(parts), "nothing came out a second time"


@pytest.mark.parametrize(
    ("queue", "state", "words"),
    [("office", PrintState.REFUSED, "not accepting jobs"), ("jam", PrintState.REFUSED, "Paper jam in tray 1")],
)
def test_what_the_printer_refuses_is_told_and_the_bundle_kept(
    room: PrintRoom, service: LabelService, printers: Printers, queue: str, state: PrintState, words: str
) -> None:
    accepted(room, Wish("R-1"))
    report = printed(room, queue=queue)
    assert (report.exit_code, states(report), printers.printed()) == (4, {state}, [])
    (told,) = report.unprinted
    assert words in told.reason
    assert f"labels --bundle {report.bundle_id}/labels.pdf --print {queue}" in told.fix
    (again,) = print_again(room.parts, f"{report.bundle_id}/labels.pdf", Printer(queue="dock"))
    assert again.state is PrintState.PRINTED
    assert scan(printers.printed()[0]) == [["SH-R1"]]


def test_behind_a_file_that_is_not_taken_no_other_one_is_given(
    room: PrintRoom, service: LabelService, printers: Printers
) -> None:
    accepted(room, *(Wish(f"R-{number}") for number in range(3)))
    report = make_labels(room.parts, LabelsPlan(max_pages=1, printer=Printer(queue="office")))
    assert [(job.state, bool(job.said)) for job in report.printing] == [
        (PrintState.REFUSED, True),
        *[(PrintState.REFUSED, False)] * 2,
    ]
    assert len(report.unprinted) == 3


def test_a_printer_that_stands_still_keeps_the_job_and_nothing_is_printed_twice(
    room: PrintRoom, service: LabelService, printers: Printers
) -> None:
    accepted(room, Wish("R-1"))
    report = printed(room, queue="stopped", wait="1s")
    assert (report.exit_code, states(report), printers.printed()) == (4, {PrintState.WAITING}, [])
    (told,) = report.unprinted
    assert f"job {report.printing[0].number} waits in the print queue stopped" in told.reason
    printers.do("cupsenable", "stopped")
    for _ in range(100):
        if printers.printed():
            break
        room.parts.clock.sleep(0.05)
    printers.do("cupsdisable", "-r", "out of labels", "stopped")
    assert scan(printers.printed()[0]) == [["SH-R1"]]
    assert len(printers.printed()) == 1


def test_a_job_that_somebody_cancels_is_not_called_printed(
    room: PrintRoom, service: LabelService, printers: Printers
) -> None:
    accepted(room, Wish("R-1"))

    Interrupted(room, lambda: printers.do("cancel", "-a", "stopped"))
    report = printed(room, queue="stopped", wait="20s")
    assert (report.exit_code, states(report)) == (4, {PrintState.REFUSED})


@dataclass
class Interrupted:
    """A clock by which something happens while a job is watched."""

    room: PrintRoom
    happens: Callable[[], object]

    def __post_init__(self) -> None:
        self._usual, self.slept = self.room.parts.clock, 0
        self.room.parts = replace(self.room.parts, clock=self)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self._usual, name)

    def sleep(self, seconds: float) -> None:
        self.slept += 1
        if self.slept == 1:
            self.happens()
        self._usual.sleep(seconds)


def test_of_a_queue_that_is_removed_nothing_is_known(
    room: PrintRoom, service: LabelService, printers: Printers
) -> None:
    """Its jobs go with it, and nobody says how they ended."""
    accepted(room, Wish("R-1"))
    printers.do("lpadmin", "-p", "lent", "-v", "folder://x", "-m", "raw")
    printers.do("cupsaccept", "lent")
    clock = Interrupted(room, lambda: printers.do("lpadmin", "-x", "lent"))
    report = printed(room, queue="lent", wait="20s")
    assert (report.exit_code, states(report), clock.slept) == (4, {PrintState.UNKNOWN}, 1)
    (told,) = report.unprinted
    assert "is not known" in told.reason


def test_a_print_server_that_freezes_is_not_waited_for_without_end(
    room: PrintRoom, service: LabelService, printers: Printers, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted(room, Wish("R-1"))
    monkeypatch.setattr("logistics_batch.flows.labels.printing._ANSWERS_WITHIN_SECONDS", 1.0)
    Interrupted(room, lambda: os.kill(printers.process, signal.SIGSTOP))
    try:
        report = printed(room, queue="stopped", wait="2s")
    finally:
        os.kill(printers.process, signal.SIGCONT)
    assert (report.exit_code, states(report)) == (4, {PrintState.UNKNOWN})


def test_without_the_library_of_cups_nobody_knows_what_was_printed(
    room: PrintRoom, service: LabelService, printers: Printers, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted(room, Wish("R-1"))
    monkeypatch.setattr(ctypes, "CDLL", lambda name: exec("raise OSError(name)"))
    clock = Interrupted(room, lambda: None)
    report = printed(room, queue="dock")
    assert (report.exit_code, states(report), clock.slept) == (4, {PrintState.UNKNOWN}, 0)


def test_a_queue_is_known_in_any_case_of_its_letters(
    room: PrintRoom, service: LabelService, printers: Printers
) -> None:
    """CUPS takes them all for one, and lists its jobs under the name that it has."""
    accepted(room, Wish("R-1"))
    report = printed(room, queue="Dock", wait="5s")
    assert (report.exit_code, states(report)) == (0, {PrintState.PRINTED})


def test_what_was_interrupted_while_it_was_given_may_be_printed(
    room: PrintRoom, service: LabelService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ctrl-C reaches `lp` as well."""
    accepted(room, Wish("R-1"))
    lp_is("#!/bin/sh\nkill -INT $$\n", tmp_path, monkeypatch)
    report = printed(room, queue="dock")
    assert (report.exit_code, states(report)) == (4, {PrintState.UNKNOWN})


def test_two_runs_at_once_print_each_label_once(room: PrintRoom, service: LabelService, printers: Printers) -> None:
    """The other one makes the same bundle while this one writes its files."""
    accepted(room, Wish("R-1"), Wish("R-2"))
    usual, others = room.parts.open_store, list[LabelReport]()

    def open_store(place: JobPlace) -> FolderStore:
        if place.folder == "out" and not others:
            room.parts = replace(room.parts, open_store=usual)
            others.append(printed(room, queue="dock"))
        return usual(place)

    room.parts = replace(room.parts, open_store=open_store)
    plan = LabelsPlan(printer=Printer(queue="dock"), results=JobPlace(folder="out", path="/labels"))
    with pytest.raises(UsageError, match="2 orders") as refused:
        make_labels(room.parts, plan)
    assert "R-1" in refused.value.message
    assert states(others[0]) == {PrintState.PRINTED}
    assert len(printers.printed()) == 1
    assert {each.copy for each in room.ledger.labels.prints(["SH-R1", "SH-R2"])} == {1}
    bundles = [path.name for path in (room.root / "reports/labels").iterdir() if any(path.iterdir())]
    assert bundles == [others[0].bundle_id], "nobody finds the other one and prints it"
    assert not [path for path in (room.root / "out").rglob("*") if path.is_file()]


def test_where_nothing_can_print_no_label_counts_as_printed(
    room: PrintRoom, service: LabelService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    accepted(room, Wish("R-1"))
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(UsageError, match="nothing was printed"):
            printed(room, queue="dock")
    assert make_labels(room.parts, LabelsPlan()).labels == 1


def test_a_run_that_is_killed_before_it_knows_is_told_by_the_next_one(
    room: PrintRoom, service: LabelService, printers: Printers, tmp_path: Path
) -> None:
    """Its labels count as printed, so that nothing comes out twice; whether any came out a person has to see."""
    accepted(room, Wish("R-1"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/lp").write_text("#!/bin/sh\nkill -9 $PPID\n")
    (tmp_path / "bin/lp").chmod(0o755)
    program = (
        "import sys\nfrom pathlib import Path\nfrom labels.print_room import PrintRoom\n"
        "from logistics_batch.flows.labels.labels import LabelsPlan, make_labels\n"
        "from logistics_batch.model.jobs.job import Printer\n"
        "room = PrintRoom(Path(sys.argv[1]), url=sys.argv[2])\n"
        "make_labels(room.parts, LabelsPlan(printer=Printer(queue='dock')))\n"
    )
    paths = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, str(room.root), service.url]
    killed = subprocess.run(command, env=os.environ | paths, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    (died,) = room.ledger.runs.latest(kind="labels")
    for _ in range(2):
        accepted(room, Wish(f"N-{_}"), run=f"run-n{_}")
    report = printed(room, queue="dock")
    assert (report.exit_code, report.labels, states(report)) == (4, 2, {PrintState.PRINTED})
    (told,) = report.unprinted
    assert "is not known" in told.reason
    assert f"labels --bundle {died.id}/labels.pdf --print dock" in told.fix
    assert [note.reason for note in room.ledger.runs.notes_of(died.id)] == [told.reason]
    again = printed(room, queue="dock")
    assert (again.exit_code, again.unprinted) == (0, []), "it is told once"


def test_the_parts_of_a_long_bundle_are_printed_again_in_their_order(
    room: PrintRoom, service: LabelService, printers: Printers
) -> None:
    accepted(room, *(Wish(f"R-{number}") for number in range(102)))
    report = make_labels(room.parts, LabelsPlan(max_pages=1))
    jobs = print_again(room.parts, report.bundle_id, Printer(queue="stopped", wait="0s"))
    printers.do("cancel", "-a", "stopped")
    assert [job.file for job in jobs] == [path.name for path in report.files if path.name.startswith("labels")]


def test_labels_are_drawn_for_a_thermal_printer(room: PrintRoom, service: LabelService, printers: Printers) -> None:
    accepted(room, Wish("R-1"), Wish("R-2"), Wish("R-3"))
    report = printed(room, queue="dock", zpl=203, copies=2)
    assert (report.exit_code, states(report)) == (0, {PrintState.PRINTED})
    (zpl,) = printers.printed()
    labels = drawn(zpl)
    assert [copies for _, copies in labels] == [2, 2, 2]
    assert {picture.size for picture, _ in labels} == {(812, 1218)}
    codes = [code.text for picture, _ in labels for code in read_barcodes(picture.convert("L"))]
    assert codes == [line["awb_number"] for line in index(report)]


def drawn(zpl: bytes) -> list[tuple[Image.Image, int]]:
    """The graphics of ZPL labels as a printer draws them, and how many of each are printed."""
    found = []
    pattern = r"\^XA\^PW(\d+)\^LL(\d+)\^PQ(\d+)\^FO0,0\^GFA,(\d+),(\d+),(\d+),([0-9A-F:,]*)\^FS\^XZ\n"
    for width, height, copies, total, sent, of_row, dots in re.findall(pattern, zpl.decode()):
        assert total == sent == str(int(of_row) * int(height))
        rows: list[str] = []
        row = ""
        for sign in dots:
            if sign == ":":
                rows.append(rows[-1])
            else:
                row = row.ljust(2 * int(of_row), "0") if sign == "," else row + sign
            if len(row) == 2 * int(of_row):
                rows.append(row)
                row = ""
        assert (len(rows), row) == (int(height), "")
        inverted = bytes(255 - each for each in bytes.fromhex("".join(rows)))
        found.append((Image.frombytes("1", (int(width), int(height)), inverted), int(copies)))
    assert "".join(re.split(pattern, zpl.decode())[::8]) == "", "there is nothing but labels"
    return found


def test_without_a_printing_system_nothing_is_said_to_be_printed(
    room: PrintRoom, service: LabelService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    accepted(room, Wish("R-1"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="nothing was printed"):
        printed(room, queue="dock")


def test_a_print_server_that_says_nothing_leaves_it_open(
    room: PrintRoom, service: LabelService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    accepted(room, Wish("R-1"))
    lp_is("#!/bin/sh\nsleep 60\n", tmp_path, monkeypatch)
    monkeypatch.setattr("logistics_batch.flows.labels.printing._ANSWERS_WITHIN_SECONDS", 0.2)
    report = printed(room, queue="dock")
    assert (report.exit_code, states(report)) == (4, {PrintState.UNKNOWN})


@pytest.mark.parametrize("queue", ["-o", "a b", "", "../x"])
def test_what_is_no_queue_is_refused(queue: str) -> None:
    with pytest.raises(ValueError, match="queue"):
        Printer(queue=queue)


def test_a_bundle_that_is_not_there_is_not_printed(room: PrintRoom) -> None:
    with pytest.raises(UsageError, match="No labels of a bundle"):
        print_again(room.parts, "L20260101-000000-0000", Printer(queue="dock"))
