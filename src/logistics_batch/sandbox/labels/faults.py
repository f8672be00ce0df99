"""Labels that go wrong on the way: what a link gives when the fault plan says so.

Signed links to labels: they need no key and stop working after a while (API §4.4, §8.5).
"""

import hashlib
import hmac
import io
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import chain
from xml.sax.saxutils import escape

from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas
from starlette.responses import Response, StreamingResponse

from logistics_batch.sandbox.labels.layout import HEIGHT, WIDTH, LabelPage, draw_pages, label_pdf, saved

STRAY_AWB = "SH-STRAY00"
OVERSIZED_BYTES = 48_000_000  # much more than anybody accepts as a label
EXPIRED = "Request has expired"
_CHUNK_BYTES = 1 << 20
_BOMB_MEGABYTES = 1024
_NESTED = 20_000  # arrays in arrays: deeper than a parser's stack
_CORNER = (150.0, 240.0)  # of the label on its A4 page
_SIGN_IN = "<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Your session has ended</h1></body></html>"


def faulty_label(kind: str, pages: list[LabelPage]) -> Response:
    """The answer to a good link to these pages under this fault (one of `KINDS`)."""
    return _FAULTY[kind](pages)


def _pdf(content: bytes) -> Response:
    return Response(content, media_type="application/pdf")


def _expired(_pages: list[LabelPage]) -> Response:
    return Response(denial(EXPIRED), status_code=403, media_type="application/xml")


def _truncated(pages: list[LabelPage]) -> Response:
    """Half of the file, though HTTP counts it as whole."""
    content = label_pdf(pages)
    return _pdf(content[: len(content) // 2])


def _html(_pages: list[LabelPage]) -> Response:
    return Response(_SIGN_IN, media_type="text/html")


def _wrong(pages: list[LabelPage]) -> Response:
    """As many labels of an order that is none of this service."""
    return _pdf(label_pdf([replace(page, awb_number=STRAY_AWB, order_awb_number=STRAY_AWB) for page in pages]))


def _blank(pages: list[LabelPage]) -> Response:
    """As many pages as there should be, with fonts and boxes and nothing on them."""
    canvas, buffer = _new_canvas((WIDTH, HEIGHT))
    for _ in pages:
        canvas.setFont("Helvetica", 12)
        canvas.drawString(72, 72, "   ")
        canvas.showPage()
    return _finished(canvas, buffer)


def _rotated(pages: list[LabelPage]) -> Response:
    """Pages that lie on their side and say so (``/Rotate 90``): a reader turns them upright."""
    canvas, buffer = _new_canvas((WIDTH, HEIGHT))  # as it is shown: reportlab turns the box

    def lay_down() -> None:
        canvas.setPageRotation(90)
        canvas.translate(HEIGHT, 0)
        canvas.rotate(90)

    draw_pages(canvas, pages, place=lay_down)
    return _finished(canvas, buffer)


def _cropped(pages: list[LabelPage]) -> Response:
    """A4 pages cut down by a box (``/CropBox``) whose corner is not 0,0; outside stands an invoice."""
    canvas, buffer = _new_canvas(A4)
    x, y = _CORNER

    def frame() -> None:
        canvas.setCropBox((x, y, x + WIDTH, y + HEIGHT))
        canvas.setFont("Helvetica", 14)
        canvas.drawString(40, 150, "TAX INVOICE: not part of the label")
        canvas.translate(x, y)

    draw_pages(canvas, pages, place=frame)
    return _finished(canvas, buffer)


def _encrypted(pages: list[LabelPage]) -> Response:
    """Nobody told the password."""
    lock = StandardEncryption("sandbox", "sandbox-owner", strength=128)
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=1, encrypt=lock)
    draw_pages(canvas, pages)
    return _finished(canvas, buffer)


def _hostile(_pages: list[LabelPage]) -> Response:
    """A small file whose page tree leads back to itself, whose arrays are nested too deeply to follow, and whose page
    unpacks to a gigabyte."""
    return _pdf(_trap())


def _oversized(pages: list[LabelPage]) -> Response:
    """A sound PDF that goes on and on, made while it is sent, with no length told before."""
    content = label_pdf(pages)
    filler = (b" " * (_CHUNK_BYTES - 1) + b"\n" for _ in range(OVERSIZED_BYTES // _CHUNK_BYTES + 1))
    chunks = chain([content], filler, [content[content.rindex(b"startxref") :]])
    return StreamingResponse(chunks, media_type="application/pdf")


def _new_canvas(size: tuple[float, float]) -> tuple[Canvas, io.BytesIO]:
    buffer = io.BytesIO()
    return Canvas(buffer, pagesize=size, invariant=1, pageCompression=1), buffer


def _finished(canvas: Canvas, buffer: io.BytesIO) -> Response:
    return _pdf(saved(canvas, buffer))


@cache
def _trap() -> bytes:
    bomb = zlib.compress(_packed_spaces(_BOMB_MEGABYTES), 9)
    length = f"<</Length {len(bomb)} /Filter [/FlateDecode /FlateDecode]>>"
    return _file(
        [
            b"<</Type /Catalog /Pages 2 0 R>>",
            b"<</Type /Pages /Count 2 /Kids [3 0 R 2 0 R]>>",
            b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 288 432] /Contents 4 0 R /Trap 5 0 R>>",
            length.encode() + b" stream\n" + bomb + b"\nendstream",
            b"[" * _NESTED + b"]" * _NESTED,
        ]
    )


def _packed_spaces(megabytes: int) -> bytes:
    """So many megabytes of spaces, deflated, made without ever holding them: one block, again and again."""
    packer = zlib.compressobj(9)
    head = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b" " * _CHUNK_BYTES) + packer.flush(zlib.Z_FULL_FLUSH)
    count = megabytes * _CHUNK_BYTES
    low = (1 + 32 * count) % 65521
    high = (count + 32 * (count * (count + 1) // 2)) % 65521
    return head + block * megabytes + b"\x03\x00" + ((high << 16) + low).to_bytes(4, "big")


def _file(objects: list[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1; the first is its catalogue."""
    content = b"%PDF-1.5\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(content))
        content += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    table = b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, rows)
    return content + table + b"trailer\n<</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, len(content))


_FAULTY: dict[str, Callable[[list[LabelPage]], Response]] = {
    "label_expired": _expired,
    "label_truncated": _truncated,
    "label_html": _html,
    "label_wrong": _wrong,
    "label_blank": _blank,
    "label_rotated": _rotated,
    "label_cropped": _cropped,
    "label_encrypted": _encrypted,
    "label_hostile": _hostile,
    "label_oversized": _oversized,
}
KINDS = tuple(_FAULTY)


def signature(secret: bytes, *, label_id: int, expires: int) -> str:
    """The signature of a link to this label that expires at this Unix time."""
    return hmac.new(secret, f"{label_id}:{expires}".encode(), hashlib.sha256).hexdigest()


def check_link(secret: bytes, *, label_id: int, expires: str, given: str, now: float) -> str:
    """Why a link does not open its label; "" when it does."""
    if not expires.isascii() or not expires.isdigit() or len(expires) > 12:
        return "AuthorizationQueryParametersError"
    if not hmac.compare_digest(signature(secret, label_id=label_id, expires=int(expires)).encode(), given.encode()):
        return "SignatureDoesNotMatch"
    return "" if now < int(expires) else EXPIRED


def denial(message: str, *, code: str = "AccessDenied") -> str:
    """The XML page that file stores answer with when a link does not work."""
    parts = f"<Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
    return f"<?xml version='1.0' encoding='UTF-8'?><Error>{parts}</Error>"
