"""The process that opens label files for `LabelJudge`."""

import io
from collections.abc import Sequence
from typing import Any

import pikepdf

from logistics_batch.child_process import Answer
from logistics_batch.paper.label_barcodes import OtherLabel, assign, prove, read_barcodes
from logistics_batch.paper.label_bundle_layout import Layout
from logistics_batch.paper.label_bundle_parts import PartWriter, Sources, Sticker
from logistics_batch.paper.label_check import LabelFault, LabelFaultKind, check_label, limit_decoding
from logistics_batch.paper.label_fit import fit_to_stock

limit_decoding()


def answer(question: dict[str, Any], files: tuple[bytes, ...]) -> Answer:
    """What is said of one label file, with the files that it is divided into."""
    (content,) = files
    if "fit" in question:
        boxes = fit_to_stock(content)
        return Answer({"fault": "", "message": boxes} if isinstance(boxes, str) else {"boxes": boxes})
    awb_numbers = question.get("awb_numbers") or [number for order in question["orders"] for number in order]
    fault = _unsound(content, pages=len(awb_numbers))
    if fault:
        return _told(fault)
    read = read_barcodes(content)
    if "orders" in question:
        places = assign(read, awb_numbers)
        if places is None:
            return _told(LabelFault(LabelFaultKind.WRONG, "its pages do not prove which label belongs to whom"))
        return Answer({}, _divided(content, places, [len(order) for order in question["orders"]]))
    proof = prove(read, awb_numbers)
    if isinstance(proof, OtherLabel):
        message = f"the barcode on page {proof.page} is that of another package, {proof.awb_number}"
        return _told(LabelFault(LabelFaultKind.WRONG, message))
    return Answer({"pages": len(awb_numbers), "proof": proof})


def _unsound(content: bytes, *, pages: int) -> LabelFault | None:
    """What is wrong with a file, also what shows only when it is put together with others."""
    verdict = check_label(content, expected_pages=pages)
    if isinstance(verdict, LabelFault):
        return verdict
    writer = PartWriter(Layout.A4_4UP, Sources([io.BytesIO(content)]), total=pages)
    writer.write([Sticker(0, number) for number in range(pages)], name="", title="")
    if writer.lost:
        return LabelFault(LabelFaultKind.DAMAGED, "the label is a damaged PDF")
    return None


def _divided(content: bytes, places: Sequence[int], counts: Sequence[int]) -> tuple[bytes, ...]:
    """The pages of each order as a file of their own."""
    files = []
    start = 0
    with pikepdf.open(io.BytesIO(content), attempt_recovery=False, suppress_warnings=True) as pdf:
        for count in counts:
            made = pikepdf.new()
            for place in places[start : start + count]:
                made.pages.append(pdf.pages[place])
            made.remove_unreferenced_resources()
            out = io.BytesIO()
            made.save(out, deterministic_id=True)
            files.append(out.getvalue())
            start += count
    return tuple(files)


def _told(fault: LabelFault) -> Answer:
    return Answer({"fault": fault.kind, "message": fault.message})
