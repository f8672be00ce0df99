"""Which orders a person means: numbers on the command line, in a plain list, or in a spreadsheet with a mapping."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from logistics_batch.errors import UsageError
from logistics_batch.flows.files.receive import ReceivedFile, arrival_of
from logistics_batch.flows.parts import Parts
from logistics_batch.model.document import Operation, RowState

_ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".xls", ".xlsb", ".xlsm", ".ods")
_BETWEEN_CELLS = (",", ";", "\t")
_GIVE_MAPPING = "Give --mapping to read a spreadsheet."


@dataclass(frozen=True, slots=True)
class NamedOrders:
    """References or AWB numbers, in the order in which they stand; keep: what a sheet's mapping keeps of each."""

    numbers: tuple[str, ...]
    keep: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def order_numbers(parts: Parts, text: str, *, mapping: str | None) -> NamedOrders:
    """The orders that a person names.

    text: numbers with commas between them, or the path of a file: with one number a line, or read by `mapping`, which
    is one for label.create.

    Raises:
        UsageError: the file is missing or cannot be read, no order is named, or the mapping is for something else.
        FileHeld: the file as a whole cannot be read by the mapping.
    """
    path = Path(text)
    if mapping is not None:
        named = _mapped(parts, path, mapping)
    elif _is_file(path):
        named = NamedOrders(_listed(path))
    elif _is_meant_as_file(parts, text):
        raise UsageError(
            f"There is no file {text}, and no order with that number was sent from here.",
            remedy="Check the name and the folder.",
        )
    else:
        named = NamedOrders(tuple(number.strip() for number in text.split(",") if number.strip()))
    if not named.numbers:  # no choice at all would mean every order that was never printed
        raise UsageError(f'"{text}" names no order.', remedy="Give references or AWB numbers, or leave --orders out.")
    return named


def _listed(path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as a list with one number a line.", remedy=_GIVE_MAPPING) from error
    for number, line in enumerate(lines, start=1):
        if any(mark in line.strip() for mark in _BETWEEN_CELLS):  # what stands there may be a customer's: never shown
            raise UsageError(
                f"{path} is no list with one number a line: line {number} holds several values.", remedy=_GIVE_MAPPING
            )
    return tuple(line.strip() for line in lines if line.strip())


def _is_meant_as_file(parts: Parts, text: str) -> bool:
    """Whether a text that is no file was meant as one: by its ending, or by a slash that is no part of a reference."""
    if Path(text).suffix.lower() in _ENDINGS:
        return True
    if "," in text or not ("/" in text or "\\" in text):
        return False
    return not parts.ledger.documents.select(operations=[Operation.ORDER_CREATE], references=[text.strip()])


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a long list is no possible file name
        return False


def _mapped(parts: Parts, path: Path, name: str) -> NamedOrders:
    """The orders of a sheet. Rows without a usable number are named as they can be looked for there: nothing is printed
    for them, and they are listed as missing."""
    mapping = parts.mapping(name)
    if mapping.operation is not Operation.LABEL_CREATE:
        raise UsageError(f"The mapping {name} is for {mapping.operation}.", remedy="Name one for label.create.")
    if not _is_file(path):
        raise UsageError(f"No such file: {path}.", remedy="Check the name and the folder.")
    arrival = arrival_of(parts, ReceivedFile(path, path.name), mapping, business_date=parts.clock.now().date())
    if arrival.held is not None:
        raise arrival.held
    mapped = arrival.mapped
    if mapped is None:
        return NamedOrders(())
    keep = {number.strip(): each.keep for each in mapped.documents for number in each.reference.split(",")}
    values = {issue.row: issue.value for issue in reversed(mapped.issues)}
    stopped = mapped.rows.filter(pl.col("state").is_in([RowState.INVALID.value, RowState.BLOCKED.value]))
    unread = [
        f"{values.get(row) or key or 'the cell is blank'} (row {row})"
        for row, key in stopped.select("row", "key").iter_rows()
    ]
    return NamedOrders((*keep, *unread), keep)
