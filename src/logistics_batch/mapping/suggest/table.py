"""The table in an unknown sheet: header, columns and values; and which new column may be one that is missing."""

import difflib
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import permutations
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.numbers import FOREIGN, RUPEE
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.naming import (
    LIKELY,
    TO,
    NameReading,
    folded,
    likeness,
    likeness_of_names,
    names_of_targets,
    reading_of,
)
from logistics_batch.mapping.rows.header import Header, fits, without_names
from logistics_batch.mapping.rows.no_data import units_below
from logistics_batch.mapping.rows.outside import MARKS
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.mapping.spec.words import OF_A_SUM, PAGE, SIGNED, SUM
from logistics_batch.mapping.suggest.head import LONGEST_NAME, Fact, Head, facts_of, head_by_shape, head_of
from logistics_batch.mapping.suggest.profile import (
    SOME,
    Profile,
    asks_prepaid,
    meaning_of_payment,
    numbers_of,
    profile_of,
    says_yes_or_no,
)
from logistics_batch.model.answers import earlier_columns
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import cell_address
from logistics_batch.model.sheet import CellFact, Sheet

_SAMPLED_ROWS: Final = 300
_A_NUMBER: Final = re.compile(rf"(?i)(?:{RUPEE}|{FOREIGN})?\s{{0,3}}[-(]?\d")
_NO_DATA: Final = re.compile(
    rf"(?i)({SUM}(?={OF_A_SUM})|summe|gesamt|totaal|totale|razem|suma|कुल|एकूण|कुल योग|કુલ)\b.{{0,20}}"
)
_SIGNED: Final = re.compile(rf"(?i)({SIGNED.removeprefix('(?i)^')}).{{0,20}}")
_PAGE: Final = re.compile(f"(?i)({PAGE})")
_A_TITLE: Final = re.compile(r"(?=.*[^\W\d_]{3})(?:\D*$|.*\s)")  # nothing that may be a number of an order
_NUMBERED: Final = re.compile(r"(\D*)(\d{1,9})(\D*)")
_SPELT_ALIKE: Final = 0.8
_TELLING: Final = 0.15  # what values say that hardly anything else looks like
_LOOKED_AT: Final = 40  # new columns; a file with more of them is another layout
_LETTERS_OF_A_WORD: Final = 5  # shorter ones stand in others by chance
_HALF: Final = 0.5
_A_ROW_OF_NUMBERS: Final = 3
_CELLS_OF_A_BALANCE: Final = 3
_WORDS_OF_A_TITLE: Final = 5  # a sentence is none


