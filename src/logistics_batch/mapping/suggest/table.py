"""The table in an unknown sheet: where its header is, what its columns are called, and which rows are its data."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import polars as pl

from logistics_batch.mapping.rows.header import names_over_two_rows
from logistics_batch.mapping.suggest.names import LIKELY, NameReading, likeness, names_of_targets, reading_of
from logistics_batch.mapping.suggest.values import Profile, meaning_of_payment, numbers_of, profile_of
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

_SEARCHED_ROWS: Final = 30
_SAMPLED_ROWS: Final = 300
_LONGEST_NAME: Final = 80
_NO_DATA: Final = re.compile(
    r"(?i)((?:grand|sub|net)?[\s-]*total|summe|gesamt|prepared by|checked by|कुल|कुल योग|કુલ)\b.{0,20}"
)
_TELLING_ALONE: Final = frozenset(
    ["pickup", "return", "bill", "order", "invoice", "docket", "item", "sku", "qty", "supplier", "deliver", "ship"]
)
_NUMBERED: Final = re.compile(r"(\D*)(\d{1,9})(\D*)")


@dataclass(frozen=True)
class SampleTable:
    """A sheet's header and its first rows of data.

    row: of the header, the lower one of two. rows: how many rows it has. names: the columns by position, "" where
    nothing is written. readings, cells: of each name that stands once what it says, and its cells, "" for empty ones.
    numbered: for a column `SKU {n}` the ones that it stands for; it has the cells of the first. skipped: rows that are
    no data, as the column and the text by which they are told.
    """

    sheet: str
    row: int
    rows: int
    names: tuple[str, ...]
    readings: dict[str, NameReading]
    cells: pl.DataFrame
    skipped: tuple[tuple[str, str], ...]
    numbered: dict[str, tuple[str, ...]]

    @cached_property
    def profiles(self) -> dict[str, Profile]:
        """What the values of each column look like."""
        return {column.name: profile_of(tuple(column)) for column in self.cells}

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that may fill something: a numbered one only as `SKU {n}`."""
        stands_for = {columns[0]: stem for stem, columns in self.numbered.items()}
        others = {name for columns in self.numbered.values() for name in columns[1:]} | set(self.numbered)
        return tuple(stands_for.get(name, name) for name in self.cells.columns if name not in others)

    def differs_within(self, name: str, key: str, *, share: float = 0.0) -> bool:
        """Whether a column has several values in more than this share of the documents that have several rows.

        key: the column whose values tell documents apart; where it is blank, the row belongs to the one above.
        """
        document = pl.when(pl.col(key) != "").then(pl.col(key)).forward_fill().fill_null("")
        cell = pl.col(name)
        rows = self.cells.group_by(document.alias("")).agg(
            rows=pl.len(), differs=cell.filter(cell != "").n_unique() > 1
        )
        longer = rows.filter(pl.col("rows") > 1)["differs"]
        return longer.sum() > share * len(longer)

    def is_product(self, total: str, one: str, other: str) -> bool:
        """Whether a column is the product of two others on every row where it is filled, and on two rows at least."""
        filled = self.cells.filter(pl.col(total) != "")
        product = numbers_of(filled[total])
        off = (product - numbers_of(filled[one]) * numbers_of(filled[other])).abs()
        is_near = (off <= 1.0) | (off <= 0.005 * product)
        return filled.height > 1 and is_near.fill_null(value=False).all()

    def collecting_words(self, pay: str) -> list[str]:
        """The words in a column of payment that say that cash is collected."""
        return [word for word in dict.fromkeys(self.profiles[pay].values) if meaning_of_payment(word)]

    def is_filled_where_cod(self, amount: str, pay: str) -> bool:
        """Whether each row that collects cash has an amount and each paid one none; both must be there."""
        rows = zip(self.cells[pay], numbers_of(self.cells[amount]), strict=True)
        seen = {(meaning_of_payment(word), bool(number)) for word, number in rows}
        return {each for each in seen if each[0] is not None} == {(True, True), (False, False)}


