"""Labels that are a little larger than the 4x6 stock: trimmed, shrunk by little, read back, or refused."""

import csv
import io
from collections.abc import Callable

import pytest
from labels.label_files import HEIGHT, WIDTH, changed, page_sizes, rotated, scan
from labels.label_service import Given, LabelService
from labels.print_room import PrintRoom, Wish
from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.flows.labels.labels import LabelsPlan, make_labels
from logistics_batch.model.run_reports import LabelReport
from logistics_batch.paper.labels import barcodes, judge
from logistics_batch.paper.labels.check import LabelFault

A6, A5, A4 = (105 * mm, 148 * mm), (148 * mm, 210 * mm), (210 * mm, 297 * mm)


def framed(
    awb: str, size: tuple[float, float], *, margin: float, at: tuple[float, float] = (0, 0), bar: float = 1.0
) -> bytes:
    """A label whose frame stands `margin` mm inside a box of `size` at `at` of its page, which is so large or A4."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4 if any(at) else size, invariant=1)
    canvas.translate(*at)
    edge = margin * mm
    canvas.setLineWidth(0.5)
    canvas.rect(edge, edge, size[0] - 2 * edge, size[1] - 2 * edge)
    Code128(awb, barHeight=60, barWidth=bar, quiet=0).drawOn(canvas, edge + 20, size[1] / 2)
    canvas.drawString(edge + 20, size[1] / 2 - 20, awb)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def moved(content: bytes) -> bytes:
    """The same page with its origin elsewhere."""

    def change(_: object, page: object) -> None:
        left, bottom, right, top = map(float, page.mediabox)
        page.mediabox = [left - 30, bottom - 20, right - 30, top - 20]
        page.contents_add(b"1 0 0 1 -30 -20 cm", prepend=True)

    return changed(content, change)


def printed(room: PrintRoom, service: LabelService, content: bytes) -> tuple[LabelReport, dict[str, str]]:
    service.given = {"SH-A": Given(content)}
    room.accept(room.drop(Wish("A")), {"A": "SH-A"})
    report = make_labels(room.parts, LabelsPlan())
    path = next(path for path in report.files if path.name == "index.csv")
    (row,) = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
    return report, row


LARGER: dict[str, tuple[Callable[[str], bytes], str]] = {  # by AWB: the label, and what becomes of it
    "SH-0": (lambda awb: framed(awb, A6, margin=1), "trimmed, shrunk to 98 %"),
    "SH-1": (lambda awb: framed(awb, A6, margin=0), "shrunk to 97 %"),
    "SH-2": (lambda awb: framed(awb, A6, margin=4), "trimmed"),
    "SH-3": (lambda awb: framed(awb, (110 * mm, 160 * mm), margin=1.5), "trimmed, shrunk to 94 %"),
    "SH-4": (lambda awb: framed(awb, (100 * mm, 150 * mm), margin=2, at=(0, 147 * mm)), "trimmed"),
    "SH-5": (lambda awb: framed(awb, (150 * mm, 100 * mm), margin=2, at=(30 * mm, 180 * mm)), "trimmed"),
    "SH-6": (lambda awb: rotated(framed(awb, A6, margin=4), 90), "trimmed"),
    "SH-7": (lambda awb: rotated(framed(awb, (100 * mm, 150 * mm), margin=2, at=(5, 147 * mm)), 180), "trimmed"),
    "SH-8": (lambda awb: rotated(framed(awb, (100 * mm, 150 * mm), margin=2, at=(5, 147 * mm)), 270), "trimmed"),
    "SH-9": (lambda awb: moved(framed(awb, A6, margin=4)), "trimmed"),
}


def test_labels_a_little_larger_than_the_stock_are_printed(room: PrintRoom, service: LabelService) -> None:
    service.given = {awb: Given(label(awb)) for awb, (label, _) in LARGER.items()}
    room.accept(room.drop(*map(Wish, LARGER)), {awb: awb for awb in LARGER})
    report = make_labels(room.parts, LabelsPlan())
    (index,) = [path for path in report.files if path.name == "index.csv"]
    rows = list(csv.DictReader(io.StringIO(index.read_text(encoding="utf-8-sig"))))
    assert {row["awb_number"]: (row["status"], row["reason"]) for row in rows} == {
        awb: ("printed", change) for awb, (_, change) in LARGER.items()
    }
    (bundle,) = [path.read_bytes() for path in report.files if path.name == "labels.pdf"]
    assert page_sizes(bundle) == [(WIDTH, HEIGHT)] * len(LARGER)
    assert sorted(scan(bundle)) == [[awb] for awb in LARGER]
    assert any("larger than the 4x6 stock" in note for note in report.notes)
    assert (report.exit_code, report.missing) == (0, ())


@pytest.mark.parametrize("size", [A5, A4])
def test_a_label_much_larger_is_refused_with_the_remedy(
    room: PrintRoom, service: LabelService, size: tuple[float, float]
) -> None:
    report, row = printed(room, service, framed("SH-A", size, margin=5))
    (lost,) = report.missing
    assert row["status"] == "missing"
    assert "more than the 4x6 stock" in lost.reason
    assert "below 92%" in lost.reason
    assert "--layout a4-2up" in lost.reason


def test_packages_of_which_one_cannot_be_fitted_are_left_out_together(room: PrintRoom, service: LabelService) -> None:
    service.given = {"SH-B": Given(framed("SH-B", A5, margin=5))}
    room.accept(room.drop(Wish("A"), Wish("B")), {"A": "SH-A", "B": "SH-B"})
    report = make_labels(room.parts, LabelsPlan())
    assert [lost.reference_number for lost in report.missing] == ["B"]
    (bundle,) = [path.read_bytes() for path in report.files if path.name == "labels.pdf"]
    assert scan(bundle) == [["SH-A"]]


@pytest.mark.parametrize("after", [[], ["SH-A"]])
def test_bars_that_do_not_survive_are_refused(monkeypatch: pytest.MonkeyPatch, after: list[str]) -> None:
    read = iter([[["SH-A", "A-ROUTE"]], [after]])
    monkeypatch.setattr(judge, "read_barcodes", lambda _: next(read))
    with pytest.raises(LabelFault, match="shrunk to 97% its barcodes cannot be read"):
        judge.fit_to_stock(framed("SH-A", A6, margin=0))


def test_nothing_is_shrunk_where_nothing_reads_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(barcodes, "find_spec", lambda _: None)
    with pytest.raises(LabelFault, match='"barcodes"'):
        judge.fit_to_stock(framed("SH-A", A6, margin=1))