@dataclass(frozen=True)
class SampleTable:
    """A sheet's header and its first rows of data.

    row: of the header, the lower one of two. rows: how many rows it has. names: the columns by position, "" where
    nothing is written. readings, cells: of each name that stands once what it says, and its cells, "" for empty ones.
    numbered: for a column `SKU {n}` the ones that it stands for; it has the cells of the first. skipped: rows that are
    no data, as the column and the text by which they are told. above, below: the facts there. nameless: the names
    that a mapping gives to columns which have none. outside: the cells above and below the table: row, column, text.
    titles: of rows that stand alone above others.
    """

    sheet: str
    row: int
    rows: int
    names: tuple[str, ...]
    readings: dict[str, NameReading]
    cells: pl.DataFrame
    skipped: tuple[tuple[str, str], ...]
    numbered: dict[str, tuple[str, ...]]
    above: tuple[Fact, ...] = ()
    below: tuple[Fact, ...] = ()
    nameless: tuple[str, ...] = ()
    outside: tuple[tuple[int, int, str], ...] = ()
    titles: tuple[str, ...] = ()

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

    @cached_property
    def _marks(self) -> str:
        """The decimal marks, first the one that some column shows: beside 0,85 a 1.152 is more than a thousand."""
        return ",." if any(each.has_decimal_commas for each in self.profiles.values()) else ".,"

    def _numbers(self, name: str) -> pl.Series:
        return numbers_of(self.cells[name], marks=self._marks)

    def speaks_of(self, phrases: str) -> bool:
        """Whether the sheet's name, a title or a column's name says one of some phrases, parted by commas."""
        rows = [row for row, _, _ in self.outside]
        alone = [text for row, _, text in self.outside if row < self.row and rows.count(row) == 1]
        said = [re.findall(r"\w+", folded(text)) for text in (self.sheet, *alone, *self.names)]
        titles = [f" {' '.join(words)} " for words in said if len(words) <= _WORDS_OF_A_TITLE]
        return any(f" {words} " in title for words in filter(None, phrases.split(", ")) for title in titles)

    def numbers_in_order(self, name: str) -> bool:
        """Whether the numbers of a column grow from row to row, as those on cartons do; how many there are does not."""
        numbers = numbers_of(self.cells[name])
        return len(numbers) >= _A_ROW_OF_NUMBERS and bool((numbers.diff().drop_nulls() > 0).all())

    def counts_a_range(self, name: str) -> bool:
        """Whether a column says how many there are from one number to another in its row, both included: 5-9, 5."""
        numbers, counts = self._counts, [each for each in self._counts if each != name]
        pairs = (numbers[last] - numbers[first] + 1 - numbers[name] for first, last in permutations(counts, 2))
        return any(off.count() > 1 and (off.drop_nulls() == 0).all() for off in pairs)

    def ends_a_range(self, name: str) -> bool:
        """Whether the numbers of another column lie, row by row, between the number above and the one in this row."""
        last = self._counts[name]
        firsts = (each for other, each in self._counts.items() if other != name)
        return len(last) > 1 and any(
            bool((first <= last).all() and (first > last.shift(1)).slice(1).all()) for first in firsts
        )

    @cached_property
    def _counts(self) -> dict[str, pl.Series]:
        counts = (name for name, profile in self.profiles.items() if profile.fits(FieldForm.COUNT))
        return {name: numbers_of(self.cells[name]) for name in counts}

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

    def is_product(self, total: str, *factors: str, less: str = "") -> bool:
        """Whether a column is the product of others on every row where it is filled, and on two rows at least.

        less: a column of percents that are taken off. A factor that is always 1 shows nothing.
        """
        filled = self.cells[total] != ""
        product, *numbers = (self._numbers(each).filter(filled) for each in (total, *factors))
        made = reduce(operator.mul, numbers)
        off = (product - (made * (1 - self._numbers(less).filter(filled).fill_null(0) / 100) if less else made)).abs()
        is_near = (off <= 1.0) | (off <= 0.005 * product)
        is_shown = all((each != 1).any() for each in numbers)
        return len(product) > 1 and is_shown and is_near.fill_null(value=False).all()

    def is_part(self, part: str, whole: str) -> bool:
        """Whether the amounts of a column are on some rows those of another one, on some less, and nowhere more."""
        less = (self._numbers(whole) - self._numbers(part)).drop_nulls()
        return bool((less == 0).any() and (less > 0).any() and (less >= 0).all())

    def is_sum(self, total: str, parts: str, key: str) -> bool:
        """Whether a column says once for each document what another one comes to, of which some document has more.

        key: as in `differs_within`.
        """
        document = pl.when(pl.col(key) != "").then(pl.col(key)).forward_fill().fill_null("")
        rows = self.cells.select(document.alias("key"), total=self._numbers(total), part=self._numbers(parts))
        whole = pl.col("total").drop_nulls().first()
        each = rows.group_by("key").agg(
            several=pl.col("part").count() > 1, differs=((pl.col("part").sum() - whole).abs() > 1).fill_null(value=True)
        )
        return bool(each["several"].any()) and not each["differs"].any()

    def grows_with(self, price: str, quantity: str, item: str) -> bool:
        """Whether a price is a line's: of one item it differs from row to row, and by the quantity it does not."""
        named = self.cells.select(
            item=item, price=numbers_of(self.cells[price]), count=numbers_of(self.cells[quantity])
        )
        each = (pl.col("price") / pl.col("count")).round(2)
        items = named.group_by("item").agg(differ=pl.col("price").n_unique() > 1, alike=each.n_unique() == 1)
        longer = items.filter("differ")
        return longer.height > 0 and bool(longer["alike"].all())

    def is_foreign(self, name: str) -> bool:
        """Whether amounts are in another currency than rupees, by the column's name or what stands beside them."""
        return profile_of((name,)).share("foreign") > 0 or self.profiles[name].share("foreign") > 0

    def takes_off(self, name: str) -> bool:
        """Whether a column says what is taken off a price, on one row at least."""
        is_discount = "discount" in self.readings[name].meanings
        profile = self.profiles[name]
        return (
            is_discount
            and profile.is_mostly("number", "amount")
            and any(each.strip("0.,%- ") for each in profile.values)
        )

    def collects(self, pay: str, word: str) -> bool | None:
        """Whether a word in a column of payment says that cash is collected; None where it does not say.

        Yes says so below COD; below Prepaid it says the opposite, below Paid or Payment nobody can tell. pay: its
        name, or the label above the table beside which the word stands.
        """
        means, said = meaning_of_payment(word), reading_of(pay).meanings
        if not says_yes_or_no(word):
            return means
        if asks_prepaid(pay):
            return not means
        return None if "pay" in said or "cod" not in said else means

    def stated_total(self, name: str) -> Fact | None:
        """What the sheet's last total below the rows says in a column, where the rows do not come to that."""
        total = self._total(name)
        return total[0] if total and total[1] is not None and abs(total[1]) >= 0.01 else None

    def comes_to_its_total(self, name: str) -> bool:
        """Whether a total below the rows says in a column what these come to."""
        total = self._total(name)
        return bool(total and total[1] is not None and abs(total[1]) < 0.01)

    def total_row(self, name: str) -> dict[str, str]:
        """The column and the cell by which the row is told that says what a column comes to; {} if none does."""
        total = self._total(name) if self.comes_to_its_total(name) else None
        if total is None or not re.search("[1-9]", total[0].value):
            return {}
        _, _, (column, label) = total
        alike = [text for _, at, text in self.outside if (at, text) == (column, label)]
        called = self.names[column - 1] if column <= len(self.names) else ""
        return {called: label} if self.names.count(called) == len(alike) == 1 and called else {}

    def total_cell(self, name: str) -> str:
        """The address of the last total below the rows in a column; "" if there is none."""
        total = self._total(name)
        return total[0].address if total else ""

    def _total(self, name: str) -> tuple[Fact, float | None, tuple[int, str]] | None:
        """The last total below the rows in a column, what the rows lack to it, None where it is no number, and the
        column and the text of its label.
        """
        if name not in self.names:
            return None
        at, rows = self.names.index(name) + 1, dict[int, dict[int, str]]()
        for row, column, text in self.outside:
            if row > self.row:
                rows.setdefault(row, {})[column] = text
        for row, cells in reversed(rows.items()):
            labels = ((column, text) for column, text in cells.items() if column < at and _NO_DATA.fullmatch(text))
            label = next(labels, None)
            if label and at in cells:
                stated, added = numbers_of(pl.Series([cells[at]]), marks=self._marks)[0], self._numbers(name).sum()
                said = label[1].strip(MARKS)
                fact = Fact(said, cells[at], cell_address(row, at), ("beside", said), under=name)
                return fact, None if stated is None else stated - added, label
        return None

    def is_filled_where_cod(self, amount: str, pay: str) -> bool:
        """Whether each row that collects cash has an amount and each paid one none; both must be there."""
        return {each for each in self._filled(amount, pay) if each[0] is not None} == {(True, True), (False, False)}

    def is_filled_elsewhere(self, amount: str, pay: str) -> bool:
        """Whether a row has an amount whose word of payment does not say that cash is collected."""
        return bool({(False, True), (None, True)} & self._filled(amount, pay))

    def _filled(self, amount: str, pay: str) -> set[tuple[bool | None, bool]]:
        """What the words of payment say, and whether there is an amount beside them."""
        rows = zip(self.cells[pay], numbers_of(self.cells[amount]), strict=True)
        return {(self.collects(pay, word), bool(number)) for word, number in rows}


