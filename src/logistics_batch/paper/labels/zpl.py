"""Labels as ZPL graphics (`^GFA`), for thermal printers that draw no PDF."""

from itertools import pairwise

from logistics_batch.paper.labels.barcodes import look_at_pages
from logistics_batch.paper.labels.check import LabelFault, LabelFaultKind

_DARK_BELOW = 128  # of 256 shades of grey


def zpl_of(content: bytes, dots_per_inch: int, *, copies: int = 1) -> bytes:
    """Each page of a sound PDF as a label of black dots, in the pages' order.

    dots_per_inch: as the printer has them, 203 or 300. copies: of each label, one behind the other.

    Raises:
        LabelFault: a page cannot be drawn.
    """
    pages = look_at_pages(content, lambda render: render(dots_per_inch), unreadable=None)
    if not pages or None in pages:
        raise LabelFault(LabelFaultKind.DAMAGED, "a page cannot be drawn for this printer")
    return b"".join(_label(page.size, page.point(_is_dark, mode="1").tobytes(), copies) for page in pages)


def _is_dark(shade: int) -> int:
    return 255 if shade < _DARK_BELOW else 0


def _label(size: tuple[int, int], dots: bytes, copies: int) -> bytes:
    """dots: a bit for each, 1 is black; each row begins with a byte of its own."""
    width, height = size
    of_row = (width + 7) // 8
    rows = [dots[start : start + of_row] for start in range(0, len(dots), of_row)]
    # A row like the one above is ":", and "," is white to the right end; most of a label is one of the two.
    drawn = [_row(rows[0]), *(":" if row == above else _row(row) for above, row in pairwise(rows))]
    graphic = f"^GFA,{len(dots)},{len(dots)},{of_row},{''.join(drawn)}"
    return f"^XA^PW{width}^LL{height}^PQ{copies}^FO0,0{graphic}^FS^XZ\n".encode()


def _row(row: bytes) -> str:
    dark = row.rstrip(b"\0")
    return dark.hex().upper() + ("," if len(dark) < len(row) else "")
