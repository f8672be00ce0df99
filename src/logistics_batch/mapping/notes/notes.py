"""What a report should mention about a file beside its rows' issues."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.checks.equal_rows import note_of_equal_rows
from logistics_batch.mapping.checks.header import renamed_notes, units_taken_over
from logistics_batch.mapping.checks.ragged import note_of_short_rows
from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.fields import second_phone_of
from logistics_batch.mapping.fields.grouping import rows_where, with_documents, written_key
from logistics_batch.mapping.fields.values.phones import holds_two, second_of_two, ten_digits
from logistics_batch.mapping.notes.losses import losses
from logistics_batch.mapping.notes.odd_values import odd_values
from logistics_batch.mapping.rows.cells import ERROR_WORDS, SHOWN_REPAIRS, ColumnKind, Repairs, name_of
from logistics_batch.mapping.rows.classify import LEFT_OUT, Rows
from logistics_batch.mapping.spec.texts import printable_text
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue, cell_address

_COLUMNS_ON_THEIR_OWN: Final = 3
_SHOWN: Final = (ColumnKind.NUMBER, ColumnKind.GOODS, ColumnKind.IDENTITY)  # what says nothing of a person
_A_CODE: Final = re.compile(r"(?=.*[0-9])[^ ]{1,40}")  # an identity may be made of a person's name
_SHOWN_DOCUMENTS: Final = 5


def notes_of(table: CompiledSheet, rows: Rows) -> tuple[Issue, ...]:
    """The reader's notes (hidden rows among them), columns that only the sheet or only the mapping has, repairs."""
    bound = table.bound
    lists = {"unknown": bound.unknown, "unused": bound.unused, "absent": bound.absent}
    return (
        *table.sheet.notes,
        *([Issue.of("columns.own")] if bound.own else []),
        *(Issue.of(f"columns.{what}", names=list(names)) for what, names in lists.items() if names),
        *renamed_notes(table.mapping, table.sheet, bound),
        *units_taken_over(table),
        *_all_left_out(rows),
        *_split_documents(table, rows),
        *_repairs(table, rows.cleaned.repairs),
        *_unused_errors(table),
        *_two_numbers(table),
        *odd_values(table),
        *losses(table),
        *note_of_equal_rows(table),
        *note_of_short_rows(table),
    )


def _all_left_out(rows: Rows) -> Iterator[Issue]:
    """A file of which the mapping's rules leave nothing: a rule that fits every row is wrong, or the file is."""
    left_out = rows.skipped_by(*LEFT_OUT).len()
    if left_out and rows.data.is_empty():
        yield Issue.of("left_out.all", rows=left_out)


def _split_documents(table: CompiledSheet, rows: Rows) -> Iterator[Issue]:
    """A note on the documents with rows that the rule leaves out; it may be meant so, as of lines that are not ready.

    `skip_rows_where` names the rows that are no data, which says it plainly.
    """
    left_out = rows.skipped_by("only_rows_where")
    lines = table.grouped.lines
    if left_out.is_empty() or table.mapping.operation is Operation.RECEIPT_READ or "key" not in lines.columns:
        return
    keys = [name_of(column) for column in table.columns(table.mapping.spec.key)]
    filled = {name_of(column) for column in table.columns(table.mapping.spec.sheet.fill_down)}
    named = rows.cleaned.frame.select("row", *(pl.col(key).forward_fill() if key in filled else key for key in keys))
    theirs = named.filter(pl.col("row").is_in(left_out.implode()), pl.any_horizontal(pl.col(keys).is_not_null()))
    if theirs.is_empty():
        return
    sent = lines.select("key", "doc").unique("doc", maintain_order=True)
    split = sent.join(with_documents(theirs, keys).select("key", "row"), on="key", maintain_order="left_right")
    found = split.group_by("key", maintain_order=True).agg("row")
    if found.is_empty():
        return
    first = found.head(_SHOWN_DOCUMENTS).with_columns(written_key(pl.col("key")))
    told = [
        ["left_out.rows", {"key": key, "rows": table.sheet.physical_rows(numbers)}]
        for key, numbers in first.iter_rows()
    ]
    more = [["left_out.more", {"count": found.height - len(told)}]] if found.height > len(told) else []
    code = "left_out.document" if found.height == 1 else "left_out.documents"
    yield Issue.of(code, documents=found.height, told=told, more=more)


def _repairs(table: CompiledSheet, repairs: Sequence[Repairs]) -> Iterator[Issue]:
    """What was repaired in cells: one by one where it is little, else how much and the first."""
    names = [table.bound.texts[each.column - 1].strip() for each in repairs]
    if len(repairs) > _COLUMNS_ON_THEIR_OWN:
        count = sum(each.rows.len() for each in repairs)
        yield Issue.of("repaired.columns", count=count, columns=names, cells=[_repaired(table, repairs[0], 0)])
        return
    for name, each in zip(names, repairs, strict=True):
        if (count := each.rows.len()) > SHOWN_REPAIRS:
            yield Issue.of("repaired.column", column=name, count=count, cells=[_repaired(table, each, 0)])
        else:
            cells = [_repaired(table, each, place) for place in range(count)]
            yield Issue.of("repaired.cells", column=name, cells=cells)


def _repaired(table: CompiledSheet, repairs: Repairs, place: int) -> list[Any]:
    """One repaired cell, as a message; what it holds is told of codes only."""
    row = int(repairs.rows[place])
    where = ["repaired.cell", {"cell": cell_address(row, repairs.column)}]
    if table.sheet.origins is not None:
        where = ["repaired.row", {"row": table.sheet.physical_rows([row])[0]}]
    was, now = repairs.first[place]
    if repairs.use not in _SHOWN or not _A_CODE.fullmatch(now):
        return where
    return ["repaired.value", {"place": [where], "was": printable_text(was), "now": now}]


def _unused_errors(table: CompiledSheet) -> Iterator[Issue]:
    """Errors of the spreadsheet program in columns that nothing is read from."""
    unread = {*table.bound.unknown, *table.bound.unused}
    for number, text in enumerate(table.bound.texts, 1):
        if text.strip() in unread:
            shows_error = pl.col(str(number)).str.strip_chars().is_in(ERROR_WORDS)
            below = pl.col("row") > table.bound.row
            rows = table.sheet.physical_rows(table.sheet.frame.filter(shows_error & below)["row"])
            if rows:
                yield Issue.of("columns.errors", column=text.strip(), rows=rows)


def _two_numbers(table: CompiledSheet) -> Iterator[Issue]:
    """Cells with two phone numbers, of which only the first is sent."""
    both = second_phone_of(table.mapping, table.bound, "fields.alternate_customer_mobile")
    for field in table.header:
        second = second_phone_of(table.mapping, table.bound, field.place)
        if field.column is not None and field.target.endswith("_mobile") and second is None:
            cell = pl.col(name_of(field.column))
            lines = table.grouped.lines.filter(holds_two(cell))  # few: the rest is not looked at number by number
            unsent = ten_digits(cell).is_not_null() & second_of_two(cell).ne_missing(ten_digits(cell))
            if field.column == both:
                unsent &= second_of_two(cell).is_null()
            if (two := rows_where(lines, unsent)).len():
                name = table.bound.texts[field.column - 1].strip()
                yield Issue.of("two_numbers", column=name, rows=table.sheet.physical_rows(two))