def table_of(sheet: Sheet, operation: Operation, *, least: int, header: int = 0) -> SampleTable | None:
    """The table of a sheet; None if no row names at least so many different things that an operation wants.

    least: 0 for a header that is told by its shape. header: no row above it names the columns.
    """
    lower = replace(sheet, frame=sheet.frame.filter(pl.col("row") >= header))
    head = head_of(lower, operation, least=least) if least else head_by_shape(lower)
    if head is None:
        return None
    body = sheet.frame.filter(pl.col("row") > head.row).head(_SAMPLED_ROWS)
    body = _as_shown(sheet, body.filter(~pl.col("row").is_in(units_below(body, header=head.row))))
    texts = body.select(pl.exclude("row").fill_null("").str.strip_chars())
    data, skipped, end = _data(texts, head.names)
    names, readings = _with_nameless(sheet, head, data)
    nameless = tuple(name for name in names if name not in head.names)
    once = {name: data.to_series(at).alias(name) for at, name in enumerate(names) if name and names.count(name) == 1}
    cells = pl.DataFrame([*once.values()])
    for name, said in ((name, readings[name]) for name in once if "discount" in readings[name].meanings):
        if any(cell.endswith("%") for cell in cells[name]):
            readings[name] = replace(said, meanings=said.meanings | {"percent"})
    for name, said in ((name, readings[name]) for name in once if readings[name].meanings - TO == {"phone"}):
        if profile_of(tuple(cells[name])).is_mostly("name of a person"):  # Delivery Contact, who may be another
            readings[name] = replace(said, meanings=frozenset(["name"]))
    rows = sheet.frame.filter(pl.col("row") < (first := head.row - head.rows + 1)), body[end:]
    above, below = (facts_of(sheet, each, header=first) for each in rows)
    outside = tuple((row, column, text.strip())
                    for row, *cells_of_row in pl.concat(rows).iter_rows()
                    for column, text in enumerate(cells_of_row, 1) if text and text.strip())  # fmt: skip
    table = SampleTable(
        sheet.name, head.row, head.rows, names, readings, cells, skipped, {}, above, below, nameless, outside,
        tuple("".join(texts.row(at)) for at in _titles(texts, head.names)),
    )  # fmt: skip
    return _with_numbered(table, operation)


