"""Label PDFs as a service might send them, good and bad, and a scanner that reads printed pages."""

import io
import zlib
from pathlib import Path

import pikepdf
import pypdfium2
import zxingcpp
from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = 288.0, 432.0


def label(*awbs: str, size: tuple[float, float] = (WIDTH, HEIGHT), name: str = "Asha Rao") -> bytes:
    """A label with a page for each AWB."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=size, invariant=1)
    for awb in awbs:
        _draw(canvas, awb, name)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def a5_label(awb: str) -> bytes:
    """A label that fills a page twice as large as the stock."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(420, 595), invariant=1)
    canvas.scale(1.4, 1.35)
    _draw(canvas, awb, "Asha Rao")
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def _draw(canvas: Canvas, awb: str, name: str) -> None:
    canvas.rect(6, 6, WIDTH - 12, HEIGHT - 12)
    Code128(awb, barHeight=60, barWidth=1.1, quiet=0).drawOn(canvas, 40, 320)
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(40, 295, awb)
    canvas.setFont("Helvetica", 12)
    canvas.drawString(40, 250, name)


def changed(content: bytes, change) -> bytes:
    """The label after `change(pdf, page)` on its first page."""
    with pikepdf.open(io.BytesIO(content)) as pdf:
        change(pdf, pdf.pages[0])
        out = io.BytesIO()
        pdf.save(out)
    return out.getvalue()


def rotated(content: bytes, degrees: int) -> bytes:
    """A page that viewers turn, as a driver for another printer would store it."""

    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        page.obj.Rotate = degrees

    return changed(content, change)


def cropped(awb: str) -> bytes:
    """An A4 page that shows only its corner with the label; an invoice lies outside."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842), invariant=1)
    canvas.translate(100, 350)
    _draw(canvas, awb, "Asha Rao")
    Code128("INVOICE-1", barHeight=40, barWidth=1.1).drawOn(canvas, 0, -200)
    canvas.showPage()
    canvas.save()

    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        page.cropbox = [100, 350, 388, 782]

    return changed(out.getvalue(), change)


def blank() -> bytes:
    """A page on which nothing is painted, though it has content."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(WIDTH, HEIGHT), invariant=1)
    canvas.setFont("Helvetica", 12)
    canvas.drawString(10, 10, "   ")
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def encrypted(awb: str, *, user_password: str = "") -> bytes:
    """A label that opens without a password or, with `user_password`, not at all."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(WIDTH, HEIGHT), encrypt=StandardEncryption(user_password, "owner"))
    _draw(canvas, awb, "Asha Rao")
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def busy() -> bytes:
    """A label of some kilobytes whose content unfolds to three million instructions that paint nothing."""

    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        squeezed = zlib.compress(b"1 0 0 1 0 0 cm\n" * 3_000_000, 9)
        page.obj.Contents = pikepdf.Stream(pdf, squeezed, Filter=pikepdf.Name.FlateDecode)

    return changed(label("SH-BUSY"), change)


def scan(content: bytes, *, dpi: int = 203) -> list[list[str]]:
    """The barcodes on each printed page, top to bottom, then left to right."""
    pages = []
    pdf = pypdfium2.PdfDocument(content)
    try:
        for page in pdf:
            image = page.render(scale=dpi / 72).to_pil()
            found = [(code.position.top_left, code.text) for code in zxingcpp.read_barcodes(image)]
            rows = sorted(found, key=lambda code: (round(code[0].y / image.height * 2), code[0].x))
            pages.append([text for _, text in rows])
    finally:
        pdf.close()
    return pages


def page_sizes(content: bytes) -> list[tuple[float, float]]:
    """Width and height of each page as a viewer shows it, in points."""
    pdf = pypdfium2.PdfDocument(content)
    try:
        return [tuple(round(value, 1) for value in page.get_size()) for page in pdf]
    finally:
        pdf.close()


def written(folder: Path, **contents: bytes) -> dict[str, Path]:
    """Files in a folder, by name."""
    paths = {}
    for name, content in contents.items():
        paths[name] = folder / f"{name}.pdf"
        paths[name].write_bytes(content)
    return paths
