"""Why a file is held as a whole."""

from typing import Final

from logistics_batch.messages.entry import Entry

_NO_HEADER: Final = "Check that the file belongs to this mapping and that its header row is there."
_MISSING: Final = (
    "{sheet:sheet}: the required column{missing:|s} {missing:names 1000} {missing:is|are} missing; row {row}, which "
    "looks most like a header, has {seen:names 1000}."
)
_ONE_SHEET: Final = "Send both sheets in one workbook, or correct the names of the sheets in the mapping."

FILES: Final[dict[str, Entry]] = {
    ".is_it_meant": Entry('Is "{seen}" meant as "{name}"?'),
    "header.doubled": Entry(
        "{sheet:sheet}: the header row {row} has the column {names:names 1000} more than once.",
        "Rename or remove one of the two columns.",
    ),
    "header.rivals": Entry(
        "{sheet:sheet}: the rows {rows:numbers} could each be the header row.",
        "Leave one header row, or give its number in the mapping (`sheet: {{header: N}}`).",
    ),
    "header.none": Entry(
        "No header row was found in the first {searched} rows: none has the columns {names:names 1000}.", _NO_HEADER
    ),
    "header.none_in_row": Entry(
        "No header row was found in row {row}: none has the columns {names:names 1000}.", _NO_HEADER
    ),
    "header.missing": Entry(_MISSING, "Add the column, or add the name it has here to the mapping."),
    "header.missing_near": Entry(_MISSING, "{near:messages} Rename the column, or add its name to the mapping."),
    "header|second_table": Entry(
        "{sheet:sheet}: {rows:row|rows} {rows:rows} below the header row {row} {rows:names|name} other columns, or in "
        "other places: a second table begins there.",
        "Send each table as a file of its own, or put its rows below the columns of the first header.",
    ),
    "sheet.near_miss": Entry(
        'The sheet "{sheet}" has rows and all columns but "{name}"; only one sheet of a file is read.',
        "Send it as a file of its own with this column, or name the sheet to read in the mapping "
        "(`sheet: {{name: …}}`).",
    ),
    "sheet.several": Entry(
        "The sheets {names:names} all have the columns of the mapping; only one sheet of a file is read.",
        "Send each sheet as a file of its own, or name the sheet in the mapping (`sheet: {{name: …}}`).",
    ),
    "sheet.not_called": Entry(
        'The mapping reads two sheets of one workbook, and no sheet is called "{name}"; there is {names:sheets}.',
        _ONE_SHEET,
    ),
    "sheet.no_other": Entry(
        "The mapping reads two sheets of one workbook, and there is no sheet beside that of the lines; there is "
        "{names:sheets}.",
        _ONE_SHEET,
    ),
}
