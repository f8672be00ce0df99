"""What is told of a file for a person to look at; it is never held against a row."""

from typing import Final

from logistics_batch.messages.entry import Entry

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
