"""Why a file is held for what stands in its table: its header, its dates, its own totals; and what is noted of it.

A note is for a person to look at, and is never held against a row.
"""

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

_TAKEN_OFF: Final = "urrency signs, units, groups or leading zeros were taken off"
_LOST_ZEROS: Final = "were zeros lost? Format the column as Text."
_SPLIT: Final = "takes others: {told:messages , }{more:messages}. What is taken goes out without them: is that meant?"
_PASTED: Final = "to another row of their document, and each counts: were they pasted twice?"
_EQUAL_LINES: Final = 'Sheet "{sheet}": the rows {rows:rows} are equal, in every cell'
_PASTED_LINES: Final = "to another line of their document: were they pasted twice?"
_NOT_READ: Final = 'Sheet "{sheet}", {count} {count:row|rows}, was not read'
_LATER: Final = (
    "these were read by a later name of the mapping: {pairs:messages , }{more}: is one that was not used meant?"
)
_COLUMNS: Final = {
    "columns.own": "The result columns of an earlier round were ignored.",
    "columns.unknown": "Columns that the mapping does not know were not used: {names:names 20}.",
    "columns.unused": "Columns were not used because another name came first: {names:names 20}.",
    "columns.absent": "Columns of the mapping that this sheet does not have: {names:names 20}.",
    "columns.renamed": 'Column "{new}" may be "{name}" of the mapping, which this sheet does not have, and was not '
    "used: add it to the names of that column, or name it under `ignore`.",
    "columns.later_name": f"Beside columns that were not used, {_LATER}",
    "columns.read_as": '"{text}" for "{name}"',
    "columns.unit": 'Column "{column}" was read as "{name}" of the mapping; check the unit.',
    "columns.errors": 'Column "{column}", which is not used, shows an error of the spreadsheet program in '
    "{rows:row|rows} {rows:rows}.",
}
_SHEETS: Final = {
    "sheet.not_read": f"{_NOT_READ}: it has no {{lacking:column|columns}} {{lacking:names 1000}}.",
    "sheet.not_read_header_only": f"{_NOT_READ}: it has a header only.",
    "of_sheet": 'Sheet "{sheet}": {note:messages}',
    "of_sheet.unknown": 'Sheet "{sheet}": columns that the mapping does not know were not used: {names:names 20}.',
    "file.no_rows": "The file has a header but no rows.",
    "approval.preview": "What would wait for approval has the number {number}.",
    "archive.file": "It came in {archive}.",
    "archive.inside": "It came in {archive} as {inside}.",
    "archive.left_out": "{name} was left out: {why:messages}.",
    "archive.same": "{inside} was left out: it is the same file as {name} beside it.",
    "numbered.missing": "Numbered columns that others follow are missing: {names:names 6}.",
    "numbered.no_column": "The sheet has {there:names} and no column {lacking:names} beside it.",
}
_ROWS: Final = {
    "left_out.all": "The rules of the mapping leave out all rows with data ({rows:,}): nothing of this file is sent.",
    "left_out.document": f"`{{rule}}` of the mapping leaves out some rows of a document and {_SPLIT}",
    "left_out.documents": f"`{{rule}}` of the mapping leaves out some rows of {{documents:,}} documents and {_SPLIT}",
    "left_out.rows": '"{key}" ({rows:row|rows} {rows:rows})',
    "left_out.more": " and {count:,} more",
    "equal_rows.note": f"The rows {{rows:rows}} are equal, in every cell, {_PASTED}",
    "equal_rows.note_counted": "The rows {rows:rows} are equal, in every cell but {aside:names}, which only counts the "
    f"rows, {_PASTED}",
    "equal_rows.note_of_sheet": f"{_EQUAL_LINES}, {_PASTED_LINES}",
    "equal_rows.note_of_sheet_counted": f"{_EQUAL_LINES} but {{aside:names}}, which only counts the rows, "
    f"{_PASTED_LINES}",
    "short_rows": "{rows:Row|Rows} {rows:rows} {rows:ends|end} before {columns:names}: taken as blank there.",
}
_VALUES: Final = {
    "repaired.cells": 'Column "{column}": repaired without loss: {cells:messages , }.',
    "repaired.column": 'Column "{column}": {count:,} cells were repaired without loss; the first is {cells:messages}.',
    "repaired.columns": "{count:,} cells were repaired without loss in the columns {columns:names 8}; the first is "
    "{cells:messages}.",
    "repaired.cell": "{cell}",
    "repaired.row": "in row {row}",
    "repaired.value": '{place:messages} ("{was}" is {now})',
    "two_numbers": 'Column "{column}" has two numbers in {rows:in rows}; the first mobile number was taken.',
    "rounded": 'Column "{column}": rounded to {places} decimals in {rows:in rows}{example:messages}.',
    "taken_off": f'Column "{{column}}": c{_TAKEN_OFF} the numbers in {{rows:in rows}}{{example:messages}}.',
    "taken_off.columns": f"C{_TAKEN_OFF} {{count:,}} numbers in the columns {{columns:names 8}}{{example:messages}}.",
    "number_was": ' ("{was}" is {now})',
    "lost_zeros.decimals": 'Column "{column}": whole numbers in {rows:in rows}, codes with decimals in '
    f"{{others:in rows}}: {_LOST_ZEROS}",
    "lost_zeros.leading": 'Column "{column}": numbers in {rows:in rows}, codes with leading zeros in '
    f"{{others:in rows}}: {_LOST_ZEROS}",
}
_ODD: Final = {
    "odd.weight": "a weight below 10 g or above 100 kg; check the unit",
    "odd.pieces": "more than {most:,} pieces",
    "odd.past": "a day of delivery before the business date {day}",
    "odd.pin": "the address holds another PIN",
    "odd.price": "an MRP below the price",
    "odd.tax_halves": "CGST and SGST differ",
    "odd.taxes": "IGST beside CGST or SGST",
    "odd.e_way_bill": "goods of an order above INR {most:,}, which travel with an e-way bill",
    "odd.state": "the PIN is of another state than the address",
    "odd.place": "a place outside India; are latitude and longitude changed over?",
    "odd.e_mail": "not the form of an e-mail address",
}

NOTES: Final[dict[str, Entry]] = {
    **{code: Entry(words) for code, words in (_COLUMNS | _SHEETS | _ROWS | _VALUES).items()},
    **{code: Entry(f'Column "{{column}}": {odd} in {{rows:in rows}}.') for code, odd in _ODD.items()},
}
