"""What is wrong with lines that lie elsewhere: split cells, numbered columns, a second sheet."""

from typing import Final

from logistics_batch.messages.entry import Entry

_NO_ITEM: Final = '"{piece}" cannot be read as one item.'
_AS_MANY: Final = "Write equally many in these cells, in the same order."
_PASTED: Final = "Remove the line that stands twice; if both are meant, ask for the mapping to allow equal rows."
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
        'Lines of "{key}" are hidden and were skipped: sheet "{sheet}", row {rows:rows}.',
        'Unhide or delete the rows on the sheet "{sheet}".',
    ),
    "no_lines": Entry(
        'No row of the sheet "{sheet}" has "{key}" in {columns:all}.',
        'Write its lines on the sheet "{sheet}", or take this row out.',
    ),
    "stray.lines": Entry(
        '{columns:all} is blank on the sheet "{sheet}", row {rows:rows}, below lines of "{key}": are they lines of it?',
        "Fill in {columns:all} there; if blank means the same as above, the mapping says so with `fill_down`.",
    ),
    "equal_rows.lines": Entry(f"{_EQUAL}: were they pasted twice?", _PASTED),
    "equal_rows.lines_but": Entry(
        f"{_EQUAL} but {{aside:names}}, which only counts the rows: were they pasted twice?", _PASTED
    ),
    "no_key.line": Entry("{columns:all} is blank.", "Fill in {columns:all}."),
    "orphan": Entry(
        'No row of the sheet "{sheet}" has "{key}" in {columns:all}.',
        'Correct {own:all}, or write the missing row on the sheet "{sheet}".',
    ),
}
