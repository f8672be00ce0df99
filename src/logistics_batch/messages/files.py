"""Why a file is held as a whole."""

from typing import Final

from logistics_batch.messages.entry import Entry

FILES: Final[dict[str, Entry]] = {
    "sheet.several": Entry(
        "The sheets {names:names} all have the columns of the mapping; only one sheet of a file is read.",
        "Send each sheet as a file of its own, or name the sheet in the mapping (`sheet: {{name: …}}`).",
    ),
    "sheet.not_called": Entry(
        'The mapping reads two sheets of one workbook, and no sheet is called "{name}"; there is {names:sheets}.',
        "Send both sheets in one workbook, or correct the names of the sheets in the mapping.",
    ),
    "sheet.no_other": Entry(
        "The mapping reads two sheets of one workbook, and there is no sheet beside that of the lines; there is "
        "{names:sheets}.",
        "Send both sheets in one workbook, or correct the names of the sheets in the mapping.",
    ),
}
