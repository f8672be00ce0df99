"""Is what came for a label a PDF that may go to the printer?

Works on bytes alone and answers with plain values, so that it can run in a limited process of its own. It never
reads text or metadata out of the file, and it repairs nothing: a label that needs repair was cut on its way.
"""

import io
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class LabelFault:
    """A label file that is not to be printed; `message` is for a report."""

    kind: LabelFaultKind
    message: str


def limit_decoding() -> None:
    """Cap the memory that one stream of a PDF may unfold into (for the whole process; call before threads start)."""
    settings.set_qpdf_limits(
        flate_max_memory=_DECODE_LIMIT_BYTES,
        run_length_max_memory=_DECODE_LIMIT_BYTES,
        png_max_memory=_DECODE_LIMIT_BYTES,
        tiff_max_memory=_DECODE_LIMIT_BYTES,
        dct_max_memory=_DECODE_LIMIT_BYTES,
    )


def check_label(content: bytes, *, expected_pages: int) -> LabelFault | None:
    """What is wrong with a label file: signature, end mark, structure, encryption, number of pages, a blank page.

    expected_pages: how many packages the order has.
    """
    if not content.startswith(b"%PDF-"):
        return LabelFault(LabelFaultKind.NOT_PDF, f"{_looks_like(content)} came instead of a PDF")
    if b"%%EOF" not in content[-1024:]:
        return LabelFault(LabelFaultKind.CUT, f"the PDF was cut off after {len(content)} bytes")
    try:
        with pikepdf.open(io.BytesIO(content), attempt_recovery=False, suppress_warnings=True) as pdf:
            return _inside(pdf, expected_pages)
    except pikepdf.PasswordError:
        return LabelFault(LabelFaultKind.ENCRYPTED, "the label is encrypted")
    except UNREADABLE:
        return LabelFault(LabelFaultKind.DAMAGED, "the label is a damaged PDF")


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


def _inside(pdf: pikepdf.Pdf, expected_pages: int) -> LabelFault | None:
    if pdf.is_encrypted:
        return LabelFault(LabelFaultKind.ENCRYPTED, "the label is encrypted")
    pages = len(pdf.pages)
    if pages == 0:
        return LabelFault(LabelFaultKind.NO_PAGES, "the PDF has no page")
    if pages > MAX_PAGES:
        return LabelFault(LabelFaultKind.TOO_MANY_PAGES, f"the PDF has {pages} pages, more than a label can have")
    if pages != expected_pages:
        return LabelFault(
            LabelFaultKind.WRONG_PAGES, f"the PDF has {pages} page(s), the order has {expected_pages} package(s)"
        )
    for number, page in enumerate(pdf.pages, start=1):
        if not _paints(page.obj, page.resources, depth=0) and not _has_appearance(page.obj):
            return LabelFault(LabelFaultKind.BLANK, f"page {number} of the PDF is blank")
    return None


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
