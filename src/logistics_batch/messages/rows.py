"""Why a row is no data, or not sent with its document."""

from typing import Final

from logistics_batch.messages.entry import Entry, Level

ROWS: Final[dict[str, Entry]] = {
    "sibling.own_sheet": Entry("The document is not sent: row {rows:rows} is invalid."),
    "sibling.other_sheet": Entry('The document is not sent: row {others:rows} of the sheet "{sheet}" is invalid.'),
    "sibling.both_sheets": Entry(
        'The document is not sent: row {rows:rows} and row {others:rows} of the sheet "{sheet}" is invalid.'
    ),
    "hidden row": Entry("The document is not sent: its row {rows:rows} is hidden and was skipped."),
    "disagree": Entry("{names:names} {names:differs|differ} between the rows {rows:rows} of one document."),
    "duplicate": Entry('"{name}" stands for different documents of this file (rows {rows:rows}).'),
    "duplicate.spelling": Entry("{names:names} differ only in {what:joined  and } (rows {rows:rows}): are they one?"),
    "equal rows": Entry("The rows {rows:rows} are equal in every cell: were they pasted twice?"),
    "equal rows.counted": Entry(
        "The rows {rows:rows} are equal in every cell but {aside:names}, which only counts the rows: were they pasted "
        "twice?"
    ),
    "lines_sheet": Entry('Its row of the sheet "{sheet}" was skipped: row {row}.', level=Level.NOTE),
}
