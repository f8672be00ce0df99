"""What may go to the printer, and what each bad file is called."""

import io
import re
import zlib

import pikepdf
import pytest
from labels.label_files import blank, changed, cropped, encrypted, label, rotated
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.paper.labels.check import LabelFault, LabelFaultKind, check_label, limit_decoding

AWB = "SH-22T70ZX"
GOOD = label(AWB)


def image_only() -> bytes:
    from PIL import Image

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(288, 432))
    canvas.drawImage(ImageReader(Image.new("L", (8, 8))), 10, 10, 100, 100)
    canvas.save()
    return out.getvalue()


def form_only() -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(288, 432))
    canvas.beginForm("face")
    canvas.rect(10, 10, 50, 50, fill=1)
    canvas.endForm()
    canvas.doForm("face")
    canvas.save()
    return out.getvalue()


def self_painting() -> bytes:
    """A form that paints itself, and nothing else."""

    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        form = pdf.make_stream(b"/F Do", Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Form, BBox=[0, 0, 9, 9])
        form.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(F=form))
        page.obj.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(F=form))
        page.obj.Contents = pdf.make_stream(b"/F Do")

    return changed(GOOD, change)


def page_ring() -> bytes:
    """A page tree that leads back to itself."""

    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        pdf.Root.Pages.Kids.append(pdf.Root.Pages)

    return changed(GOOD, change)


def bomb() -> bytes:
    """Content that unfolds to 200 MB."""
    squeezed = zlib.compress(b" " * 200_000_000, 9)

    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        stream = pikepdf.Stream(pdf, squeezed, Filter=pikepdf.Name.FlateDecode)
        page.obj.Contents = pdf.make_indirect(stream)

    return changed(GOOD, change)


@pytest.mark.parametrize(
    "content",
    [GOOD, rotated(GOOD, 90), cropped(AWB), image_only(), form_only()],
    ids=["plain", "turned", "cropped", "image", "form"],
)
def test_sound_label(content: bytes) -> None:
    check_label(content, expected_pages=1)


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (b"", LabelFaultKind.NOT_PDF, "empty"),
        (b"<!DOCTYPE html><html><body>Sign in</body></html>", LabelFaultKind.NOT_PDF, "web page"),
        (b"\n\n <HTML>", LabelFaultKind.NOT_PDF, "web page"),
        (b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", LabelFaultKind.NOT_PDF, "XML"),
        (b'{"status":"FAIL","message":"x"}', LabelFaultKind.NOT_PDF, "JSON"),
        (b"\x89PNG\r\n", LabelFaultKind.NOT_PDF, "something else"),
        (b"junk" + GOOD, LabelFaultKind.NOT_PDF, "something else"),
        (GOOD[: len(GOOD) // 2], LabelFaultKind.CUT, "cut off"),
        (GOOD[:-6], LabelFaultKind.CUT, "cut off"),
        (GOOD[: len(GOOD) // 2] + b"%%EOF", LabelFaultKind.DAMAGED, "damaged"),
        (b"%PDF-1.4\n%%EOF", LabelFaultKind.DAMAGED, "damaged"),
        (encrypted(AWB), LabelFaultKind.ENCRYPTED, "encrypted"),
        (encrypted(AWB, user_password="x"), LabelFaultKind.ENCRYPTED, "encrypted"),
        (blank(), LabelFaultKind.BLANK, "page 1"),
        (self_painting(), LabelFaultKind.BLANK, "page 1"),
        (label(*[AWB] * 101), LabelFaultKind.TOO_MANY_PAGES, "101 pages"),
    ],
)
def test_bad_file_is_named(content: bytes, kind: LabelFaultKind, words: str) -> None:
    limit_decoding()
    with pytest.raises(LabelFault, match=re.escape(words)) as refused:
        check_label(content, expected_pages=1)
    assert refused.value.kind is kind


def test_a_content_that_unfolds_to_too_much_is_damaged() -> None:
    limit_decoding()
    with pytest.raises(LabelFault, match="damaged") as refused:
        check_label(bomb(), expected_pages=1)
    assert refused.value.kind is LabelFaultKind.DAMAGED


def test_pages_are_compared_with_packages() -> None:
    three = label("SH-1", "SH-2", "SH-3")
    check_label(three, expected_pages=3)
    with pytest.raises(LabelFault, match=r"3 page\(s\), the order has 2 package\(s\)") as refused:
        check_label(three, expected_pages=2)
    assert refused.value.kind is LabelFaultKind.WRONG_PAGES


def test_ring_of_pages_ends() -> None:
    with pytest.raises(LabelFault):
        check_label(page_ring(), expected_pages=1)


def test_every_cut_of_a_label_is_refused() -> None:
    """No prefix of a good file is taken for a label."""
    for length in range(0, len(GOOD) - 6, 37):
        with pytest.raises(LabelFault):
            check_label(GOOD[:length], expected_pages=1)