def _as_shown(sheet: Sheet, body: pl.DataFrame) -> pl.DataFrame:
    """The rows with the sign of another currency beside numbers whose format shows one."""
    shown = sheet.facts_of(CellFact.NUMBER_FORMAT_TEXT).filter(pl.col("detail").str.contains(rf"(?i){FOREIGN}"))
    for column in shown["column"].unique():
        format_ = shown.filter(pl.col("column") == column).select("row", "detail")
        text = pl.col("detail").str.replace("0", pl.col(str(column)), literal=True)
        body = body.join(format_, on="row", how="left", maintain_order="left")
        body = body.with_columns(pl.coalesce(text, str(column)).alias(str(column))).drop("detail")
    return body


def _with_nameless(sheet: Sheet, head: Head, data: pl.DataFrame) -> tuple[tuple[str, ...], dict[str, NameReading]]:
    """The names of all filled columns, with those that have none as a mapping calls them, and what each says.

    Below a name that is merged over several columns these say the same, and what their values look like.
    """
    names, readings = [*head.names], dict(head.readings)
    for number, name in without_names(names, [at + 1 for at in earlier_columns(names)]).items():
        profile = profile_of(tuple(data.to_series(number - 1)))
        if not profile.filled:
            continue
        over = [left for top, left, bottom, right in sheet.merged_ranges
                if top <= head.row <= bottom and left < number <= right]  # fmt: skip
        said = readings[names[over[0] - 1]].meanings if over and names[over[0] - 1] else frozenset[str]()
        shown = {shape for shape in ("phone", "pin") if said and profile.share(shape) > SOME}
        names[number - 1], readings[name] = name, NameReading(said | shown, 0, "", digits=bool(said))
    return tuple(names), readings


