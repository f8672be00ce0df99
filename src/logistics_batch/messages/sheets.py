"""Why a file is held for what stands in its table: its header, its dates, its own totals."""

from typing import Final

from logistics_batch.messages.entry import Entry

_NAME_IT: Final = (
    "{hint:messages}Name the column so in the file, or ask the operator to correct its name in the mapping."
)


def _lacking(why: str) -> Entry:
    has = "{sheets:the file has no such column|none of its sheets has such a column}"
    return Entry(f"By the mapping {why}, and {has}.", _NAME_IT)


def _renamed(loss: str) -> Entry:
    return Entry(
        f'The column "{{column}}" is missing, and {loss}; the new column "{{new}}" may be it.',
        'If it is, name it "{column}" in the file, or ask the operator to add "{new}" to the names of the column in '
        "the mapping, or to its `ignore`.",
    )


SHEETS: Final[dict[str, Entry]] = {
    "skip_rows_where": _lacking('rows are left out by the column "{name}"'),
    "when": _lacking('`{target}` is filled only by what stands in the column "{name}"'),
    "no_column": _lacking('the column that says whether an order is cash on delivery is "{name}"'),
    "no_column.meant": Entry('Is "{text}" meant as "{name}"? '),
    "renamed.default": _renamed('`{target}` would be "{default}" in all rows'),
    "renamed.part": _renamed("`{target}` would be sent without it"),
    "above.missing": Entry(
        "{names:any} is needed and stands neither above nor below the table (its header is row {row}).{near: messages}",
        "Write the label there and its value right of it, or ask the operator to name the label in the mapping.",
    ),
    "above.within": Entry(
        'The value of "{name}" stands in cell {cell}, between rows of the table; it is read above and below it only.',
        "Write the label and its value above the table or below its last row, or the value in a column of its own.",
    ),
    "above.blank": Entry(
        '"{name}" says outside the table which document the rows belong to, and its cell {cell} is blank.',
        "Write the value there and send the file again.",
    ),
    "above.in_table": Entry(
        "The mapping takes {name} for a cell above the table, and the table's header is row {row}.",
        "Send the sheet with all rows above its table, or ask the operator to correct the address in the mapping. What "
        "stands below a table is named by its label: it is in another cell as soon as the table is longer.",
    ),
    "above.label": Entry(
        'In cell {cell} the value of "{name}" should stand; "{value}" looks like a label.',
        "Write each value right of its label; if this is it, or cells have moved, ask the operator to name the cell "
        "in the mapping.",
    ),
    "above.several": Entry(
        'Cell {cell} seems to hold more than "{name}": "{value}".',
        "Write each value in a cell of its own, or ask the operator to name the other labels under `ignore`.",
    ),
    "above.either": Entry(
        'The value of "{name}" (cell {cell}) may be {told:messages  or }.',
        "Put a colon behind each label, or ask the operator to name in the mapping the other labels (`ignore`), the "
        "cell, or the column in which the value stands below the table (`under`).",
    ),
    "above.differ": Entry(
        '"{name}" stands outside the table with different values: {told:messages  and }.',
        "Leave the right one and send the file again.",
    ),
    "above.again": Entry(
        '"{name}" stands outside the table and once more between its rows, with another value: {told:messages  and }.',
        "Send what belongs to each as a file of its own.",
    ),
    "above.under": Entry(
        '"{name}" is read in the column "{column}", and the table has no such column, or several.',
        "Name the column so in the file, or ask the operator to correct its name in the mapping.",
    ),
    "above.value": Entry('"{value}" ({cell})'),
    "header.measure": Entry(
        'Column "{column}" is in {said} by its header, and the mapping reads it as {named}.',
        "If the header is right, the mapping must say so; else correct the header.",
    ),
    "header.unit": Entry(
        'Column "{column}" is in {said} by its header, and the mapping reads it as {named}.',
        'If the header is right, the mapping must say so: `{{from: "{column}", read: {{unit: {said} -> {wanted}}}}}`; '
        "else correct the header.",
    ),
    "header.brackets": Entry(
        'The mapping reads the column "{name}", and the file has "{column}": they may mean two things.',
        'Name it as the mapping does, if they mean the same; or ask the operator to add "{column}" to the names of the '
        "column in the mapping, or to its `ignore`.",
    ),
    "mixed_dates": Entry(
        'Column "{column}" has true dates and dates written as text (rows {rows:rows}): the program may have changed '
        "day and month over in the true ones.{hint:messages}",
        "Make the whole column one or the other, check day and month, and send the file again.",
    ),
    "mixed_dates.text": Entry(' "{cell}": {why:messages}'),
    "swapped_dates": Entry(
        'Column "{column}" has dates that fit only with day and month changed over (rows {rows:rows}), and others that '
        "fit both ways: the whole column may be written so.",
        "Write all dates as agreed, or ask the operator to change the date format of the mapping.",
    ),
    "control_total": Entry(
        '{counted:messages} to {number} in column "{column}", but {stated:messages}.{hint:messages}',
        "Check that no row is missing or doubled, correct the sheet and send it again.",
    ),
    "control_total.left_out": Entry(
        '{counted:messages} to {number} in column "{column}", but {stated:messages}. It would be right with '
        "{rows:in rows}, which the mapping leaves out.",
        "If the total is meant to count them, ask who maintains the mapping; else correct the sheet.",
    ),
    "control_total.sum": Entry("The rows add up"),
    "control_total.rows": Entry("The rows amount"),
    "control_total.documents": Entry("The documents amount"),
    "control_total.no_row": Entry("there is no total row"),
    "control_total.no_number": Entry("{rows:in rows}, the total, has no number there"),
    "control_total.says": Entry("{rows:in rows} says {number}"),
    "control_total.unread": Entry(" There is no number in {rows:in rows}."),
}
