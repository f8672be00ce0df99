"""What is wrong with a cell or a row, by the rule that users see; why a row is no data, or blocked by another one.

And why a change of an order cannot be sent, and what is wrong with an order of which the service is asked.
"""

from typing import Final

from logistics_batch.messages.entry import Entry

_AS_TEXT_AGAIN: Final = "Format the column as Text and type the value again."
_FULL_NUMBER: Final = "Format the column as Text and enter the full number again."
_CHECK_DATE: Final = "Check day, month and year; 3 November 2026 is written {written}."
_LETTER: Final = 'The letter "{letter}" stands among the digits: is it a {digit}?'
_PRICED: Final = 'If it is the price of one piece, write `{{suffix: "{word}"}}` under `read` of the mapping.'
_READ: Final[dict[str, Entry]] = {
    "required": Entry('"{name}" is required and the cell is blank.', 'Fill in "{name}".'),
    "required.sum": Entry(
        '"{name}" is blank, and the quantity is the sum of the other rows: is this the row of a total?',
        'Leave the row out; if these are goods, fill in "{name}".',
    ),
    "required.key": Entry(
        "The row belongs to no document: its key is blank.",
        "Write the key on this row, or leave the row out.",
    ),
    "required.key_of": Entry(
        "The row belongs to row {row}, whose key is blank or cannot be read.",
        "Correct row {row}, write the key in this row, too, and drop the file again.",
    ),
    "integer": Entry("The cell is not a whole number.", "Write digits only, such as 12."),
    "integer.word": Entry(
        'Behind the number stands "{word}".',
        "Write the pieces in digits only, such as 12; if all files say so, ask the operator to have the word read.",
        'If it stands for one piece, write `{{suffix: "{word}"}}` under `read` of the mapping; else how many: '
        '`{{suffix: {{"{word}": 12}}}}`.',
    ),
    "integer.letter": Entry(_LETTER, "Write digits only, such as 12."),
    "times": Entry("The number in the cell is to be multiplied by, and it is none.", "Write digits only, such as 12."),
    "times.part": Entry(
        "Multiplied as the mapping says, this is no whole number.",
        "Correct the quantity, or the number in the row that it is multiplied by.",
    ),
    "cartons": Entry(
        "How many cartons the cell names cannot be told.",
        "Write their numbers as 7, 1-5 or 1-5, 8; format the column as Text, for programs make dates of them.",
    ),
    "integer.long": Entry("The number is too long.", "Write a smaller number."),
    "decimal": Entry("The cell is not a number.", "Write digits and at most one decimal point, such as 0.75."),
    "decimal.comma": Entry("The cell is not a number.", "Write digits and at most one decimal comma, such as 0,75."),
    "percent": Entry("The cell is not a percentage.", "Write digits and at most one decimal point, such as 12.5."),
    "percent.comma": Entry(
        "The cell is not a percentage.", "Write digits and at most one decimal comma, such as 12,5."
    ),
    "money": Entry("The cell is not an amount of money.", "Write the amount in digits, such as 1499.00."),
    "money.comma": Entry(
        "The cell is not an amount of money with a decimal comma.", "Write the amount in digits, such as 1499,00."
    ),
    "money.letter": Entry(_LETTER, "Write the amount in digits only."),
    "money.word": Entry(
        'Behind the amount stands "{word}".',
        "Write the amount in digits, such as 1499.00; if all files say so, ask the operator to have the word read.",
        _PRICED,
    ),
    "money.comma_word": Entry(
        'Behind the amount stands "{word}".',
        "Write the amount in digits, such as 1499,00; if all files say so, ask the operator to have the word read.",
        _PRICED,
    ),
    "sum": Entry("The cell is not a number.", "Write digits only, such as 1499.00."),
    "sum.comma": Entry("The cell is not a number.", "Write digits only, such as 1499,00."),
    "unit": Entry("The cell is not a number of {unit}.", "Write the number in {unit}, without another unit."),
    "mobile": Entry(
        "This is no Indian mobile number ({digits} {digits:digit|digits}).",
        "Write the ten digits of the mobile number; the first is 6, 7, 8 or 9.",
    ),
    "pincode": Entry("This is no PIN.", "Write the 6 digits of the PIN, such as 560001."),
    "pincode.six_digits": Entry(
        "This is no PIN: it begins with 0 or holds something else.", "Write the right PIN, digits only."
    ),
    "pincode.digits": Entry("PIN has {digits} {digits:digit|digits}.", "Write all 6 digits of the PIN."),
    "date": Entry("The cell is no date as agreed.", "Write 3 November 2026 as {written}."),
    "date.true_dates": Entry(
        "The cell is no date as agreed.", "Enter the date as the other cells of the column hold it."
    ),
    "date.no_such_day": Entry("This date does not exist: {month} {year} has {days} days.", _CHECK_DATE),
    "date.no_such_month": Entry("This date does not exist: there is no month {month}.", _CHECK_DATE),
    "date.day_for_month": Entry(
        "This date does not exist: there is no month {month}. Are day and month changed over?", _CHECK_DATE
    ),
    "date_window": Entry(
        "The date is more than {before} days before or {after} days after the business date {day}.",
        "Check day, month and year.",
    ),
    "lookup": Entry("The value is not in the list of known values.", "Write one of: {known}."),
    "blank_inside": Entry(
        "An AWB number or order id has no blank in it.",
        "Write it as the label shows it, without blanks; each number on a row of its own.",
    ),
    "negative": Entry("The number is negative.", "Write a number of {least} or more."),
    "negative.taken_off": Entry(
        "The number is negative, and the mapping takes it off: it would be added.",
        "Write it without the minus or the brackets; if all are written so, ask who maintains the mapping.",
    ),
    "quantity": Entry("A quantity is at least 1.", "Write the quantity, or leave the row out."),
    "half_filled": Entry('"{filled}" is filled and "{blank}" beside it is blank.', 'Fill in "{blank}".'),
}
_LOST: Final[dict[str, Entry]] = {
    "several_values": Entry(
        '"{name}" has a line break or a tab in the cell: are these several values in one cell?',
        'Leave one value in the cell of "{name}", on one line.',
    ),
    "control": Entry("The cell holds invisible control characters.", "Type the value again instead of pasting it."),
    "scientific": Entry("The number is written in scientific notation and its last digits are lost.", _FULL_NUMBER),
    "error_value": Entry(
        "The cell shows an error of the spreadsheet program.", "Correct the formula or type the value."
    ),
    "no_value": Entry(
        "The formula in this cell has no stored value.",
        "Type the value into the cell, or save your own file in Excel and drop it again.",
    ),
    "imprecise": Entry(
        "The number has more than 15 digits; the spreadsheet program has already lost the last ones.", _FULL_NUMBER
    ),
    "number_format": Entry(
        "The cell shows more than it holds: its number format adds words or signs to the number.",
        "Format the column as Text and type what is meant: a code as the cell shows it, a number in digits only.",
    ),
    "date_cell": Entry(
        "The cell is a date or time: the spreadsheet program may have made it of a code or house number: MAR-1, 12/3.",
        _AS_TEXT_AGAIN,
    ),
    "truth_cell": Entry(
        "The cell is true or false for the spreadsheet program, which is no code.",
        "Format the column as Text and type the code again.",
    ),
    "decimal_code": Entry(
        "The code is a number with decimals to the spreadsheet program, which keeps no zeros at its end: 1.10 is 1.1.",
        "Format the column as Text and type the code again, with all its digits.",
    ),
    "ditto": Entry(
        "The cell says “as above”, and nothing above it is taken over.",
        "Write the value itself, or ask for the mapping to fill this column down.",
    ),
    "struck_through": Entry(
        "The cell is struck through: does its value still count?",
        "Write the value that counts, without a line through it, or empty the cell.",
    ),
    "struck_through.row": Entry(
        "The whole row is struck through: was it cancelled?",
        "Remove the row if it is not to go out; if it is, take the line through it away.",
    ),
    "struck_through.part": Entry(
        "The cell holds two values: {parts:messages , or }.",
        "Write only the value that counts, without a line through it.",
    ),
    "struck_through.left": Entry('"{struck}" is struck through, "{left}" is not'),
    "covered": Entry(
        'The cell lies under merged cells, which show another value: nobody can see its "{value}".',
        "Take the merging back (Merge & Centre), and write in each cell what counts.",
    ),
}
_DOUBTED: Final[dict[str, Entry]] = {
    "decimal_mark": Entry(
        '"{value}" may be {small} or {large}: nothing in the file shows what the full stop means.',
        "Write {small} or {large}; if all files are so, ask the operator to name the decimal mark.",
        'Write `sheet: {{decimal: "."}}` in the mapping if it is {small}, `sheet: {{decimal: ","}}` if it is {large}.',
    ),
    "sample": Entry("This looks like a value of a template.", "Write the real value, or remove the row."),
    "placeholder": Entry(
        "This is a placeholder: it stands for no value.", "Write the real value, or leave the row out."
    ),
    "placeholder.address": Entry("This is no address.", "Write street, house and town, or leave the row out."),
    "cod.nothing": Entry(
        "The order is cash on delivery, but the amount to collect is 0 or blank.",
        "Write the amount to collect, or correct the payment method.",
    ),
    "cod.surplus": Entry(
        "There is an amount to collect, but the order is not cash on delivery.",
        "Remove the amount, or correct the payment method.",
        'If orders that are paid have an amount there in all files, write `when: {{"{payment}": [COD]}}` beside the '
        "column of the amount, with each word that means cash on delivery; see “Map a new layout”.",
    ),
    "line_total": Entry(
        "Quantity times price is not the total of the row.", "Correct the quantity, the price or the total."
    ),
    "total.sum": Entry(
        "Is this the row of a total? It says so in place of goods, and its quantity is the sum of the other rows.",
        "Leave the row out; if these are goods, write their name in full.",
    ),
    "total.alone": Entry(
        "Is this the row of a total? It says so in place of goods, and it is not the sum of the rows above.",
        "Leave the row out; if these are goods, write their name in full.",
    ),
    "total.keyless": Entry(
        "Is this the row of a total? It says so in place of goods, its key is blank, and it is not the sum of the rows "
        "above.",
        "Leave the row out; if these are goods, write the key on the row.",
    ),
    "twice": Entry("The item stands twice in one change of the order.", "Keep one row of the item."),
    "disagree.kit": Entry("The rows of one kit give it a different {what}.", "Write the same on all of its rows."),
    "cells.many": Entry(
        "The row has {cells} {cells:cell|cells}, the header {header}: is a comma not in quotes?",
        "Put a cell that holds the separator in quotes, give every column its cell, or send the file as .xlsx.",
    ),
    "cells.few": Entry(
        "The row has {cells} {cells:cell|cells}, the header {header}: is a cell missing?",
        "Put a cell that holds the separator in quotes, give every column its cell, or send the file as .xlsx.",
    ),
    "cells.trimmed": Entry(
        "The row has {cells} {cells:cell|cells}, the header {header}: is a cell missing?",
        "Give every column its cell; if the sender leaves out empty cells at the end, the mapping says so.",
    ),
    "cut_off": Entry(
        "The file ends within this row: it has {cells} {cells:cell|cells}, others {others}, and no line break behind "
        "it.",
        "Send the whole file again; if the row is complete, give every column its cell.",
    ),
}
_REMEDY: Final = "Correct the cell; if it is right, ask who maintains the mapping."
_CONTRACT: Final[dict[str, str]] = {
    "missing": "The value is required.",
    "extra_forbidden": "The service knows no field of this name.",
    "too_short": "At least one entry is required.",
    "bool_type": "The value must be true or false.",
    "list_type": "The value must be a list.",
    "dict_type": "The value must be a table of entries by their id.",
    "model_type": "The value must be a group of named fields.",
    "not_text": "The value must be text: the API publishes this field as a String.",
    "choice": "The value must be one of: {words}.",
    "count": "The value must be a {kind} of at least {least}.",
    "text": "The text must not be blank and must not hold control characters.",
    "key_text": "The text must not be blank, must not begin or end with a blank and must not hold line breaks: "
    "it is the name under which the service knows the document.",
    "phone": "The value must be one phone number: digits, perhaps with + before them and blanks or hyphens between "
    "them.",
    "date": "The value must be a date of the form YYYY-MM-DD, such as 2026-11-03.",
    "date_time": "The value must be an ISO 8601 date-time, such as 2026-11-03T18:00:00+05:30.",
    "placed_at": "The value must be a date and time of the form YYYY-MM-DD hh:mm:ss, such as 2026-11-03 18:00:00.",
    "decimal": "The value must be a number of 0 or more written with digits and at most one full stop, such as 12.50.",
    "percentage": "The value must be a percentage from 0 to 100, written without the % sign.",
    "quantity": "The quantity must be a number of at least 1, such as 12.",
    "latitude": "The latitude must be a number of degrees from -90 to 90, such as 12.9716.",
    "longitude": "The longitude must be a number of degrees from -180 to 180, such as 77.5946.",
    "web_address": "The value must be a web address that begins with https:// or http://.",
    "other": "{said}",
}
_BETWEEN_FIELDS: Final[dict[str, str]] = {
    "supplier_or_supplier_name": "Either the supplier's id or the supplier's name must be given.",
    "site_or_site_name": "Either the site's id or the site's name must be given.",
    "order_numbers_alone": "Order numbers stand alone: give either them or the full shipment, not both.",
    "shipment_incomplete": "A label needs either order numbers alone, or AWB number, phone number, address and pincode "
    "together.",
    "amount_without_cod": "Without cash on delivery the amount to collect must be 0.00 or left out.",
    "packages_count_and_package_id": "The number of packages and package ids must not both be given: the service "
    "rejects such an order.",
    "item_listed_twice": "An item id stands twice in the list of items to delete.",
    "other": "{said}",
}
"""Of a payload as a whole."""

