"""Rows that were never sent, with what can be read of them: a report names their SKU, pieces, worth and date."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

import polars as pl

from logistics_batch.api.envelopes import first_of
from logistics_batch.errors import FileHeld, UsageError
from logistics_batch.flows.files.deliver import kept_file
from logistics_batch.flows.files.foreign_files import legible_of_file
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.flows.reconcile.notices import PRICE_NAMES, QUANTITY_NAMES, SKU_NAMES, Scope, frame_of
from logistics_batch.flows.reconcile.receipts import LOOK_BACK_DAYS
from logistics_batch.ledger import RowNotSent, StoredFile
from logistics_batch.mapping import RunValues
from logistics_batch.model.document import Operation
from logistics_batch.model.spelling import folded
from logistics_batch.reconciliation import UNSENT_ROWS

READ_AGAIN: Final = 100
"""So many files, the latest, are read again for the rows of theirs that were never sent."""
_ANNOUNCED_BEFORE_DAYS: Final = 90  # so long before the range a file may have announced what is due in it

_GOODS: Final = (
    *(("supplier_name", "supplier"), ("site_name", "site")),
    *(("invoice_number",), ("sku_name", "sku"), ("qty", "quantity")),
)
_PARTIES: Final = ("supplier", "site", "invoice_number")

Legible = dict[RowNotSent, dict[str, str]]


def unsent_rows(parts: Parts, scope: Scope, business_date: date) -> pl.DataFrame:
    """The rows that were never sent (UNSENT_ROWS), each once however often its file came.

    They are of files that came about the range, or with a delivery date that lies in it.
    """
    wanted = scope.wanted
    rows = parts.ledger.documents.rows_not_sent(
        operation=Operation.ASN_CREATE.value,
        planned_from=(wanted.date_from - timedelta(days=_ANNOUNCED_BEFORE_DAYS)).isoformat(),
        planned_to=(wanted.date_to + timedelta(days=LOOK_BACK_DAYS)).isoformat(),
    )
    legible = _legible_of(parts, rows, business_date=business_date)
    since = (wanted.date_from - timedelta(days=LOOK_BACK_DAYS)).isoformat()
    ours = [
        row
        for row in rows
        if row.received_at >= since
        or (wanted.by == "delivery" and scope.holds(scope.day_of(legible.get(row, {}).get("delivery_date", ""))))
    ]
    each = _latest_of_each(ours, legible)
    once = {(row.file_name, row.sheet, row.row, row.key): row for row in each}
    return frame_of(UNSENT_ROWS, [_line(row, each[row]) for row in once.values()])


def _line(row: RowNotSent, values: Mapping[str, str]) -> dict[str, object]:
    """A row with what can be read of it, by target; of its parties else what the key of an ASN names."""
    named = dict(zip(_PARTIES, row.key.split(" | "), strict=True)) if row.key.count(" | ") == 2 else {}
    read = {name: first_of(values, (f"{name}_name", name)) for name in ("supplier", "site")}
    read["invoice_number"] = first_of(values, ("invoice_number",))
    goods = {"sku_name": SKU_NAMES, "qty": QUANTITY_NAMES, "price": PRICE_NAMES, "delivery_date": ("delivery_date",)}
    return {
        **{name: first_of(values, names) or None for name, names in goods.items()},
        **{name: getattr(row, name) for name in ("file_name", "sheet", "row", "key", "fate", "run")},
        **(named or {"invoice_number": row.key}),
        **{name: text for name, text in read.items() if text},
        "why": row.reason,
        "fault": f"{row.fate} {row.fault}".strip(),
    }


def _legible_of(parts: Parts, rows: Sequence[RowNotSent], *, business_date: date) -> Legible:
    """What can be read of each row, by target, from the file as it was kept and by its mapping as it is now.

    Nothing is said of a row whose file or mapping is gone, or whose file cannot be read.
    """
    by_file: dict[tuple[str, str], list[RowNotSent]] = defaultdict(list)
    for row in rows:
        by_file[row.run, row.file_name].append(row)
    found: Legible = {}
    for (run, name), theirs in list(by_file.items())[-READ_AGAIN:]:
        file = next((one for one in parts.ledger.files.of_run(run=run) if one.name == name), None)
        if file is not None:
            found |= _of_file(parts, file, theirs, business_date)
    return found


def _of_file(parts: Parts, file: StoredFile, rows: Sequence[RowNotSent], business_date: date) -> Legible:
    path = kept_file(parts, file)
    if not path.exists():
        return {}
    values = RunValues(file_name=file.name, business_date=business_date, timezone=parts.policy.timezone)
    try:
        with holding_file(file.name):
            mapping = parts.mapping(file.mapping)
            legible = parts.limited(legible_of_file, about=file.name)(path, mapping, name=file.name, run_values=values)
    except (FileHeld, UsageError):
        return {}
    wanted = {row.row: row for row in rows if row.sheet == file.sheet}
    lines = legible.filter(legible["row"].is_in(list(wanted))).iter_rows(named=True)
    return {
        wanted[line["row"]]: {name: value for name, value in line.items() if name != "row" and value is not None}
        for line in lines
    }


def _latest_of_each(rows: Sequence[RowNotSent], legible: Legible) -> Legible:
    """The rows, each with what can be read of it, but of one that stands in several files the latest, whose reason
    names the earlier ones.

    A file that is dropped again until it is right announces its goods once. Rows are the same if supplier, site,
    invoice number, SKU and quantity are; a row of which these cannot be read, and rows alike in one file, are each
    their own.
    """
    found: dict[object, list[RowNotSent]] = defaultdict(list)
    often: Counter[object] = Counter()
    for row in sorted(rows, key=lambda row: row.received_at):
        said = _goods_of(legible.get(row, {}))
        file = (row.run, row.file_name, row.received_at, said)
        often[file] += 1
        found[(said, often[file]) if said else row].append(row)
    return {_with_earlier(same[-1], same[:-1]): legible.get(same[-1], {}) for same in found.values()}


def _goods_of(values: Mapping[str, str]) -> tuple[str, ...]:
    """What a row announces, as far as it tells rows apart; nothing where invoice, SKU or quantity cannot be read."""
    named = {name: folded(text) for name, text in values.items()}
    parts = [next((named[name] for name in names if named.get(name)), "") for names in _GOODS]
    return tuple(parts) if all(parts[-3:]) else ()


def _with_earlier(row: RowNotSent, earlier: Sequence[RowNotSent]) -> RowNotSent:
    places = dict.fromkeys(f"{one.file_name} row {one.row}" for one in earlier)
    places.pop(f"{row.file_name} row {row.row}", None)
    if not places:
        return row
    return replace(row, reason=f"{row.reason} It stood before in {', '.join(places)}, and counts once.".lstrip())