def table_of(sheet: Sheet, operation: Operation, *, least: int) -> SampleTable | None:
    """The table of a sheet; None if no row names at least so many different things that an operation wants."""
    row, texts = _header(sheet, operation, least=least)
    if not row:
        return None
    above, joined = names_over_two_rows(sheet, row, texts)
    # Names run over two rows where they stand twice in one and differ by what stands above them.
    own, upper = [text.strip().casefold() for text in texts if text.strip()], [text for text in above if text.strip()]
    two = len(set(own)) < len(own) and len(upper) > 1 and all(reading_of(text).meanings for text in upper)
    names = joined if two else texts
    names = [" ".join(name.split()) for name in names] if two else [name.strip() for name in names]
    body = sheet.frame.filter(pl.col("row") > row).head(_SAMPLED_ROWS)
    data, skipped = _data(body.select(pl.exclude("row").fill_null("").str.strip_chars()), names)
    once = {name: data.to_series(at).alias(name) for at, name in enumerate(names) if name and names.count(name) == 1}
    readings = {
        # What a lower name says by itself is not what the upper ones say of their neighbours.
        name: reading_of(own)
        if two and not above[at].strip() and reading_of(own).meanings & _TELLING_ALONE
        else reading_of(name)
        for at, (name, own) in enumerate(zip(names, texts, strict=True))
        if name
    }
    rows = 2 if two else 1
    table = SampleTable(sheet.name, row, rows, tuple(names), readings, pl.DataFrame([*once.values()]), skipped, {})
    return _with_numbered(table, operation)


def _header(sheet: Sheet, operation: Operation, *, least: int) -> tuple[int, list[str]]:
    """The row in which most cells name something different; 0 if none has at least so many."""
    # A sheet of orders has the usual columns of orders, also where the operation wants but one of them.
    known = {*names_of_targets(operation).values(), *names_of_targets(Operation.ORDER_CREATE).values()}
    best: tuple[int, int, list[str]] = (0, 0, [])
    for row, *cells in sheet.frame.head(_SEARCHED_ROWS).iter_rows():
        texts = [cell or "" for cell in cells]
        named = {_named(text, known) for text in texts} - {""}
        if len(named) >= max(least, best[0] + 1):
            best = (len(named), int(row), texts)
    return best[1], best[2]


def _named(text: str, known: set[str]) -> str:
    """What a text names, as the names of the likeliest target; "" if nothing."""
    if len(text) > _LONGEST_NAME or not (reading := reading_of(text)).meanings:
        return ""
    sure, names = max((likeness(reading, names), names) for names in known)
    return names if sure >= LIKELY else ""


def _data(rows: pl.DataFrame, names: list[str]) -> tuple[pl.DataFrame, tuple[tuple[str, str], ...]]:
    """The rows that are data, and by what the others among filled ones are told: totals and signatures."""
    is_data: list[bool] = []
    skipped: dict[tuple[str, str], str] = {}
    for cells in rows.iter_rows():
        told = ((name, _NO_DATA.fullmatch(cell)) for name, cell in zip(names, cells, strict=True) if name)
        column, found = next((each for each in told if each[1]), ("", None))
        is_data.append(found is None and any(cells))
        if found is not None:
            pattern = found[1] if found[1] == found[0] else f"{found[1]}*"
            place = (column, found[1].casefold())
            skipped[place] = max(skipped.get(place, ""), pattern, key=len)
    return rows.filter(pl.Series(is_data, dtype=pl.Boolean)), tuple(
        (column, each) for (column, _), each in skipped.items()
    )


def _with_numbered(table: SampleTable, operation: Operation) -> SampleTable:
    """The table with one column `SKU {n}` for each row of numbered ones, `SKU 1 | Qty 1 | SKU 2 | Qty 2`.

    There is none where nothing names an item: address lines 1 and 2 are no lines.
    """
    stems: dict[str, dict[int, str]] = {}
    for name in table.cells.columns:
        if (found := _NUMBERED.fullmatch(name)) is not None:
            stems.setdefault(f"{found[1]}{{n}}{found[3]}", {})[int(found[2])] = name
    lines = [names for place, names in names_of_targets(operation).items() if place.startswith("lines.")]
    numbered = {
        stem: tuple(columns[number] for number in sorted(columns))
        for stem, columns in stems.items()
        if {1, 2} <= set(columns) and any(likeness(reading_of(columns[1]), names) >= LIKELY for names in lines)
    }
    if not any(reading_of(columns[0]).meanings & {"sku", "item"} for columns in numbered.values()):
        return table
    first = {stem: columns[0] for stem, columns in numbered.items()}
    readings = table.readings | {stem: table.readings[name] for stem, name in first.items()}
    cells = table.cells.with_columns(pl.col(name).alias(stem) for stem, name in first.items())
    return replace(table, numbered=numbered, cells=cells, readings=readings)