CELLS: Final[dict[str, Entry]] = {
    **_READ,
    **_LOST,
    **_DOUBTED,
    **{f"{rule}.contract": Entry(words, _REMEDY) for rule, words in _CONTRACT.items()},
    **{f"{rule}.contract": Entry(_CONTRACT["choice"], _REMEDY) for rule in ("asn_status", "line_status")},
    **{f"contract.{rule}": Entry(words, _REMEDY) for rule, words in _BETWEEN_FIELDS.items()},
}

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

_BY_AWB: Final = (
    "Check the number. An order that was not sent from here goes by its AWB: ask the operator for a sheet with it."
)
_WAIT: Final = "Wait until the answer to the order is known, or ask the operator; then drop this file again."
_ITEM_ID: Final = "Write the item's id, and map it as `item_id`."

ORDERS: Final[dict[str, Entry]] = {
    "order_id|unusable": Entry("This cannot be the number of an order.", "Write the AWB."),
    "order_id|unknown": Entry("No order with this reference was sent from here.", _BY_AWB),
    "order_id|unknown.refused": Entry("The order with this reference was refused by the service.", _BY_AWB),
    "order_id|unknown.withdrawn": Entry("The order with this reference was withdrawn.", _BY_AWB),
    "order_id|not_settled.planned": Entry("The order itself is not sent yet, so it cannot be changed.", _WAIT),
    "order_id|not_settled.held": Entry(
        "The order itself is held until a person decides, so it cannot be changed.", _WAIT
    ),
    "order_id|not_settled": Entry("The order itself is in doubt, so it cannot be changed.", _WAIT),
    "order_id|awb_unknown": Entry(
        "The service took this order, but its AWB number is not known.",
        "Ask the operator, who can look it up, and for a sheet that goes by AWB numbers.",
    ),
    "order_id|cancelled": Entry("The order was cancelled.", "Leave the rows out."),
    "order_id|twice": Entry(
        "Several groups of rows of this file are about the order {order}.",
        "Give the order one number on all of its rows.",
    ),
    "item_id|ids_unknown": Entry("The ids of this order's items are not known here.", _ITEM_ID),
    "item_id|unknown": Entry(
        "No item of this name was in the order when it was created, or added from here.",
        f"Check the name. {_ITEM_ID}",
    ),
    "item_id|ambiguous": Entry("The order has several items of this name.", _ITEM_ID),
    "item_id|twice": Entry("The item stands twice in one change of the order.", "Keep one row of the item."),
    "sibling.of_order": Entry("The document is not sent: another row of it cannot be used."),
    # Of an order that was sent; these stand within a cell of the status report.
    ".order_unknown": Entry("the service does not know the order"),
    ".order_unknown.said": Entry("the service does not know the order: {said}"),
    ".order_anothers": Entry(
        "its AWB number is another order's: the service shows {number} with the reference “{reference}”; no status is "
        "taken from it"
    ),
    ".order_not_asked": Entry("it could not be asked for: {said}"),
    ".order_unaskable": Entry("the service cannot be asked for such a number"),
    ".other_order_shown": Entry("the service showed another order than it was asked for"),
    ".no_status": Entry("the service showed the order without a status"),
    ".event_refuted": Entry("an event said “{said}”, the service shows “{shown}”"),
}
