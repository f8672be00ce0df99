"""Why a row is no data, or not sent with its document."""

from typing import Final

from logistics_batch.messages.entry import Entry

_SAME: Final = "Write the same in all rows of this document and drop the file again."
_OWN_NUMBER: Final = "Give each document its own number, or write these rows as one document, and drop the file again."
_PASTED: Final = (
    "Delete the row that stands twice; if each counts, write one row with the quantities added up. Drop the file again."
)
_ALLOWED: Final = "If equal rows are right in all files, write `checks: {{equal_rows: allow}}`."
_SHOW: Final = "Show the hidden row, or delete it, and drop the file again."
_HALVED: Final = (
    'The document is not sent: by "{name}" the mapping leaves out its {rows:row|rows} {rows:rows} and takes '
    "{others:row|rows} {others:rows}. The column is not filled in each of them."
)
_SAY_EACH: Final = 'Fill in "{name}" in each row of this document, the same if it counts for all; drop the file again.'
_CONTINUED: Final = Entry("It belongs to row {row}, which the mapping leaves out.")

ROWS: Final[dict[str, Entry]] = {
    "blank": Entry("The row is blank."),
    "blank.of_held": Entry("The row is empty."),
    "title.again": Entry("The row repeats one above the header."),
    "title": Entry("The row stands above the header."),
    "title.below": Entry("The row stands below the table; its value is read for the whole file."),
    "repeated header": Entry("The row repeats the header."),
    "comment.remark": Entry("The row begins with ; and is a comment."),
    "comment.line": Entry("The row is a line that parts others."),
    "comment.signature": Entry("The row is for a signature."),
    "comment.note": Entry("The row is a note below the table."),
    "comment.units": Entry("The row holds the units of the columns."),
    "comment.unmapped": Entry("No mapped column of the row is filled."),
    "total": Entry("The row holds a total."),
    "skip_rows_where.row": Entry('"{value}" in "{name}": the mapping skips such rows.'),
    "skip_rows_where.continued": _CONTINUED,
    "only_rows_where.row": Entry('Column "{name}" is not like {patterns:any}.'),
    "only_rows_where.continued": _CONTINUED,
    "hidden row.skipped": Entry("The row is hidden, and the mapping skips hidden rows."),
    "sibling.own_sheet": Entry("The document is not sent: {rows:in rows} {rows:is|are} invalid."),
    "sibling.other_sheet": Entry(
        'The document is not sent: {others:in rows} of the sheet "{sheet}" {others:is|are} invalid.'
    ),
    "sibling.both_sheets": Entry(
        'The document is not sent: {rows:in rows}, and {others:in rows} of the sheet "{sheet}", are invalid.'
    ),
    "hidden row": Entry(
        "The document is not sent: its {rows:in rows} {rows:is|are} hidden and {rows:was|were} skipped.",
        _SHOW,
    ),
    "half document.skip_rows_where": Entry(
        _HALVED, _SAY_EACH, "If it counts for the whole document, name it in `fill_down`."
    ),
    "half document.only_rows_where": Entry(
        _HALVED, _SAY_EACH, 'If it counts for the whole document, name it in `fill_down`, and `""` among its patterns.'
    ),
    "disagree": Entry("{names:names} {names:differs|differ} between the rows {rows:rows} of one document.", _SAME),
    "duplicate": Entry('"{name}" stands for different documents of this file (rows {rows:rows}).', _OWN_NUMBER),
    "duplicate.spelling": Entry(
        "{names:names} differ only in {what:joined  and } (rows {rows:rows}): are they one?", _OWN_NUMBER
    ),
    "equal rows": Entry("The rows {rows:rows} are equal in every cell: were they pasted twice?", _PASTED, _ALLOWED),
    "equal rows.counted": Entry(
        "The rows {rows:rows} are equal in every cell but {aside:names}, which only counts the rows: were they pasted "
        "twice?",
        _PASTED,
        _ALLOWED,
    ),
    "lines_sheet": Entry('Its row of the sheet "{sheet}" was skipped: row {row}.'),
}


_NO_ITEM: Final = '"{piece}" cannot be read as one item.'
_AS_MANY: Final = "Write equally many in these cells, in the same order."
_PASTED_LINE: Final = "Delete the line that stands twice; if each counts, write one with the quantities added up."
_EQUAL: Final = 'Of the lines of "{key}", on the sheet "{sheet}" the rows {rows:rows} are equal in every cell'

LINES: Final[dict[str, Entry]] = {
    "pattern.pieces": Entry(_NO_ITEM, "Write each item like {example}."),
    "pattern.cell": Entry(_NO_ITEM, "Write one item into the cell, like {example}."),
    "pieces": Entry("{held:held} values.", _AS_MANY),
    "half_filled.piece": Entry('"{name}" has nothing for one of its items.', _AS_MANY),
    "half_filled.numbered": Entry(
        '"{there}" is filled and "{name}" beside it is blank.', 'Fill in "{name}", or empty "{there}".'
    ),
    "no_column.numbered": Entry(
        '"{there}" is filled, and the sheet has no column {lacking:names} beside it.',
        'Add the column, or empty "{there}".',
    ),
    "twice.key": Entry(
        '"{key}" stands in row {earlier} already, and each stands once on this sheet.', "Leave one of the two rows."
    ),
    "hidden.lines": Entry(
        'Lines of "{key}" are hidden and were skipped: sheet "{sheet}", {rows:in rows}.',
        'Unhide or delete the rows on the sheet "{sheet}".',
    ),
    "no_lines": Entry(
        'No row of the sheet "{sheet}" has "{key}" in {columns:all}.',
        'Write its lines on the sheet "{sheet}", or take this row out.',
    ),
    "stray.lines": Entry(
        '{columns:all} is blank on the sheet "{sheet}", {rows:in rows}, below lines of "{key}": are they lines of it?',
        "Fill in {columns:all} there; if blank means the same as above, the mapping says so with `fill_down`.",
    ),
    "equal_rows.lines": Entry(f"{_EQUAL}: were they pasted twice?", _PASTED_LINE, _ALLOWED),
    "equal_rows.lines_but": Entry(
        f"{_EQUAL} but {{aside:names}}, which only counts the rows: were they pasted twice?", _PASTED_LINE, _ALLOWED
    ),
    "no_key.line": Entry("{columns:all} is blank.", "Fill in {columns:all}."),
    "orphan": Entry(
        'No row of the sheet "{sheet}" has "{key}" in {columns:all}.',
        'Correct {own:all}, or write the missing row on the sheet "{sheet}".',
    ),
}