def _data(rows: pl.DataFrame, names: Sequence[str]) -> tuple[pl.DataFrame, tuple[tuple[str, str], ...], int]:
    """The rows that are data, by what the others among filled ones are told (totals, signatures, taxes below), and the
    place of the first row below all data.
    """
    told: list[tuple[int, re.Match[str]] | None] = []
    skipped = dict[tuple[str, str], str]()
    for cells in rows.iter_rows():
        each = (
            (at, _NO_DATA.fullmatch(cell) or _PAGE.fullmatch(cell) or _SIGNED.fullmatch(cell))
            for at, (name, cell) in enumerate(zip(names, cells, strict=True))
            if name
        )
        told.append(next(((at, found) for at, found in each if found), None))
    first, last = _ends(rows, [each is None for each in told])
    titles = _titles(rows, names)
    may_be = [each is None and at not in titles and first <= at <= last for at, each in enumerate(told)]
    data = [may and any(cells) and cells != (*names,) for may, cells in zip(may_be, rows.iter_rows(), strict=True)]
    rows_of_data = rows.filter(pl.Series(data, dtype=pl.Boolean))

    def fits_data(at: int, pattern: str) -> bool:
        cells = rows_of_data.to_series(at).to_frame("cell")
        return bool(cells.select(fits(pl.col("cell"), [pattern]).any()).item())

    for cells, found, may in zip(rows.iter_rows(), told, may_be, strict=True):
        if found is not None:
            at, (cell, word) = found[0], found[1].group(0, 1)
            word = re.sub(r"[0-9]+", "*", word) if _PAGE.fullmatch(word) else word
            place, pattern = (names[at], word.casefold()), word if "*" in word or word == cell else f"{word}*"
            if not fits_data(at, pattern):
                skipped[place] = max(skipped.get(place, ""), pattern, key=len)
            elif not fits_data(at, cell):
                skipped[names[at], cell.casefold()] = cell
        elif not may:
            told_by = (
                (name, cell)
                for at, (name, cell) in enumerate(zip(names, cells, strict=True))
                if name and cell and (len(cell.split()) > _WORDS_OF_A_TITLE or not _A_NUMBER.match(cell))
                and not fits_data(at, cell)  # as numbers are, a unit or a currency is of rows of data, too
            )  # fmt: skip
            skipped |= {(name, cell.casefold()): cell for name, cell in [*told_by][:1]}
    end = max((at for at, each in enumerate(data, 1) if each), default=0)
    return rows_of_data, tuple((column, each) for (column, _), each in skipped.items()), end


def _titles(rows: pl.DataFrame, names: Sequence[str]) -> set[int]:
    """The places of rows with one cell, where the next row's first one stands in the same column: Route: North."""
    found, below = set[int](), list[str]()
    for at, cells in reversed([*enumerate(rows.iter_rows())]):
        filled = [name for name, cell in zip(names, cells, strict=True) if cell]
        if len(filled) == 1 and len(below) > _CELLS_OF_A_BALANCE and filled[0] == below[0] != "":
            found |= {at} if _A_TITLE.match("".join(cells)) else set()
        else:
            below = filled or below
    return found


