"""The table in an unknown sheet: where its header is, what its columns are called, and which rows are its data."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from logistics_batch.mapping.suggest_names import LIKELY, likeness_of, names_of_targets
from logistics_batch.mapping.suggest_values import Profile, number_of, profile_of
from logistics_batch.mapping.suggest_words import Reading, reading_of
from logistics_batch.mapping.two_row_header import names_above, names_over_two_rows
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

SEARCHED_ROWS: Final = 30
_SAMPLED_ROWS: Final = 300
_NO_DATA: Final = re.compile(
    r"(?i)((?:grand|sub|net)?[\s-]*total|summe|gesamt|prepared by|checked by|कुल|कुल योग|કુલ)\b.{0,20}"
)
_TELLING_ALONE: Final = frozenset(
    ["pickup", "return", "bill", "order", "invoice", "docket", "item", "sku", "qty", "supplier", "deliver", "ship"]
)


@dataclass(frozen=True)
class Table:
    """A sheet's header and its first rows of data.

    row: of the header, the lower one of two. rows: how many rows it has. names: the columns by position, "" where
    nothing is written. cells: of each column whose name stands once, its cells in order, "" for empty ones. skipped:
    rows that are no data, as the column and the text by which they are told.
    """

    sheet: str
    row: int
    rows: int
    names: tuple[str, ...]
    readings: dict[str, Reading]
    cells: dict[str, tuple[str, ...]]
    skipped: tuple[tuple[str, str], ...]

    @cached_property
    def profiles(self) -> dict[str, Profile]:
        """What the values of each column look like."""
        return {name: profile_of(cells) for name, cells in self.cells.items()}

    @property
    def doubled(self) -> tuple[str, ...]:
        """Names that several columns bear."""
        return tuple(name for name, times in Counter(self.names).items() if name and times > 1)

    def documents(self, key: str) -> dict[str, list[int]]:
        """The rows of each document by the values of a column, blank ones as the row above."""
        found: dict[str, list[int]] = {}
        value = ""
        for index, cell in enumerate(self.cells[key]):
            value = cell or value
            found.setdefault(value, []).append(index)
        return found

    def differs_within(self, name: str, key: str, *, share: float = 0.0) -> bool:
        """Whether a column has several values in more than this share of the documents that have several rows."""
        cells = self.cells[name]
        longer = [rows for rows in self.documents(key).values() if len(rows) > 1]
        differing = sum(len({cells[row] for row in rows if cells[row]}) > 1 for rows in longer)
        return differing > share * len(longer)

    def is_product(self, total: str, one: str, other: str) -> bool:
        """Whether a column is the product of two others on every row where it is filled, and on two rows at least."""
        found = 0
        for row in zip(self.cells[total], self.cells[one], self.cells[other], strict=True):
            numbers = [number_of(cell) for cell in row if cell]
            if not row[0]:
                continue
            if len(numbers) < len(row) or None in numbers:
                return False
            product, first, second = (number for number in numbers if number is not None)
            if abs(product - first * second) > max(1.0, 0.005 * product):
                return False
            found += 1
        return found > 1


def table_of(sheet: Sheet, operation: Operation, *, least: int) -> Table | None:
    """The table of a sheet; None if no row names at least so many different things that an operation wants."""
    row, texts = _header(sheet, operation, least=least)
    if not row:
        return None
    above = names_above(sheet, row, len(texts))
    two = _runs_over_two_rows(above, texts)
    names = names_over_two_rows(sheet, row, above=above, texts=texts) if two else texts
    names = [" ".join(name.split()) if two else name.strip() for name in names]
    body = sheet.frame.filter(sheet.frame["row"] > row).head(_SAMPLED_ROWS)
    columns = {str(at): [(cell or "").strip() for cell in body[str(at)]] for at in range(1, len(names) + 1)}
    data, skipped = _data(columns, names)
    cells = {
        name: tuple(columns[str(at)][row] for row in data)
        for at, name in enumerate(names, 1)
        if name and names.count(name) == 1
    }
    readings = {
        name: _read_below(above, at, own, name) if two else reading_of(name)
        for at, (name, own) in enumerate(zip(names, texts, strict=True))
        if name
    }
    return Table(sheet.name, row, 2 if two else 1, tuple(names), readings, cells, skipped)


def _header(sheet: Sheet, operation: Operation, *, least: int) -> tuple[int, list[str]]:
    """The row in which most cells name something different; 0 if none has at least so many."""
    # A sheet of orders has the usual columns of orders, also where the operation wants but one of them.
    usual = (*names_of_targets(operation), *names_of_targets(Operation.ORDER_CREATE))
    known = tuple(dict.fromkeys(names for targets in usual for names in targets.values() if names))
    best: tuple[int, int, list[str]] = (0, 0, [])
    for row, *cells in sheet.frame.head(SEARCHED_ROWS).iter_rows():
        texts = [cell or "" for cell in cells]
        named = {_named(text, known) for text in texts if text.strip() and number_of(text) is None} - {""}
        if len(named) >= least and len(named) > best[0]:
            best = (len(named), int(row), texts)
    return best[1], best[2]


def _named(text: str, known: tuple[str, ...]) -> str:
    """What a text names, if it does, as the names of the likeliest target."""
    if len(text) > 80:
        return ""
    reading = reading_of(text)
    sure, names = max((likeness_of(reading, names), names) for names in known)
    return names if sure >= LIKELY else ""


def _runs_over_two_rows(above: list[str], texts: list[str]) -> bool:
    """Whether names stand twice in a row and differ by what stands above them."""
    own = [text.strip().casefold() for text in texts if text.strip()]
    told = [text for text in above if text.strip()]
    doubled = len(set(own)) < len(own)
    return doubled and len(told) > 1 and all(reading_of(text).meanings for text in told)


def _read_below(above: list[str], at: int, own: str, name: str) -> Reading:
    """A name over two rows; what a lower one says by itself is not what the upper ones say of their neighbours."""
    alone = reading_of(own)
    reaches = not above[at].strip()
    return alone if reaches and alone.meanings & _TELLING_ALONE else reading_of(name)


def _data(columns: dict[str, list[str]], names: list[str]) -> tuple[list[int], tuple[tuple[str, str], ...]]:
    """The rows that are data, and by what the others among filled ones are told: totals and signatures."""
    data: list[int] = []
    skipped: dict[tuple[str, str], set[str]] = {}
    height = len(next(iter(columns.values()), []))
    for row in range(height):
        cells = [(name, columns[str(at)][row]) for at, name in enumerate(names, 1)]
        told = next(((name, cell) for name, cell in cells if name and _NO_DATA.fullmatch(cell)), None)
        if told is not None:
            found = _NO_DATA.fullmatch(told[1])
            assert found is not None
            pattern = found[1] if found[1] == told[1] else f"{found[1]}*"
            skipped.setdefault((told[0], found[1].casefold()), set()).add(pattern)
        elif any(cell for _, cell in cells):
            data.append(row)
    return data, tuple((name, max(patterns, key=len)) for (name, _), patterns in skipped.items())
