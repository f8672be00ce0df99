"""Is what came for a label a PDF that may go to the printer?

Works on bytes alone, so that it can run in a limited process of its own. It never
reads text or metadata out of the file, and it repairs nothing: a label that needs repair was cut on its way.
"""

import io
from enum import StrEnum

import pikepdf
from pikepdf import settings

MAX_PAGES = 100  # of one label file; no order has more packages

_PAINTING = "Tj TJ ' \" f F f* B B* b b* S s sh BI EI Do"
_MAX_FORM_DEPTH = 8
_DECODE_LIMIT_BYTES = 64 * 1024 * 1024

# Whatever a malformed object graph makes pikepdf raise while we walk it.
UNREADABLE = (pikepdf.PdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError)


class LabelFaultKind(StrEnum):
    """What is wrong with a label file."""

    NOT_PDF = "not_pdf"
    CUT = "cut"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    NO_PAGES = "no_pages"
    TOO_MANY_PAGES = "too_many_pages"
    WRONG_PAGES = "wrong_pages"
    BLANK = "blank"
    WRONG = "wrong"  # another package's
    COSTLY = "costly"
    TOO_LARGE = "too_large"


class LabelFault(Exception):
    """A label file that is not to be printed; `message` is for a report."""

    def __init__(self, kind: LabelFaultKind, message: str) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message


def limit_decoding() -> None:
    """Cap the memory that one stream of a PDF may unfold into (for the whole process; call before threads start)."""
    settings.set_qpdf_limits(
        flate_max_memory=_DECODE_LIMIT_BYTES,
        run_length_max_memory=_DECODE_LIMIT_BYTES,
        png_max_memory=_DECODE_LIMIT_BYTES,
        tiff_max_memory=_DECODE_LIMIT_BYTES,
        dct_max_memory=_DECODE_LIMIT_BYTES,
    )


def check_label(content: bytes, *, expected_pages: int) -> None:
    """Raise LabelFault for a wrong signature, end mark, structure or number of pages, encryption, or a blank page.

    expected_pages: how many packages the order has.
    """
    if not content.startswith(b"%PDF-"):
        raise LabelFault(LabelFaultKind.NOT_PDF, f"{_looks_like(content)} came instead of a PDF")
    if b"%%EOF" not in content[-1024:]:
        raise LabelFault(LabelFaultKind.CUT, f"the PDF was cut off after {len(content)} bytes")
    try:
        with pikepdf.open(io.BytesIO(content), attempt_recovery=False, suppress_warnings=True) as pdf:
            _look_inside(pdf, expected_pages)
    except pikepdf.PasswordError:
        raise LabelFault(LabelFaultKind.ENCRYPTED, "the label is encrypted") from None
    except UNREADABLE:
        raise LabelFault(LabelFaultKind.DAMAGED, "the label is a damaged PDF") from None


def _looks_like(content: bytes) -> str:
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:256].lower()
    if not start:
        return "an empty file"
    if start.startswith((b"{", b"[")):
        return "a JSON message"
    if b"<html" in start or start.startswith(b"<!doctype"):
        return "a web page (HTML)"
    if start.startswith(b"<"):
        return "an XML message"
    return "something else"


def _look_inside(pdf: pikepdf.Pdf, expected_pages: int) -> None:
    if pdf.is_encrypted:
        raise LabelFault(LabelFaultKind.ENCRYPTED, "the label is encrypted")
    pages = len(pdf.pages)
    if pages == 0:
        raise LabelFault(LabelFaultKind.NO_PAGES, "the PDF has no page")
    if pages > MAX_PAGES:
        raise LabelFault(LabelFaultKind.TOO_MANY_PAGES, f"the PDF has {pages} pages, more than a label can have")
    if pages != expected_pages:
        raise LabelFault(
            LabelFaultKind.WRONG_PAGES, f"the PDF has {pages} page(s), the order has {expected_pages} package(s)"
        )
    for number, page in enumerate(pdf.pages, start=1):
        if not _paints(page.obj, page.resources, depth=0) and not _has_appearance(page.obj):
            raise LabelFault(LabelFaultKind.BLANK, f"page {number} of the PDF is blank")


def _paints(stream: pikepdf.Object, resources: pikepdf.Object, *, depth: int) -> bool:
    """Whether a page's or form's content draws anything: text, a filled or stroked path, a shading or an image."""
    for instruction in pikepdf.parse_content_stream(stream, _PAINTING):
        if isinstance(instruction, pikepdf.ContentStreamInlineImage):
            return True
        operator = str(instruction.operator)
        if operator == "Do":
            if _paints_object(str(instruction.operands[0]), resources, depth=depth):
                return True
        elif operator not in ("Tj", "TJ", "'", '"') or _shows_text(instruction.operands[-1]):
            return True
    return False


def _paints_object(name: str, resources: pikepdf.Object, *, depth: int) -> bool:
    target = resources.get("/XObject", pikepdf.Dictionary()).get(name)
    if target is None or depth >= _MAX_FORM_DEPTH:
        return False
    if target.get("/Subtype") != "/Form":
        return True
    return _paints(target, target.get("/Resources", resources), depth=depth + 1)


def _shows_text(operand: pikepdf.Object) -> bool:
    pieces = list(operand) if isinstance(operand, pikepdf.Array) else [operand]
    return any(isinstance(piece, pikepdf.String) and bytes(piece).strip() for piece in pieces)


def _has_appearance(page: pikepdf.Object) -> bool:
    return any("/AP" in annotation for annotation in page.get("/Annots", pikepdf.Array()))
