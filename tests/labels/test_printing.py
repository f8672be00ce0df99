"""A bundle at a real print server: in order and once, or told with what to do."""

import re
from collections.abc import Iterator
from dataclasses import replace
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
from logistics_batch.model.jobs.job import Printer
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

    class Cancelling:
        """A clock by which somebody cancels the job while it is waited for."""

        def __getattr__(self, name: str) -> object:
            return getattr(usual, name)

        def sleep(self, seconds: float) -> None:
            printers.do("cancel", "-a", "stopped")
            usual.sleep(seconds)

    usual = room.parts.clock
    room.parts = replace(room.parts, clock=Cancelling())  # type: ignore[arg-type]
    report = printed(room, queue="stopped", wait="20s")
    assert (report.exit_code, states(report)) == (4, {PrintState.REFUSED})


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
    (tmp_path / "lp").write_text("#!/bin/sh\nsleep 60\n")
    (tmp_path / "lp").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
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
