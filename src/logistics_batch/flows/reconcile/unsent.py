"""What can be read of rows that were never sent, so that a report names their SKU, pieces, worth and date."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from logistics_batch.errors import FileHeld, UsageError
from logistics_batch.flows.files.deliver import kept_file
from logistics_batch.flows.files.foreign_files import legible_of_file
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.ledger import RowNotSent, StoredFile
from logistics_batch.mapping import RunValues
from logistics_batch.model.spelling import folded

READ_AGAIN: Final = 100
"""So many files, the latest, are read again for the rows of theirs that were never sent."""
ANNOUNCED_BEFORE_DAYS: Final = 90
"""So long before the range a file may have announced what is due in it."""

_GOODS: Final = (
    *(("supplier_name", "supplier"), ("site_name", "site")),
    *(("invoice_number",), ("sku_name", "sku"), ("qty", "quantity")),
)

Legible = dict[RowNotSent, dict[str, str]]


def legible_of(parts: Parts, rows: Sequence[RowNotSent], *, business_date: date) -> Legible:
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


def latest_of_each(rows: Sequence[RowNotSent], legible: Legible) -> Legible:
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
