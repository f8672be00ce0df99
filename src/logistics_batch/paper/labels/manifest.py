"""What goes with a print bundle: the manifest that people sign, and the index that machines read."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

import polars as pl

from logistics_batch.messages.words import row_list
from logistics_batch.model.answers import INDEX_COLUMNS
from logistics_batch.model.run_reports import MissingLabel
from logistics_batch.paper.answers.result_csv import csv_bytes


@dataclass(frozen=True, slots=True)
class ManifestLine:
    """One label page of the bundle.

    sequence: its number in walking order. part, page: where it is printed. items, quantity, cash: on an order's first
    label only; cash: rupees to collect on delivery. rows: of the source sheet. package: "2 of 3", "" for a single one.
    copy: 1 for the first print, more for reprints. sha256: of the kept label file. change: what was
    done to the page to fit it on the paper.
    """

    sequence: int
    part: int
    page: int
    awb_number: str
    reference_number: str
    name: str = ""
    pincode: str = ""
    items: str = ""
    quantity: str = ""
    cash: Decimal = Decimal(0)
    group: str = ""
    file: str = ""
    sheet: str = ""
    rows: tuple[int, ...] = ()
    package: str = ""
    copy: int = 1
    sha256: str = ""
    change: str = ""


@dataclass(frozen=True, slots=True)
class PrintedBefore:
    """An order that was asked for and left out because its label was printed; copies: how often so far."""

    reference_number: str
    awb_number: str
    file: str = ""
    sheet: str = ""
    rows: tuple[int, ...] = ()
    copies: int = 1


@dataclass(frozen=True, slots=True)
class Pick:
    """What is to be taken for the labels of one group: one SKU from one place, in walking order.

    labels: their numbers in walking order. orders: how many of them want it.
    """

    group: str
    bin: str
    sku: str
    quantity: Decimal
    orders: int
    labels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything the manifest and the index say.

    lines: in walking order. facts: (name, value) pairs for the first page. files: the names of the parts.
    picks: what is to be taken for first prints. reprint_reason: why labels are printed again, "" for a first print.
    notes: warnings, remarks.
    """

    bundle_id: str
    facts: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    lines: tuple[ManifestLine, ...] = ()
    missing: tuple[MissingLabel, ...] = ()
    printed_before: tuple[PrintedBefore, ...] = ()
    picks: tuple[Pick, ...] = ()
    reprint_reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def cash(self) -> Decimal:
        """What is to be collected for all orders of the bundle, in rupees."""
        return sum((line.cash for line in self.lines), Decimal(0))

    @property
    def orders(self) -> int:
        """How many orders have labels in the bundle."""
        return len({line.reference_number for line in self.lines})

    @property
    def groups(self) -> tuple["GroupTotal", ...]:
        """Subtotals, in walking order."""
        found = groupby(self.lines, key=lambda line: line.group)
        return tuple(GroupTotal(group, tuple(members)) for group, members in found)


@dataclass(frozen=True, slots=True)
class GroupTotal:
    """The lines of one group and what they come to."""

    group: str
    lines: tuple[ManifestLine, ...]

    @property
    def cash(self) -> Decimal:
        """What is to be collected for the group, in rupees."""
        return sum((line.cash for line in self.lines), Decimal(0))


def index_csv(manifest: Manifest) -> bytes:
    """One line a label page, in walking order, then what is missing and what was printed before.

    UTF-8 with a mark for spreadsheet programs.
    """
    rows = pl.DataFrame(list(_index_rows(manifest)), schema=dict.fromkeys(INDEX_COLUMNS, pl.String), orient="row")
    return csv_bytes(rows)


def _index_rows(manifest: Manifest) -> Iterable[tuple[str, ...]]:
    for line in manifest.lines:
        yield (
            str(line.page),
            str(line.part),
            str(line.sequence),
            line.awb_number,
            line.reference_number,
            line.file,
            line.sheet,
            rows_in_words(line.rows),
            "reprint" if line.copy > 1 else "printed",
            line.group,
            str(line.copy),
            line.sha256,
            line.change,
        )
    for lost in manifest.missing:
        place = (lost.file, lost.sheet, rows_in_words(lost.rows))
        yield ("", "", "", lost.awb_number, lost.reference_number, *place, "missing", "", "", "", lost.reason)
    for old in manifest.printed_before:
        place = (old.file, old.sheet, rows_in_words(old.rows))
        named = (old.awb_number, old.reference_number)
        yield ("", "", "", *named, *place, "printed before", "", str(old.copies), "", "")


def rows_in_words(rows: tuple[int, ...]) -> str:
    """Row numbers with runs drawn together.

    >>> rows_in_words((4, 5, 6, 9))
    '4-6 9'
    """
    return row_list(sorted(set(rows)), limit=len(rows)).replace(", ", " ")
