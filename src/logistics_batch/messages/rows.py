"""Why a row is no data, or not sent with its document."""

from typing import Final

from logistics_batch.messages.entry import Entry, Level

ROWS: Final[dict[str, Entry]] = {
    "sibling.own_sheet": Entry("The document is not sent: row {rows:rows} is invalid."),
    "sibling.other_sheet": Entry('The document is not sent: row {others:rows} of the sheet "{sheet}" is invalid.'),
    "sibling.both_sheets": Entry(
        'The document is not sent: row {rows:rows} and row {others:rows} of the sheet "{sheet}" is invalid.'
    ),
    "lines_sheet": Entry('Its row of the sheet "{sheet}" was skipped: row {row}.', level=Level.NOTE),
}
