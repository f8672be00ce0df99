"""The auditor: match tiers, discrepancy classes, tolerances, ageing. Pure: frames in, frames out."""

from logistics_batch.reconciliation.audit import audit
from logistics_batch.reconciliation.classes.rules import (
    BY_SKU,
    MEASURES,
    TOLERATED,
    Limit,
    Rules,
    ToleranceMeasure,
)
from logistics_batch.reconciliation.history import COMPARED_SCHEMA, REMEMBERED_DAYS, ExceptionChange, compared
from logistics_batch.reconciliation.legs.columns import (
    ANNOUNCED_LINES,
    ANNOUNCED_NOTICES,
    KNOWN_LINES,
    ORDERED_LINES,
    RECEIVED_LINES,
    RETURNED_LINES,
    RETURNED_NOTICES,
    UNOPENED,
    UNREAD_ROWS,
    UNSENT_ROWS,
    Legs,
)
from logistics_batch.reconciliation.legs.lines import discounts_not_returned
from logistics_batch.reconciliation.legs.lists import Counted, counted_once
from logistics_batch.reconciliation.legs.reading import identifier, order_number_of
from logistics_batch.reconciliation.notices.statuses import further_status, unknown_statuses
from logistics_batch.reconciliation.totals import without_rates

__all__ = [
    "ANNOUNCED_LINES",
    "ANNOUNCED_NOTICES",
    "BY_SKU",
    "COMPARED_SCHEMA",
    "KNOWN_LINES",
    "MEASURES",
    "ORDERED_LINES",
    "RECEIVED_LINES",
    "REMEMBERED_DAYS",
    "RETURNED_LINES",
    "RETURNED_NOTICES",
    "TOLERATED",
    "UNOPENED",
    "UNREAD_ROWS",
    "UNSENT_ROWS",
    "Counted",
    "ExceptionChange",
    "Legs",
    "Limit",
    "Rules",
    "ToleranceMeasure",
    "audit",
    "compared",
    "counted_once",
    "discounts_not_returned",
    "further_status",
    "identifier",
    "order_number_of",
    "unknown_statuses",
    "without_rates",
]
