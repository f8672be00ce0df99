"""Why a file is held as a whole."""

from typing import Final

from logistics_batch.messages.entry import Entry

_OWN: Final = "{name} is one of our own reports: "
_DROP_THE_OTHER: Final = "Drop the spreadsheet that was meant."
_MOVED: Final = (
    'Check that columns have not moved and that this is the right sheet and file for the mapping "{mapping}"; if the '
    "values are right, ask the operator to correct the mapping. Then send the file again."
)
_NO_HEADER: Final = "Check that the file belongs to this mapping and that its header row is there."
_MISSING: Final = (
    "{sheet:sheet}: the required column{missing:|s} {missing:names 1000} {missing:is|are} missing; row {row}, which "
    "looks most like a header, has {seen:names 1000}."
)
_ONE_SHEET: Final = (
    "Send both sheets in one workbook, or ask the operator to correct the names of the sheets in the mapping."
)

FILES: Final[dict[str, Entry]] = {
    ".is_it_meant": Entry('Is "{seen}" meant as "{name}"?'),
    "header.doubled": Entry(
        "{sheet:sheet}: the header row {row} has the column {names:names 1000} more than once.",
        "Rename or remove one of the two columns.",
    ),
    "header.rivals": Entry(
        "{sheet:sheet}: the rows {rows:numbers} could each be the header row.",
        "Leave one header row, or ask the operator to give its number in the mapping (`sheet: {{header: N}}`).",
    ),
    "header.none": Entry(
        "No header row was found in the first {searched} rows: none has the columns {names:names 1000}.", _NO_HEADER
    ),
    "header.none_in_row": Entry(
        "No header row was found in row {row}: none has the columns {names:names 1000}.", _NO_HEADER
    ),
    "header.missing": Entry(
        _MISSING, "Add the column, or ask the operator to add the name it has here to the mapping."
    ),
    "header.missing_near": Entry(
        _MISSING, "{near:messages} Rename the column, or ask the operator to add its name to the mapping."
    ),
    "header|second_table": Entry(
        "{sheet:sheet}: {rows:row|rows} {rows:rows} below the header row {row} {rows:names|name} other columns, or in "
        "other places: a second table begins there.",
        "Send each table as a file of its own, or put its rows below the columns of the first header.",
    ),
    "sheet.near_miss": Entry(
        'The sheet "{sheet}" has rows and all columns but "{name}"; only one sheet of a file is read.',
        "Send it as a file of its own with this column, or ask the operator to name the sheet to read in the mapping "
        "(`sheet: {{name: …}}`).",
    ),
    "all_alike": Entry("All {rows} rows fail alike: {why:messages}{hints: messages}", _MOVED),
    "all_alike.in_column": Entry(
        'All {rows} rows fail alike in column "{column}": {why:messages}{hints: messages}', _MOVED
    ),
    ".see_cell": Entry("See cell {cell}."),
    ".see_cell_of_sheet": Entry('See cell {cell} on the sheet "{sheet}".'),
    ".such_values_in": Entry('Such values stand in column "{column}".'),
    "budget": Entry(
        "{invalid} of {rows} rows are invalid, more than the allowed {percent} %.{hints: messages}",
        "Correct the invalid rows and send all rows again, for none was sent. If many fail alike, look first whether a "
        "column has moved and whether this is the right sheet and file.",
    ),
    ".most_often": Entry("Most often, {times} times: {why:messages}"),
    ".most_often_in_column": Entry('Most often, {times} times: in column "{column}", {why:messages}'),
    "own_report.answers": Entry(
        f"{_OWN}a list of answers (NAME.result.csv).",
        "Correct the rows in NAME.result.xlsx or in the fix file, and drop that.",
    ),
    "own_report.reconciliation": Entry(f"{_OWN}a reconciliation report.", _DROP_THE_OTHER),
    "own_report.label_index": Entry(f"{_OWN}the index of a label bundle.", _DROP_THE_OTHER),
    "own_report.held_file": Entry(f"{_OWN}it says why another file was not processed.", _DROP_THE_OTHER),
    "file|program_error": Entry(
        "{name} cannot be taken: the program itself failed on it ({error}).",
        "Save it anew from your spreadsheet program and send that. The operator reports it with the log.",
    ),
    ".too_long_for_workbook": Entry(
        "", "A workbook ends at row 1,048,576: open NAME.result.csv, which has an answer for every row."
    ),
    "sheet.several": Entry(
        "The sheets {names:names} all have the columns of the mapping; only one sheet of a file is read.",
        "Send each sheet as a file of its own, or ask the operator to name the sheet in the mapping "
        "(`sheet: {{name: …}}`).",
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


_NOT_INPUT: Final = {
    "left.name": "{fault:messages}; rename it",
    "left.lock": "it is the lock file of an open office program",
    "left.dot": "its name begins with a dot",
    "left.upload": "it is an unfinished upload",
    "left.download": "it is an unfinished download",
    "left.acknowledgement": "it is one of our acknowledgements",
    "left.quarantine_note": "it is our note about a file in quarantine",
    "left.result_list": "it is one of our result lists; correct and drop the workbook or the fix file instead",
    "left.link": "it is a link, and links are not followed",
    "left.folder": "it is a folder, and what is in it is not read; drop the files themselves",
    "left.special": "it is a pipe, a socket or a device, and no file",
    "left.own_results": "our results are written into this folder; drop a corrected one under another name",
    "left.done_file": "it is the done-file of {of}",
    "left.misnamed": "its name fits no job that looks there: the patterns are {patterns:list 20}. Rename it",
    "left.misnamed.near": "its name fits no job that looks there, but nearly {near}. Rename it",
    "left.misnamed.kind": "its name fits no job that looks there: files there are called {patterns:list 20}. A new "
    "name alone does not make another file of a {ending} file: save it under such a name from your spreadsheet program",
    "left.pattern": "its name fits none of the patterns {patterns:list 1000}",
}
_NOT_COMPLETE: Final = {
    "left.no_done_file": "its done-file {done} is not there yet",
    "left.listings": "it has not been seen in {listings} listings yet",
    "left.changes": "it still changes: size or time of change were not alike in the last listings",
    "left.unstable": "{why}",
    "left.no_archive_end": "it begins as a workbook or archive, and its end is missing",
    "left.no_line_end": "its last line does not end",
}

LEFT: Final[dict[str, Entry]] = {
    "name.none": Entry("it has no name"),
    "name.slash": Entry("its name holds a slash"),
    "name.backslash": Entry("its name holds a backslash"),
    "name.control": Entry("its name holds a control character"),
    "name.unicode": Entry("its name is not valid Unicode"),
    "name.long": Entry("its name is longer than {most} characters"),
    **{code: Entry(words) for code, words in (_NOT_INPUT | _NOT_COMPLETE).items()},
}
