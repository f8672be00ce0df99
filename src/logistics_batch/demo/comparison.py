"""From the reconciliation to the demo's account of it."""

from datetime import date
from decimal import Decimal
from typing import Any

from logistics_batch.demo.account import ClassAccount, ReconciliationAccount
from logistics_batch.demo.findings import ServerFolder, delivered_files
from logistics_batch.model.reconciliation import MEANINGS, ComparedOutcome, Discrepancy
from logistics_batch.model.run_reports import ReconcileReport
from logistics_batch.paper.labels.manifest import rupees

_OUTCOMES_SAY = {
    ComparedOutcome.EXCEPTION: "",
    ComparedOutcome.MATCHED: "Announced, in the service and received alike.",
    ComparedOutcome.WITHIN_TOLERANCE: "Differs, but by no more than the job tolerates.",
    ComparedOutcome.TOO_EARLY: "Not due yet.",
    ComparedOutcome.OUTSIDE_WINDOW: "Read because something in the window points to it; not judged.",
}


def comparison_of(report: ReconcileReport, server: ServerFolder) -> ReconciliationAccount:
    """The account of a reconciliation."""
    document = report.document
    return ReconciliationAccount(
        window=_window(document["window"]),
        complete=report.complete,
        lines=document["totals"]["lines"],
        exceptions=document["totals"]["exceptions"],
        classes=tuple(_class(row) for row in document["classes"]),
        notes=(*report.doubts, *report.notes),
        files=delivered_files(report.delivered, server),
    )


def _window(window: dict[str, str]) -> str:
    first, last = (date.fromisoformat(window[end]) for end in ("from", "to"))
    return f"{window['by']} {first:%d %b} to {last:%d %b %Y}"


def _class(row: dict[str, Any]) -> ClassAccount:
    """One of the report's classes: a discrepancy, or lines without one."""
    name = str(row["class"])
    is_discrepancy = name in Discrepancy.__members__
    impact = str(row["impact_inr"] or "") if is_discrepancy else ""
    return ClassAccount(
        name=name,
        severity=str(row["severity"] or ""),
        lines=int(row["lines"]),
        units=str(row["qty_affected" if is_discrepancy else "qty_announced"] or ""),
        inr=impact,
        rupees=rupees(Decimal(impact)) if impact.strip("0.") else "",
        says=MEANINGS[Discrepancy(name)].says if is_discrepancy else _OUTCOMES_SAY[ComparedOutcome(name)],
    )
