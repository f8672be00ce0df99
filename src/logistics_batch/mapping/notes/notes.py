"""What a report should mention about a file beside its rows' issues."""

from collections.abc import Iterator

import polars as pl

from logistics_batch.mapping.checks.equal_rows import note_of_equal_rows
from logistics_batch.mapping.checks.header import renamed_notes, units_taken_over
from logistics_batch.mapping.checks.ragged import note_of_short_rows
from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.fields import second_phone_of
from logistics_batch.mapping.fields.grouping import rows_where
from logistics_batch.mapping.fields.values.phones import holds_two, second_of_two, ten_digits
from logistics_batch.mapping.notes.losses import losses
from logistics_batch.mapping.notes.odd_in_india import indian_doubts
from logistics_batch.mapping.notes.odd_values import doubts, in_rows, told
from logistics_batch.mapping.notes.repairs import repair_notes
from logistics_batch.mapping.notes.split_documents import note_of_split_documents
from logistics_batch.mapping.rows.cells import ERROR_WORDS, name_of
from logistics_batch.mapping.rows.classify import LEFT_OUT, Rows
from logistics_batch.messages.words import listed, row_list


def notes_of(table: CompiledSheet, rows: Rows) -> tuple[str, ...]:
    """The reader's notes (hidden rows among them), columns that only the sheet or only the mapping has, repairs."""
    bound, sheet = table.bound, table.sheet
    notes = [note.reason for note in sheet.notes]
    if bound.own:
        notes.append("The result columns of an earlier round were ignored.")
    if bound.unknown:
        notes.append(f"Columns that the mapping does not know were not used: {listed(bound.unknown, limit=20)}.")
    if bound.unused:
        notes.append(f"Columns were not used because another name came first: {listed(bound.unused, limit=20)}.")
    if bound.absent:
        notes.append(f"Columns of the mapping that this sheet does not have: {listed(bound.absent, limit=20)}.")
    return (
        *notes,
        *renamed_notes(table.mapping, sheet, bound),
        *units_taken_over(table),
        *_all_left_out(rows),
        *note_of_split_documents(table, rows),
        *repair_notes(table, rows.cleaned.repairs),
        *_unused_errors(table),
        *_two_numbers(table),
        *told(table, (*doubts(table), *indian_doubts(table))),
        *losses(table),
        *note_of_equal_rows(table),
        *note_of_short_rows(table),
    )


def _all_left_out(rows: Rows) -> Iterator[str]:
    """A file of which the mapping's rules leave nothing: a rule that fits every row is wrong, or the file is."""
    left_out = rows.skipped_by(*LEFT_OUT).len()
    if left_out and rows.data.is_empty():
        yield f"The rules of the mapping leave out all rows with data ({left_out:,}): nothing of this file is sent."


def _unused_errors(table: CompiledSheet) -> list[str]:
    """Errors of the spreadsheet program in columns that nothing is read from."""
    unread = {*table.bound.unknown, *table.bound.unused}
    numbers = [number for number, text in enumerate(table.bound.texts, 1) if text.strip() in unread]
    notes: list[str] = []
    for number in numbers:
        shows_error = pl.col(str(number)).str.strip_chars().is_in(ERROR_WORDS)
        below = pl.col("row") > table.bound.row
        rows = table.sheet.physical_rows(table.sheet.frame.filter(shows_error & below)["row"])
        if rows:
            place = f"row{'' if len(rows) == 1 else 's'} {row_list(rows)}"
            name = table.bound.texts[number - 1].strip()
            notes.append(f'Column "{name}", which is not used, shows an error of the spreadsheet program in {place}.')
    return notes


def _two_numbers(table: CompiledSheet) -> list[str]:
    """Cells with two phone numbers, of which only the first is sent."""
    notes: list[str] = []
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
                notes.append(
                    f'Column "{name}" has two numbers in {in_rows(table, two)}; the first mobile number was taken.'
                )
    return notes