def _ends(rows: pl.DataFrame, may_be: Sequence[bool]) -> tuple[int, int]:
    """The places of the first and the last row of data: those around them lack most of the numbers that rows have.

    Below stand taxes and notes, above a balance: a word beside one of these numbers, and a day at most.
    """
    numbers = [
        [may and bool(_A_NUMBER.match(cell)) for may, cell in zip(may_be, column, strict=True)] for column in rows
    ]
    columns = [column for column in numbers if sum(column) >= SOME * sum(may_be)]
    counts = [sum(column[at] for column in columns) for at in range(rows.height)]
    full = [at for at, count in enumerate(counts) if count * 2 > len(columns)]
    first, last = (full[0], full[-1]) if full else (0, rows.height)
    above = [[cell for cell in cells if cell] for cells in rows[:first].iter_rows()]
    words = [[cell for cell in cells if not re.search(r"\d", cell)] for cells in above]
    is_balance = [not (may and cells) or (len(word) == 1 < len(cells) <= _CELLS_OF_A_BALANCE and count > 0)
                  for may, word, cells, count in zip(may_be, words, above, counts, strict=False)]  # fmt: skip
    # Where rows between others are blank as well, those of a document stand once for several rows.
    is_whole = all(is_balance) and not any(may_be[at] for at in {*range(first, last)} - {*full})
    return (first, last) if is_whole else (0, rows.height)


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


def successor_of(mapping: Mapping, sheet: Sheet, header: Header, group: Sequence[str], *, shape: str = "") -> str:
    """The new column that is most like a missing one by its name, else the first whose values have a shape; "" if none.

    group: the names of the missing column. Values that speak against a column outweigh its name.
    """
    fresh = [name for name in header.unknown[:_LOOKED_AT] if len(name) <= LONGEST_NAME]
    likely = {
        new: max(likeness_to(mapping, sheet, header, group, new), LIKELY * _is_within(group[0], new)) for new in fresh
    }
    best = max(fresh, key=lambda new: likely[new], default="")
    if likely.get(best, 0.0) >= LIKELY:
        return best
    return next((new for new in fresh if shape and _profile_below(sheet, header, new).share(shape) > _HALF), "")


def _is_within(one: str, other: str) -> bool:
    """Whether one of two names is the other one with more words: `Priority` and `Priority level`."""
    shorter, longer = sorted((ColumnName.of(one).identity, ColumnName.of(other).identity), key=len)
    return len(shorter) >= _LETTERS_OF_A_WORD and shorter in longer


def likeness_to(mapping: Mapping, sheet: Sheet, header: Header, group: Sequence[str], new: str) -> float:
    """How likely a new column is the missing one: by its name and, against it, by its values."""
    known, reading = names_of_targets(mapping.operation), reading_of(new)
    best = max(max(_spelt_alike(name, new), likeness_of_names(new, name)) for name in group)
    for place, field in mapping.spec.everything.items():
        if not any(group[0] in names for names in field.columns):
            continue
        part, target = place.split(".", 1)
        names = known.get(f"{part.removeprefix('kit_')}.{target}")
        best = max(best, 0.9 * likeness(reading, names)) if names else best
        form = form_of(target, mapping.operation) if part != "keep" else FieldForm.TEXT
        fits = _profile_below(sheet, header, new).fits(form)
        if fits is False:
            return 0.0
        is_telling = fits and form in (FieldForm.MOBILE, FieldForm.PINCODE) and best > 0
        best = min(1.0, best + _TELLING) if is_telling else best
    return best


def _profile_below(sheet: Sheet, header: Header, name: str) -> Profile:
    """What the first cells below one of the header's names look like."""
    column = next(number for number, text in enumerate(header.texts, 1) if text.strip() == name)
    cells = sheet.frame.select(pl.col(str(column)).filter(pl.col("row") > header.row).head(_SAMPLED_ROWS))
    return profile_of(tuple(cells.to_series()))


def _spelt_alike(one: str, other: str) -> float:
    if max(len(one), len(other)) > LONGEST_NAME:  # to compare them takes the square of their length
        return 0.0
    ratio = difflib.SequenceMatcher(None, ColumnName.of(one).identity, ColumnName.of(other).identity).ratio()
    return ratio if ratio > _SPELT_ALIKE else 0.0
